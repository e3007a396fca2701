import fc from 'fast-check';
import * as v from 'valibot';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Failure } from '../../src/contract/failure.ts';
import { PROVIDERS } from '../../src/contract/provider-name.ts';
import { calls } from '../../src/server/calls/all.ts';
import { fromClient, LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';

/** Requests for each call: few here, `FUZZ_RUNS=2000` for the long run. */
const RUNS = Number(process.env['FUZZ_RUNS'] ?? 60);
const ANSWER_WITHIN_MS = 5000;
const LONG_RUN_MS = 60_000 + RUNS * 500;

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'], environment: { LOG_LEVEL: 'error' } });
  world.passwords.set(`ann@${LEGACY_DOMAIN}`, 'right');
}, 120_000);
afterAll(() => world[Symbol.asyncDispose]());

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

/** Values for the fields of every call by their names; a call takes what it knows. */
const fields = fc.record(
  {
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
    source_account: fc.oneof(fc.record({ email, password, provider }, { requiredKeys: [] }), nasty),
    destination_account: fc.oneof(fc.record({ email, password, provider, token_id: id }, { requiredKeys: [] }), nasty),
    operations: fc.array(fc.oneof(fc.constantFrom('emailmigration', 'contactsmigration', 'emailforwarding'), nasty), {
      maxLength: 10,
    }),
    parameters: fc.record(
      { source_imap: host, destination_imap: host, notification_email: email },
      { requiredKeys: [] },
    ),
    file_export_parameters: fc.record(
      { email_format: fc.constantFrom('eml', 'mbox', 'exe'), contacts_format: fc.constantFrom('csv', 'vcf', 'exe') },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  { weight: 6, arbitrary: fields.map((value) => JSON.stringify(value)) },
  { weight: 1, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
);
const query = fc.dictionary(
  fc.constantFrom('job_id', 'domain', 'number', 'in_qa', 'provider', 'x'),
  fc.oneof(id, host, fc.constantFrom('+16502530000', 'true'), fc.string()),
  { maxKeys: 4 },
);
/** Each request comes from a client of its own, so that the limits let the calls themselves be tried. */
const client = fc.ipV4();

describe.each(calls.map(({ call }) => ({ name: `${call.method} ${call.path}`, call })))('$name', ({ call }) => {
  test(
    'answers everything in time, within its schema, and never by a fault of its own',
    async () => {
      await fc.assert(
        fc.asyncProperty(body, query, client, async (text, parameters, address) => {
          const began = performance.now();
          const path = `${call.path}?${new URLSearchParams(parameters).toString()}`;
          const answer =
            call.method === 'POST'
              ? await world.post(path, text, fromClient(address))
              : await world.get(path, fromClient(address));
          expect(performance.now() - began).toBeLessThan(ANSWER_WITHIN_MS);
          expect(answer.status).toBeLessThan(500);
          if (answer.status === 200) v.parse(call.Answer, answer.body);
          else v.parse(Failure, answer.body);
        }),
        { numRuns: RUNS },
      );
    },
    LONG_RUN_MS,
  );
});
