import { describe, expect, test } from 'vitest';
import { BLANK_SESSION, sessionOf } from '../../machines/wizard.context.ts';
import type { Event } from '../../machines/wizard.types.ts';
import { ID, LEGACY, SESSIONS } from '../support/moves.ts';
import { arriveAt, codesBut, refusal } from '../support/wizard.ts';

type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const ok = () => ({ ok: true });
const ISSUE = 'My folders are missing';

const legacy = (email: string) => ({ type: 'legacy-email.type', email }) as const;
const contact = (email: string) => ({ type: 'contact-email.type', email }) as const;
const transferId = (id: string) => ({ type: 'support-id.type', id }) as const;
const issue = (text: string) => ({ type: 'issue.type', issue: text }) as const;
const submit = { type: 'support.submit' } as const;
const filled = [legacy(LEGACY), contact('sam@mail.example'), transferId(ID), issue(ISSUE)];

async function formOpen(script: Script = {}, ...events: readonly Event[]) {
  const wizard = arriveAt('/support-form', script);
  await wizard.send(...events);
  return wizard;
}

describe('the fields of the support form', () => {
  test.each([
    ['legacyEmail', legacy(''), 'wrong'],
    ['legacyEmail', legacy('pat'), 'wrong'],
    ['legacyEmail', legacy('pat@sanbruno.example'), 'wrong'],
    ['legacyEmail', legacy('sam@gmail.com'), 'wrong'],
    ['legacyEmail', legacy(' Pat@SanBrunoCable.example '), 'good'],
    ['contactEmail', contact('x'), 'wrong'],
    ['contactEmail', contact(''), 'good'],
    ['contactEmail', contact(' Sam@Mail.Example '), 'good'],
    ['transferId', transferId('x'), 'wrong'],
    ['transferId', transferId('z'.repeat(32)), 'wrong'],
    ['transferId', transferId(ID.slice(1)), 'wrong'],
    ['transferId', transferId('A'.repeat(32)), 'wrong'],
    ['transferId', transferId(''), 'good'],
    ['transferId', transferId(` ${ID} `), 'good'],
  ] as const)('the %s of %o is %s, 1 s after the typing stops and not before', async (field, event, state) => {
    const wizard = await formOpen({}, event);
    await wizard.wait(999);
    expect(wizard.isAt(`support.${field}.typing`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`support.${field}.${state}`)).toBe(true);
  });

  test.each([
    ['legacyEmail', legacy(LEGACY), 'good'],
    ['contactEmail', contact('x'), 'wrong'],
    ['contactEmail', contact(''), 'good'],
    ['transferId', transferId('x'), 'wrong'],
    ['transferId', transferId(ID), 'good'],
  ] as const)('the %s of %o is %s at once when the letter is submitted', async (field, event, state) => {
    const wizard = await formOpen({}, legacy(LEGACY), issue(ISSUE), event, submit);
    expect(wizard.isAt(`support.${field}.${state}`)).toBe(true);
    expect(wizard.isAt('support.sending.posting')).toBe(state === 'good');
  });

  test('addresses are lowercased and freed of spaces around them', async () => {
    const wizard = await formOpen(
      {},
      legacy(' Pat@SanBrunoCable.example\u200b '),
      contact('\ufeffSam@Mail.Example\u200e'),
    );
    expect(wizard.context().typed).toMatchObject({ legacyEmail: LEGACY, contactEmail: 'sam@mail.example' });
  });
});

describe('the letter to support', () => {
  test('a letter goes with all that was filled in', async () => {
    const wizard = await formOpen({}, ...filled, submit);
    expect(wizard.asked('write to support')).toEqual([
      { emailAddress: LEGACY, destinationEmail: 'sam@mail.example', migrationId: ID, issue: ISSUE },
    ]);
  });

  test('spaces and hyphens in the transfer ID mean nothing', async () => {
    const wizard = await formOpen({}, ...filled, transferId(` ${ID.slice(0, 8)}-${ID.slice(8, 20)} ${ID.slice(20)}`));
    await wizard.send(submit);
    expect(wizard.asked('write to support')).toMatchObject([{ migrationId: ID }]);
  });

  test('a letter needs the legacy email and an issue only', async () => {
    const wizard = await formOpen({}, legacy(LEGACY), issue(ISSUE), submit);
    expect(wizard.asked('write to support')).toEqual([{ emailAddress: LEGACY, issue: ISSUE }]);
  });

  test.each([
    ['no legacy email', [issue(ISSUE)]],
    ['an address off the cable domain', [legacy('pat@sanbruno.example'), issue(ISSUE)]],
    ['no issue', [legacy(LEGACY)]],
    ['an issue of 5 characters', [legacy(LEGACY), issue('12345')]],
    ['an issue of 5 characters and spaces', [legacy(LEGACY), issue('  12345  ')]],
    ['an issue of 5,001 characters', [legacy(LEGACY), issue('x'.repeat(5_001))]],
    ['a wrong contact email', [legacy(LEGACY), issue(ISSUE), contact('x')]],
    ['a wrong transfer ID', [legacy(LEGACY), issue(ISSUE), transferId('x')]],
  ])('with %s nothing is sent', async (_, events) => {
    const wizard = await formOpen({}, ...events, submit);
    await wizard.wait(1_000);
    await wizard.send(submit);
    expect(wizard.asked('write to support')).toEqual([]);
    expect(wizard.isAt('support.sending.editing')).toBe(true);
  });

  test.each([6, 5_000])('an issue of %i characters is sent', async (length) => {
    const wizard = await formOpen({}, legacy(LEGACY), issue('x'.repeat(length)), submit);
    expect(wizard.asked('write to support')).toHaveLength(1);
  });

  test.each([
    ['nothing', [], false],
    ['the legacy email only', [legacy(LEGACY)], false],
    ['an issue only', [issue(ISSUE)], false],
    ['an address off the cable domain', [legacy('pat@sanbruno.example'), issue(ISSUE)], false],
    ['half an address', [legacy('pat'), issue(ISSUE)], false],
    ['an issue of 5 characters', [legacy(LEGACY), issue('12345')], false],
    ['an issue of spaces', [legacy(LEGACY), issue(' '.repeat(40))], false],
    ['an issue of 5,001 characters', [legacy(LEGACY), issue('x'.repeat(5_001))], false],
    ['both', [legacy(LEGACY), issue('123456')], true],
    ['both, and a wrong contact email, which the submit judges', [...filled, contact('x')], true],
    ['both, and a wrong transfer ID, which the submit judges', [...filled, transferId('x')], true],
    ['both, until the issue is taken away', [...filled, issue('')], false],
  ])('with %s the submit is offered only if the legacy email and an issue are there', async (_, events, offered) => {
    const wizard = await formOpen({}, ...events);
    expect(wizard.actor.getSnapshot().can(submit)).toBe(offered);
  });

  test('a letter that was sent is said so for 5 s, is kept to be shown, and the next form is without errors', async () => {
    const wizard = await formOpen({ 'write to support': ok }, ...filled, submit);
    expect(wizard.context()).toMatchObject({ message: { about: 'support sent' }, typed: { issue: '' } });
    expect(wizard.isAt('support.sending.sent')).toBe(true);
    expect(wizard.context().letter).toEqual({
      emailAddress: LEGACY,
      destinationEmail: 'sam@mail.example',
      migrationId: ID,
      issue: ISSUE,
    });
    await wizard.wait(4_999);
    expect(wizard.context().message).not.toBeNull();
    for (const field of ['legacyEmail', 'contactEmail', 'transferId'])
      expect(wizard.isAt(`support.${field}.good`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.context().message).toBeNull();
    await wizard.send({ type: 'support.again' });
    expect(wizard.isAt('support.sending.editing')).toBe(true);
  });

  test('who writes once more types neither addresses nor ID again, and is no longer told of the letter before', async () => {
    const wizard = await formOpen({ 'write to support': ok }, ...filled, submit, { type: 'support.again' });
    expect(wizard.context()).toMatchObject({
      typed: { legacyEmail: LEGACY, contactEmail: 'sam@mail.example', supportId: ID, issue: '' },
      message: null,
    });
    await wizard.send(issue('And one more thing'), submit);
    expect(wizard.asked('write to support')).toHaveLength(2);
  });

  test('a reload keeps the letter that was sent in sight, and who writes once more does not type the rest again', async () => {
    const before = await formOpen({ 'write to support': ok }, ...filled, submit);
    const session = sessionOf(before.context());
    const { context, isAt, send, visit } = arriveAt('/support-form', {}, session);
    expect(isAt('support.sending.sent')).toBe(true);
    expect(context()).toMatchObject({ letter: before.context().letter, message: null });
    await send({ type: 'support.again' });
    expect(isAt('support.sending.editing')).toBe(true);
    expect(context()).toMatchObject({ letter: null, typed: { legacyEmail: LEGACY, supportId: ID, issue: '' } });
    visit('/');
    expect(sessionOf(context())).toEqual(BLANK_SESSION);
  });

  test.each(['/support-form', `/status?migration_id=${ID}`])(
    'a letter that was sent leaves nothing behind where its page is left for %s',
    async (path) => {
      const { context, isAt, visit } = await formOpen({ 'write to support': ok }, ...filled, submit);
      visit(path);
      expect(sessionOf(context())).toEqual(BLANK_SESSION);
      visit('/support-form');
      expect(isAt('support.sending.editing')).toBe(true);
      expect(context().typed).toMatchObject({ legacyEmail: '', contactEmail: '', issue: '' });
    },
  );

  test('a letter that was sent is forgotten where another page is loaded next', async () => {
    const before = await formOpen({ 'write to support': ok }, ...filled, submit);
    const { context, isAt, visit } = arriveAt(`/status?migration_id=${ID}`, {}, sessionOf(before.context()));
    expect(sessionOf(context())).toEqual(BLANK_SESSION);
    visit('/support-form');
    expect(isAt('support.sending.editing')).toBe(true);
    expect(context().typed).toMatchObject({ legacyEmail: '', contactEmail: '', issue: '' });
  });

  test('who comes from a transfer need not type its ID, and keeps one that was typed', async () => {
    const wizard = arriveAt(`/status?migration_id=${ID}`);
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe(ID);
    await wizard.send(transferId('another'));
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe('another');
    wizard.visit('/');
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe('');
  });

  test('who has gone on to another transfer writes of that one, unless an ID was typed', async () => {
    const other = ID.replace('0', 'f');
    const wizard = arriveAt(`/status?migration_id=${ID}`);
    wizard.visit('/support-form');
    wizard.visit(`/status?migration_id=${other}`);
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe(other);
    await wizard.send(transferId('another'));
    wizard.visit(`/status?migration_id=${ID}`);
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe('another');
  });

  test('who has signed in need not type the address again, and keeps one that was typed', async () => {
    const wizard = arriveAt('/destination-account', {}, SESSIONS.signedIn);
    wizard.visit('/support-form');
    expect(wizard.context().typed.legacyEmail).toBe(LEGACY);
    await wizard.send(legacy('another'));
    wizard.visit('/support-form');
    expect(wizard.context().typed.legacyEmail).toBe('another');
    wizard.visit('/');
    wizard.visit('/support-form');
    expect(wizard.context().typed.legacyEmail).toBe('');
  });

  test('a letter that is submitted twice is sent once', async () => {
    const wizard = await formOpen({}, ...filled, submit, submit);
    expect(wizard.asked('write to support')).toHaveLength(1);
  });

  test('what is being sent cannot be typed over', async () => {
    const wizard = await formOpen({}, ...filled, submit);
    const { typed } = wizard.context();
    await wizard.send(legacy('x'), contact('x'), transferId('x'), issue('x'));
    expect(wizard.context().typed).toEqual(typed);
    await wizard.wait(1_000);
    expect(wizard.isAt('support.legacyEmail.good')).toBe(true);
  });

  test.each(codesBut('UNAVAILABLE'))(
    'a letter that fails with %s is said so for 5 s, and is still there',
    async (code) => {
      const wizard = await formOpen({ 'write to support': refusal(code) }, ...filled, submit);
      expect(wizard.context().message).toEqual({ about: 'support failed', code });
      expect(wizard.context().typed.issue).toBe(ISSUE);
      await wizard.wait(4_999);
      expect(wizard.context().message).not.toBeNull();
      await wizard.wait(1);
      expect(wizard.context().message).toBeNull();
      await wizard.send(submit);
      expect(wizard.asked('write to support')).toHaveLength(2);
    },
  );

  test('a letter is slow after 10 s, and fails after 30 s', async () => {
    const wizard = await formOpen({}, ...filled, submit);
    await wizard.wait(9_999);
    expect(wizard.has('slow')).toBe(false);
    await wizard.wait(1);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(19_999);
    expect(wizard.isAt('support.sending.posting')).toBe(true);
    await wizard.wait(1);
    expect(wizard.context().message).toEqual({ about: 'support failed', code: 'UNEXPECTED_ANSWER' });
    expect(wizard.context().typed.issue).toBe(ISSUE);
  });

  test.each(['call.retry'] as const)('a portal that is unavailable goes on by %s', async (type) => {
    const script: Script = { 'write to support': refusal('UNAVAILABLE') };
    const wizard = await formOpen(script, ...filled, submit);
    expect(wizard.has('unavailable')).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.has('unavailable')).toBe(true);
    script['write to support'] = ok;
    await wizard.send({ type });
    expect(wizard.context().message).toEqual({ about: 'support sent' });
  });

  test('a message stays while it is looked at', async () => {
    const wizard = await formOpen({ 'write to support': ok }, ...filled, submit, { type: 'message.hold' });
    await wizard.wait(60_000);
    expect(wizard.context().message).not.toBeNull();
    await wizard.send({ type: 'message.release' });
    await wizard.wait(5_000);
    expect(wizard.context().message).toBeNull();
  });
});
