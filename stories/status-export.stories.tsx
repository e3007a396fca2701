import { at } from './at.tsx';
import { AWAITING_CONTACTS, CANCELLED, EXPORTED, EXPORTING, PAUSED, TRANSFER } from './people.ts';

/** Variants of a download that share one state of the machine. */
export default { title: 'Downloads/Status' };

const asked = { transferId: TRANSFER };
const following = 'status.page.following.live.open';
const resting = 'status.page.settled.resting';
const { exports: _, ...gone } = EXPORTED;

export const Coming = at(following, { ...asked, status: EXPORTING });
export const Paused = at(following, { ...asked, status: PAUSED });
export const AwaitingContacts = at(following, { ...asked, status: AWAITING_CONTACTS });
export const There = at(resting, { ...asked, status: EXPORTED });
export const Stopped = at(resting, { ...asked, status: { ...CANCELLED, files: 'coming' } });
export const Failed = at(resting, {
  ...asked,
  status: { emailmigration: { ...CANCELLED.emailmigration, status: 'error', ended: undefined }, files: 'coming' },
});
export const Deleted = at(resting, { ...asked, status: { ...gone, files: 'deleted' } });
