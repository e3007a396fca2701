import type { Provider } from './provider.ts';

/** A provider's display name; the legacy provider's is the setting `LEGACY_NAME`. */
export function displayName(provider: Provider, legacyName: string): string {
  switch (provider) {
    case 'google':
      return 'Gmail';
    case 'yahoo':
      return 'Yahoo';
    case 'office365':
      return 'Outlook';
    case 'aol':
      return 'AOL';
    case 'sanbruno':
      return legacyName;
    case 'file_export':
      return 'File';
    case 'other':
      return 'Other';
  }
}
