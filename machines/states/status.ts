import { not } from 'xstate';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { PAGE, readError, readTransferId, statusQuery } from '../../src/contract/page-address.ts';
import { failedWith, failureOf } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import { banner } from './banner.ts';
import { showMore } from './show-more.ts';
import { ifUnavailable, tryingAgain, unavailable } from './unavailable.ts';
import { givingUp, waiting } from './waiting.ts';

const remember = {
  type: 'remember the status',
  params: ({ event }: { event: { status: TransferStatus } }) => event,
} as const;

/**
 * While it goes on, the transfer is followed live. When the line is lost, its status is asked for after a pause, and then it is
 * followed anew; where that fails as well, the pauses are longer.
 */
const following = wizard.createStateConfig({
  initial: 'live',
  always: { guard: not('the transfer goes on'), target: '#status-settled' },
  states: {
    live: {
      invoke: { src: 'follow the transfer', input: ({ context }) => ({ id: context.transferId ?? '' }) },
      initial: 'opening',
      on: { 'connection.return': 'asking' },
      states: {
        opening: {
          ...givingUp('#status-pausing-longer'),
          on: { 'status.arrive': { target: 'open', actions: remember }, 'status.lose': '#status-pausing-longer' },
        },
        open: {
          after: { 'status silence': '#status-pausing' },
          on: {
            'status.arrive': { target: 'open', reenter: true, actions: remember },
            'status.beat': { target: 'open', reenter: true },
            'status.lose': '#status-pausing',
          },
        },
      },
    },
    pausing: { id: 'status-pausing', after: { 'status pause': 'asking' }, on: { 'connection.return': 'asking' } },
    pausingLonger: {
      id: 'status-pausing-longer',
      after: { 'long status pause': 'asking' },
      on: { 'connection.return': 'asking' },
    },
    asking: {
      ...givingUp('pausingLonger'),
      invoke: {
        src: 'ask for the status',
        input: ({ context }) => ({ id: context.transferId ?? '' }),
        onDone: {
          target: 'live',
          actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
        },
        onError: 'pausingLonger',
      },
    },
  },
});

const notDeleted = {
  target: 'resting',
  actions: { type: 'show the message', params: failureOf('export deletion failed') },
} as const;

/** The finished export can be deleted at once; the visitor is asked first. */
const settled = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: { on: { 'export.delete': { guard: 'there are exports', target: 'confirming' } } },
    confirming: { on: { 'export.keep': 'resting', 'modal.close': 'resting', 'export.confirm': 'deleting' } },
    deleting: {
      ...waiting(notDeleted),
      invoke: {
        src: 'delete the export',
        input: ({ context }) => ({ url: context.status?.exports?.[0]?.url ?? '' }),
        onDone: '#status-asking',
        onError: notDeleted,
      },
    },
  },
});

/** What became of a transfer, by its ID. */
export const status = wizard.createStateConfig({
  id: 'status',
  meta: {
    step: 4,
    page: {
      path: PAGE.status,
      visit: (ask) => ({ type: 'status.visit', migrationId: readTransferId(ask), error: readError(ask) }),
      query: ({ transferId }) => (transferId === null ? {} : statusQuery(transferId)),
    },
  },
  type: 'parallel',
  states: {
    page: {
      initial: 'asking',
      states: {
        asking: {
          ...waiting('failed'),
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
              ifUnavailable,
              { target: 'failed' },
            ],
          },
        },
        following: { ...following, id: 'status-following' },
        settled: { ...settled, id: 'status-settled' },
        notFound: { id: 'status-not-found' },
        failed: { on: tryingAgain('asking') },
        unavailable: unavailable('asking'),
      },
    },
    banner: banner('banner life'),
    more: showMore,
  },
});
