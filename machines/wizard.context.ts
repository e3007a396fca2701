import type { Context, Draft, Input, Session, Typed } from './wizard.types.ts';

export const NOTHING_TYPED: Typed = {
  email: '',
  password: '',
  destinationPassword: '',
  host: '',
  transferId: '',
  legacyEmail: '',
  contactEmail: '',
  supportId: '',
  issue: '',
};

/** A new session. */
export const BLANK_SESSION: Session = {
  source: null,
  destination: null,
  operations: null,
  allowContactsMigration: true,
  googleTermsAccepted: false,
  checkSanBrunoOnOauthCallback: false,
  jwt: null,
  notificationContact: '',
  emailHash: null,
  emailExportType: null,
  contactsExportType: null,
  awaitedConsent: null,
  draft: null,
  letter: null,
};

/** The context without anything from the visitor or the server. */
export function blankContext({
  settings,
  now,
  session,
  storedToken,
}: Input | (Context & { session?: Session })): Context {
  const { draft, ...kept } = session ?? BLANK_SESSION;
  const { transferId = null, ...begun } = draft ?? {};
  return {
    settings,
    now,
    ...kept,
    parting: null,
    signIns: null,
    storedToken: storedToken ?? null,
    typed: { ...NOTHING_TYPED, ...begun },
    typedAccount: null,
    message: null,
    returned: null,
    transferId,
    transferInTheWay: null,
    status: null,
    tokenId: null,
    transfers: [],
    statuses: {},
  };
}

/** What was typed of a message to support. */
export function letterOf({ legacyEmail, contactEmail, supportId, issue }: Typed): Omit<Draft, 'transferId'> {
  return { legacyEmail, contactEmail, supportId, issue };
}

/** The part of the context that survives a reload. */
export function sessionOf(context: Context): Session {
  const { source, destination, operations, allowContactsMigration, googleTermsAccepted } = context;
  const { checkSanBrunoOnOauthCallback, jwt, notificationContact, emailHash } = context;
  const { emailExportType, contactsExportType, awaitedConsent, transferId, letter } = context;
  const begun = letterOf(context.typed);
  return {
    source,
    destination,
    operations,
    allowContactsMigration,
    googleTermsAccepted,
    checkSanBrunoOnOauthCallback,
    jwt,
    notificationContact,
    emailHash,
    emailExportType,
    contactsExportType,
    awaitedConsent,
    draft: Object.values(begun).some(Boolean) ? { ...begun, transferId } : null,
    letter,
  };
}
