import { describe, expect, test } from 'vitest';
import { NOTHING_TYPED } from '../../machines/wizard.context.ts';
import { ID, LEGACY, SESSIONS } from '../support/moves.ts';
import { arriveAtStatus, close, open, password, RUNNING, type Script } from '../support/owner-acts.ts';
import { arriveAt, refusal } from '../support/wizard.ts';

const SIGN_IN = 'status.more.signingIn';
const LIMITED = { ...RUNNING, limited: true as const };
const more = { type: 'more.show' } as const;
const email = { type: 'email.type', email: LEGACY } as const;
const submit = { type: 'credentials.submit' } as const;
const page = { about: 'support failed', code: 'GENERAL_ERROR' } as const;

/** A sign-in whose calls are answered by the scripts once the status has been shown in part. */
async function signingIn(script: Script, then: Script = {}) {
  const told: Script = { 'ask for the status': () => LIMITED, ...script };
  const wizard = await arriveAtStatus(LIMITED, told);
  if (then['ask for the status'] === undefined) delete wizard.script['ask for the status'];
  Object.assign(wizard.script, then);
  await wizard.send(more, email, password, submit);
  return wizard;
}

const signedIn: Script = { 'validate the account': () => ({ ok: true, token: 'jwt' }) };

describe('the sign-in for all of a status', () => {
  test('begins with nothing that was typed elsewhere', async () => {
    const script: Script = { 'ask for the status': () => LIMITED };
    const wizard = arriveAt('/destination-account?way=other', script, SESSIONS.signedIn);
    await wizard.send({ type: 'email.type', email: 'sam@mail.example' }, password);
    wizard.visit(`/status?migration_id=${ID}`);
    await wizard.wait(0);
    await wizard.send(more);
    expect(wizard.context().typed).toEqual(NOTHING_TYPED);
  });

  test.each([
    ['verifying', {}],
    ['askingAgain', signedIn],
  ])('stays as it is, and is sent once, while it is %s', async (state, script) => {
    const wizard = await signingIn(script);
    expect(wizard.isAt(`${SIGN_IN}.${state}`)).toBe(true);
    const { typed } = wizard.context();
    const calls = wizard.calls.length;
    for (const event of [
      { type: 'email.type', email: 'x' },
      { type: 'password.type', password: 'x' },
      submit,
    ] as const) {
      await wizard.send(event);
      expect(wizard.isAt(`${SIGN_IN}.${state}`)).toBe(true);
    }
    expect(wizard.context().typed).toEqual(typed);
    expect(wizard.calls).toHaveLength(calls);
  });

  test.each([
    ['verifying', {}],
    ['askingAgain', signedIn],
  ])('that nobody answers while %s is slow after 10 s and refused after 30 s', async (state, script) => {
    const wizard = await signingIn(script);
    await wizard.wait(9_999);
    expect(wizard.has('slow')).toBe(false);
    await wizard.wait(1);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(19_999);
    expect(wizard.isAt(`${SIGN_IN}.${state}`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${SIGN_IN}.refused`)).toBe(true);
    expect(wizard.context()).toMatchObject({
      message: { about: 'sign-in refused', code: 'UNEXPECTED_ANSWER' },
      typed: { email: LEGACY, password: '' },
    });
  });

  test.each<[string, Script, Script]>([
    ['the sign-in', { 'validate the account': refusal('INVALID_CREDENTIALS') }, {}],
    ['the status', signedIn, { 'ask for the status': refusal('INVALID_CREDENTIALS') }],
  ])('that fails at %s says why and keeps no password', async (_, script, then) => {
    const wizard = await signingIn(script, then);
    expect(wizard.isAt(`${SIGN_IN}.refused`)).toBe(true);
    expect(wizard.context()).toMatchObject({
      message: { about: 'sign-in refused', code: 'INVALID_CREDENTIALS' },
      typed: { email: LEGACY, password: '' },
    });
  });
});

describe('the message of the page', () => {
  const shown = { type: 'message.show', message: page } as const;

  test('makes way for the sign-in', async () => {
    const wizard = await arriveAtStatus(LIMITED);
    await wizard.send(shown);
    expect(wizard.context().message).toEqual(page);
    await wizard.send(more);
    expect(wizard.isAt(SIGN_IN)).toBe(true);
    expect(wizard.context().message).toBeNull();
  });

  test('stays where nothing more is to be shown after all', async () => {
    const wizard = await signingIn({ 'validate the account': refusal('INVALID_CREDENTIALS') });
    const { message } = wizard.context();
    expect(message).not.toBeNull();
    for (const event of [more, open('stop')]) {
      await wizard.send(event);
      expect(wizard.context().message).toEqual(message);
    }
    await wizard.send(close);
    expect(wizard.context().message).toBeNull();
  });
});
