import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { portalSettings, readSettings, type Environment } from '../../src/contract/settings.ts';
import { limitsOf } from '../../src/server/mail/copy/run/provider-limits.ts';
import { shortcomings } from '../../src/server/main.ts';
import { openMailSide } from '../../src/server/worker/mail.runner.ts';
import type { RunnerServices } from '../../src/server/worker/runner.ts';
import { needs } from '../support/needs.ts';
import { builtPortal } from '../support/portal-alone.ts';
import { PAGES, runProduct } from '../support/product.ts';

const ROOT = join(import.meta.dirname, '../..');
const LEGACY = { LEGACY_IMAP_URL: 'imaps://imap.example.com:993' };

test('without any settings, each has the default that was decided', () => {
  expect(readSettings({})).toEqual({
    host: '127.0.0.1',
    port: 8080,
    publicUrl: 'http://localhost:8080',
    role: 'all',
    dataDir: '.data',
    exportsUrl: '.data/exports',
    sandbox: true,
    maintenance: false,
    inQa: false,
    legacyName: 'San Bruno',
    legacyDomains: ['sanbrunocable.example', 'sanbruno.example', 'sbcable.example'],
    accessEnd: '2025-11-30T23:59:59-08:00',
    providers: {
      google: {
        issuer: 'https://accounts.google.com',
        imapUrl: 'imaps://imap.gmail.com:993',
        contactsUrl: 'https://people.googleapis.com',
      },
      yahoo: {
        issuer: 'https://api.login.yahoo.com',
        imapUrl: 'imaps://imap.mail.yahoo.com:993',
        contactsUrl: 'https://carddav.address.yahoo.com',
      },
      office365: {
        issuer: 'https://login.microsoftonline.com/common/v2.0',
        imapUrl: 'imaps://outlook.office365.com:993',
        contactsUrl: 'https://graph.microsoft.com/v1.0',
      },
      aol: {
        issuer: 'https://api.login.aol.com',
        imapUrl: 'imaps://imap.aol.com:993',
        contactsUrl: 'https://carddav.aol.com',
      },
    },
    formerSecretKeys: [],
    trustedMailHosts: [],
    transfersAtOnce: 4,
    compressMail: false,
    exportDays: 7,
    retentionDays: 30,
    smtpInClear: false,
    logLevel: 'info',
    proxies: 0,
    faqUrl: 'https://help.sanbrunocable.example/faq',
    privacyUrl: 'https://www.sanbrunocable.example/privacy',
    termsUrl: 'https://www.sanbrunocable.example/terms',
    destinationMailUrl: 'https://mail.yahoo.com/',
    supportPhone: '650 555 0100',
  });
});

test.each([
  ['true', true],
  ['True', true],
  ['1', true],
  ['false', false],
  ['TRUE', false],
  ['yes', false],
])('IN_QA=%s is for quality assurance: %s', (value, isOn) => {
  expect(portalSettings(readSettings({ IN_QA: value })).inQa).toBe(isOn);
});

test.each([
  ['DATA_DIR', '"/var/lib/portal"', 'has quotation marks around it'],
  ['YAHOO_CLIENT_SECRET', "'hunter2'", 'has quotation marks around it'],
  ['LEGACY_NAME', '""', 'has quotation marks around it'],
  ['DATA_DIR', '~/portal', 'must be the whole path of a folder'],
  ['DATA_DIR', 'file:///var/lib/portal', "must be a folder's path"],
  ['EXPORTS_URL', '~/exports', 'must be the whole path of a folder'],
  ['LEGACY_CARDDAV_URL', 'https://contacts.example.com/{mail}/', 'must have {email}'],
  ['TRUSTED_MAIL_HOSTS', '*.internal', 'must be hosts'],
  ['TRUSTED_MAIL_HOSTS', '10.0.0.0/8', 'must be hosts'],
])('%s=%s, which would be taken for something else without a word, is refused', (name, value, fault) => {
  const read = () => readSettings({ YAHOO_CLIENT_ID: 'id', [name]: value });
  expect(read).toThrow(`${name} ${fault}`);
  expect(read).toThrow(`Example: ${name}=`);
  expect(read).not.toThrow('hunter2');
});

test.each([
  ['MAIL_FROM', '"Cable, San Bruno" <no-reply@example.com>'],
  ['LEGACY_NAME', 'The "Best" Cable'],
  ['LEGACY_CARDDAV_URL', 'https://contacts.example.com/{email}/of/{email}'],
  ['TRUSTED_MAIL_HOSTS', 'bücher.internal:143,[::1]'],
  ['DATA_DIR', 'a~b'],
])('%s may be %s', (name, value) => {
  expect(() => readSettings({ [name]: value })).not.toThrow();
});

test('a port for health checks that is taken by the portal is answered with one that there is', () => {
  expect(() => readSettings({ PORT: '65535', HEALTH_PORT: '65535' })).toThrow('Example: HEALTH_PORT=65534');
});

test('PORT=0 is refused: nobody could tell where the product listens', () => {
  expect(() => readSettings({ PORT: '0' })).toThrow('PORT must be a whole number from 1 to 65535. Example: PORT=8080');
});

const DATABASE = { DATABASE_URL: 'postgres://127.0.0.1/portal', SECRET_KEY: Buffer.alloc(32, 1).toString('base64') };

test.each([
  [{}, true],
  [LEGACY, false],
  [{ ...DATABASE, SANDBOX: 'on' }, true],
  [{ ...LEGACY, SANDBOX: 'on' }, true],
  [{ ...DATABASE, ...LEGACY }, false],
])('with %j the sandbox is on: %s', (environment, isOn) => {
  expect(readSettings(environment).sandbox).toBe(isOn);
});

test.each([DATABASE, { SANDBOX: 'off' }])(
  'without the sandbox and a legacy server the start is refused: %j',
  (settings) => {
    expect(() => readSettings(settings)).toThrow(/^LEGACY_IMAP_URL is needed when the sandbox is off/);
  },
);

const ACCESS_END = '2026-11-30T23:59:59-08:00';
/** What is the operator's own. */
const OWN = {
  ...PAGES,
  PUBLIC_URL: 'https://transfer.example.com',
  PROXIES: '1',
  LEGACY_DOMAINS: 'cable.example.com',
  FAQ_URL: 'https://help.cable.example.com',
  PRIVACY_URL: 'https://www.cable.example.com/privacy',
  TERMS_URL: 'https://www.cable.example.com/terms',
  SUPPORT_PHONE: '800 555 0199',
  ACCESS_END,
};

test("the start names what subscribers would see of the example's company, but only with real mailboxes", () => {
  const now = Date.parse(ACCESS_END);
  const of = (environment: Readonly<Record<string, string>>, at = now) =>
    shortcomings(readSettings(environment), at).filter((line) => !/^[A-Z_0-9]+ is not set: /.test(line));
  expect(of(LEGACY)).toEqual([
    "LEGACY_DOMAINS still has the example's domains: nobody with another address can sign in.",
    'Subscribers are shown a made-up address or telephone number until you set SUPPORT_PHONE, FAQ_URL, PRIVACY_URL, TERMS_URL.',
    'ACCESS_END, 2025-11-30T23:59:59-08:00, is over: subscribers are told that 0 days are left, and no new mail is brought once a day.',
    'PUBLIC_URL is http://localhost:8080: the links in letters, and the way back from a provider, work only in a browser on this machine.',
  ]);
  expect(of({ ...LEGACY, ...OWN })).toEqual([]);
  expect(of({ ...LEGACY, ...OWN }, now + 1)).toEqual([expect.stringMatching(`^ACCESS_END, ${ACCESS_END}, is over`)]);
  expect(of({})).toEqual([]);
});

test('the start says what is not set, and what that means', () => {
  expect(shortcomings(readSettings({ ...LEGACY, ...OWN }), 0)).toEqual([
    'PROVISIONING_URL is not set: the primary move answers with an error.',
    'SMTP_URL is not set: nobody is notified by mail.',
    'SMS_URL is not set: phone numbers are checked, but nobody is notified by SMS.',
    'SUPPORT_EMAIL is not set: the support form answers with an error, and nobody is told of transfers that need review.',
    'LEGACY_CARDDAV_URL is not set: contacts are not offered.',
    'LEGACY_SIEVE_URL is not set: forwarding is not offered.',
    'GOOGLE_CLIENT_ID is not set: google answers PROVIDER_NOT_SUPPORTED.',
    'YAHOO_CLIENT_ID is not set: yahoo answers PROVIDER_NOT_SUPPORTED.',
    'OFFICE365_CLIENT_ID is not set: office365 answers PROVIDER_NOT_SUPPORTED.',
    'AOL_CLIENT_ID is not set: aol answers PROVIDER_NOT_SUPPORTED.',
  ]);
});

test.each(['web', 'worker'])('ROLE=%s is warned when no other process can reach its exports', (ROLE) => {
  const shared = {
    ...LEGACY,
    ...OWN,
    DATABASE_URL: 'postgres://localhost/portal',
    SECRET_KEY: Buffer.alloc(32, 1).toString('base64'),
  };
  const of = (environment: Readonly<Record<string, string>>) =>
    shortcomings(readSettings({ ...shared, ...environment }), 0).filter((line) => line.startsWith('EXPORTS_URL'));
  expect(of({ ROLE })).toEqual([expect.stringMatching('^EXPORTS_URL is not set: no other process can hand out')]);
  expect(of({ ROLE, EXPORTS_URL: '/var/lib/portal/exports' })).toEqual([]);
  expect(of({ ROLE: 'all' })).toEqual([]);
});

/** What a worker with these settings may do with a mailbox of a transfer. */
async function limitsAt(role: 'source' | 'destination', environment: Environment, destinationImap = '') {
  const settings = readSettings({ ...LEGACY, ...environment });
  const run = {
    transfer: {
      sourceEmail: 'ann@sanbruno.example',
      sourceProvider: 'sanbruno',
      destinationEmail: 'ann@mail.example',
      destinationProvider: 'other',
      destinationImap,
    },
    source: { kind: 'password', password: 'secret' },
    destination: { kind: 'password', password: 'secret' },
    signal: new AbortController().signal,
    lease: { mayWrite: () => true },
  };
  const services = { settings, holds: () => ({}) } as unknown as RunnerServices;
  const side = await openMailSide(role, run as unknown as Parameters<typeof openMailSide>[1], services);
  return side.limits;
}

test('a mailbox has as many connections as its provider or the operator allows', async () => {
  const providers = ['sanbruno', 'google', 'yahoo', 'office365', 'aol', 'other', 'file_export'] as const;
  expect(providers.map((provider) => limitsOf(provider, undefined).connections)).toEqual([4, 4, 4, 4, 4, 4, 4]);
  const { connectionsPerAccount } = readSettings({ CONNECTIONS_PER_ACCOUNT: '2' });
  expect(providers.map((provider) => limitsOf(provider, connectionsPerAccount).connections)).toEqual([
    2, 2, 2, 2, 2, 2, 2,
  ]);
  expect(await limitsAt('source', {})).toEqual({ connections: 4 });
  expect(await limitsAt('source', { CONNECTIONS_PER_ACCOUNT: '2' })).toEqual({ connections: 2 });
});

test('a mailbox whose server its owner named has the limits of the provider whose that is', async () => {
  for (const host of ['imap.gmail.com', 'IMAP.GMail.com:993', 'imap.googlemail.com'])
    expect(await limitsAt('destination', {}, host)).toEqual(limitsOf('google', undefined));
  expect(await limitsAt('destination', {}, 'imap.mail.yahoo.com')).toEqual(limitsOf('yahoo', undefined));
  expect(await limitsAt('destination', {}, 'imap.mail.example')).toEqual(limitsOf('other', undefined));
});

test('the portal is built again for other settings, and for the same ones not', async () => {
  const folder = await builtPortal(PAGES);
  const made = (await stat(join(folder, 'index.html'))).mtimeMs;
  expect(await builtPortal(PAGES)).toBe(folder);
  expect((await stat(join(folder, 'index.html'))).mtimeMs).toBe(made);

  const other = await builtPortal({ ...PAGES, LEGACY_NAME: 'Costa Verde' });
  expect(other).not.toBe(folder);
  expect(await readFile(join(other, 'index.html'), 'utf8')).toContain('Costa Verde Email Data Transfer Tool');
});

test('whoever runs the product may read what another user has built', async () => {
  const folder = await builtPortal(PAGES);
  expect((await stat(folder)).mode & 0o777).toBe(0o755);
  expect((await stat(join(folder, 'index.html'))).mode & 0o777).toBe(0o644);
});

/** The program's own folder is only read, as in an image. */
const READ_ONLY = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"';

test(
  'where nothing may be written beside the program a portal that is built is taken, and any other told with what to do',
  needs('the right to mount a disk'),
  async () => {
    const folder = await builtPortal(PAGES);
    const build = (environment: Readonly<Record<string, string>>) =>
      spawnSync(
        'unshare',
        ['--mount', 'sh', '-c', READ_ONLY, 'sh', ROOT, process.execPath, join(ROOT, 'src/build.ts')],
        {
          env: { PATH: process.env['PATH'], SANDBOX: 'on', ...PAGES, ...environment },
          encoding: 'utf8',
        },
      );
    expect(build({})).toMatchObject({ status: 0, stdout: `The portal is in ${folder}\n` });
    expect(build({ LEGACY_NAME: 'Never Built' })).toMatchObject({
      status: 78,
      stderr: `The portal can't be built into ${join(ROOT, 'dist')} (EROFS). Run "npm run build" with the same settings as somebody who may write there, or make it writable.\n`,
    });
  },
);

test('settings may stand in .env, and what the environment says counts above it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'env-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, '.env'), 'PORT=eighty\nROLE=boss\n');
  const { ended, output } = runProduct({ ROLE: 'all' }, folder);
  expect(await ended).toBe(78);
  expect(output()).toBe('PORT must be a whole number from 1 to 65535. Example: PORT=8080\n');
});
