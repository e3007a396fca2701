import { at } from './at.tsx';
import { MOVING, TRANSFER } from './people.ts';

export default { title: 'States/Complete' };

const started = { ...MOVING, transferId: TRANSFER };

export const Resting = at('complete.resting', started);
export const Copying = at('complete.copying', started);
export const Copied = at('complete.copied', started);
export const NotCopied = at('complete.notCopied', started);
