import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import type { Contact } from '../../src/server/contacts/contact.ts';
import { openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { copyInto } from '../support/contacts-copy.ts';
import { contact, person, readerOf } from '../support/contact-samples.ts';
import { GraphApi } from '../support/graph-api.ts';
import { faultsAt, startApi, type Fault, type ScriptedApi } from '../support/scripted-api.ts';

const address = (city: string) => ({
  poBox: 'PO 7',
  extended: '',
  street: '1 Main St',
  city,
  region: 'CA',
  postalCode: '94066',
  country: 'USA',
});
const failsAtBadOne: Fault = ({ url, bytes, json }) => {
  if (!url.pathname.endsWith('$batch') || !bytes.includes('Bad One')) return null;
  const { requests } = json as { requests: { id: string }[] };
  return { status: 200, json: { responses: requests.map(({ id }) => ({ id, status: 500 })) } };
};
const JANE = contact({
  uid: 'jane',
  name: { formatted: 'Jane Doe', prefix: 'Dr.', given: 'Jane', middle: 'Q.', family: 'Doe', suffix: 'Jr.' },
  nickname: 'JD',
  emails: ['a', 'b', 'c', 'd', 'e'].map((name) => ({ label: 'home', value: `${name}@example.com` })),
  phones: [
    { label: 'mobile', value: '1' },
    { label: 'mobile', value: '2' },
    { label: 'home', value: '3' },
    { label: '', value: '4' },
    { label: 'home', value: '5' },
    { label: 'work', value: '6' },
    { label: 'pager', value: '7' },
  ],
  addresses: [
    { label: 'home', value: address('Home') },
    { label: 'work', value: address('Work') },
    { label: 'Ferienhaus', value: address('Sea') },
    { label: 'home', value: address('Second') },
  ],
  websites: [
    { label: '', value: 'https://a.example' },
    { label: 'blog', value: 'https://b.example' },
  ],
  organization: { name: 'Acme', department: 'Sales', title: 'Head' },
  birthday: '1980-04-13',
  notes: 'likes tea',
  photo: { mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) },
  groups: ['Friends'],
});

const people = (count: number) =>
  Array.from({ length: count }, (_, at) => person(`u${at}`, `Person ${at}`, [`p${at}@example.com`]));
const place = (city: string) => ({
  street: 'PO 7\n1 Main St',
  city,
  state: 'CA',
  postalCode: '94066',
  countryOrRegion: 'USA',
});

describe('contacts to Microsoft', () => {
  let graph: GraphApi;
  let api: ScriptedApi;
  let pauses: number[];
  beforeEach(async () => {
    graph = new GraphApi('good token');
    api = await startApi(graph.answer);
    graph.base = `${api.url}/v1.0`;
    pauses = [];
  });
  afterEach(async () => api[Symbol.asyncDispose]());

  const copy = (contacts: readonly Contact[], token = 'good token') =>
    copyInto({
      reader: readerOf(contacts),
      writer: openContactWriter('office365', {
        settings: readSettings({ SANDBOX: 'on', OFFICE365_CONTACTS_URL: `${api.url}/v1.0` }),
        credentials: { email: 'jane@outlook.example', accessToken: async () => token },
        sleep: async (milliseconds) => void pauses.push(milliseconds),
      }),
      signal: new AbortController().signal,
    });
  const batches = () => api.requests.filter(({ url }) => url.pathname.endsWith('$batch')).length;

  test('a contact arrives whole: what Outlook has no field for is in its notes, and the copy says so', async () => {
    const copied = await copy([JANE]);
    expect(copied).toMatchObject({ written: 1, skipped: [] });
    expect(copied.notes).toEqual([
      { contact: 'Jane Doe', note: 'Now in the notes there: email addresses, websites, phone numbers, addresses.' },
      { contact: 'Jane Doe', note: 'The labels of addresses and websites have no place there.' },
    ]);
    const [stored] = [...graph.contacts.values()];
    expect(stored).toMatchObject({
      displayName: 'Jane Doe',
      title: 'Dr.',
      givenName: 'Jane',
      middleName: 'Q.',
      surname: 'Doe',
      generation: 'Jr.',
      nickName: 'JD',
      emailAddresses: ['a', 'b', 'c'].map((name) => ({ name: 'Jane Doe', address: `${name}@example.com` })),
      mobilePhone: '1',
      homePhones: ['3', '4'],
      businessPhones: ['6'],
      homeAddress: place('Home'),
      businessAddress: place('Work'),
      otherAddress: place('Sea'),
      businessHomePage: 'https://a.example',
      companyName: 'Acme',
      department: 'Sales',
      jobTitle: 'Head',
      birthday: '1980-04-13T12:00:00Z',
      categories: ['Friends'],
    });
    expect(String(stored?.['personalNotes']).split('\n')).toEqual([
      'likes tea',
      'E-mail (home): d@example.com',
      'E-mail (home): e@example.com',
      'Website (blog): https://b.example',
      'Phone (mobile): 2',
      'Phone (home): 5',
      'Phone (pager): 7',
      'Address (home): PO 7, 1 Main St, Second CA 94066, USA',
    ]);
    expect(graph.photos.get(stored?.id ?? '')).toEqual({ bytes: Buffer.from([1, 2, 3]), type: 'image/png' });
  });

  test('the label of an address, which has no place there, is told', async () => {
    const { notes } = await copy([
      contact({ uid: 'sea', addresses: [{ label: 'Ferienhaus', value: address('Sea') }] }),
    ]);
    expect(notes).toEqual([{ contact: '', note: 'The labels of addresses and websites have no place there.' }]);
  });

  test('a birthday without a year goes to the notes', async () => {
    await copy([contact({ ...JANE, birthday: '--04-13' })]);
    const [stored] = [...graph.contacts.values()];
    expect(stored).not.toHaveProperty('birthday');
    expect(stored?.['personalNotes']).toContain('Birthday: April 13');
  });

  test('a birthday before the calendar of Outlook begins goes to the notes, and keeps no contact from arriving', async () => {
    await copy([contact({ ...JANE, birthday: '0001-01-01' })]);
    const [stored] = [...graph.contacts.values()];
    expect(stored).not.toHaveProperty('birthday');
    expect(stored?.['personalNotes']).toContain('Birthday: 0001-01-01');
  });

  test('a second copy adds none, over many pages, and never asks for more than a mailbox takes at once', async () => {
    graph.page = 10;
    expect(await copy(people(45))).toMatchObject({ written: 45, present: 0 });
    expect(batches()).toBe(3);
    expect(graph.atOnce).toBe(4);
    expect(await copy(people(45))).toMatchObject({ written: 0, present: 45 });
    expect(graph.contacts.size).toBe(45);
  });

  test('throttled requests of a batch are sent again after the longest wait that was asked for', async () => {
    graph.subFaults.push(null, 429, null, 503);
    expect(await copy(people(20))).toMatchObject({ written: 20, skipped: [] });
    expect(pauses).toEqual([7_000]);
    expect(batches()).toBe(2);
    expect(graph.contacts.size).toBe(20);
  });

  test.each([
    [507, 'full'],
    [401, 'authentication'],
    [403, 'authentication'],
  ] as const)('a %s within a batch is reported as %s, and no single contact as refused', async (status, fault) => {
    graph.subFaults.push(null, status);
    await expect(copy(people(3))).rejects.toMatchObject({ fault, status, account: 'destination' });
    expect(batches()).toBe(1);
  });

  test('a batch that is throttled for an hour is left to the next run', async () => {
    const responses = [{ id: '0', status: 429, headers: { 'Retry-After': '3600' } }];
    api.faults.push(...faultsAt('$batch', { status: 200, json: { responses } }, 18));
    await expect(copy(people(1))).rejects.toMatchObject({ fault: 'unavailable', pause: 3_600_000 });
    expect(batches()).toBe(1);
    expect(pauses).toEqual([]);
  });

  test('a contact that Microsoft refuses is skipped by name, and those behind it in the batch arrive', async () => {
    const copied = await copy([...people(3), person('bad', 'Bad One', ['no address']), ...people(20).slice(3)]);
    expect(copied.skipped).toEqual([
      { mailbox: 'Contacts', reason: 'Microsoft refused this contact (400).', subject: 'Bad One' },
    ]);
    expect(copied.written).toBe(20);
    expect(graph.contacts.size).toBe(20);
  });

  test('a contact whose request has an unknown outcome is looked for before it is written again', async () => {
    graph.subFaults.push(null, 500);
    expect(await copy(people(8))).toMatchObject({ written: 8, present: 0 });
    expect(graph.contacts.size).toBe(8);
    api.faults.push(...faultsAt('$batch', 'drop'));
    const more = [...people(8), JANE];
    expect(await copy(more)).toMatchObject({ written: 1, present: 8 });
    expect(graph.contacts.size).toBe(9);
    expect(graph.photos.size).toBe(1);
  });

  test('a contact whose request is answered by 503, without a word of a pause, is looked for before it is written again', async () => {
    graph.subFaults.push(null, 'stored');
    expect(await copy(people(8))).toMatchObject({ written: 8, present: 0, duplicated: 0 });
    expect(graph.contacts.size).toBe(8);
    let isStored = false;
    api.faults.push((request) => {
      if (!request.url.pathname.endsWith('$batch')) return null;
      if (!isStored) graph.answer(request);
      isStored = true;
      return { status: 503 };
    });
    expect(await copy([...people(8), JANE])).toMatchObject({ written: 1, present: 8 });
    expect(graph.contacts.size).toBe(9);
  });

  test('a contact at which Microsoft fails within each batch is skipped by name, and the others arrive', async () => {
    api.faults.push(...Array.from({ length: 99 }, () => failsAtBadOne));
    const copied = await copy([...people(3), person('bad', 'Bad One', []), ...people(9).slice(3)]);
    expect(copied.skipped).toEqual([
      { mailbox: 'Contacts', reason: 'Your new address book refused this contact (500).', subject: 'Bad One' },
    ]);
    expect(copied).toMatchObject({ written: 9, lost: 0, duplicated: 0 });
  });

  test('a photo that was left out is added by the next copy, and set once only', async () => {
    api.faults.push(...faultsAt('$value', { status: 503 }, 18));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unavailable' });
    api.faults.length = 0;
    await copy([JANE]);
    await copy([JANE]);
    expect([graph.contacts.size, graph.photos.size]).toEqual([1, 1]);
    expect(api.requests.filter(({ method }) => method === 'PUT').length).toBe(6 + 6 + 1);
  });

  test('a photo over the limit is left out and reported', async () => {
    const photo = { mediaType: 'image/png', bytes: new Uint8Array(4 * 1024 * 1024 + 1) };
    const copied = await copy([{ ...person('a', 'Ann', []), photo }]);
    expect(copied.notes).toEqual([{ contact: 'Ann', note: 'The photo was not accepted there.' }]);
  });

  test('a photo that Microsoft cannot take does not keep the copy from its end', async () => {
    api.faults.push(...faultsAt('$value', { status: 500 }, 6));
    const copied = await copy([JANE, person('ann', 'Ann', [])]);
    expect(copied.written).toBe(2);
    expect(copied.notes.map(({ note }) => note)).toContain('The photo was not accepted there.');
  });

  test('a next page that has been read already is not requested', async () => {
    const page = { value: [], '@odata.nextLink': `${api.url}/v1.0/me/contacts?$skip=100` };
    api.faults.push(...faultsAt('/contacts', { status: 200, json: page }, 4));
    await expect(copy([person('a', 'Ann', [])])).rejects.toMatchObject({ fault: 'unexpected' });
    expect(api.requests).toHaveLength(2);
  });

  test('a next page at another host is not requested', async () => {
    const away = { value: [], '@odata.nextLink': 'http://127.0.0.1:9/v1.0/me/contacts' };
    api.faults.push(() => ({ status: 200, json: away }));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unexpected' });
  });

  test('a contact with an ID that the database can’t hold is not accepted', async () => {
    const page = { value: [{ id: 'AAMk\u0000', displayName: 'Jane' }] };
    api.faults.push(...faultsAt('/contacts', { status: 200, json: page }));
    await expect(copy([person('a', 'Ann', [])])).rejects.toMatchObject({ fault: 'unexpected' });
  });

  test('a refused token is told as such', async () => {
    await expect(copy([JANE], 'bad token')).rejects.toMatchObject({ fault: 'authentication' });
  });
});
