import type { Duplex } from 'node:stream';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { Mailbox, MailboxStatus } from '../../src/server/mail/imap/mailbox.ts';
import type { MailControl } from '../../src/server/mail/imap/streams.ts';
import { pathOf, quotedPath, textOf, wordsOf, type Word } from './imap-words.ts';
import { errorOf, readStatus } from '../../src/server/mail/imap/wire/status-response.ts';
import type { SimulatedProcess } from './process.ts';

const SILENCE = 180_000;
const BAD = { status: 'BAD', code: undefined, args: '', text: '' } as const;

type Waiting = { readonly tag: string; readonly lines: string[]; settle(status: string | Error): void };

/** What the product's own control does, with a goodbye that takes no time. */
export async function openControl(stream: Duplex, process: SimulatedProcess): Promise<MailControl> {
  let rest = '';
  let waiting: Waiting | null = null;
  let count = 0;
  let ended: Error | null = null;
  const end = (error: Error) => {
    ended ??= error;
    waiting?.settle(ended);
    waiting = null;
  };
  stream.on('error', () => end(new MailError('lost', 'The connection broke.')));
  stream.on('close', () => end(new MailError('lost', 'The connection was closed.')));
  stream.on('end', () => end(new MailError('lost', 'The server hung up.')));
  stream.on('data', (data: Buffer) => {
    rest += data.toString('utf8');
    for (let at = rest.indexOf('\r\n'); at >= 0; at = rest.indexOf('\r\n')) {
      const line = rest.slice(0, at);
      rest = rest.slice(at + 2);
      if (waiting === null) continue;
      if (line.startsWith(`${waiting.tag} `)) {
        const done = waiting;
        waiting = null;
        done.settle(line.slice(done.tag.length + 1));
      } else waiting.lines.push(line);
    }
  });
  let before: Promise<unknown> = Promise.resolve();
  /** One after the other. */
  const ask = (command: string): Promise<string[]> => {
    const asking = before.then(() => askNow(command));
    before = asking.catch(() => {});
    return asking;
  };
  const askNow = (command: string): Promise<string[]> =>
    new Promise((resolve, reject) => {
      if (ended !== null) {
        reject(ended);
        return;
      }
      count += 1;
      const lines: string[] = [];
      const timer = process.timer(SILENCE, () => {
        end(new MailError('slow', 'The server does not answer.'));
        stream.destroy();
      });
      waiting = {
        tag: `C${count}`,
        lines,
        settle: (status) => {
          timer.cancel();
          if (status instanceof Error) reject(status);
          else if (status.startsWith('OK')) resolve(lines);
          else reject(errorOf(readStatus(status, 0) ?? BAD));
        },
      };
      stream.write(`C${count} ${command}\r\n`);
    });
  await ask('LOGIN anna secret');
  const namespaces = (await ask('NAMESPACE')).join('');
  const delimiter = /NAMESPACE \(\("[^"]*" "(.)"\)\)/.exec(namespaces)?.[1] ?? '/';
  const prefix = /NAMESPACE \(\("([^"]*)"/.exec(namespaces)?.[1] ?? '';
  return {
    namespace: { prefix, delimiter },
    mailboxes: async ({ withStatus = false } = {}) => {
      const lines = await ask(`LIST "" "*"${withStatus ? ' RETURN (STATUS (MESSAGES UIDNEXT UIDVALIDITY))' : ''}`);
      const statuses = new Map(lines.filter((line) => line.startsWith('* STATUS ')).map(statusIn));
      return lines
        .filter((line) => line.startsWith('* LIST '))
        .map((line): Mailbox => {
          const [, , flags, delimiter, path] = wordsOf([Buffer.from(line)]);
          const attributes = (flags as readonly Word[]).map((flag) => textOf(flag));
          const specialUse = attributes.find((flag) => /^\\(?:Sent|Drafts|Junk|Trash|Archive|All)$/.test(flag));
          const status = statuses.get(pathOf(path));
          return {
            path: pathOf(path),
            delimiter: textOf(delimiter),
            ...(specialUse === undefined ? {} : { specialUse }),
            ...(status === undefined ? {} : { status }),
          };
        });
    },
    remove: async (path) => {
      await ask(`DELETE ${quotedPath(path)}`);
    },
    [Symbol.asyncDispose]: async () => {
      stream.destroy();
    },
  };
}

function statusIn(line: string): [string, MailboxStatus] {
  const [, , path, items] = wordsOf([Buffer.from(line)]);
  const words = (items as readonly Word[]).map((word) => textOf(word));
  const numberOf = (name: string) => Number(words[words.indexOf(name) + 1]);
  return [
    pathOf(path),
    { exists: numberOf('MESSAGES'), uidNext: numberOf('UIDNEXT'), uidValidity: BigInt(numberOf('UIDVALIDITY')) },
  ];
}
