import type { OauthProvider } from '../contract/provider.ts';
import type { SeedMailbox } from './mail-account.ts';

/** A permission that the consent page asks for; `scope` is the real provider's name for it. */
export type Permission = { readonly scope: string; readonly allows: string };

/** A destination provider of the sandbox. */
export type Destination = {
  readonly name: string;
  readonly mail: Permission;
  readonly contacts: Permission;
  readonly mailboxes: readonly SeedMailbox[];
};

const mail = (scope: string): Permission => ({ scope, allows: 'Read, add and change your mail' });
const contacts = (scope: string): Permission => ({ scope, allows: 'Read, add and change your contacts' });
const mailboxes = (sent: string, drafts: string, junk: string, trash: string, archive?: string) => [
  { name: 'INBOX' },
  { name: sent, use: '\\Sent' },
  { name: drafts, use: '\\Drafts' },
  { name: junk, use: '\\Junk' },
  { name: trash, use: '\\Trash' },
  ...(archive === undefined ? [] : [{ name: archive, use: '\\Archive' }]),
];

export const DESTINATIONS: Readonly<Record<OauthProvider, Destination>> = {
  google: {
    name: 'Gmail',
    mail: mail('https://mail.google.com/'),
    contacts: contacts('https://www.googleapis.com/auth/contacts'),
    mailboxes: mailboxes('[Gmail]/Sent Mail', '[Gmail]/Drafts', '[Gmail]/Spam', '[Gmail]/Trash'),
  },
  yahoo: {
    name: 'Yahoo',
    mail: mail('mail-w'),
    contacts: contacts('sdct-w'),
    mailboxes: mailboxes('Sent', 'Draft', 'Bulk', 'Trash', 'Archive'),
  },
  office365: {
    name: 'Outlook',
    mail: mail('https://outlook.office.com/IMAP.AccessAsUser.All'),
    contacts: contacts('https://graph.microsoft.com/Contacts.ReadWrite'),
    mailboxes: mailboxes('Sent Items', 'Drafts', 'Junk Email', 'Deleted Items', 'Archive'),
  },
  aol: {
    name: 'AOL',
    mail: mail('mail-w'),
    contacts: contacts('sdct-w'),
    mailboxes: mailboxes('Sent', 'Draft', 'Bulk', 'Trash', 'Archive'),
  },
};

export const OTHER_DOMAIN = 'mail.example';
export const OTHER_HOST = 'imap.mail.example';
export const OTHER_MAILBOXES = mailboxes('Sent', 'Drafts', 'Junk', 'Trash');

/** The password of every account that has not been given another one. */
export const SANDBOX_PASSWORD = 'sandbox';
