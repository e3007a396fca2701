import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../src/contract/failure.ts';
import { PROVIDERS } from '../../src/contract/provider-name.ts';
import { calls } from '../../src/server/web/calls/all.ts';
import { fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from './web-world.ts';

/** Under what a test may take, so that the call is named; one waits up to 3 s for a host. */
const ANSWERED_WITHIN_MS = 9000;

const nasty = fc.constantFrom(
  '',
  ' ',
  '\u0000',
  '\u{1f600}',
  '\ud800',
  "' or 1=1 --",
  '../../etc/passwd',
  'a'.repeat(5000),
  '__proto__',
  'constructor',
  '%00',
  '\r\nBcc: x@y.example',
);
const email = fc.oneof(
  fc.constantFrom(`ann@${LEGACY_DOMAIN}`, 'ann@gmail.com', 'ann@mail.example', 'x@no-such.example'),
  fc.emailAddress(),
  nasty,
);
const id = fc.oneof(fc.stringMatching(/^[0-9a-f]{32}$/), nasty);
const host = fc.oneof(fc.domain(), fc.ipV4(), fc.ipV6(), fc.constantFrom('localhost', '127.1:993', '[::1]'), nasty);
const provider = fc.oneof(fc.constantFrom<string>(...PROVIDERS), nasty);
const password = fc.oneof(fc.constantFrom('right', 'wrong'), fc.string(), nasty);

const account = { email, password, provider, token_id: id };
const operation = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('emailmigration', 'contactsmigration', 'emailforwarding') },
  { weight: 1, arbitrary: nasty },
);
const parameters = { source_imap: host, destination_imap: host, notification_email: email, in_qa: fc.boolean() };
const formats = {
  email_format: fc.constantFrom('eml', 'mbox', 'pst', 'exe'),
  contacts_format: fc.constantFrom('csv', 'vcf', 'pst', 'exe'),
};

/** Values for the fields of all calls, by name; each call uses those that it knows. */
const values = {
  email,
  email_address: email,
  destination_email: email,
  password,
  provider,
  imap: host,
  token: fc.oneof(fc.string(), nasty),
  hash: id,
  migration_id: id,
  issue: fc.oneof(fc.string({ maxLength: 6000 }), nasty),
  source_account: fc.oneof(fc.record(account, { requiredKeys: [] }), nasty),
  destination_account: fc.oneof(fc.record(account, { requiredKeys: [] }), nasty),
  operations: fc.array(operation, { maxLength: 10 }),
  parameters: fc.record(parameters, { requiredKeys: [] }),
  file_export_parameters: fc.record(formats, { requiredKeys: [] }),
};
const fields = fc.record(values, { requiredKeys: [] });

/** What a visitor's portal could send, or almost: it passes validation. */
const known = fc.constantFrom(`ann@${LEGACY_DOMAIN}`, 'ann@gmail.com', 'ann@mail.example');
const likely = fc.record({
  ...values,
  email: fc.constant(`ann@${LEGACY_DOMAIN}`),
  email_address: fc.constant(`ann@${LEGACY_DOMAIN}`),
  destination_email: known,
  password: fc.constantFrom('right', 'wrong'),
  provider: fc.constantFrom<string>(...PROVIDERS),
  // Only few are plausible hosts, because each of those takes the call three seconds.
  imap: host,
  migration_id: fc.stringMatching(/^[0-9a-f]{32}$/),
  issue: fc.string({ minLength: 6, maxLength: 200 }),
  source_account: fc.record({
    email: fc.constant(`ann@${LEGACY_DOMAIN}`),
    password: fc.constantFrom('right', 'wrong'),
    provider: fc.constant('sanbruno'),
  }),
  destination_account: fc.oneof(
    fc.record({ email: known, provider: fc.constantFrom<string>(...PROVIDERS), token_id: id }),
    fc.record({ email: known, provider: fc.constantFrom<string>(...PROVIDERS), password }),
    fc.record({ email: known, provider: fc.constant('file_export') }),
  ),
  operations: fc.uniqueArray(fc.constantFrom('emailmigration', 'contactsmigration', 'emailforwarding'), {
    minLength: 1,
  }),
  parameters: fc.record({ notification_email: known, destination_imap: fc.domain() }, { requiredKeys: [] }),
  file_export_parameters: fc.record(formats),
});
const body = fc.oneof(
  { weight: 4, arbitrary: fields.map((value) => JSON.stringify(value)) },
  { weight: 4, arbitrary: likely.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);
const query = fc.dictionary(
  fc.constantFrom('job_id', 'domain', 'number', 'in_qa', 'provider', 'x'),
  fc.oneof(id, host, fc.constantFrom('+16502530000', 'true'), fc.string()),
  { maxKeys: 4 },
);
/** Tokens that belong to no session, in every form that a header can have. */
const bearer = fc.oneof(
  fc.constant(''),
  fc.stringMatching(/^[0-9a-f]{64}$/).map((token) => `Bearer ${token}`),
  fc.stringMatching(/^[!-~ ]{0,100}$/),
);
/** Each request comes from its own client, so that it gets past the limits to the call itself. */
const client = fc.ipV4();

const part = fc.oneof(fc.constantFrom('google', 'yahoo', 'Gmail', 'aol', 'evil', ''), id);
/** A path segment, not always well formed. */
const segment = fc.oneof(
  part.map((text) => encodeURIComponent(text.toWellFormed())),
  fc.constantFrom('%00', '..%2f', '%e0%a4', '%'),
);
const questions = fc.dictionary(
  fc.constantFrom('provider', 'state', 'code', 'iss', 'error', 'scope'),
  fc.oneof(part, fc.string()),
  { maxKeys: 5 },
);
const navigation = fc
  .tuple(
    fc.oneof(
      fc.constantFrom('/api/oauth', '/api/oauth-for-status'),
      fc
        .tuple(fc.constantFrom('/api/oauth/', '/api/oauth/callback/', '/api/oauth-for-status/'), segment, fc.boolean())
        .map(([base, name, slash]) => `${base}${name}${slash ? '/' : ''}`),
    ),
    questions,
  )
  .map(([path, asked]) => `${path}?${new URLSearchParams(asked).toString()}`);

/** Sends `runs` requests of all kinds to every call and every navigation. */
export function fuzzWeb(runs: number): void {
  const longRunMs = 60_000 + runs * 500;
  let world: WebWorld;
  beforeAll(async () => {
    world = await openWebWorld({ providers: ['yahoo'], environment: { LOG_LEVEL: 'error' } });
    world.passwords.set(`ann@${LEGACY_DOMAIN}`, 'right');
  }, 120_000);
  afterAll(() => world[Symbol.asyncDispose]());

  describe.each(calls.map(({ call }) => ({ name: `${call.method} ${call.path}`, call })))('$name', ({ call }) => {
    test(
      'answers everything in time, within its schema, and never by a fault of its own',
      async ({ annotate }) => {
        await fc.assert(
          fc.asyncProperty(body, query, client, bearer, async (text, asked, address, authorization) => {
            // Removes limits used up by earlier runs, and the transfer that one of them may have started.
            for (const table of ['limits', 'limit_slots', 'transfers'])
              await world.database.query(`delete from ${table}`);
            const began = performance.now();
            const path = `${call.path}?${new URLSearchParams(asked).toString()}`;
            const answer =
              call.method === 'POST'
                ? await world.post(path, text, { ...fromClient(address), authorization })
                : await world.get(path, { ...fromClient(address), authorization });
            expect(performance.now() - began).toBeLessThan(ANSWERED_WITHIN_MS);
            expect(answer.status).toBeLessThan(500);
            if (answer.status === 200) v.parse(call.Answer, answer.body);
            else v.parse(Failure, answer.body);
          }),
          { numRuns: runs },
        );
        await annotate(`${call.method} ${call.path}: ${runs} requests of all kinds answered rightly`, 'figure');
      },
      longRunMs,
    );
  });

  describe('the navigations to providers and back', () => {
    test(
      'lead from every address to a provider or to the portal, and show nothing of their own',
      async ({ annotate }) => {
        const wayOn = new RegExp(`^(?:/oauth-callback(?:-for-status)?\\?error=|${world.providers.yahoo?.issuer}/)`);
        await fc.assert(
          fc.asyncProperty(navigation, client, fc.stringMatching(/^[!-~]{0,60}$/), async (path, address, cookie) => {
            const answer = await world.get(path, { ...fromClient(address), cookie });
            expect([answer.status, answer.text]).toEqual([302, '']);
            expect(answer.headers.get('location')).toMatch(wayOn);
          }),
          { numRuns: runs },
        );
        await annotate(`navigations to providers and back: ${runs} answered rightly`, 'figure');
      },
      longRunMs,
    );
  });
}
