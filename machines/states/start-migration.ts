import { and, stateIn } from 'xstate';
import { domainOf } from '../../src/contract/email-address.ts';
import { type FailedEvent, failedWith, failureOf, refusedBy, transferInTheWay } from '../failure.ts';
import { modeOf, operationsOf } from '../mode.ts';
import { readUsPhone } from '../phone-number.ts';
import { wizard } from '../wizard.setup.ts';
import type { Context, Message } from '../wizard.types.ts';
import type { LoadRequest } from '../../src/contract/calls/load.ts';
import { askingHome } from './asking-home.ts';
import { banner } from './banner.ts';
import { openingTheOther } from './opening-the-other.ts';
import { withoutMarks } from './typed-account.ts';
import { ifUnavailable, unavailable, unavailableUntilAsked } from './unavailable.ts';
import { givingUp, waiting } from './waiting.ts';

const checking = [
  { guard: 'the contact is to be a phone number', target: 'checkingPhoneNumber' },
  { target: 'checkingDomain' },
] as const;

/** A pause after the typing stops; Enter asks for it at once. */
const judging = [
  {
    guard: and(['the contact is to be a phone number', 'the contact is no phone number']),
    target: 'wrongPhoneNumber',
  },
  { guard: 'the contact is to be a phone number', target: 'checkingPhoneNumber' },
  { guard: 'the contact is no email', target: 'wrongEmail' },
  { guard: 'the contact is a legacy address', target: 'legacyAddress' },
  { target: 'checkingDomain' },
] as const;

/** The notification contact: `portal.md` §5, "Notification contact". */
const contact = wizard.createStateConfig({
  initial: 'arriving',
  on: {
    // Nothing can be edited during submission.
    'contact.type': {
      guard: stateIn('#start-migration-waiting'),
      target: '.arriving',
      actions: { type: 'remember the contact', params: ({ event }) => ({ contact: withoutMarks(event.contact) }) },
    },
  },
  states: {
    arriving: { always: [{ guard: 'the contact is empty', target: 'empty' }, { target: 'typing' }] },
    empty: { after: { 'empty contact pause': 'missing' }, on: { 'contact.enter': 'missing' } },
    missing: {},
    typing: { after: { 'typing pause': judging }, on: { 'contact.enter': judging } },
    checkingPhoneNumber: {
      ...givingUp('unchecked'),
      invoke: {
        src: 'check the phone number',
        input: ({ context }) => ({ number: readUsPhone(context.notificationContact) ?? '' }),
        onDone: [
          {
            guard: { type: 'it is valid', params: ({ event }) => event.output },
            target: 'good',
            actions: 'normalise the phone number',
          },
          { target: 'wrongPhoneNumber' },
        ],
        onError: [ifUnavailable, { target: 'unchecked' }],
      },
    },
    checkingDomain: {
      ...givingUp('unchecked'),
      invoke: {
        src: 'check the domain',
        input: ({ context }) => ({ domain: domainOf(context.notificationContact.trim()) }),
        onDone: [
          { guard: { type: 'it is valid', params: ({ event }) => event.output }, target: 'good' },
          { target: 'wrongEmail' },
        ],
        onError: [ifUnavailable, { target: 'unchecked' }],
      },
    },
    good: { id: 'start-migration-contact-good' },
    // A failed check says nothing about the contact, so it is repeated until it succeeds.
    unchecked: { after: { 'check pause': checking }, on: { 'contact.enter': checking } },
    wrongEmail: {},
    wrongPhoneNumber: {},
    legacyAddress: {},
    unavailable: unavailable('typing'),
  },
});

/** The request, as `portal.md` §3 has it. An export belongs to the address that is told of it. */
function loadRequestOf(context: Context): LoadRequest {
  const { source, destination, settings, emailExportType, contactsExportType } = context;
  const isExport = destination?.provider === 'file_export';
  const notificationEmail = context.notificationContact.trim().toLowerCase();
  return {
    sourceAccount: { email: source?.email ?? '', password: source?.password ?? '', provider: 'sanbruno' },
    destinationAccount: {
      email: isExport ? notificationEmail : (destination?.email ?? ''),
      provider: destination?.provider ?? 'other',
      ...(destination?.password === undefined ? {} : { password: destination.password }),
      ...(destination?.tokenId === undefined ? {} : { tokenId: destination.tokenId }),
    },
    operations: operationsOf(context),
    parameters: {
      ...(destination?.imap === undefined ? {} : { destinationImap: destination.imap }),
      notificationEmail,
      inQa: settings.inQa,
    },
    fileExportParameters: {
      ...(isExport && emailExportType !== null ? { emailFormat: emailExportType } : {}),
      ...(isExport && contactsExportType !== null ? { contactsFormat: contactsExportType } : {}),
    },
  };
}

/** A download is only refused where there are as many as a mailbox may have at a time. */
function loadFailure({ context, event }: { context: Context; event: FailedEvent }): { message: Message } {
  const { message } = failureOf('load failed')({ event });
  const isOneTooMany = message.code === 'OPERATION_NOT_ALLOWED' && modeOf(context) === 'download';
  return { message: isOneTooMany ? { about: 'too many downloads' } : message };
}

const failed = {
  target: 'waiting',
  actions: [
    { type: 'show the message', params: loadFailure },
    { type: 'remember the transfer in the way', params: transferInTheWay },
  ],
} as const;

/** One submit makes one job: the button is inactive during a submit, and the server recognises a repeated one. */
const submission = wizard.createStateConfig({
  initial: 'waiting',
  states: {
    waiting: {
      id: 'start-migration-waiting',
      on: {
        'transfer.submit': [
          {
            guard: and([stateIn('#start-migration-contact-good'), 'it is the primary move']),
            target: 'announcing',
          },
          { guard: stateIn('#start-migration-contact-good'), target: 'loading' },
        ],
        'contacts.allow': {
          guard: 'contacts were left out',
          target: '#leaving-for-transfer',
          actions: 'choose the same provider again',
        },
        'page.back': '#destination',
      },
    },
    announcing: {
      ...waiting(failed),
      invoke: {
        src: 'announce the migration',
        input: ({ context }) => ({ email: context.source?.email ?? '', inQa: context.settings.inQa }),
        onDone: 'loading',
        onError: [ifUnavailable, failed],
      },
    },
    loading: {
      ...waiting(failed),
      invoke: {
        src: 'start the transfer',
        input: ({ context }) => loadRequestOf(context),
        onDone: {
          target: '#complete',
          actions: [
            'forget the transfer',
            { type: 'remember the transfer', params: ({ event }) => ({ id: event.output.jobid }) },
            'remember where the transfer goes',
            'forget the passwords',
          ],
        },
        onError: [
          ifUnavailable,
          {
            guard: refusedBy('source'),
            target: 'waiting',
            actions: [
              { type: 'show the message', params: { message: { about: 'source sign-in ended' } } },
              { type: 'remember the transfer in the way', params: transferInTheWay },
            ],
          },
          {
            guard: { ...failedWith('INVALID_CREDENTIALS'), type: 'the sign-in elsewhere has ended' },
            target: 'waiting',
            actions: [
              {
                type: 'show the message',
                params: ({ context }) => ({
                  message: { about: 'sign-in elsewhere ended', provider: context.destination?.provider ?? 'other' },
                }),
              },
              { type: 'remember the transfer in the way', params: transferInTheWay },
            ],
          },
          failed,
        ],
      },
    },
    unavailable: unavailableUntilAsked(
      [{ guard: 'it is the primary move', target: 'announcing' }, { target: 'loading' }],
      'waiting',
    ),
  },
});

/** Step 3: the notification contact, and the start. */
export const startMigration = wizard.createStateConfig({
  id: 'start-migration',
  meta: { step: 3, page: { path: '/start-migration', visit: () => ({ type: 'start-migration.visit' }) } },
  type: 'parallel',
  on: openingTheOther,
  states: { contact, submission, banner: banner('banner life'), home: askingHome },
});
