import { describe, expect, test } from 'vitest';
import { BLANK_SESSION, NOTHING_TYPED, sessionOf } from '../../machines/wizard.context.ts';
import { timeLeft } from '../../machines/countdown.ts';
import { isEmail } from '../../src/contract/email-address.ts';
import { LEGACY, PASSWORD, SESSIONS } from '../support/moves.ts';
import { arriveAt, codesBut, NOW, refusal, SETTINGS } from '../support/wizard.ts';

const SIGN_IN = 'home.page.signingIn';
const CAPABLE = { allowedOperations: ['emailmigration', 'contactsmigration'], provider: 'sanbruno', auth: 'other' };
const capable = () => CAPABLE;
const ok = () => ({ ok: true });

const type = (email: string) => ({ type: 'email.type', email }) as const;
const password = { type: 'password.type', password: PASSWORD } as const;
const submit = { type: 'credentials.submit' } as const;

async function signInOpen(script: Parameters<typeof arriveAt>[1] = {}) {
  const wizard = arriveAt('/', script);
  await wizard.send({ type: 'start.press' });
  return wizard;
}

describe('Home', () => {
  test('the countdown moves by itself, once a second', async () => {
    const wizard = arriveAt('/');
    await wizard.wait(999);
    expect(wizard.context().now).toBe(NOW);
    await wizard.wait(1);
    expect(wizard.context().now).toBe(NOW + 1_000);
    for (let second = 0; second < 3_600; second += 1) await wizard.wait(1_000);
    expect(timeLeft(SETTINGS.accessEnd, wizard.context().now)).toEqual({ unit: 'day', count: 30 });
  });

  test('entering Home forgets the wizard state and the session, and what was typed', async () => {
    const wizard = arriveAt('/start-migration', {}, SESSIONS.toOther);
    await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
    wizard.visit('/');
    expect(sessionOf(wizard.context())).toEqual(BLANK_SESSION);
    expect(wizard.context().typed).toEqual(NOTHING_TYPED);
  });

  test('Start opens the sign-in, which forgets what was typed when it closes', async () => {
    const wizard = arriveAt('/');
    await wizard.send({ type: 'start.press' });
    expect(wizard.isAt(SIGN_IN)).toBe(true);
    await wizard.send(type(LEGACY), password, { type: 'modal.close' });
    expect(wizard.isAt('home.page.resting')).toBe(true);
    expect(wizard.context().typed).toEqual(NOTHING_TYPED);
  });

  test.each(['EXTERNAL_OAUTH_ERROR', 'MISSING_SCOPE', 'something else'])(
    'Home shows the error %s of its address, and clears it after 7 s',
    async (error) => {
      const wizard = arriveAt(`/?error=${error}`);
      await wizard.wait(6_999);
      expect(wizard.context().message?.about).toBe('query');
      await wizard.wait(1);
      expect(wizard.context().message).toBeNull();
      expect(wizard.address()).toBe('/');
    },
  );

  test("the error of Home's address makes way when the sign-in opens", async () => {
    const wizard = arriveAt('/?error=EXTERNAL_OAUTH_ERROR');
    await wizard.send({ type: 'start.press' });
    expect(wizard.context().message).toBeNull();
    expect(wizard.address()).toBe('/');
  });
});

describe('the email of the sign-in', () => {
  test('the email is lowercased and freed of spaces around it as it is typed', async () => {
    const wizard = await signInOpen();
    await wizard.send(type(' \u202dPat@SanBrunoCable.Example\u202c '));
    expect(wizard.context().typed.email).toBe(LEGACY);
  });

  test('the email is checked 1 s after the typing stops, and not before', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type('pat'));
    await wizard.wait(999);
    await wizard.send(type(LEGACY));
    await wizard.wait(999);
    expect(wizard.isAt(`${SIGN_IN}.email.typing`)).toBe(true);
    expect(wizard.calls.filter(({ name }) => name === 'ask for capabilities')).toEqual([]);
    await wizard.wait(1);
    expect(wizard.asked('ask for capabilities')).toEqual([{ email: LEGACY }]);
    expect(wizard.isAt(`${SIGN_IN}.email.good`)).toBe(true);
    expect(wizard.context().operations).toEqual(CAPABLE.allowedOperations);
  });

  test.each([
    ['nothing', ''],
    ['no address', 'nonsense'],
    ['no domain', 'pat@'],
    ['a local part of 65 characters', `${'a'.repeat(65)}@sanbrunocable.example`],
    ['an address of 255 characters', `a@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(61)}`],
  ])('%s is an invalid email, after the pause and on submit', async (_, email) => {
    const wizard = await signInOpen();
    await wizard.send(type(email));
    await wizard.wait(1_000);
    expect(wizard.isAt(`${SIGN_IN}.email.malformed`)).toBe(true);
    await wizard.send(type(email), password, submit);
    expect(wizard.isAt(`${SIGN_IN}.email.malformed`)).toBe(true);
    expect(wizard.asked('ask for capabilities')).toEqual([]);
    expect(wizard.asked('validate the account')).toEqual([]);
  });

  test('an untouched form that is submitted shows the invalid email and the invalid password', async () => {
    const wizard = await signInOpen();
    await wizard.send(submit);
    expect(wizard.isAt(`${SIGN_IN}.email.malformed`)).toBe(true);
    expect(wizard.isAt(`${SIGN_IN}.credentials.passwordMissing`)).toBe(true);
    await wizard.send(submit);
    expect(wizard.isAt(`${SIGN_IN}.credentials.passwordMissing`)).toBe(true);
  });

  test.each(['pat@sanbrunocable.example', 'pat@sanbruno.example', 'pat@sbcable.example'])(
    '%s belongs to a legacy domain',
    async (email) => {
      const wizard = await signInOpen({ 'ask for capabilities': capable });
      await wizard.send(type(email));
      await wizard.wait(1_000);
      expect(wizard.isAt(`${SIGN_IN}.email.good`)).toBe(true);
    },
  );

  test.each(['sam@gmail.com', 'pat@mail.sanbruno.example', 'pat@sanbruno.example.com'])(
    '%s belongs to no legacy domain and is refused, after the pause and on submit',
    async (email) => {
      const wizard = await signInOpen();
      await wizard.send(type(email));
      await wizard.wait(1_000);
      expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(true);
      await wizard.send(type(email), password, submit);
      expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(true);
      expect(wizard.asked('ask for capabilities')).toEqual([]);
    },
  );

  test('an email whose capabilities name another provider is refused, after the pause and on submit', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': () => ({ ...CAPABLE, provider: 'gmail' }) });
    await wizard.send(type(LEGACY));
    await wizard.wait(1_000);
    expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(true);
    await wizard.send(type(LEGACY), password, submit);
    expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(true);
    expect(wizard.isAt(`${SIGN_IN}.credentials.editing`)).toBe(true);
    expect(wizard.asked('validate the account')).toEqual([]);
  });

  test.each(['PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'] as const)(
    'capabilities that fail with %s refuse the email, after the pause and on submit',
    async (code) => {
      const wizard = await signInOpen({ 'ask for capabilities': refusal(code) });
      await wizard.send(type(LEGACY));
      await wizard.wait(1_000);
      expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(true);
      await wizard.send(type(LEGACY), password, submit);
      expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(true);
    },
  );

  test.each(codesBut('UNAVAILABLE', 'PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'))(
    'capabilities that fail with %s after the pause say nothing about the email',
    async (code) => {
      const wizard = await signInOpen({ 'ask for capabilities': refusal(code) });
      await wizard.send(type(LEGACY));
      await wizard.wait(1_000);
      expect(wizard.isAt(`${SIGN_IN}.email.untouched`)).toBe(true);
      expect(wizard.has('unavailable')).toBe(false);
    },
  );

  test.each(['call.retry', 'connection.return'] as const)(
    'a portal that is unavailable as the email is checked says so, and goes on by %s with what was typed',
    async (event) => {
      const script: Parameters<typeof arriveAt>[1] = { 'ask for capabilities': refusal('UNAVAILABLE') };
      const wizard = await signInOpen(script);
      await wizard.send(type(LEGACY), password);
      await wizard.wait(1_000);
      expect(wizard.has('unavailable')).toBe(true);
      script['ask for capabilities'] = capable;
      await wizard.send({ type: event });
      expect(wizard.has('unavailable')).toBe(false);
      expect(wizard.isAt(`${SIGN_IN}.email.good`)).toBe(true);
      expect(wizard.context().typed).toMatchObject({ email: LEGACY, password: PASSWORD });
    },
  );

  test('Back from the portal that is unavailable as the email is checked leads to what was typed', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': refusal('UNAVAILABLE') });
    await wizard.send(type(LEGACY), password);
    await wizard.wait(1_000);
    await wizard.send({ type: 'modal.close' });
    expect(wizard.has('unavailable')).toBe(false);
    expect(wizard.isAt(`${SIGN_IN}.email.untouched`)).toBe(true);
    expect(wizard.context().typed).toMatchObject({ email: LEGACY, password: PASSWORD });
  });

  test('a check of the email that is not answered for 30 s ends', async () => {
    const wizard = await signInOpen();
    await wizard.send(type(LEGACY));
    await wizard.wait(1_000);
    await wizard.wait(29_999);
    expect(wizard.isAt(`${SIGN_IN}.email.checking`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${SIGN_IN}.email.untouched`)).toBe(true);
  });
});

const address = (length: number, local: number) => {
  const domain = Array.from({ length: length - local - 1 }, (_, index) => (index % 60 === 59 ? '.' : 'b')).join('');
  return `${'a'.repeat(local)}@${domain.endsWith('.') ? `${domain.slice(0, -1)}b` : domain}`;
};

describe('the generic checker', () => {
  test.each([
    [254, 64, true],
    [255, 64, false],
    [254, 65, false],
    [254, 1, true],
    [255, 1, false],
  ])('an address of %i characters with a local part of %i is an email: %s', (length, local, isOne) => {
    const email = address(length, local);
    expect(email).toHaveLength(length);
    expect(isEmail(email)).toBe(isOne);
  });

  test.each(['пат@пример.example', 'pat+tag@mail.example', "o'neil@mail.example", 'a.b.c@mail.co.example'])(
    '"%s" is an email',
    (email) => {
      expect(isEmail(email)).toBe(true);
    },
  );

  test.each([
    'pat@mail',
    'pat@mail..example',
    '.pat@mail.example',
    'pat.@mail.example',
    'p t@mail.example',
    'pat@mail.123',
  ])('"%s" is no email', (email) => {
    expect(isEmail(email)).toBe(false);
  });
});

describe('the sign-in', () => {
  test('a sign-in that succeeds shows success, and goes to the destination page after 1 s', async () => {
    const wizard = await signInOpen({
      'ask for capabilities': capable,
      'validate the account': () => ({ ok: true, token: 'a-bearer-token' }),
    });
    await wizard.send(type(LEGACY), password);
    await wizard.wait(1_000);
    await wizard.send(submit);
    expect(wizard.asked('validate the account')).toEqual([{ email: LEGACY, password: PASSWORD, provider: 'sanbruno' }]);
    expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
    expect(wizard.context()).toMatchObject({
      source: { email: LEGACY, password: PASSWORD, provider: 'sanbruno' },
      jwt: 'a-bearer-token',
      operations: CAPABLE.allowedOperations,
    });
    await wizard.wait(999);
    expect(wizard.address()).toBe('/');
    await wizard.wait(1);
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.context().typed).toEqual(NOTHING_TYPED);
  });

  test('a success that is closed goes on at once, with all that the sign-in has brought', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable, 'validate the account': ok });
    await wizard.send(type(LEGACY), password, submit, { type: 'modal.close' });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.context()).toMatchObject({ operations: CAPABLE.allowedOperations, typed: NOTHING_TYPED });
  });

  test('a domain that was typed in full width is that of the mailbox, which a provider names when it leads back', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable, 'validate the account': ok });
    await wizard.send(type(LEGACY.replace('@s', '@ｓ')), password, submit);
    expect(wizard.context().source?.email).toBe(LEGACY);
  });

  test('a sign-in works where no token comes', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable, 'validate the account': ok });
    await wizard.send(type(LEGACY), password, submit);
    expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
    expect(wizard.context().jwt).toBeNull();
  });

  test('a sign-in before the pause is over asks for the capabilities first', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable, 'validate the account': ok });
    await wizard.send(type(LEGACY), password, submit);
    expect(wizard.calls.map(({ name }) => name)).toEqual([
      'check the stored token',
      'ask for capabilities',
      'validate the account',
    ]);
    expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
  });

  test('an empty password is an invalid password, and nothing is asked', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type(LEGACY), submit);
    expect(wizard.isAt(`${SIGN_IN}.credentials.passwordMissing`)).toBe(true);
    expect(wizard.asked('validate the account')).toEqual([]);
    await wizard.send(password);
    expect(wizard.isAt(`${SIGN_IN}.credentials.editing`)).toBe(true);
  });

  test('a sign-in that is submitted before the email was checked is not followed by that check', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type(LEGACY), password, submit);
    await wizard.wait(1_000);
    expect(wizard.isAt(`${SIGN_IN}.credentials.verifying`)).toBe(true);
    expect(wizard.asked('ask for capabilities')).toHaveLength(1);
  });

  test('a sign-in that is submitted without a password is not made, and its email is checked as before', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type(LEGACY), submit);
    await wizard.wait(1_000);
    expect(wizard.isAt(`${SIGN_IN}.email.good`)).toBe(true);
  });

  test('a sign-in that is submitted twice is made once', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type(LEGACY), password);
    await wizard.wait(1_000);
    await wizard.send(submit, submit, submit);
    expect(wizard.asked('validate the account')).toHaveLength(1);
  });

  test('what is being verified cannot be typed over', async () => {
    const script: Parameters<typeof arriveAt>[1] = { 'ask for capabilities': capable };
    const wizard = await signInOpen(script);
    const { promise, resolve: answer } = Promise.withResolvers();
    script['validate the account'] = () => promise;
    await wizard.send(type(LEGACY), password, submit);
    await wizard.send(type('other@sanbruno.example'), { type: 'password.type', password: 'other' });
    answer({ ok: true });
    await wizard.wait(0);
    await wizard.send(type('other@sanbruno.example'));
    expect(wizard.context().source).toEqual({ email: LEGACY, password: PASSWORD, provider: 'sanbruno' });
  });

  test.each(codesBut('UNAVAILABLE'))(
    'a sign-in refused with %s says so, keeps the email and forgets the password',
    async (code) => {
      const wizard = await signInOpen({ 'ask for capabilities': capable, 'validate the account': refusal(code) });
      await wizard.send(type(LEGACY), password, submit);
      expect(wizard.isAt(`${SIGN_IN}.credentials.refused`)).toBe(true);
      expect(wizard.context()).toMatchObject({
        message: { about: 'sign-in refused', code },
        typed: { email: LEGACY, password: '' },
        source: null,
      });
      await wizard.send(submit);
      expect(wizard.isAt(`${SIGN_IN}.credentials.passwordMissing`)).toBe(true);
      await wizard.send(password, submit);
      expect(wizard.isAt(`${SIGN_IN}.credentials.refused`)).toBe(true);
      expect(wizard.asked('validate the account')).toHaveLength(2);
    },
  );

  test.each(codesBut('UNAVAILABLE', 'PROVIDER_NOT_SUPPORTED', 'INVALID_EMAIL'))(
    'capabilities that fail with %s on submit say so, and the same password can be sent again',
    async (code) => {
      const script: Parameters<typeof arriveAt>[1] = {
        'ask for capabilities': refusal(code),
        'validate the account': ok,
      };
      const wizard = await signInOpen(script);
      await wizard.send(type(LEGACY), password, submit);
      expect(wizard.isAt(`${SIGN_IN}.credentials.refused`)).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'sign-in refused', code });
      script['ask for capabilities'] = capable;
      await wizard.send(submit);
      expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
    },
  );

  test('a refusal stays until something is typed', async () => {
    const wizard = await signInOpen({
      'ask for capabilities': capable,
      'validate the account': refusal('INVALID_CREDENTIALS'),
    });
    await wizard.send(type(LEGACY), password, submit);
    await wizard.wait(60_000);
    expect(wizard.context().message).not.toBeNull();
    await wizard.send(password);
    expect(wizard.context().message).toBeNull();
  });

  test.each(['asking', 'verifying'] as const)(
    'a sign-in that is %s is slow after 10 s and gives up after 30 s, and can be sent again',
    async (state) => {
      const script: Parameters<typeof arriveAt>[1] = state === 'asking' ? {} : { 'ask for capabilities': capable };
      const wizard = await signInOpen(script);
      await wizard.send(type(LEGACY), password, submit);
      expect(wizard.has('busy')).toBe(true);
      await wizard.wait(9_999);
      expect(wizard.has('slow')).toBe(false);
      await wizard.wait(1);
      expect(wizard.has('slow')).toBe(true);
      await wizard.wait(19_999);
      expect(wizard.isAt(`${SIGN_IN}.credentials.${state}`)).toBe(true);
      await wizard.wait(1);
      expect(wizard.isAt(`${SIGN_IN}.credentials.refused`)).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'sign-in refused', code: 'UNEXPECTED_ANSWER' });
      script['ask for capabilities'] = capable;
      script['validate the account'] = ok;
      await wizard.send(submit);
      expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
    },
  );

  test('an answer that comes after 29 s still counts', async () => {
    const { promise, resolve: answer } = Promise.withResolvers();
    const wizard = await signInOpen({ 'ask for capabilities': capable, 'validate the account': () => promise });
    await wizard.send(type(LEGACY), password, submit);
    await wizard.wait(29_000);
    answer({ ok: true });
    await wizard.wait(0);
    expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
  });

  test.each([
    ['capabilities', 'call.retry'],
    ['validation', 'call.retry'],
  ] as const)('a portal that is unavailable at the %s goes on by %s', async (call, event) => {
    const script: Parameters<typeof arriveAt>[1] = {
      'ask for capabilities': call === 'capabilities' ? refusal('UNAVAILABLE') : capable,
      'validate the account': call === 'validation' ? refusal('UNAVAILABLE') : ok,
    };
    const wizard = await signInOpen(script);
    await wizard.send(type(LEGACY), password, submit);
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.has('unavailable')).toBe(true);
    script['ask for capabilities'] = capable;
    script['validate the account'] = ok;
    await wizard.send({ type: event });
    expect(wizard.isAt(`${SIGN_IN}.credentials.welcomed`)).toBe(true);
  });
});

describe('the token of an earlier visit', () => {
  test('the stored token is checked once, at the start', async () => {
    const wizard = arriveAt('/', { 'check the stored token': ok }, SESSIONS.signedIn, { storedToken: 'old' });
    await wizard.wait(0);
    wizard.visit('/support-form');
    wizard.visit('/');
    wizard.visit('/');
    wizard.visit('/privacy-policy');
    expect(wizard.asked('check the stored token')).toEqual([{ token: 'old' }]);
    expect(wizard.left).toEqual([]);
  });

  test('a stored token that is invalid is removed', async () => {
    const wizard = arriveAt('/', { 'check the stored token': refusal('INVALID_TOKEN') }, undefined, {
      storedToken: 'old',
    });
    await wizard.wait(0);
    expect(wizard.left).toEqual(['token dropped']);
  });

  test.each(codesBut('INVALID_TOKEN'))('a check of the stored token that fails with %s keeps it', async (code) => {
    const wizard = arriveAt('/', { 'check the stored token': refusal(code) }, undefined, { storedToken: 'old' });
    await wizard.wait(0);
    expect(wizard.left).toEqual([]);
    expect(wizard.actor.getSnapshot().status).toBe('active');
  });
});

describe('a sign-in that did not go through', () => {
  const REFUSED = `${SIGN_IN}.credentials.refused`;

  test('says nothing about an email that is good', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type(LEGACY), password, submit);
    expect(wizard.isAt(`${SIGN_IN}.email.notLegacy`)).toBe(false);
    expect(wizard.context().operations).toEqual(CAPABLE.allowedOperations);
  });

  test('for want of a password says so until something is typed', async () => {
    const wizard = await signInOpen();
    await wizard.send(type(LEGACY), submit);
    expect(wizard.isAt(`${SIGN_IN}.credentials.passwordMissing`)).toBe(true);
    await wizard.send(type(LEGACY));
    expect(wizard.isAt(`${SIGN_IN}.credentials.editing`)).toBe(true);
  });

  test('keeps its message when Start is pressed behind it', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': refusal('GENERAL_ERROR') });
    await wizard.send(type(LEGACY), password, submit, { type: 'start.press' });
    expect(wizard.isAt(REFUSED)).toBe(true);
    expect(wizard.context().message).toEqual({ about: 'sign-in refused', code: 'GENERAL_ERROR' });
  });

  test('asks again what the mailbox can do, where that is not known', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': refusal('GENERAL_ERROR') });
    await wizard.send(type(LEGACY), password, submit);
    expect(wizard.isAt(REFUSED)).toBe(true);
    await wizard.send(submit);
    expect(wizard.asked('ask for capabilities')).toHaveLength(2);
    expect(wizard.asked('validate the account')).toEqual([]);
  });

  test('does not ask again what the mailbox can do, where that is known', async () => {
    const wizard = await signInOpen({ 'ask for capabilities': capable });
    await wizard.send(type(LEGACY));
    await wizard.wait(1_000);
    await wizard.send(password, submit);
    await wizard.wait(30_000);
    expect(wizard.isAt(REFUSED)).toBe(true);
    await wizard.send(submit);
    expect(wizard.asked('ask for capabilities')).toHaveLength(1);
    expect(wizard.asked('validate the account')).toHaveLength(2);
  });
});
