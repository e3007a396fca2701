import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { PRICE } from '../../src/server/web/sign-in-limits.ts';
import { type Count, limitKey, LIMITS, openLimits } from '../../src/server/web/limits.ts';
import { WORK_WITHIN_MS } from '../../src/server/web/work.ts';
import { readSolution, WORK, WORK_HEADER, writeSolution, type Challenge } from '../../src/contract/work.ts';
import { solutionFor } from '../../src/portal/work.ts';
import { besiege, busiestHour } from '../support/siege.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { fromBrowser, fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const BOB = `bob@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const OWNER = '203.0.113.9';

/** The header with the work that a refusal asks for. */
async function solved(refusal: unknown): Promise<Record<string, string>> {
  const solution = await solutionFor(refusal, new AbortController().signal);
  return { [WORK_HEADER]: solution ?? '' };
}

describe('a proof of work', () => {
  let world: WebWorld;
  beforeAll(async () => {
    vi.stubGlobal('isSecureContext', true);
    world = await openWebWorld();
    for (const email of [ANN, BOB]) world.passwords.set(email, PASSWORD);
  });
  afterAll(async () => {
    vi.unstubAllGlobals();
    await world[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    for (const table of ['limits', 'limit_slots', 'known_clients', 'spent_work'])
      await world.database.query(`delete from ${table}`);
  });

  const signIn = (password: string, client: string, headers: Record<string, string> = {}, email = ANN) =>
    world.post('/api/validate/', { email, password, provider: 'sanbruno' }, { ...fromClient(client), ...headers });
  const attack = async (email = ANN) => {
    for (let at = 0; at < LIMITS['sign-ins to a mailbox'].burst; at += 1)
      await signIn('guess', `198.51.100.${at}`, {}, email);
  };

  test('is asked for beside the wait, and lets a newcomer in at once', async () => {
    await attack();
    const refused = await signIn(PASSWORD, OWNER);
    expect([refused.status, refused.body]).toMatchObject([
      429,
      {
        error: 'TOO_MANY_ATTEMPTS',
        message: expect.stringContaining('Please try again in'),
        challenge: { tries: PRICE.least },
      },
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await signIn(PASSWORD, OWNER, await solved(refused.body))).status).toBe(200);
  });

  test('is taken once, and for the call, the mailbox and the time it was asked for', async () => {
    await attack();
    await attack(BOB);
    const { body } = await signIn('guess', OWNER);
    const work = await solved(body);
    const elsewhere = await world.post(
      '/api/v2/san-bruno-create-account/?in_qa=false',
      { email: ANN, password: PASSWORD },
      { ...fromClient(OWNER), ...work },
    );
    expect(elsewhere.status, 'another call').toBe(429);
    expect((await signIn(PASSWORD, OWNER, work, BOB)).status, 'another mailbox').toBe(429);
    expect((await signIn('guess', OWNER, work)).status, 'the right one').toBe(401);
    expect((await signIn(PASSWORD, OWNER, work)).status, 'again').toBe(429);
    expect(await world.database.query('select 1 from spent_work')).toHaveLength(1);
    const late = await solved((await signIn('guess', OWNER)).body);
    world.advance(WORK_WITHIN_MS + 1);
    await world.database.query('delete from limit_slots');
    await attack();
    expect((await signIn(PASSWORD, OWNER, late)).status, 'too late').toBe(429);
    await openWeb(world.services).signInLimits.purge();
    expect(await world.database.query('select 1 from spent_work')).toEqual([]);
  });

  test('is taken once when it is sent twice at the same time', async () => {
    await attack();
    const work = await solved((await signIn('guess', OWNER)).body);
    const answers = await Promise.all([signIn('guess', OWNER, work), signIn('guess', OWNER, work)]);
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([401, 429]);
  });

  test('counts for nothing when it is not done, or not ours', async () => {
    await attack();
    const { challenge } = (await signIn('guess', OWNER)).body as { challenge: Challenge };
    const { [WORK_HEADER]: right = '' } = await solved({ error: 'TOO_MANY_ATTEMPTS', challenge });
    const { counters = [], token = '' } = readSolution(right) ?? {};
    const [body = ''] = token.split('.');
    for (const wrong of [
      '',
      'x',
      token,
      'x'.repeat(9000),
      writeSolution({ token, counters: counters.map(() => 0) }),
      writeSolution({ token: `${body}.${'0'.repeat(64)}`, counters }),
      writeSolution({ token: `${body}x.${token.slice(body.length + 1)}`, counters }),
    ])
      expect((await signIn(PASSWORD, OWNER, { [WORK_HEADER]: wrong })).status, `${wrong.length} characters`).toBe(429);
    expect((await signIn(PASSWORD, OWNER, { [WORK_HEADER]: right })).status).toBe(200);
  });

  test('costs more the more guesses were paid for lately, up to what an old phone does in ten seconds', async () => {
    await attack();
    const limits = openLimits(world.services);
    const priceAfter = async (guesses: number) => {
      await world.database.query('delete from limits where key = $1', [
        limitKey(world.services.vault, ['price of a mailbox', ANN]),
      ]);
      for (let at = 0; at < guesses; at += 1) await limits.takeAll([['price of a mailbox', ANN]]);
      return ((await signIn('guess', OWNER)).body as { challenge: Challenge }).challenge.tries;
    };
    expect([await priceAfter(0), await priceAfter(16), await priceAfter(64), await priceAfter(100)]).toEqual([
      PRICE.least,
      expect.closeTo(4 * PRICE.least, -1),
      PRICE.most,
      PRICE.most,
    ]);
    expect(PRICE.most * WORK.parts * WORK.iterations).toBeLessThanOrEqual(2_100_000);
  });

  test('that was asked for ahead, and costs less than half of what it costs by now, is not taken', async () => {
    await attack();
    const limits = openLimits(world.services);
    const guessed = async (times: number) => {
      for (let at = 0; at < times; at += 1) await limits.takeAll([['price of a mailbox', ANN]]);
    };
    const gathered: Record<string, string>[] = [];
    for (let at = 0; at < 2; at += 1) gathered.push(await solved((await signIn('guess', OWNER)).body));
    await guessed(PRICE.mailboxDoublesEvery - 1);
    expect((await signIn('guess', OWNER, gathered[0])).status, 'less than double').toBe(401);
    await guessed(PRICE.mailboxDoublesEvery);
    const refused = await signIn(PASSWORD, OWNER, gathered[1]);
    expect(refused.status).toBe(429);
    expect((refused.body as { challenge: Challenge }).challenge.tries).toBeGreaterThan(2 * PRICE.least);
    expect((await signIn(PASSWORD, OWNER, await solved(refused.body))).status).toBe(200);
  });

  test('is not asked of a browser that has signed in before, even from a network that guesses', async () => {
    const cookie = fromBrowser('b'.repeat(64));
    expect((await signIn(PASSWORD, OWNER, cookie)).status).toBe(200);
    for (let at = 0; at < 30; at += 1) await signIn('guess', '198.51.100.7');
    expect((await signIn('guess', '198.51.100.7')).body).toHaveProperty('challenge');
    expect((await signIn(PASSWORD, '198.51.100.7', cookie)).status).toBe(200);
    for (let at = 0; at < 5; at += 1) await signIn('guess', OWNER);
    expect((await signIn(PASSWORD, OWNER, cookie)).status, 'where others of its network mistype').toBe(200);
  });

  test('lets a newcomer in while strangers keep the whole mail server busy with guesses at others', async () => {
    const host: Count = ['sign-ins to a host', '127.0.0.1'];
    await openLimits(world.services).takeAll([host]);
    await world.database.query('update limits set free_at = free_at + 100000 where key = $1', [
      limitKey(world.services.vault, host),
    ]);
    const refused = await signIn(PASSWORD, OWNER);
    expect(refused.status).toBe(429);
    expect((await signIn(PASSWORD, OWNER, await solved(refused.body))).status).toBe(200);
  });

  const sites = 150;
  const minutes = 6 * 60;

  test(
    'lets an owner in at whose mailbox hundreds of networks guess for six hours, and who comes for the first time, at any moment, with one piece of work a try',
    { tags: 'proof', timeout: 480_000 },
    async () => {
      const siege = await besiege({ sites, minutes, joining: 15, owners: [0, 1, 5, 9, 11, 60, 137, 240, 359] });
      expect(siege.arrivals).toHaveLength(9);
      for (const { minute, work } of siege.arrivals) {
        expect(work.length, `in minute ${minute}`).toBe(3);
        for (const pieces of work) expect([0, 1], `in minute ${minute}`).toContain(pieces);
      }
      expect(
        siege.arrivals.some(({ work }) => work.includes(1)),
        'work is asked for',
      ).toBe(true);
      expect(siege.dearest).toBe(PRICE.most);
      // Three for each site, and what all share: at once, and then by the hour.
      expect(siege.guesses.length).toBeGreaterThan(3 * sites);
      expect(siege.guesses.length).toBeLessThanOrEqual(3 * sites + 5 + 30 + 6 * 90);
      expect(busiestHour(siege.guesses)).toBeLessThanOrEqual(3 * sites + 5 + 30 + 90);
    },
  );
});
