import { expect, test } from 'vitest';
import { BLANK_SESSION, blankContext, sessionOf } from '../../machines/wizard.context.ts';
import { PASSWORD, SESSIONS } from '../support/moves.ts';
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

test('Home leaves nothing of the session', () => {
  expect(sessionOf(arriveAt('/', {}, SESSIONS.downloading).context())).toEqual(BLANK_SESSION);
});
