import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { openContactReader, openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { derivedUid } from '../../src/server/contacts/matching.ts';
import { readCard } from '../../src/server/contacts/vcard/read-vcard.ts';
import { readerOf } from '../support/contact-samples.ts';
import { copyInto } from '../support/contacts-copy.ts';
import { gathered } from '../support/imap-session.ts';
import { needs } from '../support/needs.ts';
import { passwordOf, startRadicale, type Radicale } from '../support/radicale.ts';

const PHOTO = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const card = (uid: string, ...lines: readonly string[]) =>
  ['BEGIN:VCARD', 'VERSION:3.0', `UID:${uid}`, ...lines, 'END:VCARD', ''].join('\r\n');

const SOURCE: Record<string, string> = {
  'jane.vcf': card(
    'jane',
    'FN:Jane Doe',
    'N:Doe;Jane;;;',
    'item1.EMAIL;TYPE=INTERNET:jane@example.com',
    'item1.X-ABLabel:Club',
    'TEL;TYPE=CELL:+1 650 555 0100',
    'BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-13',
    `PHOTO;ENCODING=b;TYPE=PNG:${PHOTO}`,
    'ANNIVERSARY:20090808',
    'X-SKYPE:jane.doe\\, too',
  ),
  'ann.vcf': card('ann', 'FN:Ann Smith', 'N:Smith;Ann;;;', 'EMAIL:home@example.com', 'NOTE:<&>"\\nzweite Zeile äöü'),
  'bob.vcf': card('bob', 'FN:Bob Smith', 'N:Smith;Bob;;;', 'EMAIL:home@example.com'),
  'bare.vcf': card('bare', 'FN:Only A Name', 'N:;;;;'),
  'friends.vcf': card(
    'friends',
    'FN:Friends',
    'N:Friends;;;;',
    'X-ADDRESSBOOKSERVER-KIND:group',
    'X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:jane',
    'X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:gone',
  ),
};

const group = (...members: readonly string[]) => [
  'FN:Club',
  'N:Club;;;;',
  'X-ADDRESSBOOKSERVER-KIND:group',
  ...members.map((uid) => `X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:${uid}`),
];

const settings = (url: string) =>
  readSettings({
    SANDBOX: 'on',
    LEGACY_CARDDAV_URL: `${url}{email}/`,
    YAHOO_CONTACTS_URL: url,
    AOL_CONTACTS_URL: url,
  });
const credentials = (email: string) => ({ email, password: passwordOf(email) });

describe('contacts over CardDAV, with radicale', needs('radicale'), () => {
  let server: Radicale;
  let users = 0;
  beforeAll(async () => {
    server = await startRadicale([
      'alice@legacy.example',
      'many',
      'never@legacy.example',
      ...Array.from({ length: 16 }, (_, at) => `new${at}`),
    ]);
    const book = await server.makeBook('alice@legacy.example', 'contacts');
    for (const [name, text] of Object.entries(SOURCE)) await server.put(book, 'alice@legacy.example', name, text);
  });
  afterAll(async () => server[Symbol.asyncDispose]());

  const copy = (to: string, from = 'alice@legacy.example') =>
    copyInto({
      reader: openContactReader({
        settings: settings(server.url),
        credentials: credentials(from),
      }),
      writer: openContactWriter('yahoo', { settings: settings(server.url), credentials: credentials(to) }),
      signal: new AbortController().signal,
    });
  const newUser = async (user = `new${(users += 1)}`) => {
    const book = await server.makeBook(user, 'book');
    return { user, book };
  };

  test('somebody who has never had an address book has no contacts', async () => {
    const reader = openContactReader({
      settings: settings(server.url),
      credentials: credentials('never@legacy.example'),
    });
    expect(await gathered(reader.contacts(new AbortController().signal))).toEqual([]);
  });

  test('a copy brings every contact, whole, and the members of a group card into their group', async () => {
    const { user } = await newUser();
    expect(await copy(user)).toEqual({
      total: 4,
      written: 4,
      present: 0,
      completed: 0,
      skipped: [],
      notes: [],
      lost: 0,
      duplicated: 0,
      changed: 0,
    });
    const cards = await server.cards(user, 'book');
    // The group is a card of its own.
    expect(cards).toHaveLength(5);
    const jane = cards.find((text) => text.includes('Jane Doe')) ?? '';
    const read = readCard(jane);
    if (read.kind !== 'contact') throw new Error(`the card is ${read.kind}`);
    expect(read.contact).toMatchObject({
      uid: 'jane',
      emails: [{ label: 'Club', value: 'jane@example.com' }],
      phones: [{ label: 'mobile', value: '+1 650 555 0100' }],
      birthday: '--04-13',
      groups: ['Friends'],
      photo: { mediaType: 'image/png', bytes: new Uint8Array(Buffer.from(PHOTO, 'base64')) },
    });
    expect(jane).toContain('ANNIVERSARY:20090808');
    expect(jane).toContain('X-SKYPE:jane.doe\\, too');
    const ann = readCard(cards.find((text) => text.includes('Ann Smith')) ?? '');
    expect(ann.kind === 'contact' && ann.contact.notes).toBe('<&>"\nzweite Zeile äöü');
  });

  test('a second copy adds none', async () => {
    const { user } = await newUser();
    await copy(user);
    expect(await copy(user)).toMatchObject({ total: 4, written: 0, present: 4, skipped: [] });
    expect(await server.cards(user, 'book')).toHaveLength(5);
  });

  test('a group that is there gets its new members, and keeps those that it has', async () => {
    const source = await newUser();
    const { user, book } = await newUser();
    const put = (name: string, ...lines: readonly string[]) =>
      server.put(source.book, source.user, `${name}.vcf`, card(name, ...lines));
    await put('ann', 'FN:Ann Smith', 'N:Smith;Ann;;;');
    await put('club', ...group('ann'));
    await copy(user, source.user);
    const stored = async () => (await server.cards(user, 'book')).find((text) => text.includes('FN:Club')) ?? '';
    const name = `${derivedUid('club')}.vcf`;
    await server.put(book, user, name, card('club', ...group('ann', 'theirs'), 'NOTE:mine'));
    await put('bob', 'FN:Bob Smith', 'N:Smith;Bob;;;');
    await put('club', ...group('ann', 'bob'));
    expect(await copy(user, source.user)).toMatchObject({ written: 1, notes: [], lost: 0, changed: 0 });
    const read = readCard(await stored());
    expect(read.kind === 'group' && read.group).toMatchObject({ members: ['ann', 'theirs', 'bob'], notes: 'mine' });
  });

  test('a contact whose UID is a number stays apart from somebody else who has that number there', async () => {
    const source = await newUser();
    const { user, book } = await newUser();
    const ann = ['FN:Ann Smith', 'N:Smith;Ann;;;', 'EMAIL:ann@example.com'];
    const bob = ['FN:Bob Jones', 'N:Jones;Bob;;;'];
    await server.put(source.book, source.user, 'ann.vcf', card('12', ...ann));
    await server.put(book, user, 'bob.vcf', card('12', ...bob));
    expect(await copy(user, source.user)).toMatchObject({ written: 1, present: 0, lost: 0, changed: 0 });
    expect(await server.cards(user, 'book')).toHaveLength(2);
    expect(await copy(user, source.user)).toMatchObject({ written: 0, present: 1, notes: [] });
  });

  test('an address with an unescaped semicolon keeps its city and its country', async () => {
    const { user } = await newUser();
    const address = 'ADR;TYPE=HOME:;;1 Main St; Apt 4;San Bruno;CA;94066;USA';
    const ann = readCard(card('ann', 'FN:Ann Smith', 'N:Smith;Ann;;;', address));
    if (ann.kind !== 'contact') throw new Error(`the card is ${ann.kind}`);
    const writer = openContactWriter('yahoo', { settings: settings(server.url), credentials: credentials(user) });
    const copied = await copyInto({ reader: readerOf([ann.contact]), writer, signal: new AbortController().signal });
    expect(copied).toMatchObject({ written: 1, notes: [], changed: 0 });
    const [stored = ''] = await server.cards(user, 'book');
    expect(stored).toContain(String.raw`ADR;TYPE=HOME:;;1 Main St\; Apt 4;San Bruno;CA;94066;USA`);
  });

  test('a colon that Apple has escaped stays one, and a second copy adds no other website', async () => {
    const { user } = await newUser();
    const lines = [
      String.raw`item1.URL;type=pref:http\://a.example`,
      String.raw`X-SOCIALPROFILE;type=x:https\://x.example/a`,
    ];
    const note = String.raw`NOTE:C\\: and \, stay`;
    const text = card('ann', 'FN:Ann Smith', 'N:Smith;Ann;;;', 'item1.X-ABLabel:_$!<HomePage>!$_', ...lines, note);
    const ann = readCard(text);
    if (ann.kind !== 'contact') throw new Error(`the card is ${ann.kind}`);
    const writer = openContactWriter('yahoo', { settings: settings(server.url), credentials: credentials(user) });
    const copyAnn = () => copyInto({ reader: readerOf([ann.contact]), writer, signal: new AbortController().signal });
    expect(await copyAnn()).toMatchObject({ written: 1, notes: [], changed: 0 });
    expect(await copyAnn()).toMatchObject({ written: 0, present: 1, completed: 0 });
    const [stored = ''] = await server.cards(user, 'book');
    const read = readCard(stored);
    expect(read.kind === 'contact' && read.contact).toMatchObject({
      websites: [{ label: 'homepage', value: 'http://a.example' }],
      more: [{ label: 'social profile (x)', value: 'https://x.example/a' }],
      notes: String.raw`C\: and , stay`,
    });
  });

  test('a group names its members by the UIDs that they have there', async () => {
    const source = await newUser();
    const { user, book } = await newUser();
    const ann = ['FN:Ann Smith', 'N:Smith;Ann;;;', 'EMAIL:ann@example.com'];
    await server.put(source.book, source.user, 'ann.vcf', card('ann', ...ann));
    await server.put(source.book, source.user, 'bob.vcf', card('urn:uuid:bob', 'FN:Bob Smith', 'N:Smith;Bob;;;'));
    await server.put(source.book, source.user, 'club.vcf', card('club', ...group('ann', 'bob')));
    await server.put(book, user, 'theirs.vcf', card('theirs', ...ann));
    // The second copy finds all of them there.
    for (const _ of ['first', 'second']) {
      await copy(user, source.user);
      const club = (await server.cards(user, 'book')).find((text) => text.includes('FN:Club')) ?? '';
      const read = readCard(club);
      expect(read.kind === 'group' && read.group.members).toEqual(['theirs', 'bob']);
    }
  });

  test('a contact that is there under another UID gets what it lacks, and keeps every line of its own', async () => {
    const { user, book } = await newUser();
    const own = ['FN:Doe\\, Jane', 'N:Doe;Jane;;;', 'EMAIL;TYPE=HOME:JANE@example.com', 'X-MINE:kept', 'NOTE:mine'];
    await server.put(book, user, 'theirs.vcf', card('other-uid', ...own));
    expect(await copy(user)).toMatchObject({ written: 3, completed: 1, notes: [], changed: 0, lost: 0 });
    const theirs = (await server.cards(user, 'book')).find((text) => text.includes('UID:other-uid')) ?? '';
    for (const line of own.filter((line) => !line.startsWith('NOTE'))) expect(theirs).toContain(line);
    const read = readCard(theirs);
    if (read.kind !== 'contact') throw new Error(`the card is ${read.kind}`);
    expect(read.contact).toMatchObject({
      uid: 'other-uid',
      emails: [{ label: 'home', value: 'JANE@example.com' }],
      phones: [{ label: 'mobile', value: '+1 650 555 0100' }],
      birthday: '--04-13',
      dates: [{ label: 'anniversary', value: '2009-08-08' }],
      messengers: [{ label: 'skype', value: 'jane.doe, too' }],
      groups: ['Friends'],
      notes: 'mine',
      photo: { mediaType: 'image/png', bytes: new Uint8Array(Buffer.from(PHOTO, 'base64')) },
    });
    expect(await copy(user)).toMatchObject({ written: 0, completed: 0, present: 4, changed: 0 });
  });

  test('a contact that is there with empty lines gets its values in them, and not beside them', async () => {
    const source = await newUser();
    const { user, book } = await newUser();
    const own = ['FN:Jane Doe', 'N:;;;;', 'BDAY:', 'EMAIL:jane@example.com'];
    await server.put(book, user, 'theirs.vcf', card('other-uid', ...own));
    const ours = ['FN:Jane Doe', 'N:Doe;Jane;Quinn;;', 'BDAY:1950-04-13', 'EMAIL:jane@example.com', 'TEL:6505550100'];
    await server.put(source.book, source.user, 'jane.vcf', card('jane', ...ours));
    expect(await copy(user, source.user)).toMatchObject({ completed: 1, notes: [], changed: 0 });
    const [theirs = ''] = await server.cards(user, 'book');
    expect(
      theirs
        .match(/^(?:N|FN|BDAY)[;:].*$/gm)
        ?.map((line) => line.trim())
        .toSorted(),
    ).toEqual(['BDAY:1950-04-13', 'FN:Jane Doe', 'N:Doe;Jane;Quinn;;']);
  });

  test('a contact whose birthday and photo are in another form keeps them as its only ones', async () => {
    const source = await newUser();
    const { user, book } = await newUser();
    const own = ['FN:Jane Doe', 'N:Doe;Jane;;;', 'EMAIL:jane@example.com'];
    await server.put(
      book,
      user,
      'theirs.vcf',
      card('other', ...own, 'BDAY:1950', 'PHOTO;VALUE=uri:https://photos.example.com/jane.jpg'),
    );
    await server.put(
      source.book,
      source.user,
      'jane.vcf',
      card('jane', ...own, 'TEL:6505550100', 'BDAY:1950-04-13', `PHOTO;ENCODING=b;TYPE=PNG:${PHOTO}`),
    );
    const note = 'Not added, because something else is there: birthday.';
    expect(await copy(user, source.user)).toMatchObject({
      completed: 1,
      notes: [{ contact: 'Jane Doe', note }],
      changed: 0,
    });
    const [theirs = ''] = await server.cards(user, 'book');
    expect(theirs).toContain('TEL:6505550100');
    expect(theirs.match(/^(?:BDAY|PHOTO)/gm)).toHaveLength(2);
  });

  test('a wrong password is told from a store that is gone', async () => {
    const refused = openContactReader({
      settings: settings(server.url),
      credentials: { email: 'alice@legacy.example', password: 'wrong' },
    });
    await expect(refused.survey(new AbortController().signal)).rejects.toMatchObject({
      fault: 'authentication',
      account: 'source',
    });
    const pauses: number[] = [];
    const gone = openContactReader({
      settings: settings('http://127.0.0.1:9/'),
      credentials: credentials('alice@legacy.example'),
      sleep: async (milliseconds) => void pauses.push(milliseconds),
    });
    await expect(gone.survey(new AbortController().signal)).rejects.toMatchObject({ fault: 'unavailable' });
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 16_000]);
  });

  test(
    'a copy killed at any moment is completed by the next, with nobody lost or doubled',
    { tags: 'proof' },
    async () => {
      const { book: source } = await newUser('many');
      for (let at = 0; at < 40; at += 1)
        await server.put(
          source,
          'many',
          `${at}.vcf`,
          card(`uid ${at}`, `FN:Person ${at}`, 'N:;;;;', 'EMAIL:a@example.com'),
        );
      const { user } = await newUser();
      for (const steps of [2, 4, 6]) {
        const program = fileURLToPath(new URL('../support/copy-contacts.ts', import.meta.url));
        const child = spawn(process.execPath, [program, server.url, 'many', user], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        const exit = once(child, 'exit');
        let seen = 0;
        for await (const _ of createInterface(child.stdout)) {
          seen += 1;
          if (seen === steps) child.kill('SIGKILL');
        }
        expect(await exit).toEqual([null, 'SIGKILL']);
      }
      const before = (await server.cards(user, 'book')).length;
      expect(before).toBeLessThan(40);
      // A card that was under way at the last kill may have arrived since.
      const { written, present, ...rest } = await copy(user, 'many');
      expect(rest).toMatchObject({ skipped: [], lost: 0 });
      expect(written + present).toBe(40);
      expect(present).toBeGreaterThanOrEqual(before);
      const uids = (await server.cards(user, 'book')).map((text) => /^UID:(.*)\r$/m.exec(text)?.[1]);
      expect(uids).toHaveLength(40);
      expect(new Set(uids)).toEqual(new Set(Array.from({ length: 40 }, (_, at) => `uid ${at}`)));
    },
  );
});
