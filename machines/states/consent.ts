import { and, not, or } from 'xstate';
import { queryErrorOf } from '../../src/contract/failure-code.ts';
import { oauthAddress } from '../../src/contract/calls/oauth.ts';
import { PAGE, readOauthReturn } from '../../src/contract/page-address.ts';
import { wizard } from '../wizard.setup.ts';
import type { Context, Message } from '../wizard.types.ts';
import { unavailableUntilAsked } from './unavailable.ts';
import { givingUp } from './waiting.ts';

/** The page from which each sign-in is begun. */
const BEGUN_AT = {
  transfer: '#destination',
  status: '#home',
  act: { target: '#status', actions: 'return to the transfer' },
} as const;
type Role = keyof typeof BEGUN_AT;

function stepOf(role: Role) {
  return role === 'status' ? {} : ({ meta: { step: role === 'act' ? 4 : 2 } } as const);
}

/**
 * Leaves for a provider's sign-in. The page unloads here, except when the browser is offline or the provider's page
 * does not come; the way back is `returned…`. For an `act` the sign-in belongs to an existing transfer. The state has
 * no address, so Back leads to the page before it: the machine sees to that while the portal is still loaded, the
 * back/forward cache afterwards.
 */
function leaving(id: 'move' | Role) {
  const role = id === 'move' ? 'transfer' : id;
  const unavailable = `#unavailable-for-${role}` as const;
  return wizard.createStateConfig({
    id: `leaving-for-${id}`,
    ...stepOf(role),
    ...givingUp(unavailable),
    tags: 'busy',
    entry: {
      type: 'leave for',
      params: ({ context }) => ({
        address: oauthAddress(
          role === 'status' ? 'status' : 'transfer',
          (role === 'act' ? context.awaitedConsent : context.destination)?.provider ?? '',
        ),
      }),
    },
    on: { 'page.return': BEGUN_AT[role], 'modal.close': BEGUN_AT[role], 'connection.lose': unavailable },
  });
}

export const leavingForMove = leaving('move');
export const leavingForTransfer = leaving('transfer');
export const leavingForStatus = leaving('status');
export const leavingForAct = leaving('act');

function refusal({ context }: { context: Context }): { message: Message } {
  return { message: { about: 'query', error: queryErrorOf(context.returned?.error ?? '') } };
}

/** In the middle of the wizard, going Home and signing out are asked about first, on the page that was left. */
const ASKING_FIRST = {
  'home.press': '#destination.home.asking',
  'sign-out.press': '#destination.home.askingToSignOut',
} as const;

/**
 * The server that a sign-in led through is closed, or without its database (`decisions.md`, "The migration portal is
 * unavailable…"): the visitor begins the same sign-in anew.
 */
function closed(role: Role) {
  const { tags, on } = unavailableUntilAsked(`#leaving-for-${role}`, BEGUN_AT[role]);
  return wizard.createStateConfig({
    id: `unavailable-for-${role}`,
    ...stepOf(role),
    tags,
    on: role === 'transfer' ? { ...on, ...ASKING_FIRST } : on,
  });
}

export const unavailableForTransfer = closed('transfer');
export const unavailableForStatus = closed('status');
export const unavailableForAct = closed('act');

/** Back from a sign-in for the move or a transfer: `portal.md` §4, "OAuth callback success", and §8. */
export const returned = wizard.createStateConfig({
  id: 'returned',
  meta: {
    step: 2,
    page: {
      path: PAGE.oauthReturn,
      visit: (ask) => ({ type: 'oauth-callback.visit', ...readOauthReturn(ask) }),
    },
  },
  always: [
    { guard: 'the return found the portal unavailable', target: '#unavailable-for-transfer' },
    { guard: 'the return lacks the scopes of Google', target: '#email-scopes' },
    {
      guard: 'the return has an error',
      target: '#destination',
      actions: { type: 'show the message', params: refusal },
    },
    {
      guard: or(['the return is incomplete', not('the return is of a sign-in that this tab began')]),
      target: '#destination',
      actions: { type: 'show the message', params: { message: { about: 'query', error: 'OTHER' } } },
    },
    {
      guard: 'the return is from another mailbox',
      target: '#destination',
      actions: { type: 'show the message', params: { message: { about: 'query', error: 'INVALID_EMAIL' } } },
    },
    { target: 'checkingTerms', actions: 'remember the returned destination' },
  ],
});

/** Google's terms must be accepted before the account is used, even if a stored session has lost their acceptance. */
export const checkingTerms = wizard.createStateConfig({
  always: [{ guard: 'terms are missing', target: '#google-terms' }, { target: '#start-migration' }],
});

const rememberReturn = ['remember the returned destination', 'remember the hash'] as const;

/** Back from a sign-in that proves an address, to list its transfers. */
export const returnedForStatus = wizard.createStateConfig({
  id: 'returned-for-status',
  meta: {
    page: {
      path: PAGE.oauthReturnForStatus,
      visit: (ask) => ({ type: 'oauth-callback-for-status.visit', ...readOauthReturn(ask) }),
    },
  },
  always: [
    { guard: 'the return found the portal unavailable', target: '#unavailable-for-status' },
    { guard: 'the return has an error', target: '#home', actions: { type: 'show the message', params: refusal } },
    {
      guard: 'the return is incomplete',
      target: '#home',
      actions: { type: 'show the message', params: { message: { about: 'query', error: 'OTHER' } } },
    },
    { guard: 'the return has no hash', target: '#status-from-email-not-found', actions: rememberReturn },
    { target: '#status-from-email', actions: rememberReturn },
  ],
});

const actRefused = [{ type: 'remember the message', params: refusalOfAct }, 'return to the transfer'] as const;

function refusalOfAct({ context }: { context: Context }): { message: Message } {
  const error = context.returned?.error ?? '';
  return { message: { about: 'query', error: error === '' ? 'OTHER' : queryErrorOf(error) } };
}

/**
 * Back from a sign-in for a transfer that was ordered before. A sign-in that the transfer needs to continue is used at
 * once; before a take-back or another run, the visitor is asked once more.
 */
export const returnedForAct = wizard.createStateConfig({
  id: 'returned-for-act',
  always: [
    { guard: 'the return found the portal unavailable', target: '#unavailable-for-act' },
    {
      guard: and(['the consent failed', 'the consent is to mend']),
      target: ['#status-asking', '#status-mending-refused'],
      actions: actRefused,
    },
    {
      guard: and(['the consent failed', 'the consent is to take back']),
      target: ['#status-asking', '#status-taking-back-unproven'],
      actions: actRefused,
    },
    {
      guard: and(['the consent failed', 'the consent is for once a day']),
      target: ['#status-asking', '#status-daily-refused'],
      actions: actRefused,
    },
    {
      guard: 'the consent failed',
      target: ['#status-asking', '#status-again-refused'],
      actions: actRefused,
    },
    {
      guard: 'the consent is to mend',
      target: ['#status-asking', '#status-mending-calling'],
      actions: ['remember the sign-in', 'return to the transfer'],
    },
    {
      guard: 'the consent is to take back',
      target: ['#status-asking', '#status-taking-back-confirming'],
      actions: ['remember the sign-in', 'return to the transfer'],
    },
    {
      guard: 'the consent is for once a day',
      target: ['#status-asking', '#status-daily'],
      actions: ['remember the sign-in', 'return to the transfer'],
    },
    {
      target: ['#status-asking', '#status-again'],
      actions: ['remember the sign-in', 'return to the transfer'],
    },
  ],
});
