import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { openStatusStreams } from '../../src/server/web/calls/status-events.ts';
import { LIMITS, openLimits } from '../../src/server/web/limits.ts';
import { fromBrowser, LEGACY_DOMAIN, openWebWorld, signedInBy, type WebWorld } from '../support/web-world.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const PASSWORD = 'correct horse';
const ELSEWHERE = 'ann@mail.example';
const BROWSER = 'b'.repeat(64);
const HEX = /^[0-9a-f]{32}$/;

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo', 'google'] });
  world.passwords.set(ANN, PASSWORD);
  world.passwords.set(ELSEWHERE, 'other');
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(async () => {
  for (const table of ['limits', 'limit_slots', 'transfers', 'announced_moves'])
    await world.database.query(`delete from ${table}`);
  world.signIns.length = 0;
});

async function tokenOf(email: string, provider: 'yahoo' | 'google' = 'yahoo'): Promise<string> {
  const owner = { email, provider, browser: signedInBy(world, BROWSER) };
  return world.services.tokens.store(owner, { access: 'access', refresh: 'refresh', expiresIn: 3600 });
}

type Load = Record<string, unknown> & {
  source_account: Record<string, unknown>;
  destination_account: Record<string, unknown>;
  parameters: Record<string, unknown>;
};

async function move(change: Partial<Load> = {}): Promise<Load> {
  return {
    source_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' },
    destination_account: { email: ANN, provider: 'yahoo', token_id: await tokenOf(ANN) },
    operations: ['emailmigration', 'contactsmigration'],
    parameters: { notification_email: ELSEWHERE, in_qa: false },
    ...change,
  };
}

const load = (body: object) => world.post('/api/load/', body, fromBrowser(BROWSER));
const transfers = () => world.database.query('select * from transfers');

const askForAccount = async () => {
  world.provisioning.answer = {
    status: 409,
    body: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' },
  };
  const answer = await world.post('/api/v2/san-bruno-create-account/?in_qa=false', {
    email: ANN,
    password: PASSWORD,
  });
  return answer.body as { error: string; jobid?: string };
};
const ended = async (status: 'completed' | 'review') => {
  const { jobid } = (await load(await move())).body as { jobid: string };
  await world.database.query('update transfers set finished = now()');
  await world.database.query('update operations set status = $1, finished = now()', [status]);
  return jobid;
};
/** A message, by the ledger of a transfer. */
const brought = async (jobid: string) => {
  await world.database.query(
    `with mailbox as (insert into ledger_mailboxes (transfer_id, source_path, source_uid_validity, destination_path)
       values ($1, 'INBOX', 1, 'INBOX') returning id)
     insert into ledger (mailbox_id, uid, fate, size) select id, 1, 'stored', 1 from mailbox`,
    [jobid],
  );
};

describe('a transfer that is proven', () => {
  test('to a provider by OAuth is started, and its status can be asked for', async () => {
    const answer = await load(await move());
    expect([answer.status, answer.body]).toEqual([200, { jobid: expect.stringMatching(HEX) }]);
    const { jobid } = answer.body as { jobid: string };
    expect(world.signIns).toEqual([ANN]);
    expect((await world.get(`/api/status/?job_id=${jobid}`)).body).toEqual({
      emailmigration: { status: 'started' },
      contactsmigration: { status: 'started' },
    });
    // An ID may come in capitals.
    expect((await world.get(`/api/v2/status/?job_id=${jobid.toUpperCase()}`)).body).toMatchObject({
      emailmigration: { status: 'started', done: 0, started: expect.any(String) },
    });
  });

  test('keeps the tokens of its destination', async () => {
    const tokenId = await tokenOf(ANN);
    await load(await move({ destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId } }));
    const [row] = await world.database.query<{ expires: number }>('select expires from oauth_tokens where id = $1', [
      tokenId,
    ]);
    expect(row?.expires).toBeGreaterThan(Date.now() + 24 * 3_600_000);
  });

  test('submitted twice is one transfer', async () => {
    const body = await move();
    const [first, second] = await Promise.all([load(body), load(body)]);
    const third = await load(body);
    expect(second.body).toEqual(first.body);
    expect(third.body).toEqual(first.body);
    expect((await transfers()).length).toBe(1);
  });

  test('submitted several times at once counts once, and is no less when it is the last that may be ordered', async () => {
    const limits = openLimits(world.services);
    const left = LIMITS['transfers of a mailbox'].burst - 1;
    await limits.takeAll(Array.from({ length: left }, () => ['transfers of a mailbox', ANN]));
    const body = await move();
    const answers = await Promise.all(Array.from({ length: 5 }, () => load(body)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers[0]?.status).toBe(200);
    expect(await limits.used('transfers of a mailbox', ANN)).toBeCloseTo(left + 1, 1);
    expect(await limits.used('transfers of a mailbox that tell a contact', `${ANN}\n${ELSEWHERE}`)).toBeCloseTo(1, 1);
    expect(await limits.used('transfers that tell a contact', ELSEWHERE)).toBe(0);
  });

  test('that a limit refuses leaves nothing behind', async () => {
    const limits = openLimits(world.services);
    const { burst } = LIMITS['transfers by a client'];
    await limits.takeAll(Array.from({ length: burst }, () => ['transfers by a client', '127.0.0.1']));
    const refused = await load(await move());
    expect([refused.status, refused.body]).toMatchObject([429, { error: 'TOO_MANY_ATTEMPTS' }]);
    expect(await limits.used('transfers of a mailbox', ANN)).toBe(0);
    expect([await transfers(), await world.database.query('select 1 from credentials')]).toEqual([[], []]);
  });

  test('submitted again after another sign-in at the same provider is the running one', async () => {
    const first = await load(await move());
    const second = await load(
      await move({ destination_account: { email: ANN, provider: 'yahoo', token_id: await tokenOf(ANN) } }),
    );
    expect(second.body).toEqual(first.body);
    expect((await transfers()).length).toBe(1);
  });

  test('that runs leaves no other tokens good than those that it uses', async () => {
    const used = await move();
    const unused = await move();
    const first = await load(used);
    const answers = [await load(unused), await load(unused)];
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [200, first.body],
      [200, first.body],
    ]);
    const left = await world.database.query<{ id: string }>('select id from oauth_tokens where email = $1', [ANN]);
    expect(left.map(({ id }) => id)).toContain(used.destination_account['token_id']);
    expect(left.map(({ id }) => id)).not.toContain(unused.destination_account['token_id']);
    const guess = { ...unused, source_account: { ...unused.source_account, password: 'guess' } };
    expect((await load(guess)).status).toBe(401);
  });

  test('submitted again after it has completed is that one, though its tokens are gone', async () => {
    const body = await move();
    const first = await load(body);
    await world.database.query("update operations set status = 'completed', finished = now()");
    await world.database.query('update transfers set finished = now()');
    await world.services.tokens.forget(String(body.destination_account['token_id']));
    expect((await load(body)).body).toEqual(first.body);
    const guess = { ...body, source_account: { ...body.source_account, password: 'guess' } };
    expect((await load(guess)).status).toBe(401);
  });

  test('is not started beside another one of the same account', async () => {
    const running = await load(await move());
    const answer = await load(
      await move({
        destination_account: { email: ELSEWHERE, provider: 'google', token_id: await tokenOf(ELSEWHERE, 'google') },
      }),
    );
    expect([answer.status, answer.body]).toMatchObject([
      409,
      { error: 'MIGRATION_IN_PROGRESS', jobid: (running.body as { jobid: string }).jobid },
    ]);
  });

  test('tells of its end who was named when it was ordered again while it runs, which counts as an order', async () => {
    const bob = { notification_email: 'bob@mail.example' };
    const { jobid } = (await load(await move())).body as { jobid: string };
    for (let at = 0; at < 2; at += 1)
      expect((await load(await move({ parameters: bob }))).body, 'with a new sign-in').toEqual({ jobid });
    expect((await load(await move({ parameters: {} }))).body).toEqual({ jobid });
    expect(await transfers()).toMatchObject([{ notification_contact: 'bob@mail.example' }]);
    const limits = openLimits(world.services);
    expect(await limits.used('transfers of a mailbox', ANN)).toBeCloseTo(2, 1);
    expect(await limits.used('transfers of a mailbox that tell a contact', `${ANN}\nbob@mail.example`)).toBeCloseTo(
      1,
      1,
    );
  });

  test('is told of as any other when a daily has begun it and its owner orders it', async () => {
    const { jobid } = (await load(await move({ parameters: {} }))).body as { jobid: string };
    await world.database.query('update transfers set by_itself = true');
    expect((await load(await move())).body).toEqual({ jobid });
    expect(await transfers()).toMatchObject([{ by_itself: false, notification_contact: ELSEWHERE }]);
  });

  test('is named to its owner who asks for an account while it runs, and not to who guesses', async () => {
    const { jobid } = (await load(await move())).body as { jobid: string };
    const error = 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS';
    world.provisioning.answer = { status: 409, body: { error } };
    const ask = (password: string) =>
      world.post('/api/v2/san-bruno-create-account/?in_qa=false', { email: ANN, password });
    expect((await ask(PASSWORD)).body).toMatchObject({ error, jobid });
    const guess = await ask('guess');
    expect([guess.status, guess.text.includes(jobid)]).toEqual([401, false]);
  });

  test('stands in nobody’s way once it has failed or was stopped, though the account service never hears of that', async () => {
    await ended('review');
    expect((await askForAccount()).error).toBe('ACCOUNT_ALREADY_CREATED');
  });

  test('is told as completed once it is, until it is taken back', async () => {
    const jobid = await ended('completed');
    expect(await askForAccount()).toMatchObject({ error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED', jobid });
    await world.database.query('insert into take_backs (transfer_id) values ($1)', [jobid]);
    expect((await askForAccount()).error).toBe('ACCOUNT_ALREADY_CREATED');
  });

  test('locks nobody out once its mail was taken back, though an empty one between the same mailboxes came after it', async () => {
    const first = await ended('completed');
    await brought(first);
    await world.database.query(
      "update transfers set created = now() - interval '2 days', finished = now() - interval '1 day'",
    );
    const empty = await ended('completed');
    expect(empty).not.toBe(first);
    expect(await askForAccount()).toMatchObject({
      error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
      jobid: first,
    });
    await world.database.query('insert into take_backs (transfer_id, finished) values ($1, now())', [first]);
    expect((await askForAccount()).error).toBe('ACCOUNT_ALREADY_CREATED');
    const anew = await ended('completed');
    await brought(anew);
    expect(await askForAccount()).toMatchObject({
      error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
      jobid: anew,
    });
  });

  test('that was announced, and could not be started, can be started', async () => {
    expect((await askForAccount()).error).toBe('ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS');
    world.provisioning.answer = { status: 502, body: {} };
    const signedIn = await world.post('/api/validate/', { email: ANN, password: PASSWORD, provider: 'sanbruno' });
    expect(signedIn.status).toBe(200);
    const announced = await world.post('/api/v2/san-bruno-set-migration-started/?in_qa=false', { email: ANN });
    expect(announced.status).toBe(502);
    expect((await askForAccount()).error).toBe('ACCOUNT_ALREADY_CREATED');
  });

  test('to another provider is proven by the password there', async () => {
    const body = await move({
      destination_account: { email: ELSEWHERE, password: 'other', provider: 'other' },
      operations: ['emailmigration'],
    });
    body.parameters['destination_imap'] = world.trustedImap;
    const answer = await load(body);
    expect(answer.status).toBe(200);
    expect(world.signIns.toSorted((a, b) => a.localeCompare(b))).toEqual([ELSEWHERE, ANN]);
    expect(await transfers()).toMatchObject([{ destination_imap: world.trustedImap }]);
  });

  test('to a file takes both formats', async () => {
    const answer = await load(
      await move({
        destination_account: { email: 'export@file.example', provider: 'file_export' },
        file_export_parameters: { email_format: 'mbox', contacts_format: 'vcf' },
      }),
    );
    expect(answer.status).toBe(200);
    expect(await transfers()).toMatchObject([{ email_format: 'mbox', contacts_format: 'vcf' }]);
  });

  test('may notify a phone on the primary move', async () => {
    expect((await load(await move({ parameters: { notification_email: '+16502530000' } }))).status).toBe(200);
  });
});

describe('a transfer that is not proven', () => {
  test.each([
    ['a wrong source password', { source_account: { email: ANN, password: 'guess', provider: 'sanbruno' } }, 'source'],
    ['no token and no password', { destination_account: { email: ANN, provider: 'yahoo' } }],
    [
      'a token that nobody was given',
      { destination_account: { email: ANN, provider: 'yahoo', token_id: 'f'.repeat(32) } },
    ],
    [
      'a token of a form that nobody was given',
      { destination_account: { email: ANN, provider: 'file_export', token_id: 'a\u0000b' } },
    ],
    [
      'a wrong destination password',
      {
        destination_account: { email: ELSEWHERE, password: 'guess', provider: 'other' },
        operations: ['emailmigration'],
        parameters: { destination_imap: 'TRUSTED' },
      },
      'destination',
    ],
  ])('%s starts nothing', async (_name, change, side?: string) => {
    const text = JSON.stringify(await move(change)).replace('TRUSTED', world.trustedImap);
    const answer = await world.post('/api/load/', text);
    expect([answer.status, answer.body]).toMatchObject([401, { error: 'INVALID_CREDENTIALS' }]);
    expect((answer.body as { side?: string }).side).toBe(side);
    expect(await transfers()).toEqual([]);
  });

  test('a token of another address or provider starts nothing', async () => {
    const tokenId = await tokenOf('bob@mail.example');
    for (const account of [
      { email: ANN, provider: 'yahoo', token_id: tokenId },
      { email: 'bob@mail.example', provider: 'google', token_id: tokenId },
    ]) {
      const answer = await load(await move({ destination_account: account }));
      expect([answer.status, answer.body]).toMatchObject([401, { error: 'INVALID_CREDENTIALS' }]);
    }
    expect(await transfers()).toEqual([]);
  });
});

describe('a transfer that is not allowed', () => {
  const file = { email: 'export@file.example', provider: 'file_export' };
  const formats = { email_format: 'mbox', contacts_format: 'vcf' };

  test.each([
    [
      'a source elsewhere',
      { source_account: { email: ELSEWHERE, password: 'other', provider: 'sanbruno' } },
      'INVALID_EMAIL',
    ],
    [
      'a source at another provider',
      { source_account: { email: ANN, password: PASSWORD, provider: 'google' } },
      'UNSUPPORTED_PROVIDER',
    ],
    [
      'the legacy provider as the destination',
      { destination_account: { email: ANN, password: PASSWORD, provider: 'sanbruno' } },
      'UNSUPPORTED_PROVIDER',
    ],
    [
      'its own mailbox as the destination',
      { destination_account: { email: ANN, password: PASSWORD, provider: 'other' }, operations: ['emailmigration'] },
      'INVALID_EMAIL',
    ],
    ['no operation', { operations: [] }, 'OPERATION_NOT_ALLOWED'],
    ['an unknown operation', { operations: ['erase'] }, 'OPERATION_NOT_ALLOWED'],
    ['forwarding without a server of scripts', { operations: ['emailforwarding'] }, 'OPERATION_NOT_ALLOWED'],
    ['a notification to the legacy address', { parameters: { notification_email: ANN } }, 'INVALID_EMAIL'],
    [
      'a notification to the legacy address in full width',
      { parameters: { notification_email: ANN.replace('@s', '@ｓ') } },
      'INVALID_EMAIL',
    ],
    ['a text message to no number in use', { parameters: { notification_email: '+11234567890' } }, 'INVALID_EMAIL'],
    ['a notification to nothing', { parameters: { notification_email: 'x' } }, 'INVALID_EMAIL'],
    [
      'an export to the legacy address',
      { destination_account: { ...file, email: ANN }, file_export_parameters: formats },
      'INVALID_EMAIL',
    ],
    ['an export without formats', { destination_account: file }, 'OPERATION_NOT_ALLOWED'],
    [
      'an export of mail alone',
      { destination_account: file, file_export_parameters: formats, operations: ['emailmigration'] },
      'OPERATION_NOT_ALLOWED',
    ],
    [
      'an unknown format',
      { destination_account: file, file_export_parameters: { email_format: 'exe' } },
      'GENERAL_ERROR',
    ],
    ['no accounts', { source_account: undefined }, 'GENERAL_ERROR'],
  ] as const)('%s is refused without a sign-in', async (_name, change, error) => {
    const answer = await load(await move(change as unknown as Partial<Load>));
    expect([answer.status, answer.body]).toMatchObject([400, { error }]);
    expect(world.signIns).toEqual([]);
  });

  test.each([
    { email_format: 'pst', contacts_format: 'csv' },
    { email_format: 'eml', contacts_format: 'pst' },
    { email_format: 'pst', contacts_format: 'pst' },
  ])('an export as $email_format and $contacts_format is ordered', async (asked) => {
    const answer = await load(await move({ destination_account: file, file_export_parameters: asked }));
    expect(answer.status).toBe(200);
    expect(await transfers()).toHaveLength(1);
  });

  test('contacts to another provider are refused by their name', async () => {
    const answer = await load(
      await move({ destination_account: { email: ELSEWHERE, password: 'other', provider: 'other' } }),
    );
    expect(answer.body).toEqual({
      error: 'OPERATION_NOT_ALLOWED',
      message: "Operation 'contactsmigration' not allowed.",
    });
  });

  test('a phone is notified on the primary move only', async () => {
    const answer = await load(
      await move({
        destination_account: { email: ELSEWHERE, provider: 'google', token_id: await tokenOf(ELSEWHERE, 'google') },
        parameters: { notification_email: '+16502530000' },
      }),
    );
    expect([answer.status, answer.body]).toMatchObject([400, { error: 'INVALID_EMAIL' }]);
  });
});

async function watch(id: string) {
  const stop = new AbortController();
  const response = await fetch(`${world.url}/api/v2/status/events/?job_id=${id}`, { signal: stop.signal });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    response,
    stop: () => stop.abort(),
    until: async (isThere: (text: string) => boolean) => {
      while (!isThere(text)) {
        const part = await reader?.read();
        if (part === undefined || part.done) return text;
        text += part.value;
      }
      return text;
    },
  };
}

const being = async (status: string): Promise<TransferStatus> => ({ emailmigration: { status } });
const viewer = () => {
  const told: unknown[] = [];
  return { told, changed: (now: TransferStatus) => told.push(now.emailmigration?.status), ended: () => {} };
};

describe('live updates', () => {
  test('tell each change once to everybody who watches, and end with the transfer', async () => {
    const { body } = await load(await move({ operations: ['emailmigration'] }));
    const { jobid } = body as { jobid: string };
    const viewers = await Promise.all([watch(jobid), watch(jobid)]);
    expect(viewers[0].response.headers.get('content-type')).toContain('text/event-stream');
    expect(viewers[0].response.headers.get('cache-control')).toBe('no-store');
    for (const viewer of viewers) await viewer.until((text) => text.includes('"status":"started"'));
    await world.database.query("update operations set status = 'inprogress', done = 3, total = 9");
    for (const viewer of viewers) await viewer.until((text) => text.includes('"done":3'));
    await world.database.query("update operations set status = 'completed', done = 9, finished = now()");
    for (const viewer of viewers) {
      const text = await viewer.until(() => false);
      expect(text.match(/^event: .*$/gm)).toEqual(['event: status', 'event: status', 'event: status', 'event: end']);
    }
  });

  test('tell the change that others were told while this one was asking', async () => {
    const asked = Promise.withResolvers<TransferStatus>();
    const answers = [being('started'), asked.promise];
    const { services } = world;
    const streams = openStatusStreams({
      log: services.log,
      transfers: { ...services.transfers, status: async () => answers.shift() ?? being('inprogress') },
    });
    const [first, second] = [viewer(), viewer()];
    const one = await streams.open('e'.repeat(32), '192.0.2.1', first);
    const opening = streams.open('e'.repeat(32), '192.0.2.2', second);
    await expect.poll(() => first.told).toEqual(['inprogress']);
    asked.resolve(await being('started'));
    const other = await opening;
    await expect.poll(() => second.told).toEqual(['inprogress']);
    expect(first.told).toEqual(['inprogress']);
    one.close();
    other.close();
  });

  test('of one client are limited in number', async () => {
    const { body } = await load(await move());
    const { jobid } = body as { jobid: string };
    const viewers = await Promise.all(Array.from({ length: 20 }, () => watch(jobid)));
    const refused = await world.get(`/api/v2/status/events/?job_id=${jobid}`);
    expect([refused.status, refused.body]).toMatchObject([429, { error: 'TOO_MANY_ATTEMPTS' }]);
    for (const viewer of viewers) viewer.stop();
    await expect
      .poll(async () => {
        const again = await watch(jobid);
        again.stop();
        return again.response.status;
      })
      .toBe(200);
  });
});
