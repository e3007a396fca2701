import { at } from './at.tsx';
import { EMPTY, EXPORTED, MOVED, MOVING, ordered, TO_GMAIL, TRANSFER } from './people.ts';

/** What the page shows for a finished transfer, by destination. */
export default { title: 'Finished/Status' };

const { contactsmigration: _, ...mail } = MOVED;
const done = { transferId: TRANSFER, status: mail };
const resting = 'status.page.settled.resting';

export const AtYahoo = at(resting, { ...ordered(MOVING), ...done });
export const Elsewhere = at(resting, { ...ordered(TO_GMAIL), ...done });
export const Unknown = at(resting, done);
export const Empty = at(resting, { ...ordered(MOVING), status: EMPTY });
export const AsFiles = at(resting, { transferId: TRANSFER, status: EXPORTED });
