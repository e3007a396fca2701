import { failedWith } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { closedWhileCalling, LOOKING, passwordForm, refusedAt, seekingConsent, typing } from './act.ts';

const { failed, failures } = refusedAt('refused', 'take-back refused', LOOKING);
const { unproven } = refusedAt('#status-taking-back-unproven', 'take-back refused', LOOKING);

/** The owner is asked, and signs in to the new mailbox where the server wants it; then what was copied is taken back. */
export const takingBack = wizard.createStateConfig({
  initial: 'confirming',
  states: {
    confirming: { id: 'status-taking-back-confirming', on: { 'act.submit': 'calling' } },
    signingIn: {
      initial: 'editing',
      on: {
        ...typing,
        ...seekingConsent('take back', 'the destination signs in elsewhere'),
        'act.submit': [
          { guard: 'the destination signs in elsewhere' },
          { guard: 'the password is empty', target: '.passwordMissing' },
          { target: 'calling' },
        ],
      },
      states: passwordForm('status-taking-back-unproven'),
    },
    calling: {
      ...waiting(failed),
      on: closedWhileCalling,
      invoke: {
        src: 'take back what was copied',
        input: ({ context: { transferId, typed, tokenId } }) => ({
          id: transferId ?? '',
          ...(typed.password === '' ? {} : { password: typed.password }),
          ...(tokenId === null ? {} : { tokenId }),
        }),
        onDone: {
          target: '#status-asking',
          actions: [
            'forget the sign-in',
            { type: 'show the message', params: { message: { about: 'take-back asked' } } },
          ],
        },
        onError: [
          {
            guard: { type: 'a sign-in is wanted', params: failedWith('INVALID_CREDENTIALS').params },
            target: 'signingIn',
          },
          unproven,
          ...failures,
        ],
      },
    },
    refused: { exit: 'forget the message', on: { 'act.submit': 'calling' } },
  },
});
