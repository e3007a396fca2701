import * as v from 'valibot';
import type { FailureCode } from '../../contract/failure-code.ts';
import type { Settings } from '../../contract/settings.ts';
import { withoutEnd } from '../../contract/without-end.ts';
import type { Log } from '../log.ts';
import { fetch } from '../fetch.ts';
import { octetsOf } from '../network/octets-of.ts';
import { Refusal } from './refusal.ts';
import type { Vault } from '../store/vault.ts';

const ANSWER_WITHIN_MS = 15_000;
const ANSWER_OCTETS = 64 * 1024;

/** The conflicts that the portal distinguishes; the service reports them with 409. */
const Conflict = v.object({
  error: v.picklist([
    'ACCOUNT_ALREADY_CREATED',
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
  ] satisfies FailureCode[]),
});

type Services = { readonly settings: Settings; readonly log: Log; readonly vault: Vault };
type Account = { readonly email: string; readonly inQa: boolean };

/**
 * Asks the destination provider to create an account: `POST {url}/accounts`. A repeated request has the same
 * `Idempotency-Key`.
 * @throws {Refusal} 409 with one of the three codes, or 502.
 */
export async function createDestinationAccount(
  services: Services,
  { email, password, inQa }: Account & { readonly password: string },
  signal: AbortSignal,
): Promise<void> {
  await post(services, 'accounts', { email, password, in_qa: inQa }, signal);
}

/**
 * Tells the destination provider that a mailbox is about to move: `POST {url}/migrations`.
 * @throws {Refusal} 502
 */
export async function announceMigration(
  services: Services,
  { email, inQa }: Account,
  signal: AbortSignal,
): Promise<void> {
  await post(services, 'migrations', { email, in_qa: inQa }, signal);
}

async function post(
  { settings, log, vault }: Services,
  resource: 'accounts' | 'migrations',
  asked: object,
  signal: AbortSignal,
): Promise<void> {
  const { provisioning } = settings;
  if (provisioning === undefined) throw setUpError();
  const body = JSON.stringify(asked);
  let answer: Response;
  try {
    answer = await fetch(`${withoutEnd(provisioning.url, '/')}/${resource}`, {
      method: 'POST',
      redirect: 'error',
      headers: {
        'content-type': 'application/json',
        'idempotency-key': vault.digest(`provisioning ${resource}`, body).slice(0, 32),
        ...(provisioning.token === undefined ? {} : { authorization: `Bearer ${provisioning.token}` }),
      },
      body,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    });
  } catch (error) {
    log.error({ resource, err: error }, 'the provisioning service could not be reached');
    throw setUpError(error);
  }
  if (answer.ok) {
    await answer.body?.cancel();
    return;
  }
  const conflict = answer.status === 409 ? v.safeParse(Conflict, await jsonOf(answer).catch(() => null)) : null;
  if (conflict?.success === true) throw conflictOf(conflict.output.error);
  log.error({ resource, status: answer.status }, 'the provisioning service refused');
  throw setUpError();
}

async function jsonOf(answer: Response): Promise<unknown> {
  return JSON.parse((await octetsOf(answer, ANSWER_OCTETS)).toString());
}

type ConflictCode = v.InferOutput<typeof Conflict>['error'];

/** @param options with the ID of the conflicting transfer, if there is one */
export function conflictOf(code: ConflictCode, options?: ConstructorParameters<typeof Refusal>[3]): Refusal {
  return new Refusal(409, code, CONFLICTS[code], options);
}

const CONFLICTS: Record<ConflictCode, string> = {
  ACCOUNT_ALREADY_CREATED: 'The account has been created already.',
  ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS:
    "You have already started a transfer to Yahoo. Please, wait until it's completed.",
  ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED: 'Your transfer to Yahoo is already completed.',
};

function setUpError(cause?: unknown): Refusal {
  return new Refusal(
    502,
    'GENERAL_ERROR',
    'An error has happened while setting up your Yahoo account. Your mail is safe. Please, try again later or contact support.',
    { cause },
  );
}
