import { expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { openForwarded } from '../../src/server/mail/copy/forwarded.ts';
import type { Group, LedgerMailbox, Row } from '../../src/server/mail/copy/ledger/ledger.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Listed, MailReader } from '../../src/server/mail/imap/streams.ts';

const DAY_MS = 86_400_000;
const NOW = 1_800_000_000_000;
const HERE: Partial<LedgerMailbox> = { id: 1, destinationPath: 'INBOX' };
const [VALIDITY, BEFORE] = [9n, 8n];

/** A message that is this many days old. `id`: its Message-ID, if it has one. */
type Mail = { readonly uid: number; readonly days?: number; readonly id?: string; readonly isRefused?: boolean };

const dateOf = ({ days = 4 }: Mail) => NOW - days * DAY_MS;
const listedAs = (mail: Mail): Listed => ({
  uid: mail.uid,
  size: 30,
  flags: [],
  internalDate: new Date(dateOf(mail)),
});

function readerOf(mail: readonly Mail[], trouble?: MailError) {
  const since: number[] = [];
  const reader = {
    isOver: false,
    open: async () => {
      if (trouble !== undefined) throw trouble;
      return { uidValidity: VALIDITY, exists: mail.length };
    },
    search: async (_: string, from: Date) => {
      since.push(from.getTime());
      return mail.filter((each) => dateOf(each) >= from.getTime()).map(({ uid }) => uid);
    },
    look: async function* (_: string, uids: readonly number[]) {
      yield mail.filter(({ uid }) => uids.includes(uid)).map(listedAs);
    },
    headers: async function* (_: string, uids: readonly number[]) {
      for (const { uid, id, isRefused } of mail)
        if (uids.includes(uid) && isRefused !== true)
          yield { uid, header: Buffer.from(id === undefined ? 'Subject: one\r\n' : `Message-ID: <${id}>\r\n`) };
    },
  };
  return { reader: reader as unknown as MailReader, since };
}

type Given = {
  readonly claims?: readonly number[];
  readonly groups?: readonly Partial<Group>[];
  readonly mailboxes?: readonly Partial<LedgerMailbox>[];
  readonly rows?: readonly Partial<Row>[];
  readonly trouble?: MailError;
};

/** Asks which are not copied, of what is marked as forwarded. */
function asking(marked: readonly Mail[], there: readonly Mail[], given: Given = {}) {
  const { claims = [], groups = [], mailboxes = [HERE], rows = [], trouble } = given;
  const ledger = {
    claimed: async () => new Set(claims),
    groups: async () => groups,
    mailboxes: async () => mailboxes,
    async *rows() {
      yield rows;
    },
  };
  const opened = { source: new Set(), destination: new Set() };
  const waits = { refusalWaits: 0, troubleWaits: 0 };
  const run = { ...openFaults(), looked: () => {}, opened, sourcePaths: () => [], copy: waits };
  const forwarded = openForwarded(
    () => ['INBOX'],
    { ...MACHINE_CLOCK, now: () => NOW },
    ledger as unknown as Parameters<typeof openForwarded>[2],
    { ...run, destinationPaths: () => ['INBOX'] } as unknown as Parameters<typeof openForwarded>[3],
  );
  const destination = readerOf(there, trouble);
  const source = readerOf(marked);
  const ask = () => forwarded.brought('Lists', 1n, marked.map(listedAs), source.reader, destination.reader);
  return { ask, since: destination.since };
}

/** The UIDs that are not copied. */
async function brought(...given: Parameters<typeof asking>): Promise<readonly number[]> {
  return [...(await asking(...given).ask())];
}

test.each<[string, Mail, Mail[], boolean]>([
  ['has come lately, as it may be on its way', { uid: 1, days: 2, id: 'a' }, [], true],
  ['has arrived', { uid: 1, id: 'a' }, [{ uid: 7, days: 3, id: 'a' }], true],
  ['has not arrived', { uid: 1, id: 'a' }, [{ uid: 7, days: 3, id: 'b' }], false],
  ['has no Message-ID', { uid: 1 }, [{ uid: 7, days: 3 }], false],
  ['can’t be read', { uid: 1, id: 'a', isRefused: true }, [{ uid: 7, days: 3, id: 'a' }], false],
  ['has no date', { uid: 1, days: Number.NaN, id: 'a' }, [], false],
  ['has a date of days to come', { uid: 1, days: -9, id: 'a' }, [], false],
  ['has come by a clock that is ahead', { uid: 1, days: -0.5, id: 'a' }, [], true],
])('whether what is marked as forwarded is left out where it %s', async (_, marked, there, isBrought) => {
  const uids = await brought([marked], there);
  expect(uids).toEqual(isBrought ? [1] : []);
});

test('what may have arrived is looked for from a day before the oldest that is marked', async () => {
  const { ask, since } = asking(
    [
      { uid: 1, id: 'a', days: 9 },
      { uid: 2, id: 'b', days: 5 },
      { uid: 3, days: 1 },
    ],
    [],
  );
  await ask();
  expect(since).toEqual([NOW - 10 * DAY_MS]);
});

const arrived = { uid: 7, id: 'a' };
const date = dateOf(arrived) / 1000;
const sent = { uid: 1, size: 30, date };
const stored = { uid: 1, size: 30, date, destinationUid: 7 };

test.each<[string, Given, boolean]>([
  ['a row of ours has', { claims: [7] }, true],
  [
    'a worker was just storing when it died',
    { groups: [{ uidValidity: VALIDITY, uidNext: 7, messages: [sent] }] },
    true,
  ],
  [
    'a worker was just storing, which had another size by the list',
    { groups: [{ uidValidity: VALIDITY, uidNext: 7, messages: [{ ...sent, size: 5 }] }] },
    true,
  ],
  ['was there before that', { groups: [{ uidValidity: VALIDITY, uidNext: 8, messages: [sent] }] }, false],
  [
    'has not what it was storing',
    { groups: [{ uidValidity: VALIDITY, uidNext: 7, messages: [{ ...sent, size: 5, date: date - 9 }] }] },
    false,
  ],
  ['was stored before the mailbox was renumbered', { rows: [{ ...stored, destinationUidValidity: BEFORE }] }, true],
  [
    'is beside one of its size and date',
    { rows: [{ ...stored, destinationUid: 6, destinationUidValidity: VALIDITY }] },
    false,
  ],
  [
    'was stored in a mailbox that was renamed since',
    { mailboxes: [{ ...HERE, destinationPath: 'Old' }], rows: [{ ...stored, destinationUidValidity: VALIDITY }] },
    true,
  ],
])('whether what %s counts as ours, and not as forwarded', async (_, given, isOurs) => {
  const groups = (given.groups ?? []).map((group) => ({ mailboxId: 1, ...group }));
  const uids = await brought([{ uid: 1, id: 'a' }], [arrived], { ...given, groups });
  expect(uids).toEqual(isOurs ? [] : [1]);
});

test('nothing is copied while it may have arrived in a mailbox that is in trouble', async () => {
  const trouble = new MailError('busy', 'Not now.', { responseCode: 'UNAVAILABLE' });
  const { ask } = asking([{ uid: 1, id: 'a' }], [arrived], { trouble });
  // However often its server says so.
  for (let tries = 0; tries < 9; tries += 1) await expect(ask()).rejects.toBeInstanceOf(Error);
});
