import { TRANSFER_ID_LENGTH } from '../../contract/transfer-status.ts';
import { unbroken } from '../wording.ts';
import { sendsMessages, type Ways } from './where-the-id-is.ts';

export const signIn = {
  title: 'Sign in to get started',
  help: (legacyName: string) => `Use the email address and password of your ${legacyName} mailbox.`,
  email: 'Email',
  password: 'Password',
  submit: 'Sign in',
  busy: 'Signing in…',
  done: 'You are signed in. Taking you to the next step…',
  forgot: (phone: string) => `Can't sign in? Call us at ${unbroken(phone)}.`,
} as const;

export const lookUp = {
  title: 'Check your transfer status',
  field: 'Transfer ID',
  help: (ways: Ways) =>
    `The ${TRANSFER_ID_LENGTH} letters and digits that we gave you when the transfer started.${sendsMessages(ways) ? ' They are also in our messages to you.' : ''}`,
  submit: 'Check status',
  busy: 'Checking…',
  malformed: 'Invalid migration ID',
  failed: 'Unknown error, please try again later!',
  failedSafe: 'Your transfer is not affected.',
  withoutId: "Don't have the ID? Sign in to your new mailbox, and we'll show your transfers.",
} as const;
