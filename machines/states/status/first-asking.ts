import type { TransferStatus } from '../../../src/contract/calls/status.ts';
import { failedWith } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import type { Context } from '../../wizard.types.ts';
import { ifUnavailable } from '../unavailable.ts';
import { givingUp, waiting } from '../waiting.ts';

const arrived = ({ event }: { event: { readonly output: TransferStatus } }) => ({ status: event.output });

/** Requests a status that the page does not have yet. */
const asking = {
  src: 'ask for the status',
  input: ({ context }: { context: Context }) => ({ id: context.transferId ?? '' }),
  onDone: [
    { guard: { type: 'there is nothing to show', params: arrived }, target: '#home' },
    { target: '#status-following', actions: { type: 'remember the status', params: arrived } },
  ],
} as const;

const ifNotFound = { guard: failedWith('MIGRATION_ID_NOT_FOUND'), target: '#status-not-found' } as const;

export const firstAsking = wizard.createStateConfig({
  ...waiting('failed'),
  id: 'status-asking',
  invoke: { ...asking, onError: [ifNotFound, ifUnavailable, { target: 'failed' }] },
});

/** The same, repeated while the page says that it failed, so that nobody has to. */
export const askingByItself = wizard.createStateConfig({
  initial: 'pausing',
  states: {
    pausing: { after: { 'long status pause': 'asking' } },
    asking: { ...givingUp('pausing'), invoke: { ...asking, onError: [ifNotFound, { target: 'pausing' }] } },
  },
});
