import type { StateValue } from 'xstate';
import type { CallFailureCode, QueryError } from '../src/contract/failure-code.ts';
import type { ContactsFormat, EmailFormat } from '../src/contract/export-format.ts';
import type { OauthProvider, Provider } from '../src/contract/provider.ts';
import type { PortalSettings } from '../src/contract/settings.ts';
import type { SignIns } from '../src/contract/calls/sign-ins.ts';
import type { SupportRequest } from '../src/contract/calls/support-form.ts';
import type { TransferStatus } from '../src/contract/calls/status.ts';
import type { Ask, OauthReturn } from '../src/contract/page-address.ts';
import type { Guide } from './mail-guide.ts';
import type { Act } from './owner-acts.ts';

/** The legacy mailbox, proven by a sign-in. */
export type Source = { readonly email: string; readonly password: string; readonly provider: 'sanbruno' };

/** The destination. `email` is empty until the provider has confirmed the mailbox, and always for an export. */
export type Destination = {
  readonly email: string;
  readonly provider: Provider;
  readonly password?: string;
  readonly imap?: string;
  readonly tokenId?: string;
  /** The transfer that goes there: ordered in this tab, or opened from the list that a sign-in there has led to. */
  readonly transferId?: string;
};

/** The content of the fields, as typed. Passwords are deleted once they have been used. */
export type Typed = {
  readonly email: string;
  readonly password: string;
  readonly destinationPassword: string;
  readonly host: string;
  readonly transferId: string;
  readonly legacyEmail: string;
  readonly contactEmail: string;
  readonly supportId: string;
  readonly issue: string;
};

/** A message to support that has been begun, and the transfer that was looked at before, whose ID the form fills in. */
export type Draft = Pick<Typed, 'legacyEmail' | 'contactEmail' | 'supportId' | 'issue'> & Pick<Context, 'transferId'>;

/** A message on the page, identified by its subject; the wording of the portal has its kind and text. */
export type Message =
  | { readonly about: 'query'; readonly error: QueryError }
  | { readonly about: 'sign-in refused'; readonly code: CallFailureCode }
  | { readonly about: 'account creation'; readonly code: CallFailureCode }
  | { readonly about: 'load failed'; readonly code: CallFailureCode }
  /** The server no longer knows the sign-in at the destination's provider. */
  | { readonly about: 'sign-in elsewhere ended'; readonly provider: Provider }
  /** The legacy mailbox refuses the password that it took when the visitor signed in. */
  | { readonly about: 'source sign-in ended' }
  | { readonly about: 'support sent' }
  | { readonly about: 'support failed'; readonly code: CallFailureCode }
  | { readonly about: 'export deletion failed'; readonly code: CallFailureCode }
  | {
      readonly about:
        | 'not the owner'
        | 'signed out'
        | 'signed out everywhere'
        | 'signed out in another tab'
        | 'sign-out unfinished'
        | 'start unknown'
        | 'too many downloads';
    }
  /** Copying what is new failed, as one of the two sign-ins was refused. */
  | { readonly about: 'source refused' | 'destination refused' }
  | { readonly about: 'stop asked' | 'download stop asked' | 'daily started' | 'daily stopped' }
  | { readonly about: 'mended' | 'take-back asked' | 'forwarding stopped' }
  | { readonly about: ActRefused | 'act overtaken'; readonly code: CallFailureCode };

/** A call by the owner was refused. */
export type ActRefused =
  | 'stop refused'
  | 'mend refused'
  | 'take-back refused'
  | 'again refused'
  | 'forwarding refused'
  | 'daily-off refused';

/** The sign-in at a provider for which the owner has left the page, and its purpose. */
export type AwaitedConsent = {
  readonly transferId: string;
  readonly purpose: 'mend' | 'take back' | 'again' | 'daily';
  readonly provider: OauthProvider;
};

/** Tells the server whose sign-in to end, and whether to end it in every browser: that of which mailbox, if known. */
export type Parting = Pick<Context, 'jwt'> & { readonly everywhere: boolean; readonly email?: string };

export type Context = {
  readonly settings: PortalSettings;
  /**
   * The visitor's clock in ms since 1970, as last read: for the countdown, and for when a running transfer was last
   * heard from.
   */
  readonly now: number;
  readonly source: Source | null;
  readonly destination: Destination | null;
  /** The source's capabilities: `operations` in session storage. */
  readonly operations: readonly string[] | null;
  readonly allowContactsMigration: boolean;
  readonly googleTermsAccepted: boolean;
  /** The primary move: the callback must verify that the returned address equals the source's. */
  readonly checkSanBrunoOnOauthCallback: boolean;
  readonly jwt: string | null;
  /** The sign-out in progress; not kept across a reload. */
  readonly parting: Parting | null;
  /** The other browsers that are signed in, as last read; `null` if unknown. */
  readonly signIns: SignIns | null;
  readonly storedToken: string | null;
  readonly notificationContact: string;
  readonly emailHash: string | null;
  readonly emailExportType: EmailFormat | null;
  readonly contactsExportType: ContactsFormat | null;
  readonly awaitedConsent: AwaitedConsent | null;
  readonly typed: Typed;
  /** How the typed destination signs in, from its capabilities; `null` if unknown. */
  readonly typedAccount: { readonly provider: Provider; readonly auth: 'oauth' | 'other' } | null;
  readonly message: Message | null;
  readonly returned: OauthReturn | null;
  readonly transferId: string | null;
  /** The transfer of the same mailbox, running or completed, that prevented a new one. */
  readonly transferInTheWay: { readonly id: string; readonly isCompleted: boolean } | null;
  readonly status: TransferStatus | null;
  /** The ID of the token that a sign-in at the new mailbox's provider left with the server. */
  readonly tokenId: string | null;
  /** The message to support that was sent, as long as that is shown. */
  readonly letter: SupportRequest | null;
  /** Transfer ID and ISO 8601 start, newest first, five at most. */
  readonly transfers: readonly { readonly id: string; readonly started: string }[];
  /** The status of each of them, by ID, if known. */
  readonly statuses: Readonly<Record<string, TransferStatus>>;
};

/**
 * What survives a reload or an OAuth round trip, under the keys of `portal.md` §3, and the message to support that was
 * sent or begun.
 */
export type Session = Pick<
  Context,
  | 'source'
  | 'destination'
  | 'operations'
  | 'allowContactsMigration'
  | 'googleTermsAccepted'
  | 'checkSanBrunoOnOauthCallback'
  | 'jwt'
  | 'notificationContact'
  | 'emailHash'
  | 'emailExportType'
  | 'contactsExportType'
  | 'awaitedConsent'
  | 'letter'
> & { readonly draft: Draft | null };

export type Input = {
  readonly settings: PortalSettings;
  readonly now: number;
  readonly session?: Session;
  readonly storedToken?: string;
};

/** The visitor, or the address bar, asks for a page. Absent query parameters are `''`. */
export type Visit =
  | { readonly type: 'home.visit'; readonly error: string }
  | { readonly type: 'destination.visit'; readonly error: string; readonly way: string }
  | { readonly type: 'google-terms.visit' }
  | { readonly type: 'email-scopes.visit' }
  | { readonly type: 'start-migration.visit' }
  | { readonly type: 'complete.visit'; readonly migrationId: string }
  | ({ readonly type: 'oauth-callback.visit' } & OauthReturn)
  | ({ readonly type: 'oauth-callback-for-status.visit' } & OauthReturn)
  | {
      readonly type: 'status.visit';
      readonly migrationId: string;
      readonly error: string;
      readonly guide: string;
    }
  | { readonly type: 'status-from-email.visit' }
  | { readonly type: 'support.visit' }
  | { readonly type: 'privacy-policy.visit' }
  | { readonly type: 'terms-of-service.visit' }
  | { readonly type: 'unknown.visit' };

export type Event =
  | Visit
  // Home
  | { readonly type: 'start.press' }
  | { readonly type: 'lookup.open' }
  | { readonly type: 'modal.close' }
  | { readonly type: 'email.type'; readonly email: string }
  | { readonly type: 'password.type'; readonly password: string }
  | { readonly type: 'credentials.submit' }
  | { readonly type: 'transfer-id.type'; readonly id: string }
  | { readonly type: 'lookup.submit' }
  | { readonly type: 'lookup.sign-in'; readonly provider: Provider }
  // Destination
  | { readonly type: 'move.press' }
  | { readonly type: 'move.continue' }
  | { readonly type: 'options.toggle' }
  | { readonly type: 'provider.choose'; readonly provider: 'google' | 'office365' | 'aol' | 'other' | 'file_export' }
  /** The server refused the typed password. */
  | { readonly type: 'password.refuse' }
  | { readonly type: 'host.toggle' }
  | { readonly type: 'host.type'; readonly host: string }
  | { readonly type: 'host.leave' }
  | { readonly type: 'email-format.choose'; readonly format: EmailFormat }
  | { readonly type: 'contacts-format.choose'; readonly format: ContactsFormat }
  | { readonly type: 'download.press' }
  // Google terms, email scopes, start-migration
  | { readonly type: 'terms.accept' }
  | { readonly type: 'page.back' }
  | { readonly type: 'page.next' }
  | { readonly type: 'google.retry' }
  | { readonly type: 'contact.type'; readonly contact: string }
  /** Enter, also while there is nothing to submit yet. */
  | { readonly type: 'contact.enter' }
  | { readonly type: 'transfer.submit' }
  | { readonly type: 'contacts.allow' }
  // Complete and status
  | { readonly type: 'id.copy' }
  | { readonly type: 'transfer.open'; readonly id: string }
  | { readonly type: 'status.arrive'; readonly status: TransferStatus }
  /** The status stream is alive and has nothing new. */
  | { readonly type: 'status.beat' }
  | { readonly type: 'status.lose' }
  /** A page that stays has a new status. */
  | { readonly type: 'status.change'; readonly before: TransferStatus | null }
  | { readonly type: 'more.show' }
  | { readonly type: 'act.open'; readonly act: Act }
  | { readonly type: 'act.submit' }
  | { readonly type: 'consent.seek'; readonly provider: OauthProvider }
  | { readonly type: 'destination-password.type'; readonly password: string }
  | { readonly type: 'guide.open'; readonly guide: Guide }
  | { readonly type: 'guide.close' }
  | { readonly type: 'export.delete' }
  | { readonly type: 'export.keep' }
  | { readonly type: 'export.confirm' }
  // Support
  | { readonly type: 'legacy-email.type'; readonly email: string }
  | { readonly type: 'contact-email.type'; readonly email: string }
  | { readonly type: 'support-id.type'; readonly id: string }
  | { readonly type: 'issue.type'; readonly issue: string }
  | { readonly type: 'support.submit' }
  | { readonly type: 'support.again' }
  // Anywhere
  /** The link to Home in the header, on pages that ask first. */
  | { readonly type: 'home.press' }
  | { readonly type: 'home.stay' }
  /** It asks first if that would take the visitor out of the wizard. */
  | { readonly type: 'sign-out.press' }
  | { readonly type: 'sign-out.confirm'; readonly everywhere: boolean }
  /** The browser was signed out in another tab. */
  | { readonly type: 'sign-out.hear' }
  | { readonly type: 'call.retry' }
  /** The browser is offline and can't open another page. */
  | { readonly type: 'connection.lose' }
  /** The browser is online again. */
  | { readonly type: 'connection.return' }
  /** The page came back from the back/forward cache, as it was when it was left. */
  | { readonly type: 'page.return' }
  /** The visitor looks at the page again: its tab or window came to the front. */
  | { readonly type: 'page.look' }
  | { readonly type: 'message.show'; readonly message: Message }
  /** The pointer or the focus is on the message. */
  | { readonly type: 'message.hold' }
  | { readonly type: 'message.release' };

/**
 * `busy` a call is under way; `slow` it takes longer than usual; `unavailable` the page makes way for the portal's
 * "unavailable" page until `call.retry`; `leaving` the visitor is asked whether to go Home, `parting` whether to sign
 * out; `stale` nothing new has been heard of the transfer for a while.
 */
export type Tag = 'busy' | 'slow' | 'unavailable' | 'leaving' | 'parting' | 'stale';

/** The four steps of the wizard: Start, the destination, Transfer, Running. */
export type Step = 1 | 2 | 3 | 4;

/** A page with an address (`portal.md` §2). */
export type Page = {
  readonly path: string;
  /** What the address bar asks for with this path and its parameters. */
  readonly visit: (ask: Ask) => Visit;
  /** The parameters of the page's address, by what is known and where on the page the wizard stands; none without it. */
  readonly query?: (context: Context, value: StateValue) => Readonly<Record<string, string>>;
};

/**
 * What a top-level state says of itself. A state without a page is between pages; one without a step is outside the
 * wizard.
 */
export type Meta = { readonly step: Step; readonly page?: Page } | { readonly step?: never; readonly page: Page };
