import { describe, expect, test } from 'vitest';
import type { Session } from '../../machines/wizard.types.ts';
import { modeOf } from '../../machines/mode.ts';
import { ID, LEGACY, PASSWORD, SESSIONS, TOKEN } from '../support/moves.ts';
import { arriveAt, codesBut, refusal, SETTINGS, type Wizard } from '../support/wizard.ts';

const CONTACT = 'startMigration.contact';
const SUBMISSION = 'startMigration.submission';
type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const EMAIL = 'sam@mail.example';
const valid = () => ({ valid: true });
const invalid = () => ({ valid: false });
const ok = () => ({ ok: true });
const loaded = () => ({ jobid: ID });

const type = (contact: string) => ({ type: 'contact.type', contact }) as const;
const submit = { type: 'transfer.submit' } as const;
const arrive = (script: Script = {}, session: Session = SESSIONS.toOther) =>
  arriveAt('/start-migration', script, session);

async function typed(contact: string, script: Script = {}, session?: Session): Promise<Wizard> {
  const wizard = arrive(script, session);
  await wizard.send(type(contact));
  await wizard.wait(1_000);
  return wizard;
}

describe('the notification contact', () => {
  test('an empty contact is missing after 3 s, and not before', async () => {
    const wizard = arrive();
    await wizard.wait(2_999);
    expect(wizard.isAt(`${CONTACT}.empty`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${CONTACT}.missing`)).toBe(true);
  });

  test.each(['', '   '])('a contact that is emptied to "%s" is missing after 3 s again', async (blank) => {
    const wizard = await typed(EMAIL, { 'check the domain': valid });
    await wizard.send(type(blank));
    expect(wizard.isAt(`${CONTACT}.empty`)).toBe(true);
    await wizard.wait(3_000);
    expect(wizard.isAt(`${CONTACT}.missing`)).toBe(true);
  });

  test('a contact is checked 1 s after the typing stops, and not before', async () => {
    const wizard = arrive({ 'check the domain': valid });
    await wizard.send(type('sam'));
    await wizard.wait(999);
    await wizard.send(type(EMAIL));
    await wizard.wait(999);
    expect(wizard.asked('check the domain')).toEqual([]);
    await wizard.wait(1);
    expect(wizard.asked('check the domain')).toEqual([{ domain: 'mail.example' }]);
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
  });

  test.each([
    ['', 'missing'],
    ['sam@', 'wrongEmail'],
    [LEGACY, 'legacyAddress'],
    ['123', 'wrongPhoneNumber'],
    [EMAIL, 'good'],
    ['650 555 0123', 'good'],
  ])('Enter has "%s" judged at once: it is %s', async (contact, state) => {
    const wizard = arrive({ 'check the domain': valid, 'check the phone number': valid }, SESSIONS.moving);
    await wizard.send(type(contact), { type: 'contact.enter' });
    expect(wizard.isAt(`${CONTACT}.${state}`)).toBe(true);
    expect(wizard.isAt(`${SUBMISSION}.waiting`)).toBe(true);
  });

  test.each([
    [EMAIL, 'check the domain'],
    ['650 555 0123', 'check the phone number'],
  ] as const)('Enter has "%s" checked again, when that could not be done', async (contact, check) => {
    const fails: () => unknown = refusal('GENERAL_ERROR');
    const script = { 'check the domain': fails, 'check the phone number': fails };
    const wizard = await typed(contact, script, SESSIONS.moving);
    expect(wizard.isAt(`${CONTACT}.unchecked`)).toBe(true);
    script[check] = valid;
    await wizard.send({ type: 'contact.enter' });
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
  });

  test('a contact that was given before is checked again when the page is entered', async () => {
    const wizard = arrive({ 'check the domain': valid }, { ...SESSIONS.toOther, notificationContact: EMAIL });
    await wizard.wait(1_000);
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
  });

  test('an email with spaces pasted around it is good', async () => {
    const wizard = await typed(`  ${EMAIL.toUpperCase()} `, {
      'check the domain': valid,
      'start the transfer': loaded,
    });
    expect(wizard.asked('check the domain')).toEqual([{ domain: 'mail.example' }]);
    await wizard.send(submit);
    expect(wizard.asked('start the transfer')).toMatchObject([{ parameters: { notificationEmail: EMAIL } }]);
  });

  test.each([SESSIONS.moving, SESSIONS.toOther, SESSIONS.downloading])(
    'a contact with letters that is no email is a wrong email, without a call (%#)',
    async (session) => {
      const wizard = await typed('sam@', {}, session);
      expect(wizard.isAt(`${CONTACT}.wrongEmail`)).toBe(true);
      expect(wizard.asked('check the domain')).toEqual([]);
    },
  );

  test.each([SESSIONS.moving, SESSIONS.toOther, SESSIONS.downloading])(
    'an address of the legacy provider is refused for the notification, without a call (%#)',
    async (session) => {
      for (const contact of [LEGACY, ' Pat@SBCable.Example ', 'pat@sanbruno.example']) {
        const wizard = await typed(contact, {}, session);
        expect(wizard.isAt(`${CONTACT}.legacyAddress`)).toBe(true);
        expect(wizard.asked('check the domain')).toEqual([]);
      }
    },
  );

  test('an email whose domain does not work is a wrong email', async () => {
    const wizard = await typed(EMAIL, { 'check the domain': invalid });
    expect(wizard.isAt(`${CONTACT}.wrongEmail`)).toBe(true);
  });

  test.each(codesBut('UNAVAILABLE'))('a domain check that fails with %s is made again after 10 s', async (code) => {
    const wizard = await typed(EMAIL, { 'check the domain': refusal(code) });
    expect(wizard.isAt(`${CONTACT}.unchecked`)).toBe(true);
    wizard.script['check the domain'] = valid;
    await wizard.wait(9_999);
    expect(wizard.asked('check the domain')).toHaveLength(1);
    await wizard.wait(1);
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
  });

  test('a domain check that is not answered for 30 s is made again', async () => {
    const wizard = await typed(EMAIL);
    await wizard.wait(29_999);
    expect(wizard.isAt(`${CONTACT}.checkingDomain`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${CONTACT}.unchecked`)).toBe(true);
    await wizard.wait(10_000);
    expect(wizard.asked('check the domain')).toHaveLength(2);
  });

  test('only the answer that it is not valid makes a contact wrong that could not be checked', async () => {
    const wizard = await typed(EMAIL, { 'check the domain': refusal('GENERAL_ERROR') });
    await wizard.wait(10_000);
    expect(wizard.isAt(`${CONTACT}.unchecked`)).toBe(true);
    wizard.script['check the domain'] = invalid;
    await wizard.wait(10_000);
    expect(wizard.isAt(`${CONTACT}.wrongEmail`)).toBe(true);
  });

  test('a US phone number is allowed on the primary move, verified by a call, and normalised', async () => {
    const wizard = await typed('(650) 555-0123', { 'check the phone number': valid }, SESSIONS.moving);
    expect(wizard.asked('check the phone number')).toEqual([{ number: '+16505550123' }]);
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
    expect(wizard.context().notificationContact).toBe('+16505550123');
  });

  test.each([
    ['\u202d(650) 555-0123\u202c', '+16505550123', SESSIONS.moving],
    ['\u200esam@mail.example\u200b', 'sam@mail.example', SESSIONS.toOther],
  ])('the marks around a contact that was copied are left out (%#)', async (contact, kept, session) => {
    const script = { 'check the phone number': valid, 'check the domain': valid };
    const wizard = await typed(contact, script, session);
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
    expect(wizard.context().notificationContact).toBe(kept);
  });

  test.each(['123', '650 555 012', '+44 20 7946 0958', '011 555 0123', '650 555 01234'])(
    '"%s" is a wrong phone number on the primary move, without a call',
    async (contact) => {
      const wizard = await typed(contact, {}, SESSIONS.moving);
      expect(wizard.isAt(`${CONTACT}.wrongPhoneNumber`)).toBe(true);
      expect(wizard.asked('check the phone number')).toEqual([]);
    },
  );

  test.each([SESSIONS.toOther, SESSIONS.toGoogle, SESSIONS.downloading])(
    'a phone number is treated as an email off the primary move (%#)',
    async (session) => {
      const wizard = await typed('650 555 0123', {}, { ...session, googleTermsAccepted: true });
      expect(wizard.isAt(`${CONTACT}.wrongEmail`)).toBe(true);
      expect(wizard.asked('check the phone number')).toEqual([]);
    },
  );

  test('a phone number that is not in use is wrong', async () => {
    const wizard = await typed('650 555 0123', { 'check the phone number': invalid }, SESSIONS.moving);
    expect(wizard.isAt(`${CONTACT}.wrongPhoneNumber`)).toBe(true);
  });

  test.each(codesBut('UNAVAILABLE'))(
    'a phone number check that fails with %s is made again after 10 s',
    async (code) => {
      const wizard = await typed('650 555 0123', { 'check the phone number': refusal(code) }, SESSIONS.moving);
      expect(wizard.isAt(`${CONTACT}.unchecked`)).toBe(true);
      wizard.script['check the phone number'] = valid;
      await wizard.wait(10_000);
      expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
    },
  );

  test('a phone number check that is not answered for 30 s is made again', async () => {
    const wizard = await typed('650 555 0123', {}, SESSIONS.moving);
    await wizard.wait(29_999);
    expect(wizard.isAt(`${CONTACT}.checkingPhoneNumber`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${CONTACT}.unchecked`)).toBe(true);
  });

  test.each([
    ['check the domain', EMAIL, 'call.retry'],
    ['check the domain', EMAIL, 'connection.return'],
    ['check the phone number', '650 555 0123', 'call.retry'],
    ['check the phone number', '650 555 0123', 'connection.return'],
  ] as const)('a portal that is unavailable to "%s" of %s goes on by %s', async (call, contact, event) => {
    const script: Script = { [call]: refusal('UNAVAILABLE') };
    const wizard = await typed(contact, script, SESSIONS.moving);
    expect(wizard.has('unavailable')).toBe(true);
    script[call] = valid;
    await wizard.send({ type: event });
    await wizard.wait(1_000);
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
  });
});

describe('the start of the transfer', () => {
  test.each([
    ['untouched', null, {}],
    ['being typed', EMAIL, {}],
    ['wrong', 'sam@', {}],
    ['of the legacy provider', LEGACY, {}],
  ])('the submit is off while the contact is %s', async (_, contact, script) => {
    const wizard = arrive(script);
    if (contact !== null) await wizard.send(type(contact));
    await wizard.send(submit);
    if (contact !== null && contact !== EMAIL) await wizard.wait(1_000);
    await wizard.send(submit);
    expect(wizard.isAt(`${SUBMISSION}.waiting`)).toBe(true);
    expect(wizard.asked('start the transfer')).toEqual([]);
  });

  test('the submit is off while the contact is being checked', async () => {
    const wizard = await typed(EMAIL);
    await wizard.send(submit);
    expect(wizard.isAt(`${SUBMISSION}.waiting`)).toBe(true);
  });

  test('a move makes the pre-move call, then the transfer, and goes on to the transfer ID', async () => {
    const wizard = await typed(
      '650 555 0123',
      { 'check the phone number': valid, 'announce the migration': ok, 'start the transfer': loaded },
      SESSIONS.moving,
    );
    await wizard.send(submit);
    const calls = wizard.calls.map(({ name }) => name).filter((name) => name !== 'ask for the status');
    expect(calls.slice(-2)).toEqual(['announce the migration', 'start the transfer']);
    expect(wizard.asked('announce the migration')).toEqual([{ email: LEGACY, inQa: false }]);
    expect(wizard.asked('start the transfer')).toEqual([
      {
        sourceAccount: { email: LEGACY, password: PASSWORD, provider: 'sanbruno' },
        destinationAccount: { email: LEGACY, provider: 'yahoo', tokenId: TOKEN },
        operations: ['emailmigration', 'contactsmigration'],
        parameters: { notificationEmail: '+16505550123', inQa: false },
        fileExportParameters: {},
      },
    ]);
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
  });

  test('a transfer by password makes no pre-move call, and asks for mail only', async () => {
    const wizard = await typed(EMAIL, { 'check the domain': valid, 'start the transfer': loaded });
    await wizard.send(submit);
    expect(wizard.asked('announce the migration')).toEqual([]);
    expect(wizard.asked('start the transfer')).toEqual([
      {
        sourceAccount: { email: LEGACY, password: PASSWORD, provider: 'sanbruno' },
        destinationAccount: { email: EMAIL, password: PASSWORD, provider: 'other' },
        operations: ['emailmigration'],
        parameters: { destinationImap: 'imap.mail.example', notificationEmail: EMAIL, inQa: false },
        fileExportParameters: {},
      },
    ]);
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
  });

  test('a download makes no pre-move call, and asks for mail and contacts in their formats', async () => {
    const script = { 'check the domain': valid, 'start the transfer': loaded };
    const wizard = await typed(EMAIL, script, { ...SESSIONS.downloading, operations: ['emailmigration'] });
    await wizard.send(submit);
    expect(wizard.asked('announce the migration')).toEqual([]);
    expect(wizard.asked('start the transfer')).toEqual([
      {
        sourceAccount: { email: LEGACY, password: PASSWORD, provider: 'sanbruno' },
        destinationAccount: { email: EMAIL, provider: 'file_export' },
        operations: ['emailmigration', 'contactsmigration'],
        parameters: { notificationEmail: EMAIL, inQa: false },
        fileExportParameters: { emailFormat: 'mbox', contactsFormat: 'vcf' },
      },
    ]);
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
  });

  test('the calls say that they are for quality assurance where the setting does', async () => {
    const script = { 'check the domain': valid, 'announce the migration': ok, 'start the transfer': loaded };
    const wizard = arriveAt('/start-migration', script, SESSIONS.moving, { settings: { ...SETTINGS, inQa: true } });
    await wizard.send(type(EMAIL));
    await wizard.wait(1_000);
    await wizard.send(submit);
    expect(wizard.asked('announce the migration')).toMatchObject([{ inQa: true }]);
    expect(wizard.asked('start the transfer')).toMatchObject([{ parameters: { inQa: true } }]);
  });

  test('however often the button is pressed, there is one pre-move call and one transfer', async () => {
    const script: Script = { 'check the domain': valid };
    const wizard = await typed(EMAIL, script, SESSIONS.moving);
    const { promise, resolve: announced } = Promise.withResolvers();
    script['announce the migration'] = () => promise;
    await wizard.send(submit, submit, submit);
    announced({ ok: true });
    await wizard.wait(0);
    await wizard.send(submit, submit);
    expect(wizard.isAt(`${SUBMISSION}.loading`)).toBe(true);
    expect(wizard.asked('announce the migration')).toHaveLength(1);
    expect(wizard.asked('start the transfer')).toHaveLength(1);
  });

  test('a contact that is being submitted cannot be typed over', async () => {
    const script: Script = { 'check the domain': valid, 'start the transfer': loaded };
    const wizard = await typed(EMAIL, script, SESSIONS.moving);
    const { promise, resolve: announced } = Promise.withResolvers();
    script['announce the migration'] = () => promise;
    await wizard.send(submit, type(LEGACY));
    announced({ ok: true });
    await wizard.wait(0);
    expect(wizard.asked('start the transfer')).toMatchObject([{ parameters: { notificationEmail: EMAIL } }]);
  });

  test.each(
    (['announce the migration', 'start the transfer'] as const).flatMap((call) =>
      codesBut('UNAVAILABLE', ...(call === 'start the transfer' ? (['INVALID_CREDENTIALS'] as const) : [])).map(
        (code) => [call, code] as const,
      ),
    ),
  )('when "%s" fails with %s the page says so for 5 s, and the contact is still good', async (call, code) => {
    const script: Script = {
      'check the domain': valid,
      'announce the migration': ok,
      'start the transfer': loaded,
      [call]: refusal(code),
    };
    const wizard = await typed(EMAIL, script, SESSIONS.moving);
    await wizard.send(submit);
    expect(wizard.address()).toBe('/start-migration');
    expect(wizard.context().message).toEqual({ about: 'load failed', code });
    expect(wizard.isAt(`${CONTACT}.good`)).toBe(true);
    await wizard.wait(4_999);
    expect(wizard.context().message).not.toBeNull();
    await wizard.wait(1);
    expect(wizard.context().message).toBeNull();
    script['announce the migration'] = ok;
    script['start the transfer'] = loaded;
    await wizard.send(submit);
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
  });

  test.each([
    ['moving', 'yahoo', 'closed'],
    ['toAolWithoutContacts', 'aol', 'choosing'],
  ] as const)(
    'a sign-in elsewhere that has ended is told for 5 s, and Back leads to where it can be made (%s)',
    async (session, provider, options) => {
      const script: Script = {
        'check the domain': valid,
        'announce the migration': ok,
        'start the transfer': refusal('INVALID_CREDENTIALS'),
      };
      const wizard = await typed(EMAIL, script, SESSIONS[session]);
      await wizard.send(submit);
      expect(wizard.context().message).toEqual({ about: 'sign-in elsewhere ended', provider });
      await wizard.wait(4_999);
      expect(wizard.context().message).not.toBeNull();
      await wizard.wait(1);
      expect(wizard.context().message).toBeNull();
      await wizard.send({ type: 'page.back' });
      expect(wizard.isAt(`destination.options.${options}`)).toBe(true);
    },
  );

  test.each(['moving', 'toOther', 'downloading'] as const)(
    'a San Bruno password that has changed since the sign-in is not taken for the destination’s sign-in (%s)',
    async (session) => {
      const wizard = await typed(
        EMAIL,
        {
          'check the domain': valid,
          'announce the migration': ok,
          'start the transfer': refusal('INVALID_CREDENTIALS', { side: 'source' }),
        },
        SESSIONS[session],
      );
      await wizard.send(submit);
      expect(wizard.address()).toBe('/start-migration');
      expect(wizard.context().message).toEqual({ about: 'source sign-in ended' });
    },
  );

  test('a destination whose password is refused is told of its password', async () => {
    const wizard = await typed(EMAIL, {
      'check the domain': valid,
      'start the transfer': refusal('INVALID_CREDENTIALS'),
    });
    await wizard.send(submit);
    expect(wizard.context().message).toEqual({ about: 'load failed', code: 'INVALID_CREDENTIALS' });
  });

  test('a download that is one too many is told as that, and nothing about contacts', async () => {
    const script: Script = { 'check the domain': valid, 'start the transfer': refusal('OPERATION_NOT_ALLOWED') };
    const wizard = await typed(EMAIL, script, SESSIONS.downloading);
    await wizard.send(submit);
    expect(wizard.context().message).toEqual({ about: 'too many downloads' });
  });

  test.each([SESSIONS.moving, SESSIONS.toOther])('nothing is submitted without a contact', async (session) => {
    const wizard = arrive({}, session);
    const calls = wizard.calls.length;
    await wizard.send(submit);
    expect(wizard.calls).toHaveLength(calls);
    expect(wizard.isAt(`${SUBMISSION}.waiting`)).toBe(true);
  });

  test('a failed pre-move call starts no transfer', async () => {
    const script: Script = { 'check the domain': valid, 'announce the migration': refusal('GENERAL_ERROR') };
    const wizard = await typed(EMAIL, script, SESSIONS.moving);
    await wizard.send(submit);
    expect(wizard.asked('start the transfer')).toEqual([]);
  });

  test.each(['announcing', 'loading'] as const)(
    'a submit that is %s is slow after 10 s, and fails after 30 s',
    async (state) => {
      const script: Script = { 'check the domain': valid };
      if (state === 'loading') script['announce the migration'] = ok;
      const wizard = await typed(EMAIL, script, SESSIONS.moving);
      await wizard.send(submit);
      await wizard.wait(9_999);
      expect(wizard.has('slow')).toBe(false);
      await wizard.wait(1);
      expect(wizard.has('slow')).toBe(true);
      await wizard.wait(19_999);
      expect(wizard.isAt(`${SUBMISSION}.${state}`)).toBe(true);
      await wizard.wait(1);
      expect(wizard.isAt(`${SUBMISSION}.waiting`)).toBe(true);
      expect(wizard.context().message).toEqual({ about: 'load failed', code: 'UNEXPECTED_ANSWER' });
    },
  );

  test.each(
    (['announce the migration', 'start the transfer'] as const).flatMap((call) =>
      (['call.retry'] as const).map((event) => [call, event] as const),
    ),
  )('a portal that is unavailable to "%s" goes on by %s', async (call, event) => {
    const script: Script = {
      'check the domain': valid,
      'announce the migration': ok,
      'start the transfer': loaded,
      [call]: refusal('UNAVAILABLE'),
    };
    const wizard = await typed(EMAIL, script, SESSIONS.moving);
    await wizard.send(submit);
    expect(wizard.has('unavailable')).toBe(true);
    script[call] = call === 'start the transfer' ? loaded : ok;
    await wizard.send({ type: event });
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
  });

  test.each(['call.retry'] as const)(
    'a transfer that found the portal unavailable goes on by %s, without a pre-move call',
    async (event) => {
      const script: Script = { 'check the domain': valid, 'start the transfer': refusal('UNAVAILABLE') };
      const wizard = await typed(EMAIL, script);
      await wizard.send(submit);
      script['start the transfer'] = loaded;
      await wizard.send({ type: event });
      expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
      expect(wizard.asked('announce the migration')).toEqual([]);
    },
  );

  test('a message stays while it is looked at', async () => {
    const script: Script = { 'check the domain': valid, 'start the transfer': refusal('GENERAL_ERROR') };
    const wizard = await typed(EMAIL, script);
    await wizard.send(submit, { type: 'message.hold' });
    await wizard.wait(60_000);
    expect(wizard.context().message).not.toBeNull();
    await wizard.send({ type: 'message.release' });
    await wizard.wait(5_000);
    expect(wizard.context().message).toBeNull();
  });

  test('Back returns to the destination page and loses nothing, and not while a transfer is being started', async () => {
    const wizard = await typed(EMAIL, { 'check the domain': valid });
    await wizard.send({ type: 'page.back' });
    expect(wizard.address()).toBe('/destination-account');
    expect(wizard.context()).toMatchObject({
      notificationContact: EMAIL,
      destination: SESSIONS.toOther.destination,
      source: SESSIONS.toOther.source,
    });
    wizard.visit('/start-migration');
    await wizard.wait(1_000);
    await wizard.send(submit, { type: 'page.back' });
    expect(wizard.address()).toBe('/start-migration');
  });

  test('each session has its mode: move, transfer or download', () => {
    expect([SESSIONS.moving, SESSIONS.toGoogle, SESSIONS.toOther, SESSIONS.downloading].map(modeOf)).toEqual([
      'move',
      'transfer',
      'transfer',
      'download',
    ]);
  });

  test('an answer that comes after the visitor has left starts nothing anew', async () => {
    const script: Script = { 'check the domain': valid };
    const wizard = await typed(EMAIL, script);
    const { promise, resolve: answer } = Promise.withResolvers();
    script['start the transfer'] = () => promise;
    await wizard.send(submit);
    wizard.visit('/support-form');
    answer({ jobid: ID });
    await wizard.wait(0);
    expect(wizard.address()).toBe('/support-form');
  });
});
