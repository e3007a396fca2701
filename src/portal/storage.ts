/** The browser's storage, or `null` where it is blocked: then what would be kept lives as long as the page. */
export function openStorage(kind: 'sessionStorage' | 'localStorage'): Storage | null {
  try {
    return globalThis[kind] ?? null;
  } catch {
    return null;
  }
}
