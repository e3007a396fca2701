import { expect, test } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { takeTransfer } from '../../src/server/transfers/lease.ts';
import { openJobQueue } from '../../src/server/worker/queue.ts';
import { DOVECOT_PASSWORD } from '../support/dovecot.ts';
import { openFilledServers } from '../support/filled-servers.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { needs } from '../support/needs.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const MESSAGES = 150;
const TURNS = 50;
const JOBS = "select 1 from pgboss.job where name = 'transfers' and state in ('created', 'active')";

/** A transfer that nobody works on yet, in a mailbox whose mail takes several groups. */
async function openOrdered() {
  const { stack, source, destination, places } = await openFilledServers(MESSAGES);
  const address = { url: await createEmptyDatabase() };
  const orders = stack.use(await openWorld(address, places, {}, false));
  const { id } = await orders.transfers.start(order());
  /** The numbers of the workers that have done something for it, and the epochs under which that was. */
  const steps = new Set<number>();
  const epochs = new Set<unknown>();
  const work = async (number: number) => {
    const onStep = async () => {
      steps.add(number);
      for (const { epoch } of await orders.database.query('select epoch from transfers')) epochs.add(epoch);
    };
    stack.use(await openWorld(address, places, { onStep }));
  };
  const difference = () => {
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    return differenceOf({ ...account, port: source.port }, { ...account, port: destination.port, user: NEW_ADDRESS });
  };
  return { orders, id, work, steps, epochs, difference };
}

type Ordered = Awaited<ReturnType<typeof openOrdered>>;

const sendTwiceMore = async ({ orders, id }: Ordered) => {
  await using queue = await openJobQueue({ database: orders.database, log: openLog('silent') });
  await Promise.all([queue.send(id), queue.send(id)]);
  return orders.database.query(JOBS);
};
const forgetJob = ({ orders }: Ordered) => orders.database.query('delete from pgboss.job returning 1');

test.each([
  ['two workers that start together both find without a job', forgetJob, 1],
  ['is sent twice more', sendTwiceMore, 3],
] as const)(
  'a transfer that %s is held by one of them until its end, and every message is there once',
  needs('dovecot', 'postgresql'),
  async (_, before, jobs) => {
    const ordered = await openOrdered();
    expect(await before(ordered)).toHaveLength(jobs);
    const { orders, id, work, steps, epochs, difference } = ordered;
    await Promise.all([work(1), work(2)]);
    const end = await mailUntil(orders.transfers, id);
    expect(end).toMatchObject({ status: 'completed', done: MESSAGES, lost: 0, duplicated: 0, changed: 0 });
    expect([steps.size, epochs.size]).toEqual([1, 1]);
    expect(await difference()).toEqual({ messages: MESSAGES, lost: [], duplicated: [], changed: [] });
    // What the other one had of it ends as well.
    await expect.poll(() => orders.database.query(JOBS), { timeout: 20_000 }).toHaveLength(0);
  },
);

test('of many that take a transfer at the same moment one gets it', needs('postgresql'), async () => {
  await using orders = await openWorld({ url: await createEmptyDatabase() }, {}, {}, false);
  const { id } = await orders.transfers.start(order());
  for (let turn = 0; turn < TURNS; turn += 1) {
    await orders.database.query('update transfers set leased_until = null');
    const taken = await Promise.all(Array.from({ length: 8 }, () => takeTransfer(orders.database, id, 30)));
    expect(taken.filter((each) => each !== null && 'lease' in each)).toHaveLength(1);
  }
});
