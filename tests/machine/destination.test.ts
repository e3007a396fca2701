import { describe, expect, test } from 'vitest';
import type { Session } from '../../machines/wizard.types.ts';
import { ID, LEGACY, PASSWORD, SESSIONS } from '../support/moves.ts';
import { arriveAt, codesBut, refusal, SETTINGS } from '../support/wizard.ts';

const MOVE = 'destination.move';
const OPTIONS = 'destination.options';
type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const ok = () => ({ ok: true });

const arrive = (script: Script = {}, session: Session = SESSIONS.signedIn) =>
  arriveAt('/destination-account', script, session);

async function continued(script: Script = {}) {
  const wizard = arrive(script);
  await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
  return wizard;
}

async function chosen(
  provider: 'google' | 'office365' | 'aol' | 'other' | 'file_export',
  session: Session = SESSIONS.signedIn,
) {
  const wizard = arrive({}, session);
  await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider });
  return wizard;
}

const inProgress = () =>
  Promise.reject(
    Object.assign(new Error('in progress'), {
      error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
      transferId: ID,
    }),
  );

describe('the primary move', () => {
  test('the button for Yahoo opens the important notice, which closes again', async () => {
    const wizard = arrive();
    expect(wizard.isAt(`${MOVE}.offered`)).toBe(true);
    await wizard.send({ type: 'move.press' });
    expect(wizard.isAt(`${MOVE}.warned`)).toBe(true);
    await wizard.send({ type: 'modal.close' });
    expect(wizard.isAt(`${MOVE}.offered`)).toBe(true);
  });

  test('Continue creates the account, and after 2 s leaves for the sign-in at Yahoo', async () => {
    const script: Script = {};
    const wizard = await continued(script);
    expect(wizard.isAt(`${MOVE}.creatingAccount`)).toBe(true);
    expect(wizard.asked('create the account')).toEqual([{ email: LEGACY, password: PASSWORD, inQa: false }]);

    const after = await continued({ 'create the account': ok });
    expect(after.isAt(`${MOVE}.redirecting`)).toBe(true);
    await after.wait(1_999);
    expect(after.left).toEqual([]);
    expect(after.address()).toBe('/destination-account');
    await after.wait(1);
    expect(after.left).toEqual(['/api/oauth/?provider=yahoo']);
    expect(after.context()).toMatchObject({
      checkSanBrunoOnOauthCallback: true,
      allowContactsMigration: true,
      destination: { provider: 'yahoo', email: '' },
    });
  });

  test('the account is created in quality assurance where the setting says so', async () => {
    const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn, { settings: { ...SETTINGS, inQa: true } });
    await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
    expect(wizard.asked('create the account')).toEqual([{ email: LEGACY, password: PASSWORD, inQa: true }]);
  });

  test('Continue that is pressed twice creates one account', async () => {
    const wizard = await continued();
    await wizard.send({ type: 'move.continue' }, { type: 'move.press' });
    expect(wizard.asked('create the account')).toHaveLength(1);
    expect(wizard.isAt(`${MOVE}.creatingAccount`)).toBe(true);
  });

  test('the important notice that is closed while the account is created, or before the redirect, leads nowhere', async () => {
    for (const script of [{}, { 'create the account': ok }]) {
      const wizard = await continued(script);
      await wizard.send({ type: 'modal.close' });
      expect(wizard.isAt(`${MOVE}.offered`)).toBe(true);
      await wizard.wait(30_000);
      expect(wizard.left).toEqual([]);
      expect(wizard.context()).toMatchObject({ message: null, destination: null });
      await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
      expect(wizard.asked('create the account')).toHaveLength(2);
    }
  });

  test('an account that was created already goes on with no message', async () => {
    const wizard = await continued({ 'create the account': refusal('ACCOUNT_ALREADY_CREATED') });
    expect(wizard.isAt(`${MOVE}.redirecting`)).toBe(true);
    expect(wizard.context().message).toBeNull();
    await wizard.wait(2_000);
    expect(wizard.left).toEqual(['/api/oauth/?provider=yahoo']);
  });

  test.each(codesBut('ACCOUNT_ALREADY_CREATED', 'UNAVAILABLE'))(
    'an account creation that ends in %s says so for 7 s, and can be tried again',
    async (code) => {
      const wizard = await continued({ 'create the account': refusal(code) });
      expect(wizard.isAt(`${MOVE}.offered`)).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'account creation', code });
      await wizard.wait(6_999);
      expect(wizard.context().message).not.toBeNull();
      await wizard.wait(1);
      expect(wizard.context().message).toBeNull();
      expect(wizard.left).toEqual([]);
      await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
      expect(wizard.asked('create the account')).toHaveLength(2);
    },
  );

  test('an account creation is slow after 10 s, and fails after 30 s', async () => {
    const wizard = await continued();
    await wizard.wait(9_999);
    expect(wizard.has('slow')).toBe(false);
    await wizard.wait(1);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(19_999);
    expect(wizard.isAt(`${MOVE}.creatingAccount`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${MOVE}.offered`)).toBe(true);
    expect(wizard.context().message).toEqual({ about: 'account creation', code: 'UNEXPECTED_ANSWER' });
  });

  test.each(['call.retry'] as const)(
    'a portal that is unavailable at the account creation goes on by %s',
    async (type) => {
      const script: Script = { 'create the account': refusal('UNAVAILABLE') };
      const wizard = await continued(script);
      expect(wizard.has('unavailable')).toBe(true);
      await wizard.send({ type: 'connection.return' });
      expect(wizard.has('unavailable')).toBe(true);
      script['create the account'] = ok;
      await wizard.send({ type });
      expect(wizard.isAt(`${MOVE}.redirecting`)).toBe(true);
    },
  );

  test.each([
    ['comes out of the back/forward cache', 'page.return'],
    ['does not get away, as its notice is closed,', 'modal.close'],
  ] as const)('a page that %s returns from the sign-in to the destination page', async (_, type) => {
    const wizard = await continued({ 'create the account': ok });
    await wizard.wait(2_000);
    expect(wizard.address()).toBe('between pages');
    await wizard.send({ type });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.isAt(`${MOVE}.offered`)).toBe(true);
    expect(wizard.left).toHaveLength(1);
  });

  test('a password with every kind of character reaches the account creation as it was typed', async () => {
    const password = ` "Pässwörd"&<\\' 🔑`;
    const session: Session = { ...SESSIONS.signedIn, source: { email: LEGACY, password, provider: 'sanbruno' } };
    const wizard = arriveAt('/destination-account', {}, session);
    await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
    expect(wizard.asked('create the account')).toEqual([{ email: LEGACY, password, inQa: false }]);
  });
});

describe('a transfer that is in the way', () => {
  test('can be gone to, also when the message about it has cleared', async () => {
    const wizard = await continued({ 'create the account': inProgress });
    await wizard.wait(7_000);
    expect(wizard.context().message).toBeNull();
    expect(wizard.context().transferInTheWay).toEqual({ id: ID, isCompleted: false });
    await wizard.send({ type: 'transfer.open', id: ID });
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
  });

  test('is not offered when the next failure has another cause, or none was named', async () => {
    const script: Script = { 'create the account': inProgress };
    const wizard = await continued(script);
    script['create the account'] = refusal('ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS');
    await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
    expect(wizard.context().transferInTheWay).toBeNull();
    await wizard.send({ type: 'transfer.open', id: ID });
    expect(wizard.address()).toBe('/destination-account');
  });
});

describe('the other options', () => {
  test('the section of other options opens and closes', async () => {
    const wizard = arrive();
    expect(wizard.isAt(`${OPTIONS}.closed`)).toBe(true);
    await wizard.send({ type: 'options.toggle' });
    expect(wizard.isAt(`${OPTIONS}.choosing`)).toBe(true);
    await wizard.send({ type: 'options.toggle' });
    expect(wizard.isAt(`${OPTIONS}.closed`)).toBe(true);
  });

  test.each([
    ['/destination-account', 'toGoogle', 'choosing'],
    ['/destination-account?error=EXTERNAL_OAUTH_ERROR', 'toGoogle', 'choosing'],
    ['/destination-account', 'moving', 'closed'],
    ['/destination-account', 'signedIn', 'closed'],
  ] as const)('are open at %s (%s) for who has begun one of them: %s', (address, session, options) => {
    expect(arriveAt(address, {}, SESSIONS[session]).isAt(`${OPTIONS}.${options}`)).toBe(true);
  });

  test.each([
    ['other', 'other'],
    ['file_export', 'download'],
  ] as const)('the form of %s has an address of its own, and Back leads to the other ways', async (provider, way) => {
    const wizard = await chosen(provider);
    expect(wizard.address()).toBe(`/destination-account?way=${way}`);
    expect(wizard.isAt(`${OPTIONS}.${way}`)).toBe(true);
    await wizard.send({ type: 'page.back' });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.isAt(`${OPTIONS}.choosing`)).toBe(true);
    wizard.visit(`/destination-account?way=${way}`);
    expect(wizard.isAt(`${OPTIONS}.${way}`)).toBe(true);
  });

  test.each(['other', 'download'] as const)("the browser's Back from the form of %s finds them open", (way) => {
    const wizard = arriveAt(`/destination-account?way=${way}`, {}, SESSIONS.signedIn);
    wizard.visit('/destination-account');
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.isAt(`${OPTIONS}.choosing`)).toBe(true);
  });

  test("Gmail leads to Google's terms while they are not accepted, and from there to the sign-in", async () => {
    const wizard = await chosen('google');
    expect(wizard.address()).toBe('/accept-google-terms');
    expect(wizard.left).toEqual([]);
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
    expect(wizard.context().googleTermsAccepted).toBe(true);
  });

  test('Gmail leads to the sign-in at once when the terms are accepted', async () => {
    const wizard = arriveAt('/destination-account', {}, SESSIONS.termsAccepted);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'google' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test.each(['office365', 'aol'] as const)('%s leads to its sign-in', async (provider) => {
    const wizard = await chosen(provider);
    expect(wizard.left).toEqual([`/api/oauth/?provider=${provider}`]);
    expect(wizard.context()).toMatchObject({
      destination: { email: '', provider },
      checkSanBrunoOnOauthCallback: false,
      allowContactsMigration: true,
    });
    await wizard.send({ type: 'page.return' });
    expect(wizard.address()).toBe('/destination-account');
  });

  test('another way than the move no longer asks for the same address on return', async () => {
    const session = { ...SESSIONS.moving, googleTermsAccepted: true };
    const wizard = arriveAt('/destination-account', {}, session);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'google' });
    expect(wizard.context().checkSanBrunoOnOauthCallback).toBe(false);
  });

  test('Download starts from the recommended formats, and goes to the start of the transfer', async () => {
    const wizard = await chosen('file_export');
    expect(wizard.context()).toMatchObject({ emailExportType: 'eml', contactsExportType: 'csv' });
    await wizard.send({ type: 'contacts-format.choose', format: 'vcf' }, { type: 'download.press' });
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.context()).toMatchObject({
      destination: { email: '', provider: 'file_export' },
      emailExportType: 'eml',
      contactsExportType: 'vcf',
      checkSanBrunoOnOauthCallback: false,
    });
  });

  test('formats that were chosen before stay chosen', async () => {
    const wizard = await chosen('file_export', SESSIONS.downloading);
    expect(wizard.context()).toMatchObject({ emailExportType: 'mbox', contactsExportType: 'vcf' });
  });

  test.each([
    ['eml', 'csv'],
    ['mbox', 'vcf'],
    ['pst', 'pst'],
  ] as const)('mail as %s and contacts as %s can be chosen', async (emailFormat, contactsFormat) => {
    const wizard = await chosen('file_export');
    await wizard.send(
      { type: 'email-format.choose', format: emailFormat },
      { type: 'contacts-format.choose', format: contactsFormat },
    );
    expect(wizard.context()).toMatchObject({ emailExportType: emailFormat, contactsExportType: contactsFormat });
  });
});

describe('the error of the address', () => {
  test.each([
    ['INVALID_EMAIL', 'INVALID_EMAIL'],
    ['invalid_email', 'INVALID_EMAIL'],
    ['EXTERNAL_OAUTH_ERROR', 'EXTERNAL_OAUTH_ERROR'],
    ['UNSUPPORTED_PROVIDER', 'UNSUPPORTED_PROVIDER'],
    ['Provider_Not_Supported', 'PROVIDER_NOT_SUPPORTED'],
    ['MISSING_SCOPE', 'MISSING_SCOPE'],
    ['GENERAL_ERROR', 'OTHER'],
    ['<script>', 'OTHER'],
  ] as const)('the error %s of the address is shown as %s and clears after 7 s', async (error, shown) => {
    const wizard = arriveAt(`/destination-account?error=${encodeURIComponent(error)}`, {}, SESSIONS.signedIn);
    expect(wizard.context().message).toEqual({ about: 'query', error: shown });
    await wizard.wait(6_999);
    expect(wizard.address()).toBe(`/destination-account?error=${shown}`);
    await wizard.wait(1);
    expect(wizard.context().message).toBeNull();
    expect(wizard.address()).toBe('/destination-account');
  });

  test('a missing scope of Google leads to the page about scopes, and Next returns', async () => {
    const wizard = arriveAt('/destination-account?error=missing_scope', {}, SESSIONS.toGoogle);
    expect(wizard.address()).toBe('/check-email-scopes');
    await wizard.send({ type: 'page.next' });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.isAt(`${OPTIONS}.choosing`)).toBe(true);
  });

  test('a message stays while it is looked at, and then has its 7 s again', async () => {
    const wizard = arriveAt('/destination-account?error=INVALID_EMAIL', {}, SESSIONS.signedIn);
    await wizard.wait(6_000);
    await wizard.send({ type: 'message.hold' });
    await wizard.wait(60_000);
    expect(wizard.context().message).not.toBeNull();
    await wizard.send({ type: 'message.release' });
    await wizard.wait(6_999);
    expect(wizard.context().message).not.toBeNull();
    await wizard.wait(1);
    expect(wizard.context().message).toBeNull();
  });

  test('a second message has its own 7 s', async () => {
    const wizard = arrive({ 'create the account': refusal('GENERAL_ERROR') });
    await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
    await wizard.wait(6_000);
    await wizard.send({ type: 'move.press' }, { type: 'move.continue' });
    await wizard.wait(6_999);
    expect(wizard.context().message).not.toBeNull();
    await wizard.wait(1);
    expect(wizard.context().message).toBeNull();
  });

  test('a message does not follow to the next page, nor come back with Back', async () => {
    const wizard = arriveAt('/destination-account?error=INVALID_EMAIL', {}, SESSIONS.downloading);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'file_export' });
    await wizard.send({ type: 'download.press' });
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.context().message).toBeNull();
    await wizard.send({ type: 'page.back' });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.context().message).toBeNull();
  });
});

describe('a provider that is chosen', () => {
  test.each(['google', 'office365', 'aol'] as const)('takes the place of the one before: %s', async (provider) => {
    for (const googleTermsAccepted of [true, false]) {
      const wizard = await chosen(provider, { ...SESSIONS.choosingMove, googleTermsAccepted });
      expect(wizard.context()).toMatchObject({
        destination: { email: '', provider },
        checkSanBrunoOnOauthCallback: false,
      });
    }
  });

  test.each([true, false])('is Google by "Try again" of its permissions (terms accepted: %s)', async (accepted) => {
    const session = { ...SESSIONS.toAolWithoutContacts, googleTermsAccepted: accepted };
    const wizard = arriveAt('/check-email-scopes', {}, session);
    await wizard.send({ type: 'google.retry' });
    expect(wizard.context()).toMatchObject({
      destination: { email: '', provider: 'google' },
      allowContactsMigration: true,
    });
    expect(wizard.left).toEqual(accepted ? ['/api/oauth/?provider=google'] : []);
  });
});
