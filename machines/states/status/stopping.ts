import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { closedWhileCalling, refusedAt } from './act.ts';

const { failed, failures } = refusedAt('refused', 'stop refused');

/** The owner is asked, and then the transfer is stopped; what is copied stays. */
export const stopping = wizard.createStateConfig({
  initial: 'confirming',
  states: {
    confirming: { on: { 'act.submit': 'calling' } },
    calling: {
      ...waiting(failed),
      on: closedWhileCalling,
      invoke: {
        src: 'stop the transfer',
        input: ({ context }) => ({ id: context.transferId ?? '' }),
        onDone: {
          target: '#status-asking',
          actions: { type: 'show the message', params: { message: { about: 'stop asked' } } },
        },
        onError: failures,
      },
    },
    refused: { exit: 'forget the message', on: { 'act.submit': 'calling' } },
  },
});
