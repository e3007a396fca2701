import { describe, expect, test } from 'vitest';
import type { Side } from '../../src/contract/calls/resume.ts';
import { destinationOf } from '../../machines/owner-acts.ts';
import { contextOfPage, isOnPrimaryPath } from '../../machines/wizard.routes.ts';
import { BLANK_SESSION, sessionOf } from '../../machines/wizard.context.ts';
import { ID, LEGACY, PASSWORD, SESSIONS } from '../support/moves.ts';
import { randomOf } from '../support/random.ts';
import { arriveAt, codesBut, EVERY_CODE, NOW, refusal, type Wizard } from '../support/wizard.ts';

type Script = NonNullable<Parameters<typeof arriveAt>[1]>;
const PAGE = 'status.page';
const FOLLOWING = `${PAGE}.following`;
const ok = () => ({ ok: true });
const RUNNING = { emailmigration: { status: 'inprogress', done: 1, total: 2 } };
const DONE = { emailmigration: { status: 'completed' }, contactsmigration: { status: 'success' } };
const FILE = { url: `/api/exports/${ID}/a.zip`, name: 'a.zip', size: 1, sha256: 'a', expires: '2025-12-01T00:00:00Z' };
const needs = (side: Side) => ({
  emailmigration: { status: 'authentication_error', attention: { side, reason: 'password' as const } },
});
const EXPORTED = { ...DONE, exports: [FILE] };

const arriveAtComplete = (script: Script = {}) => arriveAt(`/complete?migration_id=${ID}`, script, SESSIONS.toOther);
async function arriveAtStatus(script: Script = {}) {
  const wizard = arriveAt(`/status?migration_id=${ID}`, script);
  await wizard.wait(0);
  return wizard;
}
const arriveAtStatusOf = (status: unknown) => arriveAtStatus({ 'ask for the status': () => status });
/** The stream has told the status once. */
async function arriveAtOpenStream(script: Script = { 'ask for the status': () => RUNNING }) {
  const wizard = await arriveAtStatus(script);
  await wizard.send({ type: 'status.arrive', status: RUNNING });
  return wizard;
}
/** The question after the pause has failed. */
async function afterFailure(wizard: Wizard) {
  wizard.script['ask for the status'] = refusal('UNAVAILABLE');
  await wizard.wait(2_000);
  expect(wizard.isAt(`${FOLLOWING}.missed.pausing`)).toBe(true);
}

/** The line was lost, and the first question has failed. */
async function cutOff() {
  const wizard = await arriveAtOpenStream();
  await wizard.wait(40_000);
  await wizard.send({ type: 'status.lose' });
  await afterFailure(wizard);
  return wizard;
}

/** What a page says of where a transfer goes. */
const saidOn = ({ actor }: Wizard) => {
  const snapshot = actor.getSnapshot();
  const { source, destination } = contextOfPage(snapshot);
  const isPrimary = isOnPrimaryPath(snapshot);
  return { provider: destinationOf(snapshot.context), isPrimary, from: source?.email, to: destination?.email };
};

describe('the complete page', () => {
  test('the transfer ID is copied, and the confirmation stays for 1.5 s', async () => {
    const wizard = arriveAtComplete({ 'copy to the clipboard': () => undefined });
    await wizard.send({ type: 'id.copy' });
    expect(wizard.asked('copy to the clipboard')).toEqual([{ text: ID }]);
    await wizard.wait(1_499);
    expect(wizard.isAt('complete.copied')).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt('complete.resting')).toBe(true);
  });

  test('the transfer ID can be copied again while the confirmation stays, and then for 1.5 s more', async () => {
    const wizard = arriveAtComplete({ 'copy to the clipboard': () => undefined });
    await wizard.send({ type: 'id.copy' });
    await wizard.wait(1_000);
    await wizard.send({ type: 'id.copy' });
    await wizard.wait(1_499);
    expect(wizard.isAt('complete.copied')).toBe(true);
  });

  test('a browser that does not copy is said so, and the ID can be copied again', async () => {
    const wizard = arriveAtComplete({ 'copy to the clipboard': () => Promise.reject(new Error('Not allowed.')) });
    await wizard.send({ type: 'id.copy' });
    expect(wizard.isAt('complete.notCopied')).toBe(true);
    await wizard.send({ type: 'id.copy' });
    expect(wizard.asked('copy to the clipboard')).toHaveLength(2);
  });

  test('a browser that never answers about the copy is given up after 30 s', async () => {
    const wizard = arriveAtComplete();
    await wizard.send({ type: 'id.copy' });
    await wizard.wait(29_999);
    expect(wizard.isAt('complete.copying')).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt('complete.notCopied')).toBe(true);
  });

  test('Back to the page that started it stays here once the passwords are forgotten', async () => {
    const ordered = { ...SESSIONS.toOther, source: { email: LEGACY, password: '', provider: 'sanbruno' as const } };
    const wizard = arriveAt(`/complete?migration_id=${ID}`, {}, ordered);
    wizard.visit('/start-migration');
    expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
    const another = arriveAtComplete();
    another.visit('/start-migration');
    expect(another.address()).toBe('/start-migration');
  });

  test('the way to the status leads to the status page of the same transfer', async () => {
    const wizard = arriveAtComplete();
    await wizard.send({ type: 'transfer.open', id: ID });
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
    expect(wizard.asked('ask for the status').at(-1)).toEqual({ id: ID });
    expect(wizard.context().status).toBeNull();
  });

  test('the status is asked for at once, and again when the visitor looks at the page again', async () => {
    const wizard = arriveAtComplete({ 'ask for the status': () => RUNNING, 'copy to the clipboard': () => undefined });
    await wizard.wait(0);
    expect(wizard.asked('ask for the status')).toEqual([{ id: ID }]);
    expect(wizard.context().status).toEqual(RUNNING);
    wizard.script['ask for the status'] = () => DONE;
    await wizard.send({ type: 'page.look' });
    expect(wizard.context().status).toEqual(DONE);
    await wizard.send({ type: 'id.copy' }, { type: 'page.look' });
    expect(wizard.isAt('complete.copied')).toBe(true);
  });

  test.each(EVERY_CODE)('a status that fails with %s leaves what is known', async (code) => {
    const wizard = arriveAtComplete({ 'ask for the status': () => DONE });
    await wizard.wait(0);
    wizard.script['ask for the status'] = refusal(code);
    await wizard.send({ type: 'page.look' });
    expect(wizard.isAt('complete.resting')).toBe(true);
    expect(wizard.context().status).toEqual(DONE);
  });
});

describe('the status page', () => {
  test.each(['', '?migration_id=short', `?migration_id=${'z'.repeat(32)}`, `?migration_id=${ID}&error=x`])(
    'a bad or missing ID, or an error, is not found and not asked for: /status%s',
    (query) => {
      const wizard = arriveAt(`/status${query}`);
      expect(wizard.isAt(`${PAGE}.notFound`)).toBe(true);
      expect(wizard.asked('ask for the status')).toEqual([]);
    },
  );

  test.each(['/destination-account', '/start-migration', '/support-form'])(
    'where a transfer went is not shown on another page: %s',
    async (path) => {
      const script: Script = { 'ask for the status': () => ({ ...DONE, destination: 'google' }) };
      const wizard = arriveAt(`/status?migration_id=${ID}`, script, SESSIONS.moving);
      await wizard.wait(0);
      expect(isOnPrimaryPath(wizard.actor.getSnapshot())).toBe(false);
      wizard.visit(path);
      expect(wizard.address()).toBe(path);
      expect(isOnPrimaryPath(wizard.actor.getSnapshot())).toBe(true);
    },
  );

  describe('of a transfer whose destination is not told', () => {
    const OTHER = ID.replace('0', 'f');
    const numbers = { ...DONE, limited: true } as const;
    const script: Script = {
      'ask for the status': () => numbers,
      'check the domain': () => ({ valid: true }),
      'start the transfer': () => ({ jobid: ID }),
      'announce the migration': ok,
    };
    const UNKNOWN = { provider: 'other', isPrimary: true, from: undefined, to: undefined };
    const order = async (session: keyof typeof SESSIONS) => {
      const wizard = arriveAt('/start-migration', script, { ...SESSIONS[session], googleTermsAccepted: true });
      await wizard.send({ type: 'contact.type', contact: 'sam@mail.example' });
      await wizard.wait(1_000);
      await wizard.send({ type: 'transfer.submit' });
      expect(wizard.address()).toBe(`/complete?migration_id=${ID}`);
      return wizard;
    };

    test.each(['blank', 'moving', 'toGoogle', 'toOther', 'downloading', 'ordered'] as const)(
      'the page says nothing of what this tab has begun: %s',
      async (session) => {
        const wizard = arriveAt(`/status?migration_id=${OTHER}`, script, SESSIONS[session]);
        expect(saidOn(wizard)).toEqual(UNKNOWN);
        await wizard.wait(0);
        expect(saidOn(wizard)).toEqual(UNKNOWN);
      },
    );

    test.each([
      ['moving', { provider: 'yahoo', isPrimary: true, from: LEGACY, to: LEGACY }],
      ['toGoogle', { provider: 'google', isPrimary: false, from: LEGACY, to: 'sam@gmail.com' }],
      ['toOther', { provider: 'other', isPrimary: false, from: LEGACY, to: 'sam@mail.example' }],
      ['downloading', { provider: 'file_export', isPrimary: false, from: LEGACY, to: '' }],
    ] as const)(
      'what this tab has ordered is known, also after a reload; another one is not: %s',
      async (way, known) => {
        const wizard = await order(way);
        expect(saidOn(wizard)).toEqual(known);
        await wizard.send({ type: 'transfer.open', id: ID });
        expect(saidOn(wizard)).toEqual(known);
        const session = sessionOf(wizard.context());
        const reloaded = arriveAt(`/status?migration_id=${ID}`, script, session);
        await reloaded.wait(0);
        expect(saidOn(reloaded)).toEqual(known);
        reloaded.visit(`/status?migration_id=${OTHER}`);
        expect(saidOn(reloaded)).toEqual(UNKNOWN);
        await reloaded.wait(0);
        expect(saidOn(reloaded)).toEqual(UNKNOWN);
        expect(saidOn(arriveAt(`/complete?migration_id=${ID}`, script, session))).toEqual(known);
      },
    );

    test('a download that this tab has ordered is shown as one, though its status does not say so', async () => {
      const wizard = await order('downloading');
      await wizard.send({ type: 'transfer.open', id: ID });
      expect(wizard.context().status).toMatchObject({ files: 'coming' });
      wizard.visit(`/status?migration_id=${OTHER}`);
      await wizard.wait(0);
      expect(wizard.context().status).not.toHaveProperty('files');
      const moved = await order('moving');
      await moved.send({ type: 'transfer.open', id: ID });
      expect(moved.context().status).not.toHaveProperty('files');
    });

    test('one that a sign-in at its provider has listed is known to go there', async () => {
      const listing: Script = { ...script, 'list the transfers': () => ({ [ID]: '2025-11-01T00:00:00Z' }) };
      const wizard = arriveAt(
        `/oauth-callback-for-status?token_id=${'f'.repeat(32)}&email=sam@gmail.com&provider=google&hash=hash`,
        listing,
        BLANK_SESSION,
      );
      await wizard.wait(0);
      await wizard.send({ type: 'transfer.open', id: ID });
      expect(saidOn(wizard)).toMatchObject({ provider: 'google', isPrimary: false, to: 'sam@gmail.com' });
      wizard.visit(`/status?migration_id=${OTHER}`);
      expect(saidOn(wizard)).toEqual(UNKNOWN);
    });

    test('the wizard that is gone back to is where it was', async () => {
      const wizard = arriveAt(`/status?migration_id=${OTHER}`, script, SESSIONS.toOther);
      await wizard.wait(0);
      wizard.visit('/start-migration');
      expect(saidOn(wizard)).toMatchObject({ isPrimary: false, from: LEGACY, to: 'sam@mail.example' });
    });
  });

  test('an ID in capitals is the same transfer', () => {
    const wizard = arriveAt(`/status?migration_id=${ID.toUpperCase()}`);
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
  });

  test('a transfer that nobody knows is not found', async () => {
    const wizard = await arriveAtStatus({ 'ask for the status': refusal('MIGRATION_ID_NOT_FOUND') });
    expect(wizard.isAt(`${PAGE}.notFound`)).toBe(true);
  });

  test.each(codesBut('MIGRATION_ID_NOT_FOUND', 'UNAVAILABLE'))(
    'a status that fails with %s has not been found, and can be asked for again',
    async (code) => {
      const script: Script = { 'ask for the status': refusal(code) };
      const wizard = await arriveAtStatus(script);
      expect(wizard.isAt(`${PAGE}.failed`)).toBe(true);
      script['ask for the status'] = () => RUNNING;
      await wizard.send({ type: 'call.retry' });
      expect(wizard.isAt(FOLLOWING)).toBe(true);
    },
  );

  test('a status that is not answered is slow after 10 s and has not been found after 30 s', async () => {
    const wizard = await arriveAtStatus();
    await wizard.wait(10_000);
    expect(wizard.has('slow')).toBe(true);
    await wizard.wait(19_999);
    expect(wizard.isAt(`${PAGE}.asking`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${PAGE}.failed`)).toBe(true);
    await wizard.send({ type: 'connection.return' });
    expect(wizard.isAt(`${PAGE}.asking`)).toBe(true);
  });

  test.each(['call.retry', 'connection.return'] as const)(
    'a portal that is unavailable goes on by %s',
    async (type) => {
      const script: Script = { 'ask for the status': refusal('UNAVAILABLE') };
      const wizard = await arriveAtStatus(script);
      expect(wizard.has('unavailable')).toBe(true);
      script['ask for the status'] = () => DONE;
      await wizard.send({ type });
      expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
    },
  );

  describe.each([
    ['UNAVAILABLE', 'unavailable'],
    ['UNEXPECTED_ANSWER', 'failed'],
  ] as const)('a status that failed with %s', (code, page) => {
    async function failedOnce() {
      const script: Script = { 'ask for the status': refusal(code) };
      return { wizard: await arriveAtStatus(script), script };
    }

    test('is requested by itself every 10 s, and the page stays', async () => {
      const { wizard, script } = await failedOnce();
      await wizard.wait(9_999);
      expect(wizard.asked('ask for the status')).toHaveLength(1);
      await wizard.wait(1);
      expect(wizard.asked('ask for the status')).toHaveLength(2);
      expect([wizard.isAt(`${PAGE}.${page}.pausing`), wizard.has('busy')]).toEqual([true, false]);
      script['ask for the status'] = () => DONE;
      await wizard.wait(10_000);
      expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
      expect(wizard.context().status).toEqual(DONE);
    });

    test('is requested once more after a request that is not answered for 30 s', async () => {
      const { wizard, script } = await failedOnce();
      delete script['ask for the status'];
      await wizard.wait(10_000);
      await wizard.wait(30_000);
      expect(wizard.asked('ask for the status')).toHaveLength(2);
      await wizard.wait(10_000);
      expect(wizard.asked('ask for the status')).toHaveLength(3);
      expect(wizard.isAt(`${PAGE}.${page}.asking`)).toBe(true);
    });

    test('may be that of a transfer which is not there, or of nothing', async () => {
      const erased = await failedOnce();
      erased.script['ask for the status'] = refusal('MIGRATION_ID_NOT_FOUND');
      await erased.wizard.wait(10_000);
      expect(erased.wizard.isAt(`${PAGE}.notFound`)).toBe(true);
      const empty = await failedOnce();
      empty.script['ask for the status'] = () => ({});
      await empty.wizard.wait(10_000);
      expect(empty.wizard.address()).toBe('/');
    });
  });

  test('a transfer of neither mail nor contacts leads Home', async () => {
    const wizard = await arriveAtStatusOf({});
    expect(wizard.address()).toBe('/');
  });

  test.each(['started', 'inprogress', 'InProgress', 'error', 'anything else'])(
    'a transfer that is %s is followed live',
    async (status) => {
      const wizard = await arriveAtStatusOf({ emailmigration: { status } });
      expect(wizard.isAt(`${FOLLOWING}.live`)).toBe(true);
      expect(wizard.asked('follow the transfer')).toEqual([{ id: ID }]);
    },
  );

  test('an interrupted transfer that has an end is settled', async () => {
    const wizard = await arriveAtStatusOf({ emailmigration: { status: 'error', finished: '2025-11-01T10:00:00Z' } });
    expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
  });

  test.each(['completed', 'SUCCESS', 'review', 'authentication_error'])(
    'a transfer that is %s is settled, and not followed',
    async (status) => {
      const wizard = await arriveAtStatusOf({ contactsmigration: { status } });
      expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
      expect(wizard.asked('follow the transfer')).toEqual([]);
    },
  );

  test('that is followed is asked for anew when the visitor looks at it again, as long as more could be shown', async () => {
    const limited = { ...RUNNING, limited: true as const };
    const wizard = await arriveAtStatusOf(limited);
    wizard.script['ask for the status'] = () => RUNNING;
    await wizard.send({ type: 'more.show' }, { type: 'page.look' });
    expect(wizard.context().status).toEqual(limited);
    await wizard.send({ type: 'modal.close' }, { type: 'page.look' });
    expect(wizard.context().status).toEqual(RUNNING);
    expect(wizard.asked('follow the transfer')).toHaveLength(2);
    await wizard.send({ type: 'page.look' });
    expect(wizard.asked('ask for the status')).toHaveLength(2);
  });

  describe('that is settled, when the visitor looks at it again', () => {
    const BACK = { ...DONE, emailmigration: { status: 'completed', taking_back: true } };

    test('is asked for once, and followed when something was begun elsewhere', async () => {
      const script: Script = { 'ask for the status': () => DONE };
      const wizard = await arriveAtStatus(script);
      script['ask for the status'] = () => BACK;
      await wizard.send({ type: 'page.look' }, { type: 'page.look' });
      expect(wizard.asked('ask for the status')).toHaveLength(2);
      expect(wizard.isAt(`${FOLLOWING}.live`)).toBe(true);
      expect(wizard.context().status).toEqual(BACK);
    });

    test('stays as it is when nothing was, and is not followed', async () => {
      const wizard = await arriveAtStatusOf(DONE);
      await wizard.send({ type: 'page.look' });
      expect(wizard.isAt(`${PAGE}.settled.resting`)).toBe(true);
      expect(wizard.asked('follow the transfer')).toEqual([]);
    });

    test.each(EVERY_CODE)('stays as it is when the question fails with %s', async (code) => {
      const script: Script = { 'ask for the status': () => DONE };
      const wizard = await arriveAtStatus(script);
      script['ask for the status'] = refusal(code);
      await wizard.send({ type: 'page.look' });
      expect(wizard.isAt(`${PAGE}.settled.resting`)).toBe(true);
      expect(wizard.context()).toMatchObject({ status: DONE, message: null });
    });

    test('is shown while nobody answers, whose question is given up after 30 s, and its files can be deleted', async () => {
      const script: Script = { 'ask for the status': () => EXPORTED };
      const wizard = await arriveAtStatus(script);
      script['ask for the status'] = () => new Promise(() => {});
      await wizard.send({ type: 'page.look' });
      await wizard.wait(29_999);
      expect(wizard.isAt(`${PAGE}.settled.looking`)).toBe(true);
      await wizard.wait(1);
      expect(wizard.isAt(`${PAGE}.settled.resting`)).toBe(true);
      await wizard.send({ type: 'page.look' }, { type: 'export.delete' });
      expect(wizard.isAt(`${PAGE}.settled.confirming`)).toBe(true);
    });
  });

  test('a transfer goes on while one of its two parts does', async () => {
    const wizard = await arriveAtStatusOf({
      emailmigration: { status: 'completed' },
      contactsmigration: { status: 'started' },
    });
    expect(wizard.isAt(`${FOLLOWING}.live`)).toBe(true);
  });

  test('a live transfer shows each change, and is settled with the last', async () => {
    const wizard = await arriveAtStatusOf(RUNNING);
    const further = { emailmigration: { status: 'inprogress', done: 2, total: 2 } };
    await wizard.send({ type: 'status.arrive', status: further });
    expect(wizard.context().status).toEqual(further);
    await wizard.send({ type: 'status.arrive', status: DONE });
    expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
  });

  test('when the line is lost, the status is asked for after 2 s, and then followed live again', async () => {
    const wizard = await arriveAtOpenStream();
    await wizard.send({ type: 'status.lose' });
    await wizard.wait(1_999);
    expect(wizard.asked('ask for the status')).toHaveLength(1);
    await wizard.wait(1);
    expect(wizard.asked('ask for the status')).toHaveLength(2);
    expect(wizard.asked('follow the transfer')).toEqual([{ id: ID }, { id: ID }]);
    expect(wizard.isAt(`${FOLLOWING}.live.opening`)).toBe(true);
  });

  test('a stream that is lost before it said anything is tried again after 10 s', async () => {
    const wizard = await arriveAtStatusOf(RUNNING);
    await wizard.send({ type: 'status.lose' });
    await wizard.wait(9_999);
    expect(wizard.asked('ask for the status')).toHaveLength(1);
    await wizard.wait(1);
    expect(wizard.asked('ask for the status')).toHaveLength(2);
    expect(wizard.isAt(`${FOLLOWING}.live.opening`)).toBe(true);
  });

  test('a stream that does not begin for 30 s is tried again', async () => {
    const wizard = await arriveAtStatusOf(RUNNING);
    await wizard.wait(29_999);
    expect(wizard.isAt(`${FOLLOWING}.live.opening`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${FOLLOWING}.pausingLonger`)).toBe(true);
  });

  test.each([{ type: 'status.beat' }, { type: 'status.arrive', status: RUNNING }] as const)(
    'a stream that says nothing for 45 s after $type is taken for lost',
    async (event) => {
      const wizard = await arriveAtOpenStream();
      await wizard.wait(44_999);
      await wizard.send(event);
      await wizard.wait(44_999);
      expect(wizard.isAt(`${FOLLOWING}.live.open`)).toBe(true);
      await wizard.wait(1);
      expect(wizard.isAt(`${FOLLOWING}.pausing`)).toBe(true);
      expect(wizard.asked('follow the transfer')).toHaveLength(1);
    },
  );

  test.each([
    ['a live status', async () => {}],
    ['a pause', async (wizard: Wizard) => wizard.send({ type: 'status.lose' })],
    ['a long pause', async (wizard: Wizard) => wizard.wait(45_000).then(() => afterFailure(wizard))],
  ] as const)('a browser that is online again asks at once, out of %s', async (_, lead) => {
    const wizard = await arriveAtOpenStream();
    await lead(wizard);
    const asked = wizard.asked('ask for the status').length;
    await wizard.send({ type: 'connection.return' });
    expect(wizard.asked('ask for the status')).toHaveLength(asked + 1);
  });

  test('a transfer that ended while the line was lost is settled', async () => {
    const script: Script = { 'ask for the status': () => RUNNING };
    const wizard = await arriveAtOpenStream(script);
    await wizard.send({ type: 'status.lose' });
    script['ask for the status'] = () => DONE;
    await wizard.wait(2_000);
    expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
    expect(wizard.context().status).toEqual(DONE);
  });

  test.each(codesBut('MIGRATION_ID_NOT_FOUND'))(
    'a question that fails with %s after the line was lost is put again after 10 s',
    async (code) => {
      const script: Script = { 'ask for the status': () => RUNNING };
      const wizard = await arriveAtOpenStream(script);
      await wizard.send({ type: 'status.lose' });
      script['ask for the status'] = refusal(code);
      await wizard.wait(2_000);
      expect(wizard.isAt(`${FOLLOWING}.missed.pausing`)).toBe(true);
      expect(wizard.context().status).toEqual(RUNNING);
      await wizard.wait(9_999);
      expect(wizard.asked('ask for the status')).toHaveLength(2);
      await wizard.wait(1);
      expect(wizard.asked('ask for the status')).toHaveLength(3);
    },
  );

  test.each([
    ['at the first question', 2_000],
    ['once it has been missed', 12_000],
    ['once it is stale', 22_000],
  ] as const)('a transfer that was erased while it was followed is not found any more, %s', async (_, after) => {
    const script: Script = { 'ask for the status': () => RUNNING };
    const wizard = await arriveAtOpenStream(script);
    await wizard.send({ type: 'act.open', act: 'stop' }, { type: 'status.lose' });
    script['ask for the status'] = refusal('UNAVAILABLE');
    for (let waited = 0; waited < after; waited += 2_000) {
      if (waited === after - 2_000) script['ask for the status'] = refusal('MIGRATION_ID_NOT_FOUND');
      await wizard.wait(2_000);
    }
    expect(wizard.isAt(`${PAGE}.notFound`)).toBe(true);
    // No dialog stays behind, which Back would close instead of leading on.
    expect(wizard.actor.getSnapshot().can({ type: 'modal.close' })).toBe(false);
  });

  describe.each(['asking', 'missed', 'stale'] as const)('what was typed to put it right, when it is %s', (at) => {
    /** The line was lost while the password was typed, and the next question has this answer. */
    const typedAndThen = async (answer: () => unknown) => {
      const wizard = await arriveAtOpenStream({ 'ask for the status': () => needs('source') });
      await wizard.send(
        { type: 'status.arrive', status: needs('source') },
        { type: 'act.open', act: 'mend' },
        { type: 'password.type', password: PASSWORD },
        { type: 'status.lose' },
      );
      wizard.script['ask for the status'] = refusal('UNAVAILABLE');
      if (at !== 'asking') await wizard.wait(2_000);
      if (at === 'stale') await wizard.wait(10_000);
      expect(wizard.context().typed.password).toBe(PASSWORD);
      wizard.script['ask for the status'] = answer;
      await wizard.wait(at === 'asking' ? 2_000 : 10_000);
      return wizard;
    };

    test('is forgotten when the transfer has been erased', async () => {
      const wizard = await typedAndThen(refusal('MIGRATION_ID_NOT_FOUND'));
      expect(wizard.isAt(`${PAGE}.notFound`)).toBe(true);
      expect(wizard.context().typed.password).toBe('');
    });

    test('is forgotten when the other mailbox needs a password', async () => {
      const wizard = await typedAndThen(() => needs('destination'));
      expect(wizard.isAt('status.acts.open.mending.asking.editing')).toBe(true);
      expect(wizard.context().typed.password).toBe('');
    });
  });

  test('a question that is not answered for 30 s after the line was lost is put again', async () => {
    const script: Script = { 'ask for the status': () => RUNNING };
    const wizard = await arriveAtOpenStream(script);
    await wizard.send({ type: 'status.lose' });
    delete script['ask for the status'];
    await wizard.wait(2_000);
    await wizard.wait(29_999);
    expect(wizard.isAt(`${FOLLOWING}.asking`)).toBe(true);
    await wizard.wait(1);
    expect(wizard.isAt(`${FOLLOWING}.missed.pausing`)).toBe(true);
  });

  test('whatever the line and the server do, the page never waits longer than 47 s for a sign of life before it asks', async () => {
    const answers: readonly Script[] = [
      { 'ask for the status': () => RUNNING },
      { 'ask for the status': refusal('UNAVAILABLE') },
      {},
    ];
    for (let seed = 1; seed <= 10; seed += 1) {
      const random = randomOf(seed);
      const wizard = await arriveAtStatusOf(RUNNING);
      let [last, calls] = [wizard.clock.now(), wizard.calls.length];
      for (let step = 0; step < 60; step += 1) {
        delete wizard.script['ask for the status'];
        Object.assign(wizard.script, random(answers));
        // A stream that is not open says nothing.
        const said = wizard.isAt(`${FOLLOWING}.live`) ? (['status.arrive', 'status.beat', 'status.lose'] as const) : [];
        const event = random(['wait', 'wait', 'wait', 'wait', 'connection.return', ...said] as const);
        if (event === 'status.arrive') await wizard.send({ type: event, status: RUNNING });
        else if (event !== 'wait') await wizard.send({ type: event });
        if (event === 'status.arrive' || event === 'status.beat') last = wizard.clock.now();
        for (let seconds = random([0, 1, 5, 20]); seconds >= 0; seconds -= 1) {
          if (wizard.calls.length > calls) last = wizard.clock.now();
          calls = wizard.calls.length;
          expect(wizard.clock.now() - last, `seed ${seed}, step ${step}`).toBeLessThanOrEqual(47_000);
          if (seconds > 0) await wizard.wait(1_000);
        }
      }
    }
  });

  describe('when the server does not answer for a while', () => {
    test('the visitor is told from the second question on that fails, with the time when there was an answer', async () => {
      const wizard = await cutOff();
      await wizard.wait(9_999);
      expect(wizard.has('stale')).toBe(false);
      await wizard.wait(1);
      expect(wizard.isAt(`${FOLLOWING}.stale.pausing`)).toBe(true);
      expect(wizard.has('stale')).toBe(true);
      expect(wizard.context()).toMatchObject({ status: RUNNING, now: NOW });
    });

    test('it is told as long as each question fails, or is not answered for 30 s, and no longer', async () => {
      const wizard = await cutOff();
      await wizard.wait(10_000);
      await wizard.wait(10_000);
      expect(wizard.isAt(`${FOLLOWING}.stale.pausing`)).toBe(true);
      delete wizard.script['ask for the status'];
      await wizard.wait(10_000);
      await wizard.wait(29_999);
      expect(wizard.isAt(`${FOLLOWING}.stale.asking`)).toBe(true);
      await wizard.wait(1);
      expect(wizard.isAt(`${FOLLOWING}.stale.pausing`)).toBe(true);
      wizard.script['ask for the status'] = () => RUNNING;
      await wizard.wait(10_000);
      expect(wizard.isAt(`${FOLLOWING}.live.opening`)).toBe(true);
      expect(wizard.has('stale')).toBe(false);
      expect(wizard.context().now).toBe(NOW + wizard.clock.now());
    });

    test('a second question that is not answered for 30 s is told of as well', async () => {
      const wizard = await cutOff();
      delete wizard.script['ask for the status'];
      await wizard.wait(10_000);
      expect(wizard.isAt(`${FOLLOWING}.missed.asking`)).toBe(true);
      await wizard.wait(30_000);
      expect(wizard.has('stale')).toBe(true);
    });

    test.each(['missed', 'stale'] as const)(
      'a browser that is online again asks at once, where it is %s',
      async (at) => {
        const wizard = await cutOff();
        if (at === 'stale') await wizard.wait(10_000);
        const further = { emailmigration: { ...RUNNING.emailmigration, done: 2 } };
        wizard.script['ask for the status'] = () => further;
        await wizard.send({ type: 'connection.return' });
        expect(wizard.isAt(`${FOLLOWING}.live.opening`)).toBe(true);
        expect(wizard.context().status).toEqual(further);
      },
    );

    test('a transfer that ended meanwhile is settled', async () => {
      const wizard = await cutOff();
      await wizard.wait(10_000);
      wizard.script['ask for the status'] = () => DONE;
      await wizard.wait(10_000);
      expect(wizard.isAt(`${PAGE}.settled`)).toBe(true);
    });

    test.each([{ type: 'status.beat' }, { type: 'status.arrive', status: RUNNING }] as const)(
      'what the stream says is an answer: $type',
      async (event) => {
        const wizard = await arriveAtOpenStream();
        await wizard.wait(40_000);
        await wizard.send(event);
        expect(wizard.context().now).toBe(NOW + 40_000);
      },
    );
  });

  describe('the files of a finished download', () => {
    test('the files are deleted after the visitor confirmed it, and the status is asked for again', async () => {
      const script: Script = { 'ask for the status': () => EXPORTED, 'delete the export': ok };
      const wizard = await arriveAtStatus(script);
      await wizard.send({ type: 'export.delete' });
      expect(wizard.isAt(`${PAGE}.settled.confirming`)).toBe(true);
      script['ask for the status'] = () => DONE;
      await wizard.send({ type: 'export.confirm' });
      expect(wizard.asked('delete the export')).toEqual([{ url: FILE.url }]);
      expect(wizard.context().status).toEqual(DONE);
      await wizard.send({ type: 'export.delete' });
      expect(wizard.isAt(`${PAGE}.settled.resting`)).toBe(true);
    });

    test('files that are not there are not offered to be deleted, also while the page is looked at again', async () => {
      const script: Script = { 'ask for the status': () => DONE };
      const wizard = await arriveAtStatus(script);
      delete script['ask for the status'];
      await wizard.send({ type: 'page.look' }, { type: 'export.delete' });
      expect(wizard.isAt(`${PAGE}.settled.looking`)).toBe(true);
    });

    test.each(['export.keep', 'modal.close'] as const)('the files are kept by %s', async (type) => {
      const wizard = await arriveAtStatusOf(EXPORTED);
      await wizard.send({ type: 'export.delete' }, { type });
      expect(wizard.isAt(`${PAGE}.settled.resting`)).toBe(true);
      expect(wizard.asked('delete the export')).toEqual([]);
    });

    test.each(EVERY_CODE)('a deletion that fails with %s says so for 5 s', async (code) => {
      const wizard = await arriveAtStatus({ 'ask for the status': () => EXPORTED, 'delete the export': refusal(code) });
      await wizard.send({ type: 'export.delete' }, { type: 'export.confirm' });
      expect(wizard.context().message).toEqual({ about: 'export deletion failed', code });
      expect(wizard.isAt(`${PAGE}.settled.resting`)).toBe(true);
      await wizard.wait(4_999);
      expect(wizard.context().message).not.toBeNull();
      await wizard.wait(1);
      expect(wizard.context().message).toBeNull();
    });

    test('after a deletion that was not answered the page shows what there is', async () => {
      const script: Script = { 'ask for the status': () => EXPORTED, 'delete the export': refusal('UNAVAILABLE') };
      const wizard = await arriveAtStatus(script);
      script['ask for the status'] = () => DONE;
      await wizard.send({ type: 'export.delete' }, { type: 'export.confirm' });
      expect(wizard.context().status).toEqual(DONE);
    });

    test('a deletion is slow after 10 s, and fails after 30 s', async () => {
      const wizard = await arriveAtStatusOf(EXPORTED);
      await wizard.send({ type: 'export.delete' }, { type: 'export.confirm' });
      await wizard.wait(10_000);
      expect(wizard.has('slow')).toBe(true);
      await wizard.wait(20_000);
      expect(wizard.context().message).toEqual({ about: 'export deletion failed', code: 'UNEXPECTED_ANSWER' });
    });
  });
});

describe('a status that shows numbers only', () => {
  const MORE = 'status.more';
  const LIMITED = { ...RUNNING, limited: true as const };
  const SHOWN = { emailmigration: { ...RUNNING.emailmigration, skipped: [] } };
  const email = 'pat@sanbrunocable.example';
  const password = 'correct horse';
  const signIn = [
    { type: 'more.show' },
    { type: 'email.type', email },
    { type: 'password.type', password },
    { type: 'credentials.submit' },
  ] as const;

  test('shows all after a sign-in, and is followed anew', async () => {
    const script: Script = {
      'ask for the status': () => LIMITED,
      'validate the account': () => ({ ok: true, token: 'jwt' }),
    };
    const wizard = await arriveAtStatus(script);
    script['ask for the status'] = () => SHOWN;
    await wizard.send(...signIn);
    expect(wizard.asked('validate the account')).toEqual([{ email, password, provider: 'sanbruno' }]);
    expect(wizard.isAt(`${MORE}.closed`)).toBe(true);
    expect(wizard.isAt(`${FOLLOWING}.live`)).toBe(true);
    expect(wizard.context()).toMatchObject({ status: SHOWN, jwt: 'jwt', typed: { email: '', password: '' } });
    await wizard.send({ type: 'more.show' });
    expect(wizard.isAt(`${MORE}.closed`)).toBe(true);
  });

  test('says so when the mailbox is not the one of the transfer, and keeps no password', async () => {
    const wizard = await arriveAtStatus({
      'ask for the status': () => LIMITED,
      'validate the account': () => ({ ok: true, token: 'jwt' }),
    });
    await wizard.send(...signIn);
    expect(wizard.isAt(`${MORE}.signingIn.refused`)).toBe(true);
    expect(wizard.context()).toMatchObject({ message: { about: 'not the owner' }, typed: { email, password: '' } });
    await wizard.send({ type: 'modal.close' });
    expect(wizard.context()).toMatchObject({ message: null, typed: { email: '' } });
  });

  test.each(EVERY_CODE)('says why when the sign-in fails with %s', async (code) => {
    const wizard = await arriveAtStatus({
      'ask for the status': () => LIMITED,
      'validate the account': refusal(code),
    });
    await wizard.send(...signIn);
    expect(wizard.isAt(`${MORE}.signingIn.refused`)).toBe(true);
    expect(wizard.context().message).toEqual({ about: 'sign-in refused', code });
  });

  test.each([
    ['pat', password, 'malformed'],
    ['pat@mail.example', password, 'notLegacy'],
    [email, '', 'passwordMissing'],
  ])('asks nobody with the email "%s" and the password "%s"', async (typed, secret, state) => {
    const wizard = await arriveAtStatusOf(LIMITED);
    await wizard.send(
      { type: 'more.show' },
      { type: 'email.type', email: typed },
      { type: 'password.type', password: secret },
      { type: 'credentials.submit' },
    );
    expect(wizard.isAt(`${MORE}.signingIn.${state}`)).toBe(true);
    expect(wizard.asked('validate the account')).toEqual([]);
  });
});
