import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Contact } from '../../src/server/contacts/contact.ts';
import type { ContactWriter, ExistingContact } from '../../src/server/contacts/contact-store.ts';
import { fillingFor } from '../../src/server/contacts/fill.ts';
import { derivedUid, MatchIndex } from '../../src/server/contacts/matching.ts';
import { copyInto } from '../support/contacts-copy.ts';
import { contact, person, readerOf, BLANK } from '../support/contact-samples.ts';

type Fields = {
  readonly uid?: string;
  readonly names?: string[];
  readonly emails?: string[];
  readonly phones?: string[];
};
function existing(id: string, { uid = '', names = [], emails = [], phones = [] }: Fields): ExistingContact {
  return { id, uid, contact: person('', names[0] ?? '', emails, phones) };
}
function matchOf(theirs: readonly ExistingContact[], ours: Contact, sourceUids: readonly string[] = []) {
  const index = new MatchIndex(new Set([ours.uid, ...sourceUids]));
  for (const one of theirs) index.add(one);
  return index.claim(ours)?.existing.id ?? null;
}

/** Milliseconds of this process's own work for twenty claims, where so many are like the contact. */
function costAmong(count: number): number {
  const index = new MatchIndex(new Set());
  for (let at = 0; at < count; at += 1)
    index.add(existing(`${at}`, { names: ['Ann Lee'], phones: ['555 123 4567'], emails: [`ann${at}@b.example`] }));
  const before = process.cpuUsage();
  for (let at = 0; at < 20; at += 1) index.claim(person('', 'Ann Lee', ['ann@c.example'], ['555 123 4567']));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** A destination that keeps what it is given; without UIDs it is one that makes its own. */
function store(keepsUids: boolean): ContactWriter & { readonly held: ExistingContact[] } {
  const held: ExistingContact[] = [];
  return {
    held,
    batchSize: 3,
    notesOn: () => [],
    async *existing() {
      yield* held;
    },
    async write(contacts) {
      return contacts.map((contact) => {
        held.push({
          id: String(held.length),
          uid: keepsUids ? contact.uid : `theirs-${held.length}`,
          contact: { ...contact, uid: '' },
        });
        return { outcome: 'written', notes: [], stays: [] };
      });
    },
    async fill({ id }, contact) {
      const at = held.findIndex((one) => one.id === id);
      const there = held[at];
      if (there === undefined) return { outcome: 'gone' };
      const { add, added, stays } = fillingFor(there, contact);
      held[at] = { ...there, contact: { ...there.contact, phones: [...there.contact.phones, ...add.phones] } };
      return { outcome: added.length === 0 ? 'whole' : 'filled', notes: [], stays };
    },
    group: async () => [],
  };
}
const copy = (contacts: readonly Contact[], writer: ContactWriter) =>
  copyInto({ reader: readerOf(contacts), writer, signal: new AbortController().signal });

describe('a source contact', () => {
  test.each([
    ['1-800-FLOWERS', 'x'],
    ['1-800-GOFEDEX', null],
  ])('with a number in letters is matched by those: %s', (phone, match) => {
    const theirs = existing('x', { names: ['Jane Doe'], phones: ['1-800-flowers'] });
    expect(matchOf([theirs], person('a', 'Jane Doe', [], [phone]))).toBe(match);
  });

  test.each([
    ['the same address in another case', existing('x', { names: ['Jane Doe'], emails: ['JANE@Example.com'] })],
    ['the name in another order', existing('x', { names: ['Doe, Jane'], emails: ['jane@example.com'] })],
    ['the address and no name', existing('x', { emails: ['jane@example.com'] })],
    [
      'the address in the place of the name',
      existing('x', { names: ['jane@example.com'], emails: ['jane@example.com'] }),
    ],
    ['the number and the name', existing('x', { names: ['jane doe'], phones: ['(650) 555-0100'] })],
    ['its UID and nothing else', existing('x', { uid: 'jane', names: ['Renamed'] })],
  ])('is matched with one that has %s', (_, theirs) => {
    expect(matchOf([theirs], person('jane', 'Jane Doe', ['jane@example.com'], ['+1 650 555 0100']))).toBe('x');
  });

  test.each([
    ['the address under another name', existing('x', { names: ['John Doe'], emails: ['jane@example.com'] })],
    ['the number under another name', existing('x', { names: ['John Doe'], phones: ['6505550100'] })],
    ['the number and no name', existing('x', { phones: ['6505550100'] })],
    ['the name alone', existing('x', { names: ['Jane Doe'] })],
    ['nothing at all', existing('x', {})],
  ])('is not matched with one that has %s', (_, theirs) => {
    expect(matchOf([theirs], person('jane', 'Jane Doe', ['jane@example.com'], ['+1 650 555 0100']))).toBeNull();
  });

  test('with a name alone is matched by it only with one that has no more', () => {
    const bare = contact({ uid: 'a', name: { ...BLANK.name, formatted: 'Jane' } });
    expect(matchOf([existing('x', { names: ['jane'] })], bare)).toBe('x');
    expect(matchOf([existing('x', { names: ['jane'], phones: ['6505550100'] })], bare)).toBeNull();
  });

  test('without a name or anything is matched with none', () => {
    expect(matchOf([existing('x', { names: [''] })], contact({ uid: 'a' }))).toBeNull();
  });

  test('gets the one of several that has most in common', () => {
    const theirs = [
      existing('address', { emails: ['jane@example.com'] }),
      existing('all', { names: ['Jane'], emails: ['jane@example.com'], phones: ['6505550100'] }),
      existing('name', { names: ['Jane'], emails: ['jane@example.com'] }),
    ];
    expect(matchOf(theirs, person('jane', 'Jane', ['jane@example.com'], ['6505550100']))).toBe('all');
  });

  test('is matched by its number and name among thousands that have the name alone', () => {
    const theirs = Array.from({ length: 5000 }, (_, at) =>
      existing(`${at}`, { names: ['Reception'], phones: [`650555${at + 1000}`] }),
    );
    expect(matchOf(theirs, person('a', 'Reception', [], ['6505555999']))).toBe('4999');
  });

  test('is compared with some of thousands that are like it, so that others are not kept waiting', () => {
    const few = Math.min(costAmong(2000), costAmong(2000));
    expect(Math.min(costAmong(20_000), costAmong(20_000))).toBeLessThan(4 * few + 50);
  });

  test('does not get one that another contact of the source has got', () => {
    const ours = ['ann-1', 'ann-2', 'ann-3'].map((uid) => ({ ...person('', 'Ann Lee', ['ann@home.example']), uid }));
    const index = new MatchIndex(new Set(ours.map(({ uid }) => uid)));
    for (const id of ['one', 'other']) index.add(existing(id, { names: ['Ann Lee'], emails: ['ann@home.example'] }));
    expect(ours.map((each) => index.claim(each)?.existing.id)).toEqual(['one', 'other', undefined]);
  });

  test('does not get one that was written for another contact of the source', () => {
    const theirs = existing('x', { uid: 'twin', names: ['Jane'], emails: ['jane@example.com'] });
    expect(matchOf([theirs], person('jane', 'Jane', ['jane@example.com']), ['twin'])).toBeNull();
    expect(matchOf([theirs], person('jane', 'Jane', ['jane@example.com']))).toBe('x');
  });
});

describe('a copy', () => {
  // Few values, so that people share names, addresses and numbers in every way.
  const crowd = fc
    .array(
      fc.record({
        name: fc.constantFrom('', 'Ann', 'Bob', 'ann'),
        emails: fc.uniqueArray(fc.constantFrom('a@example.com', 'b@example.com', 'A@example.com'), { maxLength: 2 }),
        phones: fc.uniqueArray(fc.constantFrom('6505550100', '+1 650 555 0100', '7'), { maxLength: 2 }),
      }),
      { maxLength: 12 },
    )
    .map((people) => people.map(({ name, emails, phones }, at) => person(`uid-${at}`, name, emails, phones)));

  test('into an empty destination brings everybody, and a second one nobody', async () => {
    await fc.assert(
      fc.asyncProperty(crowd, async (people) => {
        const writer = store(true);
        expect(await copy(people, writer)).toMatchObject({ written: people.length, present: 0 });
        expect(await copy(people, writer)).toMatchObject({ written: 0, present: people.length });
      }),
      { numRuns: 200 },
    );
  });

  test('of a contact that was there twice under its own UID tells of no duplicate', async () => {
    const writer = store(true);
    const ann = person('ann', 'Ann', ['ann@example.com']);
    for (const id of ['mine', 'mine, in another book'])
      writer.held.push({ id, uid: 'ann', contact: { ...ann, uid: '' } });
    expect(await copy([ann], writer)).toMatchObject({ present: 1, lost: 0, duplicated: 0 });
  });

  test('that ends anywhere is completed by the next, with nobody lost or doubled', async () => {
    await fc.assert(
      fc.asyncProperty(crowd, fc.nat(12), async (people, ends) => {
        const writer = store(true);
        const controller = new AbortController();
        const first = copyInto({
          reader: readerOf(people),
          writer,
          signal: controller.signal,
          onProgress: ({ done }) => {
            if (done >= ends) controller.abort(new Error('killed'));
          },
        });
        await Promise.allSettled([first]);
        await copy(people, writer);
        expect(writer.held.map(({ uid }) => uid).toSorted()).toEqual(people.map(({ uid }) => uid).toSorted());
      }),
      { numRuns: 200 },
    );
  });

  test('into a destination that makes its own UIDs adds nobody the second time who has a name or an address', async () => {
    const known = crowd.map((people) =>
      people.filter(({ name, emails, phones }) => emails.length > 0 || (name.formatted !== '' && phones.length > 0)),
    );
    await fc.assert(
      fc.asyncProperty(known, async (people) => {
        const writer = store(false);
        expect(await copy(people, writer)).toMatchObject({ lost: 0, duplicated: 0 });
        expect(writer.held).toHaveLength(people.length);
        await copy(people, writer);
        expect(writer.held).toHaveLength(people.length);
      }),
      { numRuns: 200 },
    );
  });

  test('of a contact that is changed meanwhile adds to it, and misses none, though its UID is another there', async () => {
    const writer = store(false);
    const jane = person('jane', 'Jane Roe', ['jane@example.com']);
    const married = person('jane', 'Jane Doe', ['jane@example.com'], ['+1 650 555 0100']);
    const bob = person('bob', 'Bob', ['bob@example.com']);
    expect(await copy([jane, bob, married], writer)).toMatchObject({ written: 2, lost: 0, duplicated: 0, changed: 0 });
    expect(writer.held.map((one) => one.contact.phones.length)).toEqual([1, 0]);
  });

  test('tells of progress that never falls and ends at the total', async () => {
    const seen: { total: number; done: number }[] = [];
    const people = Array.from({ length: 10 }, (_, at) => person(`u${at}`, `P ${at}`, []));
    await copyInto({
      reader: readerOf(people),
      writer: store(true),
      signal: new AbortController().signal,
      onProgress: (progress) => seen.push(progress),
    });
    expect(seen.map(({ done }) => done)).toEqual([0, 3, 6, 9, 10, 10]);
    expect(new Set(seen.map(({ total }) => total))).toEqual(new Set([10]));
  });
});

test('a derived UID is a UUID of version 8, and the same in every run', () => {
  expect(derivedUid('a', 'b')).toBe(derivedUid('a', 'b'));
  expect(derivedUid('a', 'b')).not.toBe(derivedUid('ab'));
  expect(derivedUid('a')).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});
