import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { CLOCKS_APART_MS, LIMITS, openLimits, type LimitName } from '../../src/server/web/limits.ts';
import { clientNetwork, widerNetwork } from '../../src/server/web/client-address.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { OauthBrowser } from '../support/oauth-browser.ts';
import { fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const HOUR_MS = 3_600_000;
const GUESSES = 200;
const ADDRESSES = 50;
const REACHED_AT_MOST = 10;

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ clockStands: true });
  world.passwords.set(ANN, PASSWORD);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'known_clients']) await world.database.query(`delete from ${table}`);
  world.signIns.length = 0;
  // Whoever was refused just now would be refused still.
  world.advance(1000);
});

const signIn = (password: string, client: string, email = ANN) =>
  world.post('/api/validate/', { email, password, provider: 'sanbruno' }, fromClient(client));

describe('sign-ins', () => {
  test('two hundred guesses from fifty addresses hardly reach the mailbox, and its owner gets in when told', async () => {
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < GUESSES; sent += ADDRESSES) {
      const answers = await Promise.all(
        Array.from({ length: ADDRESSES }, (_, at) => signIn(`guess ${sent + at}`, `198.51.100.${at + 1}`)),
      );
      for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(new Set(statuses.keys())).toEqual(new Set([401, 429]));
    expect(world.signIns.length).toBeLessThanOrEqual(REACHED_AT_MOST);

    const refused = await signIn(PASSWORD, '203.0.113.9');
    expect([refused.status, refused.body]).toMatchObject([429, { error: 'TOO_MANY_ATTEMPTS' }]);
    const wait = Number(refused.headers.get('retry-after'));
    expect(wait).toBeGreaterThan(0);
    world.passwords.set(BOB, PASSWORD);
    expect((await signIn(PASSWORD, '203.0.113.9', BOB)).status, 'the other mailboxes').toBe(200);
    world.advance(wait * 1000);
    expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('a slot that is booked is not lost to others who go on guessing', async () => {
    for (let at = 0; at < LIMITS['sign-ins to a mailbox'].burst; at += 1) await signIn('guess', `198.51.100.${at}`);
    const refused = await signIn(PASSWORD, '203.0.113.9');
    expect(refused.status).toBe(429);
    world.advance(Number(refused.headers.get('retry-after')) * 1000);
    for (let at = 0; at < 20; at += 1) await signIn('guess', `198.51.100.${100 + at}`);
    expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('a client that has signed in before is not kept waiting by others', async () => {
    expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
    for (let at = 0; at < 30; at += 1) await signIn('guess', `198.51.100.${at}`);
    expect((await signIn('guess', '198.51.100.99')).status).toBe(429);
    expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('a browser that has signed in before, and moves to another network, is not kept waiting by others', async () => {
    const browser = new OauthBrowser(world);
    const signInThere = async (password: string, client: string) => {
      const headers = { ...fromClient(client), ...browser.headers };
      const answer = await world.post('/api/validate/', { email: ANN, password, provider: 'sanbruno' }, headers);
      browser.keep(answer);
      return answer.status;
    };
    for (const client of ['203.0.113.9', '203.0.113.10', '203.0.113.11']) {
      expect(await signInThere(PASSWORD, client)).toBe(200);
      for (let at = 0; at < 30; at += 1) await signIn('guess', `198.51.100.${at}`);
      expect((await signIn('guess', '198.51.100.99')).status).toBe(429);
    }
  });

  test('by many browsers of somebody who knew a former password reach the mailbox no oftener than by a few', async () => {
    const attempt = (password: string, { headers }: OauthBrowser) => {
      const from = { ...fromClient('203.0.113.9'), ...headers };
      return world.post('/api/validate/', { email: ANN, password, provider: 'sanbruno' }, from);
    };
    const browsers = Array.from({ length: 8 }, () => new OauthBrowser(world));
    for (const browser of browsers) browser.keep(await attempt(PASSWORD, browser));
    world.passwords.set(ANN, 'another horse');
    onTestFinished(() => void world.passwords.set(ANN, PASSWORD));
    world.signIns.length = 0;
    for (const browser of browsers)
      for (let at = 0; at < LIMITS['sign-ins to a mailbox by a client that knows it'].burst; at += 1)
        await attempt('guess', browser);
    const { burst } = LIMITS['sign-ins to a mailbox by all clients that know it'];
    expect(world.signIns).toHaveLength(burst + LIMITS['sign-ins to a mailbox'].burst);
  });

  test('are still counted by a server that has just started', async () => {
    for (let at = 0; at < LIMITS['sign-ins to a mailbox'].burst; at += 1) await signIn('guess', `198.51.100.${at}`);
    await using restarted = await startWeb(openWeb(world.services), { host: '127.0.0.1', port: 0, portalFolder: null });
    const response = await fetch(`http://127.0.0.1:${restarted.port}/api/validate/`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: ANN, password: PASSWORD, provider: 'sanbruno' }),
    });
    expect(response.status).toBe(429);
  });

  test('that were counted by a clock that was ahead for a moment keep nobody out once it is put right', async () => {
    world.advance(3 * HOUR_MS);
    // Enough to be refused, and to have a slot booked.
    for (let at = 0; at < 7; at += 1) await signIn('guess', '203.0.113.9');
    const refused = await signIn(PASSWORD, '203.0.113.9');
    world.advance(-3 * HOUR_MS);
    expect(refused.status).toBe(429);
    expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
    expect((await signIn('guess', '203.0.113.10')).status).toBe(401);
  });

  test('are still counted when a clock is put right by less than two processes may differ', async () => {
    world.advance(CLOCKS_APART_MS);
    for (let at = 0; at < LIMITS['sign-ins to a mailbox'].burst; at += 1) await signIn('guess', `198.51.100.${at}`);
    for (let at = 0; at < LIMITS['sign-ins by a client'].burst; at += 1)
      await signIn('guess', '203.0.113.9', `${at}@${LEGACY_DOMAIN}`);
    world.advance(-CLOCKS_APART_MS);
    expect((await signIn('guess', '198.51.100.99')).status).toBe(429);
    expect((await signIn('guess', '203.0.113.9', BOB)).status).toBe(429);
  });

  test('under ever new domains count as guesses at one mailbox, for a server that overlooks the domain', async () => {
    for (let at = 0; at < 2 * LIMITS['sign-ins to a mailbox'].burst; at += 1)
      await world.post(
        '/api/validate/',
        { email: `ann@d${at}.example`, password: 'guess', provider: 'other', imap: world.trustedImap },
        fromClient(`203.0.113.${at}`),
      );
    expect(world.signIns).toHaveLength(LIMITS['sign-ins to a mailbox'].burst);
  });

  test('right passwords are never counted', async () => {
    for (let at = 0; at < 3 * LIMITS['sign-ins by a client'].burst; at += 1)
      expect((await signIn(PASSWORD, '203.0.113.9')).status).toBe(200);
  });

  test('a neighbourhood can not try one password at ever new mailboxes, nor keep others from the mail server', async () => {
    const { burst } = LIMITS['sign-ins by a neighbourhood'];
    const limits = openLimits(world.services);
    for (let at = 1; at < burst; at += 1)
      await limits.take('sign-ins by a neighbourhood', widerNetwork('2001:db8:9:1::/64'));
    expect((await signIn('guess', '2001:db8:9:2::1', `bob@${LEGACY_DOMAIN}`)).status).toBe(401);
    const refused = await signIn('guess', '2001:db8:9:3::1', `eve@${LEGACY_DOMAIN}`);
    expect([refused.status, refused.body]).toMatchObject([429, { challenge: expect.anything() }]);
    expect((await signIn(PASSWORD, '2001:db8:a:1::1')).status).toBe(200);
    expect(burst).toBeLessThan(LIMITS['sign-ins to a host'].burst / 2);
  });

  test('one client can guess at few mailboxes only', async () => {
    const answers = [];
    for (let at = 0; at < LIMITS['sign-ins by a client'].burst + 1; at += 1)
      answers.push((await signIn('guess', '203.0.113.9', `user${at}@${LEGACY_DOMAIN}`)).status);
    expect(answers.filter((status) => status === 401).length).toBe(LIMITS['sign-ins by a client'].burst);
    expect(answers.at(-1)).toBe(429);
  });

  test('that got no answer count for the client, not for the mailbox, and make no client a known one', async () => {
    const { limits, signInLimits } = openWeb(world.services);
    const client = '203.0.113.9';
    const tried = LIMITS['sign-ins to a mailbox'].burst + 1;
    const attempt = {
      mailbox: ANN,
      host: 'mail.example',
      hostIsNamed: false,
      client,
      browser: 'b',
      call: '/api/load/',
    };
    for (let at = 0; at < tried; at += 1) await (await signInLimits.trySignIn(attempt))('unknown');
    expect(await limits.used('sign-ins to a mailbox', ANN)).toBe(0);
    expect(await limits.used('sign-ins by a client', client)).toBeGreaterThan(tried - 1);
    expect(await signInLimits.hasSignedIn(ANN, client, HOUR_MS)).toBe(false);
  });

  test('at a named host are counted by what stands before the @, whatever domain is written behind it', async () => {
    const { limits, signInLimits } = openWeb(world.services);
    const host = 'named.example';
    const guess = { host, hostIsNamed: true, client: '203.0.113.9', browser: 'b', call: '/api/validate/' };
    for (const mailbox of ['j.doe@x.example', 'j.doe+1@gmail.com', 'jdoe@gmail.com', 'j.dóe@googlemail.com'])
      await (
        await signInLimits.trySignIn({ ...guess, mailbox })
      )('wrong');
    const counted = await Promise.all(
      ['j.doe', 'jdoe'].map((name) => limits.used('sign-ins to a mailbox', `${name}@\n${host}`)),
    );
    expect(counted.map(Math.round)).toEqual([3, 1]);
  });

  test('at a server that takes anybody leave only so much in the database, whatever mailboxes and browsers are made up', async () => {
    const { signInLimits } = openWeb(world.services);
    const kept = async () => (await world.database.query('select key from known_clients')).length;
    const right = async (at: number, host: string, client: string) => {
      const named = { mailbox: `u${at}@mail.example`, host, hostIsNamed: true, call: '/api/validate/' };
      await (
        await signInLimits.trySignIn({ ...named, client, browser: `browser ${at}` })
      )('right');
    };
    const { burst } = LIMITS['visitors remembered elsewhere from a neighbourhood'];
    for (let at = 0; at < burst + 20; at += 1) await right(at, `h${at}.example`, `2001:db8:9:${at % 50}::/64`);
    expect(await kept()).toBe(2 * burst);
    await right(0, 'h0.example', '2001:db8:9:0::/64');
    await right(1, 'h0.example', '198.51.100.1');
    expect(await kept(), 'of another neighbourhood').toBe(2 * burst + 2);
  });

  test('the database holds no address or client in clear', async () => {
    await signIn('guess', '203.0.113.9');
    const rows = await world.database.query('select * from limits');
    expect(JSON.stringify(rows)).not.toMatch(/ann@|203\.0\.113/);
  });
});

const send = (client: string, email = ANN) =>
  world.post('/api/v2/support-form/', { email_address: email, issue: 'Please help me.' }, fromClient(client));

test('sign-ins to ever new domains cause no more look-ups than a client is allowed', async () => {
  const { burst } = LIMITS['look-ups by a client'];
  const statuses = await Promise.all(
    Array.from({ length: 2 * burst }, async (_, at) => {
      const body = { email: `ann@a${at}.example`, password: PASSWORD, provider: 'other' };
      return (await world.post('/api/validate/', body, fromClient('192.0.2.77'))).status;
    }),
  );
  // Some more when it takes longer than a second.
  expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(burst / 2);
  expect(statuses.filter((status) => status === 400).length).toBeGreaterThanOrEqual(burst);
});

test('support messages are limited by client', async () => {
  // What is refused as it is, and so never sent, is no message.
  for (let at = 0; at <= LIMITS['support messages by a client'].burst; at += 1)
    expect((await send('2001:db8:1:2::1', 'bob@elsewhere.example')).status).toBe(400);
  for (let at = 0; at < LIMITS['support messages by a client'].burst; at += 1)
    expect((await send('2001:db8:1:2::1')).status).toBe(200);
  const refused = await send('2001:db8:1:2:ffff::9');
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, expect.stringMatching(/^\d+$/)]);
  expect((await send('2001:db8:1:3::1')).status).toBe(200);
});

test('a neighbourhood uses up the support messages of no other, nor those about a mailbox when it is refused', async () => {
  const name = 'support messages of strangers from a neighbourhood';
  const limits = openLimits(world.services);
  for (let at = 1; at < LIMITS[name].burst; at += 1) await limits.take(name, widerNetwork('2001:db8:7:1::/64'));
  expect((await send('2001:db8:7:2::1', `bob@${LEGACY_DOMAIN}`)).status).toBe(200);
  for (let at = 0; at < LIMITS['support messages about a mailbox'].burst; at += 1)
    expect((await send(`2001:db8:7:${3 + at}::1`)).status).toBe(429);
  expect((await send('2001:db8:8:1::1')).status).toBe(200);
});

test('a client behind our proxy escapes no limit by entries of its own, and is told when to come back', async () => {
  const spoofed = (at: number) => send(`192.0.2.${at}, 203.0.113.${at}, 198.51.100.77`);
  for (let at = 0; at < LIMITS['support messages by a client'].burst; at += 1)
    expect((await spoofed(at)).status).toBe(200);
  const refused = await spoofed(99);
  expect(refused.status).toBe(429);
  expect((await send('198.51.100.78')).status, 'a neighbour').toBe(200);
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  world.advance((seconds - 2) * 1000);
  expect((await spoofed(100)).status, 'too early').toBe(429);
  world.advance(2000);
  expect((await spoofed(101)).status).toBe(200);
});

describe('the client’s network', () => {
  test.each([
    ['203.0.113.9', undefined, 0, '203.0.113.9'],
    ['203.0.113.9', '198.51.100.1', 0, '203.0.113.9'],
    ['10.0.0.1', '1.2.3.4, 198.51.100.1', 1, '198.51.100.1'],
    ['10.0.0.1', '1.2.3.4, 198.51.100.1, 10.0.0.2', 2, '198.51.100.1'],
    ['10.0.0.1', '198.51.100.1', 2, '198.51.100.1'],
    ['10.0.0.1', 'nonsense', 1, '10.0.0.1'],
    ['10.0.0.1', undefined, 1, '10.0.0.1'],
    ['::ffff:203.0.113.9', undefined, 0, '203.0.113.9'],
    ['2001:DB8:0:0:1::2', undefined, 0, '2001:db8:0:0::/64'],
    ['2001:db8::1:2:3:4:5', undefined, 0, '2001:db8:0:1::/64'],
    ['::1', undefined, 0, '0:0:0:0::/64'],
    [undefined, undefined, 0, 'unknown'],
    ['10.0.0.1', '192.0.2.9, 198.51.100.7:54321', 1, '198.51.100.7'],
    ['10.0.0.1', '[2001:db8:1:2::9]:443', 1, '2001:db8:1:2::/64'],
    ['10.0.0.1', '[2001:db8:1:2::9]', 1, '2001:db8:1:2::/64'],
    ['10.0.0.1', '198.51.100.7:443:5', 1, '10.0.0.1'],
  ])('%s with %s behind %i proxies is %s', (socket, forwarded, proxies, network) => {
    expect(clientNetwork(socket, forwarded, proxies)).toBe(network);
  });
});

test('when one of several limits that are taken together refuses, none is used', async () => {
  const { limits } = openWeb(world.services);
  const open = ['calls by a client', 'somebody'] as const;
  const usedUp = ['support messages by a client', 'somebody'] as const;
  for (let at = 0; at < LIMITS[usedUp[0]].burst; at += 1) expect(await limits.takeAll([usedUp])).toBe(0);
  expect(await limits.takeAll([open, usedUp])).toBeGreaterThan(0);
  expect(await limits.used(...open)).toBe(0);
});

test('each limit forgets what was counted while a clock was ahead', async () => {
  const { limits } = openWeb(world.services);
  for (const [name, { burst }] of Object.entries(LIMITS).filter(([, each]) => each.burst < 100)) {
    const count = [name as LimitName, 'somebody'] as const;
    world.advance(365 * 24 * HOUR_MS);
    for (let at = 0; at < burst; at += 1) expect(await limits.takeAll([count])).toBe(0);
    expect([name, await limits.takeAll([count])]).not.toEqual([name, 0]);
    expect(await limits.used(...count)).toBeGreaterThan(burst - 1);
    world.advance(-365 * 24 * HOUR_MS);
    expect([name, await limits.used(...count)]).toEqual([name, 0]);
    expect([name, await limits.takeAll([count])]).toEqual([name, 0]);
  }
});
