import { not, or, stateIn } from 'xstate';
import { failureOf } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { typedLegacyAccount, typeEmail, typePassword } from '../typed-account.ts';
import { waiting } from '../waiting.ts';

/** Fields can't be edited during verification. */
const settled = or([stateIn('#status-verifying'), stateIn('#status-asking-again')]);

const say = { type: 'remember the message', params: failureOf('sign-in refused') } as const;
const refused = { target: 'refused', actions: [say, 'forget the typed password'] } as const;
/** A visitor who is already signed in has typed nothing since. */
const refusedAgain = { target: 'refused', actions: say } as const;

/** A region next to the status page, which shows only numbers until the visitor signs in, and then everything. */
export const showMore = wizard.createStateConfig({
  initial: 'closed',
  states: {
    closed: { id: 'status-more-closed', on: { 'more.show': { guard: 'there is more to show', target: 'signingIn' } } },
    signingIn: {
      initial: 'editing',
      entry: 'forget what was typed',
      on: {
        'modal.close': { target: 'closed', actions: 'forget what was typed' },
        'email.type': {
          guard: not(settled),
          target: '.editing',
          actions: typeEmail,
        },
        'password.type': {
          guard: not(settled),
          target: '.editing',
          actions: typePassword,
        },
        'credentials.submit': [
          { guard: settled },
          { guard: 'the email is malformed', target: '.malformed' },
          { guard: not('the email is at a legacy domain'), target: '.notLegacy' },
          { guard: 'the password is empty', target: '.passwordMissing' },
          { target: '.verifying' },
        ],
      },
      states: {
        editing: {},
        malformed: {},
        notLegacy: {},
        passwordMissing: {},
        verifying: {
          ...waiting(refused),
          id: 'status-verifying',
          invoke: {
            src: 'validate the account',
            input: typedLegacyAccount,
            onDone: {
              target: 'askingAgain',
              actions: [
                { type: 'remember the jwt', params: ({ event }) => ({ token: event.output.token }) },
                'forget the typed password',
              ],
            },
            onError: refused,
          },
        },
        askingAgain: {
          ...waiting(refusedAgain),
          id: 'status-asking-again',
          invoke: {
            src: 'ask for the status',
            input: ({ context }) => ({ id: context.transferId ?? '' }),
            onDone: [
              {
                guard: { type: 'more is kept back', params: ({ event }) => ({ status: event.output }) },
                target: 'refused',
                actions: { type: 'remember the message', params: { message: { about: 'not the owner' } } },
              },
              {
                // Followed again, by a stream that shows everything.
                target: ['#status-more-closed', '#status-following'],
                actions: [
                  { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
                  'forget what was typed',
                ],
              },
            ],
            onError: refusedAgain,
          },
        },
        refused: { exit: 'forget the message' },
      },
    },
  },
});
