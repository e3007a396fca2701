import { at } from './at.tsx';
import { PASSWORD, PAT, TRANSFER, typed } from './people.ts';

export default { title: 'States/Home' };

const message = { about: 'query', error: 'EXTERNAL_OAUTH_ERROR' } as const;
const credentials = typed({ email: PAT, password: PASSWORD });
const look = typed({ transferId: TRANSFER });
const good = 'home.page.signingIn.email.good';
const editing = 'home.page.signingIn.credentials.editing';

export const CountdownTicking = at('home.countdown.ticking');
export const BannerHidden = at('home.banner.hidden');
export const BannerShown = at('home.banner.shown', { message });
export const BannerHeld = at('home.banner.held', { message });
export const PageResting = at('home.page.resting');

export const PageSigningInEmailUntouched = at('home.page.signingIn.email.untouched');
export const PageSigningInEmailTyping = at('home.page.signingIn.email.typing', typed({ email: 'pat.riv' }));
export const PageSigningInEmailChecking = at('home.page.signingIn.email.checking', typed({ email: PAT }));
export const PageSigningInEmailGood = at(good, typed({ email: PAT }));
export const PageSigningInEmailMalformed = at('home.page.signingIn.email.malformed', typed({ email: 'pat.rivera' }));
export const PageSigningInEmailNotLegacy = at(
  'home.page.signingIn.email.notLegacy',
  typed({ email: 'pat@mail.example' }),
);
export const PageSigningInEmailUnavailable = at('home.page.signingIn.email.unavailable', credentials);

export const PageSigningInCredentialsEditing = at(editing, credentials, good);
export const PageSigningInCredentialsPasswordMissing = at(
  'home.page.signingIn.credentials.passwordMissing',
  typed({ email: PAT }),
  good,
);
export const PageSigningInCredentialsAskingPrompt = at(
  'home.page.signingIn.credentials.asking.prompt',
  credentials,
  'home.page.signingIn.email.checking',
);
export const PageSigningInCredentialsAskingSlow = at(
  'home.page.signingIn.credentials.asking.slow',
  credentials,
  'home.page.signingIn.email.checking',
);
export const PageSigningInCredentialsVerifyingPrompt = at(
  'home.page.signingIn.credentials.verifying.prompt',
  credentials,
  good,
);
export const PageSigningInCredentialsVerifyingSlow = at(
  'home.page.signingIn.credentials.verifying.slow',
  credentials,
  good,
);
export const PageSigningInCredentialsRefused = at(
  'home.page.signingIn.credentials.refused',
  { ...typed({ email: PAT }), message: { about: 'sign-in refused', code: 'INVALID_CREDENTIALS' } },
  good,
);
export const PageSigningInCredentialsUnavailable = at('home.page.signingIn.credentials.unavailable', credentials, good);
export const PageSigningInCredentialsWelcomed = at(
  'home.page.signingIn.credentials.welcomed',
  typed({ email: PAT }),
  good,
);

export const PageLookingUpEditing = at('home.page.lookingUp.editing', look);
export const PageLookingUpAskingPrompt = at('home.page.lookingUp.asking.prompt', look);
export const PageLookingUpAskingSlow = at('home.page.lookingUp.asking.slow', look);
export const PageLookingUpNotFound = at('home.page.lookingUp.notFound', typed({ transferId: '3f9c' }));
export const PageLookingUpFailed = at('home.page.lookingUp.failed', look);
export const PageLookingUpUnavailable = at('home.page.lookingUp.unavailable', look);
