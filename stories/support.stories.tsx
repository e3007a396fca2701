import { at } from './at.tsx';
import { PAT, TRANSFER, typed } from './people.ts';

export default { title: 'States/Support' };

const letter = typed({
  legacyEmail: PAT,
  contactEmail: 'pat@rivera.example',
  supportId: TRANSFER,
  issue: 'The folder "Recipes" did not arrive at Yahoo.',
});
const LETTER = {
  emailAddress: PAT,
  destinationEmail: 'pat@rivera.example',
  migrationId: TRANSFER,
  issue: 'The folder "Recipes" did not arrive at Yahoo.\n\nThe others are there.',
};
const failed = { about: 'support failed', code: 'GENERAL_ERROR' } as const;

export const LegacyEmailGood = at('support.legacyEmail.good', typed({ legacyEmail: PAT }));
export const LegacyEmailTyping = at('support.legacyEmail.typing', typed({ legacyEmail: 'pat.riv' }));
export const LegacyEmailWrong = at('support.legacyEmail.wrong', typed({ legacyEmail: 'pat@sanbruno.example' }));
export const ContactEmailGood = at('support.contactEmail.good', typed({ contactEmail: 'pat@rivera.example' }));
export const ContactEmailTyping = at('support.contactEmail.typing', typed({ contactEmail: 'pat@riv' }));
export const ContactEmailWrong = at('support.contactEmail.wrong', typed({ contactEmail: 'pat@riv' }));
export const TransferIdGood = at('support.transferId.good', typed({ supportId: TRANSFER }));
export const TransferIdTyping = at('support.transferId.typing', typed({ supportId: '3f9c' }));
export const TransferIdWrong = at('support.transferId.wrong', typed({ supportId: '3f9c' }));

export const SendingEditing = at('support.sending.editing', letter);
export const SendingPostingPrompt = at('support.sending.posting.prompt', letter);
export const SendingPostingSlow = at('support.sending.posting.slow', letter);
export const SendingSent = at(
  'support.sending.sent',
  { letter: LETTER, message: { about: 'support sent' } },
  'support.banner.shown',
);
export const SendingUnavailable = at('support.sending.unavailable', letter);

export const BannerHidden = at('support.banner.hidden');
export const BannerShown = at('support.banner.shown', { message: { about: 'support sent' } });
export const BannerHeld = at('support.banner.held', { ...letter, message: failed });
