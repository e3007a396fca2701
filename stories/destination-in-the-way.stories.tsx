import { at } from './at.tsx';
import { SIGNED_IN, TRANSFER } from './people.ts';

/** Another transfer of the same mailbox prevents a move. */
export default { title: 'Life/Destination' };

const shown = 'destination.banner.shown';

export const Completed = at(shown, {
  ...SIGNED_IN,
  message: { about: 'account creation', code: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED' },
  transferInTheWay: { id: TRANSFER, isCompleted: true },
});
