import { expect, test } from 'vitest';
import { BLANK_SESSION, blankContext, sessionOf } from '../../machines/wizard.context.ts';
import type { Session } from '../../machines/wizard.types.ts';
import { hearSignOut, readSession, tellSignOut, wasSignedOut, writeSession } from '../../src/portal/session.ts';
import { ID, LEGACY, PASSWORD, SESSIONS } from '../support/moves.ts';
import { arriveAt, NOW, SETTINGS } from '../support/wizard.ts';

test.each(Object.entries(SESSIONS))('the session "%s" survives a reload as it was', (_, session) => {
  expect(sessionOf(blankContext({ settings: SETTINGS, now: NOW, session }))).toEqual(session);
});

test('a wizard without a session begins with contacts allowed and all else unsaid', () => {
  expect(sessionOf(blankContext({ settings: SETTINGS, now: NOW }))).toEqual({
    source: null,
    destination: null,
    operations: null,
    allowContactsMigration: true,
    googleTermsAccepted: false,
    checkSanBrunoOnOauthCallback: false,
    jwt: null,
    notificationContact: '',
    emailHash: null,
    emailExportType: null,
    contactsExportType: null,
    awaitedConsent: null,
    draft: null,
    letter: null,
  });
});

test('what is only typed does not survive a reload', async () => {
  const wizard = arriveAt('/');
  await wizard.send({ type: 'start.press' }, { type: 'password.type', password: PASSWORD });
  expect(JSON.stringify(sessionOf(wizard.context()))).not.toContain(PASSWORD);
});

test('a notification contact survives a reload', async () => {
  const wizard = arriveAt('/start-migration', {}, SESSIONS.toOther);
  await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
  expect(sessionOf(wizard.context())).toEqual({ ...SESSIONS.toOther, notificationContact: 'sam@mail.example' });
});

test('a message to support survives a reload, and a dialog of another page, until Home', async () => {
  const other = ID.replace('0', 'f');
  const before = arriveAt(`/status?migration_id=${ID}`);
  before.visit('/support-form');
  await before.send(
    { type: 'contact-email.type', email: 'sam@mail.example' },
    { type: 'issue.type', issue: 'My folders are missing' },
  );
  const items = new Map<string, string>();
  writeSession(storageOf(items), sessionOf(before.context()), null);
  const { send, visit, wait, isAt, context } = arriveAt(
    '/support-form',
    { 'ask for the status': () => ({ emailmigration: { status: 'inprogress' }, limited: true }) },
    await readSession(storageOf(items)),
  );
  const letter = { contactEmail: 'sam@mail.example', issue: 'My folders are missing' };
  expect(context().typed).toMatchObject({ ...letter, supportId: ID });
  visit(`/status?migration_id=${other}`);
  await wait(0);
  await send({ type: 'more.show' });
  expect(isAt('status.more.signingIn')).toBe(true);
  await send({ type: 'modal.close' });
  visit('/support-form');
  expect(context().typed).toMatchObject({ ...letter, supportId: other });
  visit('/');
  expect(sessionOf(context())).toEqual(BLANK_SESSION);
});

test('Home leaves nothing of the session', () => {
  expect(sessionOf(arriveAt('/', {}, SESSIONS.downloading).context())).toEqual(BLANK_SESSION);
});

/** A browser's storage of one tab, that takes so many entries. */
function storageOf(items: Map<string, string>, room = Infinity): Storage {
  return {
    length: items.size,
    key: (index) => [...items.keys()][index] ?? null,
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => {
      if (items.size >= room) throw new DOMException('The quota has been exceeded.', 'QuotaExceededError');
      items.set(key, value);
    },
    removeItem: (key) => void items.delete(key),
    clear: () => items.clear(),
  };
}

test('the session storage holds exactly the keys of the specification', async () => {
  const items = new Map<string, string>();
  const storage = storageOf(items);
  const full: Session = {
    ...SESSIONS.downloading,
    allowContactsMigration: false,
    googleTermsAccepted: true,
    checkSanBrunoOnOauthCallback: true,
    jwt: 'a-bearer-token',
    notificationContact: 'sam@mail.example',
    emailHash: 'hash',
  };
  writeSession(storage, full, 3);
  expect(new Set(items.keys())).toEqual(
    new Set([
      'allowContactsMigration',
      'checkSanBrunoOnOauthCallback',
      'contactsExportType',
      'currentStep',
      'dstAccount',
      'emailExportType',
      'emailHash',
      'googleTermsAccepted',
      'jwt',
      'notificationContact',
      'operations',
      'srcAccount',
    ]),
  );
  expect(storage.getItem('currentStep')).toBe('3');
  expect(await readSession(storage)).toEqual(full);
});

test.each(Object.entries(SESSIONS))('the session "%s" is stored and read as it was', async (_, session) => {
  const items = new Map<string, string>();
  const storage = storageOf(items);
  writeSession(storage, SESSIONS.moving, 3);
  writeSession(storage, session, null);
  expect(await readSession(storage)).toEqual(session);
});

test.each([
  ['srcAccount', '{"email":"pat@sanbrunocable.example"}'],
  ['srcAccount', 'no json'],
  ['dstAccount', '{"email":"sam@mail.example","provider":"nobody"}'],
  ['operations', '"all"'],
  ['allowContactsMigration', '"yes"'],
  ['emailExportType', 'exe'],
])('a stored %s that reads %s drops the whole session', async (key, value) => {
  const items = new Map<string, string>();
  const storage = storageOf(items);
  writeSession(storage, SESSIONS.toOther, 3);
  storage.setItem(key, value);
  expect(await readSession(storage)).toEqual(BLANK_SESSION);
  expect(items.size).toBe(0);
});

test('a storage that is full keeps nothing of a session, rather than a part', () => {
  const items = new Map<string, string>();
  writeSession(storageOf(items, 1), SESSIONS.toOther, 3);
  expect(items.size).toBe(0);
});

test('a storage that is blocked reads as a blank session', async () => {
  expect(await readSession(null)).toEqual(BLANK_SESSION);
  expect(() => writeSession(null, SESSIONS.toOther, 3)).not.toThrow();
});

test.each([
  ['moving', BLANK_SESSION],
  ['downloading', BLANK_SESSION],
  ['ordered', SESSIONS.ordered],
  ['listing', SESSIONS.listing],
] as const)(
  'a tab that comes back after a sign-out in another one reads the session "%s" without a password',
  async (name, read) => {
    const [local, here, there] = [storageOf(new Map()), storageOf(new Map()), storageOf(new Map())];
    writeSession(there, SESSIONS[name], 3);
    expect(wasSignedOut(there, local)).toBe(false);
    tellSignOut(here, local);
    expect([here, there].map((tab) => wasSignedOut(tab, local))).toEqual([false, true]);
    expect(await readSession(there, wasSignedOut(there, local))).toEqual(read);
    expect([1, 2].map(() => hearSignOut(there, local))).toEqual([true, false]);
    writeSession(there, SESSIONS.moving, 3);
    expect(await readSession(there, wasSignedOut(there, local))).toEqual(SESSIONS.moving);
  },
);

test('such a tab keeps a message to support that was begun, and nothing else', async () => {
  const draft = { legacyEmail: LEGACY, contactEmail: '', supportId: '', issue: 'It has stopped.', transferId: null };
  for (const [issue, kept] of [
    ['', BLANK_SESSION],
    [draft.issue, { ...BLANK_SESSION, draft }],
  ] as const) {
    const tab = storageOf(new Map());
    writeSession(tab, { ...SESSIONS.moving, draft: { ...draft, issue } }, null);
    expect(await readSession(tab, true)).toEqual(kept);
  }
});

test('a local storage that has been cleared since a sign-out signs no tab out', () => {
  const [local, tab] = [storageOf(new Map()), storageOf(new Map())];
  tellSignOut(tab, local);
  expect([storageOf(new Map()), null].map((cleared) => wasSignedOut(tab, cleared))).toEqual([false, false]);
});

test('a sign-out that can not be kept, or not be heard of, breaks nothing', () => {
  const full = storageOf(new Map(), 0);
  for (const [tab, local] of [
    [full, full],
    [null, null],
    [null, storageOf(new Map())],
  ] as const) {
    expect(() => tellSignOut(tab, local)).not.toThrow();
    expect(hearSignOut(tab, local)).toBe(false);
  }
});
