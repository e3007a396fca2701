import { LOCALE } from '../wording.ts';
import { momentFormat } from './moment.ts';

export const leaveWizard = {
  title: 'Go back to Home?',
  text: 'You would start again from the beginning, and you would need to sign in again.',
  safe: 'Your mail is safe, and nothing is deleted.',
  stay: 'Stay here',
  leave: 'Go to Home',
} as const;

const plural = new Intl.PluralRules(LOCALE);
const said = momentFormat({ month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit' });

export const signOutFirst = {
  ...leaveWizard,
  title: 'Sign out?',
  leave: 'Sign out',
  everywhere: 'Sign out everywhere',
  others: (count: number) =>
    `You are signed in on ${count} other ${plural.select(count) === 'one' ? 'browser' : 'browsers'}.`,
  other: (began: string, used: string) => `Signed in on ${said(began)}, last used on ${said(used)}`,
  doubt: (count: number) =>
    `If you don't recognize ${plural.select(count) === 'one' ? 'it' : 'one of them'}, sign out everywhere. Then change the password of your mailbox.`,
} as const;
