import { expect, test, vi } from 'vitest';
import { mapMailboxes } from '../../src/server/mail/copy/mailboxes/mapping.ts';
import type { Mailbox } from '../../src/server/mail/imap/mailbox.ts';
import { mailboxName } from '../../src/server/mail/imap/wire/mailbox-name.ts';

const box = (path: string, specialUse?: string, delimiter = '/'): Mailbox => ({
  path,
  delimiter,
  ...(specialUse === undefined ? {} : { specialUse }),
});
const slash = { prefix: '', delimiter: '/' };

function cyrillic(length: number): string {
  return 'Письма'.repeat(30).slice(0, length);
}

function placesOf(source: Mailbox[], destination: Mailbox[] = [box('INBOX', '\\Inbox')], namespace = slash) {
  return Object.fromEntries(
    mapMailboxes(source, destination, namespace).mailboxes.map((each) => [each.source.path, each.destination]),
  );
}

test('a name with quotes, a backslash or an emoji stays as it is, and has a plainer one for a server that refuses it', () => {
  const name = 'Aunt "Rosie" \\ 👩‍👧 & Co.';
  const [mapped] = mapMailboxes([box(name)], [box('INBOX', '\\Inbox')], slash).mailboxes;
  expect(mapped).toEqual({
    source: box(name),
    destination: name,
    create: true,
    plainer: 'Aunt _Rosie_ _ ___ _ Co.',
    plainest: 'Aunt _Rosie_ _ ___ _ Co_',
    numbered: 'Aunt _Rosie_ _ ___ _ Co. (2)',
  });
});

test('a mailbox that a program has made of the inbox’s name in Turkish is no inbox, nor is what is below it', () => {
  const inbox = box('INBOX', '\\Inbox', '.');
  expect(placesOf([inbox, box('\u0131nbox', undefined, '.')])).toEqual({ INBOX: 'INBOX', '\u0131nbox': '\u0131nbox' });
  expect(placesOf([inbox, box('\u0131nbox.Work', undefined, '.')])).toMatchObject({
    '\u0131nbox.Work': '\u0131nbox/Work',
  });
  expect(placesOf([inbox, box('Inbox.Work', undefined, '.')])).toMatchObject({ 'Inbox.Work': 'Work' });
});

test('accounts of thousands of mailboxes are mapped at once', () => {
  const source = Array.from({ length: 6000 }, (_, at) => box(`Customers/${at}`));
  const destination = Array.from({ length: 6000 }, (_, at) => box(`Years/${at}`));
  using folded = vi.spyOn(String.prototype, 'normalize');
  expect(mapMailboxes(source, destination, slash).mailboxes).toHaveLength(6000);
  // Each name a few times, and not against every other.
  expect(folded.mock.calls.length).toBeLessThan(20 * 6000);
});

test.each([
  ['longer than a part may be', (at: number) => `${'x'.repeat(80)}${at}`],
  ['the same but for their letters’ case', (at: number) => caseOf('neighbourhood', at)],
])('so are thousands of names that are %s', (_, nameOf) => {
  const source = Array.from({ length: 6000 }, (_row, at) => box(nameOf(at)));
  using folded = vi.spyOn(String.prototype, 'normalize');
  const places = Object.values(placesOf(source));
  expect(new Set(places.map((path) => path.toLowerCase())).size).toBe(6000);
  expect(folded.mock.calls.length).toBeLessThan(30 * 6000);
});

/** The word with some letters in upper case, by the bits of a number. */
function caseOf(word: string, bits: number): string {
  return Array.from(word, (letter, at) => ((bits >> at) & 1 ? letter.toUpperCase() : letter)).join('');
}

test('a name that takes more than servers allow has a shorter one, below the same names as long as there is room', () => {
  const source = [
    box(`Work/${cyrillic(45)}/${cyrillic(50)} 1`),
    box(`Work/${cyrillic(45)}/${cyrillic(50)} 2`),
    box(`${cyrillic(80)}/${cyrillic(80)}/2004`),
    box(`${'a'.repeat(80)}/${'b'.repeat(80)}`),
  ];
  const { mailboxes } = mapMailboxes(source, [], { prefix: 'INBOX/', delimiter: '/' });
  expect(mailboxes.map(({ plainer, plainest }) => (plainest === plainer ? 'as it is' : plainest)).toSorted()).toEqual([
    `INBOX/Work/${cyrillic(45)}/${cyrillic(24)}`,
    `INBOX/Work/${cyrillic(45)}/${cyrillic(24)} (2)`,
    `INBOX/${cyrillic(22)}/${cyrillic(22)}/2004`,
    'as it is',
  ]);
  for (const { destination, plainest } of mailboxes) {
    expect(destination.length).toBeGreaterThan(90);
    expect(mailboxName(plainest).length).toBeLessThan(225);
  }
});

test('a name with dots, as dates and domains have, has one without for a server whose names of files have them for all else', () => {
  const source = [box('Dr. Smith'), box('shop.example/2004.05'), box('.../x'), box('Dr_ Smith')];
  const { mailboxes } = mapMailboxes(source, [], slash);
  expect(mailboxes.map(({ destination, plainer, plainest }) => [destination, plainer, plainest])).toEqual([
    ['.../x', '.../x', '___/x'],
    ['Dr. Smith', 'Dr. Smith', 'Dr_ Smith (2)'],
    ['Dr_ Smith', 'Dr_ Smith', 'Dr_ Smith'],
    ['shop.example/2004.05', 'shop.example/2004.05', 'shop_example/2004_05'],
  ]);
});

test('what Cyrus takes in no name is not in the plainer one', () => {
  const source = [box('`{a}`; b', undefined, '.'), box('x/y', undefined, '.')];
  const { mailboxes } = mapMailboxes(source, [], { prefix: 'INBOX.', delimiter: '.' });
  expect(mailboxes.map(({ destination, plainer }) => [destination, plainer])).toEqual([
    ['INBOX.`{a}`; b', 'INBOX.__a___ b'],
    ['INBOX.x/y', 'INBOX.x_y'],
  ]);
});

test('what lies below the inbox has a name beside it, for a server that has nothing below its own', () => {
  const source = [box('INBOX', '\\Inbox'), box('INBOX/Work'), box('INBOX/Old/2004'), box('Work')];
  const { mailboxes } = mapMailboxes(source, [box('INBOX', '\\Inbox')], slash);
  expect(Object.fromEntries(mailboxes.map(({ destination, plainer }) => [destination, plainer]))).toEqual({
    INBOX: 'INBOX',
    'INBOX/Work': 'Work (2)',
    'INBOX/Old/2004': 'Old/2004',
    Work: 'Work',
  });
});

test('a plain name is asked for as it is a second time, below a prefix and behind another one of its spelling, too', () => {
  const source = [box('Work'), box('WORK')];
  const { mailboxes } = mapMailboxes(source, [box('INBOX', '\\Inbox')], { prefix: 'INBOX.', delimiter: '.' });
  expect(mailboxes.map(({ destination, plainer }) => [destination, plainer])).toEqual([
    ['INBOX.WORK', 'INBOX.WORK'],
    ['INBOX.Work (2)', 'INBOX.Work (2)'],
  ]);
});

test('a role goes to the mailbox that the destination has for it, and a second one of that role keeps its name', () => {
  expect(
    placesOf(
      [box('Drafts', '\\Drafts'), box('Old Drafts', '\\Drafts')],
      [box('INBOX', '\\Inbox'), box('Draft', '\\Drafts')],
    ),
  ).toEqual({ Drafts: 'Draft', 'Old Drafts': 'Old Drafts' });
});

test('levels are joined by the delimiter of the destination, and its delimiter within a level is replaced', () => {
  expect(placesOf([box('Bills/2021.05')], [box('INBOX', '\\Inbox')], { prefix: 'INBOX.', delimiter: '.' })).toEqual({
    'Bills/2021.05': 'INBOX.Bills.2021_05',
  });
});

test('wildcards and control characters never reach the destination', () => {
  expect(placesOf([box('a*b%c\u0007d')])).toEqual({ 'a*b%c\u0007d': 'a_b_c_d' });
});

test('nor do halves of surrogate pairs, which the ledger can not hold', () => {
  expect(placesOf([box('a \u{D800}'), box('a \u{D801}'), box('a \u{1F469}')])).toEqual({
    'a \u{D800}': 'a _',
    'a \u{D801}': 'a _ (2)',
    'a \u{1F469}': 'a \u{1F469}',
  });
});

test('names that a server might take for the same stay apart', () => {
  const places = placesOf([box('Work'), box('WORK'), box('work')]);
  expect(new Set(Object.values(places).map((path) => path.toLowerCase())).size).toBe(3);
});

test("Gmail's views of messages that lie elsewhere are left out", () => {
  const { mailboxes, left } = mapMailboxes(
    [box('INBOX', '\\Inbox'), box('[Gmail]/All Mail', '\\All'), box('[Gmail]/Sent Mail', '\\Sent')],
    [box('INBOX', '\\Inbox'), box('Sent', '\\Sent')],
    slash,
  );
  expect(mailboxes.map((each) => each.destination)).toEqual(['INBOX', 'Sent']);
  expect(left.map((mailbox) => mailbox.path)).toEqual(['[Gmail]/All Mail']);
});

test('a source that keeps everything below the inbox loses that level, and its inbox stays the inbox', () => {
  const source = [
    box('INBOX', '\\Inbox', '.'),
    box('INBOX.Work', undefined, '.'),
    box('INBOX.Work.2004', undefined, '.'),
  ];
  expect(placesOf(source)).toEqual({ INBOX: 'INBOX', 'INBOX.Work': 'Work', 'INBOX.Work.2004': 'Work/2004' });
});

test('what was decided in an earlier run stays decided, whatever the destination looks like by now', () => {
  const source = [box('Work'), box('work')];
  const first = mapMailboxes(source, [box('INBOX', '\\Inbox')], slash).mailboxes;
  const earlier = new Map(first.map((each) => [each.source.path, each.destination]));
  const now = [box('INBOX', '\\Inbox'), ...first.map((each) => box(each.destination)), box('Work (3)')];
  const second = mapMailboxes(source.toReversed(), now, slash, earlier).mailboxes;
  expect(new Map(second.map((each) => [each.source.path, each.destination]))).toEqual(earlier);
  expect(new Set(earlier.values()).size).toBe(2);
  expect(second.every((each) => !each.create)).toBe(true);
});

test('nothing goes into folders of the destination’s own that show no mail, nor below them', () => {
  const source = [box('INBOX', '\\Inbox'), box('Notes'), box('notes/Work'), box('Letters/Notes'), box('Notes (2)')];
  const destination = [box('INBOX', '\\Inbox'), box('Notes'), box('Calendar')];
  const { mailboxes } = mapMailboxes(source, destination, slash, new Map(), ['calendar', 'notes']);
  const paths = Object.fromEntries(mailboxes.map((each) => [each.source.path, each.destination]));
  expect(paths).toEqual({
    INBOX: 'INBOX',
    Notes: 'Notes (2)',
    'notes/Work': 'notes (2)/Work',
    'Letters/Notes': 'Letters/Notes',
    'Notes (2)': 'Notes (2) (2)',
  });
  const before = new Map([['Notes', 'Notes']]);
  const again = mapMailboxes([box('Notes')], destination, slash, before, ['notes']);
  expect(again.mailboxes).toMatchObject([{ destination: 'Notes', create: false }]);
});
