import { expect, test } from 'vitest';
import { SIZES } from '../../../src/server/mail/copy/run/sizes.ts';
import { sampleOf } from '../../folders.ts';
import { scenarioWith } from './fair-scenario.ts';
import { simulate } from '../simulate.ts';

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
