import { describe, expect, test } from 'vitest';
import { performStep } from '../../src/server/worker/operation-run.ts';
import { followPlan, planOf, type Rest, type StepName } from '../../src/server/worker/plan.ts';

type Outcomes = Partial<Record<StepName, Rest | Error>>;

/** Follows a plan whose steps end as told, and notes the order in which they began. */
async function follow(destinationProvider: string, outcomes: Outcomes) {
  const begun: StepName[] = [];
  const rest = followPlan(planOf({ destinationProvider }), async ({ name }) => {
    begun.push(name);
    const outcome = outcomes[name] ?? null;
    if (outcome instanceof Error) throw outcome;
    return outcome;
  });
  return { begun, rest: await rest.catch((error: unknown) => error) };
}

describe('the plan of a move', () => {
  test('sets up forwarding between the copy and the last listing, beside the contacts', async () => {
    const { begun, rest } = await follow('yahoo', {});
    expect(begun).toEqual(['copy contacts', 'copy mail', 'set up forwarding', 'finish mail']);
    expect(rest).toBeNull();
  });

  test('goes on with the mail while the contacts rest', async () => {
    const { begun, rest } = await follow('yahoo', { 'copy contacts': 300 });
    expect(begun).toContain('finish mail');
    expect(rest).toBe(300);
  });

  test('keeps back what comes after a step that rests, and asks for the shortest rest', async () => {
    const { begun, rest } = await follow('yahoo', { 'copy contacts': 300, 'copy mail': 20 });
    expect(begun).toEqual(['copy contacts', 'copy mail']);
    expect(rest).toBe(20);
  });

  test('copies the contacts, and nothing that comes after the mail, while the mail waits for its owner', async () => {
    const { begun, rest } = await follow('yahoo', { 'copy mail': Infinity });
    expect(begun).toEqual(['copy contacts', 'copy mail']);
    expect(rest).toBe(Infinity);
    expect((await follow('yahoo', { 'copy mail': Infinity, 'copy contacts': 300 })).rest).toBe(300);
  });

  test('goes through all that can be done before it tells of a step that failed', async () => {
    const failure = new Error('The lease is lost.');
    const { begun, rest } = await follow('yahoo', { 'copy contacts': failure });
    expect(begun).toContain('finish mail');
    expect(rest).toBe(failure);
  });
});

describe('the plan of an export', () => {
  test('writes the archive when contacts and mail are staged, and then ends the contacts', async () => {
    const { begun } = await follow('file_export', {});
    expect(begun).toEqual(['stage contacts', 'stage mail', 'write archive', 'end contacts']);
  });

  test('writes no archive while either rests', async () => {
    for (const resting of ['stage contacts', 'stage mail'] as const) {
      const { begun, rest } = await follow('file_export', { [resting]: 5 });
      expect(begun).toEqual(['stage contacts', 'stage mail']);
      expect(rest).toBe(5);
    }
  });
});

test.each([
  [59, [59_000], null, true],
  [61, [], 61, false],
])('a step that has to wait for %i s', async (seconds, pauses, rest, isDone) => {
  const [step] = planOf({ destinationProvider: 'yahoo' });
  if (step === undefined) throw new Error('The plan has no step.');
  const paused: number[] = [];
  let wasDone = false;
  const runs = {
    of: async () => ({
      perform: async () => {
        wasDone = true;
        return null;
      },
      [Symbol.asyncDispose]: async () => {},
    }),
    [Symbol.asyncDispose]: async () => {},
  };
  const pause = async (milliseconds: number) => void paused.push(milliseconds);
  const waiting = new Map([[step.of, seconds]]);
  expect(await performStep(step, new Set([step.of]), new Map(), waiting, runs, pause)).toBe(rest);
  expect({ paused, wasDone }).toEqual({ paused: pauses, wasDone: isDone });
});
