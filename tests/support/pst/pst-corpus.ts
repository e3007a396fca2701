import type { PstItem } from '../../../src/server/export/pst/write-pst.ts';
import { rawItem } from './pst-samples.ts';

/** Sizes as in a person's mail: most small, a few with attachments. */
const SIZES = [0, 0, 0, 500, 3_000, 8_000, 30_000, 100_000, 400_000];

const NOISE = Buffer.from(Array.from({ length: 1_000_000 }, (_, at) => (Math.imul(at, 2_654_435_761) >>> 11) & 0xff))
  .toString('base64')
  .replaceAll(/.{76}/g, '$&\r\n');

/** Message `number` of a large mailbox, with an attachment of about `octets` in its encoded form. */
export function letterOf(number: number, octets = SIZES[number % SIZES.length] ?? 0): Buffer {
  const head = `From: Anna ${number % 50} <anna${number % 50}@example.org>\r\nTo: Ben <ben@example.org>\r\nSubject: Letter ${number}\r\nMessage-ID: <${number}@example.org>\r\nDate: Tue, 1 Jul 2003 10:52:37 +0200\r\nMIME-Version: 1.0\r\n`;
  const text = `Line of message ${number}.\r\n`;
  if (octets === 0) return Buffer.from(`${head}\r\n${text.repeat(20)}`);
  const start = (number * 13 * 78) % 300_000;
  const content = NOISE.slice(start, start + Math.ceil(octets / 78) * 78);
  return Buffer.from(
    `${head}Content-Type: multipart/mixed; boundary=edge\r\n\r\n--edge\r\n\r\n${text}\r\n--edge\r\nContent-Type: application/octet-stream; name=${number}.bin\r\nContent-Disposition: attachment; filename=${number}.bin\r\nContent-Transfer-Encoding: base64\r\n\r\n${content}\r\n--edge--\r\n`,
    'latin1',
  );
}

/** `count` messages in folder 0. */
export async function* lettersOf(count: number, octets?: number): AsyncGenerator<PstItem> {
  for (let number = 0; number < count; number += 1)
    yield rawItem(0, letterOf(number, octets), {
      received: 1_057_056_757_000 + number * 1000,
      flags: number % 3 === 0 ? [] : ['\\Seen'],
    });
}
