import { failedWith } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import { waiting } from './waiting.ts';

/** The last transfers of an address that was proven by a sign-in. */
export const statusFromEmail = wizard.createStateConfig({
  id: 'status-from-email',
  initial: 'asking',
  states: {
    asking: {
      ...waiting,
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
        onError: [{ guard: failedWith('UNAVAILABLE'), target: 'unavailable' }, { target: 'notFound' }],
      },
      after: { 'answer limit': 'notFound' },
    },
    showing: {
      on: {
        'transfer.open': {
          target: '#status',
          actions: ['forget the transfer', { type: 'remember the transfer', params: ({ event }) => event }],
        },
      },
    },
    notFound: { id: 'status-from-email-not-found' },
    unavailable: { tags: 'unavailable', on: { 'call.retry': 'asking', 'connection.return': 'asking' } },
  },
});
