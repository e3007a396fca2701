import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fenced } from '../../src/server/export/staging/fenced.ts';
import { confirmLease, LeaseLost, takeTransfer, type Lease } from '../../src/server/transfers/lease.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { needs } from '../support/needs.ts';
import { openWorld, order, type World } from '../support/transfer-world.ts';

const SECONDS = 15;

describe('what an exporting worker writes', needs('postgresql'), () => {
  let world: World;
  let id: string;
  beforeAll(async () => {
    world = await openWorld({ url: await createEmptyDatabase() }, {}, {}, false);
    ({ id } = await world.transfers.start(order()));
  });
  afterAll(() => world[Symbol.asyncDispose]());

  async function taken(): Promise<Lease> {
    await world.database.query('update transfers set leased_until = null');
    const taking = await takeTransfer(world.database, id, SECONDS);
    if (taking === null || !('lease' in taking)) throw new Error('It can not be taken.');
    return taking.lease;
  }

  /** Writes, and does something else before that is committed. */
  const writing = (lease: Lease, meanwhile: () => Promise<unknown>) =>
    fenced(world.database, lease).write(async (sql) => {
      await sql.query('insert into exports (transfer_id, name) values ($1, $2)', [id, 'a'.repeat(32)]);
      await meanwhile();
      return 'written';
    });
  const exportsThere = () => world.database.query('select 1 from exports');

  test('keeps nobody from confirming its lease, however long it takes', async () => {
    const lease = await taken();
    await expect(
      writing(lease, async () => {
        expect(await confirmLease(world.database, lease, SECONDS)).toBe('ours');
      }),
    ).resolves.toBe('written');
    expect(await exportsThere()).toHaveLength(1);
  });

  test('is not committed when another worker takes the transfer over meanwhile', async () => {
    await world.database.query('delete from exports');
    const lease = await taken();
    await expect(writing(lease, taken)).rejects.toThrow(LeaseLost);
    expect(await exportsThere()).toEqual([]);
  });
});
