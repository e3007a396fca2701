import { at } from './at.tsx';
import {
  CANCELLED,
  COMPARING,
  CONTACTS_WAITING,
  DAILY,
  DAILY_ON,
  FORWARDED,
  inNeed,
  MOVED,
  RUNNING,
  TOKEN,
  TRANSFER,
  WAITING,
  WITHOUT_CONTACTS,
} from './people.ts';

/** Variants of a transfer's life that share one state of the machine. */
export default { title: 'Life/Status' };

const resting = 'status.page.settled.resting';
const following = 'status.page.following.live.open';
const open = 'status.acts.open';
const asked = { transferId: TRANSFER };
const consent = { ...asked, status: inNeed({ side: 'destination', reason: 'consent' }, 'google') };
const toGmail = { ...asked, status: { ...MOVED, destination: 'google' as const } };
const undone = {
  ...toGmail.status,
  emailmigration: { ...MOVED.emailmigration, status: 'completed', taken_back: 8_200 },
  brings_back: true as const,
};
const failed = { ...CANCELLED, emailmigration: { ...CANCELLED.emailmigration, status: 'review', ended: undefined } };
const unknown = { ...asked, status: inNeed({ side: 'destination', reason: 'consent' }) };

export const AboutToBegin = at(following, {
  ...asked,
  status: { emailmigration: { status: 'started', done: 0, started: '2025-10-20T09:12:00-07:00' } },
});
export const Waiting = at(following, { ...asked, status: WAITING });
export const NobodyTold = at(following, { ...asked, status: { ...RUNNING, untold: true } });
export const ContactsWaiting = at(following, { ...asked, status: CONTACTS_WAITING });
export const Comparing = at(following, { ...asked, status: COMPARING });
export const BeingTakenBack = at(following, {
  ...asked,
  status: {
    ...CANCELLED,
    emailmigration: { ...CANCELLED.emailmigration, status: 'review', taken_back: 80, taking_back: true },
  },
});
export const NeedsPassword = at(following, { ...asked, status: inNeed({ side: 'destination', reason: 'password' }) });
export const NeedsConsent = at(following, consent);
export const NeedsPermission = at(following, { ...asked, status: WITHOUT_CONTACTS });
export const NeedsPasswordAfterClosing = at(following, {
  ...asked,
  status: inNeed({ side: 'source', reason: 'password' }),
  now: Date.parse('2025-12-01T12:00:00-08:00'),
});
export const Refused = at(following, { ...asked, status: inNeed({ side: 'source', reason: 'refused' }) });
export const Cancelled = at(resting, { ...asked, status: CANCELLED });
export const TakenBack = at(resting, {
  ...asked,
  status: {
    ...CANCELLED,
    emailmigration: { ...CANCELLED.emailmigration, status: 'review', taken_back: 8_200 },
    brings_back: true,
  },
});
export const Undone = at(resting, { ...asked, status: undone });
export const Failed = at(resting, { ...asked, status: failed });
export const Daily = at(resting, { ...asked, status: DAILY });
export const DailyOn = at(resting, { ...asked, status: DAILY_ON });
export const DailyEnded = at(resting, {
  ...asked,
  status: { ...DAILY, daily: { until: '2025-11-30T23:59:59-08:00', ended: 'sign_in' } },
});
export const Forwarded = at(resting, { ...asked, status: FORWARDED });
export const Mended = at('status.banner.shown', { ...asked, status: WAITING, message: { about: 'mended' } }, following);
export const DailyStarted = at(
  'status.banner.shown',
  { ...asked, status: { ...WAITING, daily: DAILY_ON.daily }, message: { about: 'daily started' } },
  following,
);
export const EndedBeforeStop = at(`${open}.stopping.confirming`, toGmail, resting);

export const ConsentDialog = at(`${open}.mending.asking.editing`, consent, resting);
export const ConsentSomewhere = at(`${open}.mending.asking.editing`, unknown, resting);
export const PermissionDialog = at(`${open}.mending.asking.editing`, { ...asked, status: WITHOUT_CONTACTS }, resting);
export const FullDialog = at(
  `${open}.mending.asking.editing`,
  { ...asked, status: inNeed({ side: 'destination', reason: 'full' }) },
  resting,
);
export const AgainAtGmail = at(`${open}.again.asking.editing`, toGmail, resting);
export const AgainAfterFailure = at(`${open}.again.asking.editing`, { ...asked, status: failed }, resting);
export const AgainAfterTakeBack = at(`${open}.again.asking.editing`, { ...asked, status: undone }, resting);
export const AgainSignedIn = at(`${open}.again.asking.editing`, { ...toGmail, tokenId: TOKEN }, resting);
export const TakeBackWithDaily = at(`${open}.takingBack.confirming`, { ...asked, status: DAILY_ON }, resting);
export const TakeBackAtGmail = at(`${open}.takingBack.signingIn.editing`, toGmail, resting);
