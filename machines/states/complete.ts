import { not } from 'xstate';
import { readTransferId, statusQuery } from '../../src/contract/page-address.ts';
import { wizard } from '../wizard.setup.ts';
import { givingUp } from './waiting.ts';

/**
 * Step 4: the transfer counts as running until its status is known; its ID is shown and can be copied. The status is read
 * again when the visitor returns to the page, which then says if the transfer has ended.
 */
export const complete = wizard.createStateConfig({
  id: 'complete',
  meta: {
    step: 4,
    page: {
      path: '/complete',
      visit: (ask) => ({ type: 'complete.visit', migrationId: readTransferId(ask) }),
      query: ({ transferId }) => (transferId === null ? {} : statusQuery(transferId)),
    },
  },
  initial: 'resting',
  invoke: {
    src: 'ask for the status',
    input: ({ context }) => ({ id: context.transferId ?? '' }),
    onDone: { actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) } },
    onError: {},
  },
  on: {
    // Back after the order, when the passwords are forgotten, stays here: Home would forget the transfer's ID as well.
    'start-migration.visit': { guard: not('the source can sign in') },
    'transfer.open': {
      target: '#status',
      actions: ['forget the transfer', { type: 'remember the transfer', params: ({ event }) => event }],
    },
  },
  states: {
    resting: { on: { 'id.copy': 'copying', 'page.look': { target: '#complete', reenter: true } } },
    copying: {
      ...givingUp('notCopied'),
      invoke: {
        src: 'copy to the clipboard',
        input: ({ context }) => ({ text: context.transferId ?? '' }),
        onDone: 'copied',
        onError: 'notCopied',
      },
    },
    copied: { after: { 'copy pause': 'resting' }, on: { 'id.copy': 'copying' } },
    notCopied: { on: { 'id.copy': 'copying' } },
  },
});
