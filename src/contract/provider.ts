import * as v from 'valibot';
import { OAUTH_PROVIDERS, PROVIDERS } from './provider-name.ts';

export const Provider = v.picklist(PROVIDERS);
export type Provider = v.InferOutput<typeof Provider>;

export const OauthProvider = v.picklist(OAUTH_PROVIDERS);
export type OauthProvider = v.InferOutput<typeof OauthProvider>;
