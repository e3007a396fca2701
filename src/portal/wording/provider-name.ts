import { displayName } from '../../contract/display-name.ts';
import type { Provider } from '../../contract/provider.ts';

export function providerName(provider: Provider, legacyName: string): string {
  return displayName(provider, legacyName);
}
