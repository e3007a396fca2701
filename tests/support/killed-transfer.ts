import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Step } from '../../src/server/mail/copy/run/mail-copy.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from './dovecot.ts';
import { layFreshDatabase } from './fresh-database.ts';
import { openMailClient } from './mail-client.ts';
import { differenceOf } from './mail-comparison.ts';
import { letter, ODD_LETTERS } from './mail-letters.ts';
import { startTcpProxy } from './tcp-proxy.ts';
import type { TransferProcess } from './transfer-process.ts';
import { NEW_ADDRESS, SUBSCRIBER } from './transfer-world.ts';

const PROCESS = join(import.meta.dirname, 'transfer-process.ts');
const TWINS = 30;
/** The worst moments: before an APPEND, after it but before its outcome is known, and during the recovery after that. */
export const KILLS: readonly { readonly step: Step; readonly count: number }[] = [
  { step: 'intent committed', count: 1 },
  { step: 'octets sent', count: 1 },
  { step: 'appended', count: 1 },
  { step: 'recovered', count: 1 },
  { step: 'outcome committed', count: 1 },
];
/** A killed worker's transfer is finished within this time. */
const RESUMED_WITHIN_MS = 60_000;

type KilledTransfer = {
  /** The address of the database; `folder` belongs to this transfer alone. */
  readonly address: (folder: string) => Promise<TransferProcess['database']>;
  readonly kills: typeof KILLS;
  /** The number of additional kills, each at a random moment within 300 ms of work. */
  readonly randomKills: number;
  readonly withoutUidplus: boolean;
  /** The number of messages besides the odd ones. */
  readonly ordinary?: number;
  /** Kills the first run at its first step, the next run at its second, and so on, until a run finishes. */
  readonly atEveryStep?: true;
};

const ORDINARY = 350;
/** How many ordinary messages arrive before each chosen kill; otherwise all might be copied before its step is reached. */
const ARRIVING = 10;

export const EMBEDDED = async (folder: string) => ({ folder: join(folder, 'database') });

/** The result if every message is there once and unchanged, both by comparing the mailboxes and by the product's report. */
export function whole(ordinary = ORDINARY) {
  const messages = ordinary + TWINS + ODD_LETTERS.length;
  return {
    difference: { messages, lost: [], duplicated: [], changed: [] },
    end: { status: 'completed', done: messages, total: messages, lost: 0, duplicated: 0, changed: 0 },
  };
}

/** Moves a mailbox with a process that is killed repeatedly. @returns the result, which should be {@link whole} */
export async function moveWhileKilled({
  address,
  kills,
  randomKills,
  withoutUidplus,
  ordinary = ORDINARY,
  atEveryStep,
}: KilledTransfer): Promise<{ difference: unknown; end: unknown; steps: number }> {
  await using source = await startDovecot();
  await using destination = await startDovecot({ separator: '.' });
  /** How many APPENDUID response codes have been hidden. */
  let hidden = 0;
  await using plain = await startTcpProxy(destination.port, {
    change: (direction, part) => {
      if (direction === 'to server' || !withoutUidplus) return part;
      const text = part.toString('latin1');
      hidden += text.includes('APPENDUID') ? 1 : 0;
      return Buffer.from(text.replaceAll(/ UIDPLUS|\[APPENDUID \d+ [\d:,]+\] /g, ''), 'latin1');
    },
  });
  const folder = await mkdtemp(join(tmpdir(), 'transfer-'));
  try {
    const arriving = kills.length * ARRIVING;
    await fill(source, ordinary - arriving);
    await layFreshDatabase(folder);
    const database = await address(folder);
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: `imap://127.0.0.1:${plain.port}` };
    for (const [at, killAt] of kills.entries()) {
      await deliver(source, ordinary - arriving + at * ARRIVING, ARRIVING);
      const { signal } = await run({ database, environment, killAt });
      expect({ killAt, signal }).toEqual({ killAt, signal: 'SIGKILL' });
    }
    let steps = 0;
    if (atEveryStep === true)
      for (let wasKilled = true; wasKilled; steps += 1)
        wasKilled = (await run({ database, environment, killAt: { count: steps + 1 } })).signal === 'SIGKILL';
    for (let kill = 0; kill < randomKills; kill += 1) await run({ database, environment }, Math.random() * 300);
    const restarted = Date.now();
    const { output, signal } = await run({ database, environment });
    expect(signal).toBeNull();
    expect(Date.now() - restarted).toBeLessThan(RESUMED_WITHIN_MS);
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    const difference = await differenceOf(
      { ...account, port: source.port },
      { ...account, port: destination.port, user: NEW_ADDRESS },
      (mailbox) => mailbox.replaceAll('/', '.'),
    );
    expect(hidden > 0).toBe(withoutUidplus);
    const { end } = JSON.parse(output.trim().split('\n').at(-1) ?? '') as { end: unknown };
    return { difference, end, steps };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function deliver(source: Dovecot, first: number, count: number): Promise<void> {
  await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  await mail.append(
    'INBOX',
    Array.from({ length: count }, (_, index) => letter(first + index)),
  );
}

async function fill(source: Dovecot, ordinary: number): Promise<void> {
  await deliver(source, 0, ordinary);
  await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  await mail.create('Family/Twins');
  await mail.append(
    'Family/Twins',
    Array.from({ length: TWINS }, () => letter(3)),
  );
  await mail.append('Family/Twins', ODD_LETTERS);
}

/** Runs the process until it ends, or kills it `killAfter` milliseconds after it has started working. */
async function run(options: TransferProcess, killAfter?: number) {
  const child = spawn(process.execPath, [PROCESS, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
  if (killAfter !== undefined) {
    await Promise.race([once(child.stdout, 'data'), ended]);
    await wait(killAfter);
    child.kill('SIGKILL');
  }
  const [output, [, signal]] = await Promise.all([text(child.stdout), ended]);
  return { output, signal };
}
