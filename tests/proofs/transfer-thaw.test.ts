import { expect, onTestFinished, test } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { createEmptyDatabase } from '../support/fresh-database.ts';
import { lastLine, startProcess, untilFrozen } from '../support/freezing.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import type { TransferProcess } from '../support/transfer-process.ts';
import { NEW_ADDRESS, SUBSCRIBER } from '../support/transfer-world.ts';

const MESSAGES = 60;
const FOLDERS = ['INBOX', 'One', 'Two'];

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
    const killed: TransferProcess = { ...job, killAt: { step: 'octets sent', count: 1 }, by: 'SIGSTOP' };
    const frozen = startProcess('transfer-process', killed);
    await untilFrozen(frozen.pid);
    const successor = startProcess('transfer-process', job);
    await successor.ended;
    const end = { status: 'completed', done: MESSAGES, total: MESSAGES, lost: 0, duplicated: 0, changed: 0 };
    expect(await lastLine(successor)).toMatchObject({ end });
    process.kill(frozen.pid, 'SIGCONT');
    await frozen.ended;
    expect(await lastLine(frozen)).toMatchObject({ end });
    const account = { user: SUBSCRIBER, password: DOVECOT_PASSWORD };
    expect(
      await differenceOf({ ...account, port: source.port }, { ...account, port: destination.port, user: NEW_ADDRESS }),
    ).toEqual({ messages: MESSAGES, lost: [], duplicated: [], changed: [] });
  },
);
