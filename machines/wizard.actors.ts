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
function call<Answer, Input extends NonReducibleUnknown>() {
  return fromPromise<Answer, Input>(({ self }) => {
    throw new Error('Not provided', { cause: self.src });
  });
}

/** The calls of the contract, each by the name of the actor that makes it. */
export const CALLS = {
  'check the stored token': call<{ ok: true } | null, { token: string | null }>(),
  'ask for capabilities': call<Capabilities, { email: string }>(),
  'list the sign-ins': call<SignIns, Pick<Parting, 'jwt'>>(),
  'sign out': call<{ ok: true }, Parting>(),
  'validate the account': call<Validated, { email: string; password: string; imap?: string; provider: Provider }>(),
  'resolve the host': call<{ ok: true }, { imap: string }>(),
  'create the account': call<{ ok: true }, { email: string; password: string; inQa: boolean }>(),
  'announce the migration': call<{ ok: true }, { email: string; inQa: boolean }>(),
  'start the transfer': call<{ jobid: string }, LoadRequest>(),
  'ask for the status': call<TransferStatus, { id: string }>(),
  'list the transfers': call<TransfersByHash, { hash: string }>(),
  /** By ID; only transfers whose status could be read. */
  'ask for the statuses': call<Readonly<Record<string, TransferStatus>>, { ids: readonly string[] }>(),
  'check the domain': call<{ valid: boolean }, { domain: string }>(),
  'check the phone number': call<{ valid: boolean }, { number: string }>(),
  'write to support': call<{ ok: true }, SupportRequest>(),
  'stop the transfer': call<{ ok: true }, { id: string }>(),
  'resume the transfer': call<{ ok: true }, { id: string; side?: Side } & SignIn>(),
  'take back what was copied': call<{ ok: true }, { id: string } & SignIn>(),
  'copy what is new': call<
    { jobid: string },
    { id: string; password: string; destinationPassword?: string; tokenId?: string; daily?: true }
  >(),
  'stop the daily copying': call<{ ok: true }, { id: string }>(),
  'stop forwarding': call<{ ok: true }, { id: string; password: string }>(),
  'delete the export': call<{ ok: true }, { url: string }>(),
};

export const ACTORS = {
  ...CALLS,
  'copy to the clipboard': call<void, { text: string }>(),
  /**
   * Sends `status.arrive` at once and at every change, `status.beat` now and then, and `status.lose` once when the line
   * is lost.
   */
  'follow the transfer': fromCallback<Event, { id: string }>(() => {
    throw new Error('Not provided: follow the transfer');
  }),
};
