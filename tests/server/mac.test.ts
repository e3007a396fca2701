import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { isMacOf, openMac, type Mac } from '../../src/server/mail/copy/message/mac.ts';

async function* piecesOf(octets: Buffer, length: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < octets.length; at += length) yield octets.subarray(at, at + length);
}

function macOf(octets: Buffer): Mac {
  const mac = openMac();
  mac.write(octets);
  return mac.end();
}

describe('the MAC of a message that was sent', () => {
  const sent = randomBytes(100_001);
  const isSame = (octets: Buffer) => isMacOf(macOf(sent), piecesOf(octets, 4096));

  test.each([1, 15, 16, 17, 4096, 65_536, 200_000])('is the same in pieces of %d octets', async (length) => {
    expect(await isMacOf(macOf(sent), piecesOf(sent, length))).toBe(true);
  });

  test('changes with every single bit', async () => {
    const [short, mac] = [sent.subarray(0, 33), macOf(sent.subarray(0, 33))];
    for (let bit = 0; bit < short.length * 8; bit += 1) {
      const other = Buffer.from(short);
      other[bit >> 3] = (other[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(await isMacOf(mac, piecesOf(other, 4096)), `bit ${bit}`).toBe(false);
    }
  });

  test.each([
    ['one octet less', sent.subarray(1)],
    ['no last octet', sent.subarray(0, -1)],
    ['one octet more', Buffer.concat([sent, Buffer.alloc(1)])],
    ['one in front', Buffer.concat([Buffer.alloc(1), sent])],
    ['nothing', Buffer.alloc(0)],
    ['two blocks the other way round', Buffer.concat([sent.subarray(16, 32), sent.subarray(0, 16), sent.subarray(32)])],
  ])('tells %s', async (_, octets) => {
    expect(await isSame(octets)).toBe(false);
  });

  test('of no octets does not match any octets', async () => {
    const empty = openMac().end();
    expect(await isMacOf(empty, piecesOf(Buffer.alloc(0), 1))).toBe(true);
    expect(await isMacOf(empty, piecesOf(Buffer.alloc(1), 1))).toBe(false);
  });

  test('is different each time', () => {
    expect(macOf(sent).tag).not.toEqual(macOf(sent).tag);
  });
});
