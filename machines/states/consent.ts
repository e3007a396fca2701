import { not, or } from 'xstate';
import { queryErrorOf } from '../../src/contract/failure-code.ts';
import { oauthAddress } from '../../src/contract/calls/oauth.ts';
import { PAGE, readOauthReturn } from '../../src/contract/page-address.ts';
import { wizard } from '../wizard.setup.ts';
import type { Context, Message } from '../wizard.types.ts';
import { unavailableUntilAsked } from './unavailable.ts';

/**
 * Away to a provider's sign-in. The page unloads here, unless there is no line; the way back is `returned…`. It has no address of its own, so
 * Back leads to the page that was left; out of the back/forward cache it returns there by itself.
 */
function leaving(role: 'move' | 'transfer' | 'status') {
  return wizard.createStateConfig({
    id: `leaving-for-${role}`,
    ...(role === 'status' ? {} : { meta: { step: 2 } as const }),
    tags: 'busy',
    entry: {
      type: 'leave for',
      params: ({ context }) => ({
        address: oauthAddress(role === 'status' ? 'status' : 'transfer', context.destination?.provider ?? ''),
      }),
    },
    on: {
      'page.return': role === 'status' ? '#home' : '#destination',
      'connection.lose': role === 'status' ? '#unavailable-for-status' : '#unavailable-for-transfer',
    },
  });
}

export const leavingForMove = leaving('move');
export const leavingForTransfer = leaving('transfer');
export const leavingForStatus = leaving('status');

function refusal({ context }: { context: Context }): { message: Message } {
  return { message: { about: 'query', error: queryErrorOf(context.returned?.error ?? '') } };
}

/**
 * The server that a sign-in led through is closed, or without its database (`decisions.md`, "The migration portal is
 * unavailable…"): the visitor begins the same sign-in anew.
 */
function closed(role: 'transfer' | 'status') {
  return wizard.createStateConfig({
    id: `unavailable-for-${role}`,
    ...(role === 'status' ? {} : { meta: { step: 2 } as const }),
    ...unavailableUntilAsked(`#leaving-for-${role}`),
  });
}

export const unavailableForTransfer = closed('transfer');
export const unavailableForStatus = closed('status');

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

/** Google's terms come before anything is done with the account, even when a stored session has lost them. */
export const checkingTerms = wizard.createStateConfig({
  always: [{ guard: 'terms are missing', target: '#google-terms' }, { target: '#start-migration' }],
});

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
    {
      guard: 'the return has no hash',
      target: '#home',
      actions: { type: 'show the message', params: { message: { about: 'query', error: 'OTHER' } } },
    },
    { target: '#status-from-email', actions: ['remember the returned destination', 'remember the hash'] },
  ],
});
