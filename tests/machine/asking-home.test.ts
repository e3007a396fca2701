import { describe, expect, test } from 'vitest';
import { sessionOf } from '../../machines/wizard.context.ts';
import { ID, SESSIONS } from '../support/moves.ts';
import { arriveAt } from '../support/wizard.ts';

const MID_WIZARD = [
  ['/destination-account', 'signedIn'],
  ['/accept-google-terms', 'choosingGoogle'],
  ['/check-email-scopes', 'choosingGoogle'],
  ['/start-migration', 'moving'],
] as const;

describe('the way to Home in the header', () => {
  test.each(MID_WIZARD)('asks first on %s, and who stays keeps everything', async (address, session) => {
    const wizard = arriveAt(address, {}, SESSIONS[session]);
    const said = sessionOf(wizard.context());
    await wizard.send({ type: 'home.press' });
    expect(wizard.address()).toBe(address);
    expect(wizard.has('leaving')).toBe(true);
    await wizard.send({ type: 'home.stay' });
    expect(wizard.has('leaving')).toBe(false);
    expect(wizard.address()).toBe(address);
    expect(sessionOf(wizard.context())).toEqual(said);
  });

  test.each(MID_WIZARD)('leads Home from %s for who says so, and forgets', async (address, session) => {
    const wizard = arriveAt(address, {}, SESSIONS[session]);
    await wizard.send({ type: 'home.press' }, { type: 'home.visit', error: '' });
    expect(wizard.address()).toBe('/');
    expect(wizard.context().source).toBeNull();
  });

  test.each([
    ['home.press', 'leaving'],
    ['sign-out.press', 'parting'],
  ] as const)(
    '"%s" asks first where the way to a provider was lost, and who stays keeps everything',
    async (type, tag) => {
      const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn);
      await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'aol' });
      await wizard.send({ type: 'connection.lose' }, { type });
      expect(wizard.address()).toBe('/destination-account');
      expect(wizard.has(tag)).toBe(true);
      await wizard.send({ type: 'home.stay' });
      expect(wizard.has(tag)).toBe(false);
      expect(wizard.context().source).toEqual(SESSIONS.signedIn.source);
    },
  );

  test.each([
    ['/', 'blank'],
    ['/support-form', 'signedIn'],
    ['/status-from-email', 'listing'],
    [`/complete?migration_id=${ID}`, 'toOther'],
    [`/status?migration_id=${ID}`, 'blank'],
  ] as const)('asks nothing on %s', (address, session) => {
    const wizard = arriveAt(address, {}, SESSIONS[session]);
    expect(wizard.actor.getSnapshot().can({ type: 'home.press' })).toBe(false);
  });
});
