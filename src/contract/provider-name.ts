/** Every provider key of `portal.md` §3, with the names from `decisions.md`. */
export const PROVIDERS = ['google', 'yahoo', 'office365', 'aol', 'sanbruno', 'file_export', 'other'] as const;

type Provider = (typeof PROVIDERS)[number];

/** The providers that use OAuth for sign-in. */
export const OAUTH_PROVIDERS = ['google', 'yahoo', 'office365', 'aol'] as const;
type OauthProvider = (typeof OAUTH_PROVIDERS)[number];

const OTHER_NAMES: ReadonlyMap<string, Provider> = new Map([
  ['microsoft', 'office365'],
  ['outlook', 'office365'],
  ['hotmail', 'office365'],
  ['live', 'office365'],
  ['gmail', 'google'],
]);

/** The key for a provider's name as servers or visitors spell it; `other` for unknown names. */
export function providerOf(name: string): Provider {
  return knownProviderOf(name) ?? 'other';
}

export function knownProviderOf(name: string): Provider | undefined {
  const key = name.toLowerCase();
  return OTHER_NAMES.get(key) ?? PROVIDERS.find((provider) => provider === key);
}

export function isOauthProvider(provider: string): provider is OauthProvider {
  return OAUTH_PROVIDERS.some((each) => each === provider);
}
