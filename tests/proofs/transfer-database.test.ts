import { expect, onTestFinished, test } from 'vitest';
import type { Transfers } from '../../src/server/transfers/orders.ts';
import { DatabaseUnavailable } from '../../src/server/store/database-faults.ts';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startPostgres } from '../support/postgres.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const FOLDERS = ['INBOX', 'One', 'Two', 'Three', 'Four', 'Five'];
const MESSAGES = FOLDERS.length * 20;
/** The counts of appended groups at which the database crashes, with their outcomes not committed yet. */
const CRASHES = [1, 3, 4, 6];

test(
  'a transfer whose database crashes again and again loses, doubles and changes nothing',
  { ...needs('dovecot', 'postgresql'), timeout: 180_000 },
  async () => {
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const source = stack.use(await startDovecot());
    const destination = stack.use(await startDovecot());
    const postgres = stack.use(await startPostgres());
    {
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      for (const [index, folder] of FOLDERS.entries()) {
        if (index > 0) await mail.create(folder);
        await mail.append(
          folder,
          Array.from({ length: 20 }, (_, at) => letter(index * 20 + at)),
        );
      }
    }
    let appended = 0;
    let crashes = 0;
    let crashing: Promise<void> = Promise.resolve();
    const crash = async () => {
      await postgres.crash();
      await postgres.recover();
    };
    const world = stack.use(
      await openWorld(
        { url: await postgres.create() },
        {
          LEGACY_IMAP_URL: source.url,
          YAHOO_IMAP_URL: destination.url,
          SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
        },
        {
          onStep: async (step) => {
            if (step !== 'appended') return;
            appended += 1;
            if (!CRASHES.includes(appended)) return;
            crashes += 1;
            // Groups are under way together: the next crash comes when it has recovered from this one.
            crashing = crashing.then(crash);
            await crashing;
          },
        },
      ),
    );
    const { id } = await world.transfers.start(order());
    const transfers: Transfers = { ...world.transfers, status: statusOf };
    let known = await world.transfers.status(id);
    /** While the database is away nobody knows more than before. */
    async function statusOf(asked: string) {
      known = await world.transfers.status(asked).catch((error: unknown) => {
        if (error instanceof DatabaseUnavailable) return known;
        throw error;
      });
      return known;
    }
    const end = await mailUntil(transfers, id, undefined, 120_000);
    expect(end).toMatchObject({ status: 'completed', done: MESSAGES, lost: 0, duplicated: 0, changed: 0 });
    expect(crashes).toBe(CRASHES.length);
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    const difference = await differenceOf(
      { ...account, port: source.port },
      { ...account, port: destination.port, user: NEW_ADDRESS },
    );
    expect(difference).toEqual({ messages: MESSAGES, lost: [], duplicated: [], changed: [] });
  },
);
