const SECRET = /password|token|jwt|hash|secret/i;
const HIDDEN = '(hidden)';

/**
 * The same value with secrets redacted: passwords, tokens, hashes, and the signatures of signed addresses. Empty text
 * and `null` stay, to show whether there is a value.
 */
export function withoutSecrets(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shown(key, inner)]));
}

function shown(key: string, value: unknown): unknown {
  if (key === 'url' && typeof value === 'string') return value.replace(/[?#].*/s, `?${HIDDEN}`);
  if (SECRET.test(key) && typeof value === 'string' && value !== '') return HIDDEN;
  return withoutSecrets(value);
}
