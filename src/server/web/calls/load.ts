import * as v from 'valibot';
import { load, type LoadRequest } from '../../../contract/calls/load.ts';
import { isAtDomain } from '../../../contract/email-address.ts';
import { CONTACTS_FORMATS, EMAIL_FORMATS } from '../../../contract/export-format.ts';
import { impliedOperations, type Operation } from '../../../contract/operation.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import type { Settings } from '../../../contract/settings.ts';
import { UsPhone } from '../../../contract/transfer.ts';
import { isTokenForm } from '../../oauth/tokens.ts';
import { exportsOf, type TransferOrder } from '../../transfers/orders.ts';
import type { Sql } from '../../store/database.ts';
import { limitOrder } from '../order-limits.ts';
import { requireNoSignOut } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import type { Visit } from '../visit.ts';
import { allowedOperations } from './capabilities.ts';
import { isUsPhone } from './phone-number-validation.ts';
import { proveSide, putRightBy } from './resume.ts';
import { route } from './route.ts';

/** How many exports of one mailbox may exist at a time; each may be as large as the mailbox. */
export const EXPORTS_AT_ONCE = 10;

type Loading = Pick<
  Web,
  | 'settings'
  | 'database'
  | 'safe'
  | 'queue'
  | 'transfers'
  | 'tokens'
  | 'proofs'
  | 'consents'
  | 'owners'
  | 'sessions'
  | 'verifiers'
  | 'securityLog'
  | 'limits'
>;

/**
 * Starts a transfer once both mailboxes are proved to be the caller's. An order that was submitted before, or is
 * running, is answered with its ID, even if its tokens are gone because it has completed.
 */
export const answerLoad = route(load, 'calls by a client', async ({ body }, services: Loading, visit) => {
  const order = orderOf(body, services.settings);
  // Comes first, because all later answers reveal something about the mailbox.
  await proveSource(order, services, visit);
  await requireNoSignOut(services, visit, order.source.email);
  const jobid = await startOnce(order, services, visit);
  await services.owners.add(jobid, visit.browser.keep());
  if (order.destination.provider === 'file_export')
    await services.verifiers.keep(jobid, order.source.email, order.source.password);
  services.securityLog('transfer ordered', {
    mailbox: order.source.email,
    client: visit.client,
    transferId: jobid,
    what: order.destination.provider,
  });
  return { jobid };
});

async function startOnce(order: TransferOrder, services: Loading, visit: Visit): Promise<string> {
  const { transfers, tokens } = services;
  if (!(await hasConsent(order, services, visit))) {
    const before = await transfers.startedBefore(order);
    if (before === null) {
      services.securityLog('call refused: not the owner', { client: visit.client, what: load.path });
      throw notSignedIn();
    }
    return before.id;
  }
  await proveDestination(order, services, visit);
  const started = await transfers.start(order, { admit: (sql) => admitOrder(sql, order, services, visit) });
  if (started.kind === 'busy')
    throw new Refusal(
      409,
      'MIGRATION_IN_PROGRESS',
      'A transfer of this account is already running. Your mail is safe. Please wait until it is done.',
      { transferId: started.id },
    );
  const { tokenId } = order.destination;
  const takesToken = await putRightBy(order, started.id, services);
  // A token that won't be used must not remain valid.
  if (tokenId !== undefined) await (started.usesToken || takesToken ? tokens.keep(tokenId) : tokens.forget(tokenId));
  return started.id;
}

/** Runs within the transaction that stores the order. */
async function admitOrder(sql: Sql, order: TransferOrder, { limits }: Loading, { client }: Visit): Promise<void> {
  const { source, destination, notificationContact: contact } = order;
  await limitOrder(limits.within(sql), { mailbox: source.email, contact, client });
  if (destination.provider === 'file_export' && (await exportsOf(sql, source.email)) >= EXPORTS_AT_ONCE)
    throw new Refusal(
      400,
      'OPERATION_NOT_ALLOWED',
      `There are ${EXPORTS_AT_ONCE} exports of this mailbox already. Nothing was started, and your mail is safe. Please download those and delete one of them on its status page.`,
    );
}

/** @throws {Refusal} for anything that isn't allowed, before any mail server is contacted. */
function orderOf(request: LoadRequest, settings: Settings): TransferOrder {
  const { sourceAccount, destinationAccount, parameters } = request;
  if (destinationAccount.tokenId !== undefined && !isTokenForm(destinationAccount.tokenId)) throw notSignedIn();
  if (sourceAccount.provider !== 'sanbruno' || destinationAccount.provider === 'sanbruno')
    throw new Refusal(400, 'UNSUPPORTED_PROVIDER', 'This provider is not supported.');
  if (!isAtDomain(sourceAccount.email, settings.legacyDomains))
    throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a ${settings.legacyName} email address.`);
  checkDestinationEmail(destinationAccount, settings);
  checkNotification(parameters.notificationEmail, destinationAccount.provider, settings);
  return {
    source: { email: sourceAccount.email, password: sourceAccount.password, provider: sourceAccount.provider },
    destination: destinationOf(request),
    operations: checkOperations(request, settings),
    ...checkFormats(request),
    ...(parameters.notificationEmail === undefined ? {} : { notificationContact: parameters.notificationEmail }),
    inQa: parameters.inQa,
  };
}

function destinationOf({ destinationAccount, parameters }: LoadRequest): TransferOrder['destination'] {
  const { email, provider } = destinationAccount;
  if (provider === 'file_export') return { email, provider };
  if (provider !== 'other' || parameters.destinationImap === undefined) return destinationAccount;
  return { ...destinationAccount, imap: parameters.destinationImap };
}

function checkDestinationEmail({ email, provider }: LoadRequest['destinationAccount'], settings: Settings): void {
  if (!isAtDomain(email, settings.legacyDomains)) return;
  if (provider === 'file_export')
    throw new Refusal(
      400,
      'INVALID_EMAIL',
      `Please, do not use a ${settings.legacyName} email address for the export.`,
    );
  // It would be copied into itself; only an OAuth provider may have taken over the domain.
  if (provider === 'other') throw new Refusal(400, 'INVALID_EMAIL', 'Please use an address at another provider.');
}

function checkNotification(contact: string | undefined, provider: string, settings: Settings): void {
  if (contact === undefined) return;
  if (v.is(UsPhone, contact) && (provider !== 'yahoo' || !isUsPhone(contact)))
    throw new Refusal(400, 'INVALID_EMAIL', 'Please, enter a valid email address.');
  if (isAtDomain(contact, settings.legacyDomains))
    throw new Refusal(
      400,
      'INVALID_EMAIL',
      `Please, do not use a ${settings.legacyName} email address for notification.`,
    );
}

function checkOperations({ operations, destinationAccount }: LoadRequest, settings: Settings): Operation[] {
  const { provider, tokenId, password } = destinationAccount;
  const wanted = impliedOperations(operations);
  const byToken = isOauthProvider(provider) && (tokenId !== undefined || password === undefined);
  const allowed = allowedOperations(provider, byToken ? 'oauth' : 'other', settings);
  if (provider === 'file_export') {
    const missing = (['emailmigration', 'contactsmigration'] as const).find((each) => !wanted.includes(each));
    if (missing !== undefined)
      throw new Refusal(400, 'OPERATION_NOT_ALLOWED', `An export needs the operation '${missing}'.`);
    if (wanted.includes('emailforwarding')) throw notAllowed('emailforwarding');
    // Leaves out contacts if the source has no address book.
    return allowed;
  }
  // A mailbox that keeps its address at the new provider would forward to itself.
  if (wanted.includes('emailforwarding') && isAtDomain(destinationAccount.email, settings.legacyDomains))
    throw notAllowed('emailforwarding');
  const refused = wanted.find((operation) => !allowed.includes(operation));
  if (refused !== undefined) throw notAllowed(refused);
  return wanted;
}

function notAllowed(operation: Operation): Refusal {
  return new Refusal(400, 'OPERATION_NOT_ALLOWED', `Operation '${operation}' not allowed.`);
}

function checkFormats({
  destinationAccount,
  fileExportParameters,
}: LoadRequest): Pick<TransferOrder, 'emailFormat' | 'contactsFormat'> {
  if (destinationAccount.provider !== 'file_export') return {};
  const emailFormat = EMAIL_FORMATS.find((format) => format === fileExportParameters.emailFormat);
  const contactsFormat = CONTACTS_FORMATS.find((format) => format === fileExportParameters.contactsFormat);
  if (emailFormat === undefined || contactsFormat === undefined) {
    const choose = `Please choose ${EMAIL_FORMATS.join(' or ')} for mail, and ${CONTACTS_FORMATS.join(' or ')} for contacts.`;
    throw new Refusal(
      400,
      'OPERATION_NOT_ALLOWED',
      `An export needs a format for mail and one for contacts. Nothing was started, and your mail is safe. ${choose}`,
    );
  }
  return { emailFormat, contactsFormat };
}

async function proveSource({ source }: TransferOrder, { proofs }: Loading, visit: Visit): Promise<void> {
  await proveSide(
    'source',
    { email: source.email, password: source.password, provider: source.provider },
    proofs,
    visit,
  );
}

/** An OAuth account is proved by its tokens, in the browser that obtained them; any other later, by a sign-in. */
async function hasConsent(
  { destination }: TransferOrder,
  { consents }: Pick<Loading, 'consents'>,
  { browser }: Visit,
): Promise<boolean> {
  const { email, provider, password, tokenId } = destination;
  if (provider === 'file_export') return true;
  if (tokenId === undefined) return password !== undefined;
  return browser.key !== undefined && consents.gave(tokenId, { email, provider }, browser.key);
}

function notSignedIn(): Refusal {
  return new Refusal(
    401,
    'INVALID_CREDENTIALS',
    'The destination account is not signed in. Nothing was moved. Please sign in to it again.',
  );
}

async function proveDestination({ destination }: TransferOrder, { proofs }: Loading, visit: Visit): Promise<void> {
  const { email, provider, password, imap, tokenId } = destination;
  if (tokenId !== undefined || password === undefined) return;
  await proveSide('destination', { email, provider, password, ...(imap === undefined ? {} : { imap }) }, proofs, visit);
}
