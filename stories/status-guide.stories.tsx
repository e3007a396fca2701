import { at } from './at.tsx';
import { MOVED, PAT, TRANSFER } from './people.ts';

export default { title: 'States/Status' };

const resting = 'status.page.settled.resting';
const { contactsmigration: _, ...mail } = MOVED;
const movedTo = (destination: 'yahoo' | 'google' | 'office365' | 'aol' | 'other', to: string) => ({
  transferId: TRANSFER,
  status: { ...mail, destination, route: { from: PAT, to } },
});

export const GuideClosed = at('status.guide.closed', movedTo('google', 'pat.rivera@gmail.com'), resting);
export const GuideYahoo = at('status.guide.yahoo', movedTo('yahoo', PAT), resting);
export const GuideGoogle = at('status.guide.google', movedTo('google', 'pat.rivera@gmail.com'), resting);
export const GuideOffice365 = at('status.guide.office365', movedTo('office365', 'pat.rivera@outlook.com'), resting);
export const GuideAol = at('status.guide.aol', movedTo('aol', 'pat.rivera@aol.com'), resting);
export const GuideOther = at('status.guide.other', movedTo('other', 'pat@mail.example'), resting);
