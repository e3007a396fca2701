import type { Side } from '../../../src/contract/calls/resume.ts';
import type { TransferStatus } from '../../../src/contract/calls/status.ts';
import { attentionOf } from '../../owner-acts.ts';
import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { closedWhileCalling, passwordForm, refusedAt, seekingConsent, typing } from './act.ts';

const { failed, failures, unproven } = refusedAt('#status-mending-refused', 'mend refused', []);

/**
 * What the transfer needs from its owner to continue: a new password, a new sign-in at the provider, or room in the
 * mailbox.
 */
export const mending = wizard.createStateConfig({
  initial: 'asking',
  states: {
    asking: {
      initial: 'editing',
      on: {
        ...typing,
        ...seekingConsent('mend', 'a consent is wanted'),
        // What was typed for one mailbox is not sent to the other.
        'status.change': {
          guard: { type: 'something else is needed', params: ({ event }) => event },
          target: '.editing',
          actions: 'forget the sign-in',
        },
        'act.submit': [
          { guard: 'a consent is wanted' },
          { guard: 'the new password is missing', target: '.passwordMissing' },
          { target: 'calling' },
        ],
      },
      states: passwordForm('status-mending-refused'),
    },
    calling: {
      ...waiting(failed),
      id: 'status-mending-calling',
      on: closedWhileCalling,
      invoke: {
        src: 'resume the transfer',
        input: ({ context: { transferId, status, typed, tokenId } }) => ({
          id: transferId ?? '',
          ...sideOf(status),
          ...(typed.password === '' ? {} : { password: typed.password }),
          ...(tokenId === null ? {} : { tokenId }),
        }),
        onDone: {
          target: '#status-asking',
          actions: ['forget the sign-in', { type: 'show the message', params: { message: { about: 'mended' } } }],
        },
        onError: [unproven, ...failures],
      },
    },
  },
});

/** On return from a sign-in the status isn't known yet, but the server knows which side needs attention. */
function sideOf(status: TransferStatus | null): { readonly side?: Side } {
  const attention = attentionOf(status);
  return attention === undefined ? {} : { side: attention.side };
}
