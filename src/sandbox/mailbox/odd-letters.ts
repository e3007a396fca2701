import type { SeedMessage } from '../mail-account.ts';
import { chance } from './chance.ts';
import { type Person, dateHeader, person, writeLetter } from './letter.ts';

type Odd = Omit<SeedMessage, 'uid'>;

const FRIEND: Person = { name: 'Odd Olsen', email: 'odd.olsen@fjord.example' };
const BIG = 1_500_000;

const at = (day: number) => Date.UTC(2008, 0, 1 + day * 45, 9, 30, day);

/** The kind of letters that a twenty-year-old mailbox holds. Each is odd in one way, and a transfer must not change it. */
export function oddLetters(owner: Person): readonly Odd[] {
  const head = (day: number, subject: string, id = `odd-${day}`) =>
    `Date: ${dateHeader(at(day))}\r\nFrom: ${person(FRIEND)}\r\nTo: ${person(owner)}\r\nSubject: ${subject}\r\nMessage-ID: <${id}@fjord.example>\r\n`;
  const raw = (day: number, text: string, flags: readonly string[] = ['\\Seen'], internalDate = at(day)): Odd => ({
    internalDate,
    flags,
    source: Buffer.from(text, 'latin1'),
  });
  const twice = raw(4, `${head(4, 'Exactly the same letter, twice')}\r\nThe very same octets.\r\n`);
  const inner = `${head(13, 'The letter inside', 'odd-13-inside')}\r\nI am a letter in a letter.\r\n`;
  const japanese = '\x1b$B$3$s$K$A$O@$3&\x1b(B';
  return [
    raw(
      1,
      `Date: ${dateHeader(at(1))}\r\nFrom: ${person(FRIEND)}\r\nSubject: No Message-ID\r\n\r\nThis one has none.\r\n`,
    ),
    raw(2, `${head(2, 'Same Message-ID, first', 'odd-same')}\r\nThe first of two.\r\n`),
    raw(3, `${head(3, 'Same Message-ID, second', 'odd-same')}\r\nThe second, with another body.\r\n`, []),
    twice,
    twice,
    raw(5, `${head(5, 'Gr\xfc\xdfe, \xe9t\xe9 (octets above 127 in the header)')}\r\nRaw Latin-1: \xe4\xf6\xfc\r\n`),
    raw(6, `${head(6, 'A line of 5000 characters')}\r\n${'long '.repeat(1000)}\r\nand a short one.\r\n`),
    raw(7, `${head(7, 'Lines that end with a bare LF')}\r\none\ntwo\nthree\n`),
    raw(
      8,
      `${head(8, `=?ISO-2022-JP?B?${Buffer.from(japanese, 'latin1').toString('base64')}?=`)}MIME-Version: 1.0\r\nContent-Type: text/plain; charset=iso-2022-jp\r\n\r\n${japanese}\r\n`,
    ),
    raw(9, `${head(9, 'An empty body')}\r\n`),
    raw(10, head(10, 'Only a header, and no blank line after it')),
    raw(
      11,
      `${head(11, 'Received years after it was written')}\r\nFound again.\r\n`,
      ['\\Seen'],
      Date.UTC(2019, 11, 31, 23, 59, 58),
    ),
    raw(
      12,
      `Date: ${dateHeader(Date.UTC(2038, 0, 20, 3, 14, 8))}\r\nFrom: ${person(FRIEND)}\r\nSubject: From the future\r\nMessage-ID: <odd-12@fjord.example>\r\n\r\nSee you in 2038.\r\n`,
      ['\\Flagged'],
    ),
    raw(
      13,
      `${head(13, 'A letter inside a letter')}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=outer\r\n\r\n--outer\r\n\r\nSee below.\r\n--outer\r\nContent-Type: message/rfc822\r\n\r\n${inner}\r\n--outer--\r\n`,
      ['\\Seen', '$Forwarded'],
    ),
    raw(
      14,
      `Date: the day after tomorrow\r\nFrom: nobody\r\nSubject: A date that is none\r\nMessage-ID: <odd-14@fjord.example>\r\n\r\nWhen?\r\n`,
    ),
    raw(
      15,
      `${head(15, 'A boundary that never comes')}MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary="gone"\r\n\r\nNo part begins here.\r\n`,
    ),
    raw(
      16,
      `From odd.olsen@fjord.example Sat Jan  3 01:05:34 1998\r\n${head(16, 'It begins like an mbox')}\r\nFrom here on it is easy.\r\n>From there too.\r\n`,
    ),
    raw(17, `${head(17, 'A lone dot and dashes')}\r\n.\r\n..\r\n--\r\n-- \r\nOdd\r\n`),
    raw(18, `${head(18, 'UTF-8 in the header: \xe6\x97\x85\xe8\xa1\x8c')}\r\n\xf0\x9f\x90\x9f\r\n`, [
      '\\Seen',
      'NonJunk',
      'Fish/2008',
    ]),
    raw(19, `${head(19, 'No final line end')}\r\nIt just stops`),
    raw(20, `${head(20, 'Before 1980')}\r\nThe clock had stopped.\r\n`, ['\\Seen'], Date.UTC(1979, 5, 1, 12, 0, 0)),
    raw(21, '\r\nOnly a body, and no header at all.\r\n'),
    {
      internalDate: at(22),
      flags: ['\\Seen'],
      source: writeLetter({
        id: 'odd-22',
        from: FRIEND,
        to: [owner],
        subject: 'The film of the boat, 2 MB',
        time: at(22),
        text: 'It took all night to send.',
        attachments: [{ name: 'boat.avi', type: 'video/x-msvideo', bytes: chance('boat').bytes(BIG) }],
      }),
    },
  ];
}
