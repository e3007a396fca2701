import { describe, expect, test } from 'vitest';
import { PLAIN, SMALL, type Deed, type Scenario } from './scenario.ts';
import { simulate } from './simulate.ts';

// What a death leaves behind, and how the next worker settles it: the table at the head of recovery.ts, row by row. The
// judge of the simulation holds both accounts and the receipt against each other; what is asked here besides is that the
// worker died where the row says, and that the next one went the way that the row says.

const LETTERS = 6;
const FAIR: Scenario = {
  ...PLAIN,
  seed: 5,
  folders: [{ name: 'INBOX', letters: LETTERS }],
  own: [{ name: 'INBOX', letters: 3 }],
  destination: { literals: 'plus', uidPlus: true, multiAppend: true },
  weather: { latency: 0.1, jitter: 0, pieces: false },
  connections: 2,
};
const SINGLE = { ...FAIR, destination: { ...FAIR.destination, multiAppend: false } };

async function traceOf(scenario: Scenario): Promise<readonly string[]> {
  const { trace } = await simulate(scenario, { keepsTrace: true });
  return trace;
}

/** The scenario with a death of its first worker before the next thing that it does after a line of the trace. */
async function dyingAfter(scenario: Scenario, line: RegExp): Promise<Scenario> {
  const trace = await traceOf(scenario);
  const at = trace.findIndex((each) => line.test(each));
  if (at < 0) throw new Error(`Nothing in the trace is ${String(line)}.`);
  const effects = trace.slice(0, at + 1).filter((each) => /^[\d.]+ worker1 \d+ /.test(each)).length;
  return { ...scenario, stops: [{ worker: 1, atEffect: effects + 1 }] };
}

const dyingAfterStep = (scenario: Scenario, step: string) =>
  dyingAfter(scenario, new RegExp(`worker1 step ${step} in`));

/** The scenario with its connection cut in the middle of what the first APPEND sends, and a death at that. */
async function dyingInsideLiteral(scenario: Scenario): Promise<Scenario> {
  const trace = await traceOf(scenario);
  const at = trace.findIndex((line) => /worker1 says \S+ APPEND/.test(line));
  const sent = trace.slice(0, at).findLast((line) => /writes to destination#/.test(line)) ?? '';
  const [, connection = '', length = ''] = /destination#(\d+): (\d+)/.exec(sent) ?? [];
  const before = trace
    .slice(0, trace.indexOf(sent))
    .map((line) => new RegExp(`writes to destination#${connection}: (\\d+)`).exec(line)?.[1] ?? '0');
  const atOctet = before.reduce((sum, octets) => sum + Number(octets), Math.floor(Number(length) / 2));
  const link = { side: 'destination', connection: Number(connection), direction: 'up', atOctet } as const;
  return dyingAfter({ ...scenario, links: [link] }, new RegExp(`destination#${connection} is (?:gone|reset)`));
}

/** The scenario with a deed that comes between the death and what the next worker does about it. */
async function withDeed(scenario: Scenario, side: Deed['side'], does: Deed['does']): Promise<Scenario> {
  for (let atCommand = 1; atCommand < 200; atCommand += 1) {
    const tried = { ...scenario, deeds: [{ side, atCommand, does }] };
    const trace = await traceOf(tried);
    const dead = trace.findIndex((line) => line.includes('worker1 is killed'));
    const done = trace.findIndex((line) => line.includes(`at the ${side} somebody ${does}`));
    const next = trace.findIndex((line) => line.includes('worker2 asks') || line.includes('worker2 step listed'));
    if (done > dead && (next < 0 || done < next)) return tried;
  }
  throw new Error(`Nobody ${does} at the ${side} after the death.`);
}

type Lived = {
  readonly wrong: readonly string[];
  readonly status: string | undefined;
  readonly kept: number | undefined;
  /** What the second worker did. */
  readonly recovered: boolean;
  readonly appends: number;
  readonly trace: readonly string[];
};

async function live(scenario: Scenario): Promise<Lived> {
  const { wrong, receipts, trace } = await simulate(scenario, { keepsTrace: true });
  const dead = trace.findIndex((line) => line.includes('worker1 is killed'));
  expect(dead).toBeGreaterThan(0);
  const after = trace.slice(dead);
  const appends = after.filter((line) => /worker2 says \S+ APPEND/.test(line)).length;
  const recovered = after.some((line) => line.includes('worker2 step recovered'));
  return { wrong, status: receipts[0]?.status, kept: receipts[0]?.kept, recovered, appends, trace };
}

describe('what a death leaves is settled by the next worker', () => {
  test('between the listing and the intent: nothing; it lists again', async () => {
    expect(await live(await dyingAfterStep(SINGLE, 'listed'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: false,
      appends: LETTERS,
    });
  });

  test('between the intent and the first octet: an open group and nothing stored; it looks, and sends', async () => {
    expect(await live(await dyingAfterStep(SINGLE, 'intent committed'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: LETTERS,
    });
  });

  test('inside a literal of MULTIAPPEND: none of it is stored; all of it is sent', async () => {
    expect(await live(await dyingInsideLiteral(FAIR))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: 1,
    });
  });

  test('inside a literal of single appends: what came before is stored; only the rest is sent', async () => {
    const lived = await live(await dyingInsideLiteral(SINGLE));
    expect(lived).toMatchObject({ wrong: [], status: 'completed', recovered: true });
    expect(lived.appends).toBeLessThanOrEqual(LETTERS);
    expect(lived.appends).toBeGreaterThan(0);
  });

  test('between stored and the commit of it: found by digest, and not sent again', async () => {
    expect(await live(await dyingAfterStep(FAIR, 'appended'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: 0,
    });
  });

  test('the same where no UIDs are said', async () => {
    const unsaid = { ...FAIR, destination: { ...FAIR.destination, uidPlus: false } };
    expect(await live(await dyingAfterStep(unsaid, 'appended'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: 0,
    });
  });

  test('between the outcome and reading back: known; read back only', async () => {
    const lived = await live(await dyingAfterStep(FAIR, 'outcome committed'));
    expect(lived).toMatchObject({ wrong: [], status: 'completed', recovered: false, appends: 0 });
    expect(lived.trace.some((line) => line.includes('worker2 step verified'))).toBe(true);
  });

  test('after a MULTIAPPEND was refused: none; its messages are sent one by one, and the culprit is left out with its reason', async () => {
    const poisoned: Scenario = { ...FAIR, poison: [{ letter: 2, code: 'CANNOT' }] };
    const lived = await live(await dyingAfter(poisoned, /worker1 gets \S+ NO \[CANNOT\]/));
    expect(lived).toMatchObject({ wrong: [], status: 'completed' });
    expect(lived.appends).toBeGreaterThan(1);
  });

  test('and the source lost a message meanwhile: it is known by size and date, and not sent again', async () => {
    const dying = await dyingAfterStep(FAIR, 'appended');
    expect(await live(await withDeed(dying, 'source', 'deletes a message'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: 0,
    });
  });

  test('and the destination rewrites what it stores: found by the norm, told as kept, and not sent again', async () => {
    const rewriting: Scenario = { ...FAIR, destination: { ...FAIR.destination, rewriting: 'adds headers' } };
    expect(await live(await dyingAfterStep(rewriting, 'appended'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: 0,
      kept: LETTERS,
    });
  });

  test('and the server shows its newest messages only: what the ledger has is never sent again', async () => {
    const window = 4;
    const narrow: Scenario = { ...FAIR, destination: { ...FAIR.destination, window } };
    expect(await live(await dyingAfterStep(narrow, 'outcome committed'))).toMatchObject({
      wrong: [],
      status: 'completed',
      appends: 0,
    });
  });

  test('and the destination gives the mailbox another UIDVALIDITY: found by digest over all of it', async () => {
    const dying = await dyingAfterStep(FAIR, 'outcome committed');
    expect(await live(await withDeed(dying, 'destination', 'renumbers a mailbox'))).toMatchObject({
      wrong: [],
      status: 'completed',
      recovered: true,
      appends: 0,
    });
  });

  test('between the two halves of taking over what was known under another UIDVALIDITY of the source: none', async () => {
    const folders = [{ name: 'INBOX', letters: 30 }];
    const deeds = [{ side: 'source', atCommand: 25, does: 'renumbers a mailbox' }] as const;
    const renumbered: Scenario = { ...FAIR, folders, deeds, sizes: SMALL };
    const lived = await live(await dyingAfter(renumbered, /the database answers worker1's move 30/));
    expect(lived).toMatchObject({ wrong: [], status: 'completed', appends: 0 });
  });
});
