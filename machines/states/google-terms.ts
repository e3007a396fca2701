import { wizard } from '../wizard.setup.ts';
import { askingHome } from './asking-home.ts';

/** Google's privacy statement. Acceptance leads on to the page that required it. */
export const googleTerms = wizard.createStateConfig({
  id: 'google-terms',
  meta: { step: 2, page: { path: '/accept-google-terms', visit: () => ({ type: 'google-terms.visit' }) } },
  ...askingHome,
  on: {
    'page.back': '#destination',
    'terms.accept': [
      { guard: 'the destination is known', target: '#start-migration', actions: 'accept the terms' },
      {
        target: '#leaving-for-transfer',
        actions: ['accept the terms', { type: 'choose the provider', params: { provider: 'google' } }],
      },
    ],
  },
});
