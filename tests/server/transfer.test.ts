import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { createEmptyDatabase, EMBEDDED } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter, ODD_LETTERS } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

/** Where the source's mailboxes go: special-use ones to their role, `/` to `.`. */
const PLACES: Readonly<Record<string, string>> = {
  'Sent Messages': 'Sent',
  Bin: 'Deleted Items',
  'Family/Letters/2004': 'Family.Letters.2004',
  Family: 'Family',
  'Family/Letters': 'Family.Letters',
  'a.b': 'a_b',
};

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, index) => letter(from + index));

describe('a transfer between two Dovecots', { ...needs('dovecot'), timeout: 180_000 }, () => {
  let source: Dovecot;
  let destination: Dovecot;

  beforeAll(async () => {
    source = await startDovecot({ roles: { '\\Sent': 'Sent Messages', '\\Trash': 'Bin' } });
    destination = await startDovecot({
      separator: '.',
      roles: { '\\Sent': 'Sent', '\\Trash': 'Deleted Items', '\\Drafts': 'Drafts' },
    });
  });
  afterAll(async () => {
    await source[Symbol.asyncDispose]();
    await destination[Symbol.asyncDispose]();
  });

  const environment = () => ({ LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url });

  async function fill(user: string): Promise<void> {
    await using mail = await openMailClient(source.port, user, DOVECOT_PASSWORD);
    const twin = letter(8);
    await mail.append('INBOX', [...numbers(0, 230), ...ODD_LETTERS, twin, twin, twin]);
    for (const mailbox of ['Family', 'Family/Letters', 'Family/Letters/2004', 'Empty', 'a.b'])
      await mail.create(mailbox);
    // Grüße, 日本語, and a name with an ampersand, in modified UTF-7.
    for (const mailbox of ['Gr&APwA3w-e', '&ZeVnLIqe-', 'Q&-A']) await mail.create(mailbox);
    await mail.append('Family/Letters/2004', [...numbers(300, 20), twin]);
    await mail.append('Sent Messages', numbers(400, 60));
    await mail.append('Bin', numbers(500, 3));
    await mail.append('Gr&APwA3w-e', numbers(600, 5));
    await mail.append('&ZeVnLIqe-', [twin, twin]);
    await mail.append('Q&-A', numbers(700, 1));
    await mail.append('a.b', numbers(800, 2));
    // UIDs with gaps, as in any mailbox that is used.
    await mail.command('SELECT INBOX');
    await mail.command('UID STORE 3,50:60 +FLAGS (\\Deleted)');
    await mail.command('EXPUNGE');
    // Marked as deleted and not yet expunged is still there.
    await mail.append('INBOX', [letter(7), letter(15)]);
  }

  const databases = [
    { name: 'PGlite', address: async () => EMBEDDED, needed: needs() },
    {
      name: 'PostgreSQL',
      address: async () => ({ url: await createEmptyDatabase() }),
      needed: needs('postgresql'),
    },
  ];
  for (const { name, address, needed } of databases) {
    test(`loses, doubles and changes nothing, on ${name}`, needed, async () => {
      const user = `${name.toLowerCase()}.${SUBSCRIBER}`;
      const goal = `${name.toLowerCase()}.${NEW_ADDRESS}`;
      await fill(user);
      await using world = await openWorld(await address(), environment());
      const { id } = await world.transfers.start(
        order({
          source: { email: user, password: DOVECOT_PASSWORD, provider: 'sanbruno' },
          destination: { email: goal, password: DOVECOT_PASSWORD, provider: 'yahoo' },
        }),
      );
      const end = await mailUntil(world.transfers, id);
      const difference = await differenceOf(
        { port: source.port, user, password: DOVECOT_PASSWORD },
        { port: destination.port, user: goal, password: DOVECOT_PASSWORD },
        (mailbox) => PLACES[mailbox] ?? mailbox,
      );
      expect(difference).toEqual({ messages: difference.messages, lost: [], duplicated: [], changed: [] });
      expect(difference.messages).toBeGreaterThan(290);
      expect(end).toMatchObject({
        status: 'completed',
        done: difference.messages,
        total: difference.messages,
        lost: 0,
        duplicated: 0,
        changed: 0,
        skipped: [],
      });
      // The transfer ends a moment after its last operation.
      await expect.poll(() => world.database.query('select * from credentials')).toEqual([]);
    });
  }
});
