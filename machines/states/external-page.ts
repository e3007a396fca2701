import { wizard } from '../wizard.setup.ts';
import type { Visit } from '../wizard.types.ts';
import { unavailable } from './unavailable.ts';

/** Shows an overlay and, after a pause, leaves for a page of the provider. */
function externalPage<const Id extends 'privacy-policy' | 'terms-of-service'>(
  id: Id,
  setting: 'privacyUrl' | 'termsUrl',
  visit: Extract<Visit, { readonly type: `${Id}.visit` }>,
) {
  return wizard.createStateConfig({
    id,
    meta: { page: { path: `/${id}`, visit: () => visit } },
    initial: 'pausing',
    states: {
      pausing: { after: { 'policy pause': 'leaving' } },
      leaving: {
        entry: {
          type: 'leave for',
          params: ({ context }) => ({ address: context.settings[setting], inPlace: true }),
        },
        // Back to the page before. Firefox brings it back as it was left, with the address that has been replaced.
        on: { 'page.return': { actions: 'load the page anew' }, 'connection.lose': 'unavailable' },
      },
      unavailable: unavailable('leaving'),
    },
  });
}

export const privacyPolicy = externalPage('privacy-policy', 'privacyUrl', { type: 'privacy-policy.visit' });
export const termsOfService = externalPage('terms-of-service', 'termsUrl', { type: 'terms-of-service.visit' });
