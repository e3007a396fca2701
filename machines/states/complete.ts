import { wizard } from '../wizard.setup.ts';

/** Step 4: the transfer runs; its ID is shown and can be copied. */
export const complete = wizard.createStateConfig({
  id: 'complete',
  initial: 'resting',
  on: {
    'transfer.open': {
      target: '#status',
      actions: ['forget the transfer', { type: 'remember the transfer', params: ({ event }) => event }],
    },
  },
  states: {
    resting: { on: { 'id.copy': 'copying' } },
    copying: {
      invoke: {
        src: 'copy to the clipboard',
        input: ({ context }) => ({ text: context.transferId ?? '' }),
        onDone: 'copied',
        onError: 'notCopied',
      },
      after: { 'answer limit': 'notCopied' },
    },
    copied: { after: { 'copy pause': 'resting' }, on: { 'id.copy': 'copying' } },
    notCopied: { on: { 'id.copy': 'copying' } },
  },
});
