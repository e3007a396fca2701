import { connect, type ConnectOptions, type MailAccount, type MailTimes } from './connection.ts';
import { sayGoodbye } from './imap-mailbox.ts';
import { MailError, type MailFault } from './mail-error.ts';

/** A visitor waits for this one. */
const SIGN_IN_TIMES: MailTimes = { connect: 10_000, greeting: 8_000, silence: 15_000 };

/** `unanswered`: the password was sent, and nothing came back. */
export type SignIn = 'ok' | 'unanswered' | Exclude<MailFault, 'lost' | 'full' | 'refused'>;

/** Signs in for real and out again. Never throws for what a mail server does. */
export async function checkSignIn(
  account: MailAccount,
  options: ConnectOptions & { readonly times?: MailTimes },
): Promise<SignIn> {
  try {
    const client = await connect(account, { times: SIGN_IN_TIMES, ...options });
    await sayGoodbye(client);
    return 'ok';
  } catch (error) {
    if (!(error instanceof MailError)) throw error;
    switch (error.fault) {
      case 'lost':
      case 'full':
      case 'refused':
        return 'unreachable';
      case 'slow':
        return isBeforeSignIn(error) ? 'slow' : 'unanswered';
      case 'credentials':
      case 'unreachable':
      case 'certificate':
      case 'busy':
        return error.fault;
    }
  }
}

/** How imapflow names the waits that come before a password is sent. */
const EARLY_WAITS: ReadonlySet<unknown> = new Set(['CONNECT_TIMEOUT', 'GREETING_TIMEOUT', 'UPGRADE_TIMEOUT']);

function isBeforeSignIn({ cause }: MailError): boolean {
  return EARLY_WAITS.has((cause as { code?: unknown } | undefined)?.code);
}
