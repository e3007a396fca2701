import type { MemoryMailbox, MemoryMessage } from './memory-mailbox.ts';

/**
 * Mailbox names that have broken exports: path traversal, device names, names that differ only in case, composition or
 * width, special characters, long names, and names that only look like modified UTF-7 (RFC 3501 §5.1.3).
 */
const MAILBOXES = [
  'INBOX',
  '../../outside',
  '/etc/absolute',
  'C:\\Windows\\drive',
  '\\\\server\\share',
  'nul',
  'CON.txt',
  'COM¹',
  'ends with dot.',
  'ends with dots and spaces. . .',
  'ends with space ',
  'aux.',
  'null\0octet',
  'Work',
  'work',
  'WORK',
  'Caf\u00e9',
  'Cafe\u0301',
  '\ud55c\uae00',
  '\u1112\u1161\u11ab\u1100\u1173\u11af',
  'file',
  '\ufb01le',
  'Strasse',
  'stra\u00dfe',
  '&AOk-',
  '\u00e9',
  '&Jjo!',
  '&',
  '😀',
  '😀 👨‍👩‍👧 🏳️‍🌈',
  '\u200fright\u200e',
  'right',
  '\u202eright to left',
  'left to right',
  'x'.repeat(300),
  '한'.repeat(300),
  'Archive/2024/Q1',
  'Archive/2024/Q1.mbox',
  'Archive/2024/Q1.part2',
  'a:b|c?d*e<f>g"h',
  '=cmd|calc',
  '....',
  '   ',
  Array.from({ length: 30 }, (_, depth) => `depth ${depth}`).join('/'),
];

const SUBJECTS = [
  'Lunch tomorrow',
  '../../../../etc/cron.d/x',
  'C:\\autoexec.bat',
  '=?UTF-8?Q?../=2E./=00nul?=',
  'CON',
  'dots...',
  'x'.repeat(300),
  '한'.repeat(300),
  '\u202egpj.exe',
  'twin',
  'TWIN',
  '=?UTF-8?Q?Caf=C3=A9?=',
  '=?UTF-8?Q?Cafe=CC=81?=',
  '',
  '   ',
  '=?UTF-8?B?8J+YgCDwn5Go4oCN8J+RqeKAjfCfkac=?=',
  '=?UTF-8?Q?=E2=80=8Fright=E2=80=8E?=',
  'right',
  'dots and spaces. . .',
  'null\0octet',
];

const BODIES = [
  'Plain text.\r\n',
  'From the start of a line\r\n>From a quoted line\r\n>>From twice\r\n',
  'bare\nLF lines\nFrom here\n',
  'no line end',
  'CR\rin the\r\r\nmiddle\r\n',
  `NUL \0 and high \u00ff\r\n`,
  '\r\n\r\n\r\n',
  `${'A'.repeat(100_000)}\r\n`,
];

const FLAGS = [
  [],
  ['\\Seen'],
  ['\\Seen', '\\Answered'],
  ['\\Flagged', '$Forwarded', 'work'],
  ['\\Draft'],
  ['\\Deleted'],
];

/** A message of every kind in every mailbox, each with `ballast` octets of padding. */
export function hostileAccount(ballast = 0): MemoryMailbox[] {
  return MAILBOXES.map((path, at) => ({
    path,
    delimiter: '/',
    uidValidity: BigInt(at + 1),
    messages: messages(at, ballast),
  }));
}

function messages(seed: number, ballast: number): MemoryMessage[] {
  const ordinary = SUBJECTS.map((subject, at) => ({
    uid: at * 3 + 1,
    bytes: Buffer.from(
      `From: "Anna ${seed}" <anna@example.com>\r\nTo: me@sanbruno.example\r\nSubject: ${subject}\r\n` +
        `Message-ID: <${seed}.${at}@example.com>\r\nStatus: R\r\n\r\n${BODIES[at % BODIES.length]}${'b'.repeat(ballast)}`,
      'latin1',
    ),
    flags: FLAGS[at % FLAGS.length] ?? [],
    internalDate: new Date(Date.UTC(2001 + seed, at % 12, at + 1, 3, 4, 5 + at)),
  }));
  const odd = [Buffer.alloc(0), Buffer.from('no header at all'), Buffer.from('\r\nFrom nobody\r\n')];
  return [
    ...ordinary,
    ...odd.map((bytes, at) => ({ uid: 1000 + at, bytes, flags: [], internalDate: new Date(Date.UTC(1999, 0, 1)) })),
    // The same message a second time counts as another message.
    ...ordinary.slice(0, 1).map((message) => ({ ...message, uid: 2000 })),
  ];
}
