import type { Letter } from './mail-client.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** An INTERNALDATE. The zone varies between messages, because only the instant has to be preserved. */
function dateOf(number: number): string {
  const zone = ['+0000', '-0700', '+0530', '-0330'][number % 4] ?? '+0000';
  const day = `${(number % 28) + 1}`.padStart(2, ' ');
  return `${day}-${MONTHS[number % 12]}-${1999 + (number % 26)} ${`${number % 24}`.padStart(2, '0')}:${`${number % 60}`.padStart(2, '0')}:07 ${zone}`;
}

const FLAGS: readonly (readonly string[])[] = [
  ['\\Seen'],
  [],
  ['\\Seen', '\\Answered'],
  ['\\Flagged', '\\Seen'],
  ['$Forwarded', '\\Seen'],
  ['\\Draft'],
  ['NonJunk', 'custom-keyword'],
  ['\\Deleted', '\\Seen'],
];

/** An ordinary message; the same number gives the same message. */
export function letter(number: number, octets = 300): Letter {
  const body = `Line of message ${number}.\r\n`.repeat(Math.ceil(octets / 24)).slice(0, octets);
  return {
    bytes: Buffer.from(
      `From: Anna <anna@example.org>\r\nTo: Ben <ben@example.org>\r\nSubject: Letter ${number}\r\nMessage-ID: <${number}@example.org>\r\nDate: Tue, 1 Jul 2003 10:52:37 +0200\r\n\r\n${body}\r\n`,
    ),
    flags: FLAGS[number % FLAGS.length] ?? [],
    date: dateOf(number),
  };
}

/** What real mailboxes contain besides ordinary messages. */
export const ODD_LETTERS: readonly Letter[] = [
  odd('From: a@example.org\r\nSubject: no message id\r\n\r\nnone\r\n'),
  odd('From: a@example.org\r\nSubject: headers only\r\n\r\n'),
  odd('no header at all, just text\r\n'),
  odd('\r\nbody after an empty header\r\n'),
  odd('Subject: no line end at the end\r\n\r\nlast line'),
  odd(
    Buffer.concat([
      Buffer.from('Subject: 8-bit '),
      Buffer.from([0xe4, 0xf6, 0xfc, 0xff, 0x80]),
      Buffer.from('\r\n\r\n\xa4\r\n', 'latin1'),
    ]),
  ),
  odd(`Subject: =?utf-8?B?${Buffer.from('Grüße 🎂').toString('base64')}?=\r\n\r\nraw UTF-8: Grüße 🎂\r\n`),
  odd(`Subject: one long line\r\n\r\n${'x'.repeat(20_000)}\r\n`),
  odd('Subject: literal and tag look-alikes\r\n\r\n{42}\r\nA1 OK FETCH completed\r\n)\r\n* BYE\r\n. \r\n'),
  odd(
    `${Array.from({ length: 400 }, (_, index) => `X-Header-${index}: ${'y'.repeat(70)}`).join('\r\n')}\r\n\r\nmany headers\r\n`,
  ),
  odd('From mbox Thu Jan  1 00:00:00 1970\r\nSubject: mbox line first\r\n\r\nFrom here on\r\n'),
  odd(`Subject: big\r\n\r\n${'0123456789abcdef'.repeat(4).concat('\r\n').repeat(12_000)}`),
  odd('X', []),
  odd('Subject: many flags\r\n\r\n.\r\n', [
    '\\Seen',
    '\\Answered',
    '\\Flagged',
    '\\Draft',
    '$MDNSent',
    '$Forwarded',
    'Junk',
    'x-Y_z.1',
  ]),
];

function odd(content: string | Buffer, flags: readonly string[] = ['\\Seen']): Letter {
  return { bytes: Buffer.from(content as string), flags, date: '29-Feb-2012 23:59:59 -0800' };
}
