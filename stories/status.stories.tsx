import { at } from './at.tsx';
import { EXPORTED, MOVED, RUNNING, TRANSFER } from './people.ts';

export default { title: 'States/Status' };

const asked = { transferId: TRANSFER };
const running = { ...asked, status: RUNNING };
const moved = { ...asked, status: MOVED };
const exported = { ...asked, status: EXPORTED };
const message = { about: 'export deletion failed', code: 'GENERAL_ERROR' } as const;
const resting = 'status.page.settled.resting';

export const PageAskingPrompt = at('status.page.asking.prompt', asked);
export const PageAskingSlow = at('status.page.asking.slow', asked);
export const PageFollowingLiveOpening = at('status.page.following.live.opening', running);
export const PageFollowingLiveOpen = at('status.page.following.live.open', running);
export const PageFollowingPausing = at('status.page.following.pausing', running);
export const PageFollowingPausingLonger = at('status.page.following.pausingLonger', running);
export const PageFollowingAsking = at('status.page.following.asking', running);
export const PageSettledResting = at(resting, moved);
export const PageSettledConfirming = at('status.page.settled.confirming', exported);
export const PageSettledDeletingPrompt = at('status.page.settled.deleting.prompt', exported);
export const PageSettledDeletingSlow = at('status.page.settled.deleting.slow', exported);
export const PageNotFound = at('status.page.notFound');
export const PageFailed = at('status.page.failed', asked);
export const PageUnavailable = at('status.page.unavailable', asked);

export const BannerHidden = at('status.banner.hidden', exported, resting);
export const BannerShown = at('status.banner.shown', { ...exported, message }, resting);
export const BannerHeld = at('status.banner.held', { ...exported, message }, resting);
