import { expect, test } from 'vitest';
import { SENTENCES } from '../../../src/server/worker/sentences.ts';
import { sampleOf } from '../../folders.ts';
import { HANGS_UP, type Quirks } from '../account.ts';
import { endsOf, scenarioWith } from './fair-scenario.ts';
import { SMALL, type Scenario } from '../scenario.ts';
import { simulate } from '../simulate.ts';

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

test('a mailbox that lists its messages under other UIDs each time it is opened is told as left, not as read', async () => {
  const { wrong, ends } = endsOf(await simulate(scenarioWith([3, 3], { source: { shiftsUids: 'Box 1' } })));
  expect(ends).toEqual([{ failure: undefined, mailboxesLeft: 1 }]);
  expect(wrong).toEqual([]);
});

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
