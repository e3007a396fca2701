import { capabilities } from '../../../contract/calls/capabilities.ts';
import type { Operation } from '../../../contract/operation.ts';
import { type Provider } from '../../../contract/provider.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import type { Settings } from '../../../contract/settings.ts';
import { ResolverUnavailable } from '../../network/resolver.ts';
import { domainUnchecked, Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

export const answerCapabilities = route(
  capabilities,
  'look-ups by a client',
  async ({ body }, { discovery, settings }: Pick<Web, 'discovery' | 'settings'>) => {
    const found = await discovery.find(body.email).catch((error: unknown) => {
      throw error instanceof ResolverUnavailable ? domainUnchecked(error) : error;
    });
    if (found === null)
      throw new Refusal(404, 'PROVIDER_NOT_SUPPORTED', 'This provider is not supported: its domain takes no mail.');
    const { provider } = found;
    const auth = isOauthProvider(provider) ? 'oauth' : 'other';
    if (isOauthProvider(provider) && settings.providers[provider].client === undefined)
      throw new Refusal(404, 'PROVIDER_NOT_SUPPORTED', 'This provider is not supported.');
    return { allowed_operations: allowedOperations(provider, auth, settings), provider, auth };
  },
);

/**
 * What can be done with an account. A source has contacts if the operator has an address book; a destination accepts
 * them if it uses OAuth, because the token also gives access to its address book. Forwarding needs the operator's
 * ManageSieve server.
 */
export function allowedOperations(provider: Provider, auth: 'oauth' | 'other', settings: Settings): Operation[] {
  const contacts =
    settings.legacyCarddavUrl !== undefined &&
    (provider === 'sanbruno' || provider === 'file_export' || auth === 'oauth');
  const forwarding = settings.legacySieveUrl !== undefined && provider !== 'file_export';
  return [
    'emailmigration',
    ...(contacts ? (['contactsmigration'] as const) : []),
    ...(forwarding ? (['emailforwarding'] as const) : []),
  ];
}
