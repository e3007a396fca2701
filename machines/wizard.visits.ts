import { and, not, or, stateIn } from 'xstate';
import { queryErrorOf } from '../src/contract/failure-code.ts';
import type { OauthReturn } from '../src/contract/page-address.ts';
import { asGuide } from './mail-guide.ts';
import { wizard } from './wizard.setup.ts';

const ready = or([
  and(['the source can sign in', 'the destination is known']),
  and(['the source can sign in', 'it is a download', 'the formats are chosen']),
]);

/**
 * How each page is entered from outside, by the address bar or a link: `portal.md` §2, "Purpose and rules". A visit to the
 * page that is shown enters it anew. Not by `reenter`: at the root that would start the root's own call again.
 */
const entrances = wizard.createStateConfig({
  on: {
    'home.visit': [
      {
        guard: { type: 'there is an error', params: ({ event }) => event },
        target: '#home',
        actions: {
          type: 'show the message',
          params: ({ event }) => ({ message: { about: 'query', error: queryErrorOf(event.error) } }),
        },
      },
      { target: '#home' },
    ],
    'destination.visit': [
      { guard: not('the source can sign in'), target: '#home' },
      { guard: { type: 'the scopes of Google are missing', params: ({ event }) => event }, target: '#email-scopes' },
      {
        guard: { type: 'there is an error', params: ({ event }) => event },
        target: '#destination',
        actions: {
          type: 'show the message',
          params: ({ event }) => ({ message: { about: 'query', error: queryErrorOf(event.error) } }),
        },
      },
      { guard: { type: 'the way is to another provider', params: ({ event }) => event }, target: '#destination-other' },
      { guard: { type: 'the way is a download', params: ({ event }) => event }, target: '#destination-download' },
      // Back from the form of one of the other ways leads to the options.
      { guard: or([stateIn('#destination-other'), stateIn('#destination-download')]), target: '#destination-choosing' },
      { target: '#destination' },
    ],
    'google-terms.visit': [{ guard: 'the source can sign in', target: '#google-terms' }, { target: '#home' }],
    'email-scopes.visit': [{ guard: 'the source can sign in', target: '#email-scopes' }, { target: '#home' }],
    'start-migration.visit': [
      // Back from the provider's page without an agreement.
      { guard: and(['the source can sign in', 'a sign-in elsewhere was begun']), target: '#destination' },
      { guard: not(ready), target: '#home' },
      { guard: 'terms are missing', target: '#google-terms' },
      { target: '#start-migration' },
    ],
    'complete.visit': [
      { guard: not('the source is known'), target: '#home' },
      { guard: not(or(['the destination has an address', 'the formats are chosen'])), target: '#home' },
      {
        guard: { type: 'the transfer ID is right', params: ({ event }) => ({ id: event.migrationId }) },
        target: '#complete',
        actions: [
          'forget the transfer',
          { type: 'remember the transfer', params: ({ event }) => ({ id: event.migrationId }) },
        ],
      },
      { target: '#home' },
    ],
    'oauth-callback.visit': [
      {
        guard: 'a consent is awaited',
        target: '#returned-for-act',
        actions: { type: 'read the return', params: ({ event }) => returnOf(event) },
      },
      {
        guard: 'the source can sign in',
        target: '#returned',
        actions: { type: 'read the return', params: ({ event }) => returnOf(event) },
      },
      // In another tab, or a browser without storage.
      {
        target: '#home',
        actions: { type: 'show the message', params: { message: { about: 'start unknown' } } },
      },
    ],
    'oauth-callback-for-status.visit': {
      target: '#returned-for-status',
      actions: { type: 'read the return', params: ({ event }) => returnOf(event) },
    },
    'status.visit': [
      {
        guard: { type: 'there is an error', params: ({ event }) => event },
        target: '#status-not-found',
        actions: ['forget the transfer', 'forget the consent'],
      },
      {
        guard: {
          type: 'the transfer ID is right and a guide is asked for',
          params: ({ event }) => ({ id: event.migrationId, guide: event.guide }),
        },
        target: '#status',
        actions: [
          'forget the transfer',
          'forget the consent',
          { type: 'remember the transfer', params: ({ event }) => ({ id: event.migrationId }) },
          { type: 'open the guide', params: ({ event }) => ({ guide: asGuide(event.guide) ?? 'other' }) },
        ],
      },
      {
        guard: { type: 'the transfer ID is right', params: ({ event }) => ({ id: event.migrationId }) },
        target: '#status',
        actions: [
          'forget the transfer',
          'forget the consent',
          { type: 'remember the transfer', params: ({ event }) => ({ id: event.migrationId }) },
        ],
      },
      { target: '#status-not-found', actions: ['forget the transfer', 'forget the consent'] },
    ],
    'status-from-email.visit': [
      { guard: 'the hash is known', target: '#status-from-email' },
      { target: '#status-from-email-not-found' },
    ],
    'support.visit': { target: '#support', actions: 'fill in what is known' },
    'privacy-policy.visit': { target: '#privacy-policy' },
    'terms-of-service.visit': { target: '#terms-of-service' },
  },
});

function returnOf({ error, tokenId, email, provider, hash, contacts }: OauthReturn): OauthReturn {
  return { error, tokenId, email, provider, hash, contacts };
}

export const visits = entrances.on;
