import { parse } from 'valibot';
import { describe, expect, test } from 'vitest';
import { TokenId } from '../../src/contract/account.ts';
import { load, type LoadRequest, writeLoad } from '../../src/contract/calls/load.ts';
import { ID, LEGACY, SESSIONS, TOKEN } from '../support/moves.ts';
import { arriveAt } from '../support/wizard.ts';
import { operationsOf } from '../../machines/mode.ts';
import type { Session } from '../../machines/wizard.types.ts';

const HASH = 'a'.repeat(64);
const YAHOO_CHOSEN: Session = {
  ...SESSIONS.signedIn,
  checkSanBrunoOnOauthCallback: true,
  destination: { email: '', provider: 'yahoo' },
};
const GOOGLE_CHOSEN: Session = {
  ...SESSIONS.signedIn,
  googleTermsAccepted: true,
  destination: { email: '', provider: 'google' },
};

function callback(query: Record<string, string>, session: Session = GOOGLE_CHOSEN) {
  return arriveAt(`/oauth-callback?${new URLSearchParams(query).toString()}`, {}, session);
}
function callbackForStatus(query: Record<string, string>, session: Session = SESSIONS.blank) {
  return arriveAt(`/oauth-callback-for-status?${new URLSearchParams(query).toString()}`, {}, session);
}

describe('the way back from a sign-in', () => {
  test.each(['t', 'x'.repeat(512), 'eyJhbGciOiJub25lIn0.e30.', 'ü & ü/?=#%'])(
    'a token is opaque text of 1 to 512 characters, and travels as it came: %s',
    async (token) => {
      const wizard = callback({ token_id: token, email: 'sam@gmail.com', provider: 'google' });
      expect(wizard.address()).toBe('/start-migration');
      wizard.script['check the domain'] = () => ({ valid: true });
      await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
      await wizard.wait(1_000);
      await wizard.send({ type: 'transfer.submit' });
      const [order] = wizard.asked('start the transfer') as LoadRequest[];
      expect(parse(load.Request, writeLoad(order as LoadRequest)).destinationAccount.tokenId).toBe(token);
      expect(parse(TokenId, token)).toBe(token);
    },
  );

  test('a sign-in that succeeds stores the address in lower case, the token and the provider, and goes to the start', () => {
    const wizard = callback({ token_id: TOKEN, email: 'Sam@Gmail.com', provider: 'google' });
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.context().destination).toEqual({ email: 'sam@gmail.com', tokenId: TOKEN, provider: 'google' });
  });

  test('the provider is the chosen one where the address names none, and normalised where it does', () => {
    expect(callback({ token_id: TOKEN, email: 'sam@gmail.com' }).context().destination?.provider).toBe('google');
    expect(
      callback(
        { token_id: TOKEN, email: 'sam@outlook.example', provider: 'microsoft' },
        { ...GOOGLE_CHOSEN, destination: { email: '', provider: 'office365' } },
      ).context().destination?.provider,
    ).toBe('office365');
  });

  test.each([
    ['in which no sign-in was begun', SESSIONS.signedIn, ''],
    ['that has come back already', SESSIONS.toGoogle, ''],
    ['that began one at another provider', GOOGLE_CHOSEN, 'yahoo'],
    ['that writes a download', SESSIONS.downloading, ''],
  ])('a foreign page can lead nobody back into a tab %s', (_what, session, provider) => {
    const wizard = callback({ token_id: TOKEN, email: 'attacker@mail.example', provider }, session);
    expect(wizard.address()).toBe('/destination-account?error=OTHER');
    expect(wizard.context().destination?.email).not.toBe('attacker@mail.example');
  });

  test('a move goes on when the returned address is that of the source, whatever its case', () => {
    const wizard = callback({ token_id: TOKEN, email: LEGACY.toUpperCase() }, YAHOO_CHOSEN);
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.context().destination).toEqual({ email: LEGACY, tokenId: TOKEN, provider: 'yahoo' });
  });

  test('a move that returns with another address goes back with the error invalid email, and stores nothing', () => {
    const wizard = callback({ token_id: TOKEN, email: 'sam@yahoo.example' }, YAHOO_CHOSEN);
    expect(wizard.address()).toBe('/destination-account?error=INVALID_EMAIL');
    expect(wizard.context().destination).toEqual({ email: '', provider: 'yahoo' });
  });

  test('a transfer may return with any address', () => {
    expect(callback({ token_id: TOKEN, email: 'somebody@gmail.com' }).address()).toBe('/start-migration');
  });

  test('a return from Google without accepted terms leads to the terms, and from there to the start', async () => {
    const wizard = callback(
      { token_id: TOKEN, email: 'sam@gmail.com', provider: 'google' },
      { ...GOOGLE_CHOSEN, googleTermsAccepted: false },
    );
    expect(wizard.address()).toBe('/accept-google-terms');
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.left).toEqual([]);
  });

  test.each([
    ['EXTERNAL_OAUTH_ERROR', 'EXTERNAL_OAUTH_ERROR'],
    ['provider_not_supported', 'PROVIDER_NOT_SUPPORTED'],
    ['UNSUPPORTED_PROVIDER', 'UNSUPPORTED_PROVIDER'],
    ['INVALID_EMAIL', 'INVALID_EMAIL'],
    ['GENERAL_ERROR', 'OTHER'],
    ['access_denied', 'OTHER'],
  ])('a return with the error %s goes to the destination page with %s', (error, shown) => {
    const wizard = callback({ error, token_id: TOKEN, email: 'sam@gmail.com' });
    expect(wizard.address()).toBe(`/destination-account?error=${shown}`);
    expect(wizard.context().destination).toEqual({ email: '', provider: 'google' });
  });

  test('a missing scope leads to the page about scopes when the provider is Google, named or chosen', () => {
    expect(callback({ error: 'MISSING_SCOPE', provider: 'google' }, YAHOO_CHOSEN).address()).toBe(
      '/check-email-scopes',
    );
    expect(callback({ error: 'missing_scope' }).address()).toBe('/check-email-scopes');
  });

  test('a missing scope of another provider is shown on the destination page', () => {
    const wizard = callback({ error: 'MISSING_SCOPE', provider: 'yahoo' });
    expect(wizard.address()).toBe('/destination-account?error=MISSING_SCOPE');
  });

  test.each([
    ['no token', { email: 'sam@gmail.com' }],
    ['a token of more than 512 characters', { token_id: 'x'.repeat(513), email: 'sam@gmail.com' }],
    ['no address', { token_id: TOKEN }],
    ['no email for an address', { token_id: TOKEN, email: 'sam' }],
    ['nothing', {}],
  ])('a return with %s is an unknown error', (_, query) => {
    expect(callback(query).address()).toBe('/destination-account?error=OTHER');
  });

  test('a return that found the portal unavailable says so, and "Try again" begins the same sign-in anew', async () => {
    const wizard = callback({ error: 'UNAVAILABLE', provider: 'google' });
    expect(wizard.has('unavailable')).toBe(true);
    expect(wizard.left).toEqual([]);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test('a return without stored source credentials goes Home', () => {
    expect(callback({ token_id: TOKEN, email: LEGACY }, SESSIONS.blank).address()).toBe('/');
  });
});

describe('the way back from a sign-in for the status', () => {
  test.each(['t', 'x'.repeat(512), 'eyJhbGciOiJub25lIn0.e30.', 'ü & ü/?=#%'])(
    'a token is opaque text of 1 to 512 characters, and travels as it came: %s',
    async (token) => {
      const wizard = callback({ token_id: token, email: 'sam@gmail.com', provider: 'google' });
      expect(wizard.address()).toBe('/start-migration');
      wizard.script['check the domain'] = () => ({ valid: true });
      await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
      await wizard.wait(1_000);
      await wizard.send({ type: 'transfer.submit' });
      const [order] = wizard.asked('start the transfer') as LoadRequest[];
      expect(parse(load.Request, writeLoad(order as LoadRequest)).destinationAccount.tokenId).toBe(token);
      expect(parse(TokenId, token)).toBe(token);
    },
  );

  test('a sign-in that succeeds stores the destination and the hash, and lists the transfers', () => {
    const wizard = callbackForStatus({ token_id: TOKEN, email: 'Sam@Gmail.com', hash: HASH });
    expect(wizard.address()).toBe('/status-from-email');
    expect(wizard.context()).toMatchObject({
      destination: { email: 'sam@gmail.com', tokenId: TOKEN },
      emailHash: HASH,
    });
    expect(wizard.asked('list the transfers')).toEqual([{ hash: HASH }]);
  });

  test('a return without a hash has no transfers to list, nor those of an earlier one', () => {
    const wizard = callbackForStatus(
      { token_id: TOKEN, email: 'Sam@Gmail.com' },
      { ...SESSIONS.blank, emailHash: HASH },
    );
    expect(wizard.address()).toBe('/status-from-email');
    expect(wizard.isAt('statusFromEmail.notFound')).toBe(true);
    expect(wizard.context()).toMatchObject({ destination: { email: 'sam@gmail.com' }, emailHash: null });
    expect(wizard.asked('list the transfers')).toEqual([]);
  });

  test.each([
    ['an error', { error: 'EXTERNAL_OAUTH_ERROR' }, 'EXTERNAL_OAUTH_ERROR'],
    ['an error beside a token', { error: 'x', token_id: TOKEN, email: LEGACY, hash: HASH }, 'OTHER'],
    ['no token', { email: LEGACY, hash: HASH }, 'OTHER'],
    ['no address', { token_id: TOKEN, hash: HASH }, 'OTHER'],
  ])('a return with %s goes Home with the error', (_, query, shown) => {
    const wizard = callbackForStatus(query, SESSIONS.signedIn);
    expect(wizard.address()).toBe(`/?error=${shown}`);
    expect(wizard.context()).toMatchObject({ destination: null, emailHash: null, source: null });
  });
});

describe('the way back from a sign-in for the status, while the portal is closed', () => {
  test('says that it is unavailable, and "Try again" begins the same sign-in anew', async () => {
    const wizard = callbackForStatus(
      { error: 'UNAVAILABLE', provider: 'yahoo' },
      { ...SESSIONS.blank, destination: { email: '', provider: 'yahoo' } },
    );
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toEqual(['/api/oauth-for-status/?provider=yahoo']);
  });
});

describe("Google's terms and scopes", () => {
  test('Back from the terms returns to the destination page, and nothing is accepted', async () => {
    const wizard = arriveAt('/accept-google-terms', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'page.back' });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.context().googleTermsAccepted).toBe(false);
  });

  test('Accept leads to the sign-in at Google while the destination is not known', async () => {
    const wizard = arriveAt('/accept-google-terms', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
    expect(wizard.context()).toMatchObject({
      googleTermsAccepted: true,
      destination: { email: '', provider: 'google' },
    });
  });

  test('Accept leads on to the start of the transfer when the destination is known', async () => {
    const wizard = arriveAt('/start-migration', {}, SESSIONS.toGoogle);
    expect(wizard.address()).toBe('/accept-google-terms');
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.address()).toBe('/start-migration');
  });

  test('"Try Gmail again" on the page about scopes goes straight to Google', async () => {
    const wizard = arriveAt('/check-email-scopes', {}, { ...SESSIONS.signedIn, googleTermsAccepted: true });
    await wizard.send({ type: 'google.retry' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
    expect(wizard.context().destination).toEqual({ email: '', provider: 'google' });
  });

  test('"Try Gmail again" leads by the terms of Google to Google where they are not accepted', async () => {
    const wizard = arriveAt('/check-email-scopes', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'google.retry' });
    expect(wizard.address()).toBe('/accept-google-terms');
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test('Next on the page about scopes returns to the destination page', async () => {
    const wizard = arriveAt('/check-email-scopes', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'page.next' });
    expect(wizard.address()).toBe('/destination-account');
  });
});

describe('contacts that were not permitted', () => {
  const LEFT_OUT = `/oauth-callback?token_id=${TOKEN}&email=sam@aol.com&provider=aol`;
  const choosingAol = { ...SESSIONS.signedIn, destination: { email: '', provider: 'aol' } } as const;

  test('are neither promised nor asked for, and the sign-in can be made again for them', async () => {
    const wizard = arriveAt(`${LEFT_OUT}&contacts=no`, {}, choosingAol);
    expect(wizard.address()).toBe('/start-migration');
    expect(operationsOf(wizard.context())).toEqual(['emailmigration']);
    await wizard.send({ type: 'contacts.allow' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=aol']);
    wizard.visit(LEFT_OUT);
    expect(wizard.address()).toBe('/start-migration');
    expect(operationsOf(wizard.context())).toEqual(['emailmigration', 'contactsmigration']);
    expect(wizard.actor.getSnapshot().can({ type: 'contacts.allow' })).toBe(false);
  });

  test('are permitted for the order, whatever another sign-in at the provider was for that nobody came back from', async () => {
    const wizard = arriveAt(
      '/start-migration',
      {},
      {
        ...choosingAol,
        destination: { email: 'sam@aol.com', provider: 'aol', tokenId: TOKEN },
        operations: ['emailmigration', 'contactsmigration'],
        allowContactsMigration: false,
        awaitedConsent: { transferId: ID, purpose: 'mend', provider: 'aol' },
      },
    );
    await wizard.send({ type: 'contacts.allow' });
    wizard.visit(LEFT_OUT);
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.asked('resume the transfer')).toEqual([]);
  });

  test('are not asked for where a password is the sign-in, which could not permit them', () => {
    const wizard = arriveAt('/start-migration', {}, SESSIONS.toOther);
    expect(wizard.actor.getSnapshot().can({ type: 'contacts.allow' })).toBe(false);
  });
});
