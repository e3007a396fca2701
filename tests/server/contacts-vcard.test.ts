import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import ICAL from 'ical.js';
import { describe, expect, test } from 'vitest';
import type { Contact } from '../../src/server/contacts/contact.ts';
import { readCard, readCards } from '../../src/server/contacts/vcard/read-vcard.ts';
import { splitCards } from '../../src/server/contacts/vcard/cards-in-text.ts';
import { composeVcard, writeVcard } from '../../src/server/contacts/vcard/vcard-writer.ts';
import { contactsVcf } from '../../src/server/contacts/vcard/vcf.ts';
import { needs } from '../support/needs.ts';
import { anyContact, contact, BLANK } from '../support/contact-samples.ts';

const run = promisify(execFile);
const card = (version: string, ...lines: readonly string[]) =>
  ['BEGIN:VCARD', `VERSION:${version}`, ...lines, 'END:VCARD', ''].join('\r\n');

function read(text: string): Contact {
  const result = readCard(text);
  if (result.kind !== 'contact') throw new Error(`not a contact but ${JSON.stringify(result)}`);
  return result.contact;
}
const withoutBackslashes = ({ photo: _photo, ...texts }: Contact) =>
  JSON.parse(JSON.stringify(texts).replaceAll('\\\\', '')) as Contact;
const withoutCard = (text: string) => ({ ...read(text), vcard: '' });

describe('a vCard', () => {
  test.each(['3.0', '4.0'] as const)('of version %s gives back every field that was written into it', (version) => {
    fc.assert(
      fc.property(anyContact, (original) => {
        expect(withoutCard(composeVcard(original, version))).toEqual(original);
      }),
      { numRuns: 150 },
    );
  });

  test('keeps its fields through the other version and back', () => {
    fc.assert(
      fc.property(anyContact, (original) => {
        const third = read(composeVcard(original, '3.0'));
        const fourth = read(writeVcard(third, '4.0'));
        expect(withoutCard(writeVcard(fourth, '3.0'))).toEqual(original);
      }),
      { numRuns: 100 },
    );
  });

  test.each(['3.0', '4.0'] as const)(
    'of version %s has lines of 75 octets at most, and whole characters in them',
    (version) => {
      fc.assert(
        fc.property(anyContact, (original) => {
          const text = composeVcard(original, version);
          expect(text.endsWith('END:VCARD\r\n')).toBe(true);
          for (const line of text.split('\r\n')) {
            expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
            expect(line).not.toMatch(/[\n\r]|\p{Surrogate}/u);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  test('is read by ical.js as it was written', () => {
    fc.assert(
      // ical.js takes `\\;` for an escaped semicolon, so backslashes are left to the other properties.
      fc.property(anyContact.map(withoutBackslashes), (original) => {
        const parsed = ICAL.Component.fromString(composeVcard(original, '3.0'));
        const texts = (name: string) => parsed.getAllProperties(name).map((property) => property.getValues().join(','));
        expect(texts('email')).toEqual(original.emails.map(({ value }) => value.replaceAll(';', '\\;')));
        expect(parsed.getFirstPropertyValue('uid')).toBe(original.uid);
        expect(parsed.getAllProperties('adr')).toHaveLength(original.addresses.length);
      }),
      { numRuns: 60 },
    );
  });

  test('never throws, whatever the text', () => {
    const piece = fc.oneof(
      fc.constantFrom(
        'BEGIN:VCARD',
        'END:VCARD',
        'VERSION:2.1',
        'FN:',
        'N:;;;;',
        'item1.',
        'TEL;',
        'BDAY:',
        ' ',
        ';',
        ':',
        '=',
        '"',
      ),
      fc.constantFrom(
        'PHOTO;ENCODING=b:%%%',
        'NOTE;ENCODING=QUOTED-PRINTABLE;CHARSET=x:=ZZ=',
        'URL;VALUE=uri:data:,%zz',
        '\r\n',
        '\n',
      ),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        const text = pieces.join('');
        const read = [text, ...splitCards(text), `BEGIN:VCARD\r\n${text}\r\nEND:VCARD`].map(readCard);
        const again = read.flatMap((result) =>
          result.kind === 'contact'
            ? [writeVcard(result.contact, '3.0'), writeVcard(result.contact, '4.0')].map((card) => readCard(card).kind)
            : [],
        );
        expect(again.filter((kind) => kind !== 'contact')).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('of 3.0 is written again byte for byte, unknown lines and odd folds included', () => {
    const source = card(
      '3.0',
      'PRODID:-//Old Mail//EN',
      'UID:one',
      'FN:Jane Doe',
      'N:Doe;Jane;;;',
      'X-ODD;X-PARAM="a;b":some\\,thing;else',
      'item7.IMPP;X-SERVICE-TYPE=Skype:skype:jane',
      'NOTE:folded in',
      '  an odd place',
      'REV:2008-04-24T19:52:43Z',
    );
    expect(writeVcard(read(source), '3.0')).toBe(source);
  });

  test('a comma that its program has not escaped is no end of the text for any server', () => {
    const lines = ['UID:1', 'FN:Ann', 'N:;Ann;;;'];
    const source = read(card('3.0', ...lines, String.raw`NOTE:Tall, kind; likes tea\, and\n coffee\\`));
    const written = writeVcard(source, '3.0');
    expect(written).toBe(card('3.0', ...lines, String.raw`NOTE:Tall\, kind\; likes tea\, and\n coffee\\`));
    expect(read(written).notes).toBe(source.notes);
  });

  test('of 3.0 whose photo is broken as in 2.1 is written with folds that all programs read', () => {
    const photo = 'PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgoAAAAN\r\nSUhEUgAAAAEAAAAB';
    const text = card('3.0', 'UID:1', 'FN:Jane', 'N:Doe;Jane;;;', photo);
    expect(writeVcard(read(text), '3.0')).toContain(':iVBORw0KGgoAAAANSUhEUgAAAAEA');
  });

  test('of 3.0 becomes 4.0 with every line it had', () => {
    const source = card(
      '3.0',
      'UID:one',
      'FN:Jane Doe',
      'N:Doe;Jane;;;',
      'item1.EMAIL;TYPE=INTERNET,PREF:jane@example.com',
      'item1.X-ABLabel:Club',
      'BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-13',
      'PHOTO;ENCODING=b;TYPE=JPEG:/9j/4A==',
      'KEY;ENCODING=b;TYPE=PGP:AAEC',
      'X-SKYPE:jane',
    );
    const text = writeVcard(read(source), '4.0');
    expect(text.split('\r\n')).toEqual([
      'BEGIN:VCARD',
      'VERSION:4.0',
      'UID:one',
      'FN:Jane Doe',
      'N:Doe;Jane;;;',
      'item1.EMAIL;TYPE=INTERNET;PREF=1:jane@example.com',
      'item1.X-ABLabel:Club',
      'BDAY:--0413',
      'PHOTO:data:image/jpeg;base64,/9j/4A==',
      'KEY:data:image/pgp;base64,AAEC',
      'X-SKYPE:jane',
      'END:VCARD',
      '',
    ]);
  });

  test('of 2.1 is read with its bare types, quoted-printable and unmarked base64', () => {
    const source = card(
      '2.1',
      'N;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:M=FCller;J=F6rg',
      'FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=B6rg =',
      'M=C3=BCller',
      'TEL;CELL;VOICE:0171, 5',
      'ADR;HOME:;;Hauptstr. 1, Hof;Hof;;95028;',
      'NOTE;ENCODING=QUOTED-PRINTABLE:one=0D=0Atwo',
      'PHOTO;JPEG;ENCODING=BASE64:/9j/4AAQ',
      'SkZJRg==',
      '',
      'BDAY:19800413',
    );
    const jörg = read(source);
    expect(jörg).toMatchObject({
      name: { family: 'Müller', given: 'Jörg', formatted: 'Jörg Müller' },
      phones: [{ label: 'mobile', value: '0171, 5' }],
      addresses: [{ label: 'home', value: { street: 'Hauptstr. 1, Hof', city: 'Hof', postalCode: '95028' } }],
      notes: 'one\ntwo',
      birthday: '1980-04-13',
      photo: { mediaType: 'image/jpeg', bytes: new Uint8Array(Buffer.from('/9j/4AAQSkZJRg==', 'base64')) },
    });
    expect(withoutCard(writeVcard(jörg, '3.0'))).toEqual({ ...jörg, vcard: '' });
  });

  test.each([
    ['BDAY:1980-04-13', '1980-04-13'],
    ['BDAY:19800413T000000Z', '1980-04-13'],
    ['BDAY:--0413', '--04-13'],
    ['BDAY:0000-02-29', '--02-29'],
    ['BDAY:2000-02-29', '2000-02-29'],
    ['BDAY:1900-02-29', ''],
    ['BDAY:1980-02-30', ''],
    ['BDAY:--04-13', '--04-13'],
    ['BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29', '--02-29'],
    ['BDAY;VALUE=text:circa 1800', ''],
    ['BDAY:1985-13-45', ''],
    ['BDAY:1985-02-30', ''],
  ])('with %s has the birthday "%s"', (line, birthday) => {
    expect(read(card('3.0', 'FN:A', line)).birthday).toBe(birthday);
  });

  test('names its preferred address first and its labels as people call them', () => {
    const { emails, phones } = read(
      card(
        '4.0',
        'FN:A',
        'EMAIL;TYPE=work:second@example.com',
        'EMAIL;TYPE=home;PREF=1:first@example.com',
        'item1.TEL;TYPE=VOICE:1',
        'item1.X-ABLabel:_$!<Main>!$_',
        'TEL;VALUE=uri;TYPE="voice,work,fax":tel:+1-650-555-0100;ext=7',
      ),
    );
    expect(emails.map(({ value }) => value)).toEqual(['first@example.com', 'second@example.com']);
    expect(phones).toEqual([
      { label: 'main', value: '1' },
      { label: 'work fax', value: '+1-650-555-0100 ext. 7' },
    ]);
  });

  test.each([
    ['', 'not a vCard'],
    ['<html></html>', 'not a vCard'],
    ['BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Jane', 'cut off'],
    [card('3.0', 'UID:1', 'FN:', 'N:;;;;', 'REV:2020'), 'empty'],
    [`BEGIN:VCARD\n${'A'.repeat(17 * 1024 * 1024)}`, 'too large'],
    [card('3.0', ...Array.from({ length: 20_000 }, () => 'TITLE:a')), 'too large'],
    [card('3.0', ...Array.from({ length: 30_000 }, (_, at) => `MEMBER:urn:uuid:${at}`)), 'too large'],
    [card('3.0', ...Array.from({ length: 101 }, () => 'LOGO;ENCODING=b:AAAA')), 'too large'],
    [card('3.0', `NOTE:${'x'.repeat(1024 * 1024)}`), 'too large'],
    [card('3.0', `PHOTO:${'x'.repeat(1024 * 1024)}`), 'too large'],
    [card('3.0', `NOTE:${'\n a'.repeat(300_000)}`), 'too large'],
    [card('3.0', `CATEGORIES:${'a,'.repeat(20_001)}`), 'too large'],
    [card('3.0', `TEL;TYPE=${'a,'.repeat(20_001)}:1`), 'too large'],
    [card('3.0', `TEL;X=${'a'.repeat(20_000)}:1`), 'too large'],
    [card('2.1', ...Array.from({ length: 5_000 }, () => ['AGENT:', 'BEGIN:VCARD', 'END:VCARD']).flat()), 'too large'],
  ])('that is broken has a fault with a name (%#)', (text, fault) => {
    expect(readCard(text)).toEqual({ kind: 'fault', fault });
  });

  test('of 2.1 with backslashes has each of them escaped once in 3.0', () => {
    const lines = [String.raw`ROLE:a\\b\c\,d\;e`, String.raw`N:f\\,g;h`];
    const written = writeVcard(read(card('2.1', 'UID:1', 'FN:Jane', ...lines)), '3.0');
    expect(written).toContain(String.raw`ROLE:a\\b\\c\,d\;e`);
    expect(written).toContain(String.raw`N:f\\\,g;h`);
  });

  test('without an end takes nothing of the one behind it', () => {
    const cut = 'BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Cut\r\n';
    const found = [...readCards(`${cut}${card('3.0', 'FN:Ann')}`)];
    expect(found.map(({ text }) => text)).toEqual([cut, card('3.0', 'FN:Ann')]);
    expect(found.map(({ read: { kind } }) => kind)).toEqual(['fault', 'contact']);
    expect(readCard(`BEGIN:VCARD\r\n${card('3.0', 'FN:Ann')}`).kind).toBe('contact');
  });

  test('whose header, or whose end, is written twice is one, and no other is told', () => {
    const twice = `BEGIN:VCARD\r\nVERSION:3.0\r\n${card('3.0', 'FN:Ann')}END:VCARD\r\n`;
    for (const text of [twice, `${twice}\r\n`, `${twice}${card('3.0', 'FN:Bob')}`]) {
      const kinds = [...readCards(text)].map(({ read: { kind } }) => kind);
      expect(new Set(kinds)).toEqual(new Set(['contact']));
      expect(kinds).toHaveLength(text.includes('Bob') ? 2 : 1);
    }
  });

  test.each(['Ag==', 'AAI=', '=='])('of 2.1 whose photo ends with a line of %s has it whole', (last) => {
    const photo = `${'A'.repeat(last === '==' ? 74 : 76)}${last}`;
    const lines = last === '==' ? [photo.slice(0, -2), last] : [photo.slice(0, 76), last];
    const ann = read(card('2.1', 'FN:Ann', 'PHOTO;TYPE=JPEG;ENCODING=BASE64:', ...lines, '', 'TEL;CELL:1234567'));
    expect(ann).toMatchObject({ phones: [{ value: '1234567' }], more: [] });
    expect(Buffer.from(ann.photo?.bytes ?? []).toString('base64')).toBe(
      Buffer.from(photo, 'base64').toString('base64'),
    );
  });

  test('of 4.0 has its linked photo marked as a link in 3.0', () => {
    const link = 'https://example.com/jane.jpg';
    const jane = read(card('4.0', 'FN:Jane', `PHOTO;PREF=1:${link}`, 'KEY;VALUE=text:mailto:a'));
    const written = writeVcard(jane, '3.0');
    expect(written).toContain(`PHOTO;TYPE=PREF;VALUE=uri:${link}`);
    expect(written).toContain('KEY;VALUE=text:mailto:a');
    expect(writeVcard(jane, '4.0')).toContain(`PHOTO;PREF=1:${link}`);
  });

  test('that is too large keeps back none of those that follow it in the same file', () => {
    const large = card('3.0', 'FN:Large', ...Array.from({ length: 20_000 }, () => 'A'));
    const found = [...readCards(`${card('3.0', 'FN:Jane')}${large}${card('3.0', 'FN:Ann')}`)];
    expect(found.map(({ read: { kind } }) => kind)).toEqual(['contact', 'fault', 'contact']);
    expect(found[1]?.text).toBe(large);
  });

  test('is as large as its photo, and a group has as many members as an address book', () => {
    const photo = Array.from({ length: 100_000 }, () => ` ${'A'.repeat(74)}`);
    expect(read(card('3.0', 'FN:Jane', 'PHOTO;ENCODING=b:AA', ...photo)).photo?.bytes.length).toBeGreaterThan(
      5_000_000,
    );
    const members = Array.from({ length: 20_000 }, (_, at) => `MEMBER:urn:uuid:${at}`);
    expect(readCard(card('4.0', 'KIND:group', 'FN:All', ...members))).toMatchObject({ kind: 'group' });
  });

  test('joins each title to the organization of its group, and others to the first that is free', () => {
    const { organization, otherOrganizations } = read(
      card('3.0', 'ORG:A', 'a.ORG:B', 'a.ORG:C', 'a.TITLE:1', 'TITLE:2', 'a.TITLE:3', 'b.TITLE:4', 'TITLE:'),
    );
    expect([organization, ...otherOrganizations].map(({ name, title }) => `${name}${title}`)).toEqual([
      'A2',
      'B1',
      'C3',
      '4',
    ]);
  });

  test('keeps an unparsable line in a form that can be parsed', () => {
    const text = writeVcard(read(card('3.0', 'FN:Jane', 'complete nonsense')), '3.0');
    expect(text).toContain('X-UNREADABLE:complete nonsense');
  });

  test.each(['\u0000END:VCARD', 'EN\r\n D:VCARD', 'BEGIN:VCARD', 'x.end:vcard'])(
    'is not cut in two by the line %j in its middle',
    (line) => {
      const original = read(card('3.0', 'UID:1', 'FN:Jane', line, 'NOTE:after it'));
      for (const version of ['3.0', '4.0'] as const) {
        const text = writeVcard(original, version);
        expect(text.match(/VCARD/gi)).toHaveLength(3);
        expect(text.match(/^(?:BEGIN|END):VCARD$/gm)).toEqual(['BEGIN:VCARD', 'END:VCARD']);
        expect(read(text)).toMatchObject({ name: { formatted: 'Jane' }, notes: 'after it' });
      }
    },
  );

  test('loses the control characters that no card may hold, and nothing else', () => {
    const source = card('3.0', 'UID:1', 'FN:Jane\u0000 Doe', 'N:Doe;Jane;;;', 'X-A:b\u0007c', 'X-D:e');
    expect(writeVcard(read(source), '3.0')).toBe(
      card('3.0', 'UID:1', 'FN:Jane Doe', 'N:Doe;Jane;;;', 'X-A:bc', 'X-D:e'),
    );
  });

  test('never has its photo fetched from a link', () => {
    const linked = read(card('3.0', 'FN:Jane', 'PHOTO;VALUE=uri:http://169.254.169.254/latest'));
    expect(linked.photo).toBeUndefined();
    expect(linked.more).toEqual([{ label: 'photo', value: 'http://169.254.169.254/latest' }]);
  });

  test('of a group names its members without urn:uuid:', () => {
    for (const [kind, member] of [
      ['KIND', 'MEMBER'],
      ['X-ADDRESSBOOKSERVER-KIND', 'X-ADDRESSBOOKSERVER-MEMBER'],
    ])
      expect(readCard(card('4.0', `${kind}:group`, 'FN:Friends', `${member}:urn:uuid:A-1`, `${member}:b`))).toEqual({
        kind: 'group',
        group: expect.objectContaining({ name: 'Friends', members: ['a-1', 'b'] }) as unknown,
      });
  });
});

describe('a vcf file', () => {
  const vobject = `
import base64, json, sys, vobject
print(json.dumps([[c.fn.value, [e.value for e in c.contents.get('email', [])], c.n.value.family,
  [a.value.street for a in c.contents.get('adr', [])], c.note.value if 'note' in c.contents else '',
  base64.b64encode(c.photo.value).decode() if 'photo' in c.contents else ''] for c in vobject.readComponents(sys.stdin.read())]))`;

  // Debian's radicale brings python3-vobject with it.
  test('is read by python3-vobject, card for card, photos included', needs('radicale'), async () => {
    const photo = Buffer.from(Array.from({ length: 5000 }, (_, at) => (at * 31) % 256));
    const contacts = [
      contact({
        uid: '1',
        name: { ...BLANK.name, formatted: 'Jane; "Doe", \\ Jr.', family: 'Doe; Smith', given: 'Jane' },
        emails: [
          { label: 'home', value: 'jane@example.com' },
          { label: 'Club, old', value: 'jane@club.example' },
        ],
        addresses: [
          {
            label: 'work',
            value: {
              poBox: '',
              extended: '',
              street: '1 Main St, 2nd',
              city: 'X',
              region: '',
              postalCode: '',
              country: '',
            },
          },
        ],
        notes: 'first\nsecond; third, END:VCARD',
        photo: { mediaType: 'image/png', bytes: new Uint8Array(photo) },
      }),
      contact({ uid: '2', name: { ...BLANK.name, formatted: '日本語'.repeat(40) } }),
    ];
    let text = '';
    for await (const one of contactsVcf(contacts)) text += one;
    const child = run('/usr/bin/python3', ['-c', vobject]);
    child.child.stdin?.end(text);
    expect(JSON.parse((await child).stdout)).toEqual([
      [
        'Jane; "Doe", \\ Jr.',
        ['jane@example.com', 'jane@club.example'],
        'Doe; Smith',
        ['1 Main St, 2nd'],
        'first\nsecond; third, END:VCARD',
        photo.toString('base64'),
      ],
      ['日本語'.repeat(40), [], '', [], '', ''],
    ]);
    expect([...splitCards(text)]).toHaveLength(2);
  });
});
