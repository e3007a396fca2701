import { MACHINE_CLOCK } from '../../clock.ts';
import type { MailAccount, MailTimes } from './connection.ts';
import { isRefusal, isSwitchedOff, MailError, type MailFault } from './mail-error.ts';
import { type DialOptions, openDial } from './wire/dial.ts';
import type { ImapConnection } from './wire/imap-connection.ts';
import { openSession } from './wire/session.ts';

/** A visitor is waiting for this. */
const SIGN_IN_TIMES: MailTimes = { connect: 10_000, greeting: 8_000, silence: 15_000 };

/** `unanswered`: the password was sent, and nothing came back that tells whether it is right. */
export type SignIn = 'ok' | 'unanswered' | Exclude<MailFault, 'lost' | 'full' | 'refused'>;

/** Signs in for real, as a transfer does, and out again. Never throws for what a mail server does. */
export async function checkSignIn(
  account: MailAccount,
  options: DialOptions & { readonly times?: MailTimes },
): Promise<SignIn> {
  let isSent = false;
  const onSecret = () => {
    isSent = true;
  };
  try {
    const { times = SIGN_IN_TIMES } = options;
    const dial = openDial(options);
    await using connection = await openSession(account, { dial, clock: MACHINE_CLOCK, times, onSecret });
    await askForMailbox(connection);
    return 'ok';
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    // Of all results, only this one says that somebody has to see to this account.
    if (isSwitchedOff(error)) return 'credentials';
    switch (error.fault) {
      case 'lost':
      case 'full':
      case 'refused':
        return isSent ? 'unanswered' : 'unreachable';
      case 'slow':
        return isSent ? 'unanswered' : 'slow';
      case 'credentials':
      case 'unreachable':
      case 'certificate':
      case 'busy':
        return error.fault;
    }
  }
}

/**
 * Sends a first command: Exchange accepts everybody with an account, and only then says that the mailbox is not theirs.
 */
async function askForMailbox(connection: ImapConnection): Promise<void> {
  try {
    await connection.command('LIST "" ""');
  } catch (error) {
    if (!isRefusal(error)) throw error;
  }
}
