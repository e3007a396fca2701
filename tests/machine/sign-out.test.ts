import { describe, expect, test } from 'vitest';
import { BLANK_SESSION, sessionOf } from '../../machines/wizard.context.ts';
import { BEARER, ID, LEGACY, SESSIONS } from '../support/moves.ts';
import { arriveAt, refusal } from '../support/wizard.ts';

const OK = { 'sign out': () => ({ ok: true }) };
const press = { type: 'sign-out.press' } as const;
const isOffered = (wizard: ReturnType<typeof arriveAt>) => wizard.actor.getSnapshot().can(press);

const MID_WIZARD = [
  ['/destination-account', 'signedIn'],
  ['/accept-google-terms', 'choosingGoogle'],
  ['/check-email-scopes', 'choosingGoogle'],
  ['/start-migration', 'moving'],
] as const;

const BESIDE = [
  ['/support-form', 'signedIn'],
  ['/status-from-email', 'listing'],
  [`/complete?migration_id=${ID}`, 'toOther'],
  [`/status?migration_id=${ID}`, 'signedIn'],
] as const;

describe('"Sign out"', () => {
  test.each([...MID_WIZARD, ...BESIDE])('is offered on %s to who has signed in', (address, session) => {
    expect(isOffered(arriveAt(address, {}, SESSIONS[session]))).toBe(true);
  });

  test.each(['/', '/support-form', `/status?migration_id=${ID}`])('is not offered on %s to who has not', (address) => {
    expect(isOffered(arriveAt(address))).toBe(false);
  });

  test('is offered after a sign-in on the status page', () => {
    const session = { ...SESSIONS.blank, jwt: BEARER };
    expect(isOffered(arriveAt(`/status?migration_id=${ID}`, {}, session))).toBe(true);
  });

  test.each([
    ['is offered', 'everything', {}],
    ['is not offered', 'numbers only', { limited: true }],
  ] as const)('%s in another tab where the status shows %s', async (said, _, limited) => {
    const status = { emailmigration: { status: 'completed' }, ...limited };
    const wizard = arriveAt(`/status?migration_id=${ID}`, { ...OK, 'ask for the status': () => status });
    await wizard.wait(0);
    expect(isOffered(wizard)).toBe(said === 'is offered');
  });

  test('does not come up for the moment between the sign-in on Home and the next page', async () => {
    const wizard = arriveAt('/', {
      'ask for capabilities': () => ({ allowedOperations: ['emailmigration'], provider: 'sanbruno', auth: 'other' }),
      'validate the account': () => ({ ok: true, token: BEARER }),
    });
    await wizard.send(
      { type: 'start.press' },
      { type: 'email.type', email: 'pat@sanbrunocable.example' },
      { type: 'password.type', password: 'x' },
      { type: 'credentials.submit' },
    );
    expect(wizard.isAt('home.page.signingIn.credentials.welcomed')).toBe(true);
    expect(isOffered(wizard)).toBe(false);
    await wizard.wait(1_000);
    expect(isOffered(wizard)).toBe(true);
  });

  test.each(MID_WIZARD)('asks first on %s, and who stays keeps everything', async (address, session) => {
    const wizard = arriveAt(address, OK, SESSIONS[session]);
    const said = sessionOf(wizard.context());
    await wizard.send(press);
    expect(wizard.address()).toBe(address);
    expect(wizard.has('parting')).toBe(true);
    await wizard.send({ type: 'home.stay' });
    expect(wizard.has('parting')).toBe(false);
    expect(sessionOf(wizard.context())).toEqual(said);
    expect(wizard.asked('sign out')).toEqual([]);
    await wizard.send(press, { type: 'sign-out.confirm', everywhere: false });
    expect(wizard.address()).toBe('/');
    expect(wizard.asked('sign out')).toHaveLength(1);
  });

  test.each(MID_WIZARD)(
    'lists the other browsers on %s, and ends them all when that is chosen',
    async (address, session) => {
      const others = [{ began: '2025-11-01T10:00:00Z', used: '2025-11-01T11:00:00Z' }];
      const known = { ...SESSIONS[session], jwt: BEARER };
      const wizard = arriveAt(address, { ...OK, 'list the sign-ins': () => others }, known);
      await wizard.send(press);
      expect(wizard.asked('list the sign-ins')).toEqual([{ jwt: BEARER }]);
      expect(wizard.context().signIns).toEqual(others);
      await wizard.send({ type: 'sign-out.confirm', everywhere: true });
      expect(wizard.asked('sign out')).toEqual([{ jwt: BEARER, everywhere: true, email: LEGACY }]);
      expect(wizard.context()).toMatchObject({ message: { about: 'signed out everywhere' }, signIns: null });
      expect(sessionOf(wizard.context())).toEqual(BLANK_SESSION);
    },
  );

  test.each([...MID_WIZARD, ['/support-form', 'signedIn']] as const)(
    'in another tab leads %s Home, where nothing can be begun without the password',
    async (address, session) => {
      const wizard = arriveAt(address, OK, { ...SESSIONS[session], jwt: BEARER });
      await wizard.send({ type: 'sign-out.hear' });
      expect(wizard.address()).toBe('/');
      expect(wizard.isAt('home.banner.held')).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'signed out in another tab' });
      expect(sessionOf(wizard.context())).toEqual(BLANK_SESSION);
      expect([wizard.asked('sign out'), wizard.left]).toEqual([[], []]);
    },
  );

  test('in another tab leaves a message to support that was begun, and nothing else', async () => {
    const wizard = arriveAt('/support-form', OK, { ...SESSIONS.moving, jwt: BEARER });
    await wizard.send({ type: 'issue.type', issue: 'It has stopped.' }, { type: 'sign-out.hear' });
    expect(wizard.address()).toBe('/support-form');
    expect(wizard.isAt('support.banner.held')).toBe(true);
    expect(wizard.context().message).toEqual({ about: 'signed out in another tab' });
    const draft = { legacyEmail: LEGACY, contactEmail: '', supportId: '', issue: 'It has stopped.', transferId: null };
    expect(sessionOf(wizard.context())).toEqual({ ...BLANK_SESSION, draft });
    await wizard.send({ type: 'support.submit' });
    expect(wizard.asked('write to support')).toEqual([{ emailAddress: LEGACY, issue: 'It has stopped.' }]);
  });

  test('in another tab leaves the number of a message that was sent in sight', async () => {
    const letter = { emailAddress: LEGACY, issue: 'It has stopped.' };
    const wizard = arriveAt('/support-form', OK, { ...SESSIONS.signedIn, letter });
    await wizard.send({ type: 'sign-out.hear' });
    expect(wizard.isAt('support.sending.sent')).toBe(true);
    expect(sessionOf(wizard.context())).toMatchObject({ source: null, jwt: null, letter });
  });

  test('in another tab is nothing to a message to support beside which no password is kept', async () => {
    const wizard = arriveAt('/support-form', OK, SESSIONS.ordered);
    await wizard.send({ type: 'issue.type', issue: 'It has stopped.' });
    const before = wizard.context();
    await wizard.send({ type: 'sign-out.hear' });
    expect(wizard.context()).toEqual(before);
  });

  test('in another tab leaves in sight what was ordered in this one', async () => {
    const wizard = arriveAt(`/complete?migration_id=${ID}`, OK, SESSIONS.ordered);
    await wizard.send({ type: 'sign-out.hear' });
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
  });

  test('is told to the other tabs at once, whatever the server answers', async () => {
    const wizard = arriveAt('/support-form', {}, SESSIONS.moving);
    await wizard.send(press);
    expect(wizard.left).toEqual(['other tabs told']);
  });

  test('asks all the same when the other browsers can not be told', async () => {
    const wizard = arriveAt(
      '/destination-account',
      { ...OK, 'list the sign-ins': refusal('INVALID_TOKEN') },
      SESSIONS.signedIn,
    );
    await wizard.send(press);
    expect([wizard.has('parting'), wizard.context().signIns]).toEqual([true, null]);
  });

  test.each(BESIDE)('asks nothing on %s, and leads Home', async (address, session) => {
    const wizard = arriveAt(address, OK, SESSIONS[session]);
    await wizard.send(press);
    expect(wizard.address()).toBe('/');
    expect(wizard.context().message).toEqual({ about: 'signed out' });
    expect(isOffered(wizard)).toBe(false);
  });

  test('has the browser forget before the server answers, which is shown whose sign-in it is', async () => {
    const wizard = arriveAt('/status-from-email', {}, { ...SESSIONS.toOther, jwt: BEARER, emailHash: 'hash' });
    await wizard.send(press);
    expect(sessionOf(wizard.context())).toEqual(BLANK_SESSION);
    expect(wizard.asked('sign out')).toEqual([{ jwt: BEARER, everywhere: false }]);
    expect(wizard.has('busy')).toBe(true);
    await wizard.wait(10_000);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(20_000);
    expect(wizard.address()).toBe('/');
    expect(wizard.context()).toMatchObject({ message: { about: 'sign-out unfinished' }, parting: null });
    expect(wizard.isAt('home.banner.held')).toBe(true);
  });

  test.each(['UNAVAILABLE', 'TOO_MANY_ATTEMPTS', 'UNEXPECTED_ANSWER'] as const)(
    'says that it is unfinished when the server answers %s, and has forgotten all the same',
    async (code) => {
      const wizard = arriveAt('/support-form', { 'sign out': refusal(code) }, { ...SESSIONS.moving, jwt: BEARER });
      await wizard.send(press);
      expect(wizard.address()).toBe('/');
      expect(wizard.isAt('home.banner.held')).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'sign-out unfinished' });
      expect(sessionOf(wizard.context())).toEqual(BLANK_SESSION);
    },
  );

  test.each([
    ['signed out', () => ({ ok: true })],
    ['sign-out unfinished', refusal('UNAVAILABLE')],
  ] as const)(
    'what a shared computer still opens, or a server still knows, is said until it was looked at: %s',
    async (about, answer) => {
      const wizard = arriveAt('/support-form', { 'sign out': answer }, { ...SESSIONS.moving, jwt: BEARER });
      await wizard.send(press);
      await wizard.wait(600_000);
      expect(wizard.context().message).toEqual({ about });
      await wizard.send({ type: 'message.hold' }, { type: 'message.release' });
      await wizard.wait(7_000);
      expect(wizard.context().message).toBeNull();
    },
  );

  test('what was said of the end of a sign-in makes way for the next one', async () => {
    const wizard = arriveAt('/support-form', OK, { ...SESSIONS.moving, jwt: BEARER });
    await wizard.send(press, { type: 'start.press' });
    expect(wizard.context().message).toBeNull();
  });
});
