import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SETTING_NAMES } from '../../src/contract/settings/variables.ts';
import { needs } from '../support/needs.ts';
import { OAUTH_PROVIDERS } from '../../src/contract/provider-name.ts';

const ROOT = join(import.meta.dirname, '../..');
const canary = () => `canary${randomBytes(12).toString('hex')}`;
const key = () => randomBytes(32).toString('base64');

/** Every setting that is a secret or has room for one, as an operator would fill it. */
const SECRETS: Readonly<Record<string, string>> = {
  SECRET_KEY: key(),
  FORMER_SECRET_KEYS: key(),
  RECEIPT_KEY: key(),
  DATABASE_URL: `postgres://portal:${canary()}@db.example.com/portal?sslmode=verify-full`,
  EXPORTS_URL: `s3://${canary()}/exports?region=us-west-1`,
  PROVISIONING_TOKEN: canary(),
  SMTP_URL: `smtps://user:${canary()}@smtp.example.com`,
  SMS_TOKEN: canary(),
  ...Object.fromEntries(
    OAUTH_PROVIDERS.flatMap((name) => [
      [`${name.toUpperCase()}_CLIENT_ID`, canary()],
      [`${name.toUpperCase()}_CLIENT_SECRET`, canary()],
    ]),
  ),
};
const SETTINGS = {
  ...SECRETS,
  LEGACY_NAME: 'Canary Hill',
  LEGACY_IMAP_URL: 'imaps://imap.example.com:993',
  PROVISIONING_URL: 'https://accounts.example.com/v1',
  SMS_URL: 'https://sms.example.com/send',
  MAIL_FROM: 'no-reply@example.com',
  SUPPORT_EMAIL: 'support@example.com',
};

/** The part of each that nobody may find. */
const CANARIES = Object.entries(SECRETS).map(
  ([name, value]) => [name, /canary[0-9a-f]{24}/.exec(value)?.[0] ?? value] as const,
);

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((file) => join(folder, file))
    .filter((file) => statSync(file).isFile());
}

describe('the built portal', () => {
  test('has no secret of its operator in it, whatever the settings were when it was built', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'canary-portal-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const named = SETTING_NAMES.filter((name) => /(?:SECRET|TOKEN|KEYS?|CLIENT_ID|DATABASE_URL|SMTP_URL)$/.test(name));
    expect(Object.keys(SECRETS)).toEqual(expect.arrayContaining([...named]));
    execFileSync(process.execPath, ['src/build-portal.ts', folder], {
      cwd: ROOT,
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...SETTINGS },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const built = filesIn(folder)
      .filter((file) => !file.endsWith('.br'))
      .map((file) => (file.endsWith('.gz') ? gunzipSync(readFileSync(file)) : readFileSync(file)).toString('latin1'));
    expect(
      built.some((text) => text.includes('Canary Hill')),
      'it was built from these settings',
    ).toBe(true);
    const found = CANARIES.filter(([, secret]) =>
      [secret, Buffer.from(secret).toString('base64').slice(0, -4)].some((form) =>
        built.some((text) => text.includes(form)),
      ),
    );
    expect(found.map(([name]) => name)).toEqual([]);
  });
});

describe('the repository', needs('the repository of git'), () => {
  test('holds no key, token or password of anything that runs elsewhere', () => {
    const tracked = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
      .split('\0')
      .filter((file) => file !== '');
    expect(tracked.length).toBeGreaterThan(500);
    expect(
      tracked.filter((file) => /(?:^|\/)\.env|\.(?:pem|key|p12|pfx|jks)$|(?:^|\/)id_(?:rsa|ed25519)/.test(file)),
    ).toEqual([]);
    const secret =
      /-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----\s*[A-Za-z0-9+/]|\bAKIA[0-9A-Z]{16}\b|\bGOCSPX-[\w-]{20}|\bgh[pousr]_[A-Za-z0-9]{36}|\bxox[abprs]-[\w-]{10}|\bnpm_[A-Za-z0-9]{36}|\beyJ[\w-]{20,900}\.eyJ[\w-]{20}|_KEY=[A-Za-z0-9+/]{43}=/;
    const found = tracked.filter((file) => secret.test(readFileSync(join(ROOT, file), 'latin1')));
    expect(found).toEqual([]);
    // Put together here, so that this file is none of what is looked for.
    const written = [['-----BEGIN', 'PRIVATE KEY-----\nMC4'].join(' '), ['SECRET_KEY', key()].join('=')];
    expect(written.filter((text) => secret.test(text))).toEqual(written);
  });

  test('has data, keys and .env where git does not look', () => {
    const ignored = execFileSync('git', ['check-ignore', '.env', '.data/secret-key'], { cwd: ROOT, encoding: 'utf8' });
    expect(ignored.trim().split('\n')).toEqual(['.env', '.data/secret-key']);
  });
});
