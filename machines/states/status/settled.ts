import { failureOf } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { askingForStatus } from './asking-for-status.ts';

/** The files may have been deleted all the same, so the status is requested. */
const notDeleted = {
  target: 'looking',
  actions: { type: 'show the message', params: failureOf('export deletion failed') },
} as const;

const askingToDelete = { guard: 'there are exports', target: 'confirming' } as const;

/**
 * Nothing changes by itself any more, but another tab may begin something: the status is read again when the visitor
 * returns to the page. A finished export can be deleted here, after a question.
 */
export const settled = wizard.createStateConfig({
  initial: 'resting',
  states: {
    resting: { on: { 'export.delete': askingToDelete, 'page.look': 'looking' } },
    looking: { ...askingForStatus('#status-following', 'resting'), on: { 'export.delete': askingToDelete } },
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
