import { describe, expect, test } from 'vitest';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { isBetweenPages, isOnPrimaryPath, PATHS, pageOf, stepOf } from '../../machines/wizard.routes.ts';
import { ID, SESSIONS, TOKEN } from '../support/moves.ts';
import { arriveAt, refusal, SETTINGS, startWizard } from '../support/wizard.ts';

const RETURN = `token_id=${TOKEN}&email=sam@gmail.com&provider=google`;

/** Where each address leads, with each session that an earlier page may have left behind. */
const ENTRIES: readonly (readonly [to: string, session: keyof typeof SESSIONS, shown: string])[] = [
  ['/', 'blank', '/'],
  ['/', 'moving', '/'],
  ['/destination-account', 'blank', '/'],
  ['/destination-account', 'listing', '/'],
  ['/destination-account', 'signedIn', '/destination-account'],
  ['/destination-account', 'moving', '/destination-account'],
  ['/accept-google-terms', 'blank', '/'],
  ['/accept-google-terms', 'signedIn', '/accept-google-terms'],
  ['/check-email-scopes', 'blank', '/'],
  ['/check-email-scopes', 'signedIn', '/check-email-scopes'],
  ['/start-migration', 'blank', '/'],
  ['/start-migration', 'signedIn', '/'],
  ['/start-migration', 'choosingGoogle', '/destination-account'],
  ['/start-migration', 'choosingMove', '/destination-account'],
  ['/start-migration', 'moving', '/start-migration'],
  ['/start-migration', 'toOther', '/start-migration'],
  ['/start-migration', 'downloading', '/start-migration'],
  ['/start-migration', 'toGoogle', '/accept-google-terms'],
  [`/complete?migration_id=${ID}`, 'blank', '/'],
  [`/complete?migration_id=${ID}`, 'signedIn', '/'],
  [`/complete?migration_id=${ID}`, 'toOther', `/complete?migration_id=${ID}`],
  [`/complete?migration_id=${ID}`, 'downloading', `/complete?migration_id=${ID}`],
  ['/complete', 'toOther', '/'],
  ['/complete?migration_id=short', 'toOther', '/'],
  [`/oauth-callback?${RETURN}`, 'blank', '/'],
  [`/oauth-callback?${RETURN}`, 'termsAccepted', '/start-migration'],
  [`/oauth-callback?${RETURN}`, 'signedIn', '/destination-account?error=OTHER'],
  [`/oauth-callback?${RETURN}`, 'choosingGoogle', '/accept-google-terms'],
  ['/oauth-callback', 'signedIn', '/destination-account?error=OTHER'],
  [`/oauth-callback-for-status?${RETURN}&hash=hash`, 'blank', '/status-from-email'],
  ['/oauth-callback-for-status', 'signedIn', '/?error=OTHER'],
  [`/status?migration_id=${ID}`, 'blank', `/status?migration_id=${ID}`],
  ['/status', 'blank', '/status'],
  ['/status?migration_id=short', 'signedIn', '/status'],
  ['/status-from-email', 'blank', '/status-from-email'],
  ['/status-from-email', 'listing', '/status-from-email'],
  ['/support-form', 'blank', '/support-form'],
  ['/privacy-policy', 'blank', '/privacy-policy'],
  ['/terms-of-service', 'blank', '/terms-of-service'],
  ['/nowhere', 'signedIn', '/'],
  ['/destination-account/', 'signedIn', '/destination-account'],
  ['/Destination-Account', 'signedIn', '/'],
];

describe('each address', () => {
  test.each(ENTRIES)('%s with the session "%s" leads to %s', (to, session, shown) => {
    expect(arriveAt(to, {}, SESSIONS[session]).address()).toBe(shown);
  });

  test('who comes back from a provider to a tab that knows nothing is told so', () => {
    const wizard = arriveAt(`/oauth-callback?${RETURN}`);
    expect(wizard.context().message).toEqual({ about: 'start unknown' });
  });

  test('a sign-in elsewhere that was begun leads nowhere once the password is forgotten', () => {
    const forgotten = { ...SESSIONS.choosingGoogle, source: SESSIONS.ordered.source };
    expect(arriveAt('/start-migration', {}, forgotten).address()).toBe('/');
  });

  test('all thirteen routes of the specification are among them', () => {
    const visited = new Set(ENTRIES.map(([to]) => new URL(to, 'http://portal.example').pathname));
    expect(Object.values(PATHS).filter((path) => !visited.has(path))).toEqual([]);
    expect(Object.values(PATHS)).toHaveLength(13);
  });

  test.each(['source', 'destination'] as const)('the start of the transfer needs the %s', (what) => {
    expect(arriveAt('/start-migration', {}, { ...SESSIONS.toOther, [what]: null }).address()).toBe('/');
  });

  test.each([
    ['neither token nor password', { email: 'sam@mail.example', provider: 'other' }],
    ['no address', { email: '', provider: 'other', password: 'x' }],
  ] as const)('the start of the transfer needs more than a destination with %s', (_, destination) => {
    expect(arriveAt('/start-migration', {}, { ...SESSIONS.toOther, destination }).address()).toBe('/');
  });

  test.each(['emailExportType', 'contactsExportType'] as const)('a download needs the %s', (format) => {
    const session = { ...SESSIONS.downloading, [format]: null };
    expect(arriveAt('/start-migration', {}, session).address()).toBe('/');
    expect(arriveAt(`/complete?migration_id=${ID}`, {}, session).address()).toBe('/');
  });

  test.each([
    ['/start-migration', { ...SESSIONS.downloading, source: null }],
    ['/start-migration', { ...SESSIONS.downloading, destination: null }],
    [`/complete?migration_id=${ID}`, { ...SESSIONS.toOther, source: null }],
  ])('%s leads Home where a part of the order is lost', (to, session) => {
    expect(arriveAt(to, {}, session).address()).toBe('/');
  });

  test('an unknown address leaves the page where it is', () => {
    const wizard = arriveAt('/support-form');
    wizard.visit('/nowhere');
    expect(wizard.address()).toBe('/support-form');
  });

  test('a visit to the page that is shown enters it anew', async () => {
    const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'move.press' });
    wizard.visit('/destination-account');
    expect(wizard.isAt('destination.move.offered')).toBe(true);
  });
});

describe('the pages of others', () => {
  test.each([
    ['/privacy-policy', SETTINGS.privacyUrl],
    ['/terms-of-service', SETTINGS.termsUrl],
  ])('%s leaves for its external page after 500 ms, and what Back shows is loaded anew', async (path, url) => {
    const wizard = arriveAt(path);
    await wizard.wait(499);
    expect(wizard.left).toEqual([]);
    await wizard.wait(1);
    expect(wizard.left).toEqual([url]);
    await wizard.send({ type: 'page.return' });
    expect(wizard.left).toEqual([url, 'loaded anew']);
  });
});

describe('the steps', () => {
  test.each([
    ['/', 'blank', 1],
    ['/destination-account', 'signedIn', 2],
    ['/accept-google-terms', 'signedIn', 2],
    ['/check-email-scopes', 'signedIn', 2],
    ['/start-migration', 'moving', 3],
    [`/complete?migration_id=${ID}`, 'moving', 4],
    [`/status?migration_id=${ID}`, 'blank', 4],
    ['/status-from-email', 'listing', 4],
    ['/support-form', 'blank', null],
    ['/privacy-policy', 'blank', null],
  ] as const)('%s with the session "%s" is at step %s', (to, session, step) => {
    expect(stepOf(arriveAt(to, {}, SESSIONS[session]).actor.getSnapshot())).toBe(step);
  });

  test.each([
    ['/destination-account', true],
    ['/destination-account?way=other', false],
    ['/destination-account?way=download', false],
    ['/accept-google-terms', false],
    ['/check-email-scopes', false],
  ] as const)('%s is on the way to Yahoo: %s', (to, primary) => {
    expect(isOnPrimaryPath(arriveAt(to, {}, SESSIONS.signedIn).actor.getSnapshot())).toBe(primary);
  });

  test('nor does the portal name Yahoo as the step when another provider is asked about and it is unavailable', async () => {
    const script = { 'ask for capabilities': refusal('UNAVAILABLE') };
    const wizard = arriveAt('/destination-account?way=other', script, SESSIONS.signedIn);
    await wizard.send(
      { type: 'email.type', email: 'sam@mail.example' },
      { type: 'password.type', password: 'sandbox' },
      { type: 'credentials.submit' },
    );
    expect(wizard.has('unavailable')).toBe(true);
    expect(isOnPrimaryPath(wizard.actor.getSnapshot())).toBe(false);
  });

  test('there are four steps', () => {
    const steps = Object.values(wizardMachine.root.states).flatMap(({ meta }) => meta?.step ?? []);
    expect([...new Set(steps)].toSorted((one, other) => one - other)).toEqual([1, 2, 3, 4]);
  });

  test('a sign-in that is left for is still step 2, and no page', async () => {
    const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'aol' });
    expect(stepOf(wizard.actor.getSnapshot())).toBe(2);
    expect(pageOf(wizard.actor.getSnapshot())).toBeNull();
    expect(isBetweenPages(wizard.actor.getSnapshot())).toBe(true);
  });

  test('before the first address there is no page and no step', () => {
    const { actor } = startWizard();
    expect(pageOf(actor.getSnapshot())).toBeNull();
    expect(stepOf(actor.getSnapshot())).toBeNull();
  });
});
