import { type MailAccount, type Mailbox, MailboxGone } from '../mail-account.ts';
import { type Value, textOf } from './command.ts';
import { decodeName } from './mailbox-name.ts';
import { ImapRefusal } from './refusal.ts';

export const MOST_KEYWORDS = 100;
export const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];

export function mailboxName(value: Value | undefined): string {
  return guarded(() => decodeName(textOf(value, 'The mailbox')));
}

export function existing(account: MailAccount, value: Value | undefined, code = '[NONEXISTENT] '): Mailbox {
  const mailbox = account.mailbox(mailboxName(value));
  if (mailbox === undefined) throw new ImapRefusal('NO', `${code}There is no such mailbox`);
  return mailbox;
}

/** Turns a malformed mailbox name into a BAD. */
export function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new ImapRefusal('BAD', error.message);
    throw error;
  }
}

/** Makes a change that goes into the journal. If the disk refuses it, nothing changes and the answer is NO. */
export function kept<T>(change: () => T): T {
  try {
    return change();
  } catch (error) {
    if (error instanceof MailboxGone) throw new ImapRefusal('NO', '[NONEXISTENT] The mailbox has been deleted');
    if (error instanceof Error && 'code' in error) throw new ImapRefusal('NO', '[SERVERBUG] The disk refuses it');
    throw error;
  }
}

export function readFlags(values: readonly Value[]): readonly string[] {
  const flags = values.map((value) => {
    const text = textOf(value, 'A flag');
    const known = SYSTEM_FLAGS.find((flag) => flag.toLowerCase() === text.toLowerCase());
    if (known === undefined && !/^[^\s(){%*"\\\]\p{Cc}]{1,128}$/u.test(text))
      throw new ImapRefusal('BAD', `The flag ${text.slice(0, 40)} makes no sense`);
    return known ?? text;
  });
  const unlike = flags.filter(
    (flag, index) => flags.findIndex((other) => other.toLowerCase() === flag.toLowerCase()) === index,
  );
  return unlike.slice(0, MOST_KEYWORDS);
}
