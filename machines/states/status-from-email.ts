import type { TransfersByHash } from '../../src/contract/calls/jobs-by-email.ts';
import { wizard } from '../wizard.setup.ts';
import type { Context } from '../wizard.types.ts';
import { ifUnavailable, unavailable } from './unavailable.ts';
import { givingUp, waiting } from './waiting.ts';

const arrived = ({ event }: { event: { readonly output: TransfersByHash } }) => ({ transfers: event.output });
const notFound = '#status-from-email-not-found';

const listing = {
  src: 'list the transfers',
  input: ({ context }: { context: Context }) => ({ hash: context.emailHash ?? '' }),
  onDone: [
    {
      guard: { type: 'there are transfers', params: arrived },
      target: '#status-from-email.showing',
      actions: { type: 'remember the transfers', params: arrived },
    },
    notFound,
  ],
} as const;

/** The last transfers of an address that was proven by a sign-in. */
export const statusFromEmail = wizard.createStateConfig({
  id: 'status-from-email',
  meta: { step: 4, page: { path: '/status-from-email', visit: () => ({ type: 'status-from-email.visit' }) } },
  initial: 'asking',
  states: {
    asking: {
      ...waiting('notFound'),
      invoke: { ...listing, onError: [ifUnavailable, notFound] },
    },
    showing: {
      // The list is shown at once, and each status once it is known.
      initial: 'asking',
      states: {
        asking: {
          ...givingUp('told'),
          invoke: {
            src: 'ask for the statuses',
            input: ({ context }) => ({ ids: context.transfers.map(({ id }) => id) }),
            onDone: {
              target: 'told',
              actions: { type: 'remember the statuses', params: ({ event }) => ({ statuses: event.output }) },
            },
            onError: 'told',
          },
        },
        // The statuses are read again when the visitor returns to the page.
        told: { on: { 'page.look': 'asking' } },
      },
      on: {
        'transfer.open': {
          target: '#status',
          actions: [
            'forget the transfer',
            { type: 'remember the transfer', params: ({ event }) => event },
            'remember where the transfer goes',
          ],
        },
      },
    },
    notFound: { id: 'status-from-email-not-found' },
    // It is also repeated by itself, so that nobody has to.
    unavailable: {
      ...unavailable('asking'),
      initial: 'pausing',
      states: {
        pausing: { after: { 'long status pause': 'asking' } },
        asking: {
          ...givingUp('pausing'),
          invoke: { ...listing, onError: [{ ...ifUnavailable, target: 'pausing' }, notFound] },
        },
      },
    },
  },
});
