import { and, not, or, stateIn } from 'xstate';
import { failureOf } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import type { SupportRequest } from '../../src/contract/calls/support-form.ts';
import { asTransferId } from '../../src/contract/transfer-status.ts';
import type { Context, Event, Typed } from '../wizard.types.ts';
import { banner } from './banner.ts';
import { sayingSignedOut } from './signing-out.ts';
import { asAddress } from './typed-account.ts';
import { ifUnavailable, unavailableUntilAsked } from './unavailable.ts';
import { waiting } from './waiting.ts';

type Field = {
  readonly event: 'legacy-email.type' | 'contact-email.type' | 'support-id.type';
  readonly guard:
    | 'the support email is off the cable domain'
    | 'the contact email is wrong'
    | 'the support ID is wrong';
  readonly read: (event: Event) => Partial<Typed>;
};

/** The legacy email and an issue are required. */
const incomplete = or(['the support email is off the cable domain', 'the issue is too short or too long']);

/** A field that is checked a pause after the typing stops, and again on submit. Nothing is sent while a field is wrong. */
function settledField({ event, guard, read }: Field) {
  return wizard.createStateConfig({
    initial: 'good',
    on: {
      [event]: {
        guard: not(stateIn('#support-posting')),
        target: '.typing',
        actions: { type: 'type', params: ({ event }: { event: Event }) => read(event) },
      },
      'support.submit': [
        { guard: incomplete },
        // The legacy email is known to be valid once the message is complete.
        ...(event === 'legacy-email.type' ? [] : [{ guard, target: '.wrong' as const }]),
        { target: '.good' as const },
      ],
    },
    states: {
      good: {},
      typing: { after: { 'typing pause': [{ guard, target: 'wrong' }, { target: 'good' }] } },
      wrong: {},
    },
  });
}

function supportRequestOf({ typed }: Context): SupportRequest {
  return {
    emailAddress: typed.legacyEmail.trim(),
    issue: typed.issue.trim(),
    ...(typed.contactEmail === '' ? {} : { destinationEmail: typed.contactEmail }),
    ...(typed.supportId === '' ? {} : { migrationId: typed.supportId }),
  };
}

const failed = {
  target: 'editing',
  actions: { type: 'show the message', params: failureOf('support failed') },
} as const;

const sending = wizard.createStateConfig({
  initial: 'editing',
  states: {
    editing: {
      // A reload shows once more what was sent.
      always: { guard: 'a letter was sent', target: 'sent' },
      on: {
        'issue.type': { actions: { type: 'type', params: ({ event }) => ({ issue: event.issue }) } },
        'support.submit': {
          guard: not(or([incomplete, 'the contact email is wrong', 'the support ID is wrong'])),
          target: 'posting',
        },
      },
    },
    posting: {
      ...waiting(failed),
      id: 'support-posting',
      invoke: {
        src: 'write to support',
        input: ({ context }) => supportRequestOf(context),
        onDone: {
          target: 'sent',
          actions: [
            { type: 'remember the letter', params: ({ context }) => ({ letter: supportRequestOf(context) }) },
            { type: 'type', params: { issue: '' } },
            { type: 'show the message', params: { message: { about: 'support sent' } } },
          ],
        },
        onError: [ifUnavailable, failed],
      },
    },
    // `#support` is entered anew, so that the page's message about the last letter goes.
    sent: { on: { 'support.again': '#support' }, exit: 'forget the letter' },
    unavailable: unavailableUntilAsked('posting', 'editing'),
  },
});

/** A message to support. */
export const support = wizard.createStateConfig({
  id: 'support',
  meta: { page: { path: '/support-form', visit: () => ({ type: 'support.visit' }) } },
  type: 'parallel',
  on: {
    'sign-out.hear': {
      guard: and(['the source can sign in', 'a letter is in sight']),
      actions: ['forget all but the letter', ...sayingSignedOut],
    },
  },
  states: {
    legacyEmail: settledField({
      event: 'legacy-email.type',
      guard: 'the support email is off the cable domain',
      read: (event) => (event.type === 'legacy-email.type' ? { legacyEmail: asAddress(event.email) } : {}),
    }),
    contactEmail: settledField({
      event: 'contact-email.type',
      guard: 'the contact email is wrong',
      read: (event) => (event.type === 'contact-email.type' ? { contactEmail: asAddress(event.email) } : {}),
    }),
    transferId: settledField({
      event: 'support-id.type',
      guard: 'the support ID is wrong',
      read: (event) => (event.type === 'support-id.type' ? { supportId: asTransferId(event.id) } : {}),
    }),
    sending,
    banner: banner('banner life'),
  },
});
