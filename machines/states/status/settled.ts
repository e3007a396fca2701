import { failureOf } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';

const notDeleted = {
  target: 'resting',
  actions: { type: 'show the message', params: failureOf('export deletion failed') },
} as const;

/** The finished export can be deleted at once; the visitor is asked first. */
export const settled = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: { on: { 'export.delete': { guard: 'there are exports', target: 'confirming' } } },
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
