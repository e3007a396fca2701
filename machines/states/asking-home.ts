import { wizard } from '../wizard.setup.ts';

/** In mid-wizard: the way to Home would forget the sign-in and what was chosen, so the visitor is asked first. */
export const askingHome = wizard.createStateConfig({
  initial: 'staying',
  states: {
    staying: { on: { 'home.press': 'asking' } },
    asking: { tags: 'leaving', on: { 'home.stay': 'staying' } },
  },
});
