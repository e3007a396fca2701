import { isExport } from '../../../src/contract/transfer-status.ts';
import { wizard } from '../../wizard.setup.ts';
import type { ActRefused, Context, Message } from '../../wizard.types.ts';
import { waiting } from '../waiting.ts';
import { LOOKING, refusedPlainly } from './act.ts';

/** Stops the transfer once the owner has confirmed. */
function confirming<const Looks extends Parameters<typeof refusedPlainly>[1]>(
  src: 'stop the transfer' | 'stop the daily copying',
  refused: Extract<ActRefused, 'stop refused' | 'daily-off refused'>,
  done: (said: { context: Context }) => { message: Message },
  looks: Looks,
) {
  const { failed, failures } = refusedPlainly(refused, looks);
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
            actions: { type: 'show the message', params: done },
          },
          onError: failures,
        },
      },
      refused: { exit: 'forget the message', on: { 'act.submit': 'calling' } },
    },
  });
}

/** What was copied stays, but an export leaves nothing. */
export const stopping = confirming(
  'stop the transfer',
  'stop refused',
  ({ context: { status } }) => ({ message: { about: isExport(status ?? {}) ? 'download stop asked' : 'stop asked' } }),
  [],
);
export const dailyOff = confirming(
  'stop the daily copying',
  'daily-off refused',
  () => ({ message: { about: 'daily stopped' } }),
  LOOKING,
);
