import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OauthProvider } from '../../src/contract/provider.ts';
import { SETTING_NAMES } from '../../src/contract/settings/variables.ts';
import { BROWSERS_AT_MOST } from '../../src/server/transfers/owners.ts';
import { CONSENT_WITHIN_MS } from '../../src/server/oauth/transactions.ts';
import { STATUS_HASH_MS } from '../../src/server/oauth/status-hashes.ts';
import { CALL_WITHIN_MS } from '../../src/server/web/app.ts';
import { EXPORTS_AT_ONCE } from '../../src/server/web/calls/load.ts';
import {
  STREAMS_AT_MOST,
  STREAMS_PER_CLIENT,
  STREAMS_PER_WIDER_NETWORK,
} from '../../src/server/web/calls/status-events.ts';
import { BODY_LIMIT_OCTETS } from '../../src/server/web/guards.ts';
import { CLOCKS_APART_MS, LIMITS } from '../../src/server/web/limits.ts';
import { openApi } from '../../src/server/web/openapi.ts';
import { SIGN_IN_WITHIN_MS } from '../../src/server/web/proof.ts';
import { SESSION_MS } from '../../src/server/web/sessions.ts';
import { DOWNLOADS_AT_ONCE } from '../../src/server/web/downloads.ts';
import { RECEIPTS_AT_ONCE } from '../../src/server/web/receipts.ts';
import { SOCKETS_AT_MOST, SOCKETS_PER_NETWORK, SOCKETS_PER_WIDER_NETWORK } from '../../src/server/web/sockets.ts';
import { DOWNLOAD_RESTS_MS, STANDS_STILL_MS, UNANSWERED_PER_SOCKET } from '../../src/server/web/bounded-server.ts';
import { LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ROOT = join(import.meta.dirname, '../..');
const DOCUMENT = readFileSync(join(ROOT, 'src/server/SECURITY.md'), 'utf8');

function sectionOf(title: string): string {
  const section = DOCUMENT.split(/^## /m).find((part) => part.startsWith(`${title}\n`));
  if (section === undefined) throw new Error(`SECURITY.md has no section "${title}".`);
  return section;
}

/** The cells of a section's tables, without heads. */
function rowsOf(title: string): string[][] {
  const rows = sectionOf(title)
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    );
  return rows.slice(rows.findIndex(([first = '']) => /^-+$/.test(first)) + 1);
}

const codesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
const sorted = (texts: Iterable<string>) => [...texts].toSorted((a, b) => a.localeCompare(b));

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('SECURITY.md', () => {
  test('tells every limit with its numbers, and no other', () => {
    expect(rowsOf('Limits')).toEqual(
      Object.entries(LIMITS).map(([name, { burst, everySeconds }]) => [name, String(burst), `${everySeconds} s`]),
    );
    for (const said of [
      `ahead by more than ${CLOCKS_APART_MS / 1000} s is forgotten`,
      `${EXPORTS_AT_ONCE} exports of a mailbox`,
      `${SOCKETS_PER_NETWORK} connections of a network, ${SOCKETS_PER_WIDER_NETWORK} of its neighbourhood (/24, /48) and ${SOCKETS_AT_MOST} in all`,
      `${UNANSWERED_PER_SOCKET} requests of a connection that wait`,
      `${STANDS_STILL_MS / 1000} s in which nothing moves on a connection (${DOWNLOAD_RESTS_MS / 1000} s for a download`,
      `${STREAMS_PER_CLIENT} streams of a client, ${STREAMS_PER_WIDER_NETWORK} of its neighbourhood and ${STREAMS_AT_MOST} in all`,
      `${DOWNLOADS_AT_ONCE} downloads of an export at once`,
      `${RECEIPTS_AT_ONCE} receipts of a transfer at once`,
      `${BROWSERS_AT_MOST} browsers that ordered a transfer`,
      `${BODY_LIMIT_OCTETS} octets`,
      `after ${SIGN_IN_WITHIN_MS / 1000} s and a call after ${CALL_WITHIN_MS / 1000} s`,
    ])
      expect(sectionOf('Limits')).toContain(said);
  });

  test('tells who may make each call, and of no other', () => {
    const { paths } = openApi(world.settings) as { paths: object };
    expect(sorted(rowsOf('Who may make which call').flatMap(([calls = '']) => codesIn(calls)))).toEqual(
      sorted(Object.keys(paths)),
    );
  });

  test('tells how long each session is good', () => {
    const rows = rowsOf('Sessions').map(([, time = '']) => time);
    expect(rows[0]).toContain(`${SESSION_MS / 3_600_000} hours`);
    expect(rows[1]).toContain(`${SESSION_MS / 3_600_000} hours`);
    expect(rows[2]).toContain(`${CONSENT_WITHIN_MS / 60_000} minutes`);
    expect(rows[3]).toContain(`${STATUS_HASH_MS / 3_600_000} hours`);
    expect(rows).toHaveLength(5);
  });

  test('lets any number of sessions be open, as it says', async () => {
    expect(sectionOf('Sessions')).toContain('Any number of browsers may be signed in at once');
    const email = `ann@${LEGACY_DOMAIN}`;
    world.passwords.set(email, 'correct horse');
    const account = { email, password: 'correct horse', provider: 'sanbruno' };
    const answers = [];
    for (let at = 0; at < 7; at += 1) answers.push(await world.post('/api/validate/', account));
    for (const { body } of answers)
      expect((await world.post('/api/validate-token/', { token: (body as { token: string }).token })).status).toBe(200);
  });

  test('tells of every way to sign in', () => {
    const [legacy, , another, oauth, ...more] = rowsOf('Ways to sign in').map(([way = '']) => way);
    expect([legacy, another, more]).toEqual(['San Bruno address and password', 'another mailbox and its password', []]);
    const names: Record<OauthProvider, string> = { google: 'Google', yahoo: 'Yahoo', office365: 'Outlook', aol: 'AOL' };
    for (const name of Object.values(names)) expect(oauth).toContain(name);
  });

  test('tells what goes to each address that a setting names', () => {
    const addresses = SETTING_NAMES.filter((name) => /_(?:URL|ISSUER|SERVERS|HOSTS)$/.test(name));
    expect(addresses.length).toBeGreaterThan(20);
    const told = new Set(codesIn(sectionOf('What the product speaks to')));
    expect(addresses.filter((name) => !told.has(name))).toEqual([]);
  });

  test('tells what must fit each other, and each that does not fit is refused as it says', async () => {
    const [ann, bob] = [`ann@${LEGACY_DOMAIN}`, `bob@${LEGACY_DOMAIN}`];
    for (const email of [ann, bob]) world.passwords.set(email, 'correct horse');
    const source = { email: ann, password: 'correct horse', provider: 'sanbruno' };
    const fitting = {
      source_account: source,
      destination_account: { email: 'ann@mail.example', provider: 'file_export' },
      operations: ['emailmigration', 'contactsmigration'],
      parameters: {},
      file_export_parameters: { email_format: 'eml', contacts_format: 'vcf' },
    };
    const other = { email: 'ann@mail.example', password: 'x', provider: 'other' };
    const mail = { operations: ['emailmigration'] };
    const unfit: Record<string, object> = {
      'source and destination': { ...fitting, destination_account: { ...other, provider: 'sanbruno' } },
      'source address and its provider': { ...fitting, source_account: { ...source, email: 'ann@mail.example' } },
      'export and destination address': { ...fitting, destination_account: { email: bob, provider: 'file_export' } },
      'another provider and destination address': {
        ...fitting,
        ...mail,
        destination_account: { ...other, email: bob },
      },
      'notification contact and destination': { ...fitting, parameters: { notification_email: '+16505550123' } },
      'notification contact and source': { ...fitting, parameters: { notification_email: bob } },
      'export and operations': { ...fitting, ...mail },
      'export and formats': { ...fitting, file_export_parameters: { email_format: 'eml' } },
      'way of signing in and operations': { ...fitting, destination_account: other },
      'token, address, provider and browser': {
        ...fitting,
        ...mail,
        destination_account: { email: ann, provider: 'yahoo', token_id: 'f'.repeat(32) },
      },
      'mail host and provider': {
        ...fitting,
        ...mail,
        destination_account: other,
        parameters: { destination_imap: '127.0.0.1:1' },
      },
    };
    const rows = rowsOf('What must fit each other');
    expect(rows.map(([data]) => data)).toEqual(Object.keys(unfit));
    for (const [data = '', , code = ''] of rows) {
      const { body } = await world.post('/api/load/', unfit[data]);
      expect({ data, ...(body as object) }).toMatchObject({ data, error: codesIn(code)[0] });
    }
    expect((await world.post('/api/load/', fitting)).status, 'and what fits is taken').toBe(200);
  });

  test('promises a time for each severity that the registry tells apart, and the worse the sooner', () => {
    const days = rowsOf('Updates').map(([what = '', time = '']) => [what, Number(time)] as const);
    const severities = days.slice(0, 4);
    expect(severities.map(([what]) => what)).toEqual(['critical', 'high', 'moderate', 'low']);
    expect(severities).toEqual(severities.toSorted(([, one], [, other]) => one - other));
    expect(days.map(([what]) => what).join()).toContain('Node.js');
    for (const [, time] of days) expect(time).toBeGreaterThan(0);
    expect(sectionOf('Updates')).toContain('npm audit --omit=dev --audit-level=high');
  });

  test('puts each table of the database into one level of protection', async () => {
    const tables = await world.database.query<{ name: string }>(
      "select tablename as name from pg_tables where schemaname = 'public'",
    );
    expect(sorted(rowsOf('What is kept').flatMap(([, , names = '']) => codesIn(names)))).toEqual(
      sorted(tables.map(({ name }) => name)),
    );
  });

  test('lists every use of cryptography, and no other', () => {
    const server = join(ROOT, 'src/server');
    const used = new Set(
      readdirSync(server, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) => [
          ...readFileSync(join(server, file), 'utf8').matchAll(/import \{([^}]*)\} from 'node:crypto'/g),
        ])
        .flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
    );
    const listed = rowsOf('Cryptography and keys').flatMap(([, by = '', key = '']) => [
      ...codesIn(by),
      ...codesIn(key),
    ]);
    const functions = listed.filter((name) =>
      /^(?:create|hkdf|pbkdf2|scrypt|timing|random|sign$|verify$|X509)/.test(name),
    );
    expect(sorted(new Set(functions))).toEqual(sorted(used));
  });

  test('names the algorithms, sizes and costs that the source has', () => {
    const text = (file: string) => readFileSync(join(ROOT, 'src/server', file), 'utf8');
    const all = readdirSync(join(ROOT, 'src/server'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map(text)
      .join('\n');
    const named = (pattern: RegExp) => new Set([...all.matchAll(pattern)].map(([, name]) => name));
    expect(named(/create(?:Hash|Hmac)\('([^']+)'/g)).toEqual(new Set(['sha256']));
    expect(named(/hkdfSync\('([^']+)'/g)).toEqual(new Set(['sha256']));
    expect(named(/create(?:Cipher|Decipher)iv\('([^']+)'/g)).toEqual(new Set(['aes-256-gcm']));
    expect(text('store/vault.ts')).toMatch(/NONCE_LENGTH = 12;/);
    expect(text('transfers/verifiers.ts')).toContain('N: 2 ** 15, r: 8, p: 3');
    expect(sectionOf('Cryptography and keys')).toContain(`N=${2 ** 15}, r=8, p=3 and a salt of 128 bits`);
  });

  test('lists every event of the security log, and no other', () => {
    const source = readFileSync(join(ROOT, 'src/server/security-log.ts'), 'utf8');
    const events = [...source.slice(source.indexOf('SecurityEvent =')).matchAll(/^ {2}\| '([^']+)'/gm)];
    expect(events.length).toBeGreaterThan(10);
    expect(sorted(rowsOf('The log').map(([event = '']) => event))).toEqual(sorted(events.map(([, name = '']) => name)));
    const server = readdirSync(join(ROOT, 'src/server'), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && file !== 'security-log.ts')
      .map((file) => readFileSync(join(ROOT, 'src/server', file), 'utf8'))
      .join('\n');
    for (const [, name = ''] of events) expect(server, 'it is told somewhere').toContain(`'${name}'`);
  });
});
