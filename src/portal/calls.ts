import * as v from 'valibot';
import type { InputFrom } from 'xstate';
import type { ACTORS } from '../../machines/wizard.actors.ts';
import type { Call } from '../contract/calls/call.ts';
import { capabilities } from '../contract/calls/capabilities.ts';
import { createAccount } from '../contract/calls/create-account.ts';
import { domainValidation } from '../contract/calls/domain-validation.ts';
import { jobsByEmail } from '../contract/calls/jobs-by-email.ts';
import { load, writeLoad } from '../contract/calls/load.ts';
import { Ok } from '../contract/calls/ok.ts';
import { phoneNumberValidation } from '../contract/calls/phone-number-validation.ts';
import { setMigrationStarted } from '../contract/calls/set-migration-started.ts';
import { detailedStatus, STATUS_EVENTS } from '../contract/calls/status.ts';
import { supportForm, writeSupportForm } from '../contract/calls/support-form.ts';
import { validateImap } from '../contract/calls/validate-imap.ts';
import { validateToken } from '../contract/calls/validate-token.ts';
import { validate } from '../contract/calls/validate.ts';
import type { TransferStatus } from '../contract/calls/status.ts';
import { createApi } from './api.ts';

type Input<Name extends keyof typeof ACTORS> = InputFrom<(typeof ACTORS)[Name]>;

/** The calls of the contract, each under the name of the actor that makes it. @throws {CallError} */
export function createCalls(bearer: () => string | null) {
  const ask = createApi(bearer);
  return {
    'check the stored token': async (input: Input<'check the stored token'>, signal: AbortSignal) =>
      input.token === null ? null : ask(validateToken, { body: { token: input.token }, signal }),
    'ask for capabilities': (input: Input<'ask for capabilities'>, signal: AbortSignal) =>
      ask(capabilities, { body: input, signal }),
    'validate the account': (input: Input<'validate the account'>, signal: AbortSignal) =>
      ask(validate, { body: input, signal }),
    'resolve the host': (input: Input<'resolve the host'>, signal: AbortSignal) =>
      ask(validateImap, { body: input, signal }),
    'create the account': ({ inQa, ...body }: Input<'create the account'>, signal: AbortSignal) =>
      ask(createAccount, { query: { in_qa: String(inQa) }, body, signal }),
    'announce the migration': ({ inQa, ...body }: Input<'announce the migration'>, signal: AbortSignal) =>
      ask(setMigrationStarted, { query: { in_qa: String(inQa) }, body, signal }),
    'start the transfer': (input: Input<'start the transfer'>, signal: AbortSignal) =>
      ask(load, { body: writeLoad(input), signal }),
    'ask for the status': ({ id }: Input<'ask for the status'>, signal: AbortSignal) =>
      ask(detailedStatus, { query: { job_id: id }, signal }),
    'list the transfers': (input: Input<'list the transfers'>, signal: AbortSignal) =>
      ask(jobsByEmail, { body: input, signal }),
    'check the domain': (input: Input<'check the domain'>, signal: AbortSignal) =>
      ask(domainValidation, { query: input, signal }),
    'check the phone number': (input: Input<'check the phone number'>, signal: AbortSignal) =>
      ask(phoneNumberValidation, { query: input, signal }),
    'write to support': (input: Input<'write to support'>, signal: AbortSignal) =>
      ask(supportForm, { body: writeSupportForm(input), signal }),
    'delete the export': ({ url }: Input<'delete the export'>, signal: AbortSignal) => {
      const { pathname } = new URL(url, location.href);
      return ask(deletionOf(pathname), { body: {}, signal });
    },
  };
}
export type Calls = ReturnType<typeof createCalls>;

/** A status as an event of the stream carries it; `null` when it doesn't fit. */
export function readStatus(data: unknown): TransferStatus | null {
  try {
    return v.parse(detailedStatus.Answer, JSON.parse(String(data)));
  } catch {
    return null;
  }
}

export function streamOf(id: string): EventSource {
  return new EventSource(`${STATUS_EVENTS}?${new URLSearchParams({ job_id: id }).toString()}`);
}

/** An export is deleted beside where it is fetched: `/api/exports/<export>/delete/`. */
function deletionOf(path: string) {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return { method: 'POST', path: `${folder}/delete/` as `/api/${string}/`, Answer: Ok } as const satisfies Call;
}
