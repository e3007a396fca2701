import { expect, test } from 'vitest';
import { SIZES } from '../../../src/server/mail/copy/run/sizes.ts';
import { sampleOf } from '../../folders.ts';
import { dyingAt, scenarioWith } from './fair-scenario.ts';
import { SMALL } from '../scenario.ts';
import { simulate } from '../simulate.ts';

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

test('messages that the source gives the UIDs of others are copied, by the same order and by the next one', async () => {
  for (const given of [{}, { sizes: SMALL }, { source: { roundsSize: true }, destination: { uidPlus: false } }]) {
    for (const atCommand of [20, 24, 28]) {
      const deeds = [{ side: 'source', atCommand, does: 'gives UIDs to other messages' } as const];
      const { wrong, accounts } = await simulate(scenarioWith([12, 9], { ...given, deeds, orders: 2 }));
      expect({ given, atCommand, wrong }).toEqual({ given, atCommand, wrong: [] });
      const digestsIn = (side: 'source' | 'destination') =>
        [...accounts[side].folders.values()].flatMap(({ messages }) => messages.map(({ digest }) => digest));
      expect(digestsIn('destination')).toEqual(expect.arrayContaining(digestsIn('source')));
    }
  }
});

test('a source whose disk is away, and that shows an empty account in place of it, is waited for', async () => {
  for (const atCommand of [20, 28]) {
    const deeds = [
      { side: 'source', atCommand, does: 'loses its disk' },
      { side: 'source', atCommand: atCommand + 150, does: 'has its disk again' },
    ] as const;
    const { wrong, receipts, accounts } = await simulate(scenarioWith([40, 30], { deeds, sizes: SMALL }));
    expect({ atCommand, wrong }).toEqual({ atCommand, wrong: [] });
    expect(receipts).toMatchObject([{ status: 'completed', lost: 0, duplicated: 0, mailboxesLeft: 0 }]);
    const stored = [...accounts.destination.folders.values()].map(({ messages }) => messages.length);
    expect(stored).toEqual([40, 30]);
  }
});

test('of what the source tells other dates, and other numbers, nothing is stored again', async () => {
  for (const given of [
    {},
    { source: { roundsSize: true } },
    { mail: { oneDate: true }, destination: { uidPlus: false } },
  ])
    for (const does of ['tells other dates', 'tells other dates and numbers'] as const) {
      const deeds = [{ side: 'source', atCommand: 24, does }] as const;
      const { wrong, receipts } = await simulate(scenarioWith([12], { ...given, deeds, orders: 2 }));
      expect({ given, does, wrong }).toEqual({ given, does, wrong: [] });
      expect(receipts.map(({ status }) => status)).toEqual(['completed', 'completed']);
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
    // Each mailbox has every other moment, and each moment every other mailbox.
    const cases = mailboxes.flatMap((mailbox, which) =>
      moments.filter((_, at) => (at + which) % 2 === 0).map((moment) => ({ ...mailbox, ...moment })),
    );
    for (const each of sampleOf(cases, 9)) {
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
