import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import type { Contact } from '../../src/server/contacts/contact.ts';
import { VALUES_AT_MOST } from '../../src/server/contacts/json-web.ts';
import { openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { copyInto, MemoryFates } from '../support/contacts-copy.ts';
import { contact, person, readerOf, BLANK } from '../support/contact-samples.ts';
import { PeopleApi } from '../support/people-api.ts';
import { faultsAt, startApi, type ApiRequest, type Fault, type ScriptedApi } from '../support/scripted-api.ts';

const JANE = contact({
  uid: 'jane',
  name: { formatted: 'Dr. Jane Q. Doe', prefix: 'Dr.', given: 'Jane', middle: 'Q.', family: 'Doe', suffix: '' },
  nickname: 'JD',
  emails: [
    { label: 'home', value: 'jane@example.com' },
    { label: 'Club', value: 'jane@club.example' },
  ],
  phones: [
    { label: 'mobile', value: '+1 650 555 0100' },
    { label: 'work fax', value: '+1 650 555 0101' },
  ],
  addresses: [
    {
      label: 'home',
      value: {
        poBox: '',
        extended: 'Apt 2',
        street: '1 Main St',
        city: 'X',
        region: 'CA',
        postalCode: '94066',
        country: 'USA',
      },
    },
  ],
  organization: { name: 'Acme', department: 'Sales', title: 'Head' },
  birthday: '--04-13',
  notes: 'likes tea',
  photo: { mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) },
  groups: ['Friends', 'Chess'],
  vcard: 'BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Jane\r\nX-SKYPE:jane\r\nEND:VCARD\r\n',
});

/** Refuses a batch with this one in it, and does not say for whom. */
const blameNobody: Fault = ({ json }) =>
  JSON.stringify(json ?? null).includes('no address') ? { status: 400, json: { error: { code: 400 } } } : null;

const refuseGroup =
  (status: number): Fault =>
  ({ method, url }) =>
    method === 'POST' && url.pathname.endsWith('/contactGroups') ? { status, json: {} } : null;

describe('contacts to Google', () => {
  let people: PeopleApi;
  let api: ScriptedApi;
  let pauses: number[];
  beforeEach(async () => {
    people = new PeopleApi('good token');
    api = await startApi(people.answer);
    pauses = [];
  });
  afterEach(async () => api[Symbol.asyncDispose]());

  const copy = (contacts: readonly Contact[], token = 'good token', fates = new MemoryFates()) =>
    copyInto(
      {
        reader: readerOf(contacts),
        writer: openContactWriter('google', {
          settings: readSettings({ SANDBOX: 'on', GOOGLE_CONTACTS_URL: api.url }),
          credentials: { email: 'jane@gmail.example', accessToken: async () => token },
          sleep: async (milliseconds) => void pauses.push(milliseconds),
        }),
        signal: new AbortController().signal,
      },
      fates,
    );
  const asked = (path: string) => api.requests.filter(({ url }) => url.pathname.includes(path)).length;

  test('a contact arrives with all that Google has a place for, and the rest is named', async () => {
    const copied = await copy([JANE]);
    expect(copied).toMatchObject({ written: 1, present: 0, skipped: [] });
    expect(copied.notes).toEqual([]);
    const [[resourceName, stored] = ['', {}]] = people.people;
    expect(stored).toMatchObject({
      names: [{ honorificPrefix: 'Dr.', givenName: 'Jane', middleName: 'Q.', familyName: 'Doe' }],
      nicknames: [{ value: 'JD' }],
      emailAddresses: [
        { value: 'jane@example.com', type: 'home' },
        { value: 'jane@club.example', type: 'Club' },
      ],
      phoneNumbers: [
        { value: '+1 650 555 0100', type: 'mobile' },
        { value: '+1 650 555 0101', type: 'workFax' },
      ],
      addresses: [
        {
          type: 'home',
          extendedAddress: 'Apt 2',
          streetAddress: '1 Main St',
          city: 'X',
          region: 'CA',
          postalCode: '94066',
          country: 'USA',
        },
      ],
      organizations: [{ name: 'Acme', department: 'Sales', title: 'Head' }],
      birthdays: [{ date: { month: 4, day: 13 } }],
      biographies: [{ value: 'likes tea', contentType: 'TEXT_PLAIN' }],
    });
    expect(people.photos.get(resourceName)).toEqual(Buffer.from([1, 2, 3]));
    const joined = (stored['memberships'] ?? []).map(
      ({ contactGroupMembership }) =>
        (contactGroupMembership as { contactGroupResourceName: string }).contactGroupResourceName,
    );
    expect(joined).toEqual(['contactGroups/myContacts', 'contactGroups/friends', 'contactGroups/g1']);
    expect([...people.groups.values()]).toEqual(['friends', 'Chess']);
  });

  test('the groups that everybody has there are joined, and not made a second time', async () => {
    const exported = { ...person('ann', 'Ann', ['ann@example.com']), groups: ['myContacts', 'Starred', 'Chess'] };
    expect((await copy([exported])).notes).toEqual([]);
    expect([...people.groups.values()]).toEqual(['friends', 'Chess']);
    const [stored] = people.people.values();
    expect(stored?.['memberships']).toEqual(
      ['contactGroups/myContacts', 'contactGroups/starred', 'contactGroups/g1'].map((contactGroupResourceName) => ({
        contactGroupMembership: { contactGroupResourceName },
      })),
    );
    expect(await copy([exported])).toMatchObject({ present: 1, completed: 0, notes: [], changed: 0 });
  });

  test('a second copy adds none, over many pages of what is there', async () => {
    const many = Array.from({ length: 450 }, (_, at) => person(`u${at}`, `Person ${at}`, [`p${at}@example.com`]));
    expect(await copy(many)).toMatchObject({ written: 450, present: 0 });
    expect(asked('batchCreateContacts')).toBe(3);
    people.page = 100;
    expect(await copy(many)).toMatchObject({ written: 0, present: 450 });
    expect(asked('batchCreateContacts')).toBe(3);
    expect(people.people.size).toBe(450);
  });

  test('two people who share an address both arrive, in every run', async () => {
    const family = [person('ann', 'Ann Smith', ['home@example.com']), person('bob', 'Bob Smith', ['home@example.com'])];
    people.add({ names: [{ givenName: 'Bob', familyName: 'Smith' }], emailAddresses: [{ value: 'HOME@example.com' }] });
    expect(await copy(family)).toMatchObject({ written: 1, present: 1 });
    expect(await copy(family)).toMatchObject({ written: 0, present: 2 });
    expect(people.people.size).toBe(2);
  });

  test('Google is waited for as long as it asks', async () => {
    api.faults.push(...faultsAt('batchCreateContacts', { status: 429, headers: { 'retry-after': '30' } }));
    api.faults.push(...faultsAt('batchCreateContacts', { status: 429 }, 2));
    expect(await copy([JANE])).toMatchObject({ written: 1 });
    expect(pauses).toEqual([30_000, 2_000, 4_000]);
    expect(people.people.size).toBe(1);
  });

  test.each(['1.5', '3, 5', '-1', '60 seconds', 'soon'])(
    'a Retry-After of %s that can’t be parsed is not taken for no wait at all',
    async (wait) => {
      api.faults.push(...faultsAt('batchCreateContacts', { status: 429, headers: { 'retry-after': wait } }, 2));
      expect(await copy([JANE])).toMatchObject({ written: 1 });
      expect(pauses).toEqual([1_000, 2_000]);
    },
  );

  test('a person whom Google is too busy to create is not reported as refused', async () => {
    const busy = { createdPeople: [{ httpStatusCode: 429 }] };
    api.faults.push(...faultsAt('batchCreateContacts', { status: 200, json: busy }));
    expect(await copy([JANE])).toMatchObject({ written: 1, skipped: [], lost: 0 });
  });

  test('a Google that wants no contacts for an hour is not asked to take them until the next run', async () => {
    const anHour = { status: 429, headers: { 'retry-after': '3600' } };
    api.faults.push(...faultsAt('batchCreateContacts', anHour, 6));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unavailable', pause: 3_600_000 });
    expect(asked('batchCreateContacts')).toBe(1);
    expect(pauses).toEqual([]);
  });

  test('a Google that stays busy ends the copy as unavailable', async () => {
    api.faults.push(...faultsAt('', { status: 503 }, 6));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unavailable', status: 503 });
    expect(pauses).toHaveLength(5);
  });

  test('a batch whose answer was lost is looked for before it is written again', async () => {
    api.faults.push(...faultsAt('batchCreateContacts', 'drop'));
    expect(await copy([JANE, person('ann', 'Ann', ['ann@example.com'])])).toMatchObject({ written: 2, present: 0 });
    expect(people.people.size).toBe(2);
    expect(people.photos.size).toBe(1);
    expect(asked('batchCreateContacts')).toBe(1);
  });

  test('a batch that is answered by 503 from somewhere between is looked for before it is written again', async () => {
    let isStored = false;
    api.faults.push((request) => {
      if (!request.url.pathname.endsWith('batchCreateContacts')) return null;
      if (!isStored) people.answer(request);
      isStored = true;
      return { status: 503, text: 'upstream connect error or disconnect/reset before headers' };
    });
    expect(await copy([JANE, person('ann', 'Ann', ['ann@example.com'])])).toMatchObject({ written: 2, present: 0 });
    expect(people.people.size).toBe(2);
    expect(asked('batchCreateContacts')).toBe(1);
  });

  test.each(['in the same run', 'in the next'])(
    'contacts that Google shows late are looked for again %s',
    async (when) => {
      const crowd = Array.from({ length: 3 }, (_, at) => person(`u${at}`, `Person ${at}`, [`p${at}@example.com`]));
      const fates = new MemoryFates();
      if (when === 'in the next') {
        for (const { uid } of crowd) await fates.intend([{ uid, destinationId: '' }]);
        await copy(crowd);
      } else api.faults.push(...faultsAt(':batchCreateContacts', 'drop'));
      const before = asked('/connections');
      const place = when === 'in the next' ? 1 : 2;
      api.faults.push(() => (asked('/connections') === before + place ? { status: 200, json: {} } : null));
      expect(await copy(crowd, undefined, fates)).toMatchObject({
        written: 3,
        lost: 0,
        duplicated: 0,
      });
      expect(people.people.size).toBe(3);
    },
  );

  test('a photo that an interrupted copy left out is added by the next', async () => {
    api.faults.push(...faultsAt('updateContactPhoto', { status: 503 }, 18));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unavailable' });
    expect([people.people.size, people.photos.size]).toEqual([1, 0]);
    api.faults.length = 0;
    expect(await copy([JANE])).toMatchObject({ written: 0, completed: 1 });
    expect([people.people.size, people.photos.size]).toEqual([1, 1]);
  });

  test('a contact that Google refuses is skipped by name, and the others of its batch arrive', async () => {
    const good = Array.from({ length: 10 }, (_, at) => person(`u${at}`, `Person ${at}`, [`p${at}@example.com`]));
    const copied = await copy([...good.slice(0, 5), person('bad', 'Bad One', ['no address']), ...good.slice(5)]);
    expect(copied).toMatchObject({ total: 11, written: 10 });
    expect(copied.skipped).toEqual([
      { mailbox: 'Contacts', reason: 'Google refused this contact (400).', subject: 'Bad One' },
    ]);
    expect(people.people.size).toBe(10);
  });

  test('a refusal that names no contact is narrowed down to the one that causes it', async () => {
    api.faults.push(...Array.from({ length: 20 }, () => blameNobody));
    const good = Array.from({ length: 10 }, (_, at) => person(`u${at}`, `Person ${at}`, [`p${at}@example.com`]));
    const copied = await copy([...good.slice(0, 7), person('bad', 'Bad One', ['no address']), ...good.slice(7)]);
    expect(copied).toMatchObject({ written: 10, skipped: [{ subject: 'Bad One' }] });
    expect(people.people.size).toBe(10);
  });

  test.each([422, 500])('a group that Google answers with %i keeps no contact from arriving', async (status) => {
    api.faults.push(...Array.from({ length: 99 }, () => refuseGroup(status)));
    expect(await copy([JANE, person('ann', 'Ann', ['ann@example.com'])])).toMatchObject({ written: 2, lost: 0 });
  });

  test('a photo or a group that Google refuses does not keep the contact from arriving', async () => {
    const long = 'x'.repeat(101);
    const copied = await copy([
      { ...JANE, vcard: '', groups: [long], photo: { mediaType: 'image/png', bytes: Buffer.from('bad!') } },
    ]);
    expect(copied.written).toBe(1);
    expect(copied.notes.map(({ note }) => note)).toEqual([
      'A group of this contact could not be made there.',
      'The photo was not accepted there.',
    ]);
  });

  test('a refused token and a missing scope are told as such', async () => {
    await expect(copy([JANE], 'bad token')).rejects.toMatchObject({
      fault: 'authentication',
      status: 401,
      account: 'destination',
    });
    api.faults.push(() => ({ status: 403, json: {} }));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'authentication', status: 403 });
  });

  test('a page of something between us that says 403 speaks of no permission', async () => {
    api.faults.push(() => ({ status: 403, text: '<html>No.</html>', headers: { 'content-type': 'text/html' } }));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unexpected', status: 403 });
  });

  test.each([
    ['batchCreateContacts', 403],
    ['v1/contactGroups', 403],
    ['updateContact', 403],
    ['v1/people/', 404],
  ])('a page at %s that says %i refuses no contact, and none is gone', async (path, status) => {
    if (path !== 'batchCreateContacts') await copy([{ ...JANE, groups: [], phones: [] }]);
    const page = { status, text: '<html>No.</html>', headers: { 'content-type': 'text/html' } };
    const isMeant = ({ url, method }: ApiRequest) =>
      url.pathname.includes(path) && !url.pathname.endsWith('/connections') && (status === 404 || method !== 'GET');
    const fault: Fault = (request) => (isMeant(request) ? page : null);
    api.faults.push(fault);
    const fates = new MemoryFates();
    await expect(copy([JANE], undefined, fates)).rejects.toMatchObject({ status });
    expect(fates.count('refused')).toBe(0);
    expect(people.people.size).toBe(path === 'batchCreateContacts' ? 0 : 1);
  });

  test('an answer that is not as documented ends the copy, and nothing is sent to where it points', async () => {
    api.faults.push(
      ...faultsAt('connections', { status: 200, json: { connections: [{ resourceName: '../../evil' }] } }),
    );
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unexpected' });
    api.faults.push(() => ({ status: 302, headers: { location: 'http://127.0.0.1:9/steal' } }));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unexpected' });
  });

  test('a token that is refused before it expires is refreshed once, and the request is repeated', async () => {
    const renewals: boolean[] = [];
    let token = 'good token';
    const writer = openContactWriter('google', {
      settings: readSettings({ SANDBOX: 'on', GOOGLE_CONTACTS_URL: api.url }),
      credentials: {
        email: 'jane@gmail.example',
        accessToken: async ({ renew } = { renew: false }) => {
          renewals.push(renew);
          return renew ? (token = 'good token') : token;
        },
      },
    });
    const fates = new MemoryFates();
    const run = () => copyInto({ reader: readerOf([JANE]), writer, signal: new AbortController().signal }, fates);
    api.faults.push(({ url }) => {
      if (!url.pathname.endsWith(':batchCreateContacts')) return null;
      token = 'ended early';
      return { status: 401, json: {} };
    });
    expect(await run()).toMatchObject({ written: 1, lost: 0 });
    expect(renewals.filter((renew) => renew)).toHaveLength(1);
    expect(people.people.size).toBe(1);
    api.faults.push(...faultsAt('', { status: 401, json: {} }, 2));
    await expect(run()).rejects.toMatchObject({ fault: 'authentication', status: 401 });
  });

  test('every request asks for the current token', async () => {
    let asked = 0;
    const writer = openContactWriter('google', {
      settings: readSettings({ SANDBOX: 'on', GOOGLE_CONTACTS_URL: `${api.url}/` }),
      credentials: {
        email: 'jane@gmail.example',
        accessToken: async () => {
          asked += 1;
          return 'good token';
        },
      },
    });
    const many = Array.from({ length: 250 }, (_, at) => person(`u${at}`, `Person ${at}`, []));
    await copyInto({ reader: readerOf(many), writer, signal: new AbortController().signal });
    expect(asked).toBe(api.requests.length);
    expect(people.people.size).toBe(250);
  });

  test('a contact with nothing but a formatted name or a company keeps it', async () => {
    await copy([
      contact({ uid: 'a', name: { ...BLANK.name, formatted: 'Cher' } }),
      contact({
        uid: 'b',
        name: { ...BLANK.name, formatted: 'Acme' },
        organization: { name: 'Acme', department: '', title: '' },
      }),
    ]);
    const [cher, acme] = [...people.people.values()];
    expect(cher).toMatchObject({ names: [{ unstructuredName: 'Cher' }] });
    expect(acme).toMatchObject({ organizations: [{ name: 'Acme' }] });
    expect(acme).not.toHaveProperty('names');
  });

  test.each(['connections', 'contactGroups'])(
    'a list of %s that leads back to an earlier page is abandoned',
    async (path) => {
      const page = { nextPageToken: 'again' };
      api.faults.push(...faultsAt(`/${path}`, { status: 200, json: page }, 3));
      await expect(copy([JANE])).rejects.toMatchObject({ fault: 'unexpected' });
      expect(asked(path)).toBe(2);
    },
  );

  test('a list of more contacts than a copy keeps in memory is not read to its end', async () => {
    let page = 0;
    const crowd = () => {
      page += 1;
      return Array.from({ length: 1_000 }, (_, at) => ({ resourceName: `people/c${page}-${at}` }));
    };
    const endless: Fault = ({ url }) =>
      url.pathname.endsWith('/connections')
        ? { status: 200, json: { connections: crowd(), nextPageToken: String(page) } }
        : null;
    api.faults.push(...Array.from({ length: 300 }, () => endless));
    await expect(copy([JANE])).rejects.toMatchObject({ fault: 'too many', account: 'destination' });
  });

  test('a person who is listed twice counts as one contact, and is not reported as duplicated', async () => {
    people.add({ names: [{ givenName: 'Ann', familyName: 'Lee' }], emailAddresses: [{ value: 'ann@example.com' }] });
    const twice: Fault = (request) => {
      if (!request.url.pathname.endsWith('/connections')) return null;
      const json = people.answer(request).json as { connections: unknown[] };
      return { status: 200, json: { connections: [...json.connections, ...json.connections] } };
    };
    api.faults.push(twice, twice);
    const two = [
      person('a', 'Ann Lee', ['ann@example.com'], ['+1 650 555 0100']),
      person('b', 'Ann Lee', ['ann@example.com']),
    ];
    expect(await copy(two)).toMatchObject({ completed: 1, written: 1, lost: 0, duplicated: 0 });
    expect(people.people.size).toBe(2);
  });

  test('a batch that Google answers only in part is looked for, and nobody gets the photo of another', async () => {
    const faces = [1, 2, 3].map((at) => ({
      ...person(`u${at}`, `Person ${at}`, []),
      photo: { mediaType: 'image/png', bytes: new Uint8Array([at]) },
    }));
    // All but the first are made.
    let shown: unknown[] | undefined;
    api.faults.push((request) => {
      if (!request.url.pathname.endsWith(':batchCreateContacts')) return null;
      shown ??= (people.answer(request).json as { createdPeople: unknown[] }).createdPeople.slice(1);
      people.people.delete('people/c1');
      return { status: 200, json: { createdPeople: shown } };
    });
    expect(await copy(faces)).toMatchObject({ written: 3, lost: 0, duplicated: 0, notes: [] });
    const photos = [...people.people].map(([name, { clientData = [] }]) =>
      [clientData[0]?.['value'], people.photos.get(name)?.[0]].join(' '),
    );
    expect(new Set(photos)).toEqual(new Set(['u1 1', 'u2 2', 'u3 3']));
  });

  test('of which an answer has no end are left before its values are looked at', async () => {
    const list = `{"connections":[],"more":[${'0,'.repeat(VALUES_AT_MOST)}0]}`;
    api.faults.push(({ url }) => (url.pathname.endsWith('/connections') ? { status: 200, text: list } : null));
    await expect(copy([JANE])).rejects.toThrow('answers something else than documented');
    // Many commas in a text are one value.
    const text = `{"connections":[],"more":"\\"${','.repeat(VALUES_AT_MOST + 1)}"}`;
    api.faults.length = 0;
    api.faults.push(({ url }) => (url.pathname.endsWith('/connections') ? { status: 200, text } : null));
    await copy([JANE]);
  });
});
