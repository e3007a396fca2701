import type { OauthProvider } from '../../contract/provider.ts';
import { aol } from './aol.ts';
import { google } from './google.ts';
import { office365 } from './office365.ts';
import type { Profile } from './profile.ts';
import { yahoo } from './yahoo.ts';

/** A new provider is a file of its own and a name here. */
export const PROFILES: Readonly<Record<OauthProvider, Profile>> = { google, yahoo, office365, aol };
