import { randomBytes } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { receiptAddress, RECEIPT_KEY } from '../../src/contract/calls/receipt.ts';
import { openLog } from '../../src/server/log.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { takeEndedTransfer, takeTransfer } from '../../src/server/transfers/lease.ts';
import { checkReceipt } from '../../src/server/receipt/check-receipt.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import {
  type MailStatus,
  mailWhen,
  NEW_ANN,
  openLifeWorld,
  openWorldOfTest,
  PASSWORD,
  statusOf,
  whenEnded,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { openWebServices } from '../support/web-services.ts';

const NEW_PASSWORD = 'another horse';

const isTakenBack = ({ taken_back: count, taking_back: isTaking }: MailStatus) =>
  count !== undefined && isTaking === undefined;

describe('a web server that did not order the transfer, on the same PostgreSQL', needs('postgresql'), () => {
  test('puts it right, stops it, gives its receipt, takes it back and runs it again', { timeout: 90_000 }, async () => {
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const address = { url: await createEmptyDatabase() };
    const key = randomBytes(32);
    const letters = Array.from({ length: 4 }, (_, number) => letter(number));
    const world = stack.use(
      await openLifeWorld({
        address,
        key,
        mail: { INBOX: letters },
        environment: { ACCESS_END: '2099-01-01T00:00:00Z' },
      }),
    );
    const { settings } = world.web;
    const log = openLog('silent');
    const other = stack.use(await openWebServices({ settings, address, key, log, now: () => Date.now() }));
    const web = stack.use(await startWeb(openWeb(other.services), { host: '127.0.0.1', port: 0, portalFolder: null }));
    const ordered = await world.order();
    const ask = async (name: string, body: object, id = ordered.id) => {
      const response = await fetch(`http://127.0.0.1:${web.port}/api/v2/transfers/${name}/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...ordered.headers },
        body: JSON.stringify({ job_id: id, ...body }),
      });
      return { status: response.status, body: (await response.json()) as { jobid?: string } };
    };
    const read = async (path: string) =>
      (await fetch(`http://127.0.0.1:${web.port}${path}`, { headers: ordered.headers })).text();

    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    stack.use(await world.work());
    await mailWhen(world, ordered, ({ attention }) => attention !== undefined);
    expect((await ask('resume', { password: NEW_PASSWORD })).status).toBe(200);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 4 });
    expect((await ask('cancel', {})).status).toBe(409);

    const receipt = await read(receiptAddress(ordered.id, 'csv'));
    expect(checkReceipt(receipt, await read(RECEIPT_KEY)).statement.lines).toBe(4);

    const given = { source_account: { password: PASSWORD }, destination_account: { password: NEW_PASSWORD } };
    const { body } = await ask('again', { ...given, daily: true });
    const again = { id: body.jobid ?? '', headers: ordered.headers };
    expect(await whenEnded(world, again)).toMatchObject({ status: 'completed', bytes: 0 });

    expect((await statusOf(world, ordered)).daily).toHaveProperty('next');
    expect((await ask('daily-off', {})).status).toBe(200);
    expect((await statusOf(world, ordered)).daily).not.toHaveProperty('next');

    expect((await ask('take-back', { password: NEW_PASSWORD })).status).toBe(200);
    // The count is complete before the taking back is over, and nothing is begun again until then.
    expect(await mailWhen(world, ordered, isTakenBack)).toMatchObject({ taken_back: 4 });

    world.web.passwords.set(NEW_ANN, PASSWORD);
    const third = await ask('again', { ...given, destination_account: { password: PASSWORD } });
    expect(third.status).toBe(200);
    const last = { id: third.body.jobid ?? '', headers: ordered.headers };
    world.web.passwords.set(NEW_ANN, NEW_PASSWORD);
    const stopped = await ask('cancel', {}, last.id);
    expect([200, 409]).toContain(stopped.status);
    expect((await statusOf(world, last)).emailmigration).toHaveProperty('finished');
  });
});

test(
  'a take-back and an order between the same mailboxes that begin at the same time are not both worked on',
  needs('postgresql'),
  async () => {
    const world = await openWorldOfTest();
    const { database } = world.web;
    const { id: ended } = await world.order();
    await database.query('update transfers set finished = now() where id = $1', [ended]);
    await database.query('insert into take_backs (transfer_id) values ($1)', [ended]);
    const { id: ordered } = await world.order();
    for (let turn = 0; turn < 200; turn += 1) {
      await database.query('update transfers set leased_until = null');
      const taken = await Promise.all([takeEndedTransfer(database, ended, 30), takeTransfer(database, ordered, 30)]);
      expect(taken.filter((each) => each !== null && 'lease' in each)).toHaveLength(1);
    }
  },
);
