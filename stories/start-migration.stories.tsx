import { at } from './at.tsx';
import { DOWNLOADING, MOVING, PAT, TO_GMAIL } from './people.ts';

export default { title: 'States/Start migration' };

const told = (notificationContact: string) => ({ ...MOVING, notificationContact });
const ready = told('pat.rivera@mail.example');
const good = 'startMigration.contact.good';
const refused = { about: 'load failed', code: 'MIGRATION_IN_PROGRESS' } as const;
const stopped = { about: 'load failed', code: 'GENERAL_ERROR' } as const;

export const ContactArriving = at('startMigration.contact.arriving', MOVING);
export const ContactEmpty = at('startMigration.contact.empty', MOVING);
export const ContactMissing = at('startMigration.contact.missing', TO_GMAIL);
export const ContactTyping = at('startMigration.contact.typing', told('pat.riv'));
export const ContactCheckingPhoneNumber = at('startMigration.contact.checkingPhoneNumber', told('650 555 0123'));
export const ContactCheckingDomain = at('startMigration.contact.checkingDomain', ready);
export const ContactGood = at(good, told('+16505550123'));
export const ContactUnchecked = at('startMigration.contact.unchecked', ready);
export const ContactWrongEmail = at('startMigration.contact.wrongEmail', told('pat.rivera@'));
export const ContactWrongPhoneNumber = at('startMigration.contact.wrongPhoneNumber', told('555 0123'));
export const ContactLegacyAddress = at('startMigration.contact.legacyAddress', told(PAT));
export const ContactUnavailable = at('startMigration.contact.unavailable', ready);

export const SubmissionWaiting = at(
  'startMigration.submission.waiting',
  {
    ...DOWNLOADING,
    notificationContact: 'pat.rivera@mail.example',
  },
  good,
);
export const SubmissionAnnouncingPrompt = at('startMigration.submission.announcing.prompt', ready, good);
export const SubmissionAnnouncingSlow = at('startMigration.submission.announcing.slow', ready, good);
export const SubmissionLoadingPrompt = at('startMigration.submission.loading.prompt', ready, good);
export const SubmissionLoadingSlow = at('startMigration.submission.loading.slow', ready, good);
export const SubmissionUnavailable = at('startMigration.submission.unavailable', ready, good);

export const BannerHidden = at('startMigration.banner.hidden', ready, good);
export const BannerShown = at('startMigration.banner.shown', { ...ready, message: refused }, good);
export const BannerHeld = at('startMigration.banner.held', { ...ready, message: stopped }, good);

export const HomeStaying = at('startMigration.home.staying', ready, good);
export const HomeAsking = at('startMigration.home.asking', ready, good);
export const HomeAskingToSignOut = at('startMigration.home.askingToSignOut', ready, good);
