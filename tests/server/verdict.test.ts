import { expect, test } from 'vitest';
import { ContactStoreError } from '../../src/server/contacts/contact-store.ts';
import { MailError, mailErrorOf } from '../../src/server/mail/imap/mail-error.ts';
import { TokenUnavailable } from '../../src/server/oauth/token-errors.ts';
import { DatabaseUnavailable } from '../../src/server/store/database-faults.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import { delaysExport, verdictOn } from '../../src/server/worker/verdict.ts';

/** How long an operation is tried of which each run ends so, in seconds. */
function triedFor(error: unknown): number {
  let seconds = 0;
  for (let run = 1; run <= 1000;) {
    const verdict = verdictOn(error, run, false, 0);
    if (verdict.kind === 'end') return seconds;
    if (verdict.kind !== 'later') throw new Error(`The verdict is "${verdict.kind}".`);
    seconds += verdict.seconds;
    run += verdict.waiting?.counts ?? 1;
  }
  return Infinity;
}

const HOUR = 3600;

test.each([0, 1000, undefined])(
  'an address book that is not to be had is tried for hours, whatever pause it asks for: %s ms',
  (pause) => {
    const error = new ContactStoreError('unavailable', '503', {
      status: 503,
      ...(pause === undefined ? {} : { pause }),
    });
    expect(triedFor(error)).toBeGreaterThan(HOUR);
    expect(triedFor(error)).toBeLessThan(4 * HOUR);
  },
);

test.each([undefined, 502, 504])('an address book that is out of reach is waited for over a weekend: %s', (status) => {
  const error = new ContactStoreError('unavailable', 'away', status === undefined ? {} : { status });
  expect(triedFor(error)).toBeGreaterThan(48 * HOUR);
  expect(triedFor(error)).toBeLessThan(96 * HOUR);
});

test('an address book that has asked for a day is not given up at the first fault after it', () => {
  const fault = new ContactStoreError('unavailable', '500', { status: 500 });
  expect(verdictOn(fault, 49, true, 0)).toMatchObject({ kind: 'later' });
  expect(verdictOn(fault, 28, true, 0)).toMatchObject({ kind: 'end' });
});

test.each([429, 403])('a quota of contacts that is used up (%i) is waited for until another day', (status) => {
  expect(triedFor(new ContactStoreError('unavailable', 'quota', { status }))).toBeGreaterThan(48 * HOUR);
});

test.each([
  [429, 1],
  [429, 24],
  [503, 1],
  [503, 24],
  [undefined, 24],
])(
  'an address book that asks for long pauses (%s, %i h) is waited for some three days, and not for months',
  (status, hours) => {
    const pause = hours * HOUR * 1000;
    const error = new ContactStoreError('unavailable', 'Later.', {
      pause,
      ...(status === undefined ? {} : { status }),
    });
    expect(triedFor(error)).toBeGreaterThan(72 * HOUR);
    expect(triedFor(error)).toBeLessThanOrEqual(96 * HOUR);
  },
);

test.each([
  ['that asks for a pause', { pause: 7_200_000 }, { reason: 'busy', until: 7_200_000, counts: 4 }],
  ['that is busy', { status: 503 }, { reason: 'busy', until: 300_000, counts: 1 }],
  ['that does not answer', {}, { reason: 'unreachable', until: 300_000, counts: 1 }],
] as const)(
  'an address book %s is reported as that, and until when, and each run counts',
  (_, particulars, waiting) => {
    const error = new ContactStoreError('unavailable', 'Not now.', particulars);
    expect(verdictOn(error, 20, false, 0)).toMatchObject({ kind: 'later', waiting });
  },
);

test('a provider whose sign-in does not answer is reported as unreachable', () => {
  const waiting = { reason: 'unreachable' };
  expect(verdictOn(new TokenUnavailable('503'), 1, false, 0)).toMatchObject({ kind: 'later', waiting });
});

test('a provider whose sign-in is out of reach is waited for as long as its mail server is', () => {
  expect(triedFor(new TokenUnavailable('503'))).toBe(triedFor(new MailError('unreachable', 'ECONNREFUSED')));
});

test('a busy mail server is asked again after exactly the pause it asks for, and for as long as it is busy', () => {
  expect(verdictOn(new MailError('busy', 'Later.', { pause: 5000 }), 20, false, 0)).toMatchObject({ seconds: 5 });
  expect(triedFor(new MailError('busy', 'Later.'))).toBe(Infinity);
});

test.each([
  { responseStatus: 'BAD', responseText: 'User is authenticated but not connected.' },
  {
    responseStatus: 'NO',
    serverResponseCode: 'AUTHENTICATIONFAILED',
    responseText: 'IMAP access has been temporarily disabled',
    authenticationFailed: true,
  },
])(
  'a mailbox that nobody may read by IMAP ($responseText) is waited for some hours, and then left to the owner',
  (cause) => {
    const error = mailErrorOf(Object.assign(new Error('refused'), cause));
    expect(verdictOn(error, 27, true, 0)).toMatchObject({ kind: 'later', waiting: { reason: 'busy' } });
    expect(verdictOn(error, 28, true, 0)).toMatchObject({ kind: 'attention', reason: 'refused' });
  },
);

test('where it says for how long it is disabled, it is waited for', () => {
  const responseText = 'IMAP access is temporarily disabled. Suggested Backoff Time: 5000 milliseconds';
  const cause = { responseStatus: 'NO', serverResponseCode: 'AUTHENTICATIONFAILED', responseText };
  const error = mailErrorOf(Object.assign(new Error('NO'), { ...cause, authenticationFailed: true }));
  expect(error.pause).toBe(5000);
  expect(triedFor(error)).toBe(Infinity);
});

test('maintenance is waited for as long as it is said', () => {
  const responseText = 'IMAP is temporarily disabled for maintenance';
  const cause = { responseStatus: 'NO', serverResponseCode: 'UNAVAILABLE', responseText, authenticationFailed: true };
  expect(triedFor(mailErrorOf(Object.assign(new Error('NO'), cause)))).toBe(Infinity);
});

test('one that says goodbye each time, as Gmail does for a day beyond its limit, is waited for longer than that', () => {
  const cause = { responseStatus: 'BYE', responseText: 'Session expired, please login again' };
  const error = new MailError('lost', 'The mail server said goodbye.', { cause });
  expect(triedFor(error)).toBeGreaterThan(28 * HOUR);
  expect(triedFor(error)).toBeLessThan(36 * HOUR);
  // Each run signs in many times.
  expect(verdictOn(error, 12, false, 0)).toMatchObject({ seconds: HOUR });
  const hungUp = new MailError('lost', 'The mail server hung up.');
  expect(triedFor(hungUp)).toBeLessThan(4 * HOUR);
});

test('a mail server that was away for hours is not given up at the first fault once it is back', () => {
  const hungUp = new MailError('lost', 'The mail server hung up.');
  expect(verdictOn(hungUp, 28, true, 0)).toMatchObject({ kind: 'end' });
  for (const cause of [{}, { responseStatus: 'BYE' }])
    expect(verdictOn(new MailError('lost', 'It is over.', { cause }), 60, true, 0)).toMatchObject({ kind: 'later' });
});

test('a mail server that is out of reach is waited for over a weekend, after two hours by half hours', () => {
  const away = new MailError('unreachable', 'ECONNREFUSED');
  expect(triedFor(away)).toBeGreaterThan(72 * HOUR);
  expect(triedFor(away)).toBeLessThan(80 * HOUR);
  expect(verdictOn(away, 27, false, 0)).toMatchObject({ seconds: 300, waiting: { reason: 'unreachable' } });
  expect(verdictOn(away, 28, false, 0)).toMatchObject({ seconds: 1800, waiting: { reason: 'unreachable' } });
});

test.each(['lost', 'slow'] as const)(
  'one that is there and moves nothing (%s) is waited for some two hours',
  (fault) => {
    expect(triedFor(new MailError(fault, 'ECONNRESET'))).toBeLessThan(3 * HOUR);
  },
);

test('a mail server without safe TLS is retried for as long as an unreachable one, and then reported as such', () => {
  const unsafe = new MailError('certificate', 'CERT_HAS_EXPIRED');
  expect(unsafe.passing).toBe(true);
  expect(verdictOn(unsafe, 1, true, 0)).toMatchObject({ kind: 'later', waiting: { reason: 'unreachable' } });
  expect(triedFor(unsafe)).toBe(triedFor(new MailError('unreachable', 'ECONNREFUSED')));
  expect(verdictOn(unsafe, 1000, true, 0)).toMatchObject({ end: { failure: SENTENCES.certificate } });
});

test('what a mail server refuses without a reason is retried for some minutes, and then left to the owner', () => {
  const bare = new MailError('refused', 'NO', { cause: new Error('NO') });
  const runs = Array.from({ length: 8 }, (_, at) => verdictOn(bare, at + 1, false, 0));
  expect(runs.map(({ kind }) => kind)).toEqual([...Array.from({ length: 7 }, () => 'later'), 'attention']);
  expect(runs[0]).toMatchObject({ waiting: { reason: 'busy' } });
  const waited = runs.reduce((sum, run) => sum + (run.kind === 'later' ? run.seconds : 0), 0);
  expect(waited).toBeGreaterThan(200);
  expect(waited).toBeLessThan(600);
  // It was away before.
  expect(verdictOn(bare, 60, true, 0)).toMatchObject({ kind: 'later', waiting: { reason: 'busy', counts: -58 } });
  for (const reasoned of [
    new MailError('refused', 'NO', { cause: new Error('NO'), responseCode: 'NOPERM' }),
    new MailError('refused', 'The destination refused every message.'),
  ])
    expect(verdictOn(reasoned, 1, false, 0)).toMatchObject({ kind: 'attention', reason: 'refused' });
});

test('a database that is full or unreachable is waited for as long as it takes, and only a full one is reported as such', () => {
  const full = new DatabaseUnavailable(Object.assign(new Error('No space left.'), { code: '53100' }));
  const away = new DatabaseUnavailable(Object.assign(new Error('No.'), { code: 'ECONNREFUSED' }));
  expect([triedFor(full), triedFor(away)]).toEqual([Infinity, Infinity]);
  expect(verdictOn(full, 12, true, 0)).toEqual({ kind: 'later', seconds: 300, waiting: { reason: 'disk' } });
  expect(verdictOn(away, 1, true, 0)).toEqual({ kind: 'later', seconds: 2 });
});

test('room on the disk of the embedded database is waited for as long as it takes, too', () => {
  const full = Object.assign(new Error('could not extend file: No space left on device'), { code: '53100' });
  expect(triedFor(full)).toBe(Infinity);
  expect(verdictOn(full, 12, true, 0)).toEqual({ kind: 'later', seconds: 300, waiting: { reason: 'disk' } });
});

test.each(['ECONNREFUSED', '57P01', '57P03', '08006', undefined])(
  'a database that was away (%s) and is there again holds up nothing, however many workers have died before',
  (code) => {
    const error = Object.assign(new Error('No.'), code === undefined ? {} : { code });
    expect(verdictOn(new DatabaseUnavailable(error), 7, false, 0)).toEqual({ kind: 'later', seconds: 10 });
  },
);

test('a database that cancels our statements is asked again less and less often', () => {
  const canceled = new DatabaseUnavailable(Object.assign(new Error('No.'), { code: '57014' }));
  expect(verdictOn(canceled, 7, false, 0)).toEqual({ kind: 'later', seconds: 128 });
});

test.each(['refused', 'unexpected'] as const)(
  'when an address book does not come to its senses (%s), its owner is told which of the two it is',
  (fault) => {
    for (const [account, failure] of [
      ['source', SENTENCES.contactsNotRead],
      ['destination', SENTENCES.contactsRefused],
    ] as const) {
      const error = Object.assign(new ContactStoreError(fault, '403'), { account });
      expect(verdictOn(error, 28, false, 0)).toMatchObject({ kind: 'end', end: { failure } });
    }
  },
);

test('an address book that refuses, or in whose place something else answers, is tried for hours, and an export waits some minutes for the one, and as long for the other', () => {
  const refused = new ContactStoreError('refused', '404', { status: 404 });
  const garbled = new ContactStoreError('unexpected', 'It answers what can not be read.');
  for (const [error, runs] of [
    [refused, 8],
    [garbled, 28],
  ] as const) {
    expect(triedFor(error)).toBeGreaterThan(HOUR);
    expect(triedFor(error)).toBeLessThan(4 * HOUR);
    // It does answer.
    expect(verdictOn(error, 1, false, 0)).toMatchObject({ kind: 'later', waiting: { reason: 'busy' } });
    expect([delaysExport(error, runs - 1), delaysExport(error, runs)]).toEqual([true, false]);
  }
});

test('when an address book has too many contacts, its owner is told that, and which of the two it is', () => {
  for (const [account, failure] of [
    ['source', SENTENCES.contactsTooMany],
    ['destination', SENTENCES.newContactsTooMany],
  ] as const) {
    const tooMany = Object.assign(new ContactStoreError('too many', '100,001 cards'), { account });
    expect(verdictOn(tooMany, 1, false, 0)).toMatchObject({ kind: 'end', end: { failure } });
  }
});

test('a refused password is retried twice where it has worked before, and otherwise left to its owner at once', () => {
  const refused = new MailError('credentials', 'No.');
  const kinds = (hasMoved: boolean) => [1, 2, 3].map((run) => verdictOn(refused, run, hasMoved, 0).kind);
  expect(kinds(true)).toEqual(['later', 'later', 'attention']);
  expect(kinds(false)).toEqual(['attention', 'attention', 'attention']);
  // It was away before.
  expect(verdictOn(refused, 28, true, 0)).toMatchObject({ kind: 'later', waiting: { counts: -26 } });
  // A mailbox whose IMAP is off has never let us in, whatever its owner has allowed.
  const first = verdictOn(Object.assign(refused, { account: 'destination' }), 1, false, 0);
  expect(first).toMatchObject({ end: { failure: expect.not.stringMatching(/stopped accepting|no longer/) } });
});
