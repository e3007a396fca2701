import { connect } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openLog } from '../../src/server/log.ts';
import { openedAt, tellOfOrphans } from '../../src/server/worker/mail.runner.ts';
import { mailErrorOf } from '../../src/server/mail/imap/mail-error.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { fromBrowser, LEGACY_DOMAIN, openWebWorld, signedInBy, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const BROWSER = 'b'.repeat(64);

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'] });
  world.passwords.set(ANN, PASSWORD);
  if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'known_clients', 'transfers'])
    await world.database.query(`delete from ${table}`);
  world.logLines.length = 0;
});

type Line = Readonly<Record<string, string>>;
const lines = () => world.logLines.map((line) => JSON.parse(line) as Line);
const security = () => lines().filter(({ log }) => log === 'security');

describe('the security log', () => {
  test('has each call that is refused for who makes it, or for how it is made', async () => {
    await world.post('/api/validate-token/', { token: 'f'.repeat(64) });
    await world.post('/api/v2/san-bruno-set-migration-started/', { email: ANN });
    await world.post('/api/capabilities/', { email: ANN }, { origin: 'https://evil.example' });
    await world.post('/api/capabilities/', '{');
    await world.post('/api/capabilities/', 'email=a', { 'content-type': 'text/plain' });
    await world.post('/api/capabilities/', JSON.stringify({ email: 'x'.repeat(70_000) }));
    const tokenId = await world.services.tokens.store(
      { email: ANN, provider: 'yahoo', browser: signedInBy(world, BROWSER) },
      { access: 'access', refresh: 'refresh', expiresIn: 3600 },
    );
    await world.post(
      '/api/load/',
      {
        source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
        destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId },
        operations: ['emailmigration'],
        parameters: {},
      },
      fromBrowser('c'.repeat(64)),
    );
    expect(security().map(({ security: event, what }) => [event, what])).toEqual([
      ['call refused: not the owner', '/api/validate-token/'],
      ['call refused: not the owner', '/api/v2/san-bruno-set-migration-started/'],
      ['call refused: from another site', '/api/capabilities/'],
      ['call refused: malformed', '/api/capabilities/'],
      ['call refused: malformed', '/api/capabilities/'],
      ['call refused: malformed', '/api/capabilities/'],
      ['sign-in accepted', 'sanbruno'],
      ['call refused: not the owner', '/api/load/'],
    ]);
  });

  test('has each sign-in at a provider, accepted or refused', async () => {
    await new OauthBrowser(world).until('/api/oauth/?provider=yahoo', isPage);
    await world.get('/api/oauth/callback/yahoo/?state=x&code=code-canary');
    expect(security().map(({ security: event, what }) => [event, what])).toEqual([
      ['consent accepted', 'yahoo'],
      ['consent refused', 'yahoo: EXTERNAL_OAUTH_ERROR'],
    ]);
    expect(world.logLines.join('')).not.toMatch(/code-canary|ann@/);
  });

  test('says in each line when, in UTC, what, and by whom, as one JSON object', async () => {
    await world.post('/api/validate/', { email: ANN, password: 'guess', provider: 'sanbruno' });
    const [line] = security();
    expect(line).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      log: 'security',
      security: 'sign-in refused',
      mailbox: expect.stringMatching(/^[0-9a-f]{16}$/),
      client: expect.stringMatching(/^[0-9a-f]{16}$/),
      what: 'sanbruno',
    });
    expect(Math.abs(Date.parse(line?.['time'] ?? '') - Date.now())).toBeLessThan(60_000);
  });
});

test('nothing that a stranger sends begins a line of the log, or passes for one', async () => {
  const forged = '\n{"level":30,"log":"security","security":"sign-in accepted","mailbox":"forged"}\n';
  const encoded = encodeURIComponent(forged);
  await world.get(`/api/${encoded}`, { 'user-agent': '{"security":"forged"}' });
  await world.get(`/api/oauth/?provider=${encoded}`);
  await world.get(`/api/oauth/callback/${encoded}/?state=${encoded}&error=${encoded}&error_description=${encoded}`);
  await world.get(`/api/status/?job_id=${encoded}`);
  await world.post('/api/validate/', { email: `${forged}@${LEGACY_DOMAIN}`, password: forged, provider: forged });
  await world.post('/api/validate/', { email: ANN, password: forged, provider: 'sanbruno' });
  const socket = connect(Number(new URL(world.url).port), '127.0.0.1');
  socket.resume().write(`GET /${'x'.repeat(20)}\r${forged} HTTP/1.1\r\n\r\n`);
  await once(socket, 'close');
  expect(world.logLines.length).toBeGreaterThan(4);
  for (const line of world.logLines) expect(line.trimEnd().split('\n')).toHaveLength(1);
  expect(security().filter(({ mailbox }) => mailbox === 'forged')).toEqual([]);
  expect(world.logLines.join('')).not.toContain('forged');
});

test('nothing that an error says is in the log, whatever lines it says', () => {
  const written: string[] = [];
  const log = openLog('info', { write: (line) => void written.push(line) });
  log.error({ err: new Error(`550-no\n    at ${ANN}\n    at file:///${PASSWORD}`) }, 'a letter was not sent');
  expect(written.join('')).not.toMatch(new RegExp(`${ANN}|${PASSWORD}`));
  expect(JSON.parse(written[0] ?? '')).toMatchObject({
    err: { name: 'Error', at: expect.arrayContaining([expect.stringContaining('logs.test.ts')]) as string[] },
  });
});

test('of messages that were left behind the log names the transfer and the mailbox by number, and not by its name, in one line', () => {
  const written: string[] = [];
  const log = openLog('info', { write: (line) => void written.push(line) });
  const paths = { sourcePath: `Letters to ${ANN}`, destinationPath: `INBOX/Letters to ${ANN}` };
  tellOfOrphans(log, 'c'.repeat(32))({ id: 7, sourceUidValidity: 1n, ...paths }, { uids: [12, 13], unsaid: 2 });
  const left = { mailbox: 7, uids: [12, 13], unsaid: 2 };
  expect(JSON.parse(written.join(''))).toMatchObject({ level: 50, transferId: 'c'.repeat(32), ...left });
  expect(written.join('')).not.toContain('Letters');
});

test('of a mail server the log says what is wrong, whose it is and the code of the connection, and not what it said', async () => {
  const written: string[] = [];
  const log = openLog('info', { write: (line) => void written.push(line) });
  const refused = Object.assign(new Error(`connect ${ANN}`), { code: 'ECONNREFUSED' });
  const said = Object.assign(new Error(ANN), { code: ANN, serverResponseCode: 'LIMIT', responseText: ANN });
  for (const raw of [refused, said]) {
    const error: unknown = await openedAt('source', () => Promise.reject(mailErrorOf(raw))).catch((thrown) => thrown);
    log.warn({ err: error }, 'a step is tried again later');
  }
  const server = { name: 'MailError', account: 'source', at: expect.any(Array) as string[] };
  expect(written.map((line) => (JSON.parse(line) as { err: unknown }).err)).toEqual([
    { ...server, fault: 'unreachable', cause: 'ECONNREFUSED' },
    { ...server, fault: 'busy' },
  ]);
  expect(written.join('')).not.toContain(ANN);
});
