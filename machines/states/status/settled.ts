import { failureOf } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { givingUp, waiting } from '../waiting.ts';

const notDeleted = {
  target: 'resting',
  actions: { type: 'show the message', params: failureOf('export deletion failed') },
} as const;

const askingToDelete = { guard: 'there are exports', target: 'confirming' } as const;

/**
 * Nothing changes by itself any more, but something may be begun in another tab: who looks at the page again is shown how
 * it stands now. The finished export can be deleted at once; the visitor is asked first.
 */
export const settled = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: { on: { 'export.delete': askingToDelete, 'page.look': 'looking' } },
    looking: {
      ...givingUp('resting'),
      on: { 'export.delete': askingToDelete },
      invoke: {
        src: 'ask for the status',
        input: ({ context }) => ({ id: context.transferId ?? '' }),
        onDone: {
          target: '#status-following',
          actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
        },
        onError: 'resting',
      },
    },
    confirming: { on: { 'export.keep': 'resting', 'modal.close': 'resting', 'export.confirm': 'deleting' } },
    deleting: {
      ...waiting(notDeleted),
      invoke: {
        src: 'delete the export',
        input: ({ context }) => ({ url: context.status?.exports?.[0]?.url ?? '' }),
        onDone: '#status-asking',
        onError: notDeleted,
      },
    },
  },
});
