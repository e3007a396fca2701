import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { HOST_CHECK_MS } from '../../src/server/web/calls/validate-imap.ts';
import { isPublicAddress, resolvePublicHost, towards } from '../../src/server/network/public-address.ts';
import { fromClient, openWebWorld, type WebWorld } from '../support/web-world.ts';

let world: WebWorld;
/** Where this process has tried to connect to, at ports that nothing here listens at: nobody may. */
const knocks: string[] = [];
const WATCHED_PORTS = new Set([9, 143, 993]);

function watchSocket(message: unknown): void {
  const { socket } = message as { readonly socket: Socket };
  socket.on('connectionAttempt', (address: string, port: number) => {
    if (WATCHED_PORTS.has(port)) knocks.push(`${address}:${port}`);
  });
}

beforeAll(async () => {
  world = await openWebWorld();
  subscribe('net.client.socket', watchSocket);
});
afterAll(async () => {
  unsubscribe('net.client.socket', watchSocket);
  await world[Symbol.asyncDispose]();
});
beforeEach(async () => {
  await world.database.query('delete from limits');
  knocks.length = 0;
});

/** The greatest distance between the distributions of two samples, from 0 to 1. */
function distanceOf(one: readonly number[], other: readonly number[]): number {
  return Math.max(...[...one, ...other].map((limit) => Math.abs(shareWithin(one, limit) - shareWithin(other, limit))));
}

function shareWithin(sample: readonly number[], limit: number): number {
  return sample.filter((value) => value <= limit).length / sample.length;
}

const SPECIAL = [
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '::ffff:7f00:1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::1',
  '100::1',
  '2001::1',
  '2001:db8::1',
  '2002:7f00:1::1',
  '3fff::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%lo',
  'fec0::1',
  'ff02::1',
];
const PUBLIC = ['8.8.8.8', '1.1.1.1', '172.32.0.1', '100.128.0.1', '2606:4700:4700::1111', '2a00:1450:4001::1'];

describe('addresses', () => {
  test.each(SPECIAL)('%s is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });
  test.each(PUBLIC)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
  test.each(['', 'localhost', '127.1', '2130706433', '0x7f000001', '0177.0.0.1'])('%j is no address', (text) => {
    expect(isPublicAddress(text)).toBe(false);
  });
});

describe('hosts', () => {
  const { resolver } = { resolver: () => world.services.resolver };
  const resolve = (host: string, port = 993, trusted: readonly string[] = []) =>
    resolvePublicHost(host, port, { trusted, resolver: resolver() });

  test.each([
    ...SPECIAL.filter((address) => !address.includes('%')),
    '[::1]',
    '127.1',
    '0',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '①②⑦.⓪.⓪.①',
    '127.0.0.1.',
    'localhost',
    'localhost.',
    'LOCALHOST',
    'a.localhost',
    '',
    ' ',
    'host name',
    'user@host.example',
    'host.example/path',
    'fullwidth。１２７.0.0.1',
    '１２７。0。0。1',
    '127.0.0.①①',
    '017700000001',
    '0x7f.0.0.1',
    '0x7f.0x1',
    '0x08.0x080808',
    '127.0.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '%31%32%37.0.0.1',
    '127.0.0.1\u0000.example',
    '127.0.0.1#.example',
  ])('%j is refused', async (host) => {
    await expect(resolve(host)).rejects.toThrow('host');
  });

  test('a name is refused when one of its addresses is not public', async () => {
    world.dns.zones.set('mixed.example', { a: ['8.8.8.8', '10.0.0.1'] });
    await expect(resolve('mixed.example')).rejects.toThrow('not public');
  });

  test('a public name is answered with the address that was checked', async () => {
    world.dns.zones.set('public.example', { a: ['8.8.8.8'] });
    expect(await resolve('Public.Example')).toEqual({
      addresses: ['8.8.8.8'],
      servername: 'public.example',
      trusted: false,
    });
  });

  test.each([
    ['64:ff9b::808:808', true],
    ['64:ff9b::7f00:1', false],
    ['64:ff9b::a9fe:a9fe', false],
    ['64:ff9b::1', false],
    ['64:ff9b::1:808:808', false],
    ['64:ff9b:1::808:808', false],
  ])(
    'a name whose IPv4 address is embedded behind a translator’s prefix, %s, is judged by that address: %s',
    async (aaaa, isPublic) => {
      world.dns.zones.set('translated.example', { a: ['8.8.8.8'], aaaa: [aaaa] });
      const resolved = resolve('translated.example').then(
        ({ addresses: [best] }) => best,
        () => null,
      );
      expect(await resolved).toBe(isPublic ? '8.8.8.8' : null);
    },
  );

  const V4 = {
    family: 'IPv4',
    address: '192.0.2.7',
    netmask: '255.255.255.0',
    cidr: null,
    mac: '',
    internal: false,
  } as const;
  const V6 = {
    family: 'IPv6',
    address: '2001:db8::7',
    netmask: 'ffff::',
    cidr: null,
    mac: '',
    internal: false,
    scopeid: 0,
  } as const;
  const LINK = { ...V6, address: 'fe80::7', scopeid: 2 };
  const LOOPBACK = { ...V4, address: '127.0.0.1', internal: true };

  test.each([
    ['IPv4 only', [V4, LINK], ['8.8.8.8']],
    ['IPv6 only', [V6, LINK, LOOPBACK], ['2606:4700:4700::1111']],
    ['neither', [LOOPBACK], expect.arrayContaining([expect.any(String)])],
  ])('a name with addresses of both families is reached from a machine with %s', async (_, own, addresses) => {
    world.dns.zones.set('both.example', { a: ['8.8.8.8'], aaaa: ['2606:4700:4700::1111'] });
    for (const trusted of [[], ['both.example']]) {
      const options = { trusted, resolver: resolver(), interfaces: { eth0: [...own] } };
      // By which family the answer comes first is chance.
      for (let time = 0; time < 5; time += 1)
        expect(await resolvePublicHost('both.example', 993, options)).toMatchObject({ addresses });
    }
  });

  test('a name behind an alias is judged by where it leads', async () => {
    world.dns.zones.set('alias.example', { cname: 'deeper.example' });
    world.dns.zones.set('deeper.example', { cname: 'inside-alias.example' });
    world.dns.zones.set('inside-alias.example', { a: ['10.0.0.1'] });
    await expect(resolve('alias.example')).rejects.toThrow('not public');
  });

  test('a name with a good address of one family and a bad one of the other is refused', async () => {
    for (const [name, zone] of [
      ['mixed-6.example', { a: ['8.8.8.8'], aaaa: ['::1'] }],
      ['mixed-4.example', { a: ['169.254.169.254'], aaaa: ['2606:4700:4700::1111'] }],
    ] as const) {
      world.dns.zones.set(name, zone);
      await expect(resolve(name)).rejects.toThrow('not public');
    }
  });

  test('an international name is known by its ASCII form to name servers, SNI and certificates', async () => {
    world.dns.zones.set('xn--bcher-kva.example', { a: ['8.8.8.8'] });
    expect(await resolve('Bücher.example')).toMatchObject({
      servername: 'xn--bcher-kva.example',
      addresses: ['8.8.8.8'],
    });
  });

  test('a name whose addresses change after the check is not resolved again', async () => {
    world.dns.zones.set('rebind.example', { a: ['8.8.8.8'] });
    const checked = await resolve('rebind.example');
    world.dns.zones.set('rebind.example', { a: ['127.0.0.1'] });
    expect(checked.addresses).toEqual(['8.8.8.8']);
    const { lookup } = towards(checked);
    const found = await new Promise((resolved) => {
      lookup?.('rebind.example', { all: true }, (_error, all) => resolved(all));
    });
    expect(found).toEqual([{ address: '8.8.8.8', family: 4 }]);
    await expect(resolve('rebind.example')).rejects.toThrow('not public');
  });

  test('this machine’s own addresses are refused', async () => {
    const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    for (const { address } of own) await expect(resolve(address)).rejects.toThrow('not public');
  });

  test.each([0, 22, 25, 80, 443, 5432, 8080, 994])('port %i is no mail port', async (port) => {
    await expect(resolve('public.example', port)).rejects.toThrow('not a mail port');
  });

  test('a host that the operator trusts may be anywhere, at the port that is named', async () => {
    expect(await resolve('127.0.0.1', 1143, ['127.0.0.1:1143'])).toMatchObject({
      addresses: ['127.0.0.1'],
      trusted: true,
    });
    expect(await resolve('::1', 1143, ['[::1]'])).toMatchObject({ addresses: ['::1'] });
    await expect(resolve('127.0.0.1', 1144, ['127.0.0.1:1143'])).rejects.toThrow('port');
    await expect(resolve('127.0.0.1', 993, ['127.0.0.1:1143'])).rejects.toThrow('not public');
  });
});

describe('the check of a host', () => {
  let client = 0;
  const check = async (imap: string) => {
    client += 1;
    const began = performance.now();
    const answer = await world.post('/api/validate-imap/', { imap }, fromClient(`198.51.100.${client}`));
    return { answer, took: performance.now() - began };
  };

  test('passes one that greets as IMAP', async () => {
    expect((await check(world.trustedImap)).answer.body).toEqual({ ok: true });
  });

  test('passes one that resolves, whatever answers there, and connects to none', async () => {
    world.dns.zones.set('public.example', { a: ['8.8.8.8'] });
    world.dns.zones.set('far.example', { cname: 'public.example' });
    for (const imap of ['public.example', 'PUBLIC.example:143', 'far.example:993'])
      expect((await check(imap)).answer.body).toEqual({ ok: true });
    expect(knocks).toEqual([]);
  });

  test('answers private and unknown hosts and other ports alike, after the same time', async () => {
    world.dns.zones.set('private.example', { a: ['127.0.0.1'] });
    world.dns.zones.set('nowhere-to-go.example', { a: ['240.0.0.1'] });
    const results = await Promise.all(
      ['private.example', 'private.example:143', 'private.example:9', 'nowhere-to-go.example', 'unknown.example'].map(
        check,
      ),
    );
    for (const { answer, took } of results) {
      expect([answer.status, answer.text]).toEqual([
        400,
        JSON.stringify({ error: 'INVALID_IMAP', message: 'Could not resolve IMAP host.' }),
      ]);
      expect(took).toBeGreaterThanOrEqual(HOST_CHECK_MS - 5);
    }
    expect(knocks).toEqual([]);
  });

  test(
    'takes the same time for a name that is unknown and for one that leads inside, as far as statistics can tell',
    { tags: 'proof' },
    async () => {
      const kinds = ['unknown.example', 'private.example', 'here.example', 'private.example:9'];
      await using other = await openWebWorld();
      other.dns.zones.set('here.example', { a: ['127.0.0.1'] });
      other.dns.zones.set('private.example', { a: ['10.0.0.1'] });
      const samples = kinds.map((): number[] => []);
      const TIMES = 50;
      await Promise.all(
        Array.from({ length: TIMES * kinds.length }, async (_, at) => {
          const began = performance.now();
          const imap = kinds[at % kinds.length];
          const address = fromClient(`198.18.${Math.floor(at / 250)}.${at % 250}`);
          const answer = await other.post('/api/validate-imap/', { imap }, address);
          samples[at % kinds.length]?.push(performance.now() - began);
          expect([answer.status, answer.body]).toMatchObject([400, { message: 'Could not resolve IMAP host.' }]);
        }),
      );
      // Two samples of 50 from one distribution are 0.5 apart once in half a million times (Kolmogorov-Smirnov).
      for (const one of samples) for (const another of samples) expect(distanceOf(one, another)).toBeLessThan(0.5);
    },
  );

  test('never reaches this machine, however it is spelled', async () => {
    world.dns.zones.set('inside.example', { a: ['127.0.0.1'] });
    const spellings = [
      'inside.example',
      'INSIDE.example:143',
      '127.0.0.1',
      '127.1',
      '[::1]:993',
      'localhost',
      '0x7f.1',
    ];
    for (const { answer } of await Promise.all(spellings.map(check)))
      expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_IMAP' }]);
    const sign = await world.post('/api/validate/', {
      email: 'ann@mail.example',
      password: 'x',
      provider: 'other',
      imap: 'inside.example:143',
    });
    expect([sign.status, sign.body]).toMatchObject([400, { error: 'INVALID_IMAP' }]);
    expect(knocks).toEqual([]);
  });

  test('never reaches a host that the operator trusts by its address, which nobody may name, however it is spelled', async () => {
    const [, port] = world.trustedImap.split(':');
    world.passwords.set('ann@mail.example', 'right');
    const claim = { email: 'ann@mail.example', password: 'right', provider: 'other' };
    const signIn = (imap: string) => world.post('/api/validate/', { ...claim, imap }, fromClient('203.0.113.77'));
    for (const name of ['127.0.0.1', '0x7f.0x1', '127.0.0.0x1', '0x7f.0X1', '１２７.０.０.0x1']) {
      const { body } = await signIn(`${name}:${port}`);
      expect(body, `spelled ${name}`).toMatchObject({ error: 'INVALID_IMAP' });
    }
    expect(await signIn(world.trustedImap)).toMatchObject({ status: 200 });
  });

  test('a domain’s own announcement can’t lead inside either', async () => {
    world.dns.zones.set('trap.example', { mx: ['mx.trap.example'], a: ['127.0.0.1'] });
    world.dns.zones.set('autoconfig.trap.example', { a: ['127.0.0.1'] });
    world.dns.zones.set('_imap._tcp.trap.example', { srv: [{ name: 'inside.trap.example', port: 143 }] });
    world.dns.zones.set('inside.trap.example', { a: ['127.0.0.1'] });
    const answer = await world.post('/api/validate/', { email: 'ann@trap.example', password: 'x', provider: 'other' });
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_IMAP' }]);
    expect(knocks).toEqual([]);
  });
});
