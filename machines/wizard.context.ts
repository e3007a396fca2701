import type { Context, Input, Session, Typed } from './wizard.types.ts';

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
};

/** The context without anything from the visitor or the server. */
export function blankContext({
  settings,
  now,
  session,
  storedToken,
}: Input | (Context & { session?: Session })): Context {
  return {
    settings,
    now,
    ...(session ?? BLANK_SESSION),
    parting: null,
    signIns: null,
    storedToken: storedToken ?? null,
    typed: NOTHING_TYPED,
    typedAccount: null,
    message: null,
    returned: null,
    transferId: null,
    transferInTheWay: null,
    status: null,
    tokenId: null,
    letter: null,
    transfers: [],
    statuses: {},
  };
}

/** The part of the context that survives a reload. */
export function sessionOf(context: Context): Session {
  const { source, destination, operations, allowContactsMigration, googleTermsAccepted } = context;
  const { checkSanBrunoOnOauthCallback, jwt, notificationContact, emailHash } = context;
  const { emailExportType, contactsExportType, awaitedConsent } = context;
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
  };
}
