import type { OauthProvider } from '../../contract/provider.ts';
import { aol } from './aol.ts';
import { google } from './google.ts';
import { office365 } from './office365.ts';
import type { Profile } from './profile.ts';
import { yahoo } from './yahoo.ts';

/** To add a provider, write its file and list it here. */
export const PROFILES: Readonly<Record<OauthProvider, Profile>> = { google, yahoo, office365, aol };
