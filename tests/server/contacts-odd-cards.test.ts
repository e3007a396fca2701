import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Contact } from '../../src/server/contacts/contact.ts';
import { readSettings } from '../../src/contract/settings.ts';
import { ContactStoreError, type ContactWriter, type Reading } from '../../src/server/contacts/contact-store.ts';
import { derivedUid } from '../../src/server/contacts/matching.ts';
import { openContactReader } from '../../src/server/contacts/open-contacts.ts';
import { contactsCsv } from '../../src/server/contacts/csv/write-csv.ts';
import { graphContactOf } from '../../src/server/contacts/microsoft/graph-contact.ts';
import { Web } from '../../src/server/contacts/web.ts';
import { readCard, readCards } from '../../src/server/contacts/vcard/read-vcard.ts';
import { groupVcard, writeVcard } from '../../src/server/contacts/vcard/vcard-writer.ts';
import { eml } from '../../src/server/export/archive/eml.format.ts';
import { contactFiles, type ContactFiles } from '../../src/server/export/archive/contact-files.ts';
import type { Database } from '../../src/server/store/database.ts';
import { fenced } from '../../src/server/export/staging/fenced.ts';
import { openStagedContacts } from '../../src/server/export/staging/staged-contacts.ts';
import { person } from '../support/contact-samples.ts';
import { copyInto, MemoryFates } from '../support/contacts-copy.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { startApi, type ApiAnswer, type ScriptedApi } from '../support/scripted-api.ts';

const SIGNAL = new AbortController().signal;
const card = (version: string, ...lines: readonly string[]) =>
  ['BEGIN:VCARD', `VERSION:${version}`, ...lines, 'END:VCARD', ''].join('\r\n');

function read(text: string): Contact {
  const result = readCard(text);
  if (result.kind !== 'contact') throw new Error(`not a contact but ${JSON.stringify(result)}`);
  return result.contact;
}

const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('an odd card', () => {
  test('of 2.1 with an agent inside keeps its own end, and the agent’s name and address', () => {
    const agent = ['BEGIN:VCARD', 'VERSION:2.1', 'FN:Al Agent', 'EMAIL:al@example.com', 'END:VCARD'];
    for (const lines of [
      ['AGENT:', ...agent],
      [`AGENT:${agent[0]}`, ...agent.slice(1)],
      ['AGENT:', '', ' ', ...agent],
    ]) {
      const text = card('2.1', 'FN:Jane', ...lines, 'TEL;CELL:1234567');
      expect([...readCards(text)]).toHaveLength(1);
      const jane = read(text);
      expect(jane).toMatchObject({
        name: { formatted: 'Jane' },
        phones: [{ label: 'mobile', value: '1234567' }],
        relations: [{ label: 'agent', value: 'Al Agent, al@example.com' }],
      });
      const written = read(writeVcard(jane, '3.0'));
      expect(written).toMatchObject({ phones: jane.phones, relations: jane.relations });
    }
  });

  test('of Outlook has its numbers, days, names and messengers where they belong, and its address once', () => {
    const contact = read(
      card(
        '2.1',
        'N;LANGUAGE=en-us:Doe;Jane',
        'TEL;WORK;VOICE:650 555 0100',
        'X-MS-TEL;VOICE;COMPANY:650 555 0101',
        'X-MS-TEL;VOICE;ASSISTANT:650 555 0102',
        'ADR;WORK;PREF:;;1 Main St;San Bruno;CA;94066;USA',
        'LABEL;WORK;PREF;ENCODING=QUOTED-PRINTABLE:1 Main St=0D=0A=',
        'San Bruno, CA 94066',
        'LABEL;HOME:2 Hill Rd',
        'X-MS-OL-DEFAULT-POSTAL-ADDRESS:2',
        'X-MS-OL-DESIGN;CHARSET=utf-8:<card ver="1.0"/>',
        'X-MS-IMADDRESS:jane@im.example',
        'X-MS-SPOUSE:Bob',
        'X-MS-CHILD:Ann',
        'X-MS-MANAGER:Max',
        'X-MS-ASSISTANT:Eve',
        'X-MS-ANNIVERSARY:20000601',
      ),
    );
    expect(contact.phones).toEqual([
      { label: 'work', value: '650 555 0100' },
      { label: 'main', value: '650 555 0101' },
      { label: 'assistant', value: '650 555 0102' },
    ]);
    expect(contact.messengers).toEqual([{ label: '', value: 'jane@im.example' }]);
    expect(contact.relations).toEqual([
      { label: 'spouse', value: 'Bob' },
      { label: 'child', value: 'Ann' },
      { label: 'manager', value: 'Max' },
      { label: 'assistant', value: 'Eve' },
    ]);
    expect(contact.dates).toEqual([{ label: 'anniversary', value: '2000-06-01' }]);
    expect(contact.more).toEqual([{ label: 'address', value: '2 Hill Rd' }]);
    expect(read(writeVcard(contact, '3.0'))).toMatchObject({ phones: contact.phones, more: contact.more });
  });

  test('of a phone by Samsung or with Android keeps its own labels, nicknames, days and relatives, also when written again', () => {
    const encoded = 'CHARSET=UTF-8,ENCODING=QUOTED-PRINTABLE';
    const text = card(
      '2.1',
      'N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:;J=C3=B6rg;;;',
      `TEL;X-CUSTOM(${encoded},=57=65=72=6B=73=74=C3=BC=72):650 555 0100`,
      'TEL;X-CUSTOM(Boat house):650 555 0101',
      'EMAIL;X-Verein:j@verein.example',
      'EMAIL;HOME;X-INTERNET:j@home.example',
      'TEL;CELL:650 555 0102',
      'X-ANDROID-CUSTOM:vnd.android.cursor.item/nickname;Jo;1;;;;;;;;;;;;;',
      'X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;1984-05-05;1;;;;;;;;;;;;;',
      'X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;--06-01;0;Name day;;;;;;;;;;;;',
      'X-ANDROID-CUSTOM;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:vnd.android.cursor.item/relation;=41=6E=6E=C3=A4;14;;;;;;;;;;;;;',
      'X-ANDROID-CUSTOM:vnd.android.cursor.item/contact_event;some day;2;;;;;;;;;;;;;',
    );
    const contact = read(text);
    const seen = {
      nickname: 'Jo',
      emails: [
        { label: 'Verein', value: 'j@verein.example' },
        { label: 'home', value: 'j@home.example' },
      ],
      phones: [
        { label: 'Werkstür', value: '650 555 0100' },
        { label: 'Boat house', value: '650 555 0101' },
        { label: 'mobile', value: '650 555 0102' },
      ],
      dates: [
        { label: 'anniversary', value: '1984-05-05' },
        { label: 'Name day', value: '--06-01' },
      ],
      relations: [{ label: 'spouse', value: 'Annä' }],
      more: [{ label: 'other', value: 'some day' }],
    };
    expect(contact).toMatchObject(seen);
    const written = writeVcard(contact, '3.0');
    expect(read(written)).toMatchObject(seen);
    expect(written).not.toContain('X-CUSTOM');
  });

  test('with quoted-printable under VERSION:3.0 is read as it was meant', () => {
    const text = card(
      '3.0',
      'FN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:J=C3=B6rg',
      'NOTE;QUOTED-PRINTABLE:a=0D=0Ab=',
      'c',
    );
    expect(read(text)).toMatchObject({ name: { formatted: 'Jörg' }, notes: 'a\nbc' });
  });

  test.each([
    ['Windows', 'Hauptstra=DFe 1=0D=0A=80 5, M=FCnchen', 'Hauptstraße 1\n€ 5, München'],
    ['UTF-8, broken before', 'K=EF=BF=BDln', 'K\uFFFDln'],
    ['UTF-8, cut off in a letter', 'Gr=C3=BC=C3=9Fe aus K=C3', 'Grüße aus K\uFFFD'],
  ])('of 2.1 whose quoted-printable says no charset is read in that of %s', (_charset, said, meant) => {
    expect(read(card('2.1', 'FN:Jane', `NOTE;ENCODING=QUOTED-PRINTABLE:${said}`))).toMatchObject({ notes: meant });
  });

  test('whose encoded texts hold control characters is read without them', () => {
    const text = card(
      '2.1',
      'FN;ENCODING=QUOTED-PRINTABLE:An=00n=C3=A4',
      `NOTE;ENCODING=BASE64:${base64('one\r\ntwo\x07\tthree')}`,
      'TEL;X-CUSTOM(ENCODING=QUOTED-PRINTABLE,Bo=00at):1234567',
      'item1.SOUND;ENCODING=BASE64:AAAAAAAA',
      '',
      'item1.X-ABLABEL;ENCODING=QUOTED-PRINTABLE:her=00 voice',
    );
    expect(read(text)).toMatchObject({
      name: { formatted: 'Annä' },
      notes: 'one\ntwo\tthree',
      phones: [{ label: 'Boat', value: '1234567' }],
      more: [{ label: 'her voice', value: '' }],
    });
  });

  test('with quoted-printable that a program has folded like any other line is read whole', () => {
    const text = card(
      '3.0',
      'FN:Jane',
      'NOTE;ENCODING=QUOTED-PRINTABLE:Gr=C3=BC=C3=9Fe',
      '  aus K=C3=B6ln',
      'TEL:1234567',
    );
    expect(read(text)).toMatchObject({ notes: 'Grüße aus Köln', phones: [{ value: '1234567' }], more: [] });
  });

  test.each([
    ['never folds keeps a blank after a break', ['one two=', ' three=', 'four'], 'one two threefour'],
    ['folds each break has no blank of the folds', ['one two=', ' three=', ' four'], 'one twothreefour'],
  ])('with quoted-printable by a program that %s', (_habit, [first = '', ...rest], meant) => {
    expect(read(card('2.1', 'FN:Jane', `NOTE;ENCODING=QUOTED-PRINTABLE:${first}`, ...rest))).toMatchObject({
      notes: meant,
    });
  });

  test('with addresses and numbers of which nothing is left has those behind them where they have room', async () => {
    const contact = read(
      card('4.0', 'FN:Jane', 'EMAIL:mailto:', ...['a', 'b', 'c'].map((name) => `EMAIL:${name}@x.example`), 'TEL:tel:'),
    );
    expect(contact.emails.map(({ value }) => value)).toEqual(['a@x.example', 'b@x.example', 'c@x.example']);
    expect(contact.phones).toEqual([]);
    expect(graphContactOf(contact).body).toMatchObject({
      emailAddresses: [{ address: 'a@x.example' }, { address: 'b@x.example' }, { address: 'c@x.example' }],
    });
    let table = '';
    for await (const row of contactsCsv([contact], 'outlook')) table += row;
    expect(table).toContain('c@x.example');
  });

  test.each(['2.1', '3.0'])('of version %s with texts in base64 is read as it was meant', (version) => {
    const text = card(
      version,
      `N;CHARSET=UTF-8;ENCODING=BASE64:${base64('Müller;Jörg;;;')}`,
      `NOTE;ENCODING=B:${base64('one\r\ntwo')}`,
      'SOUND;ENCODING=BASE64:AAAA',
      'KEY;ENCODING=B:AAAA',
      'TEL;ENCODING=B:/w==',
    );
    expect(read(text)).toMatchObject({
      name: { family: 'Müller', given: 'Jörg' },
      notes: 'one\ntwo',
      phones: [{ value: '/w==' }],
      more: [{ label: 'sound' }, { label: 'key' }],
    });
  });

  test('keeps an address that is not in pieces', () => {
    const text = card('4.0', 'FN:Jane', 'ADR;TYPE=home;LABEL="1 Main St\\nSan Bruno, CA":;;;;;;');
    expect(read(text)).toMatchObject({
      addresses: [],
      more: [{ label: 'address', value: '1 Main St\nSan Bruno, CA' }],
    });
  });

  test.each([
    [';;1 Main St; Apt 4;San Bruno;CA;94066;USA', '1 Main St; Apt 4'],
    [';;1 Main St;San Bruno;CA;94066;USA;;', '1 Main St'],
    [';;1 Main St;San Bruno;CA;94066;USA;;;;1;Main St;;;;;;;', '1 Main St'],
  ])('keeps an address whose pieces are more than seven: %s', (value, street) => {
    const place = { poBox: '', extended: '', city: 'San Bruno', region: 'CA', postalCode: '94066', country: 'USA' };
    const { addresses } = read(card('3.0', 'FN:Jane', `ADR:${value}`));
    expect(addresses).toEqual([{ label: '', value: { ...place, street } }]);
  });

  test('keeps the network of a social profile', () => {
    const profiles = [
      'X-SOCIALPROFILE;type=Instagram;x-user=jane.d:x-apple:jane.d',
      'SOCIALPROFILE;SERVICE-TYPE=Mastodon:https://m.example/@jane',
    ];
    expect(read(card('3.0', 'FN:Jane', ...profiles)).more).toEqual([
      { label: 'social profile (instagram)', value: 'jane.d' },
      { label: 'social profile (Mastodon)', value: 'https://m.example/@jane' },
    ]);
  });

  test('gives a title to the company of its group, whatever other title stands before it', () => {
    expect(read(card('3.0', 'FN:Jane', 'TITLE:Retired', 'item1.ORG:Choir', 'item1.TITLE:Alto'))).toMatchObject({
      organization: { name: 'Choir', title: 'Alto' },
      otherOrganizations: [{ name: '', title: 'Retired' }],
    });
  });

  test.each(['data:image/png;base64\\,', 'DATA:IMAGE/PNG\\;BASE64\\,'])(
    'has its photo, also one of megabytes, though what it begins with is escaped: %s',
    (start) => {
      const photo = Buffer.alloc(2_000_000, 'PNG');
      const text = card('3.0', 'FN:Jane', `PHOTO;VALUE=URI:${start}${photo.toString('base64')}`);
      const { mediaType, bytes = [] } = read(text).photo ?? {};
      expect([mediaType, photo.equals(Uint8Array.from(bytes))]).toEqual(['image/png', true]);
    },
  );

  test('keeps second jobs, days, messengers, relations, sounds and what nobody knows', () => {
    const jane = read(
      card(
        '3.0',
        'FN:Jane',
        'ORG:Acme;Sales',
        'TITLE:Head',
        'item2.ORG:Choir',
        'item2.TITLE:Alto',
        'ROLE:Boss',
        'BDAY:1950',
        'ANNIVERSARY:20090808',
        'item1.X-ABDATE:2001-02-03',
        'item1.X-ABLabel:Met',
        'X-SKYPE:jane',
        'IMPP;X-SERVICE-TYPE=Jabber:xmpp:jane@x.example',
        'X-SPOUSE:Bob',
        'item3.X-ABRELATEDNAMES:Ann',
        'item3.X-ABLabel:_$!<Child>!$_',
        'X-PHONETIC-FIRST-NAME:Dzhayn',
        'GENDER:F',
        'X-HAT-SIZE:7',
        'SOUND;ENCODING=b:AAAA',
      ),
    );
    expect(jane).toMatchObject({
      organization: { name: 'Acme', department: 'Sales', title: 'Head' },
      otherOrganizations: [{ name: 'Choir', department: '', title: 'Alto' }],
      role: 'Boss',
      birthday: '',
      dates: [
        { label: 'anniversary', value: '2009-08-08' },
        { label: 'Met', value: '2001-02-03' },
      ],
      messengers: [
        { label: 'skype', value: 'jane' },
        { label: 'jabber', value: 'jane@x.example' },
      ],
      relations: [
        { label: 'spouse', value: 'Bob' },
        { label: 'child', value: 'Ann' },
      ],
      phonetic: { given: 'Dzhayn' },
      gender: 'female',
      more: [
        { label: 'birthday', value: '1950' },
        { label: 'X-HAT-SIZE', value: '7' },
        { label: 'sound', value: '' },
      ],
    });
  });
});

/** Books by their path, with a card's text and a version for each path; they can change while they are read. */
class Books {
  readonly cards: Record<string, { text: string; version: number }> = {};
  names: Record<string, string> = { '/b/': 'Family' };
  onMultiget: () => void = () => {};

  readonly answer = ({ method, url, bytes }: { method: string; url: URL; bytes: Buffer }): ApiAnswer => {
    const { pathname } = url;
    if (method === 'GET' && pathname === '/photos/jane.png')
      return { status: 200, text: 'PNG', headers: { 'content-type': 'image/png' } };
    if (method === 'PROPFIND' && pathname === '/home/')
      return multistatus(
        response('/home/', '<resourcetype><collection/></resourcetype>'),
        ...Object.entries(this.names).map(([path, name]) =>
          response(
            path,
            `<displayname>${name}</displayname><resourcetype><collection/><C:addressbook/></resourcetype>`,
          ),
        ),
      );
    const inside = Object.entries(this.cards).filter(([path]) => path.startsWith(pathname));
    if (method === 'PROPFIND')
      return multistatus(
        ...inside.map(([path, { version }]) => response(path, `<getetag>"${version}"</getetag><resourcetype/>`)),
      );
    if (method !== 'REPORT') return { status: 404 };
    const wanted = bytes.toString();
    const answer = multistatus(
      ...inside
        .filter(([path]) => wanted.includes(path))
        .map(([path, { text }]) =>
          response(path, `<C:address-data>${text.replaceAll('\r\n', '&#13;\n')}</C:address-data>`),
        ),
    );
    this.onMultiget();
    return answer;
  };
}
function multistatus(...responses: readonly string[]): ApiAnswer {
  const text = `<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav">${responses.join('')}</multistatus>`;
  return { status: 207, text, headers: { 'content-type': 'application/xml' } };
}
function response(href: string, properties: string): string {
  return `<response><href>${href}</href><propstat><prop>${properties}</prop><status>HTTP/1.1 200 OK</status></propstat></response>`;
}

describe('an odd address book', () => {
  let books: Books;
  let api: ScriptedApi;
  beforeEach(async () => {
    books = new Books();
    api = await startApi(books.answer);
  });
  afterEach(async () => api[Symbol.asyncDispose]());
  const put = (path: string, text: string) =>
    void (books.cards[path] = { text, version: (books.cards[path]?.version ?? 0) + 1 });
  const open = () =>
    openContactReader({
      settings: readSettings({ SANDBOX: 'on', LEGACY_CARDDAV_URL: `${api.url}/home/` }),
      credentials: { email: 'a@legacy.example', password: 'x' },
    });
  const readAll = async () => {
    const reader = open();
    const { total } = await reader.survey(SIGNAL);
    const readings: Reading[] = [];
    for await (const reading of reader.contacts(SIGNAL)) readings.push(reading);
    const contacts = readings.flatMap((reading) => (reading.kind === 'contact' ? [reading.contact] : []));
    const groups = readings.flatMap((reading) => (reading.kind === 'group' ? [reading.group] : []));
    const skipped = readings.flatMap((reading) => (reading.kind === 'skipped' ? [reading] : []));
    return { total, contacts, groups, skipped };
  };

  test('with several cards in one resource gives them all, and what can not be read as it is', async () => {
    const broken = 'BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Cut';
    put('/b/all.vcf', card('3.0', 'UID:1', 'FN:Jane') + card('3.0', 'UID:2', 'FN:Ann') + broken);
    const { total, contacts, skipped } = await readAll();
    expect(total).toBe(3);
    expect(contacts.map(({ name }) => name.formatted)).toEqual(['Jane', 'Ann']);
    expect(skipped).toMatchObject([{ raw: broken, skipped: { reason: 'The end of this contact card is missing.' } }]);
  });

  test('that is one of several gives its name to its contacts, and one that lies in two comes once', async () => {
    books.names['/c/'] = 'Work';
    put('/b/1.vcf', card('3.0', 'UID:jane', 'FN:Jane'));
    put('/c/1.vcf', card('3.0', 'UID:jane', 'FN:Jane'));
    put('/c/2.vcf', card('3.0', 'UID:ann', 'FN:Ann', 'EMAIL:ann@example.com'));
    put(
      '/c/list.vcf',
      card(
        '4.0',
        'KIND:group',
        'UID:g',
        'FN:List',
        'NOTE:ours',
        'MEMBER:urn:uuid:jane',
        'MEMBER:mailto:ann@example.com',
        'MEMBER:mailto:nobody@example.com',
      ),
    );
    const { total, contacts, groups } = await readAll();
    expect(total).toBe(2);
    expect(contacts.map(({ name, groups: joined }) => [name.formatted, joined])).toEqual([
      ['Jane', ['Family', 'Work', 'List']],
      ['Ann', ['Work', 'List']],
    ]);
    expect(groups).toMatchObject([
      { uid: 'g', name: 'List', notes: 'ours', members: ['jane', 'ann'], strangers: ['mailto:nobody@example.com'] },
    ]);
  });

  test('may have lists within lists, in a circle too: who is in the inner one is in the outer, and none counts as without a card', async () => {
    put('/b/1.vcf', card('3.0', 'UID:jane', 'FN:Jane'));
    put('/b/2.vcf', card('3.0', 'UID:ann', 'FN:Ann'));
    const list = (uid: string, ...members: readonly string[]) =>
      card('4.0', 'KIND:group', `UID:${uid}`, `FN:List ${uid}`, ...members.map((one) => `MEMBER:urn:uuid:${one}`));
    put('/b/3.vcf', list('outer', 'jane', 'inner'));
    put('/b/4.vcf', list('inner', 'ann', 'innermost', 'nobody'));
    put('/b/5.vcf', list('innermost', 'outer'));
    const { contacts, groups } = await readAll();
    expect(groups.map(({ uid, members, strangers }) => [uid, members.toSorted(), strangers])).toEqual([
      ['outer', ['ann', 'jane'], ['nobody']],
      ['inner', ['ann', 'jane'], ['nobody']],
      ['innermost', ['ann', 'jane'], ['nobody']],
    ]);
    expect(contacts.map(({ groups: joined }) => joined.toSorted())).toEqual(
      Array.from({ length: 2 }, () => ['List inner', 'List innermost', 'List outer']),
    );
  });

  test('may have SOGo’s lists, which name cards by their files and are no vCards: each is a group', async () => {
    put('/b/5A-1.vcf', card('3.0', 'UID:jane', 'FN:Jane', 'EMAIL:home@example.com'));
    put('/b/5A-2.vcf', card('3.0', 'UID:bob', 'FN:Bob', 'EMAIL:home@example.com'));
    const list = [
      'BEGIN:VLIST',
      'UID:5A-3.vlf',
      'VERSION:1.0',
      'FN:Choir, old',
      'NICKNAME:choir',
      'DESCRIPTION:sings',
      'CARD;EMAIL=home@example.com;FN="Bob, B.":5A-2.vcf',
      'CARD;EMAIL=gone@example.com;FN=Gone:5A-9.vcf',
      'END:VLIST',
      '',
    ];
    put('/b/5A-3.vlf', list.join('\r\n'));
    put('/b/5A-4.vlf', list.slice(0, -3).join('\r\n'));
    const { total, contacts, groups, skipped } = await readAll();
    expect(total).toBe(3);
    expect(contacts.map(({ uid, groups: joined }) => [uid, joined])).toEqual([
      ['jane', []],
      ['bob', ['Choir, old']],
    ]);
    expect(groups).toMatchObject([
      {
        uid: '5A-3.vlf',
        name: 'Choir, old',
        notes: 'sings\n\nNickname: choir',
        members: ['bob'],
        strangers: ['card:5a-9.vcf'],
      },
    ]);
    expect(skipped).toMatchObject([{ skipped: { reason: 'We cannot read this contact card.', subject: '5A-4.vlf' } }]);
  });

  test('may have addresses in a list that have no card: its own card keeps them, without those whose card is gone', async () => {
    put('/b/1.vcf', card('3.0', 'UID:jane', 'FN:Jane', 'EMAIL:jane@example.com'));
    const list = ['MEMBER:mailto:Jane@example.com', 'MEMBER;X-A=b:mailto:Al@Example.com', 'MEMBER:urn:uuid:gone'];
    put('/b/2.vcf', card('4.0', 'KIND:group', 'UID:inner', 'FN:Inner', 'MEMBER:mailto:bo@example.com'));
    put('/b/3.vcf', card('4.0', 'KIND:group', 'UID:g', 'FN:Choir', ...list, 'MEMBER:urn:uuid:inner'));
    const { groups } = await readAll();
    const choir = groups.find(({ uid }) => uid === 'g');
    const written = choir === undefined ? '' : groupVcard(choir);
    expect(written.match(/^X-ADDRESSBOOKSERVER-MEMBER:.*$/gm)).toEqual(
      ['urn:uuid:jane', 'mailto:Al@Example.com', 'mailto:bo@example.com'].map(
        (member) => `X-ADDRESSBOOKSERVER-MEMBER:${member}`,
      ),
    );
  });

  test('has its photos by link brought along from its own server, and from no other', async () => {
    put('/b/1.vcf', card('3.0', 'UID:1', 'FN:Jane', `PHOTO;VALUE=uri:${api.url}/photos/jane.png`));
    put('/b/2.vcf', card('3.0', 'UID:2', 'FN:Ann', 'PHOTO;VALUE=uri:http://169.254.169.254/latest'));
    const { contacts } = await readAll();
    const [jane, ann] = contacts;
    expect(jane?.photo).toEqual({ mediaType: 'image/png', bytes: new Uint8Array(Buffer.from('PNG')) });
    expect(jane === undefined ? '' : writeVcard(jane, '3.0')).not.toContain('photos/jane.png');
    expect(ann).toMatchObject({ more: [{ label: 'photo', value: 'http://169.254.169.254/latest' }] });
    expect(ann?.photo).toBeUndefined();
  });

  test('may believe that it has no TLS, behind a proxy that has; others are not asked', async () => {
    const web = new Web(new URL('https://dav.example.com:8443/'), { email: 'a', password: 'x' });
    expect(web.resolve('http://dav.example.com/b/1.vcf').href).toBe('https://dav.example.com:8443/b/1.vcf');
    expect(web.resolve('http://dav.example.com:8443/b/').href).toBe('https://dav.example.com:8443/b/');
    for (const other of ['http://dav.example.com:81/b/', 'http://example.com/b/', 'http://a@dav.example.com/b/'])
      expect(() => web.resolve(other)).toThrow('points to another host');
  });

  test('that gives a card without a UID another time of change in each answer has it once, under one UID', async () => {
    let moment = 0;
    const change = () => put('/b/1.vcf', card('3.0', 'FN:Jane', `REV:2026010${(moment += 1)}T000000Z`));
    change();
    books.onMultiget = change;
    const reader = open();
    const { uids } = await reader.survey(SIGNAL);
    const readings: Reading[] = [];
    for await (const reading of reader.contacts(SIGNAL)) readings.push(reading);
    expect(readings.map((reading) => reading.kind === 'contact' && reading.contact.uid)).toEqual([...uids]);
  });

  test('has two cards of one UID, in whatever order its books are listed, under the same UIDs', async () => {
    put('/b/1.vcf', card('3.0', 'UID:jane', 'FN:Jane'));
    put('/c/1.vcf', card('3.0', 'UID:jane', 'FN:Jane', 'TEL:6505550100'));
    for (const order of [
      { '/b/': 'Family', '/c/': 'Work' },
      { '/c/': 'Work', '/b/': 'Family' },
    ]) {
      books.names = order;
      const { contacts } = await readAll();
      expect(contacts.find(({ phones }) => phones.length === 0)?.uid).toBe('jane');
    }
  });

  test('whose UIDs are numbers has others, as the new address book may have a number of somebody else', async () => {
    put('/b/1.vcf', card('3.0', 'UID:1', 'FN:Jane'));
    put('/b/list.vcf', card('4.0', 'KIND:group', 'UID:2', 'FN:List', 'MEMBER:urn:uuid:1'));
    const { contacts, groups } = await readAll();
    expect(contacts.map(({ uid }) => uid)).toEqual([derivedUid('a@legacy.example', '1')]);
    expect(groups).toMatchObject([
      { uid: derivedUid('a@legacy.example', '2'), members: contacts.map(({ uid }) => uid) },
    ]);
  });

  test('whose card could not be read at first is told of it no longer once it can be', async () => {
    const writer: ContactWriter = {
      batchSize: 9,
      notesOn: () => [],
      async *existing() {},
      write: async (contacts) => contacts.map(() => ({ outcome: 'written', notes: [], stays: [] })),
      fill: async () => ({ outcome: 'gone' }),
      group: async () => [],
    };
    const fates = new MemoryFates();
    const copy = () => copyInto({ reader: open(), writer, signal: SIGNAL }, fates);
    put('/b/1.vcf', 'BEGIN:VCARD\r\nFN:Jane');
    expect(await copy()).toMatchObject({ total: 1, skipped: [{ reason: 'The end of this contact card is missing.' }] });
    put('/b/1.vcf', card('3.0', 'UID:1', 'FN:Jane'));
    expect(await copy()).toMatchObject({ total: 1, written: 1, skipped: [] });
  });

  test.each([
    [4, false],
    [5, true],
  ])(
    'of which %i were changed, and all fail there, ends the copy as the fault that it is: %s',
    async (changed, ends) => {
      const uids = Array.from({ length: changed }, (_, at) => `jane-${at}`);
      const held: Contact[] = [];
      const writer: ContactWriter = {
        batchSize: 9,
        notesOn: () => [],
        async *existing() {
          for (const contact of held) yield { id: contact.uid, uid: contact.uid, contact };
        },
        write: async (contacts) => {
          held.push(...contacts);
          return contacts.map(() => ({ outcome: 'written', notes: [], stays: [] }));
        },
        fill: () => Promise.reject(new ContactStoreError('unavailable', '500', { status: 500 })),
        group: async () => [],
      };
      const fates = new MemoryFates();
      const copy = () => copyInto({ reader: open(), writer, signal: SIGNAL }, fates);
      for (const uid of uids) put(`/b/${uid}.vcf`, card('3.0', `UID:${uid}`, `FN:${uid}`));
      await copy();
      for (const uid of uids) put(`/b/${uid}.vcf`, card('3.0', `UID:${uid}`, `FN:${uid}`, 'TEL:1234567'));
      const status = await copy().then(
        () => undefined,
        (error: unknown) => (error as ContactStoreError).status,
      );
      expect(status).toBe(ends ? 500 : undefined);
    },
  );

  test('has UIDs that a database can hold', async () => {
    put('/b/1.vcf', card('2.1', 'UID;ENCODING=QUOTED-PRINTABLE:a=00b', 'FN:Jane'));
    const [jane] = (await readAll()).contacts;
    expect(jane?.uid).toMatch(/^[\w-]+$/);
    expect((await readAll()).contacts[0]?.uid).toBe(jane?.uid);
  });

  test('that changes while it is read returns what is new and what has changed, under the same UID', async () => {
    put('/b/1.vcf', card('3.0', 'UID:jane', 'FN:Jane'));
    let gets = 0;
    books.onMultiget = () => {
      gets += 1;
      if (gets !== 2) return;
      put('/b/1.vcf', card('3.0', 'UID:jane', 'FN:Jane', 'TEL:1234567'));
      put('/b/2.vcf', card('3.0', 'UID:ann', 'FN:Ann'));
    };
    const { contacts } = await readAll();
    expect(contacts.map(({ uid, name, phones }) => [uid, name.formatted, phones.length])).toEqual([
      ['jane', 'Jane', 0],
      ['jane', 'Jane', 1],
      ['ann', 'Ann', 0],
    ]);
  });

  test.each(['UID:', 'X-UID:'])(
    'of several cards in one resource, with %s, takes none for another when it changes',
    async (uid) => {
      const [ann, bob, cid, zoe] = ['Ann', 'Bob', 'Cid', 'Zoe'].map((name) =>
        card('3.0', `${uid}${name}`, `FN:${name}`),
      );
      put('/b/all.vcf', `${ann}${bob}${cid}`);
      let gets = 0;
      books.onMultiget = () => {
        gets += 1;
        if (gets === 2) put('/b/all.vcf', `${zoe}${bob}${cid}`);
      };
      const { contacts } = await readAll();
      expect(contacts.map(({ name }) => name.formatted)).toEqual(['Ann', 'Bob', 'Cid', 'Zoe']);
      expect(new Set(contacts.map((each) => each.uid)).size).toBe(4);
    },
  );

  test.each(['X-UID:bob', 'UID:ann'])(
    'of several cards in one resource has one that changes with %s under what it had at first',
    async (uid) => {
      const ann = card('3.0', 'UID:ann', 'FN:Ann');
      put('/b/all.vcf', `${ann}${card('3.0', uid, 'FN:Bob')}`);
      let gets = 0;
      books.onMultiget = () => {
        gets += 1;
        if (gets === 2) put('/b/all.vcf', `${ann}${card('3.0', uid, 'FN:Bob', 'TEL:1234567')}`);
      };
      const { contacts } = await readAll();
      expect(contacts.map(({ name, phones }) => [name.formatted, phones.length])).toEqual([
        ['Ann', 0],
        ['Bob', 0],
        ['Bob', 1],
      ]);
      expect(new Set(contacts.map((each) => each.uid)).size).toBe(2);
    },
  );

  test('of several cards in one resource has the one that changes under its UID, wherever it then stands', async () => {
    const [ann, cid] = ['ann', 'cid'].map((uid) => card('3.0', `UID:${uid}`, `FN:${uid}`));
    put('/b/all.vcf', `${ann}${card('3.0', 'UID:bob', 'FN:bob')}${cid}`);
    let gets = 0;
    books.onMultiget = () => {
      gets += 1;
      if (gets === 2) put('/b/all.vcf', `${card('3.0', 'UID:bob', 'FN:bob', 'TEL:1234567')}${cid}`);
    };
    const { contacts } = await readAll();
    expect(contacts.map(({ uid, name, phones }) => [uid, name.formatted, phones.length])).toEqual([
      ['ann', 'ann', 0],
      ['bob', 'bob', 0],
      ['cid', 'cid', 0],
      ['bob', 'bob', 1],
    ]);
  });
});

async function openStaging(database: Database) {
  const id = 'e'.repeat(32);
  await database.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider, operations)
     values ($1, 'k', 'a@x.example', 'sanbruno', 'a@y.example', 'file_export', '{contactsmigration}')`,
    [id],
  );
  const [row] = await database.query<{ id: number }>(
    'insert into exports (transfer_id, name) values ($1, $1) returning id::float8 as id',
    [id],
  );
  return openStagedContacts(fenced(database, { transferId: id, epoch: 0 }), row?.id ?? 0);
}

const SOURCE = { scratch: '/nowhere', id: 'x', made: new Date(0), signal: SIGNAL };

/** What the files of an archive's contacts say, by their paths. */
async function textsOf({ files }: Pick<ContactFiles, 'files'>): Promise<Record<string, string>> {
  const texts: Record<string, string> = {};
  for await (const { path, content } of files()) {
    const pieces: Uint8Array[] = [];
    for await (const piece of content()) pieces.push(piece);
    texts[path] = Buffer.concat(pieces).toString();
  }
  return texts;
}

test('an archive has groups with the contacts, and cards that could not be read as they were', async () => {
  await using database = await openTestDatabase(FRESH);
  const staged = await openStaging(database);
  await staged.put(1, read(card('3.0', 'UID:1', 'FN:Jane')));
  await staged.putCard('group', 1, card('3.0', 'UID:g', 'FN:List'));
  await staged.putCard('unreadable', 1, 'BEGIN:VCARD\r\n\u0000broken');
  const archived = await contactFiles('vcf', staged, SOURCE, eml);
  const { about, count } = archived;
  const texts = await textsOf(archived);
  expect(count).toBe(1);
  expect(Object.keys(texts)).toEqual(['contacts/contacts.vcf', 'unreadable/contact-0001.vcf']);
  expect(texts['contacts/contacts.vcf']?.match(/^FN:.*$/gm)).toEqual(['FN:Jane', 'FN:List']);
  expect(texts['unreadable/contact-0001.vcf']).toBe('BEGIN:VCARD\r\n\u0000broken');
  expect(about.join('\n')).toContain('One contact card that is damaged');
});

test('tables, which have no place for lists, have a file with them beside them', async () => {
  await using database = await openTestDatabase(FRESH);
  const staged = await openStaging(database);
  await staged.put(1, read(card('3.0', 'UID:1', 'FN:Jane')));
  const bare = await contactFiles('csv', staged, SOURCE, eml);
  const tables = ['contacts/google.csv', 'contacts/outlook.csv', 'contacts/outlook-com.csv'];
  expect([Object.keys(await textsOf(bare)), bare.about.join('\n').includes('lists.vcf')]).toEqual([tables, false]);

  const list = (uid: string) =>
    card('3.0', `UID:${uid}`, 'FN:List', 'X-ADDRESSBOOKSERVER-MEMBER:mailto:al@example.com');
  await staged.putCard('group', 1, list('g'));
  await staged.putCard('group', 2, list('h'));
  const archived = await contactFiles('csv', staged, SOURCE, eml);
  const texts = await textsOf(archived);
  expect(Object.keys(texts)).toEqual([...tables, 'contacts/lists.vcf']);
  expect(texts['contacts/lists.vcf']).toBe(list('g') + list('h'));
  expect(archived.about.join('\n')).toContain('contacts/lists.vcf');
});

test('of more contacts than Gmail takes at a time each is in one of the tables for it, and in the manifest as there', async () => {
  const people = Array.from({ length: 3_001 }, (_, at) => person(`${at}`, `Person ${at}`, []));
  const staged = {
    count: async () => people.length,
    async *contacts() {
      yield* people;
    },
    countCards: async () => 0,
    card: async () => '',
  };
  const archived = await contactFiles('csv', staged, SOURCE, eml);
  const google = ['contacts/google.csv', 'contacts/google-2.csv'];
  const texts = await textsOf({
    files: async function* () {
      for await (const file of archived.files()) if (google.includes(file.path)) yield file;
    },
  });
  expect(Object.keys(texts)).toEqual(google);
  const rows = google.map((path) => texts[path]?.match(/^Person \d+/gm) ?? []);
  expect(rows.map(({ length }) => length)).toEqual([3_000, 1]);
  expect(rows.flat()).toEqual(people.map(({ name }) => name.formatted));
  const entries: string[] = [];
  for await (const { path, index, uid } of archived.entries())
    if (google.includes(path)) entries.push(`${path} ${index} ${uid}`);
  expect([entries.length, ...entries.slice(2_999)]).toEqual([
    3_001,
    'contacts/google.csv 3000 2999',
    'contacts/google-2.csv 1 3000',
  ]);
  expect(archived.about.join(' ')).toContain('google-2.csv');
  const cards = await contactFiles('vcf', staged, SOURCE, eml);
  expect(cards.about.join(' ')).toContain('3,000');
});

test('staged contacts are returned in order, with no more of their photos at once than memory is meant for', async () => {
  await using database = await openTestDatabase(FRESH);
  const pages: number[] = [];
  const query = async <Row>(text: string, values?: readonly unknown[]) => {
    const rows = await database.query<Row & { readonly photo?: Uint8Array | null }>(text, values);
    if (text.includes('photo')) pages.push(rows.reduce((sum, { photo }) => sum + (photo?.length ?? 0), 0));
    return rows;
  };
  const staged = await openStaging({ ...database, query });
  const jane = read(card('3.0', 'UID:1', 'FN:Jane'));
  const sizes = Array.from({ length: 230 }, (_, at) => ({ 7: 3_000_000, 8: 3_000_000, 120: 9_000_000 })[at] ?? at % 3);
  for (const [at, size] of sizes.entries()) {
    const photo = { mediaType: 'image/png', bytes: Buffer.alloc(size, at) };
    await staged.put(at + 1, { ...jane, notes: `${at}`, ...(size > 0 && { photo }) });
  }
  pages.length = 0;
  const found: [string, number, number][] = [];
  for await (const { notes, photo } of staged.contacts())
    found.push([notes, photo?.bytes.length ?? 0, photo?.bytes.at(-1) ?? 0]);
  expect(found).toEqual(sizes.map((size, at) => [`${at}`, size, size > 0 ? at : 0]));
  expect(Math.max(...pages)).toBe(9_000_000);
  expect(pages.toSorted((one, other) => other - one)[1]).toBeLessThan(4 * 1024 * 1024);
});
