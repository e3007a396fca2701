import type { Context } from '../wizard.types.ts';

/** Leads from an order that another transfer of the same mailbox prevented to that transfer. */
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
