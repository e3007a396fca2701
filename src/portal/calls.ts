import { isHTTPError } from 'ky';
import * as v from 'valibot';
import { again } from '../contract/calls/again.ts';
import { cancel } from '../contract/calls/cancel.ts';
import { capabilities } from '../contract/calls/capabilities.ts';
import { createAccount } from '../contract/calls/create-account.ts';
import { domainValidation } from '../contract/calls/domain-validation.ts';
import { dailyOff } from '../contract/calls/daily-off.ts';
import { deleteExport, deletionOf } from '../contract/calls/export-file.ts';
import { forwardingOff } from '../contract/calls/forwarding-off.ts';
import { jobsByEmail } from '../contract/calls/jobs-by-email.ts';
import { load, writeLoad } from '../contract/calls/load.ts';
import { phoneNumberValidation } from '../contract/calls/phone-number-validation.ts';
import { resume } from '../contract/calls/resume.ts';
import { setMigrationStarted } from '../contract/calls/set-migration-started.ts';
import { detailedStatus, statusStream, type TransferStatus } from '../contract/calls/status.ts';
import { signIns } from '../contract/calls/sign-ins.ts';
import { signOut } from '../contract/calls/sign-out.ts';
import { supportForm, writeSupportForm } from '../contract/calls/support-form.ts';
import { takeBack } from '../contract/calls/take-back.ts';
import { validateImap } from '../contract/calls/validate-imap.ts';
import { validateToken } from '../contract/calls/validate-token.ts';
import { validate } from '../contract/calls/validate.ts';
import { createApi } from './api.ts';
import { CallError } from './call-error.ts';
import type { Calls } from './machine-calls.ts';

/** The calls of the contract, by the names of the machine's actors; each turns the actor's input into the wire form. */
export function createCalls(bearer: () => string | null): Calls {
  const ask = createApi(bearer);
  return {
    'check the stored token': async ({ token }, signal) =>
      token === null ? null : ask(validateToken, { body: { token } }, signal),
    'ask for capabilities': (body, signal) => ask(capabilities, { body }, signal),
    'validate the account': (body, signal) => ask(validate, { body }, signal),
    'list the sign-ins': async (_, signal) => (await ask(signIns, {}, signal)).others,
    // Not aborted when the page changes, and with the bearer from the input: the session has already forgotten it.
    'sign out': ({ jwt, everywhere, ...mailbox }) =>
      createApi(() => jwt)(
        signOut,
        { body: everywhere ? { everywhere, ...mailbox } : {} },
        new AbortController().signal,
      ),
    'resolve the host': (body, signal) => ask(validateImap, { body }, signal),
    'create the account': ({ inQa, ...body }, signal) =>
      ask(createAccount, { query: { in_qa: String(inQa) }, body }, signal),
    'announce the migration': ({ inQa, ...body }, signal) =>
      ask(setMigrationStarted, { query: { in_qa: String(inQa) }, body }, signal),
    'start the transfer': (request, signal) => ask(load, { body: writeLoad(request) }, signal),
    'ask for the status': ({ id }, signal) => ask(detailedStatus, { query: { job_id: id } }, signal),
    'ask for the statuses': async ({ ids }, signal) => {
      const asked = ids.map(async (id) => [id, await ask(detailedStatus, { query: { job_id: id } }, signal)] as const);
      const known = (await Promise.allSettled(asked)).filter((each) => each.status === 'fulfilled');
      return Object.fromEntries(known.map(({ value }) => value));
    },
    'list the transfers': (body, signal) => ask(jobsByEmail, { body }, signal),
    'check the domain': (query, signal) => verdictOf(ask(domainValidation, { query }, signal)),
    'check the phone number': (query, signal) => verdictOf(ask(phoneNumberValidation, { query }, signal)),
    'write to support': (request, signal) => ask(supportForm, { body: writeSupportForm(request) }, signal),
    'stop the transfer': ({ id }, signal) => ask(cancel, { body: { job_id: id } }, signal),
    'resume the transfer': ({ id, tokenId, ...body }, signal) =>
      ask(resume, { body: { job_id: id, ...body, ...written(tokenId) } }, signal),
    'take back what was copied': ({ id, tokenId, ...body }, signal) =>
      ask(takeBack, { body: { job_id: id, ...body, ...written(tokenId) } }, signal),
    'copy what is new': ({ id, password, destinationPassword, tokenId, ...daily }, signal) => {
      const destination = {
        ...(destinationPassword === undefined ? {} : { password: destinationPassword }),
        ...written(tokenId),
      };
      return ask(
        again,
        { body: { job_id: id, source_account: { password }, destination_account: destination, ...daily } },
        signal,
      );
    },
    'stop the daily copying': ({ id }, signal) => ask(dailyOff, { body: { job_id: id } }, signal),
    'stop forwarding': ({ id, password }, signal) => ask(forwardingOff, { body: { job_id: id, password } }, signal),
    'delete the export': ({ url }, signal) =>
      ask({ ...deleteExport, path: deletionOf(url, location.href) }, { body: {} }, signal),
  };
}

/** 400 is a verdict on what is typed, not a check that failed: the same text would be refused each time. */
async function verdictOf(check: Promise<{ readonly valid: boolean }>): Promise<{ readonly valid: boolean }> {
  try {
    return await check;
  } catch (error) {
    if (error instanceof CallError && isHTTPError(error.cause) && error.cause.response.status === 400)
      return { valid: false };
    throw error;
  }
}

function written(tokenId: string | undefined): { readonly token_id?: string } {
  return tokenId === undefined ? {} : { token_id: tokenId };
}

type StreamName = keyof typeof statusStream.events;
type Listener = {
  readonly status: (status: TransferStatus) => void;
  readonly alive: () => void;
  /** Once; nothing comes after it. */
  readonly lost: () => void;
};

/**
 * Follows a transfer until the signal aborts or the stream ends. Any end, including one by the server, is reported as
 * `lost`. The stream has only the cookie to show, and a browser that blocks cookies nothing: what it keeps back then is
 * asked for with the bearer, unless that doesn't help either.
 */
export function openStatusStream(
  id: string,
  bearer: () => string | null,
  signal: AbortSignal,
  { status, alive, lost }: Listener,
): void {
  if (signal.aborted) return;
  const query = { job_id: id } satisfies v.InferInput<typeof statusStream.Query>;
  const stream = new EventSource(`${statusStream.path}?${new URLSearchParams(query).toString()}`);
  const close = () => stream.close();
  signal.addEventListener('abort', close);
  const on = (name: StreamName, hear: (event: MessageEvent) => void) => stream.addEventListener(name, hear);
  let isLost = false;
  const isOver = () => isLost || signal.aborted;
  const lose = () => {
    close();
    if (isOver()) return;
    isLost = true;
    lost();
  };
  const ask = createApi(bearer);
  let asking: Promise<void> | null = null;
  let isDue = false;
  let helps = true;
  const askForMore = async () => {
    for (isDue = true; isDue && !isOver();) {
      isDue = false;
      const answer = await ask(detailedStatus, { query }, signal).catch(() => null);
      if (answer === null) lose();
      if (answer === null || isOver()) return;
      helps = answer.limited !== true;
      status(answer);
    }
    asking = null;
  };
  on('status', ({ data }) => {
    const read = readStatus(data);
    if (read === null) lose();
    else if (read.limited !== true || !helps || bearer() === null) status(read);
    else if (asking === null) asking = askForMore();
    else isDue = true;
  });
  // An answer that doesn't come is missed like a stream that is silent.
  on('alive', () => {
    if (asking === null) alive();
  });
  on('end', () => {
    close();
    // What was asked for may be the last status.
    if (asking === null) lose();
    else void asking.then(lose);
  });
  stream.addEventListener('error', lose);
}

/** `null` when it doesn't fit. */
function readStatus(data: unknown): TransferStatus | null {
  try {
    return v.parse(statusStream.events.status, JSON.parse(String(data)));
  } catch {
    return null;
  }
}
