import { at } from './at.tsx';
import { MOVING, PAT, SIGNED_IN, TO_GMAIL, TOKEN, TRANSFER } from './people.ts';

export default { title: 'States/Short pages' };

const toGoogle = { ...SIGNED_IN, destination: { email: '', provider: 'google' } } as const;
const back = { error: '', tokenId: TOKEN, email: PAT, provider: 'yahoo', hash: '', contacts: '' };

export const GoogleTermsStaying = at('googleTerms.staying', toGoogle);
export const GoogleTermsAsking = at('googleTerms.asking', toGoogle);
export const GoogleTermsAskingToSignOut = at('googleTerms.askingToSignOut', {
  ...toGoogle,
  signIns: [{ began: '2025-11-18T16:05:00Z', used: '2025-11-18T16:40:00Z' }],
});
export const EmailScopesStaying = at('emailScopes.staying', toGoogle);
export const EmailScopesAsking = at('emailScopes.asking', toGoogle);
export const EmailScopesAskingToSignOut = at('emailScopes.askingToSignOut', toGoogle);
export const PrivacyPolicyPausing = at('privacyPolicy.pausing');
export const PrivacyPolicyLeaving = at('privacyPolicy.leaving');
export const PrivacyPolicyUnavailable = at('privacyPolicy.unavailable');
export const TermsOfServicePausing = at('termsOfService.pausing');
export const TermsOfServiceLeaving = at('termsOfService.leaving');
export const TermsOfServiceUnavailable = at('termsOfService.unavailable');

// Between pages. States with an immediate decision are only visible while it is being made.
export const Arriving = at('arriving');
export const LeavingForMove = at('leavingForMove', MOVING);
export const LeavingForTransfer = at('leavingForTransfer', TO_GMAIL);
export const LeavingForStatus = at('leavingForStatus', { destination: { email: '', provider: 'yahoo' } });
export const SigningOutPrompt = at('signingOut.prompt');
export const SigningOutSlow = at('signingOut.slow');
export const Returned = at('returned', { ...MOVING, returned: back });
export const CheckingTerms = at('checkingTerms', TO_GMAIL);
export const ReturnedForStatus = at('returnedForStatus', { returned: { ...back, hash: 'a-hash' } });
export const UnavailableForTransfer = at('unavailableForTransfer', TO_GMAIL);
export const UnavailableForStatus = at('unavailableForStatus', { destination: { email: '', provider: 'yahoo' } });

const awaitedConsent = { transferId: TRANSFER, purpose: 'mend', provider: 'google' } as const;
export const LeavingForAct = at('leavingForAct', { awaitedConsent });
export const ReturnedForAct = at('returnedForAct', { awaitedConsent, returned: { ...back, provider: 'google' } });
export const UnavailableForAct = at('unavailableForAct', { awaitedConsent });
