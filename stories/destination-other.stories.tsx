import { at } from './at.tsx';
import { PASSWORD, SIGNED_IN, typed } from './people.ts';

export default { title: 'States/Destination' };

const email = 'pat@rivera.example';
const host = 'imap.rivera.example';
const typedAccount = { provider: 'other', auth: 'other' } as const;
const known = { ...SIGNED_IN, ...typed({ email, password: PASSWORD }), typedAccount };
const hosted = { ...SIGNED_IN, ...typed({ email, password: PASSWORD, host }), typedAccount };
const google = { ...SIGNED_IN, ...typed({ email: 'pat.rivera@gmail.com' }) };
const byOauth = { provider: 'google', auth: 'oauth' } as const;
const notAsked = 'destination.options.other.password.notAsked';
const good = 'destination.options.other.email.good';

export const OptionsOtherEmailUntouched = at('destination.options.other.email.untouched', SIGNED_IN);
export const OptionsOtherEmailTyping = at('destination.options.other.email.typing', {
  ...SIGNED_IN,
  ...typed({ email: 'pat@riv' }),
});
export const OptionsOtherEmailChecking = at('destination.options.other.email.checking', {
  ...SIGNED_IN,
  ...typed({ email }),
});
export const OptionsOtherEmailGood = at(good, { ...google, typedAccount: byOauth }, notAsked);
export const OptionsOtherEmailMalformed = at('destination.options.other.email.malformed', {
  ...SIGNED_IN,
  ...typed({ email: 'pat.rivera' }),
});
export const OptionsOtherEmailLegacyAddress = at('destination.options.other.email.legacyAddress', {
  ...SIGNED_IN,
  ...typed({ email: 'pat.rivera@sanbruno.example' }),
});
export const OptionsOtherEmailUnsupported = at('destination.options.other.email.unsupported', {
  ...SIGNED_IN,
  ...typed({ email }),
});
export const OptionsOtherEmailServerless = at('destination.options.other.email.serverless', known);
export const OptionsOtherEmailUnavailable = at('destination.options.other.email.unavailable', known);

export const OptionsOtherPasswordAskedGood = at('destination.options.other.password.asked.good', known, good);
export const OptionsOtherPasswordAskedRefused = at('destination.options.other.password.asked.refused', known, good);
export const OptionsOtherPasswordNotAsked = at(notAsked, { ...google, typedAccount: byOauth }, good);

export const OptionsOtherHostUnused = at('destination.options.other.host.unused', known, good);
export const OptionsOtherHostUsedUntouched = at('destination.options.other.host.used.untouched', known, good);
export const OptionsOtherHostUsedTyping = at('destination.options.other.host.used.typing', hosted, good);
export const OptionsOtherHostUsedChecking = at('destination.options.other.host.used.checking', hosted, good);
export const OptionsOtherHostUsedGood = at('destination.options.other.host.used.good', hosted, good);
export const OptionsOtherHostUsedMalformed = at(
  'destination.options.other.host.used.malformed',
  { ...hosted, ...typed({ email, password: PASSWORD, host: 'imap rivera' }) },
  good,
);
export const OptionsOtherHostUsedUnresolvedUnknown = at(
  'destination.options.other.host.used.unresolved.unknown',
  hosted,
  good,
);
export const OptionsOtherHostUsedUnresolvedUncheckedPausing = at(
  'destination.options.other.host.used.unresolved.unchecked.pausing',
  hosted,
  good,
);
export const OptionsOtherHostUsedUnresolvedUncheckedChecking = at(
  'destination.options.other.host.used.unresolved.unchecked.checking',
  hosted,
  good,
);
export const OptionsOtherHostUsedUnavailable = at('destination.options.other.host.used.unavailable', hosted, good);

export const OptionsOtherCredentialsEditing = at('destination.options.other.credentials.editing', known, good);
export const OptionsOtherCredentialsAskingPrompt = at('destination.options.other.credentials.asking.prompt', known);
export const OptionsOtherCredentialsAskingSlow = at('destination.options.other.credentials.asking.slow', known);
export const OptionsOtherCredentialsVerifyingPrompt = at(
  'destination.options.other.credentials.verifying.prompt',
  known,
  good,
);
export const OptionsOtherCredentialsVerifyingSlow = at(
  'destination.options.other.credentials.verifying.slow',
  known,
  good,
);
export const OptionsOtherCredentialsDeparting = at('destination.options.other.credentials.departing', google, good);
export const OptionsOtherCredentialsUnavailable = at('destination.options.other.credentials.unavailable', known, good);
