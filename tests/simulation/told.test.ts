import { describe, expect, test } from 'vitest';
import { messageIdOf, type StoredMail, HANGS_UP } from './account.ts';
import { PLAIN, SMALL, type Scenario } from './scenario.ts';
import { simulate, type Outcome } from './simulate.ts';

const SLOW = { latency: 20, jitter: 1, pieces: false };
const FAST = { latency: 0.1, jitter: 1, pieces: false };
const COMPLETED = { status: 'completed', lost: 0, duplicated: 0, changed: 0, mailboxesLeft: 0 };
const REVIEW = { ...COMPLETED, status: 'review' };

type Expected = { readonly told: readonly (typeof COMPLETED)[]; readonly missing: number; readonly doubled: number };

function inbox(letters: number) {
  return [{ name: 'INBOX', letters }];
}

function times(among: readonly StoredMail[], digest: string): number {
  return among.filter((mail) => mail.digest === digest).length;
}

/** What the receipts say, and what the destination really lacks and has more than once. */
function outcomeOf({ accounts: { source, destination }, receipts }: Outcome): Expected {
  const mailOf = ({ folders }: typeof source) => [...folders.values()].flatMap(({ messages }) => messages);
  const [theirs, ours] = [mailOf(source), mailOf(destination)];
  const copied = ours.filter(({ by }) => by.startsWith('worker'));
  // Forwarding has brought what has the Message-ID of one that was there.
  const there = new Set(ours.filter(({ by }) => by === 'before').map(({ octets }) => messageIdOf(octets)));
  const digests = [...new Set(theirs.map(({ digest }) => digest))];
  const wanted = new Set(theirs.filter(({ octets }) => !there.has(messageIdOf(octets))).map(({ digest }) => digest));
  return {
    told: receipts.map(({ status, lost, duplicated, changed, mailboxesLeft }) => {
      return { status, lost, duplicated, changed, mailboxesLeft };
    }),
    missing: digests.filter((digest) => wanted.has(digest) && times(ours, digest) < times(theirs, digest)).length,
    doubled: digests.filter((digest) => times(copied, digest) > times(theirs, digest)).length,
  };
}

/** Of which the judge of the simulation asks less than can be known. */
const CASES: readonly (readonly [string, Partial<Scenario>, Partial<Expected>])[] = [
  [
    'a forwarded message is not left out for another one that had its UID',
    {
      seed: 2,
      folders: inbox(5),
      connections: 2,
      mail: { marked: 1, ownEqual: 0.5 },
      deeds: [
        { side: 'source', atCommand: 9, does: 'deletes a message' },
        { side: 'source', atCommand: 9, does: 'renumbers a mailbox' },
      ],
    },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'a forwarded message is not left out for an equal one that was copied',
    {
      folders: [...inbox(12), { name: 'Letters', letters: 8 }],
      connections: 2,
      mail: { marked: 1 },
      sizes: SMALL,
      stops: [{ worker: 1, atEffect: 41 }],
    },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'what the subscriber had before is never taken back where the destination says no UIDNEXT',
    {
      folders: inbox(20),
      connections: 2,
      sizes: SMALL,
      weather: SLOW,
      mail: { ownEqual: 0.5 },
      destination: { thinking: 1000, multiAppend: false, twinsKeptOnce: true, saysUidNext: false },
      stops: [{ worker: 1, atWrite: 8, freezeFor: 40_000 }],
    },
    { told: [COMPLETED], doubled: 0 },
  ],
  [
    'nor is it where that one refuses for a moment to be searched',
    {
      seed: 27,
      folders: inbox(10),
      connections: 2,
      sizes: SMALL,
      weather: SLOW,
      mail: { ownEqual: 0.5 },
      destination: {
        thinking: 1000,
        multiAppend: false,
        twinsKeptOnce: true,
        saysUidNext: false,
        refusesReading: { part: 0.2, code: '' },
      },
      stops: [{ worker: 1, atWrite: 11, freezeFor: 40_000 }],
    },
    { doubled: 0 },
  ],
  [
    'a forwarded message is not left out for an equal one that was copied into a mailbox which has another name by now',
    {
      seed: 39,
      folders: [...inbox(3), { name: 'Letters', letters: 25 }],
      connections: 2,
      mail: { marked: 1 },
      sizes: SMALL,
      stops: [{ worker: 1, atEffect: 79 }],
      deeds: [{ side: 'destination', atCommand: 18, does: 'renames a mailbox' }],
    },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'nor for one in a mailbox that has other UIDs by now',
    {
      seed: 8,
      folders: [...inbox(3), { name: 'Letters', letters: 25 }],
      connections: 2,
      mail: { marked: 1 },
      sizes: SMALL,
      stops: [{ worker: 1, atEffect: 48 }],
      deeds: [{ side: 'destination', atCommand: 18, does: 'renumbers a mailbox' }],
    },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'a forwarded message of a day that is to come is copied where none has arrived',
    { folders: inbox(12), mail: { marked: 1, dates: 1 } },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'a message that the destination does not hand out keeps nothing back where it is looked for what was forwarded',
    {
      folders: inbox(12),
      mail: { marked: 0.5, ownEqual: 0.5 },
      poison: [{ letter: 0, side: 'destination', breaks: 'hangs up' }],
    },
    { told: [{ ...REVIEW, mailboxesLeft: 1 }], missing: 0, doubled: 0 },
  ],
  [
    'a forwarded message at whose header the source says SERVERBUG is left out alone',
    {
      folders: inbox(12),
      mail: { marked: 1 },
      poison: [{ letter: 3, side: 'source', breaks: 'SERVERBUG' }],
    },
    { told: [COMPLETED], missing: 1, doubled: 0 },
  ],
  [
    'a folder that nobody may open is told of though a list leaves it out',
    {
      folders: [...inbox(2), { name: 'Letters', letters: 3 }],
      source: { listingThatLies: 3, closing: { path: 'Letters', opens: 0, isSilent: true } },
    },
    { told: [{ ...REVIEW, mailboxesLeft: 1 }], doubled: 0 },
  ],
  [
    'what is in a mailbox that the destination no longer opens, and says is not there, is not told as removed',
    {
      folders: [...inbox(6), { name: 'Letters', letters: 20 }],
      sizes: SMALL,
      destination: { closing: { path: 'Letters', opens: 2, code: 'NONEXISTENT' } },
    },
    { told: [{ ...REVIEW, mailboxesLeft: 1 }], missing: 0, doubled: 0 },
  ],
  [
    'what was on its way to a mailbox is not stored again where that has another name, under which the destination says it is not there',
    {
      seed: 97,
      folders: [...inbox(3), { name: 'Letters', letters: 25 }],
      connections: 2,
      sizes: SMALL,
      stops: [{ worker: 1, atEffect: 79 }],
      destination: { closing: { path: 'Letters of old', opens: 0, code: 'NONEXISTENT' } },
      deeds: [{ side: 'destination', atCommand: 18, does: 'renames a mailbox' }],
    },
    { told: [{ ...REVIEW, mailboxesLeft: 1 }], doubled: 0 },
  ],
  [
    'what was stored without its UID, in another form, is not told as lost where its folder is deleted at the source',
    {
      folders: [...inbox(1), { name: 'Letters', letters: 12 }],
      connections: 1,
      sizes: SMALL,
      destination: { uidPlus: false, rewriting: 'adds headers', goodbyeAfterCommands: 9 },
      deeds: [{ side: 'source', atCommand: 28, does: 'deletes a mailbox' }],
    },
    { told: [{ ...REVIEW, mailboxesLeft: 1 }], missing: 0, doubled: 0 },
  ],
  [
    'other dates than were sent are told, also where the destination says no UIDs',
    { folders: inbox(10), destination: { ignoresDate: true, uidPlus: false } },
    { told: [{ ...REVIEW, changed: 10 }], missing: 0, doubled: 0 },
  ],
  [
    'what is stored without its UID, with another body and another date, is told as changed, and not stored again',
    {
      folders: inbox(8),
      orders: 2,
      destination: { ignoresDate: true, uidPlus: false, rewriting: 'changes the body' },
    },
    {
      told: [
        { ...REVIEW, changed: 8 },
        { ...REVIEW, changed: 8 },
      ],
      doubled: 0,
    },
  ],
  [
    'other dates than were sent are told by the second order, too, where the destination is renumbered',
    {
      folders: inbox(10),
      orders: 2,
      destination: { ignoresDate: true },
      deeds: [{ side: 'destination', atCommand: 30, does: 'renumbers a mailbox' }],
    },
    {
      told: [
        { ...REVIEW, changed: 10 },
        { ...REVIEW, changed: 10 },
      ],
      missing: 0,
      doubled: 0,
    },
  ],
  [
    'a folder that gets another name between the list and its opening is not told as unreadable',
    {
      folders: [...inbox(1), { name: 'letters', letters: 3 }],
      connections: 3,
      weather: FAST,
      deeds: [{ side: 'source', atCommand: 7, does: 'renames a mailbox' }],
    },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'a message that its owner moves between the list and its reading is neither told as lost nor stored again',
    {
      seed: 400_042,
      folders: inbox(1),
      weather: { latency: 0.1, jitter: 20, pieces: false },
      connections: 2,
      destination: { uidPlus: false },
      deeds: [{ side: 'destination', atCommand: 11, does: 'moves a message' }],
    },
    { told: [COMPLETED], missing: 0, doubled: 0 },
  ],
  [
    'what the destination gives another body, and has no Message-ID, is told as changed',
    { folders: inbox(20), mail: { noIds: true }, destination: { uidPlus: false, rewriting: 'changes the body' } },
    { told: [{ ...REVIEW, changed: 20 }], doubled: 0 },
  ],
];

describe('what is told', () => {
  test.for(CASES)('%s', async ([, given, expected]) => {
    const outcome = await simulate({ ...PLAIN, ...given });
    expect(outcomeOf(outcome)).toMatchObject(expected);
    const { history } = outcome.accounts.destination;
    expect(history.filter(({ kind, by }) => kind === 'expunged' && by.startsWith('worker'))).toEqual([]);
  });

  test('a forwarded message of a day that is to come is not copied where it has arrived', async () => {
    const mail = { marked: 1, dates: 1, ownEqual: 1 };
    const { accounts } = await simulate({ ...PLAIN, folders: inbox(12), mail });
    const there = accounts.destination.find('INBOX')?.messages ?? [];
    const named = there.filter(({ octets }) => messageIdOf(octets) !== undefined);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(({ by }) => by !== 'before')).toEqual([]);
  });

  test('forwarded messages that have arrived are not copied because nobody can look there for a while', async () => {
    for (const code of ['SERVERBUG', HANGS_UP])
      for (const until of [3, 6, 12]) {
        const closing = { path: 'INBOX', opens: 0, until, code };
        const folders = [...inbox(6), { name: 'Work', letters: 8 }];
        const mail = { marked: 1, ownEqual: 1 };
        const { accounts, receipts } = await simulate({ ...PLAIN, folders, mail, destination: { closing } });
        const copied = accounts.destination.find('Work')?.messages ?? [];
        // Those that forwarding has not brought.
        expect({ code, until, copied: copied.filter(({ by }) => by !== 'before').length }).toEqual({
          code,
          until,
          copied: 2,
        });
        expect(receipts.map(({ status }) => status)).toEqual(['completed']);
      }
  });
});
