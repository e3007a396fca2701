import { at } from './at.tsx';
import {
  CANCELLED,
  DAILY,
  DAILY_ON,
  FORWARDED,
  FULL,
  inNeed,
  PASSWORD,
  ordered,
  RUNNING,
  TO_GMAIL,
  TOKEN,
  TRANSFER,
  typed,
} from './people.ts';

export default { title: 'States/Status' };

const resting = 'status.page.settled.resting';
const following = 'status.page.following.live.open';
const open = 'status.acts.open';

const asked = { transferId: TRANSFER };
const running = { ...asked, status: RUNNING };
const inNeedOfPassword = { ...asked, status: inNeed({ side: 'source', reason: 'password' }) };
const cancelled = { ...asked, status: CANCELLED };
const forwarded = { ...asked, status: FORWARDED };
const dailyOff = { ...asked, status: DAILY };
const dailyOn = { ...asked, status: DAILY_ON };
const password = typed({ password: PASSWORD });
const passwords = typed({ password: PASSWORD, destinationPassword: PASSWORD });
const refused = (about: 'stop' | 'mend' | 'take-back' | 'again' | 'forwarding' | 'daily-off') =>
  ({ message: { about: `${about} refused`, code: 'INVALID_CREDENTIALS' } }) as const;

export const ActsResting = at('status.acts.resting', { ...asked, status: FULL }, following);
export const ActsOpenReceipt = at(`${open}.receipt`, cancelled, resting);

export const ActsOpenStoppingConfirming = at(`${open}.stopping.confirming`, running, following);
export const ActsOpenStoppingCallingPrompt = at(`${open}.stopping.calling.prompt`, running, following);
export const ActsOpenStoppingCallingSlow = at(`${open}.stopping.calling.slow`, running, following);
export const ActsOpenStoppingRefused = at(
  `${open}.stopping.refused`,
  { ...running, message: { about: 'stop refused', code: 'UNAVAILABLE' } },
  following,
);

export const ActsOpenMendingAskingEditing = at(`${open}.mending.asking.editing`, inNeedOfPassword, resting);
export const ActsOpenMendingAskingPasswordMissing = at(
  `${open}.mending.asking.passwordMissing`,
  inNeedOfPassword,
  resting,
);
export const ActsOpenMendingAskingRefused = at(
  `${open}.mending.asking.refused`,
  { ...inNeedOfPassword, ...refused('mend') },
  resting,
);
export const ActsOpenMendingCallingPrompt = at(
  `${open}.mending.calling.prompt`,
  { ...inNeedOfPassword, ...password },
  resting,
);
export const ActsOpenMendingCallingSlow = at(
  `${open}.mending.calling.slow`,
  { ...inNeedOfPassword, ...password },
  resting,
);

export const ActsOpenTakingBackConfirming = at(`${open}.takingBack.confirming`, cancelled, resting);
export const ActsOpenTakingBackCallingPrompt = at(`${open}.takingBack.calling.prompt`, cancelled, resting);
export const ActsOpenTakingBackCallingSlow = at(
  `${open}.takingBack.calling.slow`,
  { ...cancelled, ...password },
  resting,
);
export const ActsOpenTakingBackRefused = at(
  `${open}.takingBack.refused`,
  { ...cancelled, message: { about: 'take-back refused', code: 'UNAVAILABLE' } },
  resting,
);
export const ActsOpenTakingBackSigningInEditing = at(`${open}.takingBack.signingIn.editing`, cancelled, resting);
export const ActsOpenTakingBackSigningInPasswordMissing = at(
  `${open}.takingBack.signingIn.passwordMissing`,
  cancelled,
  resting,
);
export const ActsOpenTakingBackSigningInRefused = at(
  `${open}.takingBack.signingIn.refused`,
  { ...cancelled, ...refused('take-back') },
  resting,
);

export const ActsOpenAgainAskingEditing = at(`${open}.again.asking.editing`, cancelled, resting);
export const ActsOpenAgainAskingPasswordMissing = at(`${open}.again.asking.passwordMissing`, cancelled, resting);
export const ActsOpenAgainAskingDestinationPasswordMissing = at(
  `${open}.again.asking.destinationPasswordMissing`,
  { ...cancelled, ...password },
  resting,
);
export const ActsOpenAgainAskingRefused = at(
  `${open}.again.asking.refused`,
  { ...cancelled, ...password, message: { about: 'destination refused' } },
  resting,
);
export const ActsOpenAgainCallingPrompt = at(`${open}.again.calling.prompt`, { ...cancelled, ...passwords }, resting);
export const ActsOpenAgainCallingSlow = at(
  `${open}.again.calling.slow`,
  { ...cancelled, ...ordered(TO_GMAIL), ...password, tokenId: TOKEN },
  resting,
);

export const ActsOpenForwardingAskingEditing = at(`${open}.forwarding.asking.editing`, forwarded, resting);
export const ActsOpenForwardingAskingPasswordMissing = at(
  `${open}.forwarding.asking.passwordMissing`,
  forwarded,
  resting,
);
export const ActsOpenForwardingAskingRefused = at(
  `${open}.forwarding.asking.refused`,
  { ...forwarded, ...refused('forwarding') },
  resting,
);
export const ActsOpenForwardingCallingPrompt = at(
  `${open}.forwarding.calling.prompt`,
  { ...forwarded, ...password },
  resting,
);
export const ActsOpenForwardingCallingSlow = at(
  `${open}.forwarding.calling.slow`,
  { ...forwarded, ...password },
  resting,
);

export const ActsOpenDailyAskingEditing = at(`${open}.daily.asking.editing`, dailyOff, resting);
export const ActsOpenDailyAskingPasswordMissing = at(`${open}.daily.asking.passwordMissing`, dailyOff, resting);
export const ActsOpenDailyAskingDestinationPasswordMissing = at(
  `${open}.daily.asking.destinationPasswordMissing`,
  { ...dailyOff, ...password },
  resting,
);
export const ActsOpenDailyAskingRefused = at(
  `${open}.daily.asking.refused`,
  { ...dailyOff, message: { about: 'source refused' } },
  resting,
);
export const ActsOpenDailyCallingPrompt = at(`${open}.daily.calling.prompt`, { ...dailyOff, ...passwords }, resting);
export const ActsOpenDailyCallingSlow = at(
  `${open}.daily.calling.slow`,
  { ...dailyOff, ...ordered(TO_GMAIL), ...password, tokenId: TOKEN },
  resting,
);
export const ActsOpenDailyOffConfirming = at(`${open}.dailyOff.confirming`, dailyOn, resting);
export const ActsOpenDailyOffCallingPrompt = at(`${open}.dailyOff.calling.prompt`, dailyOn, resting);
export const ActsOpenDailyOffCallingSlow = at(`${open}.dailyOff.calling.slow`, dailyOn, resting);
export const ActsOpenDailyOffRefused = at(
  `${open}.dailyOff.refused`,
  { ...dailyOn, message: { about: 'daily-off refused', code: 'UNAVAILABLE' } },
  resting,
);
