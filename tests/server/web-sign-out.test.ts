import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser, fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const [HERE, THERE] = ['a'.repeat(64), 'b'.repeat(64)];

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'], environment: { ACCESS_END: '2099-01-01T00:00:00Z' } });
  for (const email of [ANN, BOB]) world.passwords.set(email, PASSWORD);
  if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'known_clients', 'transfers', 'sessions'])
    await world.database.query(`delete from ${table}`);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const signOut = (headers: Record<string, string>, body: object = {}) => world.post('/api/v2/sign-out/', body, headers);

async function signIn(browser: string, email = ANN): Promise<string> {
  const account = { email, password: PASSWORD, provider: 'sanbruno' };
  const { body } = await world.post('/api/validate/', account, fromBrowser(browser));
  return (body as { token: string }).token;
}

const isGood = async (token: string) => (await world.post('/api/validate-token/', { token })).status === 200;

/** A transfer of Ann's mailbox, ordered by a browser that is neither of the two. */
async function transfer(headers = fromBrowser('d'.repeat(64))): Promise<string> {
  const order = {
    source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
    destination_account: { email: 'ann@mail.example', provider: 'file_export' },
    operations: ['emailmigration', 'contactsmigration'],
    parameters: {},
    file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
  };
  const { status, body } = await world.post('/api/load/', order, headers);
  expect(status).toBe(200);
  return (body as { jobid: string }).jobid;
}
async function seesAll(id: string, headers: Record<string, string>): Promise<boolean> {
  const { status, body } = await world.get(`/api/v2/status/?job_id=${id}`, headers);
  expect(status).toBe(200);
  return (body as TransferStatus).limited === undefined;
}

describe('signing out', () => {
  test('ends the bearer and what the cookie of that browser opens, and nobody else’s', async () => {
    const id = await transfer();
    const [mine, other] = [await signIn(HERE), await signIn(THERE)];
    expect([await seesAll(id, bearer(mine)), await seesAll(id, fromBrowser(HERE))]).toEqual([true, true]);
    const answer = await signOut({ ...bearer(mine), ...fromBrowser(HERE) });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect([await seesAll(id, bearer(mine)), await seesAll(id, fromBrowser(HERE))]).toEqual([false, false]);
    for (const headers of [bearer(mine), fromBrowser(HERE)]) {
      const stop = await world.post('/api/v2/transfers/cancel/', { job_id: id }, headers);
      expect(stop.body).toMatchObject({ error: 'INVALID_TOKEN' });
    }
    expect([await isGood(mine), await isGood(other)]).toEqual([false, true]);
    expect([await seesAll(id, bearer(other)), await seesAll(id, fromBrowser(THERE))]).toEqual([true, true]);
  });

  test('ends a bearer that comes without the cookie, and a cookie that comes without the bearer', async () => {
    const id = await transfer();
    const first = await signIn(HERE);
    await signOut(bearer(first));
    expect([await isGood(first), await seesAll(id, fromBrowser(HERE))]).toEqual([false, false]);
    const second = await signIn(HERE);
    await signOut(fromBrowser(HERE));
    expect([await isGood(second), await seesAll(id, fromBrowser(HERE))]).toEqual([false, false]);
  });

  test('leaves what the browser ordered its own, as decided', async () => {
    const id = await transfer(fromBrowser(HERE));
    await signOut({ ...bearer(await signIn(HERE)), ...fromBrowser(HERE) });
    expect([await seesAll(id, fromBrowser(HERE)), await seesAll(id, fromBrowser(THERE))]).toEqual([true, false]);
  });

  test('ends the list of transfers, and the use of a sign-in at a provider that no transfer has taken', async () => {
    const browser = new OauthBrowser(world);
    const list = await browser.until('/api/oauth-for-status/?provider=yahoo', isPage);
    const hash = list.searchParams.get('hash') ?? '';
    const back = await browser.until('/api/oauth/?provider=yahoo', isPage);
    const tokenId = back.searchParams.get('token_id') ?? '';
    const ask = () => world.post('/api/jobs-by-email/', { hash }, browser.headers);
    expect((await ask()).status).toBe(200);
    expect((await signOut(browser.headers, { hash })).status).toBe(200);
    expect((await ask()).body).toMatchObject({ error: 'MIGRATION_ID_NOT_FOUND' });
    const load = {
      source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
      destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId },
      operations: ['emailmigration'],
      parameters: {},
    };
    expect((await world.post('/api/load/', load, browser.headers)).body).toMatchObject({
      error: 'INVALID_CREDENTIALS',
    });
  });

  test('leaves a transfer the sign-in that it was ordered with', async () => {
    const browser = new OauthBrowser(world);
    const back = await browser.until('/api/oauth/?provider=yahoo', isPage);
    const tokenId = back.searchParams.get('token_id') ?? '';
    const load = {
      source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
      destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId },
      operations: ['emailmigration'],
      parameters: {},
    };
    expect((await world.post('/api/load/', load, browser.headers)).status).toBe(200);
    await signOut(browser.headers);
    expect(await world.services.tokens.accessToken(tokenId)).toMatch(/\S/);
  });

  test('answers who has no sign-in the same', async () => {
    for (const headers of [{}, bearer('x'), fromBrowser(THERE), fromClient('198.51.100.9')])
      expect([(await signOut(headers)).status]).toEqual([200]);
  });

  test('is not done for a page of another site, nor for a form', async () => {
    const token = await signIn(HERE);
    const cookie = { ...bearer(token), ...fromBrowser(HERE) };
    expect((await signOut({ ...cookie, origin: 'https://evil.example' })).status).toBe(403);
    expect((await signOut({ ...cookie, 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    expect((await signOut({ ...cookie, 'content-type': 'text/plain' })).status).toBe(415);
    expect(await isGood(token)).toBe(true);
  });

  test('is a line of the security log, without the bearer', async () => {
    const token = await signIn(HERE);
    world.logLines.length = 0;
    await signOut(bearer(token));
    const lines = world.logLines.filter((line) => line.includes('"security":"signed out"'));
    expect(lines).toHaveLength(1);
    expect(world.logLines.join('')).not.toContain(token);
  });
});

describe('a sign-in', () => {
  test('gives a new bearer, and ends the earlier ones of that browser', async () => {
    const id = await transfer();
    const [first, elsewhere] = [await signIn(HERE), await signIn(THERE)];
    const second = await signIn(HERE);
    expect(second).not.toBe(first);
    expect([await isGood(first), await isGood(second), await isGood(elsewhere)]).toEqual([false, true, true]);
    await signIn(HERE, BOB);
    expect([await isGood(second), await seesAll(id, fromBrowser(HERE))]).toEqual([false, false]);
  });

  test('to a mailbox elsewhere gives no bearer, and ends none', async () => {
    const token = await signIn(HERE);
    const elsewhere = { email: BOB, password: PASSWORD, provider: 'other', imap: world.trustedImap };
    const { body } = await world.post('/api/validate/', elsewhere, fromBrowser(HERE));
    expect(body).toEqual({ ok: true });
    expect(await isGood(token)).toBe(true);
  });

  test('that is refused ends nothing', async () => {
    const token = await signIn(HERE);
    const guess = { email: ANN, password: 'guess', provider: 'sanbruno' };
    expect((await world.post('/api/validate/', guess, fromBrowser(HERE))).status).toBe(401);
    expect(await isGood(token)).toBe(true);
  });
});
