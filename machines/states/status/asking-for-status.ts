import { wizard } from '../../wizard.setup.ts';
import { givingUp } from '../waiting.ts';

/** Requests the status while the page stays; continues at `answered` with an answer, at `missed` without. */
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
