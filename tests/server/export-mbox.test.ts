import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mboxBody, mboxHead, openLineEnds } from '../../src/server/export/archive/mbox.ts';
import type { LineEnds } from '../../src/server/export/staging/staged.ts';
import { originalOf } from '../support/mbox-original.ts';

async function bodyOf(bytes: Buffer, cuts: readonly number[] = []): Promise<{ mbox: Buffer; lineEnds: LineEnds }> {
  const pieces: Buffer[] = [];
  let from = 0;
  for (const cut of [...cuts.filter((at) => at <= bytes.length).toSorted((a, b) => a - b), bytes.length]) {
    pieces.push(bytes.subarray(from, cut));
    from = cut;
  }
  const ends = openLineEnds();
  for (const piece of pieces) ends.take(piece);
  const lineEnds = ends.end();
  async function* chunks() {
    yield* pieces;
  }
  const parts: Buffer[] = [];
  for await (const chunk of mboxBody(chunks(), lineEnds)) parts.push(Buffer.from(chunk));
  return { mbox: Buffer.concat(parts), lineEnds };
}

const internalDate = new Date('2025-03-05T04:02:03Z');

test('the From_ line has the time as asctime writes it, in UTC', () => {
  const head = mboxHead({ sender: 'a@b.example', internalDate, flags: [] }).toString();
  expect(head).toBe('From a@b.example Wed Mar  5 04:02:03 2025\nStatus: O\nX-Status: \nX-Keywords: \n');
});

test('flags and keywords stand in Status, X-Status and X-Keywords', () => {
  const flags = ['\\Seen', '\\ANSWERED', '\\Flagged', '\\Draft', '\\Deleted', '$Forwarded', 'work\r\nX-Evil: 1'];
  expect(mboxHead({ sender: 'MAILER-DAEMON', internalDate, flags }).toString()).toBe(
    'From MAILER-DAEMON Wed Mar  5 04:02:03 2025\nStatus: RO\nX-Status: AFTD\nX-Keywords: $Forwarded workX-Evil:1\n',
  );
});

test('lines that look like a From_ line are quoted, and quoted ones once more', async () => {
  const { mbox } = await bodyOf(Buffer.from('A: b\r\n\r\nFrom me\r\n>From you\r\n>>From us\r\nFromage\r\n > From\r\n'));
  expect(mbox.toString()).toBe('A: b\n\n>From me\n>>From you\n>>>From us\nFromage\n > From\n\n');
});

test('a message of nothing but From_ lines grows by as many octets as it has lines', async () => {
  const bytes = Buffer.from('From \r\n'.repeat(10_000));
  expect((await bodyOf(bytes, [4, 30_001])).mbox.toString()).toBe(`${'>From \n'.repeat(10_000)}\n`);
});

test('a message without a final line end gets one, and an empty line after it', async () => {
  expect((await bodyOf(Buffer.from('A: b\r\n\r\nend'))).mbox.toString()).toBe('A: b\n\nend\n\n');
  expect((await bodyOf(Buffer.from('A: b\r\n\r\nFro'))).mbox.toString()).toBe('A: b\n\nFro\n\n');
  expect((await bodyOf(Buffer.alloc(0))).mbox.toString()).toBe('\n');
});

const tricky = fc
  .array(
    fc.constantFrom(
      '\r',
      '\n',
      '\r\n',
      'From ',
      'From',
      '>',
      '>From ',
      '>>From x',
      'F',
      'Fr',
      ' ',
      'a',
      '\0',
      'é',
      'From \r\n',
    ),
    { maxLength: 60 },
  )
  .map((pieces) => Buffer.from(pieces.join('')));

test('every message comes back byte for byte, wherever it was cut on the way', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(
        tricky,
        fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
      ),
      fc.array(fc.nat(200), { maxLength: 8 }),
      async (bytes, cuts) => {
        const { mbox, lineEnds } = await bodyOf(bytes, cuts);
        const stored = Buffer.concat([Buffer.from('Status: O\nX-Status: \nX-Keywords: \n'), mbox]);
        expect(originalOf(stored, { lineEnds, size: bytes.length }).equals(bytes)).toBe(true);
        expect(mbox.toString('latin1')).not.toMatch(/(?:^|\n)From /);
        expect(mbox.at(-1)).toBe(0x0a);
      },
    ),
    { numRuns: 3000 },
  );
});
