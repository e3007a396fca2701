import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readSettings, SettingsError, type Environment } from '../../src/contract/settings.ts';
import { CLEAR_TEXT_SETTINGS } from '../../src/contract/settings/clear-text.ts';
import { SECRET_SETTINGS, SETTING_NAMES } from '../../src/contract/settings/variables.ts';
import { settingsFrom, withSecretFiles } from '../../src/read-settings.ts';
import { shortcomings } from '../../src/server/main.ts';
import { senderOf } from '../../src/server/notifications/wording.ts';
import { openOauthClients } from '../../src/server/oauth/client.ts';
import { requireCertificates } from '../../src/server/mail/imap/tls.ts';
import { contentSecurityPolicy } from '../../src/server/web/headers.ts';
import { startApi } from '../support/scripted-api.ts';

const LEGACY = { LEGACY_IMAP_URL: 'imaps://imap.example.com:993' };

function problemsOf(environment: Environment): readonly string[] {
  try {
    readSettings(environment);
    return [];
  } catch (error) {
    if (error instanceof SettingsError) return error.problems;
    throw error;
  }
}

describe('an address in clear text', () => {
  const inClear = CLEAR_TEXT_SETTINGS.filter((name) => !['SMTP_URL', 'DATABASE_URL', 'EXPORTS_URL'].includes(name));

  test.each(inClear)('is refused for %s, unless it is named', (name) => {
    const environment = { ...LEGACY, [name]: 'http://service.example.com' };
    expect(problemsOf(environment)).toEqual([expect.stringMatching(`^${name} must start with https://`)]);
    expect(problemsOf({ ...environment, ALLOW_CLEAR_TEXT: name })).toEqual([]);
  });

  test.each(inClear)('is refused for %s also where its protocol is written in another way', (name) => {
    for (const written of ['HTTP://', 'Http://', 'http:/', 'http:'])
      expect(problemsOf({ ...LEGACY, [name]: `${written}service.example.com` })).not.toEqual([]);
  });

  test.each(inClear)('is taken for %s on this machine', (name) => {
    for (const host of ['localhost:9', '127.0.0.1:9', '[::1]:9'])
      expect(problemsOf({ ...LEGACY, [name]: `http://${host}` })).toEqual([]);
  });

  test.each(['http://127.0.0.1.example.com', 'http://localhost.example.com', 'http://127.example.com'])(
    'is not on this machine by a name like %s',
    (address) => {
      expect(problemsOf({ ...LEGACY, SMS_URL: address })).toHaveLength(1);
    },
  );

  test('of a provider is where it is asked, once it is named', async () => {
    await using api = await startApi(() => ({
      status: 200,
      json: { issuer, authorization_endpoint: issuer, token_endpoint: issuer, jwks_uri: issuer },
    }));
    // The settings don't take this address for one of this machine.
    const issuer = api.url.replace('127.0.0.1', '0.0.0.0');
    const settings = readSettings({
      ...LEGACY,
      GOOGLE_ISSUER: issuer,
      GOOGLE_CLIENT_ID: 'id',
      GOOGLE_CLIENT_SECRET: 'secret',
      ALLOW_CLEAR_TEXT: 'GOOGLE_ISSUER',
    });
    const found = await openOauthClients({ settings, now: Date.now })('google');
    expect(found.serverMetadata().issuer).toBe(issuer);
  });

  test('of an SMTP server means that it must take up TLS before anything is sent, unless it is named', () => {
    const away = { ...LEGACY, SMTP_URL: 'smtp://mail.example.com', MAIL_FROM: 'a@example.com' };
    expect(readSettings(away).smtpInClear).toBe(false);
    expect(readSettings({ ...away, ALLOW_CLEAR_TEXT: 'SMTP_URL' }).smtpInClear).toBe(true);
    expect(readSettings({ ...away, SMTP_URL: 'smtp://127.0.0.1:25' }).smtpInClear).toBe(true);
  });

  test.each([
    ['DATABASE_URL', 'postgres://portal:secret@db.example.com/portal', 'have sslmode=verify-full'],
    ['DATABASE_URL', 'postgres://db.example.com/portal?sslmode=prefer', 'have sslmode=verify-full'],
    ['DATABASE_URL', 'postgres://localhost/portal?host=db.example.com', 'have sslmode=verify-full'],
    [
      'DATABASE_URL',
      'postgres://db.example.com/portal?sslmode=verify-full&sslmode=disable',
      'have sslmode=verify-full',
    ],
    [
      'DATABASE_URL',
      'postgres://db.example.com/portal?uselibpqcompat=true&sslmode=require',
      'have sslmode=verify-full',
    ],
    ['DATABASE_URL', 'postgres://localhost/portal?host=localhost&host=db.example.com', 'have sslmode=verify-full'],
    ['EXPORTS_URL', 's3://bucket/x?endpoint=http://s3.example.com', 'have an endpoint that starts with https://'],
    ['EXPORTS_URL', 's3://bucket/x?endpoint=HTTP://s3.example.com', 'have an endpoint that starts with https://'],
  ])('of %s, such as %s, is refused unless it is named', (name, address, wanted) => {
    const environment = { ...LEGACY, SECRET_KEY: Buffer.alloc(32, 1).toString('base64'), [name]: address };
    expect(problemsOf(environment)).toEqual([expect.stringMatching(`^${name} must ${wanted}, since`)]);
    expect(problemsOf({ ...environment, ALLOW_CLEAR_TEXT: name })).toEqual([]);
  });

  test.each([
    ['DATABASE_URL', 'postgres://portal:secret@127.0.0.1:5432/portal'],
    ['DATABASE_URL', 'postgres://localhost/portal?host=/var/run/postgresql'],
    ['DATABASE_URL', 'postgres://%2Fvar%2Frun%2Fpostgresql/portal'],
    ['DATABASE_URL', 'postgres://db.example.com/portal?sslmode=verify-full'],
    ['EXPORTS_URL', 's3://bucket/x?endpoint=http://127.0.0.1:9000'],
    ['EXPORTS_URL', 's3://bucket/x?endpoint=https://s3.example.com'],
    ['EXPORTS_URL', '/var/lib/portal/exports'],
  ])('is not what %s has, such as %s', (name, address) => {
    expect(problemsOf({ ...LEGACY, SECRET_KEY: Buffer.alloc(32, 1).toString('base64'), [name]: address })).toEqual([]);
  });

  test('is not allowed for what is no such setting', () => {
    expect(problemsOf({ ...LEGACY, ALLOW_CLEAR_TEXT: 'everything' })).toEqual([
      expect.stringMatching('^ALLOW_CLEAR_TEXT must be names of settings'),
    ]);
  });
});

test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'ftp://example.com/'])(
  'leads nowhere but to the web: no setting takes %s',
  (address) => {
    for (const name of ['FAQ_URL', 'PRIVACY_URL', 'TERMS_URL', 'DESTINATION_MAIL_URL', 'FOOTER_URL', 'SMS_URL'])
      expect(problemsOf({ ...LEGACY, [name]: address })).toEqual([
        expect.stringMatching(`^${name} must be an address`),
      ]);
  },
);

test.each(
  SETTING_NAMES.filter((name) => /_(?:URL|ISSUER)$/.test(name) && !['DATABASE_URL', 'SMTP_URL'].includes(name)),
)('a name or password in %s, which nothing would be done with but that it is shown or logged, is refused', (name) => {
  for (const protocol of ['https', 'imaps', 'sieve', 's3'])
    for (const person of ['canary@', 'canary:hunter2@', ':hunter2@']) {
      const problems = problemsOf({ ...LEGACY, [name]: `${protocol}://${person}host.example.com` });
      expect(problems).toEqual([expect.stringMatching(`^${name} must `)]);
      expect(problems.join()).not.toMatch(/canary|hunter2/);
    }
});

test.each(SETTING_NAMES.filter((name) => /^PROVISIONING_URL$|_(?:ISSUER|CONTACTS_URL)$/.test(name)))(
  'a query in %s, in front of which nothing could be put, is refused',
  (name) => {
    for (const rest of ['?code=canary', '/#canary'])
      expect(problemsOf({ ...LEGACY, [name]: `https://host.example.com/v1${rest}` })).toEqual([
        expect.stringMatching(`^${name} must have nothing behind its path\\. Example: ${name}=\\S+$`),
      ]);
    expect(problemsOf({ ...LEGACY, [name]: 'https://host.example.com/v1/' })).toEqual([]);
  },
);

test('the gateway for SMS is asked at the very address that is given', () => {
  for (const address of ['https://sms.example.com/send/', 'https://sms.example.com/send?to=/'])
    expect(readSettings({ ...LEGACY, SMS_URL: address }).sms).toEqual({ url: address });
});

test.each(['[::1]', 'http://127.0.0.1', '127.0.0.1/', 'a b', 'canary@127.0.0.1'])('HOST=%s is refused', (host) => {
  expect(problemsOf({ ...LEGACY, HOST: host })).toContain(
    'HOST must be a name or an address of this machine, and nothing around it. Example: HOST=::1',
  );
});

test.each(['p#canary', 'p@ss#canary@x', 'p/canary', 'p%canary', '100%'])(
  'a password that an address can not hold as it is, is refused with how it is written: %s',
  (password) => {
    const key = Buffer.alloc(32, 1).toString('base64');
    for (const [name, protocol] of [
      ['DATABASE_URL', 'postgres'],
      ['SMTP_URL', 'smtps'],
    ] as const) {
      const of = (written: string) =>
        problemsOf({
          ...LEGACY,
          SECRET_KEY: key,
          MAIL_FROM: 'a@example.com',
          [name]: `${protocol}://user:${written}@127.0.0.1/x`,
        });
      expect(of(password)).toEqual([expect.stringMatching(`^${name} must be an address .* with % as %25`)]);
      expect(of(password).join()).not.toContain('canary');
      expect(of(encodeURIComponent(password))).toEqual([]);
    }
  },
);

test.each(['2026-02-30T00:00:00-08:00', '2025-11-31T00:00:00Z', '2025-11-30', '2025-11-30T23:59:59'])(
  'an end of access on a day that there is not, or at no certain time, is refused: %s',
  (end) => {
    expect(problemsOf({ ...LEGACY, ACCESS_END: end })).toEqual([
      'ACCESS_END must be a time with its offset (ISO 8601). Example: ACCESS_END=2025-11-30T23:59:59-08:00',
    ]);
    expect(problemsOf({ ...LEGACY, ACCESS_END: '2024-02-29T23:59:59-08:00' })).toEqual([]);
  },
);

test.each([
  '2026-11-30T23:59:59-08',
  '2026-11-30T23:59:59-0800',
  '2026-11-30 23:59:59-08:00',
  '2026-11-30 23:59:59 -08:00',
])('an end of access is in the form that every browser reads, also where it is written as %s', (end) => {
  expect(readSettings({ ...LEGACY, ACCESS_END: end }).accessEnd).toBe('2026-11-30T23:59:59-08:00');
});

describe('at a public address', () => {
  test.each([{ PUBLIC_URL: 'https://transfer.example.com' }, { HOST: '0.0.0.0' }, { HOST: '::' }])(
    'the sandbox and the viewer are refused: %o',
    (address) => {
      expect(problemsOf({ ...address, SANDBOX: 'on', INSPECT: 'on' })).toEqual([
        expect.stringMatching('^SANDBOX must be off'),
        expect.stringMatching('^INSPECT must be off'),
      ]);
      expect(problemsOf({ ...address, ...LEGACY })).toEqual([]);
    },
  );

  test.each([
    [{ HOST: '0.0.0.0' }, true],
    [{ HOST: '::' }, true],
    [{ HOST: '192.168.1.5', PUBLIC_URL: 'http://localhost:8080' }, true],
    [{ HOST: '0.0.0.0', PUBLIC_URL: 'https://transfer.example.com' }, false],
    [{ HOST: '::1' }, false],
    [{}, false],
  ])('the start warns of a port that is reached in clear text: %o, %s', (address, isWarnedOf) => {
    const warned = shortcomings(readSettings({ ...LEGACY, ...address }), 0).filter((line) =>
      line.startsWith('HOST is'),
    );
    expect(warned).toHaveLength(isWarnedOf ? 1 : 0);
  });

  test('on this machine they run', () => {
    for (const HOST of ['127.0.0.1', 'localhost', '::1'])
      expect(problemsOf({ HOST, SANDBOX: 'on', INSPECT: 'on' })).toEqual([]);
  });
});

test.each([
  [{ EXPORT_DAY: '3' }, 'EXPORT_DAY is no setting. EXPORT_DAYS may be meant: rename it, or take it out.'],
  [
    { FORMER_SECRET_KEY: 'canary' },
    'FORMER_SECRET_KEY is no setting. FORMER_SECRET_KEYS may be meant: rename it, or take it out.',
  ],
  [
    { SMTP_URL_FIEL: '/run/canary' },
    'SMTP_URL_FIEL is no setting. SMTP_URL_FILE may be meant: rename it, or take it out.',
  ],
  [
    { LEGACY_IMAP: 'imaps://canary.example.com' },
    'LEGACY_IMAP is no setting. LEGACY_IMAP_URL may be meant: rename it, or take it out.',
  ],
  [
    { TRUSTED_MAIL: 'canary' },
    'TRUSTED_MAIL is no setting. TRUSTED_MAIL_HOSTS or TRUSTED_MAIL_CERTIFICATES may be meant: rename it, or take it out.',
  ],
  [
    { SUPPORT_EMAIL_FILE: '/run/canary' },
    'SUPPORT_EMAIL_FILE is no setting: only secrets come from files. Set SUPPORT_EMAIL itself.',
  ],
])('a name that is nearly that of a setting is refused, as it would count as unset: %o', (environment, problem) => {
  expect(problemsOf({ ...LEGACY, ...environment })).toEqual([problem]);
});

test.each(['imaps://imap.example.com:99999', 'imaps://:993', 'imaps://imap example.com'])(
  'of %s it is said that its host or port is wrong, as it does start as it should',
  (LEGACY_IMAP_URL) => {
    expect(problemsOf({ ...LEGACY, LEGACY_IMAP_URL })).toEqual([
      'LEGACY_IMAP_URL must have a host, and a port of 65535 at most if any. Example: LEGACY_IMAP_URL=imaps://imap.example.com:993',
    ]);
  },
);

test('what is no setting and near to none is left alone', () => {
  const others = {
    HOSTNAME: 'a',
    PORTS: '1',
    SMTP_HOST: 'b',
    DATABASE: 'c',
    DATABASE_PORT: '5432',
    LEGACY_IMAP_PORT: 'tcp://10.0.0.1:993',
    EXPORT_DAY: ' ',
  };
  expect(problemsOf({ ...LEGACY, ...others })).toEqual([]);
});

test.each([
  '@b.example',
  'a@',
  'a@b@c.example',
  'a@b',
  'a b@c.example',
  'a@b.example, c@d.example',
  'Portal',
  'Portal <>',
  'Portal <@b.example>',
  'Portal <a@b.example',
  'Portal <a@b.example> more',
  'Portal <a@b.example><c@d.example>',
  'Por"tal <a@b.example>',
  'Portal\u0007 <a@b.example>',
  'Portal\r\nBcc: c@d.example\r\n <a@b.example>',
  `${'n'.repeat(400)} <a@b.example>`,
])('letters from %j are refused at the start', (from) => {
  const mail = { SMTP_URL: 'smtps://smtp.example.com', MAIL_FROM: from };
  expect(problemsOf({ ...LEGACY, ...mail })).toEqual([
    expect.stringMatching(/^MAIL_FROM must .*\. Example: MAIL_FROM=no-reply@example\.com$/),
  ]);
});

test.each([
  ['a@b.example', 'San Bruno Email Transfer', 'a@b.example'],
  ['<a@b.example>', 'San Bruno Email Transfer', 'a@b.example'],
  ['San Bruno, Inc. <a@b.example>', 'San Bruno, Inc.', 'a@b.example'],
  ['"San Bruno (Mail)" <a@b.example>', 'San Bruno (Mail)', 'a@b.example'],
  ['Câble <a@câble.example>', 'Câble', 'a@câble.example'],
])('letters from %s come from who is meant', (from, name, address) => {
  const { mailFrom = '', legacyName } = readSettings({
    ...LEGACY,
    SMTP_URL: 'smtps://smtp.example.com',
    MAIL_FROM: from,
  });
  expect(senderOf(mailFrom, legacyName)).toEqual({ name, address });
});

test.each(['LEGACY_NAME', 'SUPPORT_PHONE'])('a %s of two lines is refused', (name) => {
  expect(problemsOf({ ...LEGACY, [name]: '650\nBcc: a' })).toEqual([
    expect.stringMatching(`^${name} must be one line`),
  ]);
});

test('what is there and wrong is not told as missing too', () => {
  const database = {
    DATABASE_URL: 'postgres://localhost/portal',
    SECRET_KEY: 'canary',
    ROLE: 'web',
    EXPORTS_URL: '/e',
  };
  expect(problemsOf({ ...LEGACY, ...database })).toEqual([expect.stringMatching('^SECRET_KEY must be 32 bytes')]);
  const mail = { SMTP_URL: 'smtps://smtp.example.com', MAIL_FROM: 'canary' };
  expect(problemsOf({ ...LEGACY, ...mail })).toEqual([expect.stringMatching('^MAIL_FROM must be an address')]);
});

test.each([
  [{ PUBLIC_URL: 'https://transfer.example.com' }, 1],
  [{ PUBLIC_URL: 'https://transfer.example.com', PROXIES: '1' }, 0],
  [{}, 0],
])('the start warns where all visitors count as one: %o', (environment, count) => {
  const warned = shortcomings(readSettings({ ...LEGACY, ...environment }), 0).filter((line) =>
    line.startsWith('PROXIES is'),
  );
  expect(warned).toHaveLength(count);
});

test('a transfer is not erased before its files are', () => {
  expect(problemsOf({ ...LEGACY, EXPORT_DAYS: '40', RETENTION_DAYS: '39' })).toEqual([
    expect.stringMatching('^RETENTION_DAYS must not be less'),
  ]);
  expect(problemsOf({ ...LEGACY, EXPORT_DAYS: '40', RETENTION_DAYS: '40' })).toEqual([]);
  expect(readSettings({ ...LEGACY, EXPORT_DAYS: '40' })).toMatchObject({ exportDays: 40, retentionDays: 40 });
  expect(readSettings({ ...LEGACY, EXPORT_DAYS: '29' })).toMatchObject({ exportDays: 29, retentionDays: 30 });
});

test('no script can write markup', () => {
  expect(contentSecurityPolicy(readSettings(LEGACY))).toContain(
    "require-trusted-types-for 'script'; trusted-types 'none'",
  );
});

/** What holds a secret that is no key. */
const VALUES: { readonly [Name in (typeof SECRET_SETTINGS)[number]]?: string } = {
  DATABASE_URL: 'postgres://portal:canary@127.0.0.1/portal',
  SMTP_URL: 'smtps://user:canary@smtp.example.com',
};
/** What is taken only with others. */
const CLIENTS = Object.fromEntries(
  ['GOOGLE', 'YAHOO', 'OFFICE365', 'AOL'].flatMap((name) => [
    [`${name}_CLIENT_ID`, 'client'],
    [`${name}_CLIENT_SECRET`, 'x'],
  ]),
);

describe('a secret', () => {
  test.each(SECRET_SETTINGS)('comes from the file that %s_FILE names', async (name) => {
    const folder = await mkdtemp(join(tmpdir(), 'secret-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const file = join(folder, 'secret');
    const key = Buffer.alloc(32, 1).toString('base64');
    const secret = VALUES[name] ?? key;
    await writeFile(file, `${secret}\n`);
    const services = { SMS_URL: 'https://sms.example.com', PROVISIONING_URL: 'https://accounts.example.com' };
    const others: Environment = { ...LEGACY, ...services, SECRET_KEY: key, MAIL_FROM: 'a@example.com', ...CLIENTS };
    const rest = { ...others, [name]: undefined };
    const inVariable = readSettings({ ...rest, [name]: secret });
    expect(settingsFrom({ ...rest, [`${name}_FILE`]: file })).toEqual(inVariable);
    expect(JSON.stringify(inVariable)).toContain(secret);
    expect(Object.keys(withSecretFiles({ [`${name}_FILE`]: file })), 'and its file is asked for once').toEqual([name]);
  });

  test('is each setting whose name says so, and each address that has a password in it', () => {
    const named = SETTING_NAMES.filter((name) => /(?:KEYS?|TOKEN|SECRET)$/.test(name));
    expect(new Set(SECRET_SETTINGS)).toEqual(new Set([...named, 'DATABASE_URL', 'SMTP_URL']));
  });
});

test('certificates of trusted mail hosts are refused when they are none, or belong to nobody', () => {
  const trusted = { ...LEGACY, TRUSTED_MAIL_HOSTS: 'mail.internal:143' };
  const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
  expect(problemsOf({ ...trusted, TRUSTED_MAIL_CERTIFICATES: 'canary' })).toEqual([
    expect.stringMatching(/^TRUSTED_MAIL_CERTIFICATES must be one or more certificates in PEM\. Example: \S+$/),
  ]);
  expect(problemsOf({ ...LEGACY, TRUSTED_MAIL_CERTIFICATES: damaged })).toEqual([
    expect.stringMatching('^TRUSTED_MAIL_HOSTS is needed'),
  ]);
  const settings = readSettings({ ...trusted, TRUSTED_MAIL_CERTIFICATES: `${damaged}\n${damaged}\n` });
  expect(settings.trustedMailCertificates).toEqual([damaged, damaged]);
  expect(() => requireCertificates(settings)).toThrow(SettingsError);
});
