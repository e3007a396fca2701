import { not, or, stateIn } from 'xstate';
import { readError } from '../../src/contract/page-address.ts';
import { asTransferId } from '../../src/contract/transfer-status.ts';
import { failedWith, failureOf } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import { isLegacyProvider, rememberOperations } from './capabilities-answer.ts';
import { banner } from './banner.ts';
import { errorInAddress } from './error-in-address.ts';
import { ifUnavailable, unavailable, unavailableInForm, unavailableUntilAsked } from './unavailable.ts';
import { typedLegacyAccount, typeEmail, typePassword } from './typed-account.ts';
import { givingUp, waiting } from './waiting.ts';

const countdown = wizard.createStateConfig({
  initial: 'ticking',
  states: {
    ticking: {
      entry: 'look at the clock',
      after: { 'countdown tick': { target: 'ticking', reenter: true } },
    },
  },
});

/** Fields can't be edited during or after verification. */
const settled = or([stateIn('#home-asking'), stateIn('#home-verifying'), stateIn('#home-welcomed')]);

/** The email of the sign-in: checked a pause after the typing stops, and again when it is submitted. */
const email = wizard.createStateConfig({
  initial: 'untouched',
  on: {
    'email.type': {
      guard: not(settled),
      target: '.typing',
      actions: [typeEmail, 'forget the operations'],
    },
    'credentials.submit': [
      { guard: 'the email is malformed', target: '.malformed' },
      { guard: not('the email is at a legacy domain'), target: '.notLegacy' },
      // The sign-in checks it itself: nothing is said of it beside "You are signed in".
      { guard: not('the password is empty'), target: '.untouched' },
    ],
  },
  states: {
    untouched: {},
    typing: {
      after: {
        'typing pause': [
          { guard: 'the email is malformed', target: 'malformed' },
          { guard: not('the email is at a legacy domain'), target: 'notLegacy' },
          { target: 'checking' },
        ],
      },
    },
    checking: {
      ...givingUp('untouched'),
      invoke: {
        src: 'ask for capabilities',
        input: ({ context }) => ({ email: context.typed.email }),
        onDone: [
          {
            guard: isLegacyProvider,
            target: 'good',
            actions: rememberOperations,
          },
          { target: 'notLegacy' },
        ],
        onError: [
          ifUnavailable,
          { guard: failedWith('PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'), target: 'notLegacy' },
          // No message: the sign-in checks the email again.
          { target: 'untouched' },
        ],
      },
    },
    good: {},
    malformed: {},
    notLegacy: { id: 'home-email-not-legacy' },
    unavailable: unavailableInForm('checking', 'untouched'),
  },
});

const refused = {
  target: 'refused',
  actions: { type: 'remember the message', params: failureOf('sign-in refused') },
} as const;

const goingOn = { target: '#destination', actions: 'forget what was typed' } as const;

/** Capabilities first, then a real sign-in; a refusal keeps the email and forgets the password. */
const credentials = wizard.createStateConfig({
  initial: 'editing',
  on: {
    'email.type': { guard: not(settled), target: '.editing' },
    'password.type': {
      guard: not(settled),
      target: '.editing',
      actions: typePassword,
    },
  },
  states: {
    editing: {
      id: 'home-credentials-editing',
      on: {
        'credentials.submit': [
          { guard: 'the password is empty', target: 'passwordMissing' },
          { guard: 'the email is malformed' },
          { guard: not('the email is at a legacy domain') },
          { guard: 'operations are known', target: 'verifying' },
          { target: 'asking' },
        ],
      },
    },
    passwordMissing: {},
    asking: {
      ...waiting(refused),
      id: 'home-asking',
      invoke: {
        src: 'ask for capabilities',
        input: ({ context }) => ({ email: context.typed.email }),
        onDone: [
          {
            guard: isLegacyProvider,
            target: 'verifying',
            actions: rememberOperations,
          },
          { target: ['#home-email-not-legacy', '#home-credentials-editing'] },
        ],
        onError: [
          ifUnavailable,
          {
            guard: failedWith('PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'),
            target: ['#home-email-not-legacy', '#home-credentials-editing'],
          },
          refused,
        ],
      },
    },
    verifying: {
      ...waiting(refused),
      id: 'home-verifying',
      invoke: {
        src: 'validate the account',
        input: typedLegacyAccount,
        onDone: {
          target: 'welcomed',
          actions: [
            'remember the source',
            { type: 'remember the jwt', params: ({ event }) => ({ token: event.output.token }) },
            'forget the typed password',
          ],
        },
        onError: [ifUnavailable, { target: 'refused', actions: [refused.actions, 'forget the typed password'] }],
      },
    },
    refused: {
      exit: 'forget the message',
      on: {
        'credentials.submit': [
          { guard: 'the password is empty', target: 'passwordMissing' },
          { guard: 'operations are known', target: 'verifying' },
          { target: 'asking' },
        ],
      },
    },
    unavailable: unavailableUntilAsked('asking', 'editing'),
    welcomed: {
      id: 'home-welcomed',
      // The visitor is about to move on, so the header stays unchanged for this moment.
      on: { 'sign-out.press': {}, 'modal.close': goingOn },
      after: { 'success pause': goingOn },
    },
  },
});

/** Finds a transfer by its ID, or leaves for a sign-in that finds all transfers of an address. */
const lookingUp = wizard.createStateConfig({
  initial: 'editing',
  entry: { type: 'type', params: { transferId: '' } },
  on: {
    'transfer-id.type': {
      target: '.editing',
      actions: { type: 'type', params: ({ event }) => ({ transferId: asTransferId(event.id) }) },
    },
    'lookup.sign-in': {
      target: '#leaving-for-status',
      actions: { type: 'choose the provider', params: ({ event }) => event },
    },
    'modal.close': '#home-resting',
  },
  states: {
    editing: {
      on: {
        'lookup.submit': [{ guard: 'the transfer ID looks right', target: 'asking' }, { target: 'notFound' }],
      },
    },
    asking: {
      ...waiting('failed'),
      invoke: {
        src: 'ask for the status',
        input: ({ context }) => ({ id: context.typed.transferId.toLowerCase() }),
        onDone: {
          target: '#status',
          actions: [
            { type: 'remember the transfer', params: ({ context }) => ({ id: context.typed.transferId }) },
            { type: 'remember the status', params: ({ event }) => ({ status: event.output }) },
          ],
        },
        onError: [
          { guard: failedWith('MIGRATION_ID_NOT_FOUND'), target: 'notFound' },
          ifUnavailable,
          { target: 'failed' },
        ],
      },
      on: { 'transfer-id.type': {} },
    },
    notFound: { on: { 'lookup.submit': [{ guard: 'the transfer ID looks right', target: 'asking' }] } },
    failed: { on: { 'lookup.submit': 'asking' } },
    unavailable: unavailable('asking'),
  },
});

const message = banner('destination banner life');

/** Step 1. Entering clears the session; the countdown runs in a region of its own. */
export const home = wizard.createStateConfig({
  id: 'home',
  meta: {
    step: 1,
    page: { path: '/', visit: (ask) => ({ type: 'home.visit', error: readError(ask) }), query: errorInAddress },
  },
  type: 'parallel',
  entry: 'forget everything',
  states: {
    countdown,
    // The sign-in shows its own messages.
    banner: {
      ...message,
      on: {
        ...message.on,
        'start.press': { guard: stateIn('#home-resting'), target: '.hidden', actions: 'forget the message' },
      },
    },
    page: {
      initial: 'resting',
      states: {
        resting: { id: 'home-resting', on: { 'start.press': 'signingIn', 'lookup.open': 'lookingUp' } },
        signingIn: {
          type: 'parallel',
          on: {
            'modal.close': { target: '#home-resting', actions: ['forget what was typed', 'forget the operations'] },
          },
          states: { email, credentials },
        },
        lookingUp,
      },
    },
  },
});
