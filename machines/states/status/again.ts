import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { closedWhileCalling, refusedAt, seekingConsent, typing } from './act.ts';

const { failed, failures } = refusedAt('#status-again-refused', 'again refused');

/** A new transfer between the same mailboxes, for what came since: both are signed in to once more. */
export const again = wizard.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      id: 'status-again',
      initial: 'editing',
      on: {
        ...typing,
        ...seekingConsent('again', 'the sign-in elsewhere comes first'),
        'destination-password.type': {
          target: '.editing',
          actions: { type: 'type', params: ({ event }) => ({ destinationPassword: event.password }) },
        },
        'act.submit': [
          { guard: 'the sign-in elsewhere comes first' },
          { guard: 'the password is empty', target: '.passwordMissing' },
          { guard: 'the destination password is missing', target: '.destinationPasswordMissing' },
          { target: 'calling' },
        ],
      },
      states: {
        editing: {},
        passwordMissing: {},
        destinationPasswordMissing: {},
        refused: { id: 'status-again-refused', exit: 'forget the message' },
      },
    },
    calling: {
      ...waiting(failed),
      on: closedWhileCalling,
      invoke: {
        src: 'copy what is new',
        input: ({ context: { transferId, typed, tokenId } }) => ({
          id: transferId ?? '',
          password: typed.password,
          ...(typed.destinationPassword === '' ? {} : { destinationPassword: typed.destinationPassword }),
          ...(tokenId === null ? {} : { tokenId }),
        }),
        onDone: {
          target: '#status',
          actions: [
            'forget the sign-in',
            'forget the transfer',
            { type: 'remember the transfer', params: ({ event }) => ({ id: event.output.jobid }) },
          ],
        },
        onError: failures,
      },
    },
  },
});
