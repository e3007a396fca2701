import { expect, test } from 'vitest';
import { SIZES } from '../../../src/server/mail/copy/run/sizes.ts';
import { sampleOf } from '../../folders.ts';
import { HANGS_UP, type Quirks } from '../account.ts';
import { dyingAt, REWRITING, scenarioWith } from './fair-scenario.ts';
import { SMALL } from '../scenario.ts';
import { simulate } from '../simulate.ts';

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
