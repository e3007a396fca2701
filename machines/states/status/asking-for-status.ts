import { wizard } from '../../wizard.setup.ts';
import { givingUp } from '../waiting.ts';

/** The status is asked for beside what is shown; with an answer it goes on at `answered`, without one at `missed`. */
export function askingForStatus<const Answered extends string, const Missed extends string>(
  answered: Answered,
  missed: Missed,
) {
  return wizard.createStateConfig({
    ...givingUp(missed),
    invoke: {
      src: 'ask for the status',
      input: ({ context }) => ({ id: context.transferId ?? '' }),
      onDone: {
        target: answered,
        actions: { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
      },
      onError: missed,
    },
  });
}
