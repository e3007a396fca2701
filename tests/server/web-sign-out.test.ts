import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import type { SignIns } from '../../src/contract/calls/sign-ins.ts';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { STATUS_HEARTBEAT_MS } from '../../src/contract/transfer-status.ts';
import { isPage, isReturn, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser, fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const DAY_MS = 24 * 3_600_000;
const [HERE, THERE, ELSEWHERE] = ['a'.repeat(64), 'b'.repeat(64), 'c'.repeat(64)];
/** The present keys of these browsers: each sign-in gives them a new one. */
const keys = new Map<string, string>();
const inBrowser = (browser: string) => fromBrowser(keys.get(browser) ?? browser);

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'], environment: { ACCESS_END: '2099-01-01T00:00:00Z' } });
  for (const email of [ANN, BOB]) world.passwords.set(email, PASSWORD);
  if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  keys.clear();
  for (const table of ['limits', 'limit_slots', 'known_clients', 'transfers', 'sessions'])
    await world.database.query(`delete from ${table}`);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const signOut = (headers: Record<string, string>, body: object = {}) => world.post('/api/v2/sign-out/', body, headers);

async function signIn(browser: string, email = ANN): Promise<string> {
  const account = { email, password: PASSWORD, provider: 'sanbruno' };
  const { body, headers } = await world.post('/api/validate/', account, inBrowser(browser));
  const [, key = ''] = /^browser=([0-9a-f]{64});/.exec(headers.getSetCookie()[0] ?? '') ?? [];
  keys.set(browser, key);
  return (body as { token: string }).token;
}

const isGood = async (token: string) => (await world.post('/api/validate-token/', { token })).status === 200;

/** A transfer of Ann's mailbox, ordered by a browser that is neither of the two. */
async function transfer(headers = fromBrowser('d'.repeat(64)), email = ANN): Promise<string> {
  const order = {
    source_account: { email, password: PASSWORD, provider: 'sanbruno' },
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

test('a sign-in that was noted while the clock was ahead is over once that is put right', async () => {
  const id = await transfer();
  world.advance(30 * DAY_MS);
  const token = await signIn(HERE);
  const seen = async () => [await isGood(token), await seesAll(id, bearer(token)), await seesAll(id, inBrowser(HERE))];
  expect(await seen()).toEqual([true, true, true]);
  world.advance(-30 * DAY_MS);
  expect(await seen()).toEqual([false, false, false]);
  expect((await signOut(bearer(token), { everywhere: true })).status).toBe(401);
  expect((await world.get('/api/v2/sign-ins/', bearer(token))).status).toBe(401);
});

describe('signing out', () => {
  test('ends the bearer and what the cookie of that browser opens, and nobody else’s', async () => {
    const id = await transfer();
    const [mine, other] = [await signIn(HERE), await signIn(THERE)];
    expect([await seesAll(id, bearer(mine)), await seesAll(id, inBrowser(HERE))]).toEqual([true, true]);
    const answer = await signOut({ ...bearer(mine), ...inBrowser(HERE) });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect([await seesAll(id, bearer(mine)), await seesAll(id, inBrowser(HERE))]).toEqual([false, false]);
    for (const headers of [bearer(mine), inBrowser(HERE)]) {
      const stop = await world.post('/api/v2/transfers/cancel/', { job_id: id }, headers);
      expect(stop.body).toMatchObject({ error: 'INVALID_TOKEN' });
    }
    expect([await isGood(mine), await isGood(other)]).toEqual([false, true]);
    expect([await seesAll(id, bearer(other)), await seesAll(id, inBrowser(THERE))]).toEqual([true, true]);
  });

  test('ends a bearer that comes without the cookie, and a cookie that comes without the bearer', async () => {
    const id = await transfer();
    const first = await signIn(HERE);
    await signOut(bearer(first));
    expect([await isGood(first), await seesAll(id, inBrowser(HERE))]).toEqual([false, false]);
    const second = await signIn(HERE);
    await signOut(inBrowser(HERE));
    expect([await isGood(second), await seesAll(id, inBrowser(HERE))]).toEqual([false, false]);
  });

  test('leaves what the browser ordered its own, as decided', async () => {
    const id = await transfer(inBrowser(HERE));
    await signOut({ ...bearer(await signIn(HERE)), ...inBrowser(HERE) });
    expect([await seesAll(id, inBrowser(HERE)), await seesAll(id, inBrowser(THERE))]).toEqual([true, false]);
  });

  test('ends the list of transfers, and the use of a sign-in at a provider that no transfer has taken', async () => {
    const browser = new OauthBrowser(world);
    const list = await browser.until('/api/oauth-for-status/?provider=yahoo', isPage);
    const hash = list.searchParams.get('hash') ?? '';
    const back = await browser.until('/api/oauth/?provider=yahoo', isPage);
    const tokenId = back.searchParams.get('token_id') ?? '';
    const ask = () => world.post('/api/jobs-by-email/', { hash }, browser.headers);
    expect((await ask()).status).toBe(200);
    expect((await signOut(browser.headers)).status).toBe(200);
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

  test('gives the same answer to someone without a sign-in', async () => {
    for (const headers of [{}, bearer('x'), inBrowser(THERE), fromClient('198.51.100.9')])
      expect([(await signOut(headers)).status]).toEqual([200]);
  });

  test('is not done for a page of another site, nor for a form', async () => {
    const token = await signIn(HERE);
    const cookie = { ...bearer(token), ...inBrowser(HERE) };
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

describe('signing out everywhere', () => {
  const everywhere = { everywhere: true };
  const EXPORT_ORDER = {
    source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
    destination_account: { email: 'eve@mail.example', provider: 'file_export' },
    operations: ['emailmigration', 'contactsmigration'],
    parameters: {},
    file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
  };

  test('has a page that was left open elsewhere order nothing more with the password that it still has', async () => {
    const left = await signIn(THERE);
    await signOut(bearer(await signIn(HERE)), everywhere);
    const load = () => world.post('/api/load/', EXPORT_ORDER, { ...bearer(left), ...inBrowser(THERE) });
    for (const days of [0, 0.9]) {
      world.advance(days * DAY_MS);
      const { status, body } = await load();
      expect([status, body]).toMatchObject([401, { error: 'INVALID_TOKEN' }]);
    }
    expect(await world.database.query('select 1 from transfers')).toEqual([]);
    // Nor is a stranger with a token of any kind told that the mailbox was signed out of.
    const guess = { ...EXPORT_ORDER, source_account: { ...EXPORT_ORDER.source_account, password: 'a guess' } };
    const { body } = await world.post('/api/load/', guess, { ...bearer('0'.repeat(64)), ...inBrowser(THERE) });
    expect(body).toMatchObject({ error: 'INVALID_CREDENTIALS' });
    // Somebody else who signs in there does not let it order again.
    await signIn(THERE, BOB);
    expect((await load()).status).toBe(401);
    // Whoever signs in there again orders as before.
    const again = await signIn(THERE);
    await transfer({ ...bearer(again), ...inBrowser(THERE) });
    world.advance(-0.9 * DAY_MS);
  });

  test('has such a page create no Yahoo account either', async () => {
    const left = await signIn(THERE);
    await signOut(bearer(await signIn(HERE)), everywhere);
    const create = (token: string, password = PASSWORD) =>
      world.post('/api/v2/san-bruno-create-account/?in_qa=false', { email: ANN, password }, bearer(token));
    expect(await create(left)).toMatchObject({ status: 401, body: { error: 'INVALID_TOKEN' } });
    // Nor is a stranger told that the mailbox was signed out of.
    expect((await create(left, 'a guess')).body).toMatchObject({ error: 'INVALID_CREDENTIALS' });
    expect((await create(await signIn(THERE))).body).not.toMatchObject({ error: 'INVALID_TOKEN' });
  });

  test('has a page order nothing more whose sign-in another one had followed before', async () => {
    const [first] = [await signIn(THERE), await signIn(THERE)];
    await signOut(bearer(await signIn(HERE)), everywhere);
    const order = world.post('/api/load/', EXPORT_ORDER, { ...bearer(first), ...inBrowser(THERE) });
    expect(await order).toMatchObject({ status: 401, body: { error: 'INVALID_TOKEN' } });
  });

  test('ends the bearers and cookies of every browser that is signed in to the mailbox, and of no other mailbox', async () => {
    const id = await transfer();
    const [mine, lost, other] = [await signIn(HERE), await signIn(THERE), await signIn(ELSEWHERE, BOB)];
    world.logLines.length = 0;
    expect((await signOut({ ...bearer(mine), ...inBrowser(HERE) }, everywhere)).status).toBe(200);
    expect([await isGood(mine), await isGood(lost), await isGood(other)]).toEqual([false, false, true]);
    for (const headers of [bearer(lost), inBrowser(THERE), inBrowser(HERE)])
      expect(await seesAll(id, headers)).toBe(false);
    expect(world.logLines.filter((line) => line.includes('"security":"signed out everywhere"'))).toHaveLength(1);
  });

  test('ends the lists and the sign-ins at providers of those browsers', async () => {
    const lost = new OauthBrowser(world);
    const list = await lost.until('/api/oauth-for-status/?provider=yahoo', isPage);
    const hash = list.searchParams.get('hash') ?? '';
    const back = await lost.until('/api/oauth/?provider=yahoo', isPage);
    const tokenId = back.searchParams.get('token_id') ?? '';
    const begun = await lost.until('/api/oauth/?provider=yahoo', isReturn);
    const account = { email: ANN, password: PASSWORD, provider: 'sanbruno' };
    const signedIn = await world.post('/api/validate/', account, lost.headers);
    expect(signedIn.status).toBe(200);
    lost.keep(signedIn);
    const ask = () => world.post('/api/jobs-by-email/', { hash }, lost.headers);
    expect((await ask()).status).toBe(200);
    await signOut(bearer(await signIn(HERE)), everywhere);
    expect((await ask()).body).toMatchObject({ error: 'MIGRATION_ID_NOT_FOUND' });
    expect((await lost.until(begun.href, isPage)).searchParams.get('error')).toBe('EXTERNAL_OAUTH_ERROR');
    const load = {
      source_account: account,
      destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId },
      operations: ['emailmigration'],
      parameters: {},
    };
    expect((await world.post('/api/load/', load, lost.headers)).body).toMatchObject({ error: 'INVALID_CREDENTIALS' });
  });

  test('is shown by a cookie too, and leaves what each browser ordered its own', async () => {
    const id = await transfer(inBrowser(THERE));
    const [mine, lost] = [await signIn(HERE), await signIn(THERE)];
    expect((await signOut(inBrowser(HERE), everywhere)).status).toBe(200);
    expect([await isGood(mine), await isGood(lost)]).toEqual([false, false]);
    expect([await seesAll(id, inBrowser(THERE)), await seesAll(id, inBrowser(HERE))]).toEqual([true, false]);
  });

  test.each(['everywhere', 'there'] as const)(
    'ends a status page that another tab follows: signed out %s',
    async (where) => {
      const id = await transfer();
      const lost = { ...bearer(await signIn(THERE)), ...inBrowser(THERE) };
      const mine = bearer(await signIn(HERE));
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
      onTestFinished(() => void vi.useRealTimers());
      const followed = await fetch(`${world.url}/api/v2/status/events/?job_id=${id}`, { headers: inBrowser(THERE) });
      const watched = await fetch(`${world.url}/api/v2/status/events/?job_id=${id}`);
      const reader = (watched.body ?? new ReadableStream()).pipeThrough(new TextDecoderStream()).getReader();
      expect((await reader.read()).value).toContain('"limited":true');
      if (where === 'everywhere') await signOut(mine, everywhere);
      else await signOut(lost);
      vi.advanceTimersByTime(STATUS_HEARTBEAT_MS);
      const told = await followed.text();
      expect(told).toContain('event: end');
      expect(told).not.toContain('"limited":true');
      expect((await reader.read()).value, 'who saw numbers alone goes on').toContain('event: alive');
      await reader.cancel();
    },
  );

  test('ends the sign-ins to the mailbox that is named, where another tab has signed in to another one since', async () => {
    const lost = [await signIn(THERE), await signIn(ELSEWHERE, BOB)];
    const mine = bearer(await signIn(HERE));
    await signIn(HERE, BOB);
    const refused = await signOut({ ...mine, ...inBrowser(HERE) }, { ...everywhere, email: ANN });
    expect(refused.body).toMatchObject({ error: 'INVALID_TOKEN' });
    expect(await Promise.all(lost.map(isGood))).toEqual([true, true]);
    await signIn(HERE);
    expect((await signOut(inBrowser(HERE), { ...everywhere, email: ANN })).status).toBe(200);
    expect(await Promise.all(lost.map(isGood))).toEqual([false, true]);
  });

  test('is refused to someone who is not, or no longer, signed in to a mailbox', async () => {
    const lost = await signIn(THERE);
    for (const headers of [{}, bearer('x'), fromBrowser('e'.repeat(64))])
      expect((await signOut(headers, everywhere)).body).toMatchObject({ error: 'INVALID_TOKEN' });
    expect(await isGood(lost)).toBe(true);
    world.advance(25 * 3_600_000);
    const mine = await signIn(HERE);
    expect((await signOut(bearer(lost), everywhere)).body).toMatchObject({ error: 'INVALID_TOKEN' });
    expect(await isGood(mine)).toBe(true);
    world.advance(-25 * 3_600_000);
  });
});

const listFor = async (headers: Record<string, string>) => {
  const { status, body } = await world.get('/api/v2/sign-ins/', headers);
  expect(status).toBe(200);
  return (body as { others: SignIns }).others;
};

describe('the list of sign-ins', () => {
  test('tells when the other browsers of the mailbox signed in and were last used, and nothing else', async () => {
    const mine = await signIn(HERE);
    expect(await listFor(bearer(mine))).toEqual([]);
    const began = Date.now();
    const lost = await signIn(THERE);
    await signIn(ELSEWHERE, BOB);
    world.advance(2 * 3_600_000);
    expect(await isGood(lost)).toBe(true);
    world.advance(3_600_000);
    for (const headers of [bearer(mine), inBrowser(HERE)]) {
      const [other, ...more] = await listFor(headers);
      expect([Object.keys(other ?? {}), more]).toEqual([['began', 'used'], []]);
      expect(Math.abs(Date.parse(other?.began ?? '') - began)).toBeLessThan(120_000);
      expect(Math.abs(Date.parse(other?.used ?? '') - began - 2 * 3_600_000)).toBeLessThan(120_000);
    }
    await signOut(bearer(lost));
    expect(await listFor(bearer(mine))).toEqual([]);
    world.advance(-3 * 3_600_000);
  });

  test('is refused to someone who is not signed in to a mailbox', async () => {
    await signIn(THERE);
    for (const headers of [{}, bearer('x'), fromBrowser('e'.repeat(64))])
      expect((await world.get('/api/v2/sign-ins/', headers)).body).toMatchObject({ error: 'INVALID_TOKEN' });
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
    expect([await isGood(second), await seesAll(id, inBrowser(HERE))]).toEqual([false, false]);
  });

  test('gives the browser a new key, so that whoever knew the former one gets nothing by it', async () => {
    const [ordered, ofAnother] = [await transfer(inBrowser(HERE), BOB), await transfer()];
    await signIn(HERE);
    const [former, present] = [fromBrowser(HERE), inBrowser(HERE)];
    expect(present).not.toEqual(former);
    expect(await seesAll(ofAnother, present)).toBe(true);
    expect(await seesAll(ofAnother, former), 'by the sign-in').toBe(false);
    const orderedSince = await transfer(present);
    await world.database.query('delete from sessions');
    expect(await seesAll(orderedSince, former), 'ordered after it').toBe(false);
    for (const id of [ordered, orderedSince]) expect(await seesAll(id, present)).toBe(true);
    expect(await seesAll(ordered, former), 'a page of that browser that has asked already').toBe(true);
  });

  test('gives the new key alone what was got at a provider, and what was begun there', async () => {
    const browser = new OauthBrowser(world);
    const list = await browser.until('/api/oauth-for-status/?provider=yahoo', isPage);
    const begun = await browser.until('/api/oauth/?provider=yahoo', isReturn);
    const hash = list.searchParams.get('hash') ?? '';
    const former = browser.headers;
    browser.keep(await world.post('/api/validate/', { email: ANN, password: PASSWORD, provider: 'sanbruno' }, former));
    const ask = async (headers: Record<string, string>) =>
      (await world.post('/api/jobs-by-email/', { hash }, headers)).status;
    expect([await ask(browser.headers), await ask(former)]).toEqual([200, 404]);
    expect((await browser.until(begun.href, isPage)).searchParams.has('token_id')).toBe(true);
  });

  test('to a mailbox elsewhere gives no bearer, and ends none', async () => {
    const token = await signIn(HERE);
    const elsewhere = { email: 'bob@mail.example', password: PASSWORD, provider: 'other', imap: world.trustedImap };
    world.passwords.set(elsewhere.email, PASSWORD);
    const { body } = await world.post('/api/validate/', elsewhere, inBrowser(HERE));
    expect(body).toEqual({ ok: true });
    expect(await isGood(token)).toBe(true);
  });

  test('that is refused ends nothing', async () => {
    const token = await signIn(HERE);
    const guess = { email: ANN, password: 'guess', provider: 'sanbruno' };
    expect((await world.post('/api/validate/', guess, inBrowser(HERE))).status).toBe(401);
    expect(await isGood(token)).toBe(true);
  });
});
