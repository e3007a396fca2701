import { assign, raise, setup } from 'xstate';
import type { Capabilities } from '../src/contract/calls/capabilities.ts';
import type { Side } from '../src/contract/calls/resume.ts';
import type { TransferStatus } from '../src/contract/calls/status.ts';
import type { SignIns } from '../src/contract/calls/sign-ins.ts';
import type { SupportRequest } from '../src/contract/calls/support-form.ts';
import type { TransfersByHash } from '../src/contract/calls/jobs-by-email.ts';
import { isAtDomain, isEmail, withFoldedDomain } from '../src/contract/email-address.ts';
import type { ContactsFormat, EmailFormat } from '../src/contract/export-format.ts';
import { type CallFailureCode, queryErrorOf } from '../src/contract/failure-code.ts';
import { readHost } from '../src/contract/mail-host.ts';
import type { OauthReturn } from '../src/contract/page-address.ts';
import type { Provider } from '../src/contract/provider.ts';
import { isOauthProvider, providerOf } from '../src/contract/provider-name.ts';
import { SUPPORT_ISSUE_LENGTH } from '../src/contract/support-issue.ts';
import { isTokenId } from '../src/contract/token-id.ts';
import { goesOn, isTransferId, looksLikeTransferId } from '../src/contract/transfer-status.ts';
import { contactsWereLeftOut, modeOf } from './mode.ts';
import { asGuide, type Guide } from './mail-guide.ts';
import { type Act, attentionOf, destinationOf, isOffered, isToOwnDestination } from './owner-acts.ts';
import { readUsPhone } from './phone-number.ts';
import { ACTORS } from './wizard.actors.ts';
import { blankContext, letterOf, NOTHING_TYPED } from './wizard.context.ts';
import { DELAYS } from './wizard.delays.ts';
import type { AwaitedConsent, Context, Event, Input, Message, Meta, Tag, Typed } from './wizard.types.ts';

/** How many transfers the page shows (`portal.md` §9). */
const LISTED_TRANSFERS = 5;

function notProvided(name: string) {
  return () => {
    throw new Error(`Not provided: ${name}`);
  };
}

const hasLetters = (text: string) => /\p{L}/u.test(text);
/** Whether a return is from this provider, if it names one. */
const isFrom = (provider: Provider, { returned }: Context) =>
  ['', provider].includes(returned?.provider === '' ? '' : providerOf(returned?.provider ?? ''));
const signsInElsewhere = (context: Context) => isOauthProvider(destinationOf(context));
/** What remains when a sign-in is forgotten: the message to support that was begun. */
const onlyTheLetter = ({ typed }: Context): Typed => ({ ...NOTHING_TYPED, ...letterOf(typed) });
const isLegacy = (email: string, context: Context) => isAtDomain(email, context.settings.legacyDomains);

/** The machine's vocabulary: every actor, guard, action and delay that the states refer to by name. */
export const wizard = setup({
  types: {
    context: {} as Context,
    events: {} as Event,
    input: {} as Input,
    tags: {} as Tag,
    meta: {} as Meta,
  },
  actors: ACTORS,
  delays: DELAYS,
  guards: {
    // What is known
    // A status that shows everything proves a sign-in, perhaps one in another tab.
    'somebody is signed in': ({ context: { source, jwt, emailHash, status } }) =>
      source !== null || jwt !== null || emailHash !== null || (status !== null && status.limited !== true),
    'the source is known': ({ context }) => context.source !== null,
    'the source can sign in': ({ context }) => (context.source?.password ?? '') !== '',
    'the destination is known': ({ context: { destination } }) =>
      destination !== null &&
      destination.email !== '' &&
      (destination.tokenId !== undefined || destination.password !== undefined),
    'the formats are chosen': ({ context }) => context.emailExportType !== null && context.contactsExportType !== null,
    'it is a download': ({ context }) => modeOf(context) === 'download',
    'it is the primary move': ({ context }) => modeOf(context) === 'move',
    'the destination has an address': ({ context }) => (context.destination?.email ?? '') !== '',
    'a sign-in elsewhere was begun': ({ context: { destination } }) =>
      destination !== null && destination.email === '' && isOauthProvider(destination.provider),
    'another way was begun': ({ context }) => context.destination !== null && !context.checkSanBrunoOnOauthCallback,
    'contacts were left out': ({ context }) => contactsWereLeftOut(context),
    'terms are missing': ({ context }) => context.destination?.provider === 'google' && !context.googleTermsAccepted,
    'terms are accepted': ({ context }) => context.googleTermsAccepted,
    'the hash is known': ({ context }) => context.emailHash !== null,
    'operations are known': ({ context }) => context.operations !== null,

    // What is typed
    'the email is malformed': ({ context }) => !isEmail(context.typed.email),
    'the email is at a legacy domain': ({ context }) => isLegacy(context.typed.email, context),
    'the password is empty': ({ context }) => context.typed.password === '',
    'the host is malformed': ({ context }) => readHost(context.typed.host) === null,
    'the account signs in by OAuth': ({ context }) => context.typedAccount?.auth === 'oauth',
    'the account signs in by password': ({ context }) => context.typedAccount?.auth === 'other',
    "the typed account is Google's": ({ context }) => context.typedAccount?.provider === 'google',
    'Google is chosen': ({ event }) => event.type === 'provider.choose' && event.provider === 'google',
    'another provider is chosen': ({ event }) => event.type === 'provider.choose' && event.provider === 'other',
    'a download is chosen': ({ event }) => event.type === 'provider.choose' && event.provider === 'file_export',
    'the account can sign in': ({ context }) =>
      isEmail(context.typed.email) &&
      !isLegacy(context.typed.email, context) &&
      (context.typedAccount?.auth === 'oauth' || context.typed.password !== ''),
    'the transfer ID looks right': ({ context }) => looksLikeTransferId(context.typed.transferId),

    // The notification contact
    'the contact is empty': ({ context }) => context.notificationContact.trim() === '',
    'the contact is to be a phone number': ({ context }) =>
      modeOf(context) === 'move' && !hasLetters(context.notificationContact),
    'the contact is no phone number': ({ context }) => readUsPhone(context.notificationContact) === null,
    'the contact is no email': ({ context }) => !isEmail(context.notificationContact.trim()),
    'the contact is a legacy address': ({ context }) => isLegacy(context.notificationContact.trim(), context),

    // Support
    'the support email is off the cable domain': ({ context }) =>
      !isEmail(context.typed.legacyEmail) ||
      !isAtDomain(context.typed.legacyEmail, context.settings.legacyDomains.slice(0, 1)),
    'the contact email is wrong': ({ context }) =>
      context.typed.contactEmail !== '' && !isEmail(context.typed.contactEmail),
    'the support ID is wrong': ({ context }) =>
      context.typed.supportId !== '' && !isTransferId(context.typed.supportId),
    'a letter is in sight': ({ context: { typed, letter } }) => typed.issue.trim() !== '' || letter !== null,
    'a letter was sent': ({ context }) => context.letter !== null,
    'the issue is too short or too long': ({ context: { typed } }) =>
      typed.issue.trim().length <= SUPPORT_ISSUE_LENGTH.longerThan ||
      typed.issue.trim().length > SUPPORT_ISSUE_LENGTH.atMost,

    // What came back
    'the failure is': (_, params: { code: CallFailureCode; codes: readonly CallFailureCode[] }) =>
      params.codes.includes(params.code),
    'the sign-in elsewhere has ended': (
      { context },
      params: { code: CallFailureCode; codes: readonly CallFailureCode[] },
    ) => params.codes.includes(params.code) && context.destination?.tokenId !== undefined,
    'the sign-in is refused by': (_, params: { code: CallFailureCode; side: unknown; wanted: Side }) =>
      params.code === 'INVALID_CREDENTIALS' && params.side === params.wanted,
    'the provider is the legacy one': (_, params: { capabilities: Capabilities }) =>
      providerOf(params.capabilities.provider) === 'sanbruno',
    'the provider signs in by OAuth': (_, params: { capabilities: Capabilities }) =>
      params.capabilities.auth === 'oauth' && isOauthProvider(providerOf(params.capabilities.provider)),
    'it is valid': (_, params: { valid: boolean }) => params.valid,
    'the return found the portal unavailable': ({ context }) =>
      context.returned?.error.toUpperCase() === ('UNAVAILABLE' satisfies CallFailureCode),
    'the return has an error': ({ context }) => (context.returned?.error ?? '') !== '',
    'the return lacks the scopes of Google': ({ context }) =>
      queryErrorOf(context.returned?.error ?? '') === 'MISSING_SCOPE' &&
      providerOf(context.returned?.provider || (context.destination?.provider ?? '')) === 'google',
    'the return is incomplete': ({ context }) =>
      !isTokenId(context.returned?.tokenId ?? '') || !isEmail(context.returned?.email ?? ''),
    // Another site can send a visitor here with a sign-in of its own.
    'the return is of a sign-in that this tab began': ({ context }) =>
      context.destination?.email === '' &&
      isOauthProvider(context.destination.provider) &&
      isFrom(context.destination.provider, context),
    'a consent is awaited': ({ context }) => context.awaitedConsent !== null,
    'the consent is to mend': ({ context }) => context.awaitedConsent?.purpose === 'mend',
    'the consent is to take back': ({ context }) => context.awaitedConsent?.purpose === 'take back',
    'the consent is for once a day': ({ context }) => context.awaitedConsent?.purpose === 'daily',
    'the consent failed': ({ context }) =>
      context.awaitedConsent === null ||
      !isFrom(context.awaitedConsent.provider, context) ||
      (context.returned?.error ?? '') !== '' ||
      !isTokenId(context.returned?.tokenId ?? ''),
    'the return has no hash': ({ context }) => (context.returned?.hash ?? '') === '',
    'the return is from another mailbox': ({ context }) =>
      context.checkSanBrunoOnOauthCallback &&
      context.returned?.email.toLowerCase() !== context.source?.email.toLowerCase(),
    'the scopes of Google are missing': ({ context }, params: { error: string }) =>
      queryErrorOf(params.error) === 'MISSING_SCOPE' && context.destination?.provider === 'google',
    'the way is to another provider': (_, params: { way: string }) => params.way === 'other',
    'the way is a download': (_, params: { way: string }) => params.way === 'download',
    'there is an error': (_, params: { error: string }) => params.error !== '',
    'the transfer ID is right': (_, params: { id: string }) => isTransferId(params.id.toLowerCase()),
    'there is nothing to show': (_, params: { status: TransferStatus }) =>
      params.status.emailmigration === undefined && params.status.contactsmigration === undefined,
    'what is said to be taken back was taken back': ({ context: { message, status } }) =>
      message?.about === 'take-back asked' &&
      status?.emailmigration?.taken_back !== undefined &&
      status.emailmigration.taking_back !== true,
    'the transfer goes on': ({ context }) => goesOn(context.status ?? {}),
    'there is more to show': ({ context }) => context.status?.limited === true,
    'more is kept back': (_, params: { status: TransferStatus }) => params.status.limited === true,
    // The owner's acts on a transfer
    'the act is asked for and offered': ({ context }, params: { asked: Act; act: Act }) =>
      params.asked === params.act && isOffered(context.status, params.act),
    'the transfer ID is right and a guide is asked for': (_, params: { id: string; guide: string }) =>
      isTransferId(params.id.toLowerCase()) && asGuide(params.guide) !== undefined,
    'this guide is asked for': (_, params: { asked: Guide; guide: Guide }) => params.asked === params.guide,
    'something else is needed': ({ context }, { before }: { before: TransferStatus | null }) => {
      const [was, is] = [before, context.status].map(attentionOf);
      return was?.side !== is?.side || was?.reason !== is?.reason;
    },
    'the new password is missing': ({ context }) =>
      attentionOf(context.status)?.reason === 'password' && context.typed.password === '',
    'a consent is wanted': ({ context }) =>
      attentionOf(context.status)?.reason === 'consent' && context.tokenId === null,
    'the destination signs in elsewhere': ({ context }) => signsInElsewhere(context),
    'the sign-in elsewhere comes first': ({ context }) => signsInElsewhere(context) && context.tokenId === null,
    'the destination password is missing': ({ context }) =>
      !signsInElsewhere(context) && context.typed.destinationPassword === '',
    'a sign-in is wanted': ({ context }, params: { code: CallFailureCode; codes: readonly CallFailureCode[] }) =>
      params.codes.includes(params.code) && context.typed.password === '' && context.tokenId === null,
    'a transfer is in the way': ({ context }) => context.transferInTheWay !== null,
    'there are exports': ({ context }) => (context.status?.exports?.length ?? 0) > 0,
    'there are transfers': (_, params: { transfers: TransfersByHash }) => Object.keys(params.transfers).length > 0,
  },
  actions: {
    // The outside world; the portal, a test or a story provides them
    /** `inPlace`: replaces the history entry, so that Back does not lead to the page that is left. */
    'leave for': (_, params: { address: string; inPlace?: true }) => notProvided(`leave for ${params.address}`)(),
    'load the page anew': notProvided('load the page anew'),
    'drop the stored token': notProvided('drop the stored token'),
    'tell the other tabs': notProvided('tell the other tabs'),

    'forget everything': assign(({ context }) => ({ ...blankContext(context), now: context.now })),
    'remember the sign-ins': assign({ signIns: (_, params: { signIns: SignIns }) => params.signIns }),
    'forget all but what signs out': assign(({ context, event }) => ({
      ...blankContext(context),
      now: context.now,
      parting: {
        jwt: context.jwt,
        ...(event.type === 'sign-out.confirm' && event.everywhere
          ? { everywhere: true, ...(context.source === null ? {} : { email: context.source.email }) }
          : { everywhere: false }),
      },
    })),
    'forget all but the letter': assign(({ context }) => ({
      ...blankContext(context),
      now: context.now,
      typed: onlyTheLetter(context),
      letter: context.letter,
    })),
    'look at the clock': assign({ now: () => Date.now() }),

    // Typing
    type: assign({ typed: ({ context }, params: Partial<Typed>) => ({ ...context.typed, ...params }) }),
    'forget the typed password': assign({ typed: ({ context }) => ({ ...context.typed, password: '' }) }),
    'forget the typed passwords': assign({
      typed: ({ context }) => ({ ...context.typed, password: '', destinationPassword: '' }),
    }),
    'forget the typed account': assign({ typedAccount: null }),
    'forget the typed host': assign({ typed: ({ context }) => ({ ...context.typed, host: '' }) }),
    'forget what was typed': assign({ typed: ({ context }) => onlyTheLetter(context) }),
    'remember the contact': assign({ notificationContact: (_, params: { contact: string }) => params.contact }),
    'normalise the phone number': assign({
      notificationContact: ({ context }) => readUsPhone(context.notificationContact) ?? context.notificationContact,
    }),

    // The source
    'forget the operations': assign({ operations: null }),
    'remember the operations': assign({
      operations: (_, params: { capabilities: Capabilities }) => params.capabilities.allowedOperations,
    }),
    'remember the source': assign({
      source: ({ context }) => ({
        email: withFoldedDomain(context.typed.email),
        password: context.typed.password,
        provider: 'sanbruno' as const,
      }),
    }),
    'remember the jwt': assign({ jwt: (_, params: { token: string | undefined }) => params.token ?? null }),

    'forget the passwords': assign({
      source: ({ context: { source } }) => (source === null ? null : { ...source, password: '' }),
      destination: ({ context: { destination } }) => {
        if (destination === null) return null;
        const { password: _password, tokenId: _tokenId, ...account } = destination;
        return account;
      },
    }),

    // The destination
    'remember where the transfer goes': assign({
      destination: ({ context: { destination, transferId } }) =>
        destination && { ...destination, transferId: transferId ?? '' },
    }),
    'choose the move': assign({
      destination: { email: '', provider: 'yahoo' as const },
      checkSanBrunoOnOauthCallback: true,
      allowContactsMigration: true,
      awaitedConsent: null,
    }),
    'choose the provider': assign({
      destination: (_, params: { provider: Provider }) => ({ email: '', provider: params.provider }),
      checkSanBrunoOnOauthCallback: false,
      allowContactsMigration: true,
      awaitedConsent: null,
    }),
    'choose the typed provider': assign({
      destination: ({ context }) => ({ email: '', provider: context.typedAccount?.provider ?? 'other' }),
      checkSanBrunoOnOauthCallback: false,
      allowContactsMigration: true,
      awaitedConsent: null,
    }),
    'remember the typed account': assign({
      typedAccount: (_, params: { capabilities: Capabilities }) => {
        const provider = providerOf(params.capabilities.provider);
        const auth = params.capabilities.auth === 'oauth' && isOauthProvider(provider) ? 'oauth' : 'other';
        return { provider, auth } as const;
      },
    }),
    'remember the destination by password': assign({
      destination: ({ context }) => ({
        email: context.typed.email,
        password: context.typed.password,
        provider: context.typedAccount?.provider ?? 'other',
        ...(context.typed.host === '' ? {} : { imap: context.typed.host }),
      }),
      checkSanBrunoOnOauthCallback: false,
      allowContactsMigration: false,
    }),
    'recommend the formats': assign({
      emailExportType: ({ context }) => context.emailExportType ?? 'eml',
      contactsExportType: ({ context }) => context.contactsExportType ?? 'csv',
    }),
    'choose the email format': assign({ emailExportType: (_, params: { format: EmailFormat }) => params.format }),
    'choose the contacts format': assign({
      contactsExportType: (_, params: { format: ContactsFormat }) => params.format,
    }),
    'accept the terms': assign({ googleTermsAccepted: true }),
    'read the return': assign({ returned: (_, params: OauthReturn) => params }),
    'remember the returned destination': assign({
      destination: ({ context: { returned, destination } }) => ({
        email: returned?.email.toLowerCase() ?? '',
        provider: providerOf(returned?.provider || (destination?.provider ?? '')),
        ...(returned === null ? {} : { tokenId: returned.tokenId }),
      }),
      allowContactsMigration: ({ context }) => context.returned?.contacts !== 'no',
    }),
    'choose the same provider again': assign({
      destination: ({ context }) => ({ email: '', provider: context.destination?.provider ?? 'other' }),
      awaitedConsent: null,
    }),
    'remember the hash': assign({ emailHash: ({ context }) => context.returned?.hash || null }),

    'remember what the consent is for': assign({
      awaitedConsent: ({ context }, params: Pick<AwaitedConsent, 'purpose' | 'provider'>) => ({
        ...params,
        transferId: context.transferId ?? '',
      }),
    }),
    'forget the consent': assign({ awaitedConsent: null }),
    /** After a reload, nothing is known yet about the transfer that the consent is for. */
    'return to the transfer': assign({
      transferId: ({ context }) => context.awaitedConsent?.transferId ?? null,
      status: null,
      awaitedConsent: null,
    }),
    'remember the sign-in': assign({ tokenId: ({ context }) => context.returned?.tokenId ?? null }),
    'forget the sign-in': assign({ typed: ({ context }) => onlyTheLetter(context), tokenId: null }),
    // A sign-in elsewhere discards what was typed here, and has to be made again first.
    'forget the sign-in at the destination': assign(({ context }) => ({
      typed: context.tokenId === null ? { ...context.typed, destinationPassword: '' } : onlyTheLetter(context),
      tokenId: null,
    })),

    // The transfer
    'remember the transfer': assign({ transferId: (_, params: { id: string }) => params.id.toLowerCase() }),
    'remember the next transfer': assign(({ context }, { id }: { id: string }) => ({
      transferId: id,
      destination:
        context.destination && isToOwnDestination(context)
          ? { ...context.destination, transferId: id }
          : context.destination,
    })),
    'remember the transfer in the way': assign({
      transferInTheWay: (_, params: { transfer: Context['transferInTheWay'] }) => params.transfer,
    }),
    // A later message to support must not name it.
    'forget the transfer': assign({
      transferId: null,
      status: null,
      typed: ({ context: { typed, transferId } }) =>
        typed.supportId === transferId ? { ...typed, supportId: '' } : typed,
    }),
    'forget the status': assign({ status: null }),
    /** `decisions.md` has nothing in the status that tells an unfinished export, but this tab may have ordered it. */
    'remember the status': assign({
      status: ({ context }, { status }: { status: TransferStatus }): TransferStatus =>
        isToOwnDestination(context) && modeOf(context) === 'download' ? { files: 'coming', ...status } : status,
    }),
    'remember the transfers': assign({
      transfers: (_, params: { transfers: TransfersByHash }) =>
        Object.entries(params.transfers)
          .map(([id, started]) => ({ id, started }))
          // Safari 15 has no `toSorted`.
          // oxlint-disable-next-line unicorn/no-array-sort
          .sort((one, other) => Date.parse(other.started) - Date.parse(one.started))
          .slice(0, LISTED_TRANSFERS),
      statuses: {},
    }),
    /** Before the new status is remembered. */
    'tell of the change': raise(({ context }) => ({ type: 'status.change' as const, before: context.status })),
    'remember the statuses': assign({
      statuses: (_, params: { statuses: Readonly<Record<string, TransferStatus>> }) => params.statuses,
    }),

    'open the guide': raise((_, params: { guide: Guide }) => ({ type: 'guide.open' as const, guide: params.guide })),

    // Support
    'fill in what is known': assign({
      typed: ({ context: { typed, source, transferId } }) => ({
        ...typed,
        legacyEmail: typed.legacyEmail || (source?.email ?? ''),
        supportId: typed.supportId || (transferId ?? ''),
      }),
    }),
    // Another message to support keeps what was typed, except the issue, which is empty already.
    'forget the letter': assign({
      letter: null,
      typed: ({ context, event }) => (event.type === 'support.again' ? context.typed : NOTHING_TYPED),
    }),
    // The page that shows it was left by loading another one.
    'forget an earlier letter': assign(({ context, event }) =>
      context.letter === null || event.type === 'support.visit' ? {} : { letter: null, typed: NOTHING_TYPED },
    ),
    'remember the letter': assign({ letter: (_, params: { letter: SupportRequest }) => params.letter }),

    // Messages
    'show the message': raise((_, params: { message: Message }) => ({
      type: 'message.show' as const,
      message: params.message,
    })),
    /** Keeps the message until the visitor has looked at it. */
    'hold the message': raise({ type: 'message.hold' as const }),
    'refuse the password': raise({ type: 'password.refuse' as const }),
    'look at the page': raise({ type: 'page.look' as const }),
    'remember the message': assign({ message: (_, params: { message: Message }) => params.message }),
    'forget the message': assign({ message: null }),
  },
});
