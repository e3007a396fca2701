import { not, or, stateIn } from 'xstate';
import { failedWith, failureCodeOf } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import { banner } from './banner.ts';
import { waiting } from './waiting.ts';

const countdown = wizard.createStateConfig({
  initial: 'ticking',
  states: {
    ticking: {
      entry: 'look at the clock',
      after: { 'countdown tick': { target: 'ticking', reenter: true } },
    },
  },
});

/** What is being verified, or has been, stays as it is. */
const settled = or([stateIn('#home-asking'), stateIn('#home-verifying'), stateIn('#home-welcomed')]);

/** The email of the sign-in: checked a pause after the typing stops, and again when it is submitted. */
const email = wizard.createStateConfig({
  initial: 'untouched',
  on: {
    'email.type': {
      guard: not(settled),
      target: '.typing',
      actions: [
        { type: 'type', params: ({ event }) => ({ email: event.email.trim().toLowerCase() }) },
        'forget the operations',
      ],
    },
    'credentials.submit': [
      { guard: 'the email is malformed', target: '.malformed' },
      { guard: 'the email is foreign', target: '.foreign' },
    ],
  },
  states: {
    untouched: {},
    typing: {
      after: {
        'typing pause': [
          { guard: 'the email is malformed', target: 'malformed' },
          { guard: 'the email is foreign', target: 'foreign' },
          { target: 'checking' },
        ],
      },
    },
    checking: {
      invoke: {
        src: 'ask for capabilities',
        input: ({ context }) => ({ email: context.typed.email }),
        onDone: [
          {
            guard: { type: 'the provider is the legacy one', params: ({ event }) => ({ capabilities: event.output }) },
            target: 'good',
            actions: { type: 'remember the operations', params: ({ event }) => ({ capabilities: event.output }) },
          },
          { target: 'foreign' },
        ],
        onError: [
          { guard: failedWith('PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'), target: 'foreign' },
          // Nothing to say about the email: the sign-in asks again.
          { target: 'untouched' },
        ],
      },
      after: { 'answer limit': 'untouched' },
    },
    good: {},
    malformed: {},
    foreign: { id: 'home-email-foreign' },
  },
});

/** Capabilities first, then a real sign-in; a refusal keeps the email and forgets the password. */
const credentials = wizard.createStateConfig({
  initial: 'editing',
  on: {
    'email.type': { guard: not(settled), target: '.editing' },
    'password.type': {
      guard: not(settled),
      target: '.editing',
      actions: { type: 'type', params: ({ event }) => ({ password: event.password }) },
    },
  },
  states: {
    editing: {
      id: 'home-credentials-editing',
      on: {
        'credentials.submit': [
          { guard: 'the password is empty', target: 'passwordMissing' },
          { guard: 'the email is malformed' },
          { guard: 'the email is foreign' },
          { guard: 'operations are known', target: 'verifying' },
          { target: 'asking' },
        ],
      },
    },
    passwordMissing: { on: { 'credentials.submit': { guard: 'the password is empty', target: 'passwordMissing' } } },
    asking: {
      ...waiting,
      id: 'home-asking',
      invoke: {
        src: 'ask for capabilities',
        input: ({ context }) => ({ email: context.typed.email }),
        onDone: [
          {
            guard: { type: 'the provider is the legacy one', params: ({ event }) => ({ capabilities: event.output }) },
            target: 'verifying',
            actions: { type: 'remember the operations', params: ({ event }) => ({ capabilities: event.output }) },
          },
          { target: ['#home-email-foreign', '#home-credentials-editing'] },
        ],
        onError: [
          { guard: failedWith('UNAVAILABLE'), target: 'unavailable' },
          {
            guard: failedWith('PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'),
            target: ['#home-email-foreign', '#home-credentials-editing'],
          },
          {
            target: 'refused',
            actions: {
              type: 'remember the message',
              params: ({ event }) => ({ message: { about: 'sign-in refused', code: failureCodeOf(event.error) } }),
            },
          },
        ],
      },
      after: { 'answer limit': 'timedOut' },
    },
    verifying: {
      ...waiting,
      id: 'home-verifying',
      invoke: {
        src: 'validate the account',
        input: ({ context }) => ({
          email: context.typed.email,
          password: context.typed.password,
          provider: 'sanbruno' as const,
        }),
        onDone: {
          target: 'welcomed',
          actions: [
            'remember the source',
            { type: 'remember the jwt', params: ({ event }) => ({ token: event.output.token }) },
            'forget the typed password',
          ],
        },
        onError: [
          { guard: failedWith('UNAVAILABLE'), target: 'unavailable' },
          {
            target: 'refused',
            actions: [
              {
                type: 'remember the message',
                params: ({ event }) => ({ message: { about: 'sign-in refused', code: failureCodeOf(event.error) } }),
              },
              'forget the typed password',
            ],
          },
        ],
      },
      after: { 'answer limit': 'timedOut' },
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
    timedOut: {
      always: {
        target: 'refused',
        actions: {
          type: 'remember the message',
          params: { message: { about: 'sign-in refused', code: 'GENERAL_ERROR' } },
        },
      },
    },
    unavailable: { tags: 'unavailable', on: { 'call.retry': 'asking', 'connection.return': 'asking' } },
    welcomed: {
      id: 'home-welcomed',
      after: { 'success pause': { target: '#destination', actions: 'forget what was typed' } },
    },
  },
});

/** Finds a transfer by its ID, or leaves for a sign-in that finds all of an address. */
const lookingUp = wizard.createStateConfig({
  initial: 'editing',
  entry: { type: 'type', params: { transferId: '' } },
  on: {
    'transfer-id.type': {
      target: '.editing',
      actions: { type: 'type', params: ({ event }) => ({ transferId: event.id.trim() }) },
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
      ...waiting,
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
          { guard: failedWith('UNAVAILABLE'), target: 'unavailable' },
          { target: 'failed' },
        ],
      },
      after: { 'answer limit': 'failed' },
      on: { 'transfer-id.type': {} },
    },
    notFound: { on: { 'lookup.submit': [{ guard: 'the transfer ID looks right', target: 'asking' }] } },
    failed: { on: { 'lookup.submit': [{ guard: 'the transfer ID looks right', target: 'asking' }] } },
    unavailable: { tags: 'unavailable', on: { 'call.retry': 'asking', 'connection.return': 'asking' } },
  },
});

const message = banner('destination banner life');

/** Step 1. Entering forgets everything; the countdown moves by itself beside the page. */
export const home = wizard.createStateConfig({
  id: 'home',
  type: 'parallel',
  entry: 'forget everything',
  states: {
    countdown,
    // The sign-in has messages of its own.
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
