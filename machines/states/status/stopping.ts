import { wizard } from '../../wizard.setup.ts';
import type { ActRefused, Message } from '../../wizard.types.ts';
import { waiting } from '../waiting.ts';
import { refusedPlainly } from './act.ts';

/** The owner is asked, and then it is stopped. */
function confirming(
  src: 'stop the transfer' | 'stop the daily copying',
  refused: Extract<ActRefused, 'stop refused' | 'daily-off refused'>,
  done: Extract<Message['about'], 'stop asked' | 'daily stopped'>,
) {
  const { failed, failures } = refusedPlainly(refused);
  return wizard.createStateConfig({
    initial: 'confirming',
    states: {
      confirming: { on: { 'act.submit': 'calling' } },
      calling: {
        ...waiting(failed),
        on: { 'modal.close': '#status-asking' },
        invoke: {
          src,
          input: ({ context }) => ({ id: context.transferId ?? '' }),
          onDone: {
            target: '#status-asking',
            actions: { type: 'show the message', params: { message: { about: done } } },
          },
          onError: failures,
        },
      },
      refused: { exit: 'forget the message', on: { 'act.submit': 'calling' } },
    },
  });
}

/** What is copied stays. */
export const stopping = confirming('stop the transfer', 'stop refused', 'stop asked');
export const dailyOff = confirming('stop the daily copying', 'daily-off refused', 'daily stopped');
