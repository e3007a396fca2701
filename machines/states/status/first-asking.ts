import { failedWith } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { givingUp } from '../waiting.ts';

/** Requests a status that the page does not have yet. */
export function firstAsking(failed: 'failed' | 'pausing', unavailable: 'unavailable' | 'pausing') {
  return wizard.createStateConfig({
    invoke: {
      src: 'ask for the status',
      input: ({ context }) => ({ id: context.transferId ?? '' }),
      onDone: [
        {
          guard: { type: 'there is nothing to show', params: ({ event }) => ({ status: event.output }) },
          target: '#home',
        },
        {
          target: '#status-following',
          actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
        },
      ],
      onError: [
        { guard: failedWith('MIGRATION_ID_NOT_FOUND'), target: '#status-not-found' },
        { guard: failedWith('UNAVAILABLE'), target: unavailable },
        { target: failed },
      ],
    },
  });
}

/** The same, repeated while the page says that it failed, so that nobody has to. */
export const askingByItself = wizard.createStateConfig({
  initial: 'pausing',
  states: {
    pausing: { after: { 'long status pause': 'asking' } },
    asking: { ...givingUp('pausing'), ...firstAsking('pausing', 'pausing') },
  },
});
