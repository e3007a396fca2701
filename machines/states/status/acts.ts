import { not } from 'xstate';
import type { Act } from '../../owner-acts.ts';
import { wizard } from '../../wizard.setup.ts';
import { givingUp } from '../waiting.ts';
import { again } from './again.ts';
import { forwardingOff } from './forwarding-off.ts';
import { mending } from './mending.ts';
import { stopping } from './stopping.ts';
import { takingBack } from './taking-back.ts';

function opening<const Target extends string>(act: Act, target: Target) {
  return {
    guard: {
      type: 'the act is asked for and offered',
      params: ({ event }: { event: { readonly act: Act } }) => ({ asked: event.act, act }),
    },
    target,
    actions: 'forget what was typed',
  } as const;
}

/** Beside the status page: what the transfer's owner may do with it, each in a dialog of its own. */
export const acts = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: {
      id: 'status-acts-resting',
      initial: 'still',
      on: {
        'act.open': [
          opening('stop', 'open.stopping'),
          opening('mend', 'open.mending'),
          opening('take back', 'open.takingBack'),
          opening('again', 'open.again'),
          opening('receipt', 'open.receipt'),
          opening('forwarding', 'open.forwarding'),
        ],
      },
      states: {
        still: {},
        /** What is being taken back is counted on the page, which follows nothing after the end. */
        watching: {
          id: 'status-acts-watching',
          always: { guard: not('there is more to take back'), target: 'still' },
          after: { 'long status pause': 'asking' },
        },
        asking: {
          ...givingUp('watching'),
          invoke: {
            src: 'ask for the status',
            input: ({ context }) => ({ id: context.transferId ?? '' }),
            onDone: {
              target: 'watching',
              actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
            },
            onError: 'watching',
          },
        },
      },
    },
    open: {
      initial: 'receipt',
      on: { 'modal.close': { target: 'resting', actions: 'forget the sign-in' } },
      states: { stopping, mending, takingBack, again, receipt: {}, forwarding: forwardingOff },
    },
  },
});
