import { at } from './at.tsx';
import { SIGNED_IN, TRANSFER } from './people.ts';

export default { title: 'States/Destination' };

const message = { about: 'account creation', code: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' } as const;
const invalid = { about: 'query', error: 'INVALID_EMAIL' } as const;

export const MoveOffered = at('destination.move.offered', SIGNED_IN);
export const MoveWarned = at('destination.move.warned', SIGNED_IN);
export const MoveCreatingAccountPrompt = at('destination.move.creatingAccount.prompt', SIGNED_IN);
export const MoveCreatingAccountSlow = at('destination.move.creatingAccount.slow', SIGNED_IN);
export const MoveRedirecting = at('destination.move.redirecting', SIGNED_IN);
export const MoveUnavailable = at('destination.move.unavailable', SIGNED_IN);

export const OptionsArriving = at('destination.options.arriving', SIGNED_IN);
export const OptionsClosed = at('destination.options.closed', SIGNED_IN);
export const OptionsChoosing = at('destination.options.choosing', SIGNED_IN);
export const OptionsDownload = at('destination.options.download', {
  ...SIGNED_IN,
  emailExportType: 'mbox',
  contactsExportType: 'csv',
});

export const BannerHidden = at('destination.banner.hidden', SIGNED_IN);
export const BannerShown = at('destination.banner.shown', {
  ...SIGNED_IN,
  message,
  transferInTheWay: { id: TRANSFER, isCompleted: false },
});
export const BannerHeld = at('destination.banner.held', { ...SIGNED_IN, message: invalid });

export const HomeStaying = at('destination.home.staying', SIGNED_IN);
export const HomeAsking = at('destination.home.asking', SIGNED_IN);
export const HomeAskingToSignOut = at('destination.home.askingToSignOut', {
  ...SIGNED_IN,
  signIns: [
    { began: '2025-11-18T16:05:00Z', used: '2025-11-18T16:40:00Z' },
    { began: '2025-11-17T23:30:00Z', used: '2025-11-17T23:30:00Z' },
  ],
});
