import { expect, test } from 'vitest';
import { sampleOf } from '../../folders.ts';
import { HANGS_UP, SAYS_GOODBYE, type Quirks } from '../account.ts';
import { scenarioWith } from './fair-scenario.ts';
import { SMALL, type Scenario } from '../scenario.ts';
import { simulate } from '../simulate.ts';

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

test.each(['source', 'destination'] as const)(
  'a message on which the %s breaks off each time does not cost hundreds of sign-ins, nor more than sixty in a minute',
  async (side) => {
    const poison = [{ letter: 15, side, breaks: 'hangs up' as const }];
    const scenario = scenarioWith([10, 9, 12, 12], { poison, destination: { uidPlus: true } });
    const { wrong, trace } = await simulate(scenario, { keepsTrace: true });
    expect(wrong).toEqual([]);
    for (const account of ['source', 'destination']) {
      const times = trace.filter((line) => line.endsWith(`dials ${account}`)).map((line) => Number.parseFloat(line));
      expect(times.length).toBeGreaterThan(1);
      expect(times.length).toBeLessThan(300);
      const inAMinute = times.map((from) => times.filter((time) => time >= from && time < from + 60_000).length);
      expect(Math.max(...inAMinute)).toBeLessThanOrEqual(60);
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
    const places = [[4], [3, 4, 12], [19], [20]];
    const cases = ways.flatMap((destination, at) =>
      // Each way begins with another place, so that a sample has each of both.
      places.map((_, place) => ({ destination, letters: places[(place + at) % places.length] ?? [] })),
    );
    for (const { destination, letters } of sampleOf(cases, 4)) {
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

test.each(sampleOf(['', 'TOOBIG', 'LIMIT', 'SERVERBUG', HANGS_UP, SAYS_GOODBYE, `${SAYS_GOODBYE} LIMIT`], 3))(
  'what a destination has kept of several messages in one command, which it answers by "%s", is not stored again',
  { tags: 'sampled' },
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
    const cases = [1, 3, 30].flatMap((count) => [false, true].map((multiAppend) => ({ count, multiAppend })));
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

test.each(['INUSE', 'THROTTLED'])(
  'nor is a message that one has kept by itself and answers by "%s"',
  async (refusalCode) => {
    const ways: readonly Partial<Quirks>[] = [{}, { uidPlus: false }, { literals: 'synchronising' }];
    for (const way of ways)
      for (const seed of [1, 2]) {
        const destination = { ...way, multiAppend: false, storesRefused: true, refusesNow: 0.3, refusalCode };
        const { wrong, receipts } = await simulate(scenarioWith([9, 6], { seed, sizes: SMALL, destination }));
        expect({ way, seed, wrong }).toEqual({ way, seed, wrong: [] });
        expect(receipts).toMatchObject([{ status: 'completed' }]);
      }
  },
);

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

test.each<[string, boolean]>([
  ['SERVERBUG', true],
  ['UNAVAILABLE', false],
])(
  'nor are mailboxes with many messages left that a destination answers by "%s" for an hour, as it does all',
  { tags: 'proof' },
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

test.each<[string, Partial<Quirks>]>([
  ['with UIDPLUS', {}],
  ['without UIDPLUS', { uidPlus: false }],
  ['one message at a time', { multiAppend: false }],
  ['in a form of its own', { rewriting: 'adds headers' }],
  ['that waits with its literals', { literals: 'synchronising' }],
])(
  'a destination that stores messages and says NO to them all the same has each once: %s',
  { tags: 'sampled' },
  async (_, quirks) => {
    // Something else is new there, too.
    const deeds = [40, 60, 80].map((atCommand) => ({ side: 'destination', atCommand, does: 'gets new mail' }) as const);
    const cases = ['', 'SERVERBUG', 'UNAVAILABLE'].flatMap((refusalCode) =>
      (refusalCode === '' ? [0.1, 0.5, 1] : [0.1, 0.5]).flatMap((refusesNow) =>
        [1, 2].map((orders) => ({ refusalCode, refusesNow, orders })),
      ),
    );
    for (const { orders, ...refusing } of sampleOf(cases, 3)) {
      const destination = { ...quirks, ...refusing, storesRefused: true };
      const { wrong, receipts } = await simulate(scenarioWith([60, 20], { destination, deeds, orders }));
      const told = receipts.map(({ status, duplicated }) => ({ status, duplicated }));
      const all = Array.from({ length: orders }, () => ({ status: 'completed', duplicated: 0 }));
      expect({ ...refusing, wrong, told }).toEqual({ ...refusing, wrong: [], told: all });
    }
  },
);

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
