import { expect, test } from 'vitest';
import { SIZES } from '../../src/server/mail/copy/run/sizes.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { sampleOf } from '../folders.ts';
import { FALLS_SILENT, HANGS_UP, SAYS_GOODBYE, type Quirks } from './account.ts';
import { PLAIN, SMALL, type Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

/** What the seeds do not make: folders as large as is said, and fair weather but for what is said. */
function scenarioWith(letters: readonly number[], given: Partial<Scenario>): Scenario {
  return {
    ...PLAIN,
    folders: letters.map((count, at) => ({ name: at === 0 ? 'INBOX' : `Box ${at}`, letters: count })),
    ...given,
  };
}

/** With deaths of its workers, one after the other, each at a part of all that it would do. */
async function dyingAt(parts: readonly number[], scenario: Scenario): Promise<Scenario> {
  const stops = [...scenario.stops];
  for (const [at, part] of parts.entries()) {
    const { trace } = await simulate({ ...scenario, stops }, { keepsTrace: true });
    const effect = new RegExp(`^[\\d.]+ worker${at + 1} \\d+ `);
    const effects = trace.filter((line) => effect.test(line)).length;
    stops.push({ worker: at + 1, atEffect: Math.ceil(part * effects) });
  }
  return { ...scenario, stops };
}

const REWRITING = { uidPlus: false, rewriting: 'adds headers' } as const;

const LARGE: readonly [string, readonly number[], Partial<Quirks>, readonly number[]][] = [
  ['700 letters that come without UIDs, in another form', [700], REWRITING, []],
  ['1,500 of them', [1500], REWRITING, []],
  ['700 of them, and an early death', [700], REWRITING, [0.3]],
  ['700 of them, and a death in the middle', [700], REWRITING, [0.5]],
  ['700 of them, and a late death', [700], REWRITING, [0.8]],
  ['1,100 of them, and two deaths', [1100], REWRITING, [0.7, 0.4]],
  ['700 letters in another form whose UIDs are said, and a death', [700], { rewriting: 'adds headers' }, [0.6]],
  ['five folders, and three deaths', [1200, 300, 300, 300, 300], {}, [0.6, 0.5, 0.3]],
  ['synchronising literals, and two deaths', [400, 200], { literals: 'synchronising' }, [0.7, 0.5]],
];

test.each(sampleOf(LARGE, 3))(
  'large folders: %s',
  { tags: 'sampled', timeout: 300_000 },
  async (_, letters, destination, parts) => {
    const scenario = await dyingAt(parts, scenarioWith(letters, { destination }));
    const { wrong, receipts, deaths } = await simulate(scenario);
    expect(wrong).toEqual([]);
    expect(deaths).toBe(parts.length);
    expect(receipts.map(({ status }) => status)).toEqual(['completed']);
  },
);

test.each<Partial<Quirks>>([{}, { rewriting: 'adds headers and size' }])(
  'a mailbox of the source that is deleted under way keeps none of the others back, %o',
  async (destination) => {
    for (let atCommand = 3; atCommand < 40; atCommand += 3) {
      const deeds = [{ side: 'source', atCommand, does: 'deletes a mailbox' }] as const;
      const { wrong, receipts } = await simulate(scenarioWith([30, 20, 20], { deeds, destination }));
      expect({ atCommand, wrong }).toEqual({ atCommand, wrong: [] });
      expect(receipts.map(({ failure, lost }) => ({ failure, lost }))).toEqual([{ failure: undefined, lost: 0 }]);
    }
  },
);

test('of a mailbox that the source loses while it is copied nothing is said that the destination has no part in', async () => {
  const destination = { rewriting: 'adds headers' } as const;
  for (let atCommand = 29; atCommand < 37; atCommand += 1) {
    const deeds = [{ side: 'source', atCommand, does: 'deletes a mailbox' }] as const;
    const { wrong, receipts } = await simulate(scenarioWith([10, 10], { deeds, destination, sizes: SMALL }));
    expect({ atCommand, wrong }).toEqual({ atCommand, wrong: [] });
    expect(receipts).toMatchObject([{ lost: 0, duplicated: 0, changed: 0, mailboxesLeft: 1 }]);
  }
});

test(
  'a mailbox whose name no column can hold is known again, wherever a worker dies',
  { tags: 'sampled' },
  async () => {
    const folders = ['INBOX', 'Lone \u{D800}', 'Nul \0', 'Lone \u{D801}'].map((name) => ({ name, letters: 30 }));
    const parts = Array.from({ length: 30 }, (_, at) => 0.3 + at * 0.02);
    for (const part of sampleOf(parts, 6)) {
      const { wrong, receipts, deaths } = await simulate(await dyingAt([part], scenarioWith([], { folders })));
      expect({ part, wrong, deaths }).toEqual({ part, wrong: [], deaths: 1 });
      expect(receipts.map(({ status, lost, duplicated }) => ({ status, lost, duplicated }))).toEqual([
        { status: 'completed', lost: 0, duplicated: 0 },
      ]);
    }
  },
);

test('so is one of the destination, by another order and wherever a worker dies', { tags: 'sampled' }, async () => {
  const folders = [
    { name: 'INBOX', letters: 3 },
    { name: 'Sent', letters: 12, specialUse: '\\Sent' },
  ] as const;
  for (const atEffect of sampleOf(
    Array.from({ length: 30 }, (_, at) => 30 + at * 3),
    8,
  ))
    for (const name of ['Lone \u{D800}', 'Nul \0']) {
      const own = [{ name, letters: 2, specialUse: '\\Sent' }];
      const given = { folders, own, sizes: SMALL, connections: 2, stops: [{ worker: 1, atEffect }], orders: 2 };
      const { wrong, receipts, accounts } = await simulate(scenarioWith([], given));
      const there = [...accounts.destination.folders.keys()];
      expect({ atEffect, wrong, there }).toEqual({ atEffect, wrong: [], there: ['INBOX', name] });
      expect(receipts.map(({ status }) => status)).toEqual(['completed', 'completed']);
    }
});

test.each(['source', 'destination'] as const)(
  'a mailbox of the %s that can not be opened any more is told, and keeps none of the others back',
  async (side) => {
    const ends = new Set<string>();
    for (let opens = 0; opens < 8; opens += 1) {
      const closing = { path: 'Box 1', opens };
      const { wrong, receipts } = await simulate(scenarioWith([30, 20, 20], { [side]: { closing } }));
      expect({ opens, wrong }).toEqual({ opens, wrong: [] });
      for (const { status, lost, mailboxesLeft } of receipts) ends.add(`${status} ${lost} ${mailboxesLeft}`);
    }
    // What is closed only after all of it has been read back has come.
    expect(ends).toEqual(new Set(['review 0 1', 'completed 0 0']));
  },
);

test(
  'a mailbox that a list leaves out for once is copied all the same, also after a death',
  { tags: 'sampled' },
  async () => {
    for (const parts of sampleOf([[], [0.3], [0.4], [0.5], [0.6], [0.7]], 3))
      for (const listingThatLies of [1, 2, 3]) {
        // Of the one that is left out, the last one, some is under way when the worker dies.
        const lying = scenarioWith([0, 40], { source: { listingThatLies } });
        const { wrong, receipts, deaths } = await simulate(await dyingAt(parts, lying));
        expect({ parts, listingThatLies, wrong, deaths }).toEqual({
          parts,
          listingThatLies,
          wrong: [],
          deaths: parts.length,
        });
        expect(receipts.map(({ status }) => status)).toEqual(['completed']);
      }
  },
);

test('a mailbox that gets another name in an order for what is new is not taken for another one', async () => {
  for (const foldsCase of [true, false])
    for (let atCommand = 8; atCommand < 32; atCommand += 4) {
      const deeds = [{ side: 'source', atCommand, does: 'writes a mailbox in small letters' }] as const;
      const given = { source: { foldsCase }, deeds, orders: 2 };
      const { wrong, receipts } = await simulate(scenarioWith([5, 5], given));
      expect({ foldsCase, atCommand, wrong }).toEqual({ foldsCase, atCommand, wrong: [] });
      expect(receipts.at(-1)?.status).toBe('completed');
    }
});

test('a source that is renumbered, and short lists of what went there before, come to an end', async () => {
  for (const atCommand of [10, 14, 18, 22])
    for (const shortListings of [1, 2]) {
      const deeds = [{ side: 'source', atCommand, does: 'renumbers a mailbox' }] as const;
      const sizes = { ...SIZES, readAhead: 2000 };
      const { wrong } = await simulate(scenarioWith([60], { sizes, deeds, destination: { shortListings } }));
      expect({ atCommand, shortListings, wrong }).toEqual({ atCommand, shortListings, wrong: [] });
    }
});

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

test('a mailbox that can not be read back is told, also where the destination leaves it out of its list', async () => {
  const closing = { path: 'Box 1', opens: 1 };
  for (const listingThatLies of [0, 1, 2, 3, 4]) {
    const destination = { closing, listingThatLies };
    const { wrong, receipts } = await simulate(scenarioWith([6, 6], { destination }));
    expect({ listingThatLies, wrong }).toEqual({ listingThatLies, wrong: [] });
    expect(receipts.map(({ status }) => status)).toEqual(['review']);
  }
});

test('a mailbox that could not be read back for a while is read back by the second try', async () => {
  for (const until of [3, 4])
    for (const connections of [1, 2, 4]) {
      const closing = { path: 'Box 1', opens: 1, until };
      const { wrong, receipts } = await simulate({
        ...scenarioWith([6, 6], { destination: { closing } }),
        connections,
      });
      expect({ until, connections, wrong }).toEqual({ until, connections, wrong: [] });
      expect(receipts.map(({ status }) => status)).toEqual(['completed']);
    }
});

test('of messages with one Message-ID a server may keep the first one: the others are told as lost', async () => {
  const destination = { keepsOneOfAnId: true };
  let lost = 0;
  for (const atCommand of [null, 24, 32, 40, 48, 56, 64]) {
    const deeds = atCommand === null ? [] : [{ side: 'destination', atCommand, does: 'renumbers a mailbox' } as const];
    for (const readBack of [SIZES.readBack, { messages: 3, octets: 3000 }]) {
      const sizes = { ...SIZES, readAhead: 5000, readBack, group: { messages: 5, octets: 30_000 } };
      const { wrong, receipts } = await simulate(scenarioWith([60, 40], { destination, deeds, sizes }));
      expect({ atCommand, wrong }).toEqual({ atCommand, wrong: [] });
      for (const receipt of receipts) lost += receipt.lost;
    }
  }
  expect(lost).toBeGreaterThan(0);
});

test(
  'a mailbox that gets another name while its first messages are under way is copied once',
  { tags: 'proof' },
  async () => {
    let completed = 0;
    for (const destination of [{}, REWRITING, { uidPlus: false, rewriting: 'changes line ends' } as const])
      for (const parts of [[], [0.35], [0.5]])
        for (let atCommand = 12; atCommand < 44; atCommand += 4) {
          const deeds = [{ side: 'source', atCommand, does: 'renames a mailbox' }] as const;
          const sizes = { ...SIZES, readAhead: 5000, group: { messages: 2, octets: 30_000 } };
          const scenario = await dyingAt(parts, scenarioWith([0, 6], { destination, deeds, sizes }));
          const { wrong, receipts } = await simulate(scenario);
          const told = receipts.map(({ lost, duplicated }) => ({ lost, duplicated }));
          expect({ atCommand, parts, wrong, told }).toEqual({
            atCommand,
            parts,
            wrong: [],
            told: [{ lost: 0, duplicated: 0 }],
          });
          completed += receipts.filter(({ status }) => status === 'completed').length;
        }
    expect(completed).toBeGreaterThan(50);
  },
);

test.each(['source', 'destination'] as const)(
  'a message on which the %s breaks off each time keeps none of the others back',
  { tags: 'sampled' },
  async (side) => {
    const cases = (['hangs up', 'says goodbye', 'SERVERBUG', 'UNAVAILABLE', 'breaks off within'] as const).flatMap(
      (breaks) =>
        [true, false].flatMap((uidPlus) =>
          [[3, 4, 5], [19], [20], [0]].map((letters) => ({ breaks, uidPlus, letters })),
        ),
    );
    for (const { breaks, uidPlus, letters } of sampleOf(cases, 9)) {
      const poison = letters.map((letter) => ({ letter, side, breaks }));
      const { wrong, receipts } = await simulate(scenarioWith([20, 1], { poison, destination: { uidPlus } }));
      expect({ breaks, uidPlus, letters, wrong }).toEqual({ breaks, uidPlus, letters, wrong: [] });
      expect(receipts.map(({ failure, lost }) => ({ failure, lost }))).toEqual([{ failure: undefined, lost: 0 }]);
    }
  },
);

test.each([HANGS_UP, SAYS_GOODBYE, 'SERVERBUG', 'UNAVAILABLE'])(
  'a message that the destination never takes, and answers each time by "%s", keeps none of the others back',
  { tags: 'sampled' },
  async (code) => {
    const ways: readonly Partial<Quirks>[] = [
      {},
      { multiAppend: false },
      { multiAppend: false, literals: 'synchronising' },
      { uidPlus: false },
    ];
    for (const destination of sampleOf(ways, 2))
      for (const letters of sampleOf([[4], [3, 4, 12], [19], [20]], 2)) {
        const poison = letters.map((letter) => ({ letter, code }));
        const { wrong, receipts } = await simulate(scenarioWith([20, 2], { poison, destination, orders: 2 }));
        expect({ destination, letters, wrong }).toEqual({ destination, letters, wrong: [] });
        expect(receipts.map(({ status }) => status)).toEqual(['completed', 'completed']);
      }
  },
);

test(
  'nor is their mailbox told as one that takes none where several messages of it are never taken',
  { tags: 'sampled' },
  async () => {
    const ways: readonly Partial<Quirks>[] = [
      {},
      { multiAppend: false },
      { multiAppend: false, literals: 'synchronising' },
    ];
    const cases = [3, 8, 12].flatMap((count) => ways.map((destination) => ({ count, destination })));
    for (const { count, destination } of sampleOf(cases, cases.length)) {
      const poison = Array.from({ length: count }, (_, letter) => ({ letter, code: 'SERVERBUG' }));
      const { wrong, receipts } = await simulate(scenarioWith([40, 5], { poison, destination }));
      expect({ count, destination, wrong }).toEqual({ count, destination, wrong: [] });
      expect(receipts).toMatchObject([{ status: 'completed', lost: 0, mailboxesLeft: 0 }]);
    }
  },
);

test.each(['', 'TOOBIG', 'LIMIT', 'SERVERBUG', HANGS_UP, SAYS_GOODBYE, `${SAYS_GOODBYE} LIMIT`])(
  'what a destination has kept of several messages in one command, which it answers by "%s", is not stored again',
  async (code) => {
    for (const uidPlus of [true, false]) {
      const poison = [7, 12].map((letter) => ({ letter, code }));
      const destination = { keepsSome: true, uidPlus };
      const { wrong, receipts } = await simulate(scenarioWith([20], { poison, destination }));
      expect({ uidPlus, wrong }).toEqual({ uidPlus, wrong: [] });
      expect(receipts.map(({ status }) => status)).toEqual(['completed']);
    }
  },
);

test(
  'the last messages to which a destination says goodbye until the day is over are not left out',
  { tags: 'sampled' },
  async () => {
    const letters = 60;
    const given = { sizes: SMALL, upADay: 500_000_000 };
    const cases = [1, 3, 8, 30].flatMap((count) => [false, true].map((multiAppend) => ({ count, multiAppend })));
    for (const { count, multiAppend } of sampleOf(cases, cases.length)) {
      const destination = { multiAppend, appendsADay: letters - count };
      const { wrong, receipts, accounts } = await simulate(scenarioWith([letters], { ...given, destination }));
      expect({ count, multiAppend, wrong }).toEqual({ count, multiAppend, wrong: [] });
      expect(receipts).toMatchObject([{ status: 'completed' }]);
      expect(accounts.destination.find('INBOX')?.messages).toHaveLength(letters);
    }
  },
);

test.each<[string, Partial<Quirks>]>([
  ['asks for a pause', { appendsAMinute: 5 }],
  ['says INUSE', { refusesNow: 0.3, refusalCode: 'INUSE' }],
])('nor is what one has kept that %s in the middle of a command', async (_, quirks) => {
  for (let seed = 1; seed <= 6; seed += 1) {
    const destination = { keepsSome: true, ...quirks };
    const { wrong, receipts } = await simulate(scenarioWith([9, 6], { seed, sizes: SMALL, destination }));
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    expect(receipts).toMatchObject([{ status: 'completed' }]);
  }
});

test.each(['SERVERBUG', 'UNAVAILABLE'])(
  'nor are a few messages left that a destination answers by "%s" for an hour, as it does all',
  { tags: 'sampled' },
  async (code) => {
    for (const multiAppend of sampleOf([true, false], 2)) {
      const refusesReading = { part: 1, code, only: 'APPEND', from: 20, until: 3_600_000 };
      const { wrong, accounts } = await simulate(
        scenarioWith([9, 6], { destination: { multiAppend, refusesReading } }),
      );
      const there = [...accounts.destination.folders.values()].map(({ messages }) => messages.length);
      expect({ multiAppend, wrong, there }).toEqual({ multiAppend, wrong: [], there: [9, 6] });
    }
  },
);

test.each(
  sampleOf<[string, boolean]>(
    [
      ['SERVERBUG', true],
      ['UNAVAILABLE', false],
    ],
    2,
  ),
)(
  'nor are mailboxes with many messages left that a destination answers by "%s" for an hour, as it does all',
  { tags: 'sampled' },
  async (code, multiAppend) => {
    const refusesReading = { part: 1, code, only: 'APPEND', from: 20, until: 3_600_000 };
    const { wrong, accounts } = await simulate(scenarioWith([45, 2], { destination: { multiAppend, refusesReading } }));
    const there = [...accounts.destination.folders.values()].map(({ messages }) => messages.length);
    expect({ wrong, there }).toEqual({ wrong: [], there: [45, 2] });
  },
);

test('nor is it where there was room for a part of them', async () => {
  const { wrong, accounts } = await simulate(scenarioWith([20], { destination: { keepsSome: true, quota: 30_000 } }));
  expect(wrong).toEqual([]);
  expect(accounts.destination.find('INBOX')?.messages).toHaveLength(19);
});

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

const WITH_REASON = { refusesNow: 0.05, refusalCode: 'CANNOT' };
/** One in the middle of the second and third connection to the destination. */
const resetsAt = (atOctet: number) =>
  [2, 3].map((connection) => ({ side: 'destination', connection, atOctet, direction: 'up' }) as const);

test.each<[string, readonly number[], number, Partial<Scenario>, Partial<Quirks>]>([
  ['goodbyes', [1, 2, 3, 4, 5, 6], 30, {}, { goodbyeAfterCommands: 20 }],
  ['resets', [1, 2, 3, 4, 5, 6], 60, { links: resetsAt(40_000) }, {}],
  ['a NO for a reason, and goodbyes', [1, 3], 350, {}, { ...WITH_REASON, goodbyeAfterCommands: 150 }],
  ['a NO for a reason, and resets', [1, 3], 350, { links: resetsAt(500_000) }, WITH_REASON],
])('what a server stores and says NO to is not stored again after %s', async (_, seeds, letters, given, quirks) => {
  for (const seed of seeds) {
    const destination = { multiAppend: false, uidPlus: true, refusesNow: 0.3, storesRefused: true, ...quirks };
    const { wrong } = await simulate(scenarioWith([letters], { ...given, seed, destination }));
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
  }
});

test('what is refused for a moment, and for a reason, is asked for once more as it is', async () => {
  for (const seed of [1, 2, 3, 4, 5, 6]) {
    const destination = { refusesNow: 0.4, refusalCode: 'CONTACTADMIN', multiAppend: false };
    const { wrong, accounts } = await simulate(scenarioWith([60], { seed, destination }));
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    expect(accounts.destination.find('INBOX')?.messages).toHaveLength(60);
  }
});

test('what could not be read back, as the account had had all for a moment, has its flags all the same', async () => {
  for (const from of [60, 80, 100, 120]) {
    const text = 'Account exceeded command or bandwidth limits. (Failure)';
    const refusesReading = { part: 1, code: 'OVERQUOTA', text, only: 'UID FETCH', from, until: from + 40 } as const;
    const destination = { dropsFlags: true, refusesReading };
    const { wrong } = await simulate(scenarioWith([60], { sizes: SMALL, destination }));
    expect({ from, wrong }).toEqual({ from, wrong: [] });
  }
});

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
  const minutes = await minutesOf(scenarioWith([6], { poison, upADay: 500_000_000 }));
  expect(minutes).toBeGreaterThan(75);
  expect(minutes).toBeLessThan(100);
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
  const letters = Array.from({ length: 16 }, () => 1);
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

test.each(
  sampleOf<[string, number, readonly string[]]>(
    [
      ['the inbox', 3, ['Box 1', 'Box 2']],
      ['another mailbox', 23, ['INBOX', 'Box 2']],
    ],
    2,
  ),
)(
  'over one connection, %s at so many messages of which a destination hangs up keeps none of the others back',
  { tags: 'sampled' },
  async (_, first, others) => {
    const poison = Array.from({ length: 22 }, (_unused, at) => ({ letter: first + at, code: HANGS_UP }));
    const letters = first < 20 ? [30, 20, 20] : [20, 30, 20];
    const { accounts } = await simulate(scenarioWith(letters, { poison, connections: 1 }));
    for (const path of others) expect(accounts.destination.find(path)?.messages).toHaveLength(20);
  },
);

test('over one connection, many such messages of the inbox and one of the next mailbox do not keep the last one back', async () => {
  const poison = Array.from({ length: 23 }, (_unused, at) => ({ letter: at < 22 ? at : 30, code: HANGS_UP }));
  const { accounts } = await simulate(scenarioWith([30, 10, 20], { poison, connections: 1 }));
  expect(accounts.destination.find('Box 1')?.messages).toHaveLength(9);
  expect(accounts.destination.find('Box 2')?.messages).toHaveLength(20);
});

test('over one connection, messages at which a destination hangs up, one in each mailbox, keep nothing else back', async () => {
  const letters = Array.from({ length: 8 }, () => 4);
  const poison = letters.map((count, mailbox) => ({ letter: mailbox * count, code: HANGS_UP }));
  const { wrong, accounts } = await simulate(scenarioWith(letters, { poison, connections: 1 }));
  expect(wrong).toEqual([]);
  // One may be equal to the one that is refused.
  for (const { messages } of accounts.destination.folders.values()) expect(messages.length).toBeGreaterThan(1);
});

test.each(['source', 'destination'] as const)(
  'one mailbox of the %s that is always said to be in trouble keeps none of the others back',
  async (side) => {
    for (const code of ['SERVERBUG', 'INUSE', 'UNAVAILABLE', 'LIMIT']) {
      const closing = { path: 'Box 1', opens: -1, code };
      const { wrong, receipts } = await simulate(scenarioWith([20, 5, 5], { [side]: { closing } }));
      expect({ code, wrong }).toEqual({ code, wrong: [] });
      expect(receipts.map(({ failure, mailboxesLeft }) => ({ failure, mailboxesLeft }))).toEqual([
        { failure: undefined, mailboxesLeft: 1 },
      ]);
    }
  },
);

/** What ends that are as they should be where some mailboxes close, by how they did. */
async function endsWhereClosing(
  side: 'source' | 'destination',
  closing: NonNullable<Quirks['closing']>,
  given: Partial<Scenario>,
) {
  const outcome = await simulate(scenarioWith([20, 5, 5, 5], { ...given, [side]: { closing } }));
  const mailboxesLeft = closing.other === undefined ? 1 : 2;
  const ends = Array.from({ length: given.orders ?? 1 }, () => ({ failure: undefined, mailboxesLeft }));
  const label = { closing, connections: given.connections };
  return { told: { ...label, ...endsOf(outcome) }, wanted: { ...label, wrong: [], ends } };
}

const FEW_OR_MANY = [
  { connections: 1, isSilent: false },
  { connections: 4, isSilent: true },
];

test.each(['source', 'destination'] as const)(
  'what is said of an account, when one mailbox of the %s is opened, is not believed where it opens others',
  async (side) => {
    for (const code of ['AUTHORIZATIONFAILED', 'AUTHENTICATIONFAILED', 'EXPIRED', 'PRIVACYREQUIRED', 'OVERQUOTA'])
      for (const path of ['INBOX', 'Box 1'])
        for (const { connections, isSilent } of FEW_OR_MANY) {
          const closing = { path, opens: -1, code, isSilent };
          const { told, wanted } = await endsWhereClosing(side, closing, { connections, orders: 2 });
          expect(told).toEqual(wanted);
        }
  },
);

test.each(['source', 'destination'] as const)('nor is it where several mailboxes of the %s say so', async (side) => {
  for (const code of ['AUTHORIZATIONFAILED', 'OVERQUOTA'])
    for (const [path, other] of [
      ['INBOX', 'Box 1'],
      ['Box 1', 'Box 2'],
    ] as const)
      for (const { connections, isSilent } of FEW_OR_MANY) {
        const closing = { path, other, opens: -1, code, isSilent };
        const { told, wanted } = await endsWhereClosing(side, closing, { connections });
        expect(told).toEqual(wanted);
      }
});

test.each(['source', 'destination'] as const)(
  'nor is it where a mailbox of the %s has been opened once, and says so when it is to be read',
  async (side) => {
    for (const code of ['AUTHORIZATIONFAILED', 'OVERQUOTA'])
      for (const path of ['INBOX', 'Box 1'])
        for (const connections of [1, 4]) {
          const { told, wanted } = await endsWhereClosing(side, { path, opens: 1, code }, { connections });
          expect(told).toEqual(wanted);
        }
  },
);

test.each(['source', 'destination'] as const)(
  'where all mailboxes of the %s say the code of a sign-in that was right, its owner is told that it refuses',
  async (side) => {
    for (const code of ['AUTHORIZATIONFAILED', 'EXPIRED'])
      for (const letters of [[5], [5, 5]])
        for (const { connections, isSilent } of FEW_OR_MANY) {
          const closing = { path: 'INBOX', other: 'Box 1', opens: -1, code, isSilent };
          const { receipts } = await simulate(scenarioWith(letters, { connections, [side]: { closing } }));
          const told = receipts.map(({ status, failure }) => ({ status, failure }));
          expect({ closing, letters, told }).toEqual({
            closing,
            letters,
            told: [{ status: 'review', failure: SENTENCES.refused }],
          });
        }
  },
);

test('nor is it where one says so when flags that were dropped at APPEND are to be set', async () => {
  for (const code of ['AUTHORIZATIONFAILED', 'OVERQUOTA'])
    for (const connections of [1, 4])
      for (let opens = 0; opens < 8; opens += 1) {
        const closing = { path: 'INBOX', opens, code };
        const destination = { dropsFlags: true, closing };
        const { receipts } = await simulate(scenarioWith([20, 5], { connections, destination }));
        const failures = receipts.map(({ failure }) => failure);
        expect({ code, connections, opens, failures }).toEqual({ code, connections, opens, failures: [undefined] });
      }
});

test('nor is it where one says so when what a worker stored too late is to be taken back', async () => {
  for (const [atWrite, opens] of [
    [19, 15],
    [20, 15],
    [21, 18],
    [22, 19],
  ] as const) {
    const closing = { path: 'INBOX', opens, until: opens + 1, code: 'OVERQUOTA' };
    const { wrong, receipts } = await simulate(
      scenarioWith([20, 3], {
        connections: 2,
        sizes: SMALL,
        weather: { latency: 20, jitter: 1, pieces: false },
        destination: { thinking: 1000, multiAppend: false, closing },
        stops: [{ worker: 1, atWrite, freezeFor: 40_000 }],
      }),
    );
    const failures = receipts.map(({ failure }) => failure);
    expect({ atWrite, wrong, failures }).toEqual({ atWrite, wrong: [], failures: [undefined] });
  }
});

test.each(['source', 'destination'] as const)(
  'nor does one of the %s that gets into trouble once it has been opened, and whose STATUS says so as well',
  async (side) => {
    for (const until of [undefined, 1])
      for (let opens = 1; opens < 8; opens += 1) {
        const closing = { path: 'Box 1', opens, code: 'SERVERBUG', isSilent: true, ...(until && { until }) };
        // A folder that is renamed meanwhile makes them all be asked.
        const deeds = [{ side: 'source', atCommand: 30, does: 'renames a mailbox' }] as const;
        const { wrong, receipts } = await simulate(
          scenarioWith([20, 5, 5], { [side]: { closing }, orders: 2, deeds: opens % 2 === 0 ? deeds : [] }),
        );
        expect({ opens, until, wrong }).toEqual({ opens, until, wrong: [] });
        expect(receipts.map(({ failure }) => failure)).toEqual([undefined, undefined]);
      }
  },
);

test('a folder that gets another name and lets nobody in for a while is not taken for a new one', async () => {
  for (const code of ['SERVERBUG', 'NOPERM'])
    for (const until of [1, 3, 5])
      for (const atCommand of [10, 22, 36]) {
        const closing = { path: 'Box 1 of old', opens: -1, until, code };
        const deeds = [{ side: 'source', atCommand, does: 'renames a mailbox' }] as const;
        const { wrong, receipts } = await simulate(scenarioWith([5, 6], { source: { closing }, deeds, orders: 2 }));
        expect({ code, until, atCommand, wrong }).toEqual({ code, until, atCommand, wrong: [] });
        // What is refused with a reason is told, and not waited for.
        if (code === 'NOPERM') continue;
        expect(receipts.at(-1)?.status).toBe('completed');
      }
});

/** How the receipts end: what could not be done, and how many folders were left. */
function endsOf({ wrong, receipts }: Awaited<ReturnType<typeof simulate>>) {
  return { wrong, ends: receipts.map(({ failure, mailboxesLeft }) => ({ failure, mailboxesLeft })) };
}

test.each([
  [10_000, 'completed', 0],
  [100_000, 'completed', 0],
  [1e12, 'review', 2],
])(
  'mailboxes that the destination has made, and that can be opened %i ms later, are waited for',
  async (appearsAfter, status, mailboxesLeft) => {
    for (const connections of [1, 4])
      for (const multiAppend of [true, false]) {
        const given = { connections, destination: { appearsAfter, multiAppend } };
        const { wrong, receipts } = await simulate(scenarioWith([4, 5, 5], given));
        expect({ connections, wrong: mailboxesLeft === 0 ? wrong : [], receipts }).toMatchObject({
          connections,
          wrong: [],
          receipts: [{ status, mailboxesLeft }],
        });
        expect(receipts.map(({ failure }) => failure)).toEqual([undefined]);
      }
  },
);

test.each([
  ['source', HANGS_UP],
  ['destination', HANGS_UP],
  ['source', SAYS_GOODBYE],
  ['destination', SAYS_GOODBYE],
] as const)(
  'one mailbox of the %s at which it %s each time keeps none of the others back',
  { tags: 'sampled' },
  async (side, code) => {
    const left = { failure: undefined, mailboxesLeft: 1 };
    for (const path of sampleOf(['INBOX', 'Box 1', 'Box 2'], 2))
      for (const connections of [1, 4])
        for (const isSilent of side === 'source' ? [true, false] : [false]) {
          const closing = { path, opens: -1, code, isSilent };
          const given = scenarioWith([20, 5, 5], { connections, orders: 2, [side]: { closing } });
          const outcome = await simulate(given);
          expect({ path, connections, ...endsOf(outcome) }).toEqual({
            path,
            connections,
            wrong: [],
            ends: [left, left],
          });
          const others = [...outcome.accounts.destination.folders.values()].filter(({ name }) => name !== path);
          expect(others.map(({ messages }) => messages.length)).toEqual(path === 'INBOX' ? [5, 5] : [20, 5]);
        }
  },
);

test.each(['source', 'destination'] as const)(
  'nor does one of the %s at which it falls silent each time, or once it has been copied',
  { tags: 'sampled' },
  async (side) => {
    const cases = ['INBOX', 'Box 1'].flatMap((path) =>
      [1, 4].flatMap((connections) =>
        [-1, 1, 2].flatMap((opens) => [true, false].map((isSilent) => ({ path, connections, opens, isSilent }))),
      ),
    );
    for (const each of sampleOf(cases, 6)) {
      const { connections, ...closing } = each;
      const given = { connections, [side]: { closing: { ...closing, code: FALLS_SILENT } } };
      const { wrong, receipts, accounts } = await simulate(scenarioWith([20, 5, 5], given));
      expect({ each, wrong, failures: receipts.map(({ failure }) => failure) }).toEqual({
        each,
        wrong: [],
        failures: [undefined],
      });
      const others = [...accounts.source.folders.values()].filter(({ name }) => name !== each.path);
      const there = others.map(({ name }) => accounts.destination.find(name)?.messages.length);
      expect(there).toEqual(others.map(({ messages }) => messages.length));
    }
  },
);

test.each([HANGS_UP, SAYS_GOODBYE])(
  'nor does one (%s) after which others were to be asked for over the same connection, which are not to blame',
  async (code) => {
    for (const path of ['INBOX', 'Box 1'])
      for (const connections of [1, 2]) {
        const closing = { path, opens: 2, code, isSilent: true };
        const given = { connections, sizes: SMALL, orders: 2, source: { closing } };
        const left = { failure: undefined, mailboxesLeft: 1 };
        expect({ path, connections, ...endsOf(await simulate(scenarioWith([20, 8, 8, 8], given))) }).toEqual({
          path,
          connections,
          wrong: [],
          ends: [left, left],
        });
      }
  },
);

test.each([HANGS_UP, SAYS_GOODBYE])(
  'nor does one (%s) at each side, nor one only once it has been copied',
  async (code) => {
    const closing = { path: 'Box 1', opens: -1, code };
    const both = { source: { closing }, destination: { closing: { ...closing, path: 'Box 2' } } };
    expect(endsOf(await simulate(scenarioWith([20, 5, 5, 5], both)))).toEqual({
      wrong: [],
      ends: [{ failure: undefined, mailboxesLeft: 2 }],
    });
    for (const side of ['source', 'destination'] as const)
      for (const opens of [1, 2, 3, 4]) {
        const later = { [side]: { closing: { ...closing, opens, isSilent: true } } };
        const { wrong, ends } = endsOf(await simulate(scenarioWith([20, 5, 5], later)));
        expect({ side, opens, wrong, failures: ends.map(({ failure }) => failure) }).toEqual({
          side,
          opens,
          wrong: [],
          failures: [undefined],
        });
      }
  },
);

test.each(['SERVERBUG', HANGS_UP, SAYS_GOODBYE])(
  'nor does one that answers by "%s" where something is looked for in it that belongs to another one',
  { tags: 'sampled' },
  async (code) => {
    const closing = { path: 'Box 1', opens: -1, code, isSilent: true };
    for (const side of ['source', 'destination'] as const)
      for (const does of ['deletes a message', 'deletes a mailbox', 'renames a mailbox'] as const)
        for (const atCommand of sampleOf([30, 60], 2)) {
          const deeds = [{ side, atCommand, does }];
          const outcome = await simulate(scenarioWith([20, 5, 5, 5], { orders: 2, deeds, [side]: { closing } }));
          const failures = endsOf(outcome).ends.map(({ failure }) => failure);
          expect({ side, does, atCommand, wrong: outcome.wrong, failures }).toEqual({
            side,
            does,
            atCommand,
            wrong: [],
            failures: [undefined, undefined],
          });
        }
    const forwarded = { mail: { marked: 0.5 }, destination: { closing: { ...closing, path: 'Box 2' } } };
    expect(endsOf(await simulate(scenarioWith([10, 10, 10], forwarded)))).toEqual({
      wrong: [],
      ends: [{ failure: undefined, mailboxesLeft: 1 }],
    });
  },
);

test.each(['source', 'destination'] as const)(
  'a %s that is in trouble with all mailboxes for an hour is waited for',
  async (side) => {
    for (const code of ['SERVERBUG', 'UNAVAILABLE'])
      for (const from of [0, 300]) {
        const refusesReading = { part: 1, code, from, until: 3_600_000 } as const;
        const { wrong, receipts } = await simulate(scenarioWith([10, 5, 5], { [side]: { refusesReading } }));
        expect({ code, from, wrong }).toEqual({ code, from, wrong: [] });
        expect(receipts.map(({ status }) => status)).toEqual(['completed']);
      }
  },
);

/** Some of which hang up at a mailbox while something is missing in that one or another: what stopped the transfer. */
async function hangingUpWhileMissing(given: readonly (readonly [string, Partial<Scenario>])[]) {
  const wrong: unknown[] = [];
  for (const [name, each] of given) {
    const outcome = await simulate(scenarioWith([8, 5, 5], each));
    const failures = outcome.receipts.flatMap(({ failure }) => failure ?? []);
    if (outcome.wrong.length + failures.length > 0) wrong.push([name, outcome.wrong, failures]);
  }
  return wrong;
}

const HANGING_UP = { opens: -1, code: HANGS_UP, isSilent: true };

test('one of the subscriber’s own at the destination, at which it hangs up, keeps none back while something is missing in another', async () => {
  const own = [{ name: 'Mine', letters: 2 }];
  const destination = { closing: { ...HANGING_UP, path: 'Mine' } };
  const given = (['deletes a message', 'moves a message', 'renames a mailbox'] as const).flatMap((does) =>
    [20, 30, 40].map(
      (atCommand) =>
        [
          `${does} ${atCommand}`,
          { own, destination, orders: 2, deeds: [{ side: 'destination', atCommand, does }] },
        ] as const,
    ),
  );
  expect(await hangingUpWhileMissing(given)).toEqual([]);
});

test('one at which the source hangs up when it lists all with their STATUS keeps none of the others back', async () => {
  const source = { listStatus: true, closing: { ...HANGING_UP, path: 'Box 1' } };
  const given = [1, 4].map((connections) => [`${connections}`, { source, connections, orders: 2 }] as const);
  expect(await hangingUpWhileMissing(given)).toEqual([]);
});

test(
  'one at which the source hangs up since it was copied keeps none back while something is missing in it at the destination',
  { tags: 'sampled' },
  async () => {
    const cases = (['renames a mailbox', 'renumbers a mailbox'] as const).flatMap((does) =>
      [19, 25, 31, 37, 43, 49].map((atCommand) => {
        const source = { closing: { ...HANGING_UP, path: 'Box 1', opens: 2 } };
        const deeds = [0, 1, 2].map((later) => ({ side: 'destination', atCommand: atCommand + later, does }) as const);
        return [`${does} ${atCommand}`, { source, deeds }] as const;
      }),
    );
    expect(await hangingUpWhileMissing(sampleOf(cases, 3))).toEqual([]);
  },
);

test.each([
  ['source', 'EXAMINE'],
  ['destination', 'SELECT'],
] as const)(
  'a moment’s trouble of the %s with one mailbox is waited for, also after an hour of trouble with all at %s',
  async (side, only) => {
    const refusesReading = { part: 1, code: 'UNAVAILABLE', only, until: 3_600_000 };
    const closing = { path: 'Box 1', opens: -1, until: 12, code: 'SERVERBUG' };
    const given = scenarioWith([10, 5, 5], { [side]: { refusesReading, closing } });
    expect(endsOf(await simulate(given))).toEqual({ wrong: [], ends: [{ failure: undefined, mailboxesLeft: 0 }] });
  },
);

test(
  'two mailboxes, each in trouble of its own, are no server that is in trouble with all',
  { tags: 'sampled' },
  async () => {
    for (const breaks of sampleOf(['SERVERBUG', HANGS_UP] as const, 2)) {
      const [first, second] = [1, 4].map((letter) => ({ letter, side: 'destination', breaks }) as const);
      if (first === undefined || second === undefined) throw new Error('There are two.');
      const closing = { path: 'Box 1', opens: -1, code: breaks, isSilent: true };
      for (const given of [
        { poison: [first, second] },
        { poison: [first], destination: { closing } },
        { poison: [first], destination: { renumbers: 'Box 1' } },
      ])
        expect({ breaks, given, ...endsOf(await simulate(scenarioWith([3, 3], given))) }).toEqual({
          breaks,
          given,
          wrong: [],
          ends: [{ failure: undefined, mailboxesLeft: 2 }],
        });
    }
  },
);

test('a server that is in trouble with both of two mailboxes for good is waited for a day, and then told', async () => {
  for (const [side, only] of [
    ['source', 'EXAMINE'],
    ['destination', 'SELECT'],
  ] as const) {
    const refusesReading = { part: 1, code: 'SERVERBUG', only } as const;
    const given = scenarioWith([3, 3], { [side]: { refusesReading } });
    const { receipts, trace } = await simulate(given, { keepsTrace: true });
    expect(receipts).toMatchObject([{ status: 'review', mailboxesLeft: 2 }]);
    const hours = Number.parseFloat(trace.at(-1) ?? '') / 3_600_000;
    expect(hours).toBeGreaterThan(12);
    expect(hours).toBeLessThan(36);
  }
});

test('a renamed folder that lets nobody in is not taken for a new one after a lost connection either', async () => {
  const closing = { path: 'Box 1 of old', opens: 0, until: 4, code: HANGS_UP };
  const deeds = [{ side: 'source', atCommand: 20, does: 'renames a mailbox' }] as const;
  for (const connection of [3, 5, 7, 8, 9, 10])
    for (const atOctet of [300, 600]) {
      const links = [{ side: 'source', connection, direction: 'down', atOctet }] as const;
      const given = { connections: 2, orders: 2, source: { closing }, deeds, links };
      const { wrong } = await simulate(scenarioWith([3, 4], given));
      expect({ connection, atOctet, wrong }).toEqual({ connection, atOctet, wrong: [] });
    }
});

test('a mailbox at which a server hangs up for a while is copied all the same', async () => {
  for (const side of ['source', 'destination'] as const)
    for (const until of [1, 3, 8, 25]) {
      const closing = { path: 'Box 1', opens: -1, until, code: HANGS_UP };
      expect({ side, until, ...endsOf(await simulate(scenarioWith([20, 5, 5], { [side]: { closing } }))) }).toEqual({
        side,
        until,
        wrong: [],
        ends: [{ failure: undefined, mailboxesLeft: 0 }],
      });
    }
});

test('a server that hangs up at the only mailbox that there is has none that can not be read', async () => {
  const closing = { path: 'INBOX', opens: -1, code: HANGS_UP };
  const { receipts } = await simulate(scenarioWith([5], { source: { closing } }));
  expect(receipts).toMatchObject([
    { mailboxesLeft: 0, failure: expect.stringContaining('could not reach') as unknown },
  ]);
});

/** Milliseconds until the last append of one large folder, far away: lanes that have none read back what is stored. */
async function storedAfter(destination: Partial<Quirks>): Promise<number> {
  const weather = { latency: 400, jitter: 1, pieces: false };
  const { wrong, trace, receipts } = await simulate(scenarioWith([3000, 30], { destination, weather }), {
    keepsTrace: true,
  });
  expect(wrong).toEqual([]);
  expect(receipts.map(({ status }) => status)).toEqual(['completed']);
  return Number.parseFloat(trace.findLast((line) => / says \w+ APPEND /.test(line)) ?? '');
}

test(
  'a destination that is too busy to read anything back keeps nothing from being stored',
  { tags: 'proof' },
  async () => {
    const refusesReading = { part: 1, code: 'THROTTLED', only: 'UID FETCH', until: 120_000 };
    const inFairWeather = await storedAfter({});
    // Longer than lanes try in a row.
    expect(inFairWeather).toBeGreaterThan(20_000);
    expect(await storedAfter({ refusesReading })).toBeLessThan(1.1 * inFairWeather);
  },
);

test.each(['source', 'destination'] as const)(
  'a %s that says how long it wants a pause is asked for nothing by any connection meanwhile, whatever it said so to',
  { tags: 'sampled' },
  async (side) => {
    const commands = ['EXAMINE', 'SELECT', 'UID FETCH', 'STATUS', 'LIST', undefined];
    const cases = [30_000, 59_000, 90_000].flatMap((milliseconds) =>
      commands.flatMap((only) => [0.1, 1].map((part) => ({ milliseconds, only, part }))),
    );
    for (const each of sampleOf(cases, 7)) {
      const { milliseconds, only, part } = each;
      const text = `Suggested Backoff Time: ${milliseconds} milliseconds`;
      const command = only === undefined ? {} : { only };
      const refusesReading = { part, code: 'THROTTLED', text, until: 100_000, ...command };
      // So that there is something to do on each connection for longer than that.
      const weather = { latency: 200, jitter: 1, pieces: false };
      const few = { messages: 5, octets: 30_000 };
      const sizes = { ...SIZES, group: few, fetch: few, readBack: few, readAhead: 50_000 };
      const { wrong, receipts } = await simulate(
        scenarioWith([200, 150, 100], { weather, sizes, [side]: { refusesReading } }),
      );
      const told = receipts.map(({ status }) => status);
      expect({ each, wrong, told }).toEqual({ each, wrong: [], told: ['completed'] });
    }
  },
);

test.each(['source', 'destination'] as const)(
  'trouble of the %s that passes within two minutes is waited for, whatever it keeps from being done',
  { tags: 'sampled' },
  async (side) => {
    // Many say no more than NO when something is wrong with them.
    for (const code of sampleOf(['SERVERBUG', 'INUSE', 'UNAVAILABLE', ''], 4))
      for (const only of ['EXAMINE', 'SELECT', 'UID FETCH', 'UID SEARCH', 'STATUS', 'LIST', undefined]) {
        const refusesReading = { part: 1, code, until: 120_000, ...(only === undefined ? {} : { only }) };
        const { wrong, receipts } = await simulate(scenarioWith([20, 5, 0], { [side]: { refusesReading } }));
        const told = receipts.map(({ status, mailboxesLeft }) => ({ status, mailboxesLeft }));
        expect({ code, only, wrong, told }).toEqual({
          code,
          only,
          wrong: [],
          told: [{ status: 'completed', mailboxesLeft: 0 }],
        });
      }
  },
);

/** When trouble begins, in milliseconds. */
const MOMENTS = Array.from({ length: 20 }, (_, at) => 40 * at);

test.each<['source' | 'destination', string, string?]>([
  ['source', 'command that reads'],
  ['source', 'UID FETCH', 'UID FETCH'],
  ['destination', 'command that reads'],
  ['destination', 'UID FETCH', 'UID FETCH'],
  ['destination', 'APPEND', 'APPEND'],
])(
  'a %s that says no more than NO to each %s for a minute keeps nothing from being copied and read back, whenever that begins',
  { tags: 'sampled' },
  async (side, _, only) => {
    const weather = { latency: 20, jitter: 1, pieces: false };
    for (const from of sampleOf(MOMENTS, 6)) {
      const refusesReading = { part: 1, code: '', from, until: from + 60_000, ...(only === undefined ? {} : { only }) };
      const { wrong, receipts } = await simulate(scenarioWith([60, 30, 3], { weather, [side]: { refusesReading } }));
      const told = receipts.map(({ status, mailboxesLeft }) => ({ status, mailboxesLeft }));
      expect({ from, wrong, told }).toEqual({ from, wrong: [], told: [{ status: 'completed', mailboxesLeft: 0 }] });
    }
  },
);

test.each<[string, Partial<Quirks>]>([
  ['with UIDPLUS', {}],
  ['without UIDPLUS', { uidPlus: false }],
  ['one message at a time', { multiAppend: false }],
  ['in a form of its own', { rewriting: 'adds headers' }],
  ['that waits with its literals', { literals: 'synchronising' }],
])('a destination that stores messages and says NO to them all the same has each once: %s', async (_, quirks) => {
  // Something else is new there, too.
  const deeds = [40, 60, 80].map((atCommand) => ({ side: 'destination', atCommand, does: 'gets new mail' }) as const);
  for (const refusalCode of ['', 'SERVERBUG', 'UNAVAILABLE'])
    for (const refusesNow of refusalCode === '' ? [0.1, 0.5, 1] : [0.1, 0.5])
      for (const orders of [1, 2]) {
        const destination = { ...quirks, refusesNow, refusalCode, storesRefused: true };
        const { wrong, receipts } = await simulate(scenarioWith([60, 20], { destination, deeds, orders }));
        const told = receipts.map(({ status, duplicated }) => ({ status, duplicated }));
        const all = Array.from({ length: orders }, () => ({ status: 'completed', duplicated: 0 }));
        expect({ refusalCode, refusesNow, wrong, told }).toEqual({ refusalCode, refusesNow, wrong: [], told: all });
      }
});

test.each<[string, Partial<Scenario>]>([
  ['hangs up after a few commands', { destination: { goodbyeAfterCommands: 40 } }],
  [
    'asks for pauses',
    {
      destination: {
        refusesReading: {
          part: 0.05,
          code: 'THROTTLED',
          only: 'APPEND',
          text: 'Suggested Backoff Time: 1000 milliseconds',
        },
      },
    },
  ],
])('a destination that refuses most messages, and %s, is asked for each a few times only', async (_, more) => {
  const poison = Array.from({ length: 60 }, (_, letter) => ({ letter, code: '' }));
  const { wrong, receipts, trace } = await simulate(scenarioWith([80], { ...more, poison }), { keepsTrace: true });
  expect({ wrong, status: receipts.map(({ status }) => status) }).toEqual({ wrong: [], status: ['completed'] });
  expect(trace.filter((line) => / says \w+ APPEND /.test(line)).length).toBeLessThan(60 * 12);
});

test('new mail of the subscriber’s own is not taken for a message without octets that was refused', async () => {
  const deeds = [12, 14, 16, 18, 20, 22].map(
    (atCommand) => ({ side: 'destination', atCommand, does: 'gets new mail' }) as const,
  );
  for (let seed = 1; seed <= 10; seed += 1) {
    const poison = [{ letter: 0, code: '' }];
    const { wrong, receipts } = await simulate(scenarioWith([6], { seed, mail: { empty: 0.5 }, poison, deeds }));
    const told = receipts.map(({ status, changed }) => ({ status, changed }));
    expect({ seed, wrong, told }).toEqual({ seed, wrong: [], told: [{ status: 'completed', changed: 0 }] });
  }
});

test('messages that are refused for a while are waited for, whatever else was waited for before', async () => {
  const away = { part: 1, code: 'UNAVAILABLE', only: 'LIST', until: 25_000 };
  const refusing = { part: 0.9, code: '', only: 'APPEND', until: 60_000 };
  const given = { source: { refusesReading: away }, destination: { refusesReading: refusing } };
  const { wrong, receipts } = await simulate(scenarioWith([60, 20], given));
  expect({ wrong, status: receipts.map(({ status }) => status) }).toEqual({ wrong: [], status: ['completed'] });
});

test('a mailbox that gets mail all the time ends, though one of its messages is refused each time', async () => {
  const deeds = Array.from(
    { length: 150 },
    (_, at) => ({ side: 'source', atCommand: 30 + at * 22, does: 'gets new mail' }) as const,
  );
  const poison = [{ letter: 3, code: '' }];
  const { wrong, trace } = await simulate(scenarioWith([20, 5], { deeds, poison }), { keepsTrace: true });
  expect(wrong).toEqual([]);
  const ended = Number.parseFloat(trace.findLast((line) => line.includes("gets worker1's finish")) ?? '');
  expect(ended).toBeLessThan(5 * 60_000);
});

test.each(['source', 'destination'] as const)(
  'one mailbox of the %s that is renumbered each time it is opened keeps none of the others back',
  { tags: 'sampled' },
  async (side) => {
    const cases = [1, 2, 4].flatMap((connections) =>
      (['nothing', 'adds headers'] as const).map((rewriting) => ({ connections, rewriting })),
    );
    for (const each of sampleOf(cases, 3)) {
      const { connections, rewriting } = each;
      const scenario = scenarioWith([20, 5, 5], { destination: { rewriting } });
      const renumbering = { ...scenario, [side]: { ...scenario[side], renumbers: 'Box 1' }, connections };
      const { wrong, receipts } = await simulate(renumbering);
      expect({ each, wrong }).toEqual({ each, wrong: [] });
      expect(receipts.map(({ failure, mailboxesLeft }) => ({ failure, mailboxesLeft }))).toEqual([
        { failure: undefined, mailboxesLeft: 1 },
      ]);
    }
  },
);

const COMMANDS = Array.from({ length: 52 }, (_, at) => 8 + at);

test('a mailbox of the destination that gets another name brings nothing twice', { tags: 'sampled' }, async () => {
  for (const uidPlus of [true, false])
    for (const atCommand of sampleOf(COMMANDS, 6)) {
      const deeds = [{ side: 'destination', atCommand, does: 'renames a mailbox' }] as const;
      const { wrong, receipts } = await simulate(scenarioWith([5, 8], { destination: { uidPlus }, deeds, orders: 2 }));
      const told = receipts.map(({ status }) => status);
      expect({ atCommand, uidPlus, wrong, told }).toEqual({
        atCommand,
        uidPlus,
        wrong: [],
        told: ['completed', 'completed'],
      });
    }
});

test(
  'a folder that gets another name, while its old name is used anew, is copied once',
  { tags: 'sampled' },
  async () => {
    for (const orders of [1, 3])
      for (const listStatus of [true, false])
        for (const atCommand of sampleOf(COMMANDS, 4 * orders)) {
          const deeds = [{ side: 'source', atCommand, does: 'renames a mailbox and makes it anew' }] as const;
          const { wrong, receipts } = await simulate(scenarioWith([5, 8], { source: { listStatus }, deeds, orders }));
          const told = receipts.map(({ lost, duplicated }) => ({ lost, duplicated }));
          expect({ atCommand, orders, wrong, told }).toEqual({
            atCommand,
            orders,
            wrong: [],
            told: receipts.map(() => ({ lost: 0, duplicated: 0 })),
          });
        }
  },
);

test('what the destination has already is not stored again, wherever a worker dies', async () => {
  const mail = { ownEqual: 1 };
  for (let part = 0.1; part < 1; part += 0.05) {
    const scenario = await dyingAt([part], scenarioWith([40], { mail }));
    const { wrong, receipts, accounts } = await simulate(scenario);
    expect({ part, wrong }).toEqual({ part, wrong: [] });
    expect(receipts.map(({ status }) => status)).toEqual(['completed']);
    const stored = accounts.destination.history.filter(({ kind, by }) => kind === 'stored' && by !== 'before');
    expect(stored).toEqual([]);
  }
});

test(
  'what was stored after the backup that a ledger is restored from is not stored again',
  { tags: 'sampled' },
  async () => {
    const small = { letters: [60, 30, 30], sizes: SMALL } as const;
    const mailboxes = [
      { letters: [40] },
      small,
      { ...small, destination: { uidPlus: false } },
      { ...small, destination: { rewriting: 'adds headers' } },
      { ...small, mail: { dates: 0.3 }, destination: { wantsDates: true } },
      { ...small, mail: { dates: 0.3 }, destination: { replacesDates: true } },
    ] as const;
    const moments: { taken: number; dies: number }[] = [];
    for (let taken = 0.05; taken < 1; taken += 0.15)
      for (let dies = taken + 0.05; dies < 1; dies += 0.2) moments.push({ taken, dies });
    const cases = mailboxes.flatMap((mailbox) => moments.map((moment) => ({ ...mailbox, ...moment })));
    for (const each of sampleOf(cases, 15)) {
      const { letters, taken, dies, ...given } = each;
      const scenario = await dyingAt([dies], scenarioWith(letters, given));
      const { trace } = await simulate(scenario, { keepsTrace: true });
      const died = trace.findIndex((line) => line.includes('worker1 is killed'));
      const at = Number.parseFloat(trace[Math.floor((died * taken) / dies)] ?? '');
      const { wrong, receipts } = await simulate({ ...scenario, backedUpAt: at });
      expect({ each, wrong }).toEqual({ each, wrong: [] });
      expect(receipts.map(({ status }) => status)).toEqual(['completed']);
    }
  },
);

test(
  'a message whose last line has no end is sent with one to a server that takes no other, wherever a worker dies',
  { tags: 'sampled' },
  async () => {
    const cases = [
      {},
      { uidPlus: false },
      { multiAppend: false, literals: 'synchronising' },
      { uidPlus: false, multiAppend: false },
    ] as const;
    let kept = 0;
    for (const destination of cases)
      for (const parts of sampleOf([[], [0.2], [0.4], [0.5], [0.6], [0.8]], 3)) {
        const scenario = scenarioWith([40, 30], { destination: { ...destination, wantsLineEnd: true } });
        const { wrong, receipts } = await simulate(await dyingAt(parts, scenario));
        expect({ destination, parts, wrong }).toEqual({ destination, parts, wrong: [] });
        expect(receipts.map(({ status }) => status)).toEqual(['completed']);
        for (const receipt of receipts) kept += receipt.kept;
      }
    expect(kept).toBeGreaterThan(0);
  },
);

test(
  'where a server puts a date of its own in the place of one that can’t be, without a word, the message is told as kept',
  { tags: 'sampled' },
  async () => {
    for (const destination of [{}, { uidPlus: false }, { multiAppend: false, literals: 'synchronising' }] as const)
      for (const parts of sampleOf([[], [0.3], [0.5], [0.7]], 2)) {
        const scenario = scenarioWith([20, 15], {
          mail: { dates: 0.3 },
          destination: { ...destination, replacesDates: true },
        });
        const { wrong, receipts } = await simulate(await dyingAt(parts, scenario));
        expect({ destination, parts, wrong }).toEqual({ destination, parts, wrong: [] });
        expect(receipts.map(({ status, changed }) => ({ status, changed }))).toEqual([
          { status: 'completed', changed: 0 },
        ]);
        for (const { kept } of receipts) expect(kept).toBeGreaterThan(3);
      }
  },
);

test(
  'a message whose date a server refuses has another one there, which is told, wherever a worker dies',
  { tags: 'sampled' },
  async () => {
    const cases = [
      {},
      { uidPlus: false },
      { multiAppend: false, literals: 'synchronising' },
      { wantsLineEnd: true },
      { rewriting: 'adds headers', uidPlus: false },
    ] as const;
    for (const destination of cases)
      for (const parts of sampleOf([[], [0.2], [0.4], [0.5], [0.6], [0.8]], 3)) {
        const scenario = scenarioWith([40, 30], {
          mail: { dates: 0.2 },
          destination: { ...destination, wantsDates: true },
        });
        const { wrong, receipts } = await simulate(await dyingAt(parts, scenario));
        expect({ destination, parts, wrong }).toEqual({ destination, parts, wrong: [] });
        expect(receipts.map(({ status }) => status)).toEqual(['completed']);
        for (const { kept } of receipts) expect(kept).toBeGreaterThan(5);
      }
  },
);

test('a message whose date can’t be read has the one that its sender wrote, in however small pieces it comes', async () => {
  const weather = { latency: 2, jitter: 1, pieces: true };
  const { wrong, accounts } = await simulate(scenarioWith([100], { weather, source: { oddDates: 1 } }));
  expect(wrong).toEqual([]);
  const dates = accounts.destination.find('INBOX')?.messages.map((message) => message.internalDate);
  expect(new Set(dates)).toEqual(new Set([Date.UTC(2020, 1, 3, 4, 5, 6)]));
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
  { timeout: 60_000 },
  async (_, source, does) => {
    const letters = Array.from({ length: 12 }, () => 6);
    for (const atCommand of [70, 75, 80, 85, 90, 100, 110])
      for (const connections of [4, 5]) {
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
