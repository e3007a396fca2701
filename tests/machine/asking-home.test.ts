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
