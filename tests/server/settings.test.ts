import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { portalSettings, readSettings } from '../../src/contract/settings.ts';
import { shortcomings } from '../../src/server/main.ts';
import { limitsOf } from '../../src/server/mail/copy/provider-limits.ts';
import { PAGES, runProduct } from '../support/product.ts';
import { builtPortal } from '../support/portal-alone.ts';

const LEGACY = { LEGACY_IMAP_URL: 'imaps://imap.example.com:993' };

test('without any setting each is as decided', () => {
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

test('the start says what is not set, and what that means', () => {
  expect(shortcomings(readSettings(LEGACY))).toEqual([
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

test('a mailbox has as many connections as its provider allows, or the operator', () => {
  const providers = ['sanbruno', 'google', 'yahoo', 'office365', 'aol', 'other', 'file_export'] as const;
  expect(providers.map((provider) => limitsOf(provider, undefined).connections)).toEqual([4, 4, 4, 4, 4, 4, 4]);
  const { connectionsPerAccount } = readSettings({ CONNECTIONS_PER_ACCOUNT: '2' });
  expect(providers.map((provider) => limitsOf(provider, connectionsPerAccount).connections)).toEqual([
    2, 2, 2, 2, 2, 2, 2,
  ]);
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

test('settings may stand in .env, and what the environment says counts above it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'env-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, '.env'), 'PORT=eighty\nROLE=boss\n');
  const { ended, output } = runProduct({ ROLE: 'all' }, folder);
  expect(await ended).toBe(78);
  expect(output()).toBe('PORT must be a whole number from 0 to 65535. Example: PORT=8080\n');
});
