import { and, matchesState, type StateValue } from 'xstate';
import { readError } from '../../src/contract/page-address.ts';
import { failedWith, failureOf, transferInTheWay } from '../failure.ts';
import { wizard } from '../wizard.setup.ts';
import { askingHome } from './asking-home.ts';
import { banner } from './banner.ts';
import { errorInAddress } from './error-in-address.ts';
import { openingTheOther } from './opening-the-other.ts';
import { otherAccount } from './other-account.ts';
import { ifUnavailable, unavailableUntilAsked } from './unavailable.ts';
import { waiting } from './waiting.ts';

const refused = {
  target: 'offered',
  actions: [
    { type: 'show the message', params: failureOf('account creation') },
    { type: 'remember the transfer in the way', params: transferInTheWay },
  ],
} as const;

/** The account may be created all the same; the next try then gets `ACCOUNT_ALREADY_CREATED` and goes on. */
const closing = { 'modal.close': 'offered' } as const;

/** The primary move: warned, the account made, and after a pause away to the provider's sign-in. */
const move = wizard.createStateConfig({
  initial: 'offered',
  states: {
    offered: { id: 'destination-offered', on: { 'move.press': 'warned' } },
    warned: { on: { 'move.continue': 'creatingAccount', ...closing } },
    creatingAccount: {
      ...waiting(refused),
      on: closing,
      invoke: {
        src: 'create the account',
        input: ({ context }) => ({
          email: context.source?.email ?? '',
          password: context.source?.password ?? '',
          inQa: context.settings.inQa,
        }),
        onDone: 'redirecting',
        onError: [{ guard: failedWith('ACCOUNT_ALREADY_CREATED'), target: 'redirecting' }, ifUnavailable, refused],
      },
    },
    redirecting: {
      tags: 'busy',
      on: closing,
      after: { 'redirect pause': { target: '#leaving-for-move', actions: 'choose the move' } },
    },
    unavailable: unavailableUntilAsked('creatingAccount', 'offered'),
  },
});

/** The formats of a download: the recommended ones, unless others are chosen. */
const download = wizard.createStateConfig({
  id: 'destination-download',
  entry: 'recommend the formats',
  on: {
    'page.back': '#destination-choosing',
    'email-format.choose': { actions: { type: 'choose the email format', params: ({ event }) => event } },
    'contacts-format.choose': { actions: { type: 'choose the contacts format', params: ({ event }) => event } },
    'download.press': {
      target: '#start-migration',
      actions: { type: 'choose the provider', params: { provider: 'file_export' } },
    },
  },
});

const chooseProvider = { type: 'choose the provider' as const, params: { provider: 'google' as const } };

const options = wizard.createStateConfig({
  initial: 'arriving',
  on: {
    'provider.choose': [
      {
        guard: and(['Google is chosen', 'terms are accepted']),
        target: '#leaving-for-transfer',
        actions: chooseProvider,
      },
      {
        guard: 'Google is chosen',
        target: '#google-terms',
        actions: chooseProvider,
      },
      { guard: 'another provider is chosen', target: '.other' },
      { guard: 'a download is chosen', target: '.download' },
      {
        target: '#leaving-for-transfer',
        actions: { type: 'choose the provider', params: ({ event }) => event },
      },
    ],
  },
  states: {
    // Visitors who return from one of the other ways find the options open.
    arriving: { always: [{ guard: 'another way was begun', target: 'choosing' }, { target: 'closed' }] },
    closed: { on: { 'options.toggle': 'choosing' } },
    choosing: { id: 'destination-choosing', on: { 'options.toggle': 'closed' } },
    other: { ...otherAccount, id: 'destination-other', on: { 'page.back': 'choosing' } },
    download,
  },
});

/** Puts the form that replaces the page into the address, so that Back leaves it and a reload keeps it. */
const WAY = 'way';
function wayInAddress(value: StateValue): Record<string, string> {
  const way = ['other', 'download'].find((options) => matchesState({ destination: { options } }, value));
  return way === undefined ? {} : { [WAY]: way };
}

/** Step 2: the destination. */
export const destination = wizard.createStateConfig({
  id: 'destination',
  meta: {
    step: 2,
    page: {
      path: '/destination-account',
      visit: (ask) => ({ type: 'destination.visit', error: readError(ask), way: ask(WAY) }),
      query: (context, value) => ({ ...errorInAddress(context), ...wayInAddress(value) }),
    },
  },
  type: 'parallel',
  on: openingTheOther,
  states: { move, options, banner: banner('destination banner life'), home: askingHome },
});
