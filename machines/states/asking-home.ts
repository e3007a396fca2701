import { wizard } from '../wizard.setup.ts';

/** In mid-wizard: to go Home or to sign out would forget the sign-in and what was chosen, so the visitor is asked first. */
export const askingHome = wizard.createStateConfig({
  initial: 'staying',
  states: {
    staying: { on: { 'home.press': 'asking', 'sign-out.press': 'askingToSignOut' } },
    asking: { tags: 'leaving', on: { 'home.stay': 'staying' } },
    askingToSignOut: {
      tags: 'parting',
      invoke: {
        src: 'list the sign-ins',
        input: ({ context: { jwt } }) => ({ jwt }),
        onDone: {
          actions: { type: 'remember the sign-ins', params: ({ event }) => ({ signIns: event.output }) },
        },
        onError: {},
      },
      on: { 'home.stay': 'staying', 'sign-out.confirm': '#signing-out' },
    },
  },
});
