import { wizard } from '../wizard.setup.ts';
import { ifUnavailable, unavailable } from './unavailable.ts';
import { givingUp, waiting } from './waiting.ts';

/** The last transfers of an address that was proven by a sign-in. */
export const statusFromEmail = wizard.createStateConfig({
  id: 'status-from-email',
  meta: { step: 4, page: { path: '/status-from-email', visit: () => ({ type: 'status-from-email.visit' }) } },
  initial: 'asking',
  states: {
    asking: {
      ...waiting('notFound'),
      invoke: {
        src: 'list the transfers',
        input: ({ context }) => ({ hash: context.emailHash ?? '' }),
        onDone: [
          {
            guard: { type: 'there are transfers', params: ({ event }) => ({ transfers: event.output }) },
            target: 'showing',
            actions: { type: 'remember the transfers', params: ({ event }) => ({ transfers: event.output }) },
          },
          { target: 'notFound' },
        ],
        onError: [ifUnavailable, { target: 'notFound' }],
      },
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
    unavailable: unavailable('asking'),
  },
});
