import { describe, expect, test } from 'vitest';
import type { Session } from '../../machines/wizard.types.ts';
import { LEGACY, PASSWORD, SESSIONS } from '../support/moves.ts';
import { arriveAt, codesBut, refusal, type Wizard } from '../support/wizard.ts';

const OTHER = 'destination.options.other';
type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const EMAIL = 'sam@mail.example';
const ok = () => ({ ok: true });
const signsInBy = (auth: 'oauth' | 'other', provider: string) => () => ({
  allowedOperations: ['emailmigration'],
  provider,
  auth,
});
const byPassword = signsInBy('other', 'somebody');

const type = (email: string) => ({ type: 'email.type', email }) as const;
const password = { type: 'password.type', password: PASSWORD } as const;
const submit = { type: 'credentials.submit' } as const;
const host = (name: string) => ({ type: 'host.type', host: name }) as const;
const useHost = { type: 'host.toggle' } as const;
const leaveHost = { type: 'host.leave' } as const;
const canSubmit = (wizard: Wizard) => wizard.actor.getSnapshot().can(submit);

async function formOpen(script: Script = {}, session: Session = SESSIONS.signedIn) {
  const wizard = arriveAt('/destination-account', script, session);
  await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
  return wizard;
}

describe('a password that was refused', () => {
  test('is said at its field until it is typed anew, after the message has gone, and the host stays', async () => {
    const wizard = await formOpen({
      'ask for capabilities': byPassword,
      'resolve the host': ok,
      'validate the account': refusal('INVALID_CREDENTIALS'),
    });
    await wizard.send(type(EMAIL), password, useHost, host('imap.mail.example'), leaveHost, submit);
    expect(wizard.context().message).toEqual({ about: 'sign-in refused', code: 'INVALID_CREDENTIALS' });
    expect(wizard.isAt(`${OTHER}.password.asked.refused`)).toBe(true);
    await wizard.wait(7_000);
    expect(wizard.context().message).toBeNull();
    expect(wizard.isAt(`${OTHER}.password.asked.refused`)).toBe(true);
    expect(wizard.context().typed.host).toBe('imap.mail.example');
    await wizard.send(password);
    expect(wizard.isAt(`${OTHER}.password.asked.good`)).toBe(true);
  });

  test.each(codesBut('INVALID_CREDENTIALS', 'UNAVAILABLE'))(
    'is not said when the sign-in fails with %s',
    async (code) => {
      const wizard = await formOpen({ 'ask for capabilities': byPassword, 'validate the account': refusal(code) });
      await wizard.send(type(EMAIL), password, submit);
      expect(wizard.isAt(`${OTHER}.password.asked.good`)).toBe(true);
    },
  );
});

describe('the email of another account', () => {
  test('the email is lowercased and freed of spaces around it, and checked 1 s after the typing stops', async () => {
    const wizard = await formOpen({ 'ask for capabilities': byPassword });
    await wizard.send(type(' Sam@Mail.Example '));
    expect(wizard.context().typed.email).toBe(EMAIL);
    await wizard.wait(999);
    expect(wizard.asked('ask for capabilities')).toEqual([]);
    await wizard.wait(1);
    expect(wizard.asked('ask for capabilities')).toEqual([{ email: EMAIL }]);
    expect(wizard.isAt(`${OTHER}.email.good`)).toBe(true);
    expect(wizard.context().typedAccount).toEqual({ provider: 'other', auth: 'other' });
  });

  test.each(['', 'nonsense', `${'a'.repeat(65)}@mail.example`])('"%s" is an invalid email', async (email) => {
    const wizard = await formOpen();
    await wizard.send(type(email));
    await wizard.wait(1_000);
    expect(wizard.isAt(`${OTHER}.email.malformed`)).toBe(true);
  });

  test('an address of the legacy provider is refused as the destination, without a call', async () => {
    const wizard = await formOpen();
    await wizard.send(type(LEGACY), password);
    await wizard.wait(1_000);
    expect(wizard.isAt(`${OTHER}.email.legacyAddress`)).toBe(true);
    expect(canSubmit(wizard)).toBe(false);
    expect(wizard.asked('ask for capabilities')).toEqual([]);
  });

  test('an address whose capabilities name the legacy provider is refused as the destination', async () => {
    const wizard = await formOpen({ 'ask for capabilities': signsInBy('other', 'sanbruno') });
    await wizard.send(type(EMAIL));
    await wizard.wait(1_000);
    expect(wizard.isAt(`${OTHER}.email.unsupported`)).toBe(true);
    await wizard.send(type(EMAIL), password, submit);
    expect(wizard.isAt(`${OTHER}.email.unsupported`)).toBe(true);
    expect(wizard.isAt(`${OTHER}.credentials.editing`)).toBe(true);
  });

  test.each([
    ['INVALID_EMAIL', 'malformed'],
    ['PROVIDER_NOT_SUPPORTED', 'unsupported'],
    ['UNSUPPORTED_PROVIDER', 'unsupported'],
  ] as const)(
    'capabilities that fail with %s make the email %s, after the pause and on submit',
    async (code, state) => {
      const wizard = await formOpen({ 'ask for capabilities': refusal(code) });
      await wizard.send(type(EMAIL));
      await wizard.wait(1_000);
      expect(wizard.isAt(`${OTHER}.email.${state}`)).toBe(true);
      await wizard.send(type(EMAIL), password, submit);
      expect(wizard.isAt(`${OTHER}.email.${state}`)).toBe(true);
      expect(wizard.isAt(`${OTHER}.credentials.editing`)).toBe(true);
      expect(wizard.context().message).toBeNull();
    },
  );

  test.each(codesBut('UNAVAILABLE', 'INVALID_EMAIL', 'PROVIDER_NOT_SUPPORTED', 'UNSUPPORTED_PROVIDER'))(
    'capabilities that fail with %s after the pause say nothing about the email',
    async (code) => {
      const wizard = await formOpen({ 'ask for capabilities': refusal(code) });
      await wizard.send(type(EMAIL));
      await wizard.wait(1_000);
      expect(wizard.isAt(`${OTHER}.email.untouched`)).toBe(true);
      expect(wizard.has('unavailable')).toBe(false);
    },
  );

  test.each(['call.retry', 'connection.return'] as const)(
    'a portal that is unavailable as the email is checked says so, and goes on by %s with what was typed',
    async (event) => {
      const script: Script = { 'ask for capabilities': refusal('UNAVAILABLE') };
      const wizard = await formOpen(script);
      await wizard.send(type(EMAIL), password);
      await wizard.wait(1_000);
      expect(wizard.has('unavailable')).toBe(true);
      script['ask for capabilities'] = byPassword;
      await wizard.send({ type: event });
      expect(wizard.has('unavailable')).toBe(false);
      expect(wizard.isAt(`${OTHER}.email.good`)).toBe(true);
      expect(wizard.context().typed).toMatchObject({ email: EMAIL, password: PASSWORD });
    },
  );

  test('Back leads to the form, though both the check and the sign-in found the portal unavailable', async () => {
    const wizard = await formOpen({ 'ask for capabilities': refusal('UNAVAILABLE') });
    await wizard.send(type(EMAIL), password, submit);
    await wizard.wait(1_000);
    await wizard.send({ type: 'modal.close' });
    expect(wizard.has('unavailable')).toBe(false);
    expect(wizard.isAt(`${OTHER}.email.untouched`)).toBe(true);
    expect(wizard.context().typed).toMatchObject({ email: EMAIL, password: PASSWORD });
  });

  test('a check of the email that is not answered for 30 s ends', async () => {
    const wizard = await formOpen();
    await wizard.send(type(EMAIL));
    await wizard.wait(1_000);
    await wizard.wait(30_000);
    expect(wizard.isAt(`${OTHER}.email.untouched`)).toBe(true);
  });

  test('the form does not begin with the address of the sign-in on Home', async () => {
    const wizard = arriveAt('/', {
      'ask for capabilities': signsInBy('other', 'sanbruno'),
      'validate the account': ok,
    });
    await wizard.send({ type: 'start.press' }, type(LEGACY), password, submit);
    await wizard.wait(1_000);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
    expect(wizard.context().typed.email).toBe('');
  });
});

describe('the sign-in to another account', () => {
  test.each([
    ['microsoft', 'office365'],
    ['Outlook', 'office365'],
    ['hotmail', 'office365'],
    ['live', 'office365'],
    ['yahoo', 'yahoo'],
    ['aol', 'aol'],
  ])('an OAuth provider that is called %s is left for as %s', async (name, provider) => {
    const wizard = await formOpen({ 'ask for capabilities': signsInBy('oauth', name) });
    await wizard.send(type(EMAIL), password, submit);
    expect(wizard.left).toEqual([`/api/oauth/?provider=${provider}`]);
    expect(wizard.context()).toMatchObject({
      destination: { email: '', provider },
      allowContactsMigration: true,
      checkSanBrunoOnOauthCallback: false,
      typed: { password: '' },
    });
  });

  test("gmail is left for as google, after Google's terms", async () => {
    const wizard = await formOpen({ 'ask for capabilities': signsInBy('oauth', 'gmail') });
    await wizard.send(type(EMAIL));
    await wizard.wait(1_000);
    await wizard.send(submit);
    expect(wizard.address()).toBe('/accept-google-terms');
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test('gmail is left for at once when the terms are accepted', async () => {
    const wizard = arriveAt(
      '/destination-account',
      { 'ask for capabilities': signsInBy('oauth', 'gmail') },
      SESSIONS.termsAccepted,
    );
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
    await wizard.send(type(EMAIL), password, submit);
    expect(wizard.left).toEqual(['/api/oauth/?provider=google']);
  });

  test('an OAuth provider that is known after the pause needs no password', async () => {
    const wizard = await formOpen({ 'ask for capabilities': signsInBy('oauth', 'yahoo') });
    await wizard.send(type(EMAIL));
    expect(canSubmit(wizard)).toBe(false);
    await wizard.wait(1_000);
    expect(canSubmit(wizard)).toBe(true);
    await wizard.send(submit);
    expect(wizard.left).toEqual(['/api/oauth/?provider=yahoo']);
    expect(wizard.asked('ask for capabilities')).toHaveLength(1);
  });

  test('a provider without OAuth is signed in to by password, and contacts are switched off', async () => {
    const wizard = await formOpen({ 'ask for capabilities': byPassword, 'validate the account': ok });
    await wizard.send(type(EMAIL), password);
    await wizard.wait(1_000);
    await wizard.send(submit);
    expect(wizard.asked('ask for capabilities')).toHaveLength(1);
    expect(wizard.asked('validate the account')).toEqual([{ email: EMAIL, password: PASSWORD, provider: 'other' }]);
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.context()).toMatchObject({
      destination: { email: EMAIL, password: PASSWORD, provider: 'other' },
      allowContactsMigration: false,
      checkSanBrunoOnOauthCallback: false,
      typed: { email: '', password: '', host: '' },
    });
  });

  test('OAuth at a provider that we cannot redirect to is a sign-in by password', async () => {
    const wizard = await formOpen({ 'ask for capabilities': signsInBy('oauth', 'icloud'), 'validate the account': ok });
    await wizard.send(type(EMAIL), password, submit);
    expect(wizard.left).toEqual([]);
    expect(wizard.address()).toBe('/start-migration');
  });

  test.each([
    ['no email', [password]],
    ['a malformed email', [type('sam'), password]],
    ['no password', [type(EMAIL)]],
    ['an address of the legacy provider', [type(LEGACY), password]],
  ])('the sign-in is off with %s', async (_, events) => {
    const wizard = await formOpen();
    await wizard.send(...events);
    expect(canSubmit(wizard)).toBe(false);
    await wizard.send(submit);
    expect(wizard.has('busy')).toBe(false);
    expect(wizard.calls.map(({ name }) => name)).toEqual(['check the stored token']);
  });

  test('the sign-in is on with an email and a password', async () => {
    const wizard = await formOpen();
    await wizard.send(type(EMAIL), password);
    expect(canSubmit(wizard)).toBe(true);
  });

  test.each(codesBut('UNAVAILABLE', 'INVALID_EMAIL', 'PROVIDER_NOT_SUPPORTED', 'UNSUPPORTED_PROVIDER'))(
    'capabilities that fail with %s on submit say so for 7 s',
    async (code) => {
      const wizard = await formOpen({ 'ask for capabilities': refusal(code) });
      await wizard.send(type(EMAIL), password, submit);
      expect(wizard.context().message).toEqual({ about: 'sign-in refused', code });
      expect(wizard.isAt(`${OTHER}.credentials.editing`)).toBe(true);
      await wizard.wait(6_999);
      expect(wizard.context().message).not.toBeNull();
      await wizard.wait(1);
      expect(wizard.context().message).toBeNull();
    },
  );

  test.each(codesBut('UNAVAILABLE', 'INVALID_IMAP'))(
    'a sign-in refused with %s says so for 7 s, keeps the email and forgets the password',
    async (code) => {
      const wizard = await formOpen({ 'ask for capabilities': byPassword, 'validate the account': refusal(code) });
      await wizard.send(type(EMAIL), password, submit);
      expect(wizard.context()).toMatchObject({
        message: { about: 'sign-in refused', code },
        typed: { email: EMAIL, password: '' },
        destination: null,
      });
      await wizard.wait(7_000);
      expect(wizard.context().message).toBeNull();
    },
  );

  test('a sign-in for which no mail server was found says so for 7 s, and at the email until that is mended', async () => {
    const wizard = await formOpen({
      'ask for capabilities': byPassword,
      'validate the account': refusal('INVALID_IMAP'),
    });
    await wizard.send(type(EMAIL), password, submit);
    expect(wizard.context()).toMatchObject({
      message: { about: 'sign-in refused', code: 'INVALID_IMAP' },
      typed: { email: EMAIL, password: PASSWORD },
    });
    await wizard.wait(7_000);
    expect(wizard.context().message).toBeNull();
    expect(wizard.isAt(`${OTHER}.email.serverless`)).toBe(true);
    expect(canSubmit(wizard)).toBe(true);
    await wizard.send(submit);
    expect(wizard.asked('validate the account')).toHaveLength(2);
    await wizard.send(type('sam@mails.example'));
    expect(wizard.isAt(`${OTHER}.email.typing`)).toBe(true);
  });

  test('an email for which no mail server was found is good again when a host is named for it', async () => {
    const wizard = await formOpen({
      'ask for capabilities': byPassword,
      'validate the account': refusal('INVALID_IMAP'),
    });
    await wizard.send(type(EMAIL), password, submit, useHost);
    expect(wizard.isAt(`${OTHER}.email.good`)).toBe(true);
    expect(wizard.isAt(`${OTHER}.host.used.untouched`)).toBe(true);
  });

  test.each([
    ['capabilities', 'call.retry'],
    ['validation', 'call.retry'],
  ] as const)('a portal that is unavailable at the %s goes on by %s', async (call, event) => {
    const script: Script = {
      'ask for capabilities': call === 'capabilities' ? refusal('UNAVAILABLE') : byPassword,
      'validate the account': refusal('UNAVAILABLE'),
    };
    const wizard = await formOpen(script);
    await wizard.send(type(EMAIL), password, submit);
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.has('unavailable')).toBe(true);
    script['ask for capabilities'] = byPassword;
    script['validate the account'] = ok;
    await wizard.send({ type: event });
    expect(wizard.address()).toBe('/start-migration');
  });

  test.each(['asking', 'verifying'] as const)(
    'a sign-in that is %s is slow after 10 s, and gives up after 30 s',
    async (state) => {
      const wizard = await formOpen(state === 'asking' ? {} : { 'ask for capabilities': byPassword });
      await wizard.send(type(EMAIL), password, submit);
      await wizard.wait(9_999);
      expect(wizard.has('slow')).toBe(false);
      await wizard.wait(1);
      expect(wizard.has('slow')).toBe(true);
      await wizard.wait(19_999);
      expect(wizard.isAt(`${OTHER}.credentials.${state}`)).toBe(true);
      await wizard.wait(1);
      expect(wizard.isAt(`${OTHER}.credentials.editing`)).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'sign-in refused', code: 'UNEXPECTED_ANSWER' });
    },
  );

  test('a sign-in that is submitted twice is made once', async () => {
    const wizard = await formOpen({ 'ask for capabilities': byPassword });
    await wizard.send(type(EMAIL), password, submit, submit, submit);
    expect(wizard.asked('ask for capabilities')).toHaveLength(1);
    expect(wizard.asked('validate the account')).toHaveLength(1);
  });

  test('what is being verified cannot be changed', async () => {
    const script: Script = { 'ask for capabilities': byPassword, 'resolve the host': ok };
    const wizard = await formOpen(script);
    await wizard.send(type(EMAIL), password, useHost, host('imap.mail.example'), leaveHost);
    await wizard.wait(1_000);
    const { promise, resolve: answer } = Promise.withResolvers();
    script['validate the account'] = () => promise;
    await wizard.send(submit);
    await wizard.send(type('other@mail.example'), { type: 'password.type', password: 'other' });
    await wizard.send(host('imap.other.example'), useHost);
    answer({ ok: true });
    await wizard.wait(0);
    expect(wizard.context().destination).toEqual({
      email: EMAIL,
      password: PASSWORD,
      provider: 'other',
      imap: 'imap.mail.example',
    });
  });
});

describe('the custom IMAP host', () => {
  test('a host that resolves is good, and goes with the sign-in and the transfer', async () => {
    const wizard = await formOpen({
      'ask for capabilities': byPassword,
      'resolve the host': ok,
      'validate the account': ok,
    });
    await wizard.send(type(EMAIL), password, useHost, host(' IMAP.mail.example:993 '), leaveHost);
    expect(wizard.asked('resolve the host')).toEqual([{ imap: 'imap.mail.example:993' }]);
    expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
    await wizard.send(submit);
    expect(wizard.asked('validate the account')).toEqual([
      { email: EMAIL, password: PASSWORD, provider: 'other', imap: 'imap.mail.example:993' },
    ]);
    expect(wizard.context().destination).toMatchObject({ imap: 'imap.mail.example:993' });
  });

  test.each(['bad host', 'localhost', 'imap.mail.example:0', 'imap.mail.example:99999', '-x.example', '127.0.0.1'])(
    'the host "%s" is invalid once the field is left, without a call',
    async (name) => {
      const wizard = await formOpen();
      await wizard.send(useHost, host(name));
      expect(wizard.isAt(`${OTHER}.host.used.typing`)).toBe(true);
      await wizard.send(leaveHost);
      expect(wizard.isAt(`${OTHER}.host.used.malformed`)).toBe(true);
      expect(wizard.asked('resolve the host')).toEqual([]);
    },
  );

  test('a host that is left empty is invalid', async () => {
    const wizard = await formOpen();
    await wizard.send(useHost, leaveHost);
    expect(wizard.isAt(`${OTHER}.host.used.malformed`)).toBe(true);
    await wizard.send(host('x'), host(''), leaveHost);
    expect(wizard.isAt(`${OTHER}.host.used.malformed`)).toBe(true);
    expect(wizard.asked('resolve the host')).toEqual([]);
  });

  test.each(codesBut('UNAVAILABLE'))('a host check that fails with %s could not resolve the host', async (code) => {
    const wizard = await formOpen({ 'resolve the host': refusal(code) });
    await wizard.send(useHost, host('imap.mail.example'), leaveHost);
    expect(wizard.isAt(`${OTHER}.host.used.unresolved`)).toBe(true);
  });

  test.each([
    ['INVALID_IMAP', 1],
    ['GENERAL_ERROR', 2],
    ['TOO_MANY_ATTEMPTS', 2],
    ['UNEXPECTED_ANSWER', 2],
  ] as const)('a host check that fails with %s has been made %i times after 10 s', async (code, times) => {
    const script: Script = { 'resolve the host': refusal(code) };
    const wizard = await formOpen(script);
    await wizard.send(useHost, host('imap.mail.example'), leaveHost);
    expect(wizard.isAt(`${OTHER}.host.used.unresolved.${times === 1 ? 'unknown' : 'unchecked'}`)).toBe(true);
    await wizard.wait(10_000);
    expect(wizard.asked('resolve the host')).toHaveLength(times);
    // It is made once more at Enter, or when the field is left again.
    script['resolve the host'] = ok;
    await wizard.send(leaveHost);
    expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
  });

  test('a host check that is repeated by itself leaves the form as it is until the host is known', async () => {
    const script: Script = { 'resolve the host': refusal('GENERAL_ERROR') };
    const wizard = await formOpen(script);
    await wizard.send(useHost, host('imap.mail.example'), leaveHost);
    script['resolve the host'] = refusal('UNAVAILABLE');
    await wizard.wait(10_000);
    expect(wizard.asked('resolve the host')).toHaveLength(2);
    expect(wizard.has('unavailable')).toBe(false);
    // Given up after 30 s.
    delete script['resolve the host'];
    await wizard.wait(10_000);
    await wizard.wait(30_000);
    expect(wizard.isAt(`${OTHER}.host.used.unresolved.unchecked.pausing`)).toBe(true);
    script['resolve the host'] = ok;
    await wizard.wait(10_000);
    expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
  });

  test('a host that a repeated check finds to be invalid could not be resolved, and is not checked again', async () => {
    const script: Script = { 'resolve the host': refusal('GENERAL_ERROR') };
    const wizard = await formOpen(script);
    await wizard.send(useHost, host('imap.mail.example'), leaveHost);
    script['resolve the host'] = refusal('INVALID_IMAP');
    await wizard.wait(10_000);
    expect(wizard.isAt(`${OTHER}.host.used.unresolved.unknown`)).toBe(true);
    await wizard.wait(60_000);
    expect(wizard.asked('resolve the host')).toHaveLength(2);
  });

  test('a host check that is not answered for 30 s could not resolve the host', async () => {
    const wizard = await formOpen();
    await wizard.send(useHost, host('imap.mail.example'), leaveHost);
    await wizard.wait(29_999);
    expect(wizard.isAt(`${OTHER}.host.used.checking`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${OTHER}.host.used.unresolved`)).toBe(true);
  });

  test.each(['call.retry', 'connection.return'] as const)(
    'a portal that is unavailable at the host check goes on by %s',
    async (event) => {
      const script: Script = { 'resolve the host': refusal('UNAVAILABLE') };
      const wizard = await formOpen(script);
      await wizard.send(useHost, host('imap.mail.example'), leaveHost);
      expect(wizard.has('unavailable')).toBe(true);
      script['resolve the host'] = ok;
      await wizard.send({ type: event });
      expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
    },
  );

  test.each([
    ['not left', [host('imap.mail.example')]],
    ['empty', [leaveHost]],
    ['invalid', [host('bad host'), leaveHost]],
    ['being checked', [host('imap.mail.example'), leaveHost]],
  ])('the sign-in is off while the custom host is %s', async (_, events) => {
    const wizard = await formOpen({ 'ask for capabilities': byPassword });
    await wizard.send(type(EMAIL), password, useHost, ...events);
    expect(canSubmit(wizard)).toBe(false);
    await wizard.send(submit);
    expect(wizard.asked('validate the account')).toEqual([]);
  });

  test('the host is forgotten when it is not used any more, and with the form', async () => {
    const wizard = await formOpen({ 'resolve the host': ok });
    await wizard.send(useHost, host('imap.mail.example'), leaveHost, useHost);
    expect(wizard.context().typed.host).toBe('');
    await wizard.send(useHost, host('imap.mail.example'), { type: 'options.toggle' });
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
    expect(wizard.context().typed.host).toBe('');
  });

  test('a sign-in that is refused for its host marks the host, where one is used', async () => {
    const wizard = await formOpen({
      'ask for capabilities': byPassword,
      'resolve the host': ok,
      'validate the account': refusal('INVALID_IMAP'),
    });
    await wizard.send(type(EMAIL), password, useHost, host('imap.mail.example'), leaveHost, submit);
    expect(wizard.isAt(`${OTHER}.host.used.malformed`)).toBe(true);
    expect(wizard.context().message).toBeNull();
    expect(wizard.context().typed.password).toBe(PASSWORD);
  });
});

/** The form with a host that was found, and no password yet. */
async function hostGood(script: Script = {}) {
  const wizard = await formOpen({ 'resolve the host': ok, 'ask for capabilities': byPassword, ...script });
  await wizard.send(type(EMAIL), useHost, host('imap.mail.example'), leaveHost);
  expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
  return wizard;
}

describe('an account with a host of its own', () => {
  test('is not signed in to without a password', async () => {
    const wizard = await hostGood();
    expect(canSubmit(wizard)).toBe(false);
    await wizard.send(submit);
    expect(wizard.asked('validate the account')).toEqual([]);
  });

  test('that refuses the sign-in for another reason keeps its host', async () => {
    const wizard = await hostGood({ 'validate the account': refusal('INVALID_CREDENTIALS') });
    await wizard.send(password, submit);
    expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
    expect(wizard.context().message).toEqual({ about: 'sign-in refused', code: 'INVALID_CREDENTIALS' });
  });

  test('keeps its host while it is asked about again, after the portal was unavailable', async () => {
    const script: Script = { 'validate the account': refusal('UNAVAILABLE') };
    const wizard = await hostGood(script);
    await wizard.send(password, submit);
    delete wizard.script['ask for capabilities'];
    await wizard.send({ type: 'call.retry' });
    expect(wizard.isAt(`${OTHER}.credentials.asking`)).toBe(true);
    await wizard.send(host('imap.else.example'), useHost);
    expect(wizard.context().typed.host).toBe('imap.mail.example');
    expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
  });
});

test('what its provider is called goes into the sign-in, also where it is asked only on submit', async () => {
  const wizard = await formOpen({ 'ask for capabilities': signsInBy('other', 'yahoo'), 'validate the account': ok });
  await wizard.send(type(EMAIL), password, submit);
  expect(wizard.asked('validate the account')).toEqual([{ email: EMAIL, password: PASSWORD, provider: 'yahoo' }]);
  expect(wizard.context().destination).toMatchObject({ provider: 'yahoo' });
});
