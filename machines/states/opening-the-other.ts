import type { Context } from '../wizard.types.ts';

/** From a page whose order another transfer of the same mailbox stood in the way of, to that transfer. */
export const openingTheOther = {
  'transfer.open': {
    guard: 'a transfer is in the way',
    target: '#status',
    actions: [
      'forget the transfer',
      {
        type: 'remember the transfer',
        params: ({ context }: { context: Context }) => ({ id: context.transferInTheWay?.id ?? '' }),
      },
    ],
  },
} as const;
