import { wizard } from '../wizard.setup.ts';

/** An overlay, and after a pause away to a page of the provider's. */
function externalPage<const Id extends 'privacy-policy' | 'terms-of-service'>(
  id: Id,
  setting: 'privacyUrl' | 'termsUrl',
) {
  return wizard.createStateConfig({
    id,
    initial: 'pausing',
    states: {
      pausing: { after: { 'policy pause': 'leaving' } },
      leaving: {
        entry: { type: 'leave for', params: ({ context }) => ({ address: context.settings[setting] }) },
        on: { 'page.return': '#home' },
      },
    },
  });
}

export const privacyPolicy = externalPage('privacy-policy', 'privacyUrl');
export const termsOfService = externalPage('terms-of-service', 'termsUrl');
