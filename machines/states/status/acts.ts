import type { Act } from '../../owner-acts.ts';
import { wizard } from '../../wizard.setup.ts';
import { again, daily } from './again.ts';
import { forwardingOff } from './forwarding-off.ts';
import { mending } from './mending.ts';
import { dailyOff, stopping } from './stopping.ts';
import { takingBack } from './taking-back.ts';

function opening<const Target extends string>(act: Act, target: Target) {
  return {
    guard: {
      type: 'the act is asked for and offered',
      params: ({ event }: { event: { readonly act: Act } }) => ({ asked: event.act, act }),
    },
    target,
    actions: 'forget the sign-in',
  } as const;
}

/** A region next to the status page: what the owner can do with the transfer, each act in its own dialog. */
export const acts = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: {
      id: 'status-acts-resting',
      on: {
        'act.open': [
          opening('stop', 'open.stopping'),
          opening('mend', 'open.mending'),
          opening('take back', 'open.takingBack'),
          opening('again', 'open.again'),
          opening('receipt', 'open.receipt'),
          opening('forwarding', 'open.forwarding'),
          opening('daily', 'open.daily'),
          opening('daily off', 'open.dailyOff'),
        ],
      },
    },
    open: {
      initial: 'receipt',
      on: { 'modal.close': { target: 'resting', actions: 'forget the sign-in' } },
      states: { stopping, mending, takingBack, again, receipt: {}, forwarding: forwardingOff, daily, dailyOff },
    },
  },
});
