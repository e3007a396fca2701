import { describe, expect, test } from 'vitest';
import { sampleOf } from '../folders.ts';
import type { Quirks, SimulatedAccount } from './account.ts';
import { PLAIN, SMALL, type Deed, type Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

const DAY = 86_400_000;
const FOLDERS = [
  { name: 'INBOX', letters: 30 },
  { name: 'Sent', letters: 12 },
  { name: 'Letters', letters: 20 },
];

async function statusesOf(given: Partial<Scenario>) {
  const { wrong, receipts } = await simulate({ ...PLAIN, folders: FOLDERS, ...given });
  return { wrong, statuses: receipts.map(({ status }) => status) };
}

const completed = (orders: number) => ({ wrong: [], statuses: Array.from({ length: orders }, () => 'completed') });

/** The digests of a mailbox, in the order of its UIDs. */
function digestsIn(account: SimulatedAccount, path: string): readonly string[] {
  return account.find(path)?.messages.map(({ digest }) => digest) ?? [];
}

describe('what the destination does is not told as lost, changed or doubled', () => {
  test.each<[string, Partial<Quirks>]>([
    ['shows its newest messages only', { window: 15 }],
    ['shows them only, and says no UIDs', { window: 15, uidPlus: false }],
    ['keeps equal messages once', { twinsKeptOnce: true }],
    ['keeps equal messages once, and says no UIDs', { twinsKeptOnce: true, uidPlus: false }],
    ['shows late what it has stored', { showsAfter: 60_000 }],
    ['adds headers', { rewriting: 'adds headers and size' }],
    ['adds headers, and says no UIDs', { rewriting: 'adds headers and size', uidPlus: false }],
  ])('when it %s, by three orders', async (_, destination) => {
    expect(await statusesOf({ destination, sizes: SMALL, orders: 3 })).toEqual(completed(3));
  });

  test.each<Deed['does']>([
    'renumbers a mailbox',
    'deletes a mailbox',
    'moves a message',
    'moves a message away and back',
    'deletes a message',
    'reads a message',
  ])('when its subscriber %s, at whatever moment of two orders', { tags: 'sampled' }, async (does) => {
    for (const atCommand of sampleOf(
      Array.from({ length: 30 }, (_, at) => 5 + at * 5),
      6,
    )) {
      const deeds = [{ side: 'destination', atCommand, does }] as const;
      expect({ atCommand, ...(await statusesOf({ deeds, orders: 2 })) }).toEqual({ atCommand, ...completed(2) });
    }
  });
});

test.each<Deed['does']>(['moves a message', 'deletes a message'])(
  'where the destination says no UIDs, and its subscriber %s before it was looked for, that is neither lost nor brought back',
  { tags: 'sampled' },
  async (does) => {
    for (const multiAppend of [true, false])
      for (const atCommand of sampleOf(
        Array.from({ length: 30 }, (_, at) => 14 + at),
        3,
      )) {
        const deeds = [{ side: 'destination', atCommand, does }] as const;
        const destination = { uidPlus: false, multiAppend };
        const { wrong, receipts, accounts } = await simulate({
          ...PLAIN,
          folders: FOLDERS,
          sizes: SMALL,
          destination,
          deeds,
          orders: 2,
        });
        const stored = accounts.destination.history.filter(({ kind, by }) => kind === 'stored' && by !== 'subscriber');
        const told = receipts.map(({ status, lost }) => ({ status, lost }));
        const once = { status: 'completed', lost: 0 };
        expect({ multiAppend, atCommand, wrong, told, stored: stored.length }).toEqual({
          multiAppend,
          atCommand,
          wrong: [],
          told: [once, once],
          stored: 62,
        });
      }
  },
);

function timesOf(digest: string, all: readonly string[]): number {
  return all.filter((each) => each === digest).length;
}

test('what its subscriber puts back into a mailbox that was made anew is told as there twice where it is, and only there', async () => {
  let doubled = 0;
  for (const sizes of [{ sizes: SMALL }, {}])
    for (const atCommand of [15, 21, 33, 45, 48, 57])
      for (const every of [1, 3]) {
        const puts = Array.from({ length: 8 }, (_, at) => atCommand + 30 + at * every);
        const deeds: readonly Deed[] = [
          { side: 'destination', atCommand, does: 'makes a mailbox anew' },
          ...puts.map((at) => ({ side: 'destination', atCommand: at, does: 'puts back what it had' }) as const),
        ];
        const folders = [
          { name: 'INBOX', letters: 3 },
          { name: 'Letters', letters: 24 },
        ];
        const { wrong, receipts, accounts } = await simulate({ ...PLAIN, ...sizes, folders, connections: 1, deeds });
        const [theirs, ours] = [digestsIn(accounts.source, 'Letters'), digestsIn(accounts.destination, 'Letters')];
        const more = [...new Set(theirs)].map((digest) => timesOf(digest, ours) - timesOf(digest, theirs));
        const duplicated = more.reduce((sum, each) => sum + Math.max(0, each), 0);
        expect({ atCommand, every, wrong, told: receipts.map((receipt) => receipt.duplicated) }).toEqual({
          atCommand,
          every,
          wrong: [],
          told: [duplicated],
        });
        doubled += duplicated;
      }
  expect(doubled).toBeGreaterThan(0);
});

test.each<[string, Partial<Quirks>]>([
  ['says UIDs', {}],
  ['says none', { uidPlus: false }],
  ['rounds sizes', { roundsSize: true }],
  ['gives its own dates', { ignoresDate: true }],
  ['changes line ends', { rewriting: 'changes line ends' }],
  ['adds headers, others to each', { rewriting: 'adds headers and size' }],
  ['changes bodies', { rewriting: 'changes the body' }],
])('what a server keeps twice for one append is told, where it %s', async (_, quirks) => {
  for (const mail of [{}, { noIds: true }, { equal: 0.3 }]) {
    const destination: Partial<Quirks> = { doubles: 0.4, ...quirks };
    const { wrong, receipts, accounts } = await simulate({ ...PLAIN, folders: FOLDERS, mail, destination });
    const twice = [...accounts.destination.folders.values()].flatMap(({ messages }) =>
      messages.filter(({ by }) => by === 'server'),
    );
    expect(twice.length).toBeGreaterThan(0);
    expect({ wrong, receipts }).toMatchObject({ wrong: [], receipts: [{ lost: 0, duplicated: twice.length }] });
  }
});

test('what a server does not keep, though it has given it a UID, is told by name as removed', async () => {
  for (const uidPlus of [true, false])
    for (const drops of [0.3, 1]) {
      const { wrong, receipts, accounts } = await simulate({
        ...PLAIN,
        folders: FOLDERS,
        destination: { uidPlus, drops },
      });
      const dropped = accounts.destination.history.filter(({ kind }) => kind === 'dropped');
      expect(dropped.length).toBeGreaterThan(0);
      expect({ wrong, receipts }).toMatchObject({
        wrong: [],
        receipts: [{ lost: 0, duplicated: 0, mailboxesLeft: 0 }],
      });
    }
});

test.each<[string, Partial<Quirks>]>([
  ['counts and finds, and neither lists', { hidesWithheld: true }],
  ['counts and lists with all others, and neither finds', { losesWithheld: true }],
])('messages that the source %s nor hands out are told as left out', async (_, source) => {
  const poison = [3, 4, 17, 40].map((letter) => ({ letter, withheld: true }) as const);
  expect(await statusesOf({ poison, source, orders: 2 })).toEqual(completed(2));
});

test.each(
  sampleOf(
    [8, 12, 500].flatMap((count) => ['LIMIT', 'TOOBIG', ''].map((code) => [count, code] as const)),
    4,
  ),
)(
  '%i messages in a row that are refused, NO [%s], keep none of the others back, in a second order either',
  { tags: 'sampled' },
  async (count, code) => {
    const folders = [
      { name: 'INBOX', letters: count + 20 },
      { name: 'Letters', letters: 5 },
    ];
    const poison = Array.from({ length: count }, (_, at) => ({ letter: 10 + at, code }));
    expect(await statusesOf({ folders, poison, orders: 2 })).toEqual(completed(2));
  },
);

test.each([true, false])(
  'a mailbox that is said to be missing each time, though it is there, keeps none of the others back (MULTIAPPEND %s)',
  async (multiAppend) => {
    const poison = [{ letter: 35, code: 'TRYCREATE' }];
    const { wrong, receipts, accounts } = await simulate({
      ...PLAIN,
      folders: FOLDERS,
      poison,
      destination: { multiAppend },
    });
    expect(wrong).toEqual([]);
    expect(receipts).toMatchObject([{ status: 'review', lost: 0, duplicated: 0, changed: 0, mailboxesLeft: 1 }]);
    expect(digestsIn(accounts.destination, 'Letters')).toEqual(digestsIn(accounts.source, 'Letters'));
  },
);

test.each<[string, Partial<Quirks>]>([
  ['by MULTIAPPEND', {}],
  ['one by one', { multiAppend: false }],
  ['one by one, each announced', { multiAppend: false, literals: 'synchronising' }],
  ['without UIDs', { uidPlus: false }],
])('the newest of the inbox come first, and every other folder in its order, %s', async (_, destination) => {
  // A group has none of both.
  const newest = 12;
  const sizes = { ...SMALL, newest };
  const { wrong, accounts } = await simulate({ ...PLAIN, folders: FOLDERS, destination, sizes });
  expect(wrong).toEqual([]);
  const [inbox, there] = [digestsIn(accounts.source, 'INBOX'), digestsIn(accounts.destination, 'INBOX')];
  expect(there).toEqual([...inbox.slice(-newest), ...inbox.slice(0, -newest)]);
  for (const path of ['Sent', 'Letters'])
    expect(digestsIn(accounts.destination, path)).toEqual(digestsIn(accounts.source, path));
});

test('of a large inbox the newest thousand come first', async () => {
  const { wrong, accounts } = await simulate({ ...PLAIN, folders: [{ name: 'INBOX', letters: 1030 }] });
  expect(wrong).toEqual([]);
  const inbox = digestsIn(accounts.source, 'INBOX');
  expect(digestsIn(accounts.destination, 'INBOX')).toEqual([...inbox.slice(30), ...inbox.slice(0, 30)]);
});

test.each<[string, Partial<Scenario>]>([
  ['over one connection', { connections: 1 }],
  ['over several', {}],
  ['over several, without UIDs', { destination: { uidPlus: false } }],
  [
    'over several, each message announced, to a provider that takes so much a day',
    { upADay: 1e9, destination: { multiAppend: false, literals: 'synchronising' } },
  ],
])('the inbox comes before all other folders, whatever their names are, %s', async (_, given) => {
  const folders = [{ name: 'Aardvark', letters: 20 }, { name: 'Zebra', letters: 20 }, ...FOLDERS];
  const { wrong, accounts } = await simulate({ ...PLAIN, folders, sizes: SMALL, ...given });
  expect(wrong).toEqual([]);
  const stored = accounts.destination.history.filter(({ kind }) => kind === 'stored').map(({ folder }) => folder);
  expect(stored.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 'INBOX'));
});

test('what a provider takes in a day is never exceeded, and a transfer of many days ends by itself', async () => {
  const upADay = SMALL.group.octets;
  const { wrong, receipts, accounts } = await simulate({ ...PLAIN, folders: FOLDERS, upADay, sizes: SMALL });
  expect({ wrong, statuses: receipts.map(({ status }) => status) }).toEqual(completed(1));
  const { history, folders } = accounts.destination;
  const sizes = new Map(
    [...folders.values()].flatMap(({ messages }) => messages.map(({ id, octets }) => [id, octets.length])),
  );
  const stored = history
    .filter(({ kind }) => kind === 'stored')
    .map(({ time, id }) => ({ time, octets: sizes.get(id) ?? 0 }));
  const days = new Set(stored.map(({ time }) => Math.floor(time / DAY)));
  expect(days.size).toBeGreaterThan(3);
  for (const { time } of stored) {
    const day = stored.filter((each) => each.time <= time && each.time > time - DAY);
    const octets = day.reduce((sum, each) => sum + each.octets, 0);
    expect(octets).toBeLessThanOrEqual(upADay);
  }
});
