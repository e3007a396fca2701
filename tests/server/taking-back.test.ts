import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Database } from '../../src/server/store/database.ts';
import { openSharedSafe } from '../../src/server/store/safe.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { credentialsIfAny, type Secret } from '../../src/server/transfers/credentials.ts';
import { LeaseLost, takeEndedTransfer } from '../../src/server/transfers/lease.ts';
import {
  beginTakeBack,
  endTakeBack,
  orderTakeBack,
  takingBack,
  wouldBeCopiedAgain,
} from '../../src/server/transfers/taking-back.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { orderedMail } from '../support/ordered-mail.ts';
import { storedTransfer } from '../support/stored-transfer.ts';

const safe = openSharedSafe(openVault(Buffer.alloc(32, 1)));
const refuse = () => Promise.reject(new Error('Another order would copy it again.'));
const password = (text: string): Secret => ({ kind: 'password', password: text });

let database: Database;
let transfers = 0;
beforeAll(async () => {
  database = await openTestDatabase(FRESH);
});
afterAll(() => database[Symbol.asyncDispose]());

async function ended(source?: string): Promise<string> {
  transfers += 1;
  const id = await orderedMail(database, transfers, source);
  await database.query('update transfers set finished = now() where id = $1', [id]);
  return id;
}

function ordering() {
  const done: string[] = [];
  const queue = {
    sendTakeBack: async () => {
      done.push('sent');
    },
    announce: async (_id: string, kind: string, { occurrence }: { occurrence: string }) => {
      done.push(`${kind} ${occurrence}`);
    },
  };
  const tokens = {
    expire: async (id: string) => {
      done.push(`expired ${id}`);
    },
    forget: async (id: string) => {
      done.push(`forgot ${id}`);
    },
  };
  const services = { database, safe, queue, tokens };
  const order = async (id: string, secret: Secret, admit = async () => {}) =>
    orderTakeBack(services, await storedTransfer(database, id), secret, admit);
  const secretOf = (id: string) => credentialsIfAny(database, safe, id, 'destination');
  return { done, services, order, secretOf };
}

async function taken(id: string) {
  const taking = await takeEndedTransfer(database, id, 0);
  if (taking === null || !('lease' in taking)) throw new Error('It is not to be had.');
  return taking.lease;
}

test('a take-back that is not admitted after all is not ordered', async () => {
  const { done, order, secretOf } = ordering();
  const id = await ended();
  await expect(order(id, password('one'), refuse)).rejects.toThrow('Another order');
  expect([await takingBack(database, id), await secretOf(id), done]).toEqual([false, null, []]);
});

test('a take-back that is under way is not ordered once more, and keeps its sign-in and its tries', async () => {
  const { done, order, secretOf } = ordering();
  const id = await ended();
  expect(await order(id, password('one'))).toBe(true);
  await beginTakeBack(database, id);
  expect(await order(id, password('two'))).toBe(false);
  expect([await takingBack(database, id), await secretOf(id), done]).toEqual([true, password('one'), ['sent']]);
  expect(await beginTakeBack(database, id)).toBe(2);
});

test('a take-back is ended by the worker that has it, once for each order, and its sign-in forgotten', async () => {
  const { done, services, order, secretOf } = ordering();
  const id = await ended();
  await order(id, { kind: 'token', tokenId: 'a'.repeat(32) });
  const older = await taken(id);
  await database.query('update transfers set leased_until = null where id = $1', [id]);
  const lease = await taken(id);
  await expect(endTakeBack(services, older, 'It failed.')).rejects.toThrow(LeaseLost);
  expect([await takingBack(database, id), await secretOf(id)]).toMatchObject([true, { kind: 'token' }]);
  done.length = 0;
  await endTakeBack(services, lease, 'It failed.');
  expect([await takingBack(database, id), await secretOf(id)]).toEqual([false, null]);
  const [first = '', ...others] = done;
  expect(first).toMatch(/^taken back \d+$/);
  expect(others).toEqual([`expired ${'a'.repeat(32)}`, `forgot ${'a'.repeat(32)}`]);

  // Another order begins anew, and is announced anew.
  await beginTakeBack(database, id);
  expect(await order(id, password('two'))).toBe(true);
  expect(await database.query('select remark, idle_runs from take_backs where transfer_id = $1', [id])).toEqual([
    { remark: null, idle_runs: 0 },
  ]);
  done.length = 0;
  await database.query('update transfers set leased_until = null where id = $1', [id]);
  await endTakeBack(services, await taken(id), null);
  expect(done[0]).toMatch(/^taken back \d+$/);
  expect(done[0]).not.toBe(first);
});

test('an order between the same mailboxes that is not over would copy again what is taken back', async () => {
  const source = 'twice@b.example';
  const [id, other] = [await ended(source), await ended(source)];
  expect(await wouldBeCopiedAgain(database, id)).toBe(false);
  await database.query('update transfers set finished = null where id = $1', [other]);
  expect(await wouldBeCopiedAgain(database, id)).toBe(true);
  // A daily’s run is stopped when the take-back is ordered.
  await database.query('update transfers set by_itself = true where id = $1', [other]);
  expect(await wouldBeCopiedAgain(database, id)).toBe(false);
});

test('nothing is taken back of what has not ended', async () => {
  const { order } = ordering();
  const id = await ended();
  await order(id, password('one'));
  await database.query('update transfers set finished = null where id = $1', [id]);
  expect(await takingBack(database, id)).toBeNull();
});
