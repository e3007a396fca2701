import { and, not, or, stateIn } from 'xstate';
import { failedWith, failureOf } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import type { Context } from '../wizard.types.ts';
import { isLegacyProvider, rememberTypedAccount, signsInByOauth } from './capabilities-answer.ts';
import { asAddress, typeEmail, typePassword } from './typed-account.ts';
import { ifUnavailable, unavailable, unavailableInForm, unavailableUntilAsked } from './unavailable.ts';
import { givingUp, waiting } from './waiting.ts';

/** Fields can't be edited during verification. */
const verifying = or([stateIn('#other-credentials-asking'), stateIn('#other-credentials-verifying')]);

/**
 * The email: malformed, at a legacy domain, at an unknown provider, without a mail server that can be found, or valid. If
 * valid, how its provider signs in is remembered.
 */
const email = wizard.createStateConfig({
  initial: 'untouched',
  on: {
    'email.type': {
      guard: not(verifying),
      target: '.typing',
      actions: [typeEmail, 'forget the typed account'],
    },
  },
  states: {
    untouched: {},
    typing: {
      after: {
        'typing pause': [
          { guard: 'the email is malformed', target: 'malformed' },
          { guard: 'the email is at a legacy domain', target: 'legacyAddress' },
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
            target: 'unsupported',
          },
          {
            target: 'good',
            actions: rememberTypedAccount,
          },
        ],
        onError: [
          ifUnavailable,
          { guard: failedWith('INVALID_EMAIL'), target: 'malformed' },
          { guard: failedWith('PROVIDER_NOT_SUPPORTED', 'UNSUPPORTED_PROVIDER'), target: 'unsupported' },
          { target: 'untouched' },
        ],
      },
    },
    good: {},
    malformed: { id: 'other-email-malformed' },
    legacyAddress: {},
    unsupported: { id: 'other-email-unsupported' },
    // With a host given, none has to be found.
    serverless: { id: 'other-email-serverless', always: { guard: not(stateIn('#other-host-unused')), target: 'good' } },
    unavailable: unavailableInForm('checking', 'untouched'),
  },
});

const resolving = {
  src: 'resolve the host',
  input: ({ context }: { context: Context }) => ({ imap: context.typed.host }),
  onDone: '#other-host-good',
} as const;

/** The optional IMAP host: checked when the field is left. */
const host = wizard.createStateConfig({
  initial: 'unused',
  states: {
    unused: {
      id: 'other-host-unused',
      entry: 'forget the typed host',
      on: { 'host.toggle': { guard: not(verifying), target: 'used' } },
    },
    used: {
      initial: 'untouched',
      on: {
        'host.toggle': { guard: not(verifying), target: 'unused' },
        'host.type': {
          guard: not(verifying),
          target: '.typing',
          actions: { type: 'type', params: ({ event }) => ({ host: asAddress(event.host) }) },
        },
      },
      states: {
        untouched: { on: { 'host.leave': 'malformed' } },
        typing: {
          on: {
            'host.leave': [{ guard: 'the host is malformed', target: 'malformed' }, { target: 'checking' }],
          },
        },
        checking: {
          ...givingUp('unresolved.unchecked'),
          invoke: {
            ...resolving,
            onError: [
              ifUnavailable,
              { guard: failedWith('INVALID_IMAP'), target: 'unresolved' },
              { target: 'unresolved.unchecked' },
            ],
          },
        },
        good: { id: 'other-host-good' },
        malformed: { id: 'other-host-malformed' },
        unresolved: {
          initial: 'unknown',
          on: { 'host.leave': 'checking' },
          states: {
            unknown: { id: 'other-host-unknown' },
            // A failed check says nothing about the host, so it is repeated until it succeeds. The visitor may be typing in
            // another field, so the form stays even if the portal is unavailable.
            unchecked: {
              initial: 'pausing',
              states: {
                pausing: { after: { 'check pause': 'checking' } },
                checking: {
                  ...givingUp('pausing'),
                  invoke: {
                    ...resolving,
                    onError: [
                      { guard: failedWith('INVALID_IMAP'), target: '#other-host-unknown' },
                      { target: 'pausing' },
                    ],
                  },
                },
              },
            },
          },
        },
        unavailable: unavailable('checking'),
      },
    },
  },
});

const refused = {
  target: 'editing',
  actions: { type: 'show the message', params: failureOf('sign-in refused') },
} as const;

/** At a provider with OAuth, and no host was given. */
const byOauth = and(['the account signs in by OAuth', stateIn('#other-host-unused')]);

/** Whether the page asks for the password: not if the provider's own sign-in does. */
const password = wizard.createStateConfig({
  initial: 'asked',
  states: {
    asked: {
      initial: 'good',
      always: { guard: byOauth, target: 'notAsked' },
      on: {
        'password.type': {
          guard: not(verifying),
          target: '.good',
          actions: typePassword,
        },
        'password.refuse': '.refused',
      },
      // The field still shows the refusal after the message has cleared.
      states: { good: {}, refused: {} },
    },
    notAsked: { always: { guard: not(byOauth), target: 'asked' } },
  },
});

/** By OAuth if the provider supports it, else by password and without contacts. */
const credentials = wizard.createStateConfig({
  initial: 'editing',
  states: {
    editing: {
      id: 'other-credentials-editing',
      on: {
        'credentials.submit': [
          { guard: and(['the account can sign in', stateIn('#other-host-good')]), target: 'verifying' },
          { guard: not(and(['the account can sign in', stateIn('#other-host-unused')])) },
          { guard: 'the account signs in by OAuth', target: 'departing' },
          { guard: 'the account signs in by password', target: 'verifying' },
          { target: 'asking' },
        ],
      },
    },
    asking: {
      ...waiting(refused),
      id: 'other-credentials-asking',
      invoke: {
        src: 'ask for capabilities',
        input: ({ context }) => ({ email: context.typed.email }),
        onDone: [
          {
            guard: isLegacyProvider,
            target: ['#other-email-unsupported', '#other-credentials-editing'],
          },
          {
            guard: signsInByOauth,
            target: 'departing',
            actions: rememberTypedAccount,
          },
          {
            target: 'verifying',
            actions: rememberTypedAccount,
          },
        ],
        onError: [
          ifUnavailable,
          { guard: failedWith('INVALID_EMAIL'), target: ['#other-email-malformed', '#other-credentials-editing'] },
          {
            guard: failedWith('PROVIDER_NOT_SUPPORTED', 'UNSUPPORTED_PROVIDER'),
            target: ['#other-email-unsupported', '#other-credentials-editing'],
          },
          refused,
        ],
      },
    },
    verifying: {
      ...waiting(refused),
      id: 'other-credentials-verifying',
      invoke: {
        src: 'validate the account',
        input: ({ context }) => ({
          email: context.typed.email,
          password: context.typed.password,
          provider: context.typedAccount?.provider ?? 'other',
          ...(context.typed.host === '' ? {} : { imap: context.typed.host }),
        }),
        onDone: {
          target: '#start-migration',
          actions: ['remember the destination by password', 'forget what was typed'],
        },
        onError: [
          ifUnavailable,
          {
            guard: and([failedWith('INVALID_IMAP'), not(stateIn('#other-host-unused'))]),
            target: ['#other-host-malformed', '#other-credentials-editing'],
          },
          {
            guard: failedWith('INVALID_IMAP'),
            target: ['#other-email-serverless', '#other-credentials-editing'],
            actions: refused.actions,
          },
          {
            guard: failedWith('INVALID_CREDENTIALS'),
            target: 'editing',
            actions: [refused.actions, 'forget the typed password', 'refuse the password'],
          },
          { target: 'editing', actions: [refused.actions, 'forget the typed password'] },
        ],
      },
    },
    departing: {
      always: [
        {
          guard: and(["the typed account is Google's", not('terms are accepted')]),
          target: '#google-terms',
          actions: ['choose the typed provider', 'forget the typed password'],
        },
        { target: '#leaving-for-transfer', actions: ['choose the typed provider', 'forget the typed password'] },
      ],
    },
    unavailable: unavailableUntilAsked('asking', 'editing'),
  },
});

/** Any other provider: email, an optional host, and the sign-in. */
export const otherAccount = wizard.createStateConfig({
  type: 'parallel',
  states: { email, host, password, credentials },
});
