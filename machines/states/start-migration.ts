import { and, stateIn } from 'xstate';
import { domainOf } from '../../src/contract/email-address.ts';
import { failedWith, failureCodeOf } from '../failure.ts';
import { operationsOf } from '../mode.ts';
import { readUsPhone } from '../phone-number.ts';
import { wizard } from '../wizard.setup.ts';
import type { Context } from '../wizard.types.ts';
import type { LoadRequest } from '../../src/contract/calls/load.ts';
import { banner } from './banner.ts';
import { waiting } from './waiting.ts';

/** Where the notification goes: `portal.md` §5, "Notification contact". */
const contact = wizard.createStateConfig({
  initial: 'arriving',
  on: {
    // What is being submitted stays as it is.
    'contact.type': {
      guard: stateIn('#start-migration-waiting'),
      target: '.arriving',
      actions: { type: 'remember the contact', params: ({ event }) => event },
    },
  },
  states: {
    arriving: { always: [{ guard: 'the contact is empty', target: 'empty' }, { target: 'typing' }] },
    empty: { after: { 'empty contact pause': 'missing' } },
    missing: {},
    typing: {
      after: {
        'typing pause': [
          {
            guard: and(['the contact is a phone number to be', 'the contact is no phone number']),
            target: 'wrongPhoneNumber',
          },
          { guard: 'the contact is a phone number to be', target: 'checkingPhoneNumber' },
          { guard: 'the contact is no email', target: 'wrongEmail' },
          { guard: 'the contact is a legacy address', target: 'legacyAddress' },
          { target: 'checkingDomain' },
        ],
      },
    },
    checkingPhoneNumber: {
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
        onError: [{ guard: failedWith('UNAVAILABLE'), target: 'unavailable' }, { target: 'wrongPhoneNumber' }],
      },
      after: { 'answer limit': 'wrongPhoneNumber' },
    },
    checkingDomain: {
      invoke: {
        src: 'check the domain',
        input: ({ context }) => ({ domain: domainOf(context.notificationContact.trim()) }),
        onDone: [
          { guard: { type: 'it is valid', params: ({ event }) => event.output }, target: 'good' },
          { target: 'wrongEmail' },
        ],
        onError: [{ guard: failedWith('UNAVAILABLE'), target: 'unavailable' }, { target: 'wrongEmail' }],
      },
      after: { 'answer limit': 'wrongEmail' },
    },
    good: { id: 'start-migration-contact-good' },
    wrongEmail: {},
    wrongPhoneNumber: {},
    legacyAddress: {},
    unavailable: { tags: 'unavailable', on: { 'call.retry': 'typing', 'connection.return': 'typing' } },
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

const fail = {
  type: 'show the message' as const,
  params: ({ event }: { event: { readonly error: unknown } }) => ({
    message: { about: 'load failed' as const, code: failureCodeOf(event.error) },
  }),
};
const giveUp = {
  target: 'waiting',
  actions: {
    type: 'show the message' as const,
    params: { message: { about: 'load failed' as const, code: 'GENERAL_ERROR' as const } },
  },
};

/** One submit, one job: the button does nothing while one is under way, and the server knows the same submit again. */
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
        'page.back': '#destination',
      },
    },
    announcing: {
      ...waiting,
      invoke: {
        src: 'announce the migration',
        input: ({ context }) => ({ email: context.source?.email ?? '', inQa: context.settings.inQa }),
        onDone: 'loading',
        onError: [
          { guard: failedWith('UNAVAILABLE'), target: 'unavailable' },
          { target: 'waiting', actions: fail },
        ],
      },
      after: { 'answer limit': giveUp },
    },
    loading: {
      ...waiting,
      invoke: {
        src: 'start the transfer',
        input: ({ context }) => loadRequestOf(context),
        onDone: {
          target: '#complete',
          actions: { type: 'remember the transfer', params: ({ event }) => ({ id: event.output.jobid }) },
        },
        onError: [
          { guard: failedWith('UNAVAILABLE'), target: 'unavailable' },
          { target: 'waiting', actions: fail },
        ],
      },
      after: { 'answer limit': giveUp },
    },
    unavailable: {
      tags: 'unavailable',
      on: {
        'call.retry': [{ guard: 'it is the primary move', target: 'announcing' }, { target: 'loading' }],
        'connection.return': [{ guard: 'it is the primary move', target: 'announcing' }, { target: 'loading' }],
      },
    },
  },
});

/** Step 3: who is told, and the start. */
export const startMigration = wizard.createStateConfig({
  id: 'start-migration',
  type: 'parallel',
  states: { contact, submission, banner: banner('banner life') },
});
