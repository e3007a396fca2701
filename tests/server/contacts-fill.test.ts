import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as v from 'valibot';
import type { Contact } from '../../src/server/contacts/contact.ts';
import { readSettings } from '../../src/contract/settings.ts';
import type { ExistingContact } from '../../src/server/contacts/contact-store.ts';
import { copyContacts } from '../../src/server/contacts/copy-contacts.ts';
import { googleCells } from '../../src/server/contacts/csv/google-csv.ts';
import { outlookCells, outlookComCells } from '../../src/server/contacts/csv/outlook-csv.ts';
import { contactCounts, contactRemarks, openContactFates } from '../../src/server/contacts/fates-table.ts';
import { fillingFor, missingItems } from '../../src/server/contacts/fill.ts';
import * as google from '../../src/server/contacts/google/google-person.ts';
import * as microsoft from '../../src/server/contacts/microsoft/graph-contact.ts';
import { openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { itemsOf } from '../../src/server/contacts/parts.ts';
import type { Database } from '../../src/server/store/database.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { anyContact, contact, person, readerOf, BLANK } from '../support/contact-samples.ts';
import { copyInto, MemoryFates } from '../support/contacts-copy.ts';
import { GraphApi } from '../support/graph-api.ts';
import { PeopleApi } from '../support/people-api.ts';
import { faultsAt, startApi, type ApiAnswer, type Fault, type ScriptedApi } from '../support/scripted-api.ts';

const SIGNAL = new AbortController().signal;
const breaksAtPhoto: Fault = ({ method, url }) =>
  method !== 'GET' && /updateContactPhoto$|photo\/\$value$/.test(url.pathname) ? 'cut' : null;
const ROSE = contact({
  uid: 'rose',
  name: { ...BLANK.name, formatted: 'Rose Hill', given: 'Rose', family: 'Hill' },
  nickname: 'Rosie',
  emails: [
    { label: 'home', value: 'rose@example.com' },
    { label: 'work', value: 'rose@work.example' },
  ],
  phones: [{ label: 'mobile', value: '+1 650 555 0100' }],
  addresses: [
    {
      label: 'home',
      value: {
        poBox: '',
        extended: '',
        street: '1 Main St',
        city: 'San Bruno',
        region: 'CA',
        postalCode: '94066',
        country: 'USA',
      },
    },
  ],
  organization: { name: 'Acme', department: 'Sales', title: 'Head' },
  otherOrganizations: [{ name: 'Choir', department: '', title: 'Alto' }],
  role: 'Singer',
  birthday: '1950-04-13',
  dates: [{ label: 'anniversary', value: '1975-06-01' }],
  messengers: [{ label: 'skype', value: 'rose.hill' }],
  relations: [
    { label: 'spouse', value: 'Bill Hill' },
    { label: 'child', value: 'Ann Hill' },
  ],
  gender: 'female',
  notes: 'likes tea',
  groups: ['Choir'],
  more: [{ label: 'hobby', value: 'chess' }],
  photo: { mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) },
});

describe.each(['google', 'office365'] as const)('a contact that is at %s already', (provider) => {
  let people: PeopleApi;
  let graph: GraphApi;
  let api: ScriptedApi;
  beforeEach(async () => {
    people = new PeopleApi('token');
    graph = new GraphApi('token');
    api = await startApi(provider === 'google' ? people.answer : graph.answer);
    graph.base = `${api.url}/v1.0`;
  });
  afterEach(async () => api[Symbol.asyncDispose]());

  const writer = (pauses: number[] = []) =>
    openContactWriter(provider, {
      settings: readSettings({
        SANDBOX: 'on',
        GOOGLE_CONTACTS_URL: api.url,
        OFFICE365_CONTACTS_URL: `${api.url}/v1.0`,
      }),
      credentials: { email: 'rose@example.com', accessToken: async () => 'token' },
      sleep: async (milliseconds) => void pauses.push(milliseconds),
    });
  const copy = (contacts: readonly Contact[]) =>
    copyInto({ reader: readerOf(contacts), writer: writer(), signal: SIGNAL });
  const putTheirs = () => {
    if (provider === 'google')
      people.add({
        names: [{ givenName: 'Rose', familyName: 'Hill' }],
        emailAddresses: [{ value: 'ROSE@example.com', type: 'private' }],
        birthdays: [{ date: { year: 1951, month: 1, day: 2 } }],
        biographies: [{ value: 'owes me a book' }],
        memberships: [{ contactGroupMembership: { contactGroupResourceName: 'contactGroups/myContacts' } }],
      });
    else
      graph.add({
        displayName: 'Rose Hill',
        givenName: 'Rose',
        surname: 'Hill',
        emailAddresses: [{ address: 'ROSE@example.com', name: 'her' }],
        birthday: '1951-01-02T11:59:00Z',
        personalNotes: 'owes me a book',
      });
  };
  const stored = () => JSON.stringify([...(provider === 'google' ? people.people : graph.contacts).values()]);
  const changed = provider === 'google' ? ':updateContact' : '';
  const failsToFill: Fault = ({ method, url }) =>
    method === 'PATCH' && url.pathname.endsWith(changed) ? { status: 500, json: {} } : null;

  test('gets all that it lacks, keeps all that it has, and what is left out is reported', async () => {
    putTheirs();
    expect(await copy([ROSE])).toMatchObject({ written: 0, completed: 1, lost: 0, changed: 0 });
    const now = stored();
    for (const own of ['ROSE@example.com', '1951', 'owes me a book']) expect(now).toContain(own);
    for (const ours of [
      'rose@work.example',
      '555 0100',
      '1 Main St',
      'Acme',
      'Alto',
      'likes tea',
      'rose.hill',
      'chess',
    ])
      expect(now).toContain(ours);
    for (const ours of ['Bill Hill', 'Ann Hill', 'Rosie', 'Singer']) expect(now).toContain(ours);
    expect(now).not.toContain('1950');
    expect((provider === 'google' ? people.photos : graph.photos).size).toBe(1);
    const again = await copy([ROSE]);
    expect(again).toMatchObject({ written: 0, completed: 0, present: 1, changed: 0 });
    expect(again.notes).toEqual([
      { contact: 'Rose Hill', note: 'Not added, because something else is there: birthday.' },
    ]);
    expect(stored()).toBe(now);
  });

  test('is filled after all when somebody changes it at the same time', async () => {
    putTheirs();
    const conflict: ApiAnswer =
      provider === 'google'
        ? { status: 400, json: { error: { code: 400, status: 'FAILED_PRECONDITION' } } }
        : { status: 412, json: { error: { code: 'ErrorIrresolvableConflict' } } };
    let conflicts = 0;
    const onPatch = ({ method, url }: { method: string; url: URL }) => {
      if (method !== 'PATCH' || !url.pathname.endsWith(changed)) return null;
      conflicts += 1;
      return conflict;
    };
    api.faults.push(onPatch, onPatch);
    expect(await copy([ROSE])).toMatchObject({ completed: 1, changed: 0 });
    expect(conflicts).toBeGreaterThan(0);
    expect(stored()).toContain('rose@work.example');
  });

  test('and is changed each time that it is to be filled keeps no other from arriving, and is told', async () => {
    putTheirs();
    const status = provider === 'google' ? 400 : 412;
    const code = provider === 'google' ? 'FAILED_PRECONDITION' : 'ErrorIrresolvableConflict';
    const conflict: Fault = ({ method, url }) =>
      method === 'PATCH' && url.pathname.endsWith(changed)
        ? { status, json: { error: { code: provider === 'google' ? status : code, status: code } } }
        : null;
    api.faults.push(...Array.from({ length: 99 }, () => conflict));
    // A second one that can't be changed either comes right after it.
    putTheirs();
    const twin = { ...ROSE, uid: 'twin' };
    const copied = await copy([ANN, ROSE, twin, ZOE]);
    expect(copied).toMatchObject({ total: 4, written: 2, present: 2, lost: 0, duplicated: 0, changed: 0 });
    const refused = 'Your new address book refused to add details to this contact (412).';
    expect(copied.notes.filter(({ note }) => note === refused)).toHaveLength(2);
    expect(stored()).not.toContain('rose@work.example');
  });

  const ANN = person('ann', 'Ann', ['ann@example.com']);
  const ZOE = person('zoe', 'Zoe', ['zoe@example.com']);
  const held = () => (provider === 'google' ? people.people : graph.contacts);

  test('and whose new details are refused is left unchanged and reported, and the others arrive', async () => {
    putTheirs();
    const bad = { ...ROSE, emails: [...ROSE.emails, { label: 'home', value: 'no address' }] };
    const copied = await copy([ANN, bad, ZOE]);
    expect(copied).toMatchObject({ total: 3, written: 2, lost: 0, changed: 0 });
    const refused = 'Your new address book refused to add details to this contact (400).';
    expect(copied.notes).toContainEqual({ contact: 'Rose Hill', note: refused });
    expect(held().size).toBe(3);
    expect(stored()).not.toContain('rose@work.example');
  });

  test('and is deleted while it is being completed is written again', async () => {
    putTheirs();
    const deleted = [...held().keys()];
    api.faults.push(({ method, url }) => {
      if (method !== 'PATCH' || !url.pathname.endsWith(changed)) return null;
      for (const id of deleted) held().delete(id);
      return { status: 404, json: {} };
    });
    expect(await copy([ANN, ROSE, ZOE])).toMatchObject({ total: 3, written: 3, lost: 0, changed: 0 });
    expect(held().size).toBe(3);
  });

  test('and on which the destination fails every time keeps no other from arriving, nor do two in a row', async () => {
    const crowd = Array.from({ length: 9 }, (_, at) => person(`u${at}`, `Person ${at}`, []));
    const batches = provider === 'google' ? ':batchCreateContacts' : '$batch';
    const failing: Fault = ({ url, bytes }) =>
      url.pathname.endsWith(batches) && /Person [34]/.test(bytes.toString()) ? { status: 500, json: {} } : null;
    api.faults.push(...Array.from({ length: 99 }, () => failing));
    const copied = await copy(crowd);
    expect(copied).toMatchObject({ total: 9, written: 7, lost: 0, duplicated: 0 });
    expect(copied.skipped).toMatchObject([{ subject: 'Person 3' }, { subject: 'Person 4' }]);
    expect(held().size).toBe(7);
  });

  test('and on whose details the destination fails every time is left unchanged and reported, and the others arrive', async () => {
    putTheirs();
    api.faults.push(...Array.from({ length: 99 }, () => failsToFill));
    const fates = new MemoryFates();
    const all = { reader: readerOf([ANN, ROSE, ZOE]), signal: SIGNAL };
    const copied = await copyInto({ ...all, writer: writer() }, fates);
    expect(copied).toMatchObject({ total: 3, written: 2, present: 1, lost: 0, duplicated: 0, changed: 0 });
    const refused = 'Your new address book refused to add details to this contact (500).';
    expect(copied.notes).toContainEqual({ contact: 'Rose Hill', note: refused });
    expect(held().size).toBe(3);
    expect(stored()).not.toContain('rose@work.example');
    // Where nothing else was to be done, it may be the destination, and is tried again.
    await expect(copy([ROSE])).rejects.toMatchObject({ fault: 'unavailable', status: 500 });
  });

  test('and on which the destination fails while it is changed is there once, and what it lacks is told', async () => {
    putTheirs();
    api.faults.push(...Array.from({ length: 99 }, () => failsToFill));
    const changed = { ...ROSE, nickname: 'Rosalind' };
    const copied = await copy([ANN, ROSE, ZOE, changed]);
    expect(copied).toMatchObject({ total: 3, written: 2, present: 1, lost: 0, duplicated: 0, changed: 0 });
    expect(held().size).toBe(3);
  });

  test('and on which it fails, as on many others, is told once others have arrived, though the copy is killed then', async () => {
    const crowd = Array.from({ length: 24 }, (_, at) => person(`u${at}`, `Person ${at}.`, []));
    const batches = provider === 'google' ? ':batchCreateContacts' : '$batch';
    const failing: Fault = ({ url, bytes }) =>
      url.pathname.endsWith(batches) && /Person \d*[13579]\./.test(bytes.toString()) ? { status: 500, json: {} } : null;
    api.faults.push(...Array.from({ length: 999 }, () => failing));
    const fates = new MemoryFates();
    const killed = {
      ...readerOf(crowd),
      async *contacts(signal: AbortSignal) {
        yield* readerOf(crowd).contacts(signal);
        const group = { uid: 'g', name: 'All', notes: '', members: ['u0'], strangers: [], vcard: '' };
        yield { kind: 'group' as const, group };
        throw new Error('killed');
      },
    };
    await expect(copyInto({ reader: killed, writer: writer(), signal: SIGNAL }, fates)).rejects.toThrow('killed');
    const all = { reader: readerOf([...crowd, ZOE]), writer: writer(), signal: SIGNAL };
    const copied = await copyInto(all, fates);
    expect(copied).toMatchObject({ total: 25, written: 13, lost: 0, duplicated: 0 });
    expect(copied.skipped).toHaveLength(12);
  });

  test('and at which the connection breaks every time keeps no other from arriving, and is told so', async () => {
    const crowd = Array.from({ length: 9 }, (_, at) => person(`u${at}`, `Person ${at}`, []));
    const batches = provider === 'google' ? ':batchCreateContacts' : '$batch';
    const breaking: Fault = ({ url, bytes }) =>
      url.pathname.endsWith(batches) && bytes.toString().includes('Person 3') ? 'cut' : null;
    api.faults.push(...Array.from({ length: 99 }, () => breaking));
    const copied = await copy(crowd);
    expect(copied).toMatchObject({ total: 9, written: 8, lost: 0, duplicated: 0 });
    expect(copied.skipped).toMatchObject([
      { subject: 'Person 3', reason: 'Your new address book broke off each time it was to take this contact.' },
    ]);
    expect(held().size).toBe(8);
  });

  test('and whose photo breaks the connection every time arrives without it, and that is told', async () => {
    api.faults.push(...Array.from({ length: 99 }, () => breaksAtPhoto));
    const copied = await copy([ROSE, ANN, ZOE]);
    expect(copied).toMatchObject({ total: 3, written: 3, lost: 0, duplicated: 0, changed: 0 });
    expect(copied.notes).toContainEqual({
      contact: 'Rose Hill',
      note: 'Your new address book broke off each time this contact was to get details.',
    });
  });

  test('and at which the connection breaks for no longer than a network may be away gets all that it lacks', async () => {
    putTheirs();
    api.faults.push(
      ...Array.from({ length: 6 }, (): Fault => (request) => (failsToFill(request) === null ? null : 'cut')),
    );
    expect(await copy([ROSE, ANN])).toMatchObject({ total: 2, completed: 1, written: 1, lost: 0, changed: 0 });
    expect(stored()).toContain('rose@work.example');
  });

  test('and at which the connection breaks, and never comes back, is left to the next run', async () => {
    putTheirs();
    let isGone = false;
    const goes: Fault = (request) => {
      isGone ||= failsToFill(request) !== null;
      return isGone ? 'cut' : null;
    };
    api.faults.push(...Array.from({ length: 99 }, () => goes));
    const fates = new MemoryFates();
    const all = { reader: readerOf([ANN, ZOE, ROSE]), writer: writer(), signal: SIGNAL };
    await expect(copyInto(all, fates)).rejects.toMatchObject({ fault: 'unavailable' });
    expect(fates.kept.get('rose')?.fate).toBe('intent');
    api.faults.length = 0;
    expect(await copyInto(all, fates)).toMatchObject({ total: 3, completed: 1, lost: 0, duplicated: 0 });
    expect(stored()).toContain('rose@work.example');
  });

  test('and all others on which it fails are left to the next run', async () => {
    const batches = provider === 'google' ? ':batchCreateContacts' : '$batch';
    const failing: Fault = ({ url }) => (url.pathname.endsWith(batches) ? { status: 500, json: {} } : null);
    api.faults.push(...Array.from({ length: 99 }, () => failing));
    await expect(copy([ANN, ZOE])).rejects.toMatchObject({ fault: 'unavailable', status: 500 });
    await expect(copy([ANN])).rejects.toMatchObject({ fault: 'unavailable', status: 500 });
    expect(held().size).toBe(0);
  });

  test('and one on which it fails is alone told as refused when a restart after the others fails for the last time', async () => {
    const fates = new MemoryFates();
    await copyInto({ reader: readerOf([ANN, ZOE]), writer: writer(), signal: SIGNAL }, fates);
    const batches = provider === 'google' ? ':batchCreateContacts' : '$batch';
    const failing: Fault = ({ url }) => (url.pathname.endsWith(batches) ? { status: 500, json: {} } : null);
    api.faults.push(...Array.from({ length: 99 }, () => failing));
    const again = (isLastTry: boolean, kept = fates) =>
      copyInto(
        { reader: readerOf([ANN, ZOE, ROSE]), writer: writer(), signal: SIGNAL, isLastTry: () => isLastTry },
        kept,
      );
    await expect(again(false)).rejects.toMatchObject({ fault: 'unavailable', status: 500 });
    expect(await again(true)).toMatchObject({ total: 3, written: 2, skipped: [{ subject: 'Rose Hill' }], lost: 0 });
    // So are several: that the first of them is told moves the copy on, and then it would not be the last try.
    const named = (uid: string) => ({ ...ROSE, uid, emails: [], name: { ...BLANK.name, formatted: uid, given: uid } });
    let done = 0;
    const both = await copyInto(
      {
        reader: readerOf([ANN, ZOE, ROSE, named('Tim'), named('Uta')]),
        writer: writer(),
        signal: SIGNAL,
        onProgress: (progress) => {
          ({ done } = progress);
        },
        isLastTry: () => done <= 3,
      },
      fates,
    );
    expect(both.skipped.map(({ subject }) => subject)).toEqual(['Rose Hill', 'Tim', 'Uta']);
    // Of a destination that has taken nothing at all, it is not known that it works.
    await expect(again(true, new MemoryFates())).rejects.toMatchObject({ fault: 'unavailable', status: 500 });
  });

  test('from a batch whose answer was lost, and is deleted before it is looked at, is written anew', async () => {
    api.faults.push(...faultsAt(provider === 'google' ? ':batchCreateContacts' : '$batch', 'drop'));
    api.faults.push(({ method, url }) => {
      const id = [...held().keys()].find((one) => decodeURIComponent(url.pathname).endsWith(one));
      if (method !== 'GET' || id === undefined) return null;
      setImmediate(() => held().delete(id));
      return { status: 404, json: {} };
    });
    const fates = new MemoryFates();
    const copied = await copyInto({ reader: readerOf([ANN, ROSE, ZOE]), writer: writer(), signal: SIGNAL }, fates);
    expect(api.faults).toHaveLength(0);
    expect(copied).toMatchObject({ total: 3, written: 3, lost: 0, duplicated: 0 });
    expect(held().size).toBe(3);
    expect(fates.count('intent')).toBe(0);
  });

  test('and is changed while it is read gets what is new, is counted so, and what stays out is said', async () => {
    putTheirs();
    await copy([ROSE]);
    const changed = {
      ...ROSE,
      nickname: 'Rosalind',
      emails: [...ROSE.emails, { label: 'home', value: 'rose@new.example' }],
    };
    // As the reader gives it, when its last look has found the card changed.
    const copied = await copy([ROSE, ANN, changed]);
    expect(copied).toMatchObject({ written: 1, completed: 1, present: 0, lost: 0, duplicated: 0, changed: 0 });
    expect(stored()).toContain('rose@new.example');
    expect(copied.notes.map(({ note }) => note)).toEqual([
      'Not added, because something else is there: birthday.',
      'Not added, because something else is there: nickname, birthday.',
    ]);
    expect(held().size).toBe(2);
  });

  test('loses nothing of the odd cards, in a copy and in the one after it', async () => {
    const pauses: number[] = [];
    expect(await copyInto({ reader: readerOf([ROSE]), writer: writer(pauses), signal: SIGNAL })).toMatchObject({
      written: 1,
      lost: 0,
      changed: 0,
      duplicated: 0,
    });
    const after = stored();
    expect(await copy([ROSE])).toMatchObject({ written: 0, present: 1, changed: 0 });
    expect(stored()).toBe(after);
    expect(pauses).toEqual([]);
  });
});

const refusal = (reason: string, status = 'PERMISSION_DENIED', headers: Record<string, string> = {}): ApiAnswer => ({
  status: 403,
  headers,
  json: { error: { code: 403, status, errors: [{ reason, message: 'about rose@example.com' }] } },
});

test('a photo is told as not taken where Microsoft does not say whether the contact has one', async () => {
  const graph = new GraphApi('token');
  await using api = await startApi(graph.answer);
  graph.base = `${api.url}/v1.0`;
  graph.add({ displayName: 'Rose Hill', emailAddresses: [{ address: 'rose@example.com' }] });
  const writer = openContactWriter('office365', {
    settings: readSettings({ SANDBOX: 'on', OFFICE365_CONTACTS_URL: graph.base }),
    credentials: { email: 'rose@example.com', accessToken: async () => 'token' },
    sleep: async () => {},
  });
  api.faults.push(({ method, url }) =>
    method === 'GET' && url.pathname.endsWith('/photo') ? { status: 501, json: {} } : null,
  );
  const copied = await copyInto({ reader: readerOf([ROSE]), writer, signal: SIGNAL });
  expect(api.faults).toHaveLength(0);
  expect(graph.photos.size).toBe(0);
  expect(copied.notes).toContainEqual({ contact: 'Rose Hill', note: 'The photo was not accepted there.' });
});

test('a job without a company at Microsoft stays as it is, and ours goes into the notes', async () => {
  const graph = new GraphApi('token');
  await using api = await startApi(graph.answer);
  graph.base = `${api.url}/v1.0`;
  graph.add({ displayName: 'Rose Hill', emailAddresses: [{ address: 'rose@example.com' }], jobTitle: 'Retired' });
  const writer = openContactWriter('office365', {
    settings: readSettings({ SANDBOX: 'on', OFFICE365_CONTACTS_URL: graph.base }),
    credentials: { email: 'rose@example.com', accessToken: async () => 'token' },
    sleep: async () => {},
  });
  const ours = { ...ROSE, otherOrganizations: [] };
  expect(await copyInto({ reader: readerOf([ours]), writer, signal: SIGNAL })).toMatchObject({
    completed: 1,
    changed: 0,
  });
  const [stored] = graph.contacts.values();
  expect(stored).toMatchObject({ jobTitle: 'Retired' });
  expect(stored?.['companyName']).toBeUndefined();
  expect(stored?.['personalNotes']).toContain('Job: Head, Sales, Acme');
});

describe('a refusal of Google', () => {
  let api: ScriptedApi;
  const pauses: number[] = [];
  const failures: unknown[] = [];
  beforeEach(async () => {
    api = await startApi(new PeopleApi('token').answer);
    pauses.length = failures.length = 0;
  });
  afterEach(async () => api[Symbol.asyncDispose]());
  const copy = () =>
    copyInto({
      reader: readerOf([ROSE]),
      writer: openContactWriter('google', {
        settings: readSettings({ SANDBOX: 'on', GOOGLE_CONTACTS_URL: api.url }),
        credentials: { email: 'rose@example.com', accessToken: async () => 'token' },
        sleep: async (milliseconds) => void pauses.push(milliseconds),
        onFailure: (failure) => failures.push(failure),
      }),
      signal: SIGNAL,
    });

  test.each(['rateLimitExceeded', 'userRateLimitExceeded', 'quotaExceeded'])(
    'that says %s is waited for',
    async (reason) => {
      api.faults.push(...faultsAt('batchCreateContacts', refusal(reason), 2));
      expect(await copy()).toMatchObject({ written: 1 });
      expect(pauses).toEqual([1_000, 2_000]);
      expect(failures).toEqual([
        { host: new URL(api.url).host, method: 'POST', status: 403, reason, pause: 1_000 },
        { host: new URL(api.url).host, method: 'POST', status: 403, reason, pause: 2_000 },
      ]);
    },
  );

  test('that says insufficientPermissions asks for consent, and names no person', async () => {
    api.faults.push(...faultsAt('contactGroups', refusal('insufficientPermissions')));
    await expect(copy()).rejects.toMatchObject({
      fault: 'authentication',
      status: 403,
      reason: 'insufficientPermissions',
    });
    expect(JSON.stringify(failures)).not.toContain('rose');
    expect(pauses).toEqual([]);
  });

  test('that asks for an hour leaves the wait to the worker', async () => {
    api.faults.push(...faultsAt('contactGroups', refusal('quotaExceeded', 'X', { 'retry-after': '3600' })));
    await expect(copy()).rejects.toMatchObject({ fault: 'unavailable', pause: 3_600_000 });
    expect(pauses).toEqual([]);
  });

  test('that says the account is full is reported as a full account', async () => {
    api.faults.push(...faultsAt('batchCreateContacts', { ...refusal('MY_CONTACTS_OVERFLOW_COUNT'), status: 400 }));
    await expect(copy()).rejects.toMatchObject({ fault: 'full', reason: 'MY_CONTACTS_OVERFLOW_COUNT' });
  });
});

function throughMicrosoft(one: Contact): ExistingContact {
  return microsoft.existingOf(v.parse(microsoft.GraphContact, { id: 'x', ...microsoft.graphContactOf(one).body }));
}

describe('any contact', () => {
  const detailed = fc
    .tuple(
      anyContact,
      fc.array(
        fc.record({
          label: fc.constantFrom('hobby', 'X-ID'),
          value: fc.string({ minLength: 1, maxLength: 20, unit: fc.constantFrom('a', 'B', '7', 'ß', '日') }),
        }),
        { maxLength: 3 },
      ),
    )
    .map(([one, more]): Contact => ({ ...one, more }));
  const groups = new Map<string, string>();
  const throughGoogle = (one: Contact): ExistingContact => {
    const resources = one.groups.map((name, at) => {
      groups.set(`contactGroups/g${at}`, name);
      return `contactGroups/g${at}`;
    });
    const { fields } = google.personOf(one, resources);
    // Google shows what it was given in one piece.
    const names = fields.names?.map((name) => ({ displayName: name['unstructuredName'], ...name }));
    const read = v.parse(google.Person, { resourceName: 'people/c1', ...fields, names });
    return google.existingOf(read, (resource) => groups.get(resource));
  };

  test.each([
    ['Google', throughGoogle],
    ['Microsoft', throughMicrosoft],
  ] as const)('comes back from %s with every value, in a field or in the notes', (_, through) => {
    fc.assert(
      fc.property(detailed, (one) => {
        const back = { ...through(one), hasPhoto: true };
        expect(missingItems(back, one)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  test.each([
    ['google.csv', googleCells],
    ['outlook.csv', outlookCells],
    ['outlook-com.csv', outlookComCells],
  ] as const)('is in the row of %s with every value', (_, cellsOf) => {
    const parts = new Set([
      'email',
      'phone',
      'website',
      'role',
      'nickname',
      'relation',
      'messenger',
      'detail',
      'company',
    ]);
    fc.assert(
      fc.property(detailed, (one) => {
        const row = [...cellsOf(one).values()].join('\n');
        const jobs = [one.organization, ...one.otherOrganizations].flatMap((job) => Object.values(job));
        const values = itemsOf(one).filter(({ part, value }) => parts.has(part) && part !== 'company' && value !== '');
        for (const value of [...values.map((item) => item.value), ...jobs]) expect(row).toContain(value);
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    ['Singer', { added: [], stays: ['company'], add: { organization: { name: '' } } }],
    [
      'head',
      { added: ['company'], stays: [], add: { organization: { name: 'ACME', department: 'Sales', title: '' } } },
    ],
  ])('with another job at the same company keeps it, and with the same one is filled: %s', (title, filling) => {
    const theirs = contact({ organization: { name: 'Acme', department: '', title } });
    const ours = contact({ organization: { name: 'ACME', department: 'Sales', title: 'Head' } });
    expect(fillingFor({ id: 'x', uid: '', contact: theirs, hasPhoto: true }, ours)).toMatchObject(filling);
  });

  test('lacks nothing of another one once it has got what it lacks, and never loses what it had', () => {
    fc.assert(
      fc.property(detailed, detailed, (theirs, ours) => {
        const there: ExistingContact = {
          id: 'x',
          uid: '',
          contact: theirs,
          hasPhoto: true,
        };
        const { add, stays } = fillingFor(there, ours);
        for (const item of missingItems(there, ours))
          expect(stays.includes(item.part) || itemsOf(add).some(({ part }) => part === item.part)).toBe(true);
      }),
      { numRuns: 150 },
    );
  });
});

/** @returns the ID of a transfer of contacts that a worker has by its `epoch`th lease */
async function begun(database: Database, epoch = 1): Promise<string> {
  const id = 'a'.repeat(32);
  await database.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider, operations, epoch)
     values ($1, 'k', 'a@x.example', 'sanbruno', 'a@outlook.example', 'office365', '{contactsmigration}', $2)`,
    [id, epoch],
  );
  return id;
}

describe('the fates of contacts', () => {
  test('survive a kill: remarks are repeated, nothing is written twice, and the totals are right', async () => {
    await using database = await openTestDatabase(FRESH);
    const id = await begun(database);
    const graph = new GraphApi('token');
    await using api = await startApi(graph.answer);
    graph.base = `${api.url}/v1.0`;
    const crowd = Array.from({ length: 60 }, (_, at) => ({
      ...person(`u${at}`, `Person ${at}`, [`p${at}@example.com`]),
      gender: at % 2 === 0 ? 'female' : '',
    }));
    const writer = () =>
      openContactWriter('office365', {
        settings: readSettings({ SANDBOX: 'on', OFFICE365_CONTACTS_URL: `${api.url}/v1.0` }),
        credentials: { email: 'a@outlook.example', accessToken: async () => 'token' },
        sleep: async () => {},
      });
    const run = (signal: AbortSignal, onProgress: (done: number) => void) =>
      copyContacts({
        reader: readerOf(crowd),
        writer: writer(),
        fates: openContactFates(database, { transferId: id, epoch: 1 }),
        sleep: async () => {},
        signal,
        onProgress: ({ done }) => onProgress(done),
      });
    const kill = new AbortController();
    const killed = run(kill.signal, (done) => {
      if (done >= 20) kill.abort(new Error('killed'));
    });
    await expect(killed).rejects.toThrow('killed');
    expect(await contactCounts(database, id)).toMatchObject({ copied: 10, remarked: 10 });
    // The next batch was written, and its answer never came.
    api.faults.push(...faultsAt('$batch', 'drop'));
    expect(await run(SIGNAL, () => {})).toEqual({ lost: 0, duplicated: 0, changed: 0 });
    expect(graph.contacts.size).toBe(60);
    expect(await contactCounts(database, id)).toEqual({
      copied: 30,
      remarked: 30,
      present: 0,
      completed: 0,
      refused: 0,
    });
    const remarks = await contactRemarks(database, id, 'others', 100);
    expect(remarks).toHaveLength(30);
    expect(remarks[0]?.reason).toBe('Now in the notes there: gender.');
  });

  test('are written only while the lease is held', async () => {
    await using database = await openTestDatabase(FRESH);
    const id = await begun(database, 2);
    const stale = openContactFates(database, { transferId: id, epoch: 1 });
    await expect(stale.intend([{ uid: 'x', destinationId: '' }])).rejects.toMatchObject({ name: 'LeaseLost' });
    expect(await openContactFates(database, { transferId: id, epoch: 2 }).all()).toEqual(new Map());
  });

  test('hold a name that is too long for them, whatever character it is cut at, and a note that names such a label', async () => {
    await using database = await openTestDatabase(FRESH);
    const id = await begun(database);
    const fates = openContactFates(database, { transferId: id, epoch: 1 });
    const names = [`${'a'.repeat(199)}😀`, 'half \uD83D', 'nul \0'];
    await fates.settle(names.map((name, at) => ({ uid: `${at}`, fate: 'copied', name, remarks: [`There: ${name}.`] })));
    expect((await fates.all()).size).toBe(3);
    expect((await fates.all()).get('2')?.remarks).toEqual(['There: nul  .']);
    await fates.forget(['1']);
    expect([...(await fates.all()).keys()]).toEqual(['0', '2']);
    await expect(openContactFates(database, { transferId: id, epoch: 0 }).forget(['0'])).rejects.toMatchObject({
      name: 'LeaseLost',
    });
  });

  test('tell a later run which contacts were changed at the source since, and those get what is new, once', async () => {
    await using database = await openTestDatabase(FRESH);
    const id = await begun(database);
    const people = new PeopleApi('token');
    await using api = await startApi(people.answer);
    people.add({ names: [{ givenName: 'Rose', familyName: 'Hill' }], emailAddresses: [{ value: 'rose@example.com' }] });
    const run = (contacts: readonly Contact[]) =>
      copyContacts({
        reader: readerOf(contacts),
        writer: openContactWriter('google', {
          settings: readSettings({ SANDBOX: 'on', GOOGLE_CONTACTS_URL: api.url }),
          credentials: { email: 'a@gmail.example', accessToken: async () => 'token' },
          sleep: async () => {},
        }),
        fates: openContactFates(database, { transferId: id, epoch: 1 }),
        sleep: async () => {},
        signal: SIGNAL,
      });
    const [ann, rose] = [
      person('ann', 'Ann Lee', ['ann@example.com']),
      person('rose', 'Rose Hill', ['rose@example.com']),
    ];
    expect(await run([ann, rose])).toEqual({ lost: 0, duplicated: 0, changed: 0 });
    expect(await contactCounts(database, id)).toMatchObject({ copied: 1, present: 1 });
    const phones = [{ label: 'mobile', value: '+1 650 555 0100' }];
    // What its owner has removed there does not come back.
    for (const each of people.people.values()) Object.assign(each, { emailAddresses: [] });
    await run([ann, rose]);
    expect(JSON.stringify([...people.people.values()])).not.toContain('rose@example.com');
    const changed = [ann, rose].map((each) => ({ ...each, phones }));
    for (const contacts of [changed, changed]) await run(contacts);
    const stored = [...people.people.values()];
    expect(stored).toHaveLength(2);
    for (const each of stored) expect(JSON.stringify(each).split('+1 650 555 0100')).toHaveLength(2);
    expect(await contactCounts(database, id)).toMatchObject({ present: 0, completed: 1 });
  });

  test('keep one counterpart for a contact that was about to be completed', async () => {
    const people = new PeopleApi('token');
    await using api = await startApi(people.answer);
    people.add({ names: [{ givenName: 'Rose', familyName: 'Hill' }], emailAddresses: [{ value: 'rose@example.com' }] });
    const writer = openContactWriter('google', {
      settings: readSettings({ SANDBOX: 'on', GOOGLE_CONTACTS_URL: api.url }),
      credentials: { email: 'a@gmail.example', accessToken: async () => 'token' },
      sleep: async () => {},
    });
    const fates = new MemoryFates();
    await fates.intend([{ uid: 'rose', destinationId: 'people/c1' }]);
    const copied = await copyInto({ reader: readerOf([ROSE]), writer, signal: SIGNAL }, fates);
    expect(copied).toMatchObject({ completed: 1, written: 0 });
    expect(people.people.size).toBe(1);
  });
});
