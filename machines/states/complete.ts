import { not } from 'xstate';
import { readTransferId, statusQuery } from '../../src/contract/page-address.ts';
import { wizard } from '../wizard.setup.ts';
import { givingUp } from './waiting.ts';

/**
 * Step 4: the transfer is running, as far as is known; its ID is shown and can be copied. Whoever looks at the page later
 * is told when that is over.
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
    // By Back, once it has been ordered and the passwords are forgotten: Home would forget the transfer's ID too.
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
