import { wizard } from '../wizard.setup.ts';
import { waiting } from './waiting.ts';

const unfinished = {
  target: '#home',
  actions: [{ type: 'show the message', params: { message: { about: 'sign-out unfinished' } } }, 'hold the message'],
} as const;

/**
 * Clears the session at once, then tells the server. Home shows the result, which stays until the visitor has looked at
 * it.
 */
export const signingOut = wizard.createStateConfig({
  id: 'signing-out',
  ...waiting(unfinished),
  entry: ['forget all but what signs out', 'tell the other tabs'],
  invoke: {
    src: 'sign out',
    input: ({ context: { parting } }) => parting ?? { jwt: null, everywhere: false },
    onDone: {
      target: '#home',
      actions: [
        {
          type: 'show the message',
          params: ({ context: { parting } }) => ({
            message: { about: parting?.everywhere === true ? 'signed out everywhere' : 'signed out' } as const,
          }),
        },
        'hold the message',
      ],
    },
    onError: unfinished,
  },
});

/** What is said and held when another tab has signed out. */
export const sayingSignedOut = [
  { type: 'show the message', params: { message: { about: 'signed out in another tab' } } },
  'hold the message',
] as const;
