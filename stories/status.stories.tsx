import { at } from './at.tsx';
import { BLANK, EXPORTED, MOVED, RUNNING, TRANSFER } from './people.ts';

export default { title: 'States/Status' };

const asked = { transferId: TRANSFER };
const running = { ...asked, status: RUNNING };
const moved = { ...asked, status: MOVED };
const exported = { ...asked, status: EXPORTED };
const message = { about: 'export deletion failed', code: 'GENERAL_ERROR' } as const;
const limited = { ...asked, status: { ...RUNNING, limited: true as const } };
const typed = { ...BLANK.typed, email: 'pat@sanbrunocable.example', password: 'correct horse' };
const open = 'status.page.following.live.open';
const resting = 'status.page.settled.resting';

export const PageAskingPrompt = at('status.page.asking.prompt', asked);
export const PageAskingSlow = at('status.page.asking.slow', asked);
export const PageFollowingLiveOpening = at('status.page.following.live.opening', running);
export const PageFollowingLiveOpen = at('status.page.following.live.open', running);
export const PageFollowingPausing = at('status.page.following.pausing', running);
export const PageFollowingPausingLonger = at('status.page.following.pausingLonger', running);
export const PageFollowingAsking = at('status.page.following.asking', running);
export const PageFollowingMissedPausing = at('status.page.following.missed.pausing', running);
export const PageFollowingMissedAsking = at('status.page.following.missed.asking', running);
export const PageFollowingStalePausing = at('status.page.following.stale.pausing', running);
export const PageFollowingStaleAsking = at('status.page.following.stale.asking', running);
export const PageSettledResting = at(resting, moved);
export const PageSettledLooking = at('status.page.settled.looking', moved);
export const PageSettledConfirming = at('status.page.settled.confirming', exported);
export const PageSettledDeletingPrompt = at('status.page.settled.deleting.prompt', exported);
export const PageSettledDeletingSlow = at('status.page.settled.deleting.slow', exported);
export const PageNotFound = at('status.page.notFound');
export const PageFailedPausing = at('status.page.failed.pausing', asked);
export const PageFailedAsking = at('status.page.failed.asking', asked);
export const PageUnavailablePausing = at('status.page.unavailable.pausing', asked);
export const PageUnavailableAsking = at('status.page.unavailable.asking', asked);

export const BannerHidden = at('status.banner.hidden', exported, resting);
export const BannerShown = at('status.banner.shown', { ...exported, message }, resting);
export const BannerHeld = at('status.banner.held', { ...exported, message }, resting);

export const MoreClosed = at('status.more.closed', limited, open);
export const MoreSigningInEditing = at('status.more.signingIn.editing', limited, open);
export const MoreSigningInMalformed = at(
  'status.more.signingIn.malformed',
  { ...limited, typed: { ...typed, email: 'pat' } },
  open,
);
export const MoreSigningInNotLegacy = at(
  'status.more.signingIn.notLegacy',
  { ...limited, typed: { ...typed, email: 'pat@mail.example' } },
  open,
);
export const MoreSigningInPasswordMissing = at(
  'status.more.signingIn.passwordMissing',
  { ...limited, typed: { ...typed, password: '' } },
  open,
);
export const MoreSigningInVerifyingPrompt = at('status.more.signingIn.verifying.prompt', { ...limited, typed }, open);
export const MoreSigningInVerifyingSlow = at('status.more.signingIn.verifying.slow', { ...limited, typed }, open);
export const MoreSigningInAskingAgainPrompt = at(
  'status.more.signingIn.askingAgain.prompt',
  { ...limited, typed: { ...typed, password: '' } },
  open,
);
export const MoreSigningInAskingAgainSlow = at(
  'status.more.signingIn.askingAgain.slow',
  { ...limited, typed: { ...typed, password: '' } },
  open,
);
export const MoreSigningInRefused = at(
  'status.more.signingIn.refused',
  { ...limited, typed: { ...typed, password: '' }, message: { about: 'not the owner' } },
  open,
);
