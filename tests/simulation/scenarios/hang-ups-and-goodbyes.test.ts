import { expect, test } from 'vitest';
import { sampleOf } from '../../folders.ts';
import { HANGS_UP, SAYS_GOODBYE, type Quirks } from '../account.ts';
import { endsOf, scenarioWith } from './fair-scenario.ts';
import { SMALL, type Scenario } from '../scenario.ts';
import { simulate } from '../simulate.ts';

test.each(['source', 'destination'] as const)(
  'a %s that hangs up after a few commands is gone on with, however many mailboxes are asked for together',
  async (side) => {
    for (const goodbyeAfterCommands of [6, 7, 8]) {
      const letters = Array.from({ length: 16 }, () => 3);
      const { wrong, receipts } = await simulate(scenarioWith(letters, { [side]: { goodbyeAfterCommands } }));
      expect({ goodbyeAfterCommands, wrong }).toEqual({ goodbyeAfterCommands, wrong: [] });
      expect(receipts.map(({ status }) => status)).toEqual(['completed']);
    }
  },
);

test.each<[string, readonly number[], Partial<Scenario>, number]>([
  [
    'messages of which it refuses the dates',
    [20],
    { mail: { dates: 1 }, destination: { wantsDates: true, uidPlus: false }, sizes: SMALL },
    20,
  ],
  [
    'messages that it refuses',
    [20, 4],
    { poison: [2, 6, 10, 14, 18].map((letter) => ({ letter, code: 'CANNOT' })), destination: { multiAppend: false } },
    // One of them has an equal.
    18,
  ],
  [
    'one that its owner has put elsewhere, which is looked for in thirty mailboxes',
    Array.from({ length: 30 }, (_, at) => (at === 0 ? 6 : 1)),
    { deeds: [{ side: 'destination', atCommand: 60, does: 'moves a message' }] },
    35,
  ],
  [
    'the same, where the thirty are their owner’s',
    [40],
    {
      own: Array.from({ length: 30 }, (_, at) => ({ name: `Own ${at}`, letters: 0 })),
      deeds: [{ side: 'destination', atCommand: 40, does: 'moves a message' }],
      destination: { uidPlus: true },
      connections: 1,
      sizes: SMALL,
    },
    40,
  ],
  [
    'messages without an end of their last line',
    [60],
    { seed: 3, destination: { wantsLineEnd: true, multiAppend: false } },
    60,
  ],
  [
    'messages without it, of which it refuses the dates',
    [40],
    { mail: { dates: 1 }, destination: { wantsDates: true, wantsLineEnd: true, multiAppend: false } },
    40,
  ],
  [
    'messages that it refuses together, after ten commands',
    [40],
    { seed: 5, mail: { dates: 1 }, sizes: SMALL, destination: { wantsDates: true, goodbyeAfterCommands: 10 } },
    40,
  ],
  [
    'messages of a mailbox that is renumbered, and may have any of eighteen other names, after twenty-four commands',
    [40],
    {
      seed: 434,
      own: Array.from({ length: 18 }, (_, at) => ({ name: `Own ${at}`, letters: 1 })),
      deeds: [
        { side: 'destination', atCommand: 74, does: 'renumbers a mailbox' },
        { side: 'destination', atCommand: 75, does: 'gets new mail' },
      ],
      destination: { uidPlus: true, literals: 'synchronising', wantsLineEnd: true, goodbyeAfterCommands: 24 },
      connections: 2,
    },
    // With its owner's, and the new one.
    59,
  ],
])(
  'a destination that ends each connection after a dozen commands gets all: %s',
  async (_, letters, { destination, ...given }, count) => {
    const scenario = scenarioWith(letters, { ...given, destination: { goodbyeAfterCommands: 12, ...destination } });
    const { wrong, receipts, accounts } = await simulate(scenario);
    expect({ wrong, failures: receipts.map(({ failure }) => failure) }).toEqual({ wrong: [], failures: [undefined] });
    const there = [...accounts.destination.folders.values()].flatMap(({ messages }) => messages);
    expect(there).toHaveLength(count);
  },
);

/** How many minutes it takes until a scenario's order has ended. */
async function minutesOf(scenario: Scenario): Promise<number> {
  const { wrong, receipts, trace } = await simulate(scenario, { keepsTrace: true });
  expect({ wrong, receipts: receipts.map(({ failure }) => failure) }).toEqual({ wrong: [], receipts: [undefined] });
  return Number.parseFloat(trace.at(-1) ?? '') / 60_000;
}

test('messages to which a server says goodbye keep an order for less than two hours where no provider has a daily limit', async () => {
  const poison = [3, 9].map((letter) => ({ letter, code: SAYS_GOODBYE }));
  expect(await minutesOf(scenarioWith([20, 2], { poison }))).toBeLessThan(100);
});

test('goodbyes of one account wait for no daily limit of the other one', async () => {
  const poison = [{ letter: 5, side: 'source', breaks: 'says goodbye' } as const];
  expect(await minutesOf(scenarioWith([6], { poison, upADay: 500_000_000 }))).toBeLessThan(10);
});

const WAYS_TO_FAIL = ['hangs up', 'says goodbye', 'SERVERBUG', 'UNAVAILABLE'] as const;

test.each(
  (['source', 'destination'] as const).flatMap((side) => WAYS_TO_FAIL.map((breaks) => [side, breaks] as const)),
)(
  'three messages that the %s can not hand out (%s) keep an order for minutes, as another one is read before each',
  async (side, breaks) => {
    const poison = [5, 12, 19].map((letter) => ({ letter, side, breaks }));
    expect(await minutesOf(scenarioWith([10, 8, 8], { poison, sizes: SMALL }))).toBeLessThan(10);
  },
);

test.each(sampleOf([1, 4], 2))(
  'a mailbox of which the source hands out none, and says goodbye at each, keeps an order for less than an hour (connections: %i)',
  { tags: 'sampled' },
  async (connections) => {
    for (const letters of [14, 30]) {
      const poison = Array.from(
        { length: 14 },
        (_, at) => ({ letter: 20 + at, side: 'source', breaks: 'says goodbye' }) as const,
      );
      expect(await minutesOf(scenarioWith([20, letters, 10], { poison, connections, sizes: SMALL }))).toBeLessThan(60);
    }
  },
);

test.each([1, 4])(
  'a source that says goodbye after every five commands is gone on with (connections: %i)',
  async (connections) => {
    for (const letters of [
      [10, 8, 8],
      [1, 1, 2, 1, 1, 3, 1, 1, 1, 1],
    ]) {
      const source = { goodbyeAfterCommands: 5 };
      expect(await minutesOf(scenarioWith(letters, { source, connections, sizes: SMALL }))).toBeLessThan(3);
    }
  },
);

test('what the source has not handed out before a worker died is not read in place of others', async () => {
  const poison = Array.from(
    { length: 6 },
    (_, at) => ({ letter: 6 + at, side: 'source', breaks: SAYS_GOODBYE }) as const,
  );
  for (const atEffect of [390, 480, 570]) {
    const given = { poison, connections: 1, sizes: SMALL, stops: [{ worker: 1, atEffect }] };
    expect(await minutesOf(scenarioWith([6, 6], given))).toBeLessThan(15);
  }
});

test.each(['hangs up', 'says goodbye', 'falls silent'])(
  'a mailbox at which the source %s since it was copied keeps no message of another one back',
  async (code) => {
    const poison = [4, 5, 6].map((letter) => ({ letter, side: 'source', breaks: SAYS_GOODBYE }) as const);
    const source = { closing: { path: 'INBOX', opens: 3, code } };
    const { wrong, ends } = endsOf(await simulate(scenarioWith([4, 3, 4], { source, poison, sizes: SMALL })));
    expect({ wrong, ends }).toEqual({ wrong: [], ends: [{ failure: undefined, mailboxesLeft: 1 }] });
  },
);

test('new mail that the destination hands out late is not taken for what a worker died of sending, where sizes are rounded', async () => {
  const deeds = Array.from({ length: 25 }, (_, at) => ({
    side: 'destination' as const,
    atCommand: 13 + 3 * at,
    does: 'gets new mail' as const,
  }));
  const { accounts } = await simulate(
    scenarioWith([8], {
      source: { roundsSize: true },
      destination: { roundsSize: true, uidPlus: true, multiAppend: false, leavesOut: 0.9 },
      stops: [{ worker: 1, atEffect: 31 }],
      deeds,
      sizes: SMALL,
      connections: 1,
      weather: { latency: 0.1, jitter: 0, pieces: false },
    }),
  );
  const digests = [accounts.source, accounts.destination].map(
    ({ folders }) => new Set([...folders.values()].flatMap(({ messages }) => messages.map(({ digest }) => digest))),
  );
  expect([...(digests[0] ?? [])].filter((digest) => digests[1]?.has(digest) !== true)).toEqual([]);
});

test.each(['hangs up', 'says goodbye'] as const)(
  'a message that its owner moves away and back, and the destination %s at, does not keep an order from ending',
  async (breaks) => {
    const poison = [{ letter: 5, side: 'destination', breaks } as const];
    for (const seed of [1, 3])
      for (const atCommand of [12, 16, 40]) {
        const deeds = [{ side: 'destination', atCommand, does: 'moves a message away and back' } as const];
        const { wrong, receipts } = await simulate(scenarioWith([6], { seed, poison, deeds }));
        expect({ seed, atCommand, wrong }).toEqual({ seed, atCommand, wrong: [] });
        expect(receipts.map(({ failure }) => failure)).toEqual([undefined]);
      }
  },
);

test.each(['source', 'destination'] as const)(
  'a message with the mark of forwarding, at which the %s says goodbye each time, keeps none of the others back',
  async (side) => {
    const poison = [{ letter: 3, side, breaks: 'says goodbye' } as const];
    const mail = { marked: 1, ...(side === 'destination' ? { ownEqual: 1 } : {}) };
    const { wrong, receipts } = await simulate(scenarioWith([4], { poison, mail }));
    expect({ wrong, failures: receipts.map(({ failure }) => failure) }).toEqual({ wrong: [], failures: [undefined] });
  },
);

test('a destination that says goodbye to all is asked ever more seldom, though some messages are left by each run', async () => {
  const letters = Array.from({ length: 8 }, () => 1);
  const destination = { multiAppend: false, appendsADay: 2 };
  const { trace } = await simulate(scenarioWith(letters, { destination }), { keepsTrace: true });
  const runs = trace.filter((line) => / worker1 fails: /.test(line)).map((line) => Number.parseFloat(line) / 1000);
  // After pauses of two, four and eight seconds.
  expect(runs[3]).toBeGreaterThan(60);
});

test.each([true, false])(
  'a destination that takes no more today, and says goodbye, is not asked more often for each message that waits (UIDPLUS: %s)',
  async (uidPlus) => {
    const destination = { bytesADay: 30_000, multiAppend: false, uidPlus };
    const { wrong, trace } = await simulate(scenarioWith([40], { destination, sizes: SMALL }), { keepsTrace: true });
    const refusals = trace.filter((line) => line.includes('NO [OVERQUOTA] Account exceeded')).length;
    const runs = trace.filter((line) => / worker\d+ fails: /.test(line)).length;
    expect(wrong).toEqual([]);
    expect(runs).toBeGreaterThan(5);
    expect(refusals).toBeLessThanOrEqual(2 * runs);
  },
);

test(
  'a destination that hangs up at all that it is given has not refused each message',
  { tags: 'proof', timeout: 300_000 },
  async () => {
    const poison = Array.from({ length: 22 }, (_, letter) => ({ letter, code: HANGS_UP }));
    const { receipts } = await simulate(scenarioWith([22], { poison }));
    expect(receipts).toMatchObject([
      { status: 'review', failure: expect.stringContaining('could not reach') as unknown },
    ]);
  },
);

test.each(sampleOf([HANGS_UP, SAYS_GOODBYE], 2))(
  'a destination that answers by "%s" at so many messages of the inbox that it is not known to be at them gets all others',
  { tags: 'sampled' },
  async (code) => {
    const poison = Array.from({ length: 22 }, (_, letter) => ({ letter, code }));
    const { accounts } = await simulate(scenarioWith([30, 20], { poison }));
    expect(accounts.destination.find('Box 1')?.messages).toHaveLength(20);
  },
);

test.each<[string, number, readonly string[]]>([
  ['the inbox', 3, ['Box 1', 'Box 2']],
  ['another mailbox', 23, ['INBOX', 'Box 2']],
])(
  'over one connection, %s at so many messages of which a destination hangs up keeps none of the others back',
  { tags: 'proof' },
  async (_, first, others) => {
    const poison = Array.from({ length: 22 }, (_unused, at) => ({ letter: first + at, code: HANGS_UP }));
    const letters = first < 20 ? [30, 20, 20] : [20, 30, 20];
    const { accounts } = await simulate(scenarioWith(letters, { poison, connections: 1 }));
    for (const path of others) expect(accounts.destination.find(path)?.messages).toHaveLength(20);
  },
);

test(
  'over one connection, many such messages of the inbox and one of the next mailbox do not keep the last one back',
  { tags: 'proof' },
  async () => {
    const poison = Array.from({ length: 23 }, (_unused, at) => ({ letter: at < 22 ? at : 30, code: HANGS_UP }));
    const { accounts } = await simulate(scenarioWith([30, 10, 20], { poison, connections: 1 }));
    expect(accounts.destination.find('Box 1')?.messages).toHaveLength(9);
    expect(accounts.destination.find('Box 2')?.messages).toHaveLength(20);
  },
);

test('over one connection, messages at which a destination hangs up, one in each mailbox, keep nothing else back', async () => {
  const letters = Array.from({ length: 8 }, () => 4);
  const poison = letters.map((count, mailbox) => ({ letter: mailbox * count, code: HANGS_UP }));
  const { wrong, accounts } = await simulate(scenarioWith(letters, { poison, connections: 1 }));
  expect(wrong).toEqual([]);
  // One may be equal to the one that is refused.
  for (const { messages } of accounts.destination.folders.values()) expect(messages.length).toBeGreaterThan(1);
});

/** What a worker does over four connections that are far, from the last look at the source on. */
async function lastLookAt(
  source: Partial<Quirks>,
): Promise<{ readonly from: number; readonly trace: readonly string[] }> {
  const weather = { latency: 20, jitter: 1, pieces: false };
  const scenario = scenarioWith([20, 10, 10], { connections: 4, source: { listStatus: true, ...source }, weather });
  const { wrong, trace } = await simulate(scenario, { keepsTrace: true });
  expect(wrong).toEqual([]);
  const at = trace.findLastIndex((line) => line.endsWith('UNSELECT'));
  return { from: Number.parseFloat(trace[at] ?? ''), trace };
}

function timesIn(trace: readonly string[], what: RegExp): number {
  return trace.filter((line) => what.test(line)).length;
}

test('the last look at the source goes over a connection that stands, unless its server can not close a mailbox', async () => {
  const [own, other] = [await lastLookAt({}), await lastLookAt({ unselect: false })];
  expect(timesIn(own.trace, /dials source$/)).toBe(timesIn(other.trace, /dials source$/) - 1);
});

test.each([
  ['another folder', {}, 'gets new mail'],
  ['another name', {}, 'renames a mailbox'],
  ['a mailbox made anew', {}, 'renames a mailbox and makes it anew'],
  ['no UNSELECT', { unselect: false }, 'gets new mail'],
  ['no UNSELECT, and another name', { unselect: false }, 'renames a mailbox'],
] as const)(
  'servers that take their time to say goodbye have no connection too many: %s',
  { tags: 'sampled' },
  async (_, source, does) => {
    const letters = Array.from({ length: 12 }, () => 6);
    const cases = [70, 75, 80, 85, 90, 100, 110].flatMap((atCommand) =>
      [4, 5].map((connections) => ({ atCommand, connections })),
    );
    for (const { atCommand, connections } of sampleOf(cases, 3)) {
      const deeds = [{ side: 'source', atCommand, does }] as const;
      const slow = { goodbyeTakes: 1900, listStatus: true };
      const given = { connections, deeds, sizes: SMALL, source: { ...slow, ...source }, destination: slow };
      const { wrong } = await simulate(scenarioWith(letters, given));
      expect({ atCommand, connections, wrong }).toEqual({ atCommand, connections, wrong: [] });
    }
  },
);

test('a source that refuses to list its mailboxes over a connection that has read is asked over another one', async () => {
  const { from, trace } = await lastLookAt({});
  for (const [only, code] of [
    ['LIST', 'UNAVAILABLE'],
    ['LIST', 'SERVERBUG'],
    ['LIST', ''],
    // What it says of a mailbox that is still open may be as it was.
    ['UNSELECT', ''],
  ] as const) {
    const refusesReading = { part: 1, code, only, from: from - 1, until: from + 200 };
    const refused = await lastLookAt({ refusesReading });
    expect(timesIn(refused.trace, / LIST /)).toBeGreaterThan(timesIn(trace, / LIST /));
  }
});
