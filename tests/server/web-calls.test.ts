import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { supportReference } from '../../src/contract/support-reference.ts';
import { openDiscovery } from '../../src/server/mail/discovery/discovery.ts';
import { openResolver } from '../../src/server/network/resolver.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { LIMITS } from '../../src/server/web/limits.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { fromBrowser, fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'] });
  world.passwords.set(ANN, PASSWORD);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  await world.database.query('delete from limits');
  await world.database.query('delete from limit_slots');
  await world.database.query('delete from known_clients');
  // Whoever was refused just now would be refused still.
  world.advance(1000);
  world.signIns.length = 0;
  world.provisioning.requests.length = 0;
  world.provisioning.answer = { status: 200, body: {} };
});

const capabilitiesOf = (email: unknown) => world.post('/api/capabilities/', { email });

const validate = (body: object) => world.post('/api/validate/', body);

const createAccount = (query = '?in_qa=false', password = PASSWORD) =>
  world.post(`/api/v2/san-bruno-create-account/${query}`, { email: ANN, password });

const checkDomain = async (name: string) => {
  const answer = await world.get(`/api/v2/domain-validation/?domain=${encodeURIComponent(name)}`);
  return [answer.status, answer.body];
};

const announce = (headers: Record<string, string> = {}, email = ANN) =>
  world.post('/api/v2/san-bruno-set-migration-started/?in_qa=1', { email }, headers);
const sessionOf = async (headers: Record<string, string> = {}, email = ANN) => {
  const account = { email, password: PASSWORD, provider: 'sanbruno' };
  const { body } = await world.post('/api/validate/', account, headers);
  return { authorization: `Bearer ${(body as { token: string }).token}` };
};

const sendSupport = (body: object) => world.post('/api/v2/support-form/', body);

describe('capabilities', () => {
  test('a legacy address is the legacy provider, signed in to with its password', async () => {
    const answer = await capabilitiesOf(ANN.toUpperCase());
    expect([answer.status, answer.body]).toEqual([
      200,
      { allowed_operations: ['emailmigration', 'contactsmigration'], provider: 'sanbruno', auth: 'other' },
    ]);
  });

  test('a legacy domain in letters of another language is known by them and by its ASCII name', async () => {
    const settings = { ...world.settings, legacyDomains: ['kabel-münchen.example'] };
    const discovery = openDiscovery({ ...world.services, settings });
    for (const domain of ['kabel-münchen.example', 'kabel-mu\u0308nchen.example', 'xn--kabel-mnchen-jlb.example'])
      expect(await discovery.find(`ann@${domain}`)).toEqual({ provider: 'sanbruno' });
  });

  test('a provider with a client is signed in to by OAuth and takes contacts', async () => {
    expect((await capabilitiesOf('ann@yahoo.co.uk')).body).toEqual({
      allowed_operations: ['emailmigration', 'contactsmigration'],
      provider: 'yahoo',
      auth: 'oauth',
    });
  });

  test('a provider without a client is not supported', async () => {
    expect(await capabilitiesOf('ann@gmail.com')).toMatchObject({
      status: 404,
      body: { error: 'PROVIDER_NOT_SUPPORTED', message: 'This provider is not supported.' },
    });
  });

  test('a domain is recognised by the host of its mail', async () => {
    world.dns.zones.set('firm.example', { mx: ['mta7.am0.yahoodns.net'] });
    world.dns.zones.set('school.example', { mx: ['aspmx.l.google.com'] });
    world.dns.zones.set('office.example', { mx: ['office-example.mail.protection.outlook.com'] });
    world.dns.zones.set('old.example', { mx: ['mx-aol.mail.gm0.yahoodns.net'] });
    // The one that it prefers counts, in whatever order they are told.
    world.dns.zones.set('both.example', { mx: ['mx.both.example', 'aspmx.l.google.com', 'mta7.am0.yahoodns.net'] });
    // Most of them have no client here, and are not supported by the call.
    const discovery = openDiscovery(world.services);
    const providers = await Promise.all(
      ['firm', 'school', 'office', 'old', 'both'].map((name) => discovery.find(`ann@${name}.example`)),
    );
    expect(providers).toMatchObject([
      { provider: 'yahoo' },
      { provider: 'google' },
      { provider: 'office365' },
      { provider: 'aol' },
      { provider: 'google' },
    ]);
  });

  test('a domain that announces its mail server by SRV is another provider', async () => {
    world.dns.zones.set('club.example', { mx: ['mx.club.example'] });
    world.dns.zones.set('_imaps._tcp.club.example', { srv: [{ name: 'imap.club.example', port: 993 }] });
    expect((await capabilitiesOf('ann@club.example')).body).toEqual({
      allowed_operations: ['emailmigration'],
      provider: 'other',
      auth: 'other',
    });
  });

  test('a domain without mail is not supported', async () => {
    const answer = await capabilitiesOf('ann@nowhere.example');
    expect([answer.status, answer.body]).toMatchObject([404, { error: 'PROVIDER_NOT_SUPPORTED' }]);
  });

  test('a domain that says it takes no mail (RFC 7505) is not supported, though it has an address', async () => {
    world.dns.zones.set('no-mail.example', { mx: ['.'], a: ['192.0.2.1'] });
    const answer = await capabilitiesOf('ann@no-mail.example');
    expect([answer.status, answer.body]).toMatchObject([404, { error: 'PROVIDER_NOT_SUPPORTED' }]);
    const validated = await world.get('/api/v2/domain-validation/?domain=no-mail.example');
    expect(validated.body).toEqual({ valid: false });
  });

  test('a domain is asked about once while the answer is fresh', async () => {
    world.dns.zones.set('fresh.example', { mx: ['mx.fresh.example'] });
    await capabilitiesOf('ann@fresh.example');
    const asked = world.dns.questions.length;
    await capabilitiesOf('bob@fresh.example');
    expect(world.dns.questions.length).toBe(asked);
  });

  test.each(['no address', '', null, 12, `${'a'.repeat(65)}@x.example`, 'ann@x'])('%j is no address', async (email) => {
    const answer = await capabilitiesOf(email);
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_EMAIL' }]);
  });
});

describe('validate', () => {
  test('the right password is proven by a sign-in and answered with a session token', async () => {
    const answer = await validate({ email: ANN, password: PASSWORD, provider: 'sanbruno' });
    expect([answer.status, answer.body]).toEqual([200, { ok: true, token: expect.stringMatching(/^[0-9a-f]{64}$/) }]);
    expect(world.signIns).toEqual([ANN]);
    expect(answer.headers.getSetCookie()).toEqual([expect.stringMatching(/^browser=[0-9a-f]{64}; /)]);
  });

  test('a wrong password and an unknown user get the same answer', async () => {
    const wrong = await validate({ email: ANN, password: 'guess', provider: 'sanbruno' });
    const unknown = await validate({ email: `nobody@${LEGACY_DOMAIN}`, password: 'guess', provider: 'sanbruno' });
    expect([wrong.status, wrong.text]).toEqual([
      401,
      JSON.stringify({ error: 'INVALID_CREDENTIALS', message: 'Incorrect email or password.' }),
    ]);
    expect([unknown.status, unknown.text]).toEqual([wrong.status, wrong.text]);
  });

  test('an address whose domain was typed in full width is that of the same mailbox', async () => {
    const answer = await validate({ email: ANN.replace('@s', '@ｓ'), password: PASSWORD, provider: 'sanbruno' });
    expect([answer.status, world.signIns]).toEqual([200, [ANN]]);
  });

  test('an address of another domain is no legacy account', async () => {
    const answer = await validate({ email: 'ann@mail.example', password: PASSWORD, provider: 'sanbruno' });
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_EMAIL' }]);
    expect(world.signIns).toEqual([]);
  });

  test('a custom host that the operator trusts is signed in to', async () => {
    world.passwords.set('ann@mail.example', 'other');
    const answer = await validate({
      email: 'ann@mail.example',
      password: 'other',
      provider: 'other',
      imap: world.trustedImap,
    });
    expect(answer.status).toBe(200);
  });

  test.each(['yahoo', 'google'])(
    'a mailbox at %s is signed in to by its password, and by no wrong one',
    async (provider) => {
      world.passwords.set('ann@mail.example', 'other');
      const account = { email: 'ann@mail.example', provider, imap: world.trustedImap };
      expect((await validate({ ...account, password: 'other' })).status).toBe(200);
      expect((await validate({ ...account, password: 'guess' })).body).toMatchObject({ error: 'INVALID_CREDENTIALS' });
    },
  );

  test('a host in private space is not reached', async () => {
    world.dns.zones.set('inside.example', { a: ['127.0.0.1'] });
    const answer = await validate({
      email: 'ann@mail.example',
      password: 'other',
      provider: 'other',
      imap: `inside.example:${world.trustedImap.split(':')[1]}`,
    });
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_IMAP' }]);
    expect(world.signIns).toEqual([]);
  });

  test('there is no signing in to a file', async () => {
    const answer = await validate({ email: ANN, password: PASSWORD, provider: 'file_export' });
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'UNSUPPORTED_PROVIDER' }]);
  });

  test.each(['', 'no-such-provider'])('nobody is signed in at the provider "%s"', async (provider) => {
    const answer = await validate({ email: ANN, password: PASSWORD, provider });
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'UNSUPPORTED_PROVIDER' }]);
    expect(world.signIns).toEqual([]);
  });

  test.each([undefined, 5, 'x'.repeat(1025)])(
    'what can’t be a password counts as an incorrect one',
    async (password) => {
      const answer = await validate({ email: ANN, password, provider: 'sanbruno' });
      expect([answer.status, answer.body]).toMatchObject([401, { error: 'INVALID_CREDENTIALS' }]);
      expect(world.signIns).toEqual([]);
    },
  );

  test('an empty password is not tried', async () => {
    const answer = await validate({ email: ANN, password: '', provider: 'sanbruno' });
    expect(answer.status).toBe(401);
    expect(world.signIns).toEqual([]);
  });

  test('the session token is valid for a day', async () => {
    const { body } = await validate({ email: ANN, password: PASSWORD, provider: 'sanbruno' });
    const { token } = body as { token: string };
    const check = () => world.post('/api/validate-token/', { token });
    expect((await check()).body).toEqual({ ok: true });
    world.advance(24 * 3_600_000 + 1);
    const late = await check();
    expect([late.status, late.body]).toMatchObject([401, { error: 'INVALID_TOKEN' }]);
  });

  test('a token that was never issued is refused', async () => {
    const answer = await world.post('/api/validate-token/', { token: 'x' });
    expect([answer.status, answer.body]).toMatchObject([401, { error: 'INVALID_TOKEN' }]);
  });
});

describe('account creation', () => {
  test('the account is made by the provisioning service', async () => {
    expect((await createAccount('?in_qa=True')).body).toEqual({ ok: true });
    expect(world.provisioning.requests).toEqual([
      {
        path: '/accounts',
        authorization: 'Bearer provisioning-token-canary',
        key: expect.stringMatching(/^[0-9a-f]{32}$/),
        body: { email: ANN, password: PASSWORD, in_qa: true },
      },
    ]);
  });

  test.each([
    'ACCOUNT_ALREADY_CREATED',
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
    'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
  ])('%s is passed on', async (error) => {
    world.provisioning.answer = { status: 409, body: { error, message: 'secret of the service' } };
    const answer = await createAccount();
    expect([answer.status, answer.body]).toMatchObject([409, { error }]);
    expect(answer.text).not.toContain('secret of the service');
  });

  test.each([
    [409, { error: 'SOMETHING_ELSE' }],
    [500, {}],
    [302, {}],
    [401, 'no'],
  ])('an answer of %i %j is a general error', async (status, body) => {
    world.provisioning.answer = { status, body };
    const answer = await createAccount();
    expect([answer.status, answer.body]).toMatchObject([502, { error: 'GENERAL_ERROR' }]);
  });

  test('the same request again has the same key, and one with another password has another', async () => {
    await createAccount();
    await createAccount();
    world.passwords.set(ANN, 'a new password');
    await createAccount('?in_qa=false', 'a new password');
    world.passwords.set(ANN, PASSWORD);
    const [first, second, third] = world.provisioning.requests.map(({ key }) => key);
    expect(second).toBe(first);
    expect(third).not.toBe(first);
  });

  test('no more of the service’s answer is read than its limit', async () => {
    const error = 'ACCOUNT_ALREADY_CREATED';
    world.provisioning.answer = { status: 409, body: { error, message: 'x'.repeat(128 * 1024) } };
    expect((await createAccount()).body).toMatchObject({ error: 'GENERAL_ERROR' });
  });

  test('nobody can have an account created for a mailbox whose password they do not know', async () => {
    const answer = await createAccount('', 'guess');
    expect([answer.status, answer.body]).toMatchObject([401, { error: 'INVALID_CREDENTIALS' }]);
    expect(world.provisioning.requests).toEqual([]);
  });
});

describe('the announcement of a move', () => {
  const refused = [401, { error: 'INVALID_TOKEN', message: expect.stringContaining('Please sign in again.') }];

  test('is accepted from someone who has signed in to the mailbox, wherever they are by then', async () => {
    const bearer = await sessionOf(fromClient('198.51.100.1'));
    const answer = await announce({ ...bearer, ...fromClient('203.0.113.1') });
    expect([answer.status, answer.body]).toEqual([200, { ok: true }]);
    expect(world.provisioning.requests).toMatchObject([{ path: '/migrations', body: { email: ANN, in_qa: true } }]);
  });

  test('is accepted without a token right after a sign-in, but not a day later', async () => {
    await sessionOf(fromClient('198.51.100.1'));
    expect((await announce(fromClient('198.51.100.1'), ANN.toUpperCase())).status).toBe(200);
    world.advance(24 * 3_600_000 + 1);
    const late = await announce(fromClient('198.51.100.1'));
    expect([late.status, late.body]).toEqual(refused);
  });

  test('is refused to a stranger, to a token of another mailbox, and to one that has run out', async () => {
    world.passwords.set(`bob@${LEGACY_DOMAIN}`, PASSWORD);
    const bob = await sessionOf(fromClient('198.51.100.2'), `bob@${LEGACY_DOMAIN}`);
    const ann = await sessionOf(fromClient('198.51.100.1'));
    for (const headers of [
      {},
      bob,
      { authorization: 'Bearer x' },
      { authorization: `${ann.authorization} ${ann.authorization}` },
    ]) {
      const answer = await announce({ ...headers, ...fromClient('203.0.113.1') });
      expect([answer.status, answer.body]).toEqual(refused);
    }
    world.advance(24 * 3_600_000 + 1);
    expect((await announce({ ...ann, ...fromClient('203.0.113.1') })).status).toBe(401);
    expect(world.provisioning.requests).toEqual([]);
  });

  test('is refused to someone who has signed in under that address at a mail server of their own', async () => {
    const [here, elsewhere] = [fromClient('198.51.100.3'), fromClient('198.51.100.4')];
    const claim = { email: ANN, password: PASSWORD, provider: 'other', imap: world.trustedImap };
    const { body } = await world.post('/api/validate/', claim, here);
    expect(body, 'and no bearer').toMatchObject({ error: 'INVALID_EMAIL' });
    for (const headers of [here, elsewhere]) {
      const answer = await announce(headers);
      expect([answer.status, answer.body]).toEqual(refused);
    }
    expect(world.provisioning.requests).toEqual([]);
  });

  test('that the service refuses is a general error', async () => {
    world.provisioning.answer = { status: 503, body: {} };
    const answer = await announce(await sessionOf());
    expect([answer.status, answer.body]).toMatchObject([502, { error: 'GENERAL_ERROR' }]);
  });
});

test('a domain whose name servers fail is neither said to be wrong nor to take no mail, and is asked for again', async () => {
  const failing = ['failing.example'];
  await using dns = await startDnsServer({ 'failing.example': { mx: ['mx.example'] } }, failing);
  const services = { ...world.services, resolver: openResolver([dns.address]) };
  const web = openWeb({ ...services, discovery: openDiscovery(services) });
  await using served = await startWeb(web, { host: '127.0.0.1', port: 0, portalFolder: null });
  const ask = async (path: string, init?: RequestInit) => {
    const answer = await fetch(`http://127.0.0.1:${served.port}${path}`, init);
    return [answer.status, await answer.json()];
  };
  const askBoth = async () => [
    await ask('/api/v2/domain-validation/?domain=failing.example'),
    await ask('/api/capabilities/', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'ann@failing.example' }),
    }),
  ];
  const unchecked = [502, { error: 'GENERAL_ERROR', message: expect.stringContaining('Please try again.') }];
  expect(await askBoth()).toEqual([unchecked, unchecked]);
  failing.length = 0;
  expect(await askBoth()).toMatchObject([
    [200, { valid: true }],
    [200, { provider: 'other' }],
  ]);
});

describe('notification contacts', () => {
  test.each([
    ['has MX', { mx: ['mx.example'] }, true],
    ['has an address only', { a: ['198.51.100.7'] }, true],
    ['takes no mail (RFC 7505)', { mx: ['.'] }, false],
    ['has nothing', {}, false],
  ])('a domain that %s is answered rightly', async (_name, zone, valid) => {
    world.dns.zones.set('checked.example', zone);
    expect(await checkDomain('checked.example')).toEqual([200, { valid }]);
  });

  test('an international domain is asked for by its ASCII name', async () => {
    world.dns.zones.set('xn--bcher-kva.example', { mx: ['mx.example'] });
    expect(await checkDomain('bücher.example')).toEqual([200, { valid: true }]);
  });

  test('a domain that does not exist is not valid', async () => {
    expect(await checkDomain('nowhere.example')).toEqual([200, { valid: false }]);
    expect(await checkDomain('not a domain')).toEqual([200, { valid: false }]);
  });

  test('a legacy domain works without a look-up', async () => {
    expect(await checkDomain(LEGACY_DOMAIN)).toEqual([200, { valid: true }]);
  });

  test('a missing domain is refused', async () => {
    expect((await world.get('/api/v2/domain-validation/')).status).toBe(400);
  });

  test.each([
    ['+16502530000', true],
    ['650 253 0000', true],
    ['(650) 253-0000', true],
    ['+14165550123', false],
    ['+18762530000', false],
    ['+442079460000', false],
    ['800 253 0000', false],
    ['900 253 0000', false],
    ['650 253 0000 x5', false],
    ['650 253 000', false],
    ['call 650 253 0000', false],
    ['hello', false],
  ])('%s as a US phone number: %s', async (number, valid) => {
    const answer = await world.get(`/api/v2/phone-number-validation/?number=${encodeURIComponent(number)}`);
    expect([answer.status, answer.body]).toEqual([200, { valid }]);
  });

  test('a missing phone number is refused', async () => {
    expect((await world.get('/api/v2/phone-number-validation/')).status).toBe(400);
  });
});

describe('status', () => {
  test.each(['', 'x', 'f'.repeat(31), 'F'.repeat(32), '0'.repeat(32)])('the ID %j is not found', async (id) => {
    for (const path of ['/api/status/', '/api/v2/status/', '/api/v2/status/events/']) {
      const answer = await world.get(`${path}?job_id=${id}`);
      expect([answer.status, answer.body]).toMatchObject([404, { error: 'MIGRATION_ID_NOT_FOUND' }]);
    }
  });
});

describe('support form', () => {
  const message = { email_address: ANN, destination_email: 'ann@mail.example', issue: 'My mail is not here.' };

  test('the message reaches the operator, who can answer it', async () => {
    world.outbox.length = 0;
    expect((await sendSupport({ ...message, migration_id: 'a'.repeat(32) })).body).toEqual({ ok: true });
    const [mail] = world.outbox;
    expect(mail?.to).toEqual(['support@operator.example']);
    expect(mail?.raw).toMatch(/^Reply-To: ann@mail\.example\r$/m);
    expect(mail?.raw).toContain('My mail is not here.');
    expect(mail?.raw).toContain('a'.repeat(32));
  });

  test('the writer gets a copy under the same reference number, and no more than a few of them', async () => {
    world.outbox.length = 0;
    const reference = supportReference({
      emailAddress: ANN,
      destinationEmail: 'ann@mail.example',
      issue: 'My mail is not here.',
    });
    world.passwords.set(ANN, 'correct horse');
    const signedIn = await world.post('/api/validate/', {
      email: ANN,
      password: 'correct horse',
      provider: 'sanbruno',
    });
    const cookie = { cookie: signedIn.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
    await world.post('/api/v2/support-form/', message, cookie);
    expect(world.outbox.map(({ to }) => to)).toEqual([['support@operator.example'], ['ann@mail.example']]);
    for (const { raw } of world.outbox) expect(raw).toContain(reference);
    expect(world.outbox[1]?.raw).toContain('> My mail is not here.');
    expect(world.outbox[1]?.raw).toMatch(/^Auto-Submitted: auto-replied\r$/m);
    const { burst } = LIMITS['copies of support messages to an address'];
    for (let at = 1; at <= burst; at += 1) {
      const from = { ...fromClient(`198.51.100.${at}`), ...cookie };
      expect((await world.post('/api/v2/support-form/', message, from)).status).toBe(200);
    }
    expect(world.outbox.filter(({ to }) => to.includes('ann@mail.example'))).toHaveLength(burst);
    expect(world.outbox.filter(({ to }) => to.includes('support@operator.example'))).toHaveLength(burst + 1);
  });

  test('the same text within an hour has the same Message-ID, so that duplicates can be dropped', async () => {
    world.outbox.length = 0;
    const send = async (issue: string) => {
      expect((await sendSupport({ ...message, issue })).status).toBe(200);
      const { raw } = world.outbox.findLast(({ to }) => to.includes('support@operator.example')) ?? { raw: '' };
      return /^Message-ID: (<[\w.-]+@[\w.-]+>)\r$/m.exec(raw)?.[1];
    };
    const first = await send('The answer was lost.');
    expect(first).toBeDefined();
    expect(await send('The answer was lost.')).toBe(first);
    expect(await send('The answer was lost!')).not.toBe(first);
    world.advance(3_600_000);
    expect(await send('The answer was lost.')).not.toBe(first);
  });

  test('someone who may manage one transfer is a stranger to every mailbox but its own', async () => {
    const [id, browser] = ['a'.repeat(32), 'b'.repeat(64)];
    const order = {
      id,
      sourceEmail: `bob@${LEGACY_DOMAIN}`,
      sourceProvider: 'sanbruno',
      destinationEmail: 'bob@mail.example',
      destinationProvider: 'other',
      operations: ['emailmigration'],
      inQa: false,
    } as const;
    await insertTransfer(world.database, order, id);
    await openWeb(world.services).owners.add(id, browser);
    const copyFor = async (email: string, destination: string) => {
      world.outbox.length = 0;
      const body = { ...message, email_address: email, destination_email: destination, migration_id: id };
      expect((await world.post('/api/v2/support-form/', body, fromBrowser(browser))).status).toBe(200);
      return world.outbox[1]?.raw;
    };
    expect(await copyFor(order.sourceEmail, 'bob@mail.example')).toContain('> My mail is not here.');
    expect(await copyFor(ANN, 'anna@mail.example')).not.toContain('My mail is not here.');
  });

  test('nothing that a visitor writes becomes a header', async () => {
    world.outbox.length = 0;
    const issue = 'x\r\nBcc: victim@mail.example\r\n\r\n.\r\nMAIL FROM:<evil@x.example>\r\n\u2028Subject: y';
    expect((await sendSupport({ ...message, issue })).status).toBe(200);
    const [mail] = world.outbox;
    const headers = mail?.raw.split('\r\n\r\n', 1)[0] ?? '';
    expect(world.outbox.map(({ to }) => to)).toEqual([['support@operator.example'], ['ann@mail.example']]);
    expect(headers).not.toMatch(/^bcc:|victim/im);
    expect(world.outbox[1]?.raw.split('\r\n\r\n', 1)[0]).not.toMatch(/^bcc:|victim/im);
  });

  test.each([
    [{ ...message, email_address: 'x' }, 'INVALID_EMAIL'],
    [{ ...message, email_address: 'ann@mail.example' }, 'INVALID_EMAIL'],
    // Of the provider's, but not the cable domain.
    [{ ...message, email_address: 'ann@sbcable.example' }, 'INVALID_EMAIL'],
    [{ ...message, destination_email: 'a@b.example\r\nBcc: c@d.example' }, 'INVALID_EMAIL'],
    [{ ...message, migration_id: 'x' }, 'GENERAL_ERROR'],
    [{ ...message, issue: '12345' }, 'GENERAL_ERROR'],
    [{ ...message, issue: ' '.repeat(40) }, 'GENERAL_ERROR'],
    [{ ...message, issue: '  \n12345\t  ' }, 'GENERAL_ERROR'],
  ])('%j is refused', async (body, error) => {
    const answer = await sendSupport(body);
    expect([answer.status, answer.body]).toMatchObject([400, { error }]);
  });
});
