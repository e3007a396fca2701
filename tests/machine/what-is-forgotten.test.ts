import { describe, expect, test } from 'vitest';
import type { Event } from '../../machines/wizard.types.ts';
import { ID, LEGACY, PASSWORD, SESSIONS } from '../support/moves.ts';
import { movedTo, open } from '../support/owner-acts.ts';
import { arriveAt, refusal, type Wizard } from '../support/wizard.ts';

const SIGN_IN = 'home.page.signingIn';
const OTHER = 'destination.options.other';
const ok = () => ({ ok: true });
const legacy = () => ({ allowedOperations: ['emailmigration'], provider: 'sanbruno', auth: 'other' as const });
const byPassword = () => ({ allowedOperations: ['emailmigration'], provider: 'somebody', auth: 'other' as const });
const byOauth = () => ({ allowedOperations: ['emailmigration'], provider: 'gmail', auth: 'oauth' as const });
const email = (text: string) => ({ type: 'email.type', email: text }) as const;
const password = { type: 'password.type', password: PASSWORD } as const;
const submit = { type: 'credentials.submit' } as const;
const can = (wizard: Wizard, event: Event) => wizard.actor.getSnapshot().can(event);

async function formOfAnOauthAccount() {
  const wizard = arriveAt('/destination-account', { 'ask for capabilities': byOauth }, SESSIONS.signedIn);
  await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
  return wizard;
}

describe('what is being verified', () => {
  test.each([
    ['asking', {}],
    ['verifying', { 'ask for capabilities': legacy }],
    ['welcomed', { 'ask for capabilities': legacy, 'validate the account': ok }],
  ] as const)('stays as it is in the sign-in on Home while it is %s', async (state, script) => {
    const wizard = arriveAt('/', script);
    await wizard.send({ type: 'start.press' }, email(LEGACY), password, submit);
    expect(wizard.isAt(`${SIGN_IN}.credentials.${state}`)).toBe(true);
    const { typed, operations } = wizard.context();
    await wizard.send(email('sam@gmail.com'), { type: 'password.type', password: 'another' });
    expect(wizard.isAt(`${SIGN_IN}.credentials.${state}`)).toBe(true);
    expect(wizard.context()).toMatchObject({ typed, operations });
  });

  test.each([
    ['asking', {}],
    ['verifying', { 'ask for capabilities': byPassword }],
  ] as const)('stays as it is in the form for another provider while it is %s', async (state, script) => {
    const wizard = arriveAt('/destination-account', script, SESSIONS.signedIn);
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
    await wizard.send(email('sam@mail.example'), password, submit);
    expect(wizard.isAt(`${OTHER}.credentials.${state}`)).toBe(true);
    const { typed, typedAccount } = wizard.context();
    await wizard.send(
      email('else@mail.example'),
      { type: 'password.type', password: 'another' },
      { type: 'host.toggle' },
    );
    expect(wizard.context()).toMatchObject({ typed, typedAccount });
    expect(wizard.isAt(`${OTHER}.host.unused`)).toBe(true);
  });

  test('keeps its host as well', async () => {
    const wizard = arriveAt(
      '/destination-account',
      { 'ask for capabilities': byPassword, 'resolve the host': ok },
      SESSIONS.signedIn,
    );
    await wizard.send({ type: 'options.toggle' }, { type: 'provider.choose', provider: 'other' });
    await wizard.send(email('sam@mail.example'), password, { type: 'host.toggle' });
    await wizard.send({ type: 'host.type', host: 'imap.mail.example' }, { type: 'host.leave' }, submit);
    expect(wizard.isAt(`${OTHER}.credentials.verifying`)).toBe(true);
    await wizard.send({ type: 'host.type', host: 'imap.else.example' }, { type: 'host.toggle' });
    expect(wizard.context().typed.host).toBe('imap.mail.example');
    expect(wizard.isAt(`${OTHER}.host.used.good`)).toBe(true);
  });
});

describe('the password of another account', () => {
  test('is asked for, until the provider turns out to sign in by OAuth', async () => {
    const wizard = await formOfAnOauthAccount();
    expect(wizard.isAt(`${OTHER}.password.asked`)).toBe(true);
    await wizard.send(email('sam@gmail.com'));
    await wizard.wait(1_000);
    expect(wizard.isAt(`${OTHER}.password.notAsked`)).toBe(true);
    expect(can(wizard, password)).toBe(false);
  });

  test('is asked for again with a host of its own, and with another address', async () => {
    const wizard = await formOfAnOauthAccount();
    await wizard.send(email('sam@gmail.com'));
    await wizard.wait(1_000);
    await wizard.send({ type: 'host.toggle' });
    expect(wizard.isAt(`${OTHER}.password.asked`)).toBe(true);
    await wizard.send({ type: 'host.toggle' });
    expect(wizard.isAt(`${OTHER}.password.notAsked`)).toBe(true);
    await wizard.send(email('sam@mail.example'));
    expect(wizard.isAt(`${OTHER}.password.asked`)).toBe(true);
  });

  test('is forgotten where the visitor leaves for a sign-in by OAuth', async () => {
    const wizard = await formOfAnOauthAccount();
    await wizard.send(email('sam@gmail.com'), password, submit);
    expect(wizard.address()).toBe('/accept-google-terms');
    expect(wizard.context()).toMatchObject({ destination: { email: '', provider: 'google' }, typed: { password: '' } });
  });
});

describe('what the next page must not know', () => {
  test.each([
    ['Home', '/?error=EXTERNAL_OAUTH_ERROR', SESSIONS.blank],
    ['the destination page', '/destination-account?error=INVALID_EMAIL', SESSIONS.signedIn],
  ])('the message of %s stays there', (_, to, session) => {
    const wizard = arriveAt(to, {}, session);
    expect(wizard.context().message).not.toBeNull();
    wizard.visit('/support-form');
    expect(wizard.context().message).toBeNull();
  });

  test.each([
    ['the start of a transfer', '/start-migration', SESSIONS.toOther],
    ['a status', `/status?migration_id=${ID}`, SESSIONS.signedIn],
    ['support', '/support-form', SESSIONS.signedIn],
  ])('the message of %s stays there as well', async (_, to, session) => {
    const wizard = arriveAt(to, {}, session);
    await wizard.send({ type: 'message.show', message: { about: 'support failed', code: 'GENERAL_ERROR' } });
    expect(wizard.context().message).not.toBeNull();
    wizard.visit('/accept-google-terms');
    expect(wizard.context().message).toBeNull();
  });

  test.each([
    [`/status?migration_id=${ID}`, ID],
    [`/status?migration_id=${ID}&guide=yahoo`, ID],
    ['/status?migration_id=short', null],
    [`/status?migration_id=${ID}&error=x`, null],
  ])('the transfer before, and the sign-in that was awaited for it, are forgotten at %s', async (to, transferId) => {
    const script: Parameters<typeof arriveAt>[1] = {
      'ask for the status': () => movedTo('google'),
    };
    const wizard = arriveAt(`/status?migration_id=${'1'.repeat(32)}`, script);
    await wizard.wait(0);
    expect(wizard.context().status).not.toBeNull();
    delete script['ask for the status'];
    await wizard.send(open('again'), { type: 'consent.seek', provider: 'google' });
    expect(wizard.context().awaitedConsent).not.toBeNull();
    wizard.visit(to);
    expect(wizard.context()).toMatchObject({ status: null, transferId, awaitedConsent: null });
  });

  test('what the source can do is asked anew for another address, and after the sign-in was closed', async () => {
    const wizard = arriveAt('/', { 'ask for capabilities': legacy });
    await wizard.send({ type: 'start.press' }, email(LEGACY));
    await wizard.wait(1_000);
    expect(wizard.context().operations).toEqual(['emailmigration']);
    await wizard.send(email(`x${LEGACY}`));
    expect(wizard.context().operations).toBeNull();
    await wizard.wait(1_000);
    await wizard.send({ type: 'modal.close' });
    expect(wizard.context().operations).toBeNull();
  });
});

describe('what is remembered', () => {
  test('a sign-in that knows what the source can do does not ask again, and forgets the password', async () => {
    const wizard = arriveAt('/', { 'ask for capabilities': legacy, 'validate the account': ok });
    await wizard.send({ type: 'start.press' }, email(LEGACY));
    await wizard.wait(1_000);
    await wizard.send(password, submit);
    expect(wizard.asked('ask for capabilities')).toHaveLength(1);
    expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
    expect(wizard.context()).toMatchObject({ typed: { password: '' }, operations: ['emailmigration'] });
  });

  test('terms that were accepted on the way to the start stay accepted', async () => {
    const wizard = arriveAt('/start-migration', {}, SESSIONS.toGoogle);
    await wizard.send({ type: 'terms.accept' });
    expect(wizard.context().googleTermsAccepted).toBe(true);
  });

  test.each(['call.retry'] as const)(
    'a move that found the portal unavailable is announced again by %s',
    async (type) => {
      const script: Parameters<typeof arriveAt>[1] = {
        'check the domain': () => ({ valid: true }),
        'announce the migration': refusal('UNAVAILABLE'),
      };
      const wizard = arriveAt('/start-migration', script, SESSIONS.moving);
      await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
      await wizard.wait(1_000);
      await wizard.send({ type: 'transfer.submit' });
      expect(wizard.has('unavailable')).toBe(true);
      await wizard.send({ type });
      expect(wizard.asked('announce the migration')).toHaveLength(2);
    },
  );
});

test('the passwords and the token are forgotten once the transfer has been started', async () => {
  const script: Parameters<typeof arriveAt>[1] = {
    'check the domain': () => ({ valid: true }),
    'start the transfer': () => ({ jobid: ID }),
  };
  for (const session of [SESSIONS.toOther, { ...SESSIONS.toGoogle, googleTermsAccepted: true }]) {
    const wizard = arriveAt('/start-migration', script, session);
    await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
    await wizard.wait(1_000);
    await wizard.send({ type: 'transfer.submit' });
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
    const { source, destination } = wizard.context();
    expect(source?.password).toBe('');
    expect(destination).not.toHaveProperty('password');
    expect(destination).not.toHaveProperty('tokenId');
  }
});
