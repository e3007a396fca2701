import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import type { TransferProcess } from '../support/transfer-process.ts';
import { NEW_ADDRESS, SUBSCRIBER } from '../support/transfer-world.ts';

const MESSAGES = 60;
const FOLDERS = ['INBOX', 'One', 'Two'];

function start(options: TransferProcess) {
  const program = join(import.meta.dirname, '../support/transfer-process.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, output: text(child.stdout), ended: once(child, 'exit') };
}

/** Whether the kernel has stopped a process (`T` in its third field, proc(5)). */
async function isStopped(pid: number): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, 'latin1');
  return line.slice(line.lastIndexOf(')') + 2).startsWith('T');
}

/** What a process said last. */
async function endOf(output: Promise<string>): Promise<unknown> {
  return (JSON.parse((await output).trim().split('\n').at(-1) ?? '') as { end: unknown }).end;
}

test(
  'a worker that is frozen, and goes on after another one has finished its transfer, appends nothing again',
  { ...needs('dovecot', 'postgresql', 'Linux'), timeout: 300_000 },
  async () => {
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const source = stack.use(await startDovecot());
    const destination = stack.use(await startDovecot());
    {
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      for (const [index, folder] of FOLDERS.entries()) {
        if (index > 0) await mail.create(folder);
        const letters = Array.from({ length: MESSAGES / FOLDERS.length }, (_, at) => letter(index * 100 + at));
        await mail.append(folder, letters);
      }
    }
    const job = {
      database: { url: await createEmptyDatabase() },
      environment: { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url },
    };
    // One group has its octets on the way, others have not begun.
    const frozen = start({ ...job, killAt: { step: 'octets sent', count: 1 }, by: 'SIGSTOP' });
    const pid = frozen.child.pid ?? 0;
    while (!(await isStopped(pid))) await wait(50);
    const successor = start(job);
    await successor.ended;
    const end = { status: 'completed', done: MESSAGES, total: MESSAGES, lost: 0, duplicated: 0, changed: 0 };
    expect(await endOf(successor.output)).toMatchObject(end);
    process.kill(pid, 'SIGCONT');
    await frozen.ended;
    expect(await endOf(frozen.output)).toMatchObject(end);
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    expect(
      await differenceOf({ ...account, port: source.port }, { ...account, port: destination.port, user: NEW_ADDRESS }),
    ).toEqual({ messages: MESSAGES, lost: [], duplicated: [], changed: [] });
  },
);
