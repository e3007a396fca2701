import { MACHINE_CLOCK } from '../../clock.ts';
import type { MailAccount, MailTimes } from './connection.ts';
import { unlessRefused } from './mail-error.ts';
import type { MailControl } from './streams.ts';
import { answeredInTime } from './wire/answer-within.ts';
import { type DialOptions, openDial } from './wire/dial.ts';
import type { ImapConnection } from './wire/imap-connection.ts';
import { mailboxName } from './wire/mailbox-name.ts';
import { AccountMailboxes } from './wire/mailboxes.ts';
import { openSession } from './wire/session.ts';

type ControlOptions = DialOptions & {
  readonly times?: MailTimes;
  /** Also closes a connection that is signed in, soon after. */
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
  return controlOver(connection);
}

/** A control over a connection that is signed in; it closes the connection when it is disposed of. */
export function controlOver(connection: ImapConnection): MailControl {
  const account = new AccountMailboxes(connection);
  return {
    namespace: () => account.namespace(),
    mailboxes: (options) => account.list(options),
    remove: (path) =>
      answeredInTime(connection, async () => {
        await connection.command(`DELETE ${mailboxName(path)}`);
        // Some mail programs show subscribed names even if the mailbox is gone.
        await unlessRefused(connection.command(`UNSUBSCRIBE ${mailboxName(path)}`));
      }),
    [Symbol.asyncDispose]: () => connection.logout(),
  };
}
