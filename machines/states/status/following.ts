import { and, not, stateIn } from 'xstate';
import type { TransferStatus } from '../../../src/contract/calls/status.ts';
import { failedWith } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { givingUp } from '../waiting.ts';
import { askingForStatus } from './asking-for-status.ts';

const remember = [
  'tell of the change',
  { type: 'remember the status', params: ({ event }: { event: { status: TransferStatus } }) => event },
] as const;

/**
 * Requests the status, continuing at `missed` if that fails. A transfer that has been erased meanwhile is not found,
 * which ends its dialogs.
 */
function asking<const Missed extends string>(missed: Missed) {
  const { invoke, ...rest } = askingForStatus('#status-live', missed);
  return wizard.createStateConfig({
    ...rest,
    invoke: {
      ...invoke,
      onDone: { ...invoke.onDone, actions: ['tell of the change', invoke.onDone.actions] },
      onError: [
        {
          guard: failedWith('MIGRATION_ID_NOT_FOUND'),
          target: ['#status-not-found', '#status-acts-resting'],
          actions: 'forget the sign-in',
        },
        { target: missed },
      ],
    },
  });
}

/** The status is requested after a longer pause. */
function askingLater<const Missed extends string>(missed: Missed) {
  return {
    initial: 'pausing',
    states: {
      pausing: { after: { 'long status pause': 'asking' }, on: { 'connection.return': 'asking' } },
      asking: asking(missed),
    },
  } as const;
}

/**
 * Follows a transfer that goes on by a live stream. When the stream is lost, the status is requested after a pause, and
 * the stream is opened again; if the request fails too, the pauses get longer, and from the second failure on the
 * visitor is told.
 */
export const following = wizard.createStateConfig({
  initial: 'live',
  always: { guard: not('the transfer goes on'), target: '#status-settled' },
  states: {
    live: {
      id: 'status-live',
      entry: 'look at the clock',
      invoke: { src: 'follow the transfer', input: ({ context }) => ({ id: context.transferId ?? '' }) },
      initial: 'opening',
      on: {
        'connection.return': 'asking',
        // Another tab may have signed in.
        'page.look': { guard: and(['there is more to show', stateIn('#status-more-closed')]), target: 'asking' },
      },
      states: {
        opening: {
          ...givingUp('#status-pausing-longer'),
          on: { 'status.arrive': { target: 'open', actions: remember }, 'status.lose': '#status-pausing-longer' },
        },
        open: {
          entry: 'look at the clock',
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
    asking: asking('#status-missed'),
    missed: { ...askingLater('#status-stale'), id: 'status-missed' },
    stale: { ...askingLater('#status-stale'), id: 'status-stale', tags: 'stale' },
  },
});
