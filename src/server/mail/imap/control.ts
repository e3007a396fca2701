import { MACHINE_CLOCK, type Clock } from '../../clock.ts';
import type { MailAccount, MailTimes } from './connection.ts';
import { MailError, unlessRefused } from './mail-error.ts';
import type { MailControl, Namespace } from './streams.ts';
import { type DialOptions, openDial } from './wire/dial.ts';
import type { ImapConnection } from './wire/imap-connection.ts';
import { mailboxName } from './wire/mailbox-name.ts';
import { delimiterOf, listMailboxes, personalNamespaces } from './wire/mailboxes.ts';
import { openSession } from './wire/session.ts';

/** How long an answer may take, however often the server says something of it, in milliseconds. */
export const ANSWER_WITHIN_MS = 3 * 60_000;

type ControlOptions = DialOptions & {
  readonly times?: MailTimes;
  /** Ends what is under way too, soon after. */
  readonly signal?: AbortSignal;
};

/** @throws {MailError} here and in everything that it does */
export async function openControl(account: MailAccount, options: ControlOptions): Promise<MailControl> {
  const { times, signal } = options;
  const connection = await openSession(account, {
    dial: openDial(options),
    clock: MACHINE_CLOCK,
    ...(times === undefined ? {} : { times }),
    ...(signal === undefined ? {} : { signal }),
  });
  return controlOver(connection, MACHINE_CLOCK);
}

/** Over a connection that is signed in, which it closes in the end. @throws {MailError} */
export async function controlOver(connection: ImapConnection, clock: Clock): Promise<MailControl> {
  const tooLong = () => connection.end(new MailError('slow', 'The mail server took too long for an answer.'));
  const bounded = async <Answer>(ask: () => Promise<Answer>): Promise<Answer> => {
    const off = clock.after(ANSWER_WITHIN_MS, tooLong);
    try {
      return await ask();
    } finally {
      off();
    }
  };
  try {
    const namespaces = await bounded(() => personalNamespaces(connection));
    const namespace = await bounded(() => homeOf(namespaces, connection));
    const listed = namespace.prefix === '' ? [namespace] : namespaces;
    return {
      namespace,
      mailboxes: (options) => bounded(() => listMailboxes(connection, listed, options)),
      remove: (path) =>
        bounded(async () => {
          await connection.command(`DELETE ${mailboxName(path)}`);
          // A name that is subscribed to and not there is shown by some programs.
          await unlessRefused(connection.command(`UNSUBSCRIBE ${mailboxName(path)}`));
        }),
      [Symbol.asyncDispose]: () => connection.logout(),
    };
  } catch (error) {
    connection.destroy();
    throw error;
  }
}

/** Of several namespaces that one in which new mailboxes are made: without a prefix, or beside the inbox. */
async function homeOf(all: readonly Namespace[], connection: ImapConnection): Promise<Namespace> {
  const home = all.find(({ prefix }) => prefix === '') ?? all.find(({ prefix }) => /^inbox.?$/i.test(prefix)) ?? all[0];
  const { prefix, delimiter } = home ?? { prefix: '', delimiter: '' };
  return { prefix, delimiter: delimiter === '' ? await delimiterOf(connection) : delimiter };
}
