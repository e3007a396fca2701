import { wizard } from '../wizard.setup.ts';

/** In the middle of the wizard, going Home or signing out would discard the sign-in and all choices, so it asks first. */
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
