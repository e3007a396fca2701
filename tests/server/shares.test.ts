import { expect, test } from 'vitest';
import { sharesOf } from '../../src/server/mail/copy/reading-back/shares.ts';
import type { Check } from '../../src/server/mail/copy/run/run.ts';
import { SIZES } from '../../src/server/mail/copy/run/sizes.ts';

const MAILBOX = { id: 1, sourcePath: 'INBOX', sourceUidValidity: 1n, destinationPath: 'INBOX' };

/** Messages of so many octets each, to be read back. */
function checkOf(...sizes: readonly number[]): Check {
  const messages = sizes.map((size, at) => ({
    uid: at + 1,
    destinationUid: at + 1,
    size,
    sha256: '',
    date: null,
    fate: 'stored' as const,
  }));
  return { mailbox: MAILBOX, uidValidity: 1n, messages };
}

function octetsOf(checks: readonly Check[]): readonly number[] {
  return checks.map(({ messages }) => messages.reduce((sum, { size }) => sum + size, 0));
}

test('what is left to read back is cut into two parts for each connection, in its order, and no part of a message', () => {
  const check = checkOf(...Array.from({ length: 320 }, () => 100_000));
  const shares = sharesOf([check], 4, SIZES);
  expect(octetsOf(shares)).toEqual(Array.from({ length: 8 }, () => 4_000_000));
  expect(shares.flatMap(({ messages }) => messages)).toEqual(check.messages);
  expect(octetsOf(sharesOf([checkOf(25_000_000, 10_000_000)], 4, SIZES))).toEqual([25_000_000, 10_000_000]);
});

test('little is not cut, nor is anything joined', () => {
  expect(octetsOf(sharesOf([checkOf(1000, 2000), checkOf(500)], 4, SIZES))).toEqual([3000, 500]);
  expect(sharesOf([], 4, SIZES)).toEqual([]);
});
