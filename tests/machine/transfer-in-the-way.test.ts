import { describe, expect, test } from 'vitest';
import type { CallFailureCode } from '../../src/contract/failure-code.ts';
import type { Event, Session } from '../../machines/wizard.types.ts';
import { transferInTheWay } from '../../src/portal/wording/message.ts';
import { ID, SESSIONS } from '../support/moves.ts';
import { MOVED, type Script } from '../support/owner-acts.ts';
import { arriveAt, refusal, type Wizard } from '../support/wizard.ts';

const EARLIER = '1'.repeat(32);
const ok = () => ({ ok: true });
const inTheWay = (error: CallFailureCode) => () => {
  throw Object.assign(new Error('in the way'), { error, transferId: ID });
};
const openIt = { type: 'transfer.open', id: ID } as const;
const contact = { type: 'contact.type', contact: 'sam@mail.example' } as const;

type Order = {
  readonly page: string;
  readonly call: 'create the account' | 'announce the migration' | 'start the transfer';
  readonly session: Session;
  readonly submit: readonly Event[];
};

const ORDERS = [
  {
    page: '/destination-account',
    call: 'create the account',
    session: SESSIONS.signedIn,
    submit: [{ type: 'move.press' }, { type: 'move.continue' }],
  },
  {
    page: '/start-migration',
    call: 'announce the migration',
    session: SESSIONS.moving,
    submit: [{ type: 'transfer.submit' }],
  },
  {
    page: '/start-migration',
    call: 'start the transfer',
    session: SESSIONS.moving,
    submit: [{ type: 'transfer.submit' }],
  },
] as const satisfies readonly Order[];

/** The page of an order, as it is before the order is submitted. */
async function arriveToOrder({ page, session }: Order, script: Script): Promise<Wizard> {
  Object.assign(script, { 'check the domain': () => ({ valid: true }), 'ask for the status': () => MOVED });
  const wizard = arriveAt(`/status?migration_id=${EARLIER}`, script, session);
  await wizard.wait(0);
  wizard.visit('/support-form');
  wizard.visit(page);
  if (page === '/start-migration') await wizard.send(contact);
  await wizard.wait(1_000);
  return wizard;
}

describe.each(ORDERS)('a transfer that stands in the way of "$call"', (order) => {
  const { page, call, submit } = order;
  const before: Script = call === 'start the transfer' ? { 'announce the migration': ok } : {};

  test('can be gone to, and nothing else is shown as its status', async () => {
    const script: Script = { ...before, [call]: inTheWay('MIGRATION_IN_PROGRESS') };
    const wizard = await arriveToOrder(order, script);
    await wizard.send(openIt);
    expect(wizard.address()).toBe(page);
    await wizard.send(...submit);
    expect(wizard.context().status).toBeNull();
    delete script['ask for the status'];
    await wizard.send(openIt);
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
    expect(wizard.context().status).toBeNull();
    expect(wizard.asked('ask for the status')).toEqual([{ id: EARLIER }, { id: ID }]);
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe(ID);
  });

  test.each([
    ['an answer limit', undefined],
    ['a refusal', refusal('GENERAL_ERROR')],
    ['a refused sign-in', refusal('INVALID_CREDENTIALS')],
    ['a refused San Bruno password', refusal('INVALID_CREDENTIALS', { side: 'source' })],
  ] as const)('is not offered after %s that names none', async (_, refused) => {
    const script: Script = { ...before, [call]: inTheWay('MIGRATION_IN_PROGRESS') };
    const wizard = await arriveToOrder(order, script);
    await wizard.send(...submit);
    expect(wizard.context().transferInTheWay).toEqual({ id: ID, isCompleted: false });
    if (refused === undefined) delete script[call];
    else script[call] = refused;
    await wizard.send(...submit);
    await wizard.wait(30_000);
    expect(wizard.context().transferInTheWay).toBeNull();
    await wizard.send(openIt);
    expect(wizard.address()).toBe(page);
  });
});

test.each([
  [
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
    true,
    'You can look at the transfer that brought your mail to Yahoo Mail.',
  ],
  [
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
    false,
    'Your other transfer is not finished yet. You can see how far along it is, and if it needs you.',
  ],
] as const)('a transfer in the way of another is told as what it is (%s)', async (error, isCompleted, text) => {
  const [order] = ORDERS;
  const script: Script = { [order.call]: inTheWay(error) };
  const wizard = await arriveToOrder(order, script);
  await wizard.send(...order.submit);
  expect(wizard.context().transferInTheWay).toEqual({ id: ID, isCompleted });
  const words = transferInTheWay[isCompleted ? 'completed' : 'running'];
  expect(words.text).toBe(text);
  expect(words.text.includes('not finished')).toBe(!isCompleted);
  await wizard.send(openIt);
  expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
});

test('a letter to support about an order does not name the transfer that was looked at before', async () => {
  const [, , order] = ORDERS;
  const script: Script = { 'announce the migration': ok, 'start the transfer': () => ({ jobid: ID }) };
  const wizard = await arriveToOrder(order, script);
  expect(wizard.context().typed.supportId).toBe(EARLIER);
  await wizard.send(...order.submit);
  wizard.visit('/support-form');
  expect(wizard.context().typed.supportId).toBe(ID);
});

test.each(['', '&guide=google'])('nor does one about the transfer whose page is visited next (%s)', async (guide) => {
  const wizard = arriveAt(`/status?migration_id=${EARLIER}`, {});
  wizard.visit('/support-form');
  wizard.visit(`/status?migration_id=${ID}${guide}`);
  wizard.visit('/support-form');
  expect(wizard.context().typed.supportId).toBe(ID);
});

describe('a transfer that is opened', () => {
  test.each([
    [`/complete?migration_id=${ID}`, SESSIONS.toOther],
    ['/status-from-email', SESSIONS.listing],
  ])('from %s does not show the status of another', async (page, session) => {
    const script: Script = {
      'ask for the status': () => MOVED,
      'list the transfers': () => ({ [ID]: '2025-11-01T00:00:00Z' }),
    };
    const wizard = arriveAt(`/status?migration_id=${EARLIER}`, script, session);
    await wizard.wait(0);
    wizard.visit('/support-form');
    wizard.visit(page);
    await wizard.wait(0);
    delete script['ask for the status'];
    await wizard.send(openIt);
    expect(wizard.address()).toBe(`/status?migration_id=${ID}`);
    expect(wizard.context().status).toBeNull();
    wizard.visit('/support-form');
    expect(wizard.context().typed.supportId).toBe(ID);
  });

  test('from the look-up shows at once what the look-up was told', async () => {
    const script: Script = { 'ask for the status': () => MOVED };
    const wizard = arriveAt('/', script);
    await wizard.send({ type: 'lookup.open' }, { type: 'transfer-id.type', id: ID });
    script['ask for the status'] = () => {
      delete script['ask for the status'];
      return MOVED;
    };
    await wizard.send({ type: 'lookup.submit' });
    expect(wizard.isAt('status.page.asking')).toBe(true);
    expect(wizard.context().status).toEqual(MOVED);
  });
});
