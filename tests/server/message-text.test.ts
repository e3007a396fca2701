import { describe, expect, test } from 'vitest';
import { decoderOf } from '../../src/server/export/mime/charsets.ts';
import { openTextReader } from '../../src/server/export/mime/message-text.ts';

const read = (lines: readonly string[]) => readOctets(Buffer.from(lines.join('\r\n')));

/** In small pieces, each of which is changed once it was taken. */
function readOctets(octets: Buffer, size = 7) {
  const reader = openTextReader();
  for (let at = 0; at < octets.length; at += size) {
    const piece = Buffer.from(octets.subarray(at, at + size));
    reader.write(piece);
    piece.fill(0);
  }
  return reader.end();
}

const HEAD = [
  'From: Ada <ada@mail.example>',
  'To: "Team": ;, me@mail.example',
  'Subject: =?utf-8?Q?Apple_=F0=9F=8D=8E?=',
];
const coded = (encoding: string, charset: string, text: string) =>
  read([...HEAD, `Content-Type: text/plain; charset=${charset}`, `Content-Transfer-Encoding: ${encoding}`, '', text]);
const ofType = (type: string, start: string, ...octets: readonly number[]) =>
  readOctets(Buffer.from(`Content-Type: ${type}\r\n\r\n${start}${String.fromCharCode(...octets)}`, 'latin1'));
const inCharset = (charset: string, octets: Buffer) =>
  readOctets(Buffer.concat([Buffer.from(`Content-Type: text/plain; charset=${charset}\r\n\r\n`), octets])).text;
const little = (text: string) => Buffer.from(text, 'utf16le');
const meta = (charset: string) => `<meta http-equiv="Content-Type" content="text/html; charset=${charset}">`;
const file = (type: string, ...fields: readonly string[]) => [`Content-Type: ${type}`, ...fields, '', 'octets'];
const multipart = (type: string, boundary: string, parts: readonly (readonly string[])[]) => [
  `Content-Type: multipart/${type}; boundary=${boundary}`,
  '',
  ...parts.flatMap((part) => [`--${boundary}`, ...part]),
  `--${boundary}--`,
];
const inLatin1 = (lines: readonly string[]) => readOctets(Buffer.from(lines.join('\r\n'), 'latin1'));
const plain = (text: string) => ['Content-Type: text/plain; charset=utf-8', '', text];
const html = (text: string) => ['Content-Type: text/html; charset=utf-8', '', text];

const encodedMessage = (encoding: string, content: string) => [
  'Content-Type: message/rfc822',
  `Content-Transfer-Encoding: ${encoding}`,
  '',
  content,
];
const seeing = (part: readonly string[]) => read([...HEAD, ...multipart('mixed', 'x', [plain('See'), part])]);
const named = (...lines: readonly string[]) => seeing(file(lines.join('\r\n'))).attached;

describe('What a person reads of a message', () => {
  test.each([
    ['koi8-r', 'f0d2c9d7c5d4', 'Привет'],
    ['big5', 'a4a4a4e5', '中文'],
    ['shift_jis', '955c8ea6', '表示'],
    ['utf-16', 'e9', 'é'],
    ['utf-7', 'e9', 'é'],
    ['iso-2022-jp', 'e9', 'é'],
    ['koi8-r', 'c3a9', 'é'],
    ['no-such-charset', 'e9', 'é'],
  ])('has a subject that is not encoded in the charset of the text, if it can be: %s', (charset, octets, meant) => {
    const [head, end] = [`Content-Type: text/plain; charset=${charset}\r\nSubject: +AOQ- `, '\r\n\r\n'];
    const letter = Buffer.concat([Buffer.from(head), Buffer.from(octets, 'hex'), Buffer.from(end)]);
    expect(readOctets(letter).subject).toBe(`+AOQ- ${meant}`);
  });

  test('names people and subject as they are written, and groups by their members', async () => {
    expect(read([...HEAD, '', 'Hello'])).toEqual({
      from: [{ name: 'Ada', email: 'ada@mail.example' }],
      to: [{ name: '', email: 'me@mail.example' }],
      cc: [],
      bcc: [],
      subject: 'Apple 🍎',
      text: 'Hello',
      html: '',
      attached: [],
      isCut: false,
    });
  });

  test('says the same once, as text and as HTML', async () => {
    expect(read([...HEAD, ...multipart('alternative', 'x', [plain('Hello'), html('<b>Hello</b>')])])).toMatchObject({
      text: 'Hello',
      html: '<b>Hello</b>',
    });
  });

  test('keeps the line that a mailing list adds to HTML, and takes it for no HTML', async () => {
    const inner = multipart('alternative', 'y', [plain('Hello'), html('<b>Hello</b>')]);
    expect(read([...HEAD, ...multipart('mixed', 'x', [inner, plain('To leave: <list@mail.example>')])])).toMatchObject({
      text: 'Hello\nTo leave: <list@mail.example>',
      html: '<b>Hello</b>\n<pre>To leave: &#60;list@mail.example&#62;</pre>',
    });
  });

  test('shows plain text that no HTML repeats, though it is called a choice', async () => {
    const inner = multipart('alternative', 'y', [plain('Only this')]);
    expect(read([...HEAD, ...multipart('mixed', 'x', [inner, html('<b>And that</b>')])]).html).toBe(
      '<pre>Only this</pre>\n<b>And that</b>',
    );
  });

  test('shows a message within it, after what it says itself', async () => {
    const inner = [
      'From: Bob <bob@mail.example>',
      'Subject: Old news',
      ...multipart('mixed', 'y', [plain('Once upon')]),
    ];
    const within = ['Content-Type: message/rfc822; name="old.eml"', '', ...inner];
    const found = read([...HEAD, ...multipart('mixed', 'x', [plain('See below'), within])]);
    expect(found.text).toBe('See below\n\nFrom: Bob <bob@mail.example>\nSubject: Old news\n\n\nOnce upon');
    expect(found.attached).toEqual(['old.eml']);
    expect(found.subject).toBe('Apple 🍎');
  });

  test('shows its own text though a message within it has HTML that says its text again', async () => {
    const only = multipart('alternative', 'y', [plain('Read this')]);
    const within = [
      'Content-Type: message/rfc822',
      '',
      ...multipart('alternative', 'z', [plain('Old'), html('<i>Old</i>')]),
    ];
    expect(read([...HEAD, ...multipart('mixed', 'x', [only, within])]).html).toBe(
      '<pre>Read this</pre>\n<pre>\n\n</pre>\n<i>Old</i>',
    );
  });

  test('reads HTML whose type lacks the semicolon', async () => {
    expect(read([...HEAD, 'Content-Type: text/html charset=utf-8', '', '<b>Hi</b>']).html).toBe('<b>Hi</b>');
  });

  test('names what is attached, also a file that is to be shown at once, and a picture that HTML refers to', async () => {
    const parts = [
      [
        ...multipart('related', 'y', [
          html('<img src="cid:1">'),
          file('image/png; name="picture.png"', 'Content-ID: <1>', 'Content-Disposition: inline'),
        ]),
      ],
      file('application/pdf', "Content-Disposition: inline; filename*=utf-8''%C3%9Cber.pdf"),
      file('text/plain; name="notes.txt"'),
      file('text/html', 'Content-Disposition: attachment'),
      file('application/pdf; name="bill.pdf"', 'Content-Disposition: attachment; filename=""'),
    ];
    expect(read([...HEAD, ...multipart('mixed', 'x', parts)])).toMatchObject({
      html: '<img src="cid:1">',
      text: '',
      attached: ['picture.png', 'Über.pdf', 'notes.txt', 'text/html', 'bill.pdf'],
    });
  });

  test('shows the only text that there is, though it has the name of a file', async () => {
    const named = file('text/plain; name="letter.txt"', 'Content-Disposition: inline');
    expect(read([...HEAD, ...named])).toMatchObject({ text: 'octets', attached: [] });
    const attachment = file('text/plain', 'Content-Disposition: attachment; filename=letter.txt');
    expect(read([...HEAD, ...attachment])).toMatchObject({ text: '', attached: ['letter.txt'] });
  });

  test('reads what is encoded, in the charset that it has', async () => {
    expect(coded('base64', 'utf-8', Buffer.from('Grüße 🍎').toString('base64')).text).toBe('Grüße 🍎');
    expect(coded('quoted-printable', 'iso-8859-1', 'Gr=FC=DFe').text).toBe('Grüße');
    expect(coded('8bit', 'no-such-charset', 'Grüße').text).toBe('Grüße');
    const texts = ['At the café', 'Grüße', 'Grüße vom café'];
    for (const encoding of ['utf8', 'latin1'] as const)
      expect(texts.map((text) => readOctets(Buffer.from(`Subject: x\r\n\r\n${text}`, encoding)).text)).toEqual(texts);
  });

  test('reads charsets that browsers no longer know, wherever a piece is cut', async () => {
    expect(coded('7bit', 'utf-7', 'Gr+APw-n +AOQA9gD8-, 1 +- 1 +2DzfTg-.').text).toBe('Grün äöü, 1 + 1 🍎.');
    expect(coded('7bit', 'unicode-1-1-utf-7', 'Gr+APw n').text).toBe('Grü n');
    expect(coded('7bit', 'utf-7', '1+1=2, a + b, Gr+AP').text, 'none at all').toBe('1\uFFFD=2, a + b, Gr\uFFFD');
    expect(coded('quoted-printable', 'cp850', 'Gr=81n =9B=EF').text).toBe('Grün ø´');
    expect(coded('quoted-printable', 'IBM437', 'Gr=81n =E0=C4').text).toBe('Grün α─');
    expect(coded('quoted-printable', 'ibm852', 'P=FD=A1li=E7').text).toBe('Příliš');
    expect(coded('7bit', 'iso-2022-kr', '\u001b$)C\u000eGQ1[\u000f and').text).toBe('한글 and');
    expect(coded('7bit', 'hz-gb-2312', 'See ~{VPND~} ~~ now').text).toBe('See 中文 ~ now');
    expect(coded('quoted-printable', 'x-unknown', 'Gr=C3=BCn').text).toBe('Grün');
  });

  test('reads UTF-7 a sign at a time, and no half of one', () => {
    const decoder = decoderOf('utf-7');
    const pieces = [...Buffer.from('a+2Dzf7tg833Y-b')].map((octet) =>
      decoder?.decode(Uint8Array.of(octet), { stream: true }),
    );
    expect(pieces.filter((piece) => piece?.isWellFormed() === false)).toEqual([]);
    expect(pieces.join('') + decoder?.decode()).toBe('a🏮🍶b');
  });

  test('reads UTF-16 in the order that it begins in', async () => {
    expect(inCharset('utf-16', little('\uFEFFHello'))).toBe('Hello');
    expect(inCharset('utf-16', little('\uFEFFHello').swap16())).toBe('Hello');
    expect(inCharset('utf-16', little('Hello').swap16())).toBe('Hello');
    expect(inCharset('utf-16', little('Hello'))).toBe('Hello');
    expect(inCharset('utf-16be', little('Hello').swap16())).toBe('Hello');
    // The less significant octet of these is 0.
    expect(inCharset('utf-16le', little('\u3000一二三 hello'))).toBe('\u3000一二三 hello');
    expect(inCharset('utf-16', little('\u3000一二三 hello'))).toBe('\u3000一二三 hello');
  });

  test('reads a text whose charset only its own octets tell', async () => {
    const russian = [0xcf, 0xf0, 0xe8, 0xe2, 0xe5, 0xf2];
    expect(ofType('text/html', meta('windows-1251'), ...russian).html).toContain('Привет');
    expect(ofType('text/html; charset=us-ascii', '<META charset=gb2312>', 0xd6, 0xd0).html).toContain('中');
    expect(ofType('text/html; charset=iso-8859-1', meta('windows-1251'), 0xe9).html, 'its header').toContain('é');
    expect(ofType('text/html', meta('windows-1251'), 0xc3, 0xa9).html, 'it is in UTF-8').toContain('é');
    expect(ofType('text/html', meta('unicode'), 0xe9).html, 'as Word says').toBe(`${meta('unicode')}é`);
    expect(ofType('text/plain', meta('windows-1251'), 0xe9).text, 'no HTML').toContain('é');
    const japanese = '\u001b$BF|K\\\u001b(B';
    for (const type of ['text/plain', 'text/plain; charset=us-ascii', 'text/html'])
      expect(ofType(type, japanese).text + ofType(type, japanese).html).toBe('日本');
  });

  test('shows what is in a multipart whose boundary never comes', async () => {
    const lost = ['Content-Type: multipart/mixed; boundary=never', '', '--another', '', 'Read this', '--another--'];
    expect(read([...HEAD, ...lost]).text).toBe('--another\r\n\r\nRead this\r\n--another--');
    expect(read([...HEAD, ...multipart('mixed', 'x', [lost, file('application/pdf')])])).toMatchObject({
      text: '--another\r\n\r\nRead this\r\n--another--',
      attached: ['application/pdf'],
    });
    const introduced = [
      'Content-Type: multipart/mixed; boundary=x',
      '',
      'For old programs',
      '--x',
      '',
      'Read',
      '--x--',
    ];
    expect(read([...HEAD, ...introduced]).text).toBe('Read');
    expect(read([...HEAD, ...lost, 'word '.repeat(100_000)])).toMatchObject({ isCut: true });
  });

  test('shows what can be told apart before what can not', async () => {
    const lost = ['Content-Type: multipart/alternative; boundary=never', '', '--another', '', 'Raw', '--another--'];
    const { text, html: rich } = read([
      ...HEAD,
      ...multipart('mixed', 'x', [lost, plain('Good'), html('<b>Good</b>')]),
    ]);
    expect(text).toBe('Good\n--another\r\n\r\nRaw\r\n--another--');
    expect(rich).toBe('<pre>Good</pre>\n<b>Good</b>\n<pre>--another\r\n\r\nRaw\r\n--another--</pre>');
  });

  test('shows a message within it that is encoded, and no endless ones', async () => {
    const inner = ['From: Bob <bob@mail.example>', 'Content-Type: text/plain; charset=utf-8', '', 'Grüße'].join('\r\n');
    const coded64 = encodedMessage('base64', Buffer.from(inner).toString('base64').replaceAll(/.{20}/g, '$&\r\n'));
    expect(seeing(coded64).text).toBe('See\n\nFrom: Bob <bob@mail.example>\n\n\nGrüße');
    expect(seeing(encodedMessage('quoted-printable', inner)).text).toContain('Grüße');
    const endless = encodedMessage('quoted-printable', '').join('\r\n').repeat(20_000);
    expect(readOctets(Buffer.from(`${endless}Hello`), 65_536).attached).toEqual(['message/rfc822']);
  });

  test('shows paragraphs that were broken to be put together again in one line each', async () => {
    const flowed = (parameters: string, ...lines: readonly string[]) =>
      read([...HEAD, `Content-Type: text/plain; charset=utf-8; format=flowed${parameters}`, '', ...lines]).text;
    expect(flowed('', 'One ', 'two', '', ' From here ', '> a ', '>b', '>> c', '-- ', 'Ann ', '-- ', 'x')).toBe(
      'One two\n\nFrom here \n> a b\n>> c\n-- \nAnn \n-- \nx',
    );
    expect(flowed('; delsp=yes', 'https:// ', 'a.example/b ', 'c')).toBe('https://a.example/bc');
    expect(flowed('; DelSp="Yes"', '日本 ', '語')).toBe('日本語');
    expect(read([...HEAD, 'Content-Type: text/plain', '', 'One ', 'two']).text).toBe('One \r\ntwo');
  });

  test('reads what a part is where the semicolon after it is missing, or a comma', async () => {
    const parts = [
      file('application/pdf name="my bill.pdf"'),
      file('application/pdf, name=list.pdf'),
      file('text/plain', 'Content-Disposition: attachment filename=notes.txt'),
      ['Content-Type: text/plain charset=iso-8859-1', 'Content-Transfer-Encoding: quoted-printable', '', 'Gr=FCn'],
    ];
    expect(read([...HEAD, ...multipart('mixed', 'x', parts)])).toMatchObject({
      text: 'Grün',
      attached: ['my bill.pdf', 'list.pdf', 'notes.txt'],
    });
  });

  test('names files that are uuencoded in a text, and shows what is around them', async () => {
    const uuencoded = ['begin 644 Grüße 1.txt', '#86)C', '`', 'end'];
    const prose = ['begin ', 'begin 644 with care', 'begin 644 this', 'or not'];
    const letter = ['See:', ...uuencoded, ...prose, ...uuencoded, 'Bye', 'begin'];
    const found = read([...HEAD, 'Content-Type: text/plain; charset=utf-8', '', ...letter]);
    expect(found.text).toBe(['See:', ...prose, 'Bye', 'begin'].join('\r\n'));
    expect(found.attached).toEqual(['Grüße 1.txt', 'Grüße 1.txt']);
    const broken = ['See:', ...uuencoded.slice(0, 2), 'What is no line of it', 'end'];
    expect(read([...HEAD, '', ...broken])).toMatchObject({ text: 'See:\r\nWhat is no line of it\r\nend' });
    expect(read([...HEAD, '', ...Array.from({ length: 2000 }, () => uuencoded).flat(), 'Bye']).text).toBe('Bye');
  });

  test('names a file by its name as it is, without marks that turn its end around', async () => {
    const name = `=?utf-8?B?${Buffer.from('ann\u202Egnp.exe\u2069').toString('base64')}?=`;
    const part = file('application/pdf', `Content-Disposition: attachment; filename="${name}"`);
    expect(read([...HEAD, ...multipart('mixed', 'x', [part])]).attached).toEqual(['anngnp.exe']);
  });

  test('names a file by its name with the blanks between its quotes and, without quotes, with its brackets', () => {
    const continued = [
      'application/pdf;',
      " filename*0*=iso-8859-1''M%E4rz;",
      ' filename*1=" 2001 ";',
      ' filename*2="a.pdf"',
    ];
    expect(named(...continued.map((line) => line.replace('filename', 'name')))).toEqual(['März 2001 a.pdf']);
    expect(named('application/pdf; name=a(1).pdf')).toEqual(['a(1).pdf']);
    expect(named('application/pdf; name = My file (2).pdf ; x=(no)y')).toEqual(['My file (2).pdf']);
    expect(named('application/pdf; (a) name="b.pdf" (a comment)')).toEqual(['b.pdf']);
    expect(named('application/pdf (a); name==?utf-8?Q?c(3).pdf?=')).toEqual(['c(3).pdf']);
  });

  test('finds the parts between delimiters that begin with a blank', () => {
    const lines = [
      'Content-Type: multipart/mixed; boundary= " x"',
      '',
      '-- x',
      ...plain('Hello'),
      '-- x',
      ...plain('Ada'),
      '-- x--',
    ];
    expect(read([...HEAD, ...lines]).text).toBe('Hello\nAda');
  });

  test('reads a header that begins with the line of an mbox, also one that was quoted', () => {
    for (const line of [
      'From ada@mail.example Mon Jan  5 10:00:00 1998',
      '>From ada@mail.example Mon Jan  5 10:00:00 1998',
    ])
      expect(read([line, ...HEAD, '', 'Hello'])).toMatchObject({ subject: 'Apple 🍎', text: 'Hello' });
  });

  test('shows the lines that a mailing list adds to encoded text, wherever a piece is cut', () => {
    const footer =
      '_______________________________________________\r\nTo leave the list: write to ada@mail.example\r\n';
    for (const said of ['Hello, ', 'Hello, A', 'Hello, Ad']) {
      const text = said.repeat(30);
      const encoded = Buffer.from(text).toString('base64').replaceAll(/.{76}/g, '$&\r\n');
      expect(coded('base64', 'utf-8', `${encoded}\r\n\r\n${footer}`).text).toBe(`${text}\r\n${footer}`);
      // What a gateway adds to a long line is no text.
      expect(coded('base64', 'utf-8', `${encoded.replaceAll('\r\n', '!\r\n ')}\r\n`).text).toBe(text);
    }
    const twice = ['Hello', 'Ada'].map((word) => Buffer.from(word).toString('base64')).join('\r\n');
    expect(coded('base64', 'utf-8', twice).text).toBe('HelloAda');
    expect(coded('base64', 'utf-8', 'SGVs bG8h').text).toBe('Hello!');
  });

  test('shows text of any kind where there is no other, and names it where there is', () => {
    const enriched = '<bold>Hello</bold> <<you>\r\nand <color><param>red</param>Ada</color>\r\n\r\nBye';
    const shown = 'Hello <you> and Ada\nBye';
    expect(read([...HEAD, 'Content-Type: text/enriched', '', enriched])).toMatchObject({ text: shown, attached: [] });
    const calendar = 'BEGIN:VCALENDAR\r\nSUMMARY:Meet\r\n ing\r\nEND:VCALENDAR';
    expect(read([...HEAD, 'Content-Type: text/calendar; method=REPLY', '', calendar]).text).toContain(
      'SUMMARY:Meeting\r\n',
    );
    const rich = ['Content-Type: text/enriched', '', enriched];
    for (const parts of [
      [plain('Hello'), rich],
      [rich, plain('Hello')],
    ])
      expect(read([...HEAD, ...multipart('alternative', 'x', parts)])).toMatchObject({
        text: 'Hello',
        html: '',
        attached: ['text/enriched'],
      });
    const named = [file('text/plain; name="a.txt"'), file('text/html; name="a.html"')];
    expect(read([...HEAD, ...multipart('alternative', 'x', named)])).toMatchObject({
      text: 'octets',
      attached: ['a.txt', 'a.html'],
    });
    expect(read([...HEAD, 'Content-Type: text/rtf', '', '{\\rtf1}'])).toMatchObject({
      text: '',
      attached: ['text/rtf'],
    });
  });

  test('has room for all of a text that follows one of another kind', () => {
    const log = ['Content-Type: text/x-log', '', 'x'.repeat(300_000)];
    const { text, isCut } = read([...HEAD, ...multipart('mixed', 'x', [log, plain('Hello')])]);
    expect({ text, isCut }).toEqual({ text: 'Hello', isCut: false });
  });

  test('keeps each blank of a text that is said to be uuencoded and is not', () => {
    const text = `\r\nDear Ada${' '.repeat(20)}Bye\r\n`;
    expect(coded('x-uuencode', 'utf-8', text).text).toBe(text);
  });

  test('reads a message whose lines end with CR alone', async () => {
    const lines = [...HEAD, ...multipart('mixed', 'x', [plain('Hello\ryou'), file('application/pdf')])];
    expect(readOctets(Buffer.from(lines.join('\r')))).toMatchObject({
      from: [{ name: 'Ada' }],
      subject: 'Apple 🍎',
      text: 'Hello\nyou',
      attached: ['application/pdf'],
    });
    expect(readOctets(Buffer.from('Subject: Hello\rHi\r\nFrom: ann@mail.example\r\n\r\nOne\rtwo'))).toMatchObject({
      from: [{ email: 'ann@mail.example' }],
      text: 'One\rtwo',
    });
  });

  test('reads encoded words that cut a character in two, each with its own padding', async () => {
    const octets = Buffer.from('Grüße aus Köln');
    const pieces = Array.from({ length: 4 }, (_, at) => octets.subarray(at * 5, at * 5 + 5).toString('base64'));
    const words = pieces.map((piece, at) => `=?${at === 0 ? 'utf' : 'UTF'}-8?B?${piece}?=`).join('\r\n ');
    expect(read([`Subject: ${words}`, `From: ${words} <ann@mail.example>`, '', 'x'])).toMatchObject({
      subject: 'Grüße aus Köln',
      from: [{ name: 'Grüße aus Köln', email: 'ann@mail.example' }],
    });
  });

  test('reads encoded words with a question mark, in charsets that browsers do not know, and Japanese without any', async () => {
    const subject = (value: string) => read([`Subject: ${value}`, '', 'x']).subject;
    expect(subject('=?utf-8?Q?Are_you_ready??=')).toBe('Are you ready?');
    expect(subject('Re: =?utf-8?Q?Ready?_Gr=C3=BCn?= =?utf-8?Q?_or_not=3F?= yes')).toBe('Re: Ready? Grün or not? yes');
    expect(subject('=?cp850?Q?Gr=81n?= =?utf-7?Q?_Gr+APw-n?=')).toBe('Grün Grün');
    expect(subject('=?utf-8?Q?Привет_=E2=82=AC?=')).toBe('Привет €');
    // Every object has these.
    for (const name of ['constructor', '__proto__', 'toString']) {
      expect(subject(`=?${name}?Q?Gr=C3=BCn?=`)).toBe('Grün');
      expect(inCharset(name, Buffer.from('Grün'))).toBe('Grün');
    }
    expect(subject('=?no-such-charset?Q?Gr=C3=BCn?= =?utf-8?Q?Gr=FCn?=')).toBe('GrünGrün');
    expect(subject('\u001b$BF|K\\\u001b(B')).toBe('日本');
    expect(subject('=?utf-8?Q?a =?= b')).toBe('a = b');
    expect(read(['From: =?iso-8859-1?Q?Who,_me??= <m@mail.example>', '', 'x']).from).toEqual([
      { name: 'Who, me?', email: 'm@mail.example' },
    ]);
    const hostile = read([`Subject: ${'=?x?q?'.repeat(10_000)}`, `From: ${'=?x?q?'.repeat(10_000)}`, '', 'x']);
    expect(hostile.text).toBe('x');
  });

  test('reads a name with a comma in an encoded word as one name', async () => {
    const from = 'From: =?utf-8?Q?Keller,_Mar=C3=ADa_<the_first>?= =?iso-8859-1?q?_(M=FCller)?= <m@mail.example>';
    const to = 'To: =?utf-8?q?Meyer;_Ann?= <a@mail.example>, "=?utf-8?Q?Doe,_Bob?=" <b@mail.example>';
    expect(read([from, to, '', 'x'])).toMatchObject({
      from: [{ name: 'Keller, María <the first> (Müller)', email: 'm@mail.example' }],
      to: [
        { name: 'Meyer; Ann', email: 'a@mail.example' },
        { name: 'Doe, Bob', email: 'b@mail.example' },
      ],
    });
  });

  test.each([
    [',', (at: number) => `Person ${at}`],
    [';', (at: number) => `Person ${at}`],
    // Sooner or later one is cut behind the comma in its name.
    ...Array.from({ length: 40 }, (_, more) => [',', (at: number) => `${'x'.repeat(more)}${at}, Ann`] as const),
  ] as const)('leaves out the address in which a field of more than its length is cut, behind %s', (sign, nameOf) => {
    const people = Array.from({ length: 5_000 }, (_, at) => ({ name: nameOf(at), email: `p${at}@mail.example` }));
    const written = people.map(({ name, email }) => `"${name}" <${email}>`);
    const { to } = read([`To: ${written.join(`${sign}\r\n `)}`, '', 'x']);
    expect(to.length).toBeGreaterThan(500);
    expect(to).toEqual(people.slice(0, to.length));
  });

  test('reads the addresses of fields that were written for one each, up to a length that takes no seconds', () => {
    const people = Array.from({ length: 9000 }, (_, at) => `p${at}.of.a.long.list.of.people@mail.example`);
    const fields = people.map((one) => `To: ${one}`);
    expect(read([...fields.slice(0, 100), '', 'x']).to.map(({ email }) => email)).toEqual(people.slice(0, 100));
    const few = read([...fields, '', 'x']).to.map(({ email }) => email);
    expect(few).toEqual(people.slice(0, few.length));
    expect(few.join('').length).toBeGreaterThan(200_000);
    expect(few.join('').length).toBeLessThan(300_000);
  });

  test('finds the end of a header whose lines have CR twice', async () => {
    const lines = ['Subject: Hello', 'Content-Type: multipart/mixed; boundary=x', '', '--x', '', 'Read this', '--x--'];
    expect(readOctets(Buffer.from(lines.join('\r\r\n')))).toMatchObject({ subject: 'Hello', text: 'Read this\r' });
  });

  test('reads each field of a header in its own charset', async () => {
    const mixed = Buffer.concat([
      Buffer.from('X-Spam: caf\xe9\r\nFrom: J\xf6rg <j@x.example>', 'latin1'),
      Buffer.from('\r\nSubject: Grüße\r\n\r\n'),
    ]);
    expect(readOctets(mixed)).toMatchObject({ from: [{ name: 'Jörg' }], subject: 'Grüße' });
  });

  test('reads a header in the charset that the first text of its multipart states, also within another message', async () => {
    const [subject, name] = ['\xf0\xd2\xc9\xd7\xc5\xd4', '\xe1\xce\xce\xc1'];
    const texts = [
      ['Content-Type: text/plain; name=a.txt; charset=iso-8859-1', '', 'A file'],
      ['Content-Type: text/plain', '', 'Without one'],
      ['Content-Type: text/html; charset=koi8-r', '', subject],
      ['Content-Type: text/plain; charset=iso-8859-1', '', 'Another'],
    ];
    const letter = [`From: ${name} <a@x.example>`, `Subject: ${subject}`, ...multipart('mixed', 'y', texts)];
    expect(inLatin1(letter)).toMatchObject({ from: [{ name: 'Анна' }], subject: 'Привет' });
    const within = inLatin1([...HEAD, ...multipart('mixed', 'x', [['Content-Type: message/rfc822', '', ...letter]])]);
    expect(within.text).toContain('From: Анна <a@x.example>\nSubject: Привет\n');
  });

  test('reads a file name that is called encoded and has octets that are not', async () => {
    const part = file('application/pdf', "Content-Disposition: attachment; filename*=utf-8''Größe%20%C3%9C.pdf");
    expect(read([...HEAD, ...multipart('mixed', 'x', [part])]).attached).toEqual(['Größe Ü.pdf']);
  });

  test('keeps a bounded part of text and of HTML each', async () => {
    const [long, short] = ['word '.repeat(100_000), 'word '.repeat(40_000)];
    const shown = (text: string, rich: string) => {
      const found = read([...HEAD, ...multipart('alternative', 'x', [plain(text), html(rich)])]);
      return [found.text.length, found.html.length, found.isCut];
    };
    expect(shown(long, long)).toEqual([200_000, 200_000, true]);
    expect(shown(long, short), 'HTML says the same').toEqual([200_000, 200_000, false]);
    expect(read([...HEAD, ...multipart('mixed', 'x', [plain(short), plain('end')])]).isCut).toBe(true);
  });

  test('can be cut anywhere', async () => {
    const inner = multipart('alternative', 'y', [plain('Grüße 🍎'), html('<b>Grüße</b>')]);
    const whole = Buffer.from([...HEAD, ...multipart('mixed', 'x', [inner, plain('End')])].join('\r\n'));
    for (let length = 0; length <= whole.length; length += 1)
      expect(typeof readOctets(whole.subarray(0, length)).text).toBe('string');
    expect(readOctets(whole.subarray(0, whole.indexOf('<b>'))).text).toContain('Grüße 🍎');
  });
});
