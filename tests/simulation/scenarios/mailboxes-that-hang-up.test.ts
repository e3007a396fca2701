import { expect, test } from 'vitest';
import { sampleOf } from '../../folders.ts';
import { FALLS_SILENT, HANGS_UP, SAYS_GOODBYE } from '../account.ts';
import { endsOf, scenarioWith } from './fair-scenario.ts';
import { SMALL, type Scenario } from '../scenario.ts';
import { simulate } from '../simulate.ts';

const APPEARING = [
  [100_000, 'completed', 0],
  [10_000, 'completed', 0],
  [1e12, 'review', 2],
] as const;

test.each(sampleOf(APPEARING, 3))(
  'mailboxes that the destination has made, and that can be opened %i ms later, are waited for',
  { tags: 'sampled' },
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
    for (const path of sampleOf(['INBOX', 'Box 1', 'Box 2'], 3))
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
    const cases = (['source', 'destination'] as const).flatMap((side) =>
      (['deletes a message', 'deletes a mailbox', 'renames a mailbox'] as const).flatMap((does) =>
        [30, 60].map((atCommand) => ({ side, atCommand, does })),
      ),
    );
    for (const { side, ...deed } of sampleOf(cases, 5)) {
      const given = { orders: 2, deeds: [{ side, ...deed }], [side]: { closing } };
      const outcome = await simulate(scenarioWith([20, 5, 5, 5], given));
      const failures = endsOf(outcome).ends.map(({ failure }) => failure);
      expect({ side, ...deed, wrong: outcome.wrong, failures }).toEqual({
        side,
        ...deed,
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
