import { at } from './at.tsx';
import { inNeed, MOVED, MOVING, TRANSFER } from './people.ts';

/** Looked at once more, when the transfer does not run any more. */
export default { title: 'Life/Complete' };

const started = { ...MOVING, transferId: TRANSFER };

export const Ended = at('complete.resting', { ...started, status: MOVED });
export const Waiting = at('complete.resting', { ...started, status: inNeed({ side: 'source', reason: 'password' }) });
