import type { CallFailureCode } from '../../src/contract/failure-code.ts';
import type { AttentionReason, TransferStatus } from '../../src/contract/calls/status.ts';
import type { Provider } from '../../src/contract/provider.ts';
import { GUIDES } from '../../machines/mail-guide.ts';
import { ACTS } from '../../machines/owner-acts.ts';
import { BLANK_SESSION } from '../../machines/wizard.context.ts';
import type { ACTORS } from '../../machines/wizard.actors.ts';
import type { DELAYS } from '../../machines/wizard.delays.ts';
import type { Event, Session, Visit } from '../../machines/wizard.types.ts';

export type CallName = Exclude<keyof typeof ACTORS, 'follow the transfer'>;
export type DelayName = keyof typeof DELAYS;

/** Something that happens to the wizard, from the visitor, the browser, the clock or the server. */
export type Move =
  | { readonly kind: 'send'; readonly event: Event }
  | { readonly kind: 'wait'; readonly delay: DelayName }
  | { readonly kind: 'answer'; readonly call: CallName; readonly answer: unknown }
  | {
      readonly kind: 'refuse';
      readonly call: CallName;
      readonly code: CallFailureCode;
      readonly side?: 'source' | 'destination';
    }
  | { readonly kind: 'reload' };

export const ID = '0123456789abcdef0123456789abcdef';
export const TOKEN = 'f'.repeat(32);
export const PASSWORD = 'correct horse battery';
export const BEARER = 'a-bearer-token';
export const LEGACY = 'pat@sanbrunocable.example';

const running: TransferStatus = { emailmigration: { status: 'inprogress', done: 1, total: 2 } };
const finished: TransferStatus = {
  emailmigration: { status: 'completed', finished: '2025-11-02T00:00:00Z' },
  exports: [{ url: `/api/exports/${ID}/a.zip`, name: 'a.zip', size: 1, sha256: 'a', expires: '2025-12-01T00:00:00Z' }],
};
const needs = (reason: AttentionReason, destination: Provider): TransferStatus => ({
  emailmigration: { status: 'review', done: 1, total: 2, attention: { side: 'destination', reason } },
  destination,
});
const moved = (destination: Provider): TransferStatus => ({
  emailmigration: { status: 'completed', done: 2, total: 2, finished: '2025-11-02T00:00:00Z' },
  emailforwarding: { status: 'completed', since: '2025-11-02T00:00:00Z' },
  destination,
});
const until = '2025-12-01T00:00:00Z';
const takenBack: TransferStatus = {
  emailmigration: { ...moved('other').emailmigration, status: 'completed', taken_back: 2 },
};
const daily: TransferStatus = { ...moved('google'), daily: { until } };
const dailyOn: TransferStatus = { ...moved('other'), daily: { until, next: '2025-11-03T00:00:00Z' } };
const limited: TransferStatus = { ...running, limited: true };
const stopped: TransferStatus = { contactsmigration: { status: 'error' } };

/** The possible answers to each call. */
export const ANSWERS: Readonly<Record<CallName, readonly unknown[]>> = {
  'check the stored token': [{ ok: true }],
  'ask for capabilities': [
    { allowedOperations: ['emailmigration', 'contactsmigration'], provider: 'sanbruno', auth: 'other' },
    { allowedOperations: ['emailmigration'], provider: 'gmail', auth: 'oauth' },
    { allowedOperations: ['emailmigration'], provider: 'yahoo', auth: 'oauth' },
    { allowedOperations: ['emailmigration'], provider: 'somebody', auth: 'other' },
  ],
  'validate the account': [{ ok: true, token: BEARER }, { ok: true }],
  'list the sign-ins': [[{ began: '2025-11-01T00:00:00Z', used: '2025-11-01T01:00:00Z' }], []],
  'sign out': [{ ok: true }],
  'resolve the host': [{ ok: true }],
  'create the account': [{ ok: true }],
  'announce the migration': [{ ok: true }],
  'start the transfer': [{ jobid: ID }],
  'ask for the status': [
    running,
    finished,
    stopped,
    limited,
    {},
    needs('password', 'other'),
    needs('consent', 'google'),
    needs('full', 'google'),
    moved('google'),
    moved('other'),
    daily,
    { ...daily, destination: 'other' },
    dailyOn,
    takenBack,
  ],
  'list the transfers': [{ [ID]: '2025-11-01T00:00:00Z' }, {}],
  'ask for the statuses': [{ [ID]: running }, {}],
  'check the domain': [{ valid: true }, { valid: false }],
  'check the phone number': [{ valid: true }, { valid: false }],
  'write to support': [{ ok: true }],
  'copy to the clipboard': [undefined],
  'stop the transfer': [{ ok: true }],
  'resume the transfer': [{ ok: true }],
  'take back what was copied': [{ ok: true }],
  'copy what is new': [{ jobid: ID }],
  'stop the daily copying': [{ ok: true }],
  'stop forwarding': [{ ok: true }],
  'delete the export': [{ ok: true }],
};

/** The codes with which each call may fail: those that the machine distinguishes, and one that it doesn't. */
const CODES: readonly CallFailureCode[] = [
  'UNAVAILABLE',
  'INVALID_EMAIL',
  'INVALID_IMAP',
  'INVALID_TOKEN',
  'PROVIDER_NOT_SUPPORTED',
  'MIGRATION_ID_NOT_FOUND',
  'ACCOUNT_ALREADY_CREATED',
  'INVALID_CREDENTIALS',
  'OPERATION_NOT_ALLOWED',
  'MIGRATION_IN_PROGRESS',
  'GENERAL_ERROR',
];
export const REFUSALS: readonly { readonly code: CallFailureCode; readonly side?: 'source' | 'destination' }[] = [
  ...CODES.map((code) => ({ code })),
  { code: 'INVALID_CREDENTIALS', side: 'source' },
  { code: 'INVALID_CREDENTIALS', side: 'destination' },
];

/** What a visitor or a browser may do on a page, valid and invalid. */
export const EVENTS: readonly Event[] = [
  { type: 'start.press' },
  { type: 'lookup.open' },
  { type: 'modal.close' },
  ...[LEGACY, 'sam@gmail.com', 'nonsense', ''].map((email) => ({ type: 'email.type' as const, email })),
  ...[PASSWORD, ''].map((password) => ({ type: 'password.type' as const, password })),
  { type: 'credentials.submit' },
  ...[ID, 'short'].map((id) => ({ type: 'transfer-id.type' as const, id })),
  { type: 'lookup.submit' },
  { type: 'lookup.sign-in', provider: 'yahoo' },
  { type: 'move.press' },
  { type: 'move.continue' },
  { type: 'options.toggle' },
  ...(['google', 'office365', 'aol', 'other', 'file_export'] as const).map((provider) => ({
    type: 'provider.choose' as const,
    provider,
  })),
  { type: 'host.toggle' },
  ...['imap.mail.example', 'bad host', ''].map((host) => ({ type: 'host.type' as const, host })),
  { type: 'host.leave' },
  { type: 'email-format.choose', format: 'mbox' },
  { type: 'contacts-format.choose', format: 'vcf' },
  { type: 'download.press' },
  { type: 'terms.accept' },
  { type: 'page.back' },
  { type: 'page.next' },
  { type: 'google.retry' },
  ...['sam@mail.example', LEGACY, 'sam@', '650 555 0123', '123', ''].map((contact) => ({
    type: 'contact.type' as const,
    contact,
  })),
  { type: 'contact.enter' },
  { type: 'transfer.submit' },
  { type: 'contacts.allow' },
  { type: 'id.copy' },
  { type: 'transfer.open', id: ID },
  { type: 'status.arrive', status: running },
  { type: 'status.arrive', status: finished },
  { type: 'status.beat' },
  { type: 'status.lose' },
  { type: 'more.show' },
  ...ACTS.map((act) => ({ type: 'act.open' as const, act })),
  { type: 'act.submit' },
  { type: 'consent.seek', provider: 'google' },
  ...[PASSWORD, ''].map((password) => ({ type: 'destination-password.type' as const, password })),
  ...GUIDES.map((guide) => ({ type: 'guide.open' as const, guide })),
  { type: 'guide.close' },
  { type: 'export.delete' },
  { type: 'export.keep' },
  { type: 'export.confirm' },
  ...[LEGACY, 'x'].map((email) => ({ type: 'legacy-email.type' as const, email })),
  ...['sam@mail.example', 'x', ''].map((email) => ({ type: 'contact-email.type' as const, email })),
  ...[ID, 'x', ''].map((id) => ({ type: 'support-id.type' as const, id })),
  ...['My folders are missing', 'short'].map((issue) => ({ type: 'issue.type' as const, issue })),
  { type: 'support.submit' },
  { type: 'support.again' },
  { type: 'home.press' },
  { type: 'home.stay' },
  { type: 'sign-out.press' },
  { type: 'sign-out.confirm', everywhere: false },
  { type: 'sign-out.confirm', everywhere: true },
  { type: 'sign-out.hear' },
  { type: 'call.retry' },
  { type: 'connection.lose' },
  { type: 'connection.return' },
  { type: 'page.return' },
  { type: 'page.look' },
  { type: 'message.hold' },
  { type: 'message.release' },
];

const consent = { tokenId: TOKEN, email: LEGACY, error: '', provider: '', hash: '', contacts: '' };

/** The addresses that may be entered, valid and invalid. */
export const VISITS: readonly Visit[] = [
  ...['', 'EXTERNAL_OAUTH_ERROR'].map((error) => ({ type: 'home.visit' as const, error })),
  ...['', 'MISSING_SCOPE', 'invalid_email'].map((error) => ({ type: 'destination.visit' as const, error, way: '' })),
  ...['other', 'download'].map((way) => ({ type: 'destination.visit' as const, error: '', way })),
  { type: 'google-terms.visit' },
  { type: 'email-scopes.visit' },
  { type: 'start-migration.visit' },
  ...[ID, 'short'].map((migrationId) => ({ type: 'complete.visit' as const, migrationId })),
  ...[
    consent,
    { ...consent, email: 'Sam@Gmail.com' },
    { ...consent, error: 'MISSING_SCOPE' },
    { ...consent, error: 'EXTERNAL_OAUTH_ERROR' },
    { ...consent, error: 'unavailable' },
    { ...consent, tokenId: '' },
  ].flatMap((answer) =>
    ['google', ''].map((provider) => ({ type: 'oauth-callback.visit' as const, ...answer, provider })),
  ),
  ...[consent, { ...consent, error: 'x' }, { ...consent, error: 'UNAVAILABLE' }, { ...consent, email: '' }].flatMap(
    (answer) => ['hash', ''].map((hash) => ({ type: 'oauth-callback-for-status.visit' as const, ...answer, hash })),
  ),
  ...[ID, 'x'].flatMap((migrationId) =>
    ['', 'x'].map((error) => ({ type: 'status.visit' as const, migrationId, error, guide: '' })),
  ),
  ...['yahoo', 'nonsense'].map((guide) => ({ type: 'status.visit' as const, migrationId: ID, error: '', guide })),
  { type: 'status-from-email.visit' },
  { type: 'support.visit' },
  { type: 'privacy-policy.visit' },
  { type: 'terms-of-service.visit' },
  { type: 'unknown.visit' },
];

const source = { email: LEGACY, password: PASSWORD, provider: 'sanbruno' } as const;
const signedIn: Session = { ...BLANK_SESSION, source, operations: ['emailmigration', 'contactsmigration'] };

/** What an earlier page may have left in the browser. */
export const SESSIONS = {
  blank: BLANK_SESSION,
  signedIn,
  choosingMove: {
    ...signedIn,
    checkSanBrunoOnOauthCallback: true,
    destination: { email: '', provider: 'yahoo' },
  },
  choosingGoogle: { ...signedIn, destination: { email: '', provider: 'google' } },
  termsAccepted: { ...signedIn, googleTermsAccepted: true, destination: { email: '', provider: 'google' } },
  moving: {
    ...signedIn,
    checkSanBrunoOnOauthCallback: true,
    destination: { email: LEGACY, provider: 'yahoo', tokenId: TOKEN },
  },
  toGoogle: { ...signedIn, destination: { email: 'sam@gmail.com', provider: 'google', tokenId: TOKEN } },
  toAolWithoutContacts: {
    ...signedIn,
    allowContactsMigration: false,
    destination: { email: 'sam@aol.com', provider: 'aol', tokenId: TOKEN },
  },
  toOther: {
    ...signedIn,
    allowContactsMigration: false,
    destination: { email: 'sam@mail.example', provider: 'other', password: PASSWORD, imap: 'imap.mail.example' },
  },
  // The passwords are erased once the transfer runs.
  ordered: {
    ...signedIn,
    source: { ...source, password: '' },
    destination: { email: 'sam@gmail.com', provider: 'google' },
  },
  downloading: {
    ...signedIn,
    destination: { email: '', provider: 'file_export' },
    emailExportType: 'mbox',
    contactsExportType: 'vcf',
  },
  ...Object.fromEntries(
    (['mend', 'take back', 'again', 'daily'] as const).map((purpose) => [
      `waiting to ${purpose}`,
      { ...BLANK_SESSION, awaitedConsent: { transferId: ID, purpose, provider: 'google' as const } },
    ]),
  ),
  // Only tampering can produce such a session.
  downloadingNothing: { ...signedIn, destination: { email: '', provider: 'file_export' } },
  listing: { ...BLANK_SESSION, emailHash: 'hash' },
  written: { ...BLANK_SESSION, letter: { emailAddress: LEGACY, issue: 'My folders are missing' } },
} as const satisfies Record<string, Session>;
