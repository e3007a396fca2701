import { expect, test } from 'vitest';
import { ID, SESSIONS } from '../support/moves.ts';
import { arriveAt, codesBut, refusal } from '../support/wizard.ts';

const MODAL = 'home.page.lookingUp';
const RUNNING = { emailmigration: { status: 'inprogress' } };
const submit = { type: 'lookup.submit' } as const;
const typed = (id: string) => ({ type: 'transfer-id.type', id }) as const;

async function modalOpen(script: Parameters<typeof arriveAt>[1] = {}) {
  const wizard = arriveAt('/', script);
  await wizard.send({ type: 'lookup.open' });
  return wizard;
}

test('a transfer that is found by its ID is shown on the status page', async () => {
  const wizard = await modalOpen({ 'ask for the status': () => RUNNING });
  await wizard.send(typed(` ${ID.toUpperCase()} `), submit);
  expect(wizard.asked('ask for the status')[0]).toEqual({ id: ID });
  expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
});

test.each([
  ['spaces', ID.replaceAll(/(.{4})/g, '$1 ')],
  ['hyphens', `${ID.slice(0, 16)}-${ID.slice(16)}`],
  ['dashes and lines', `${ID.slice(0, 16)} \u2013\n${ID.slice(16)}`],
])('an ID with %s in it, as it was read out or copied from paper, is asked for without', async (_, id) => {
  const wizard = await modalOpen();
  await wizard.send(typed(id), submit);
  expect(wizard.asked('ask for the status')).toEqual([{ id: ID }]);
});

test.each([
  ['line', `Transfer ID: ${ID}`],
  ['row', `Transfer ID\t${ID}`],
  ['sentence', `My transfer ID is “${ID}”.`],
  ['link', `https://transfer.sanbrunocable.example/status?migration_id=${ID}`],
  ['link to a guide', `https://transfer.sanbrunocable.example/status?migration_id=${ID}&guide=yahoo`],
])('the ID in a %s that was copied from a letter is asked for', async (_, text) => {
  const wizard = await modalOpen();
  await wizard.send(typed(text), submit);
  expect(wizard.asked('ask for the status')).toEqual([{ id: ID }]);
});

test.each(['', 'short', ID.slice(1), `${ID}0`, `${ID.slice(1)}-`, `${ID.slice(1)}é`])(
  'the ID "%s" has not exactly 32 letters and digits, and is invalid without a call',
  async (id) => {
    const wizard = await modalOpen();
    await wizard.send(typed(id), submit);
    expect(wizard.isAt(`${MODAL}.notFound`)).toBe(true);
    await wizard.send(submit);
    expect(wizard.isAt(`${MODAL}.notFound`)).toBe(true);
    expect(wizard.asked('ask for the status')).toEqual([]);
  },
);

test('32 letters and digits of any kind are asked for', async () => {
  const wizard = await modalOpen();
  await wizard.send(typed('Z'.repeat(32)), submit);
  expect(wizard.asked('ask for the status')).toEqual([{ id: 'z'.repeat(32) }]);
});

test('an ID that nobody knows is invalid, until another is typed', async () => {
  const wizard = await modalOpen({ 'ask for the status': refusal('MIGRATION_ID_NOT_FOUND') });
  await wizard.send(typed(ID), submit);
  expect(wizard.isAt(`${MODAL}.notFound`)).toBe(true);
  await wizard.send(submit);
  expect(wizard.asked('ask for the status')).toHaveLength(2);
  await wizard.send(typed(ID));
  expect(wizard.isAt(`${MODAL}.editing`)).toBe(true);
});

test.each(codesBut('MIGRATION_ID_NOT_FOUND', 'UNAVAILABLE'))(
  'a look-up that fails with %s is an unknown error, and can be tried again',
  async (code) => {
    const wizard = await modalOpen({ 'ask for the status': refusal(code) });
    await wizard.send(typed(ID), submit);
    expect(wizard.isAt(`${MODAL}.failed`)).toBe(true);
    await wizard.send(submit);
    expect(wizard.asked('ask for the status')).toHaveLength(2);
  },
);

test('a look-up is slow after 10 s and an unknown error after 30 s', async () => {
  const wizard = await modalOpen();
  await wizard.send(typed(ID), submit);
  await wizard.wait(10_000);
  expect(wizard.has('slow')).toBe(true);
  await wizard.wait(19_999);
  expect(wizard.isAt(`${MODAL}.asking`)).toBe(true);
  await wizard.wait(1);
  expect(wizard.isAt(`${MODAL}.failed`)).toBe(true);
});

test.each(['call.retry', 'connection.return'] as const)(
  'a portal that is unavailable at the look-up goes on by %s',
  async (type) => {
    const script: Parameters<typeof arriveAt>[1] = { 'ask for the status': refusal('UNAVAILABLE') };
    const wizard = await modalOpen(script);
    await wizard.send(typed(ID), submit);
    expect(wizard.has('unavailable')).toBe(true);
    script['ask for the status'] = () => RUNNING;
    await wizard.send({ type });
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
  },
);

test('an ID that is being looked up cannot be typed over, nor sent twice', async () => {
  const wizard = await modalOpen();
  await wizard.send(typed(ID), submit, typed('short'), submit);
  expect(wizard.context().typed.transferId).toBe(ID);
  expect(wizard.asked('ask for the status')).toHaveLength(1);
});

test('the status modal closes, and opens empty', async () => {
  const wizard = await modalOpen();
  await wizard.send(typed(ID), { type: 'modal.close' });
  expect(wizard.isAt('home.page.resting')).toBe(true);
  await wizard.send({ type: 'lookup.open' });
  expect(wizard.context().typed.transferId).toBe('');
});

test.each(['google', 'yahoo', 'office365', 'aol'] as const)(
  'without an ID the visitor leaves for a sign-in at %s that lists the transfers',
  async (provider) => {
    const wizard = await modalOpen();
    await wizard.send({ type: 'lookup.sign-in', provider });
    expect(wizard.left).toEqual([`/api/oauth-for-status/?provider=${provider}`]);
    await wizard.send({ type: 'page.return' });
    expect(wizard.address()).toBe('/');
  },
);

test('a transfer that is opened from the list is shown on the status page', async () => {
  const wizard = arriveAt(
    '/status-from-email',
    { 'list the transfers': () => ({ [ID]: '2025-11-01T00:00:00Z' }) },
    SESSIONS.listing,
  );
  await wizard.wait(0);
  await wizard.send({ type: 'transfer.open', id: ID });
  expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
});
