import { describe, expect, test } from 'vitest';
import type { Event } from '../../machines/wizard.types.ts';
import { ID, LEGACY, PASSWORD, SESSIONS, type SESSIONS as Sessions } from '../support/moves.ts';
import { arriveAtStatus, NEEDS_CONSENT, open } from '../support/owner-acts.ts';
import { arriveAt, refusal, type Wizard } from '../support/wizard.ts';

type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const valid = () => ({ valid: true });

/** What leads on, or changes something: its page, what is done there, and the call that finds no line. */
const DEEDS: readonly (readonly [keyof Script, string, keyof typeof Sessions, readonly Event[]])[] = [
  ['create the account', '/destination-account', 'signedIn', [{ type: 'move.press' }, { type: 'move.continue' }]],
  [
    'announce the migration',
    '/start-migration',
    'moving',
    [{ type: 'contact.type', contact: 'sam@mail.example' }, { type: 'transfer.submit' }],
  ],
  [
    'start the transfer',
    '/start-migration',
    'toOther',
    [{ type: 'contact.type', contact: 'sam@mail.example' }, { type: 'transfer.submit' }],
  ],
  [
    'write to support',
    '/support-form',
    'blank',
    [
      { type: 'legacy-email.type', email: LEGACY },
      { type: 'issue.type', issue: 'My folders are missing' },
      { type: 'support.submit' },
    ],
  ],
];

/** Away to a provider for a move, a transfer, the list of transfers and an act, and the page that each begins at. */
const AWAY: readonly (readonly [string, () => Promise<Wizard>, string])[] = [
  [
    'a move',
    async () => {
      const wizard = arriveAt(
        '/destination-account',
        { 'create the account': () => ({ ok: true }) },
        SESSIONS.signedIn,
      );
      await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
      await wizard.wait(2_000);
      return wizard;
    },
    '/destination-account',
  ],
  [
    'a transfer',
    async () => {
      const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn);
      await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'aol' });
      return wizard;
    },
    '/destination-account',
  ],
  [
    'the list of transfers',
    async () => {
      const wizard = arriveAt('/');
      await wizard.send({ type: 'lookup.open' }, { type: 'lookup.sign-in', provider: 'yahoo' });
      return wizard;
    },
    '/',
  ],
  [
    'an act',
    async () => {
      const wizard = await arriveAtStatus(NEEDS_CONSENT);
      await wizard.send(open('mend'), { type: 'consent.seek', provider: 'google' });
      return wizard;
    },
    `/status?migration_id=${ID}`,
  ],
];

describe.each(AWAY)('a provider whose page does not come, for %s', (_, leave, address) => {
  test('is not waited for longer than 30 s, and is tried again when it is asked to', async () => {
    const wizard = await leave();
    await wizard.wait(29_999);
    expect(wizard.has('unavailable')).toBe(false);
    await wizard.wait(1);
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toHaveLength(2);
    expect(wizard.left[1]).toBe(wizard.left[0]);
  });

  test('is left by Back for the page that led there, where nothing is forgotten', async () => {
    const wizard = await leave();
    const { source } = wizard.context();
    await wizard.send({ type: 'modal.close' });
    expect(wizard.address()).toBe(address);
    expect(wizard.context()).toMatchObject({ source, awaitedConsent: null });
    await wizard.wait(30_000);
    expect(wizard.left).toHaveLength(1);
  });
});

describe('without a line', () => {
  test.each(DEEDS)('"%s" waits for the visitor, also when the line is back', async (call, address, session, events) => {
    const script: Script = { 'check the domain': valid, [call]: refusal('UNAVAILABLE') };
    const wizard = arriveAt(address, script, SESSIONS[session]);
    for (const event of events) {
      await wizard.send(event);
      await wizard.wait(1_000);
    }
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.has('unavailable')).toBe(true);
    expect(wizard.asked(call)).toHaveLength(1);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.asked(call)).toHaveLength(2);
    // Back, which must not lead to the page before: Home would forget it all.
    const { typed, notificationContact } = wizard.context();
    await wizard.send({ type: 'modal.close' });
    expect(wizard.has('unavailable')).toBe(false);
    expect(wizard.address()).toBe(address);
    expect(wizard.context()).toMatchObject({ typed, notificationContact });
    expect(wizard.asked(call)).toHaveLength(2);
  });

  test.each([
    [
      'from the sign-in on Home',
      '/',
      'blank',
      [{ type: 'start.press' }, { type: 'email.type', email: LEGACY }, { type: 'password.type', password: PASSWORD }],
      'home.page.signingIn.credentials.editing',
    ],
    [
      'from the sign-in at another provider',
      '/destination-account?way=other',
      'signedIn',
      [
        { type: 'email.type', email: 'sam@mail.example' },
        { type: 'password.type', password: PASSWORD },
      ],
      'destination.options.other.credentials.editing',
    ],
  ] as const)('Back %s leads to the form, with what was typed', async (_, address, session, events, form) => {
    const wizard = arriveAt(address, { 'ask for capabilities': refusal('UNAVAILABLE') }, SESSIONS[session]);
    await wizard.send(...events);
    await wizard.wait(1_000);
    await wizard.send({ type: 'credentials.submit' });
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'modal.close' });
    expect(wizard.isAt(form)).toBe(true);
    expect(wizard.context().typed.password).toBe(PASSWORD);
  });

  test('the way to a provider stays in the portal, and goes on when it is asked to', async () => {
    const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'aol' });
    await wizard.send({ type: 'connection.lose' });
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.left).toHaveLength(1);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=aol', '/api/oauth/?provider=aol']);
    await wizard.send({ type: 'connection.lose' }, { type: 'modal.close' });
    expect(wizard.isAt('destination.options.choosing')).toBe(true);
    expect(wizard.context().source).toEqual(SESSIONS.signedIn.source);
  });

  test('the way to the list of transfers stays in the portal as well', async () => {
    const wizard = arriveAt('/');
    await wizard.send({ type: 'lookup.open' }, { type: 'lookup.sign-in', provider: 'yahoo' });
    await wizard.send({ type: 'connection.lose' });
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toHaveLength(2);
    await wizard.send({ type: 'connection.lose' }, { type: 'modal.close' });
    expect(wizard.isAt('home.page.resting')).toBe(true);
  });

  test('the way to a provider for a transfer that has been ordered does too, and leads back to its act', async () => {
    const wizard = await arriveAtStatus(NEEDS_CONSENT, { 'resume the transfer': () => ({ ok: true }) });
    await wizard.send(open('mend'), { type: 'consent.seek', provider: 'google' }, { type: 'connection.lose' });
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'call.retry' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google', '/api/oauth/?provider=google']);
    expect(wizard.context().awaitedConsent).toMatchObject({ purpose: 'mend' });
    await wizard.send({ type: 'connection.lose' }, { type: 'modal.close' });
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
    expect(wizard.context().awaitedConsent).toBeNull();
  });

  test.each(['/privacy-policy', '/terms-of-service'])('%s waits, and comes with the line', async (address) => {
    const wizard = arriveAt(address);
    await wizard.wait(500);
    await wizard.send({ type: 'connection.lose' });
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.left).toHaveLength(2);
  });
});
