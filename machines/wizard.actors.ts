import { fromCallback, fromPromise, type NonReducibleUnknown } from 'xstate';
import type { Capabilities } from '../src/contract/calls/capabilities.ts';
import type { TransfersByHash } from '../src/contract/calls/jobs-by-email.ts';
import type { LoadRequest } from '../src/contract/calls/load.ts';
import type { Side } from '../src/contract/calls/resume.ts';
import type { TransferStatus } from '../src/contract/calls/status.ts';
import type { SignIns } from '../src/contract/calls/sign-ins.ts';
import type { SupportRequest } from '../src/contract/calls/support-form.ts';
import type { Validated } from '../src/contract/calls/validate.ts';
import type { Provider } from '../src/contract/provider.ts';
import type { Event, Parting } from './wizard.types.ts';

/** Credentials for a mailbox; neither, if the server still has them. */
type SignIn = { password?: string; tokenId?: string };

/** A call that the portal, a test or a story provides. It rejects with an error whose `error` is a `CallFailureCode`. */
function call<Answer, Input extends NonReducibleUnknown>(name: string) {
  return fromPromise<Answer, Input>(() => {
    throw new Error(`Not provided: ${name}`);
  });
}

/** The calls of the contract, each by the name of the actor that makes it. */
export const CALLS = {
  'check the stored token': call<{ ok: true } | null, { token: string | null }>('check the stored token'),
  'ask for capabilities': call<Capabilities, { email: string }>('ask for capabilities'),
  'list the sign-ins': call<SignIns, Pick<Parting, 'jwt'>>('list the sign-ins'),
  'sign out': call<{ ok: true }, Parting>('sign out'),
  'validate the account': call<Validated, { email: string; password: string; imap?: string; provider: Provider }>(
    'validate the account',
  ),
  'resolve the host': call<{ ok: true }, { imap: string }>('resolve the host'),
  'create the account': call<{ ok: true }, { email: string; password: string; inQa: boolean }>('create the account'),
  'announce the migration': call<{ ok: true }, { email: string; inQa: boolean }>('announce the migration'),
  'start the transfer': call<{ jobid: string }, LoadRequest>('start the transfer'),
  'ask for the status': call<TransferStatus, { id: string }>('ask for the status'),
  'list the transfers': call<TransfersByHash, { hash: string }>('list the transfers'),
  /** By ID; only transfers whose status could be read. */
  'ask for the statuses': call<Readonly<Record<string, TransferStatus>>, { ids: readonly string[] }>(
    'ask for the statuses',
  ),
  'check the domain': call<{ valid: boolean }, { domain: string }>('check the domain'),
  'check the phone number': call<{ valid: boolean }, { number: string }>('check the phone number'),
  'write to support': call<{ ok: true }, SupportRequest>('write to support'),
  'stop the transfer': call<{ ok: true }, { id: string }>('stop the transfer'),
  'resume the transfer': call<{ ok: true }, { id: string; side?: Side } & SignIn>('resume the transfer'),
  'take back what was copied': call<{ ok: true }, { id: string } & SignIn>('take back what was copied'),
  'copy what is new': call<
    { jobid: string },
    { id: string; password: string; destinationPassword?: string; tokenId?: string; daily?: true }
  >('copy what is new'),
  'stop the daily copying': call<{ ok: true }, { id: string }>('stop the daily copying'),
  'stop forwarding': call<{ ok: true }, { id: string; password: string }>('stop forwarding'),
  'delete the export': call<{ ok: true }, { url: string }>('delete the export'),
};

export const ACTORS = {
  ...CALLS,
  'copy to the clipboard': call<void, { text: string }>('copy to the clipboard'),
  /**
   * Sends `status.arrive` at once and at every change, `status.beat` now and then, and `status.lose` once when the line
   * is lost.
   */
  'follow the transfer': fromCallback<Event, { id: string }>(() => {
    throw new Error('Not provided: follow the transfer');
  }),
};
