import { not } from 'xstate';
import { failedWith, failureCodeOf } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import { banner } from './banner.ts';
import { waiting } from './waiting.ts';

/** While it goes on, the transfer is followed live; when the line is lost, it is asked for every few seconds. */
const following = wizard.createStateConfig({
  initial: 'live',
  always: { guard: not('the transfer goes on'), target: '#status-settled' },
  states: {
    live: {
      invoke: { src: 'follow the transfer', input: ({ context }) => ({ id: context.transferId ?? '' }) },
      on: {
        'status.arrive': { actions: { type: 'remember the status', params: ({ event }) => event } },
        'status.lose': 'pausing',
      },
    },
    pausing: { after: { 'status pause': 'asking' }, on: { 'connection.return': 'asking' } },
    asking: {
      invoke: {
        src: 'ask for the status',
        input: ({ context }) => ({ id: context.transferId ?? '' }),
        onDone: {
          target: 'pausing',
          actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
        },
        onError: 'pausing',
      },
      after: { 'answer limit': 'pausing' },
    },
  },
});

/** The finished export can be deleted at once; the visitor is asked first. */
const settled = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: { on: { 'export.delete': { guard: 'there are exports', target: 'confirming' } } },
    confirming: { on: { 'export.keep': 'resting', 'modal.close': 'resting', 'export.confirm': 'deleting' } },
    deleting: {
      ...waiting,
      invoke: {
        src: 'delete the export',
        input: ({ context }) => ({ url: context.status?.exports?.[0]?.url ?? '' }),
        onDone: '#status-asking',
        onError: {
          target: 'resting',
          actions: {
            type: 'show the message',
            params: ({ event }) => ({ message: { about: 'export deletion failed', code: failureCodeOf(event.error) } }),
          },
        },
      },
      after: {
        'answer limit': {
          target: 'resting',
          actions: {
            type: 'show the message',
            params: { message: { about: 'export deletion failed', code: 'GENERAL_ERROR' } },
          },
        },
      },
    },
  },
});

/** What became of a transfer, by its ID. */
export const status = wizard.createStateConfig({
  id: 'status',
  type: 'parallel',
  states: {
    page: {
      initial: 'asking',
      states: {
        asking: {
          ...waiting,
          id: 'status-asking',
          invoke: {
            src: 'ask for the status',
            input: ({ context }) => ({ id: context.transferId ?? '' }),
            onDone: [
              {
                guard: { type: 'there is nothing to show', params: ({ event }) => ({ status: event.output }) },
                target: '#home',
              },
              {
                target: 'following',
                actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
              },
            ],
            onError: [
              { guard: failedWith('MIGRATION_ID_NOT_FOUND'), target: 'notFound' },
              { guard: failedWith('UNAVAILABLE'), target: 'unavailable' },
              { target: 'failed' },
            ],
          },
          after: { 'answer limit': 'failed' },
        },
        following,
        settled: { ...settled, id: 'status-settled' },
        notFound: { id: 'status-not-found' },
        failed: { on: { 'call.retry': 'asking', 'connection.return': 'asking' } },
        unavailable: { tags: 'unavailable', on: { 'call.retry': 'asking', 'connection.return': 'asking' } },
      },
    },
    banner: banner('banner life'),
  },
});
