import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { PSTFile, type PSTFolder, type PSTMessage } from 'pst-extractor';
import { PSTContact } from 'pst-extractor/dist/PSTContact.class.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { oddLetters } from '../../src/sandbox/mailbox/odd-letters.ts';
import type { PstFolder, PstItem } from '../../src/server/export/pst/write-pst.ts';
import { ODD_LETTERS } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { checkPst } from '../support/pst/pst-checker.ts';
import { contactsByReadpst, contentOf, readByExtractor, readByReadpst } from '../support/pst/pst-readers.ts';
import {
  itemsOf,
  openPstWorld,
  rawItem,
  rawOf,
  sampleBoxes,
  samplePerson,
  sha256,
  type PstWorld,
} from '../support/pst/pst-samples.ts';
import { run } from '../support/run.ts';

let world: PstWorld;
beforeAll(async () => {
  world = await openPstWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

const INBOX: PstFolder = { path: ['Inbox'], role: 'inbox' };

async function written(items: readonly PstItem[], folders: readonly PstFolder[] = [INBOX]): Promise<string> {
  const [file] = await world.write(folders, items);
  const path = file?.path ?? '';
  expect(checkPst(path)).toEqual([]);
  return path;
}

const mail = (...lines: readonly string[]) => Buffer.from(lines.join('\r\n'), 'latin1');
const digestOf = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

async function* failing(): AsyncGenerator<PstItem> {
  yield rawItem(0, mail('Subject: one', '', 'x'));
  throw new Error('the disk is gone');
}

describe('a PST file', () => {
  test.each([[[]], [[INBOX]], [[{ path: ['A', 'B', 'C'] }]]] as const)(
    'of an empty mailbox is right: folders %j',
    async (folders) => {
      const path = await written([], folders);
      expect([...readByExtractor(path).values()].flat()).toEqual([]);
    },
  );

  test('is the same when it is written again, and another one under another ID', async () => {
    const boxes = sampleBoxes();
    const items: PstItem[] = [];
    for await (const item of itemsOf(boxes)) items.push(item);
    const digests: string[] = [];
    for (const id of ['one', 'one', 'other']) {
      await using own = await openPstWorld();
      const [file] = await own.write(boxes, items, { name: 'Mail', id });
      digests.push(await digestOf(file?.path ?? ''));
    }
    expect(digests[1]).toBe(digests[0]);
    expect(digests[2]).not.toBe(digests[0]);
  });

  test('is the same whatever pieces its messages come in', async () => {
    const raws: Buffer[] = oddLetters({ name: 'Ann', email: 'ann@x.example' })
      .slice(0, 21)
      .map(({ source }) => Buffer.from(source));
    for (const { samples } of sampleBoxes().slice(0, 2)) raws.push(...samples.map(rawOf));
    const digests = new Set<string>();
    for (const piece of [1, 2, 3, 7, 100, 1_000_000]) {
      await using other = await openPstWorld();
      const [file] = await other.write(
        [INBOX],
        raws.map((raw) => rawItem(0, raw, { piece })),
        { name: 'Mail' },
      );
      digests.add(await digestOf(file?.path ?? ''));
    }
    expect(digests.size).toBe(1);
  });

  test('ends below the stated size and the next one goes on; no message is missing or twice', async () => {
    const boxes = sampleBoxes();
    const whole = boxes.reduce((sum, { samples }) => sum + samples.length, 0);
    const files = await world.write(boxes, itemsOf(boxes), { name: 'split', maxOctets: 1_000_000 });
    expect(files.length).toBeGreaterThan(1);
    expect(files.map(({ items }) => items).reduce((sum, count) => sum + count, 0)).toBe(whole);
    const subjects: string[] = [];
    for (const { path, size } of files) {
      expect(size).toBeLessThanOrEqual(1_000_000);
      expect(checkPst(path)).toEqual([]);
      for (const [, messages] of readByExtractor(path)) subjects.push(...messages.map(({ subject }) => subject));
    }
    expect(subjects.toSorted()).toEqual(
      boxes.flatMap(({ samples }) => samples.map(({ subject }) => subject)).toSorted(),
    );
  });

  test('that can not be finished is gone, and what came before it stays', async () => {
    await expect(world.write([INBOX], failing(), { name: 'broken' })).rejects.toThrow('the disk is gone');
    expect(await readdir(world.directory)).not.toContain('broken.pst');
  });

  test('that is stopped is gone', async () => {
    const stop = new AbortController();
    const stopping = async function* (): AsyncGenerator<PstItem> {
      yield rawItem(0, mail('Subject: one', '', 'x'));
      stop.abort(new Error('stopped'));
      yield rawItem(0, mail('Subject: two', '', 'x'));
    };
    const writing = world.write([INBOX], stopping(), { name: 'stopped', signal: stop.signal });
    await expect(writing).rejects.toThrow('stopped');
    expect(await readdir(world.directory)).not.toContain('stopped.pst');
  });

  test('tells pffinfo which of its folders are which (needs pffexport)', needs('pffexport'), async () => {
    const path = await written([], sampleBoxes());
    const told = (await run('pffinfo', [path])).toString();
    expect(told).toContain('Folders:\t\tSubtree, Inbox, Wastbox, Sentmail, Finder');
  });
});

const childOf = (folder: PSTFolder | undefined, name: string) =>
  folder?.getSubFolders().find(({ displayName }) => displayName === name);

function messagesIn(path: string): PSTMessage[] {
  const inbox = childOf(childOf(new PSTFile(path).getRootFolder(), 'Top of Personal Folders'), 'Inbox');
  return Array.from({ length: inbox?.contentCount ?? 0 }, () => inbox?.getNextChild() as PSTMessage);
}

const attachmentsOf = (message: PSTMessage) =>
  Array.from({ length: message.numberOfAttachments }, (_, index) => message.getAttachment(index));

const bomb = (count: number, part: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => part(index)).join('');

const related = (type: string) =>
  mail(
    'Content-Type: multipart/related; boundary=b',
    '',
    `--b\r\nContent-Type: ${type}\r\n\r\n<img src="cid:1">`,
    '--b\r\nContent-Type: image/jpeg; name=beach.jpg\r\nContent-ID: <1>\r\n\r\nx',
    '--b\r\nContent-Type: application/pdf; name=bill.pdf\r\nContent-ID: <2>\r\n\r\nx',
    '--b--',
  );

const sealed = (type: string) => `Content-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\nMIAG\r\n`;

const uuencoded = (octets: Buffer, padding: string) =>
  [...octets.toString('latin1').matchAll(/[^]{1,45}/g)].map(([line]) => {
    const signs = [...Buffer.from(line, 'latin1').toString('hex').padEnd(90, '0').matchAll(/.{6}/g)]
      .slice(0, Math.ceil(line.length / 3))
      .flatMap(([three]) => [18, 12, 6, 0].map((shift) => (Number.parseInt(three, 16) >> shift) & 63));
    const written = [line.length, ...signs].map((value) => (value === 0 ? padding : String.fromCharCode(value + 32)));
    return written.join('').trimEnd();
  });

const inUuencode = (type: string, octets: Buffer) => [
  `Content-Type: ${type}`,
  'Content-Transfer-Encoding: x-uuencode',
  '',
  'begin 644 a.dat',
  ...uuencoded(octets, '`'),
  '`',
  'end',
];

const withFile = (padding: string, content: Buffer, end: readonly string[]) =>
  mail('Subject: a', '', 'See:', 'begin 644 a.dat', ...uuencoded(content, padding), ...end);

describe('an odd message', () => {
  test('arrives, and what is broken in form brings its original, octet by octet', async () => {
    const letters = [
      ...oddLetters({ name: 'Ann', email: 'ann@sanbruno.example' }).map(({ source }) => Buffer.from(source)),
      ...ODD_LETTERS.map(({ bytes }) => bytes),
      mail('Content-Type: multipart/mixed; boundary=a', '', '--a', '', 'one', '--a--', 'A word after the end.'),
      mail('Content-Type: text/plain; charset=x-nobody-knows', '', 'caf\xe9'),
      mail('Content-Type: text/plain; charset=utf-8', '', 'caf\xe9 and nothing else'),
      mail('Content-Type: application/x', 'Content-Transfer-Encoding: base64', '', 'AAAA*AAA'),
      mail('Content-Type: application/x', 'Content-Transfer-Encoding: x-uuencode', '', 'begin 644 a', 'end'),
      mail('Subject: nul', '', 'a\0b'),
      mail('Subject: no line has an end but this\rFrom: ann@mail.example\r\rHello\r'),
      Buffer.alloc(0),
    ];
    const path = await written(letters.map((raw) => rawItem(0, raw)));
    const read = readByExtractor(path).get('Inbox') ?? [];
    expect(read).toHaveLength(letters.length);
    const originals = new Set(letters.map(sha256));
    const kept = read.map(({ attachments }) => attachments.filter((digest) => originals.has(digest)));
    expect(
      kept.filter((own, index) => own.some((digest) => digest !== sha256(letters[index] ?? Buffer.alloc(0)))),
    ).toEqual([]);
    expect(kept.map((own) => own.length).slice(-8)).toEqual([1, 1, 1, 1, 1, 1, 1, 0]);
    expect(kept.flat().length).toBeLessThan(letters.length / 3);
  });

  test('keeps a text of no charset readable, and attachments without encoding as they are', async () => {
    const content = 'one\ntwo\r\nthree \r\n\r\n';
    const path = await written([
      rawItem(0, mail('Subject: \xe4\xf6', '', '\xe4\xf6\xfc')),
      rawItem(
        0,
        mail(
          'Content-Type: multipart/mixed; boundary="b b"',
          '',
          '--b b',
          '',
          'See.',
          '--b b',
          'Content-Type: text/x-log',
          'Content-Disposition: attachment; filename=a.log',
          '',
          content,
          '--b b--',
          '',
        ),
      ),
    ]);
    const [first, second] = readByExtractor(path).get('Inbox') ?? [];
    expect([first?.subject, first?.body]).toEqual(['äö', 'äöü']);
    expect(second?.attachments).toEqual([sha256(Buffer.from(content))]);
  });

  test('has its header in the charset of the text of its multipart', async () => {
    const path = await written([
      rawItem(
        0,
        mail(
          'From: \xe1\xce\xce\xc1 <anna@mail.example>',
          'Subject: \xf0\xd2\xc9\xd7\xc5\xd4',
          'Content-Type: multipart/mixed; boundary=b',
          '',
          '--b',
          'Content-Type: text/plain; charset=koi8-r',
          '',
          '\xe1',
          '--b--',
        ),
      ),
    ]);
    const [read] = readByExtractor(path).get('Inbox') ?? [];
    expect(read).toMatchObject({ subject: 'Привет', body: 'А', attachments: [] });
  });

  test('has the files that its text contains uuencoded, and its original if one of them does not come whole', async () => {
    const file = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at) % 251));
    const zeros = Buffer.concat([file.subarray(0, 50), Buffer.alloc(10)]);
    const letters = [
      withFile('`', file, ['`', 'end', 'Bye']),
      withFile(' ', file, [' ', 'end', 'Bye']),
      withFile('`', file.subarray(0, 45), ['end', 'Bye']),
      withFile(' ', zeros, ['', 'end', 'Bye']),
      withFile('`', file, ['a line that is none', '`', 'end']),
      withFile('`', file, []),
    ];
    const read = readByExtractor(await written(letters.map((raw) => rawItem(0, raw)))).get('Inbox') ?? [];
    expect(read.map(({ body }) => body)).toEqual([
      ...Array.from({ length: 4 }, () => 'See:\nBye'),
      'See:\na line that is none\n`\nend',
      'See:',
    ]);
    const whole = [sha256(file)];
    expect(read.map(({ attachments }) => attachments.toSorted())).toEqual([
      whole,
      whole,
      [sha256(file.subarray(0, 45))],
      [sha256(zeros)],
      [...whole, sha256(letters[4] as Buffer)].toSorted(),
      [...whole, sha256(letters[5] as Buffer)].toSorted(),
    ]);
    expect(attachmentsOf(messagesIn(await written([rawItem(0, letters[0] as Buffer)]))[0] as PSTMessage)).toMatchObject(
      [{ longFilename: 'a.dat' }],
    );
  });

  test('has what is uuencoded by its transfer encoding as it was, and its original if there is more', async () => {
    const content = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * at) % 251));
    const parts = [
      '--b',
      ...inUuencode('text/plain', Buffer.from('Hello')),
      '',
      '--b',
      ...inUuencode('application/pdf', content),
    ];
    const letters = [[], ['a word']].map((more) =>
      mail('Content-Type: multipart/mixed; boundary=b', '', ...parts, ...more, '', '--b--'),
    );
    const read = readByExtractor(await written(letters.map((raw) => rawItem(0, raw)))).get('Inbox') ?? [];
    expect(read).toMatchObject([
      { body: 'Hello', attachments: [sha256(content)] },
      { body: 'Hello', attachments: [expect.any(String), sha256(letters[1] as Buffer)] },
    ]);
  });

  test('of one text that has the name of a file shows it', async () => {
    const path = await written([rawItem(0, mail('Content-Type: text/plain; name="letter.txt"', '', 'Hello'))]);
    expect(readByExtractor(path).get('Inbox')).toMatchObject([{ body: 'Hello', attachments: [] }]);
  });

  test('shows its text as text also after HTML that says the same, and where its boundary never comes', async () => {
    const [rich, poor] = ['--a\r\nContent-Type: text/html\r\n\r\n<b>Hello</b>', '--a\r\n\r\nHello'];
    const both = mail('Content-Type: multipart/mixed; boundary=a', '', rich, poor, '--a--');
    const path = await written([
      rawItem(0, mail('Content-Type: multipart/alternative; boundary=a', '', rich, poor, '--a--')),
      rawItem(0, mail('Content-Type: multipart/mixed; boundary=a', '', rich, poor, '--a--')),
      rawItem(0, mail('Content-Type: multipart/mixed; boundary=never', '', 'Hello')),
      rawItem(0, mail('Content-Type: multipart/alternative; boundary=b', '', `--b\r\n${both.toString()}`, '--b--')),
      rawItem(
        0,
        mail(
          'Content-Type: multipart/mixed; boundary=a',
          '',
          '--a\r\nContent-Type: multipart/mixed; boundary=never\r\n\r\nRaw',
          rich,
          '--a--',
        ),
      ),
    ]);
    expect(readByExtractor(path).get('Inbox')).toMatchObject([
      { body: 'Hello', html: '<b>Hello</b>', attachments: [] },
      { body: '', html: '<b>Hello</b>', attachments: [sha256(Buffer.from('Hello'))] },
      { body: 'Hello', attachments: [expect.any(String)] },
      { body: '', html: '<b>Hello</b>', attachments: [sha256(Buffer.from('Hello'))] },
      { body: 'Raw', html: '<b>Hello</b>', attachments: [expect.any(String)] },
    ]);
  });

  test('was sent when it says, in UTC where it says no zone or one that nobody knows', async () => {
    const dates = {
      'Thu, 5 Mar 2020 10:00:00 +0100 (CET)': '09:00',
      'Thu, 5 Mar 2020 10:00:00 +0100 CET': '09:00',
      'Thu, 5 Mar 20 10:00:00 EST': '15:00',
      'Thu, 5 Mar 2020 10:00:00Z': '10:00',
      'Thu, 5 Mar 2020 10:00:00': '10:00',
      'Thu Mar  5 10:00:00 2020': '10:00',
      '5-Mar-2020 10:00': '10:00',
      'Thu, 5 Mar 2020 10:00:00 CEST': '10:00',
    };
    const items = Object.keys(dates).map((date) => rawItem(0, mail(`Date: ${date}`, '', 'x')));
    const sent = messagesIn(await written(items)).map(({ clientSubmitTime }) => clientSubmitTime?.toISOString());
    expect(sent).toEqual(Object.values(dates).map((time) => `2020-03-05T${time}:00.000Z`));
  });

  test(
    'has HTML that reads the same in whatever charset it is taken to be (needs readpst)',
    needs('readpst'),
    async () => {
      const meta = '<meta http-equiv=Content-Type content="text/html; charset=iso-8859-1">';
      const letters = ['; charset=iso-8859-1', '; charset=windows-1252', ''].map((charset) =>
        mail(`Content-Type: text/html${charset}`, '', `${meta}caf\xe9 \x80`),
      );
      const path = await written(letters.map((raw) => rawItem(0, raw)));
      const read = await readByReadpst(path, join(world.directory, 'html'));
      expect(read.get('Inbox')?.map(({ html = '' }) => html.trim())).toEqual(
        letters.map(() => `${meta}caf&#233; &#8364;`),
      );
    },
  );

  test('has attachments without a name of their own that can be opened', async () => {
    const types = ['text/enriched', 'text/calendar', 'message/delivery-status', 'image/png', 'application/x'];
    const parts = types.map((type) => `--a\r\nContent-Type: ${type}\r\n\r\nx`);
    const path = await written([rawItem(0, mail('Content-Type: multipart/mixed; boundary=a', '', ...parts, '--a--'))]);
    const names = messagesIn(path).flatMap((message) => attachmentsOf(message).map((each) => each.longFilename));
    expect(names.map((name) => name.replace(/.*\./, ''))).toEqual(['txt', 'ics', 'txt', 'png', 'bin']);
  });

  test('hides only pictures that its HTML can show', async () => {
    const path = await written([rawItem(0, related('text/html')), rawItem(0, related('text/plain'))]);
    const hidden = messagesIn(path).map((message) =>
      // PidTagAttachmentHidden
      attachmentsOf(message).filter((each) => each['getBooleanItem'](0x7ffe)),
    );
    expect(hidden.map((own) => own.map(({ longFilename }) => longFilename))).toEqual([['beach.jpg'], []]);
  });

  test('that is encrypted, or signed as a whole, is of the class that Outlook opens', async () => {
    const letters = [
      sealed('application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m'),
      sealed('application/x-pkcs7-mime'),
      sealed('application/octet-stream; name="smime.P7M"'),
      `Content-Type: message/rfc822\r\n\r\n${sealed('application/pkcs7-mime')}`,
      // Its original is a second attachment.
      sealed('application/pkcs7-mime').replace('MIAG', 'MI*G'),
      `Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n${sealed('application/pkcs7-mime')}\r\n--b--`,
      sealed('application/octet-stream; name=a.zip'),
    ];
    const messages = messagesIn(await written(letters.map((raw) => rawItem(0, mail(raw)))));
    const note = 'IPM.Note';
    const secret = 'IPM.Note.SMIME';
    expect(messages.map(({ messageClass }) => messageClass)).toEqual([secret, secret, secret, note, note, note, note]);
    expect(attachmentsOf(messages[1] as PSTMessage).map(({ longFilename }) => longFilename)).toEqual([
      'attachment1.p7m',
    ]);
  });

  test.each([
    [
      'ten thousand multiparts in one another',
      mail(bomb(10_000, (n) => `Content-Type: multipart/mixed; boundary=b${n}\r\n\r\n--b${n}\r\n`)),
    ],
    [
      'a thousand messages in one another',
      mail(
        bomb(1000, () => 'Content-Type: message/rfc822\r\n\r\n'),
        'Subject: deep',
        '',
        'x',
      ),
    ],
    [
      'a hundred thousand parts',
      mail(
        'Content-Type: multipart/mixed; boundary=p',
        '',
        bomb(100_000, () => '--p\r\n\r\nx\r\n'),
        '--p--',
      ),
    ],
    [
      'four million dashes at line starts',
      mail('Content-Type: multipart/mixed; boundary=p', '', '--p', '', '--\r\n'.repeat(1_000_000), '--p--'),
    ],
    ['a header of five megabytes', mail('Subject: x', `X-Long: ${'a '.repeat(2_500_000)}`, '', 'body')],
    ['an address of a megabyte', mail(`To: ${'(<"'.repeat(350_000)}`, `From: ${'a,'.repeat(500_000)}`, '', 'body')],
    ['a type of a megabyte', mail(`Content-Type: text/plain; ${'a*1="('.repeat(170_000)}`, '', 'body')],
    ['a subject of encoded words', mail(`Subject: ${'=?utf-8?q?=41?= '.repeat(60_000)}`, '', 'body')],
    [
      'blanks without end',
      mail('Content-Transfer-Encoding: quoted-printable', '', ' '.repeat(5_000_000), '= '.repeat(1_000_000)),
    ],
  ])('of %s is written in a few seconds', { timeout: 60_000 }, async (_name, raw) => {
    const began = process.cpuUsage();
    const path = await written([rawItem(0, raw)]);
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1e6, 'seconds of work').toBeLessThan(10);
    expect(readByExtractor(path).get('Inbox')).toHaveLength(1);
  });
});

const CONTACTS: PstFolder = { path: ['Contacts'], role: 'contacts' };
const item = (contact = samplePerson()): PstItem => ({ folder: 0, contact, received: 0 });

function contactsIn(path: string): PSTContact[] {
  const found: PSTContact[] = [];
  const walk = (folder: PSTFolder) => {
    if (folder.displayName === 'Contacts')
      for (
        let next = folder.getNextChild() as PSTMessage | null;
        next !== null;
        next = folder.getNextChild() as PSTMessage | null
      )
        if (next instanceof PSTContact) found.push(next);
    if (!folder.displayName.startsWith('SPAM')) for (const child of folder.getSubFolders()) walk(child);
  };
  walk(new PSTFile(path).getRootFolder());
  return found;
}

/** The library's number for this set of names. */
const PSETID_ADDRESS = 2;

/** PidLidBirthdayLocal or PidLidWeddingAnniversaryLocal. */
const localDay = (contact: PSTContact | undefined, name: number) =>
  contact?.['getDateItem'](contact['pstFile'].getNameToIdMapItem(name, PSETID_ADDRESS))?.toISOString();

const lane = (label: string, street: string) => ({
  label,
  value: { poBox: '', extended: '', street, city: '', region: '', postalCode: '', country: '' },
});

describe('a contact', () => {
  test('has its names, addresses, phones, company, birthday, notes and photo', async () => {
    const [contact] = contactsIn(await written([item()], [CONTACTS]));
    const wanted = samplePerson();
    expect({
      class: contact?.messageClass,
      given: contact?.givenName,
      family: contact?.surname,
      middle: contact?.middleName,
      prefix: contact?.displayNamePrefix,
      suffix: contact?.generation,
      nickname: contact?.nickname,
      emails: [contact?.email1EmailAddress, contact?.email2EmailAddress, contact?.email3EmailAddress],
      mobile: contact?.mobileTelephoneNumber,
      home: contact?.homeTelephoneNumber,
      work: contact?.businessTelephoneNumber,
      fax: contact?.businessFaxNumber,
      company: [contact?.companyName, contact?.departmentName, contact?.title],
      homeAddress: [
        contact?.homeAddressStreet,
        contact?.homeAddressCity,
        contact?.homeAddressStateOrProvince,
        contact?.homeAddressPostalCode,
      ],
      workAddress: [contact?.workAddressStreet, contact?.workAddressCity, contact?.workAddressCountry],
      birthday: contact?.birthday?.toISOString(),
      birthdayLocal: localDay(contact, 0x80de),
      notes: contact?.body,
      photo: contact === undefined ? '' : sha256(contentOf(contact.getAttachment(0))),
    }).toEqual({
      class: 'IPM.Contact',
      given: 'Zoë',
      family: 'Müller',
      middle: 'Ann',
      prefix: 'Dr.',
      suffix: 'Jr.',
      nickname: 'Zo',
      emails: wanted.emails.map(({ value }) => value),
      mobile: '+1 650 555 0101',
      home: '+1 650 555 0102',
      work: '+1 650 555 0103',
      fax: '+1 650 555 0104',
      company: ['ACME 会社', 'R&D', 'Engineer'],
      homeAddress: ['1 Main St', 'San Bruno', 'CA', '94066'],
      workAddress: ['Floor 2\r\nRing 5', 'Köln', 'Germany'],
      birthday: '1950-03-04T11:59:00.000Z',
      birthdayLocal: '1950-03-04T00:00:00.000Z',
      notes: 'Met at the lake.\r\nLikes fish.',
      photo: sha256(wanted.photo?.bytes ?? Buffer.alloc(0)),
    });
  });

  test('keeps in its notes what has no place of its own', async () => {
    const { emails, phones, addresses } = samplePerson();
    const more = samplePerson({
      emails: [...emails, { label: 'old', value: 'fourth@example.com' }],
      phones: Array.from({ length: 12 }, (_, index) => ({ label: 'home', value: `+1 650 555 02${index + 10}` })),
      addresses: [...addresses, ...addresses],
      birthday: 'in spring',
    });
    const [contact] = contactsIn(await written([item(more)], [CONTACTS]));
    const notes = contact?.body ?? '';
    expect(notes).toContain('E-mail (old): fourth@example.com');
    expect(notes).toContain('+1 650 555 0221');
    expect(notes).toContain('Köln');
    expect(notes).toContain('Birthday: in spring');
    expect(phones).not.toEqual([]);
  });

  test('has in its notes what a phone is that Outlook has no such place for', async () => {
    const phones = [
      { label: '', value: '+1 650 555 0300' },
      { label: 'Ski lodge', value: '+1 650 555 0301' },
      { label: 'cell', value: '+1 650 555 0302' },
    ];
    const [contact] = contactsIn(await written([item(samplePerson({ phones, notes: '' }))], [CONTACTS]));
    expect([contact?.otherTelephoneNumber, contact?.homeTelephoneNumber, contact?.mobileTelephoneNumber]).toEqual(
      phones.map(({ value }) => value),
    );
    expect(contact?.body).toBe('Phone (Ski lodge): +1 650 555 0301');
  });

  test('has no address in the place of another kind before all that belong there, and names what is elsewhere', async () => {
    const addresses = [lane('', '1 Lane'), lane('', '2 Lane'), lane('home', '3 Lane'), lane('home', '4 Lane')];
    const [contact] = contactsIn(await written([item(samplePerson({ addresses, notes: '' }))], [CONTACTS]));
    expect({
      other: contact?.otherAddressStreet,
      home: contact?.homeAddressStreet,
      work: contact?.workAddressStreet,
      notes: contact?.body.split('\r\n'),
    }).toEqual({
      other: '1 Lane',
      home: '3 Lane',
      work: '2 Lane',
      notes: ['Address (other): 2 Lane', 'Address (home): 4 Lane'],
    });
  });

  test('has the labels that its owner chose in its notes, and none of them taken for another', async () => {
    const person = samplePerson({
      emails: [{ label: 'School', value: 'zoe@school.example' }],
      phones: [{ label: 'Oscar', value: '+1 650 555 0300' }],
      addresses: [lane('Artwork', '1 Lane')],
      websites: [{ label: 'Blog', value: 'https://blog.example' }],
      notes: '',
    });
    const [contact] = contactsIn(await written([item(person)], [CONTACTS]));
    expect([contact?.carTelephoneNumber, contact?.otherTelephoneNumber]).toEqual(['', '+1 650 555 0300']);
    expect([contact?.workAddressStreet, contact?.otherAddressStreet]).toEqual(['', '1 Lane']);
    expect(contact?.body.split('\r\n')).toEqual([
      'E-mail (School): zoe@school.example',
      'Phone (Oscar): +1 650 555 0300',
      'Address (Artwork): 1 Lane',
      'Website (Blog): https://blog.example',
    ]);
  });

  test('has a day before the calendar of Outlook begins in its notes', async () => {
    const [contact] = contactsIn(
      await written([item(samplePerson({ birthday: '1500-02-03', notes: '' }))], [CONTACTS]),
    );
    expect([contact?.birthday ?? null, contact?.body]).toEqual([null, 'Birthday: 1500-02-03']);
  });

  test('has its days, people, work and messengers in their places, and in its notes what there is more of', async () => {
    const person = samplePerson({
      phonetic: { given: 'ゾエ', middle: 'あん', family: 'ミュラー' },
      otherOrganizations: [{ name: 'Chess Club', department: '', title: 'Treasurer' }],
      role: 'Electrician',
      dates: [
        { label: 'anniversary', value: '1975-06-07' },
        { label: 'name day', value: '--08-09' },
      ],
      messengers: [
        { label: 'skype', value: 'zoe.m' },
        { label: 'jabber', value: 'zoe@jabber.example' },
      ],
      relations: [
        { label: 'spouse', value: 'Max Müller' },
        { label: 'child', value: 'Ida' },
        { label: 'child', value: 'Karl' },
        { label: 'friend', value: 'Lu' },
        { label: 'assistant', value: 'Pat' },
      ],
      gender: 'female',
      more: [{ label: 'X-HOBBY', value: 'Bees' }],
    });
    const [contact] = contactsIn(await written([item(person)], [CONTACTS]));
    expect({
      anniversary: contact?.anniversary?.toISOString(),
      anniversaryLocal: localDay(contact, 0x80df),
      messenger: contact?.instantMessagingAddress,
      profession: contact?.profession,
      spouse: contact?.spouseName,
      assistant: contact?.assistant,
    }).toMatchObject({
      anniversary: '1975-06-07T11:59:00.000Z',
      anniversaryLocal: '1975-06-07T00:00:00.000Z',
      messenger: 'skype: zoe.m',
      profession: 'Electrician',
      spouse: 'Max Müller',
      assistant: 'Pat',
    });
    const notes = (contact?.body ?? '').split('\r\n');
    for (const line of [
      'name day: --08-09',
      'jabber: zoe@jabber.example',
      'friend: Lu',
      'Phonetic middle name: あん',
      'Other job: Treasurer, Chess Club',
      'X-HOBBY: Bees',
    ])
      expect(notes).toContain(line);
  });

  test('is a vCard to readpst, a name without anything else included (needs readpst)', needs('readpst'), async () => {
    const bare = samplePerson({
      name: { formatted: 'Only Name', prefix: '', given: '', middle: '', family: '', suffix: '' },
      emails: [],
      phones: [],
      addresses: [],
      websites: [],
      birthday: '--12-24',
      notes: '',
      groups: [],
    });
    const path = await written([item(), item(bare)], [CONTACTS]);
    const [first = '', second = ''] = await contactsByReadpst(path, join(world.directory, 'cards'));
    for (const part of [
      'N:Müller;Zoë;Ann;Dr.;Jr.',
      'EMAIL:zoe@example.com',
      'EMAIL:z.mueller@example.org',
      'BDAY:1950-03-04',
      'ORG:ACME 会社',
      'San Bruno',
    ])
      expect(first).toContain(part);
    expect(second).toContain('FN:Only Name');
    expect(second).toContain('BDAY:1604-12-24');
  });
});

describe('any mailbox', () => {
  const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
  const value = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom(
      'multipart/mixed; boundary=x',
      'multipart/alternative; boundary=x',
      'message/rfc822',
      'text/html; charset=utf-8',
      'base64',
      'quoted-printable',
      'attachment; filename=a.txt',
      'Ann <ann@example.com>',
      'Tue, 1 Jul 2003 10:52:37 +0200',
    ),
  );
  const field = fc.tuple(
    fc.constantFrom(
      'Subject',
      'From',
      'To',
      'Cc',
      'Date',
      'Content-Type',
      'Content-Transfer-Encoding',
      'Content-Disposition',
      'Content-ID',
      'Reply-To',
    ),
    value,
  );
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 9000 }).map((bytes) => Buffer.from(bytes)),
    fc
      .array(
        fc.constantFrom(
          '--x\r\n',
          '--x--\r\n',
          '\r\n',
          'Content-Type: text/html\r\n',
          'Content-Type: message/rfc822\r\n\r\n',
          'text = =41 =\r\n',
          'QUJD\r\n',
          '--x',
          '-',
          '\n',
        ),
        { maxLength: 60 },
      )
      .map((lines) => Buffer.from(lines.join(''))),
  );
  const message = fc.record({
    fields: fc.array(field, { maxLength: 8 }),
    body,
    flags: fc.uniqueArray(
      fc.constantFrom('\\Seen', '\\Flagged', '\\Answered', '\\Draft', '\\Deleted', '$Forwarded', 'Work', 'x'),
    ),
    received: fc.integer({ min: -1e13, max: 4e14 }),
  });
  const boxes = fc.uniqueArray(
    fc.record({ path: fc.array(name, { minLength: 1, maxLength: 4 }), messages: fc.array(message, { maxLength: 6 }) }),
    { maxLength: 6, selector: ({ path }) => path.join('/') },
  );

  test(
    'makes a file that is right, with as many messages in each folder, and every message whole',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(boxes, async (all) => {
          const folders = all.map(({ path }) => ({ path }));
          const raws = all.map(({ messages }) =>
            messages.map(({ fields, body: content }) =>
              Buffer.concat([
                Buffer.from(fields.map((each) => each.join(': ')).join('\r\n')),
                Buffer.from('\r\n\r\n'),
                content,
              ]),
            ),
          );
          const items = all.flatMap(({ messages }, folder) =>
            messages.map(({ flags, received }, index) =>
              rawItem(folder, raws[folder]?.[index] ?? Buffer.alloc(0), { flags, received, piece: 997 }),
            ),
          );
          await using own = await openPstWorld();
          const [file] = await own.write(folders, items);
          expect(checkPst(file?.path ?? '')).toEqual([]);
          const read = [...readByExtractor(file?.path ?? '').values()].map((messages) => messages.length);
          expect(read.reduce((sum, count) => sum + count, 0)).toBe(items.length);
        }),
        { numRuns: 60 },
      );
    },
  );
});
