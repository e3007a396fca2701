import * as v from 'valibot';
import { fromCallback, fromPromise } from 'xstate';
import type { ACTORS } from '../../machines/wizard.actors.ts';
import type { Event } from '../../machines/wizard.types.ts';
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
import type { Ask } from './api.ts';

/** The machine's actors, for real: each is one call of the contract. */
export function createServices(ask: Ask): typeof ACTORS {
  return {
    'check the stored token': fromPromise(async ({ input, signal }) =>
      input.token === null ? null : ask(validateToken, { body: { token: input.token }, signal }),
    ),
    'ask for capabilities': fromPromise(({ input, signal }) => ask(capabilities, { body: input, signal })),
    'validate the account': fromPromise(({ input, signal }) => ask(validate, { body: input, signal })),
    'resolve the host': fromPromise(({ input, signal }) => ask(validateImap, { body: input, signal })),
    'create the account': fromPromise(({ input: { inQa, ...body }, signal }) =>
      ask(createAccount, { query: { in_qa: String(inQa) }, body, signal }),
    ),
    'announce the migration': fromPromise(({ input: { inQa, ...body }, signal }) =>
      ask(setMigrationStarted, { query: { in_qa: String(inQa) }, body, signal }),
    ),
    'start the transfer': fromPromise(({ input, signal }) => ask(load, { body: writeLoad(input), signal })),
    'ask for the status': fromPromise(({ input, signal }) =>
      ask(detailedStatus, { query: { job_id: input.id }, signal }),
    ),
    'list the transfers': fromPromise(({ input, signal }) => ask(jobsByEmail, { body: input, signal })),
    'check the domain': fromPromise(({ input, signal }) => ask(domainValidation, { query: input, signal })),
    'check the phone number': fromPromise(({ input, signal }) => ask(phoneNumberValidation, { query: input, signal })),
    'write to support': fromPromise(({ input, signal }) => ask(supportForm, { body: writeSupportForm(input), signal })),
    'copy to the clipboard': fromPromise(({ input }) => navigator.clipboard.writeText(input.text)),
    'delete the export': fromPromise(({ input, signal }) => {
      const { pathname, searchParams } = new URL(input.url, location.href);
      return ask(deletionOf(pathname), { query: Object.fromEntries(searchParams), body: {}, signal });
    }),
    'follow the transfer': fromCallback<Event, { id: string }>(({ input, sendBack }) => {
      const stream = new EventSource(`${STATUS_EVENTS}?${new URLSearchParams({ job_id: input.id }).toString()}`);
      stream.addEventListener('message', ({ data }) => {
        const status = readStatus(data);
        if (status !== null) sendBack({ type: 'status.arrive', status });
      });
      stream.addEventListener('error', () => {
        stream.close();
        sendBack({ type: 'status.lose' });
      });
      return () => stream.close();
    }),
  };
}

function readStatus(data: unknown): v.InferOutput<typeof detailedStatus.Answer> | null {
  try {
    return v.parse(detailedStatus.Answer, JSON.parse(String(data)));
  } catch {
    return null;
  }
}

/** An export is deleted beside where it is fetched, with the same signature: `/api/exports/<export>/delete/`. */
function deletionOf(path: string) {
  const folder = path.slice(0, path.lastIndexOf('/'));
  return { method: 'POST', path: `${folder}/delete/` as `/api/${string}/`, Answer: Ok } as const satisfies Call;
}
