import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { CONTACTS_AT_MOST, ContactStoreError, type Reading } from '../../src/server/contacts/contact-store.ts';
import { cardDavWriter } from '../../src/server/contacts/carddav/carddav-writer.ts';
import { CARD_OCTETS, CARDS_OCTETS, Dav } from '../../src/server/contacts/carddav/dav.ts';
import { inUtf8 } from '../../src/server/contacts/carddav/multistatus.ts';
import { isWellFormed } from '../../src/server/contacts/carddav/well-formed.ts';
import { derivedUid } from '../../src/server/contacts/matching.ts';
import { openContactReader } from '../../src/server/contacts/open-contacts.ts';
import { ANSWER_OCTETS, Web } from '../../src/server/contacts/web.ts';
import { person, readerOf } from '../support/contact-samples.ts';
import { copyInto, MemoryFates } from '../support/contacts-copy.ts';
import { startHttpListener } from '../support/http-listener.ts';
import { startApi, type ApiAnswer, type ApiRequest, type Fault, type ScriptedApi } from '../support/scripted-api.ts';

const SIGNAL = new AbortController().signal;
const NAMESPACES = 'xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:carddav"';

function multistatus(...responses: readonly string[]): ApiAnswer {
  const text = `<?xml version="1.0"?><multistatus ${NAMESPACES}>${responses.join('')}</multistatus>`;
  return { status: 207, text, headers: { 'content-type': 'application/xml' } };
}
const response = (href: string, properties: string) =>
  `<response><href>${href}</href><propstat><prop>${properties}</prop><status>HTTP/1.1 200 OK</status></propstat></response>`;
const book = (href: string) => response(href, '<resourcetype><collection/><C:addressbook/></resourcetype>');
const listed = (href: string) => response(href, '<getetag>"1"</getetag><resourcetype/>');
const data = (href: string, text: string) => response(href, `<C:address-data>${text}</C:address-data>`);
const vcard = (name: string, ...lines: readonly string[]) =>
  ['BEGIN:VCARD', 'VERSION:3.0', `FN:${name}`, ...lines, 'END:VCARD', ''].join('&#13;\n');
/** The octets of its name as characters of Latin-1. */
const folded = (fold: string) => vcard(`J\u00C3${fold} \u00B6rg`);

/** As a proxy hands out while what is behind it is being mended. */
const PAGE: ApiAnswer = {
  status: 200,
  text: '<html><body>Back soon</body></html>',
  headers: { 'content-type': 'text/html' },
};

function photo(octets: number): string {
  return `PHOTO;ENCODING=b:${'A'.repeat(octets)}`;
}

function names(readings: readonly Reading[]): string[] {
  return readings.map((reading) => {
    if (reading.kind === 'group') return `group ${reading.group.name}`;
    return reading.kind === 'contact' ? reading.contact.name.formatted : reading.skipped.reason;
  });
}

function uids(readings: readonly Reading[]): string[] {
  return readings.map((reading) => (reading.kind === 'contact' ? reading.contact.uid : 'skipped'));
}

const breaksAtPhoto: Fault = ({ bytes }) => (bytes.includes('PHOTO') ? 'cut' : null);

/** A server of which only this is known: what it answers to a method and a path. */
type Script = Record<string, (request: ApiRequest) => ApiAnswer>;

const openPlain = (url: string, cleartext: string) =>
  openContactReader({
    settings: readSettings({ SANDBOX: 'on', LEGACY_CARDDAV_URL: url, ALLOW_CLEAR_TEXT: cleartext }),
    credentials: { email: 'a@legacy.example', password: 'x' },
  });

describe('a CardDAV server', () => {
  let script: Script;
  let api: ScriptedApi;
  beforeEach(async () => {
    script = {};
    api = await startApi(
      (request) => script[`${request.method} ${request.url.pathname}`]?.(request) ?? { status: 404, text: '' },
    );
  });
  afterEach(async () => api[Symbol.asyncDispose]());

  const reader = (path = '/') =>
    openContactReader({
      settings: readSettings({ SANDBOX: 'on', LEGACY_CARDDAV_URL: `${api.url}${path}` }),
      credentials: { email: 'jörg o@legacy.example', password: 'pässword' },
      sleep: async () => {},
    });
  const readAll = async (path?: string): Promise<Reading[]> => {
    const readings: Reading[] = [];
    for await (const reading of reader(path).contacts(SIGNAL)) readings.push(reading);
    return readings;
  };
  /** An address book at `/b/` with these cards, each as the XML of its data. */
  const serveBook = (cards: Record<string, string>) => {
    script['PROPFIND /b/'] = ({ headers }) =>
      headers['depth'] === '0' ? multistatus(book('/b/')) : multistatus(book('/b/'), ...Object.keys(cards).map(listed));
    script['REPORT /b/'] = ({ bytes }) =>
      multistatus(
        ...Object.entries(cards)
          .filter(([href]) => bytes.includes(`>${href}<`))
          .map(([href, text]) => data(href, text)),
      );
  };

  test('is found by its well-known address, the principal and the home of its address books', async () => {
    serveBook({ '/b/1.vcf': vcard('Jane') });
    script['PROPFIND /.well-known/carddav'] = () => ({ status: 301, text: '', headers: { location: '/dav/' } });
    script['PROPFIND /dav/'] = () =>
      multistatus(
        response(
          '/dav/',
          '<resourcetype><collection/></resourcetype><current-user-principal><href>/p/j/</href></current-user-principal>',
        ),
      );
    script['PROPFIND /p/j/'] = () =>
      multistatus(response('/p/j/', '<C:addressbook-home-set><href>/home/j/</href></C:addressbook-home-set>'));
    script['PROPFIND /home/j/'] = () =>
      multistatus(response('/home/j/', '<resourcetype><collection/></resourcetype>'), book('/b/'));
    expect(names(await readAll())).toEqual(['Jane']);
  });

  test('may have several homes of address books', async () => {
    serveBook({ '/b/1.vcf': vcard('Jane') });
    const homes = `<href>/home/1/</href><href>${api.url}/home/2/</href>`;
    script['PROPFIND /'] = () =>
      multistatus(response('/', `<C:addressbook-home-set>${homes}</C:addressbook-home-set>`));
    script['PROPFIND /home/1/'] = () => multistatus(response('/home/1/', '<resourcetype><collection/></resourcetype>'));
    script['PROPFIND /home/2/'] = () => multistatus(book('/b/'));
    expect(names(await readAll())).toEqual(['Jane']);
  });

  test('has no contacts where the home that it names has no address book, and fails where it does not show it', async () => {
    const home = response('/home/', '<resourcetype><collection/></resourcetype>');
    script['PROPFIND /'] = () =>
      multistatus(response('/', '<C:addressbook-home-set><href>/home/</href></C:addressbook-home-set>'));
    script['PROPFIND /home/'] = () => multistatus(home);
    expect(await readAll()).toEqual([]);
    // It has been found out, whatever there is elsewhere.
    script['PROPFIND /.well-known/carddav'] = () => ({ status: 401, text: '' });
    expect(await readAll()).toEqual([]);
    delete script['PROPFIND /.well-known/carddav'];
    const hidden = '<response><href>/home/b/</href><status>HTTP/1.1 403 Forbidden</status></response>';
    const itself = '<response><href>/home/</href><status>HTTP/1.1 403 Forbidden</status></response>';
    const folder = response('/home/sub/', '<resourcetype><collection/></resourcetype>');
    for (const answer of [
      { status: 403, text: '' },
      multistatus(),
      multistatus(itself),
      multistatus(home, hidden),
      multistatus(home, folder),
    ]) {
      script['PROPFIND /home/'] = () => answer;
      await expect(readAll()).rejects.toMatchObject({ name: 'ContactStoreError' });
    }
    // Nobody says that this is where address books are.
    script['PROPFIND /'] = () => multistatus(response('/', '<resourcetype><collection/></resourcetype>'));
    await expect(readAll()).rejects.toMatchObject({ fault: 'refused' });
  });

  test.each(['PROPFIND', 'REPORT'])(
    'in whose place something else answers a %s has refused nothing',
    async (method) => {
      serveBook({ '/b/1.vcf': vcard('Jane') });
      script[`${method} /b/`] = () => PAGE;
      await expect(readAll('/b/')).rejects.toMatchObject({ fault: 'unexpected' });
    },
  );

  test.each([
    ['a page in its place', () => PAGE, ['We cannot read this contact card.']],
    ['a page with every status', () => ({ ...PAGE, status: 404 }), []],
  ] as const)(
    'that is out of order while a card is asked for alone (%s) is not believed about it',
    async (_, answer: () => ApiAnswer, rest) => {
      const cards = { '/b/1.vcf': vcard('Jane'), '/b/2.vcf': '' };
      serveBook(cards);
      script['GET /b/2.vcf'] = () => {
        script['PROPFIND /b/'] = answer;
        return answer();
      };
      await expect(readAll('/b/')).rejects.toMatchObject({ fault: 'unexpected' });
      // Once it is in order again, there is one such page, or none such card.
      serveBook(cards);
      script['GET /b/2.vcf'] = answer;
      expect(names(await readAll('/b/'))).toEqual(['Jane', ...rest]);
    },
  );

  test('that gives one card twice and another not at all is asked for that one alone', async () => {
    const cards = { '/b/1.vcf': vcard('Jane'), '/b/2.vcf': vcard('Ann') };
    serveBook(cards);
    script['REPORT /b/'] = () => multistatus(data('/b/1.vcf', vcard('Jane')), data('/b/1.vcf', vcard('Jane')));
    script['GET /b/2.vcf'] = () => ({ status: 200, text: vcard('Ann').replaceAll('&#13;', '\r') });
    expect(names(await readAll('/b/'))).toEqual(['Jane', 'Ann']);
  });

  test('is asked at the address of the account, its email put in and escaped, by Basic in UTF-8', async () => {
    serveBook({ '/b/1.vcf': vcard('Jane') });
    const own = '/dav/j%C3%B6rg%20o%40legacy.example/';
    script[`PROPFIND ${own}`] = ({ headers }) =>
      headers['depth'] === '0'
        ? multistatus(response(own, '<resourcetype><collection/></resourcetype>'))
        : multistatus(book('/b/'));
    expect(names(await readAll('/dav/{email}/'))).toEqual(['Jane']);
    expect(api.requests[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('jörg o@legacy.example:pässword').toString('base64')}`,
    );
  });

  test('may return its cards as CDATA, with numeric names and entities in them', async () => {
    serveBook({
      '/b/1.vcf': `<![CDATA[${vcard('A &amp; &lt;B&gt;').replaceAll('&#13;', '\r')}]]>`,
      '/b/2.vcf': vcard('12345', 'NOTE:&lt;x&gt; &amp;amp; ]]&gt;'),
    });
    const [first, second] = await readAll('/b/');
    expect(first).toMatchObject({ contact: { name: { formatted: 'A &amp; &lt;B&gt;' } } });
    expect(second).toMatchObject({ contact: { name: { formatted: '12345' }, notes: '<x> &amp; ]]>' } });
  });

  test('has its broken cards skipped by name, and its other cards read', async () => {
    serveBook({ '/b/1.vcf': 'BEGIN:VCARD', '/b/2.vcf': vcard('Jane'), '/b/3%20x.vcf': 'nonsense' });
    expect((await reader('/b/').survey(SIGNAL)).total).toBe(3);
    expect(await readAll('/b/')).toMatchObject([
      { skipped: { subject: '1.vcf', reason: 'The end of this contact card is missing.' } },
      { contact: { name: { formatted: 'Jane' } } },
      { skipped: { subject: '3 x.vcf', reason: 'We cannot read this contact card.' } },
    ]);
  });

  test('may hold cards without a UID or with the same: each gets its own, alike in every run', async () => {
    serveBook({
      '/b/1.vcf': vcard('Jane'),
      '/b/2.vcf': vcard('Ann', 'UID:x'),
      '/b/3.vcf': vcard('Bob', 'UID:x'),
      '/b/4.vcf': vcard('Ann', 'UID:x'),
    });
    const first = uids(await readAll('/b/'));
    expect(first[1]).toBe('x');
    // The same card twice is one contact.
    expect(first).toHaveLength(3);
    expect(new Set(first).size).toBe(3);
    expect(uids(await readAll('/b/'))).toEqual(first);
    expect((await reader('/b/').survey(SIGNAL)).uids).toEqual(new Set(first));
  });

  test('may give a group a UID of any length, which the table of fates has no room for', async () => {
    serveBook({
      '/b/1.vcf': vcard('Jane', 'UID:jane'),
      '/b/2.vcf': vcard('Club', `UID:${'long'.repeat(5_000)}`, 'KIND:group', 'MEMBER:urn:uuid:jane'),
    });
    const [group] = (await readAll('/b/')).filter((reading) => reading.kind === 'group');
    expect(group?.group).toMatchObject({ name: 'Club', uid: expect.stringMatching(/^[\da-f-]{36}$/) });
  });

  test.each([
    ['in its own words', (text: string) => text],
    [
      'by more than one prefix, with white space in tags',
      (text: string) =>
        text
          .replace('<multistatus ', '<m:multistatus xmlns:m="DAV:" ')
          .replace('</multistatus>', '</m:multistatus >')
          .replaceAll('</response>', '</response\n>'),
    ],
  ])('may list many cards, %s: they are read in parts, and other work gets its turn in between', async (_, said) => {
    const parts: number[] = [];
    class Noted extends Response {
      constructor(body?: BodyInit | null, init?: ResponseInit) {
        super(body, init);
        if (typeof body === 'string') parts.push(body.length);
      }
    }
    vi.stubGlobal('Response', Noted);
    const hrefs = Array.from({ length: 10_000 }, (_, at) => `/b/${String(at).padStart(5, '0')}.vcf`);
    const answer = multistatus(book('/b/'), ...hrefs.map(listed));
    script['PROPFIND /b/'] = () => ({ ...answer, text: said(answer.text ?? '') });
    const url = new URL(`${api.url}/b/`);
    const web = new Web(url, { email: 'a@legacy.example', password: 'x' });
    const cards = await new Dav(web).cards(url, SIGNAL).finally(() => vi.unstubAllGlobals());
    expect(cards.map((card) => card.url.pathname)).toEqual(hrefs);
    expect(parts.length).toBeGreaterThan(4);
    expect(parts.reduce((sum, length) => sum + length, 0)).toBeGreaterThan(1_000_000);
    expect(Math.max(...parts)).toBeLessThan(300_000);
  });

  test('that lists a card at excessive length is abandoned', async () => {
    const endless = response('/b/1.vcf', `<getetag>"1"</getetag>${'<a/>'.repeat(CARDS_OCTETS / 4)}`);
    script['PROPFIND /b/'] = () => multistatus(book('/b/'), endless, listed('/b/2.vcf'));
    const url = new URL(`${api.url}/b/`);
    const web = new Web(url, { email: 'a@legacy.example', password: 'x' });
    await expect(new Dav(web).cards(url, SIGNAL)).rejects.toThrow('lists its cards at too great a length');
  });

  test('whose list of cards is longer than any that is read has too many of them, however often it is asked', async () => {
    const card = listed('/b/1.vcf');
    const text = card.repeat(Math.ceil(ANSWER_OCTETS / card.length));
    script['PROPFIND /b/'] = ({ headers }) => (headers['depth'] === '0' ? multistatus(book('/b/')) : multistatus(text));
    await expect(reader('/b/').survey(SIGNAL)).rejects.toMatchObject({ fault: 'too many' });
  });

  test('whose cards hold more contacts than any address book has too many of them', async () => {
    const cards = 'BEGIN:VCARD\nEND:VCARD\n'.repeat(CONTACTS_AT_MOST / 2);
    serveBook({ '/b/1.vcf': cards, '/b/2.vcf': `${cards}${vcard('One too many')}` });
    await expect(reader('/b/').survey(SIGNAL)).rejects.toMatchObject({ fault: 'too many' });
  });

  test('may have cards too large for one answer: they come in smaller ones, and one over the limit is skipped', async () => {
    const cards = {
      '/b/1.vcf': vcard('Jane', photo(CARDS_OCTETS / 2)),
      '/b/2.vcf': vcard('Ann', photo(CARDS_OCTETS / 2)),
      '/b/3.vcf': vcard('Large', photo(CARDS_OCTETS * 2)),
      '/b/4.vcf': vcard('Huge', photo(CARD_OCTETS)),
      '/b/5.vcf': vcard('Kept back', photo(CARDS_OCTETS * 2)),
      '/b/6.vcf': vcard('Last'),
    };
    serveBook(cards);
    const tooLarge = 'This contact card is too large.';
    for (const place of [3, 4] as const)
      script[`GET /b/${place}.vcf`] = () => ({ status: 200, text: cards[`/b/${place}.vcf`].replaceAll('&#13;', '') });
    script['GET /b/5.vcf'] = () => ({ status: 403, text: '' });
    expect(names(await readAll('/b/'))).toEqual(['Jane', 'Ann', 'Large', tooLarge, tooLarge, 'Last']);
  });

  test.each([
    'http://127.0.0.1:9/b/',
    '//127.0.0.1:9/b/',
    'https://user:pw@[::1]/b/',
    'file:///etc/passwd',
    'http://[',
  ])('that points to %s is not followed there', async (elsewhere) => {
    script['PROPFIND /b/'] = () =>
      multistatus(response('/b/', `<current-user-principal><href>${elsewhere}</href></current-user-principal>`));
    await expect(reader('/b/').survey(SIGNAL)).rejects.toMatchObject({ fault: 'unexpected' });
    script['PROPFIND /b/'] = () => ({ status: 302, text: '', headers: { location: elsewhere } });
    await expect(reader('/b/').survey(SIGNAL)).rejects.toMatchObject({ fault: 'unexpected' });
  });

  test('that redirects in a circle is abandoned', async () => {
    script['PROPFIND /b/'] = () => ({ status: 307, text: '', headers: { location: '/b/' } });
    await expect(reader('/b/').survey(SIGNAL)).rejects.toMatchObject({ fault: 'unexpected' });
    expect(api.requests).toHaveLength(6);
  });

  test.each([
    ['is no CardDAV server', { status: 200, text: '<html>hello</html>', headers: { 'content-type': 'text/html' } }],
    ['answers broken XML', { status: 207, text: '<a><b></a>', headers: { 'content-type': 'text/xml' } }],
    ['has no address book', { status: 404, text: '' }],
  ])('that %s gives a fault, not a crash', async (_, answer) => {
    script['PROPFIND /'] = () => answer;
    script['PROPFIND /.well-known/carddav'] = () => answer;
    await expect(reader('/').survey(SIGNAL)).rejects.toBeInstanceOf(ContactStoreError);
  });

  const LIST = `<multistatus xmlns="DAV:">${listed('/b/1.vcf')}${listed('/b/2.vcf')}</multistatus>`;
  const listWith = (more: string) => LIST.replace('<resourcetype/>', more);
  test.each([
    ['of which the end is missing', LIST.slice(0, -40)],
    ['without a word', ''],
    ['in another document', LIST.replaceAll('multistatus', 'status')],
    ['with a declaration that has no end', `<!DOCTYPE a [${'<!'.repeat(10_000)}`],
    ['within too many elements', `${'<a>'.repeat(10_000)}${LIST}${'</a>'.repeat(10_000)}`],
    ['with signs that may not be there', LIST.replace('"1"', '"<"')],
    // With so much of these, or more, the library took from seconds to an hour.
    ['with more names than any has', listWith(Array.from({ length: 200 }, (_, at) => `<a${at}>x</a${at}>`).join(''))],
    ['with more elements than any has', listWith('<a/>'.repeat(60_000))],
    ['with a text in more pieces than any has', listWith('x<b/>'.repeat(1001))],
    ['with a longer declaration than any has', `<?xml ${'a'.repeat(200)}?>${LIST}`],
    ['with more entities of HTML than any has', listWith('&uuml;'.repeat(1001))],
  ])('that lists its cards %s is not taken for an empty book', async (_how, text) => {
    serveBook({ '/b/1.vcf': vcard('Jane'), '/b/2.vcf': vcard('June') });
    const whole = script['PROPFIND /b/'];
    script['PROPFIND /b/'] = (request) =>
      request.headers['depth'] === '1' ? { ...multistatus(), text } : (whole?.(request) ?? multistatus());
    await expect(readAll('/b/')).rejects.toMatchObject({ fault: 'unexpected' });
  });

  // Over 28 KB of elements that end by another name the library took 36 s, over an end of 2 MB 8 s.
  test.each([
    ['<a b="c"><d:e/><a></a ></a>', true],
    ['<a></b>', false],
    ['<a><b></a></b>', false],
    ['</a>', false],
    ['<a></a b="c">', false],
    ['<a></a/>', false],
  ])('may answer by %s: %s', (xml, may) => {
    expect(isWellFormed(xml)).toBe(may);
  });

  test('whose answer can’t be parsed because of one card is asked for each card separately', async () => {
    serveBook({ '/b/1.vcf': vcard('Jane'), '/b/2.vcf': vcard('Tom & Ann'), '/b/3.vcf': vcard('June') });
    script['GET /b/2.vcf'] = () => ({ status: 200, text: vcard('Tom & Ann').replaceAll('&#13;', '\r') });
    expect(names(await readAll('/b/'))).toEqual(['Jane', 'Tom & Ann', 'June']);
  });

  const NOT_GIVEN = ['403 Forbidden', '500 Internal Server Error'];
  test.each([
    ['says nothing of one of its cards', ''],
    ['gives a card without its text', data('/b/2.vcf', '')],
    ...NOT_GIVEN.flatMap((status) => [
      [`says ${status} of a card`, `<response><href>/b/2.vcf</href><status>HTTP/1.1 ${status}</status></response>`],
      [
        `says ${status} of the text of a card`,
        `<response><href>/b/2.vcf</href><propstat><prop><C:address-data/></prop><status>HTTP/1.1 ${status}</status></propstat></response>`,
      ],
    ]),
  ])('that %s is asked for it alone, and it is told when it is not given so either', async (_, said) => {
    serveBook({ '/b/1.vcf': vcard('Jane'), '/b/2.vcf': vcard('Ann'), '/b/3.vcf': vcard('June') });
    script['REPORT /b/'] = () => multistatus(data('/b/1.vcf', vcard('Jane')), said, data('/b/3.vcf', vcard('June')));
    script['GET /b/2.vcf'] = () => ({ status: 200, text: vcard('Ann').replaceAll('&#13;', '\r') });
    expect(names(await readAll('/b/')).toSorted()).toEqual(['Ann', 'Jane', 'June']);
    for (const status of [403, 500]) {
      script['GET /b/2.vcf'] = () => ({ status, text: '' });
      expect((await reader('/b/').survey(SIGNAL)).total).toBe(3);
      expect(names(await readAll('/b/')).toSorted()).toEqual(['Jane', 'June', 'We cannot read this contact card.']);
    }
    script['GET /b/2.vcf'] = () => ({ status: 404, text: '' });
    expect(names(await readAll('/b/')).toSorted()).toEqual(['Jane', 'June']);
  });

  test('whose links to photos fail is asked for a few of them only, but for all of its cards', async () => {
    const hrefs = Array.from({ length: 9 }, (_, at) => `/b/${at}.vcf`);
    const link = (href: string) => `PHOTO;VALUE=uri:${api.url}${href}.png`;
    serveBook(Object.fromEntries(hrefs.map((href) => [href, vcard(href, link(href))])));
    for (const href of hrefs) script[`GET ${href}.png`] = () => ({ status: 500, text: '' });
    const readings = await readAll('/b/');
    expect(names(readings)).toEqual(hrefs);
    const asked = new Set(api.requests.filter(({ method }) => method === 'GET').map(({ url }) => url.pathname));
    expect(asked.size).toBe(3);
  });

  test('that refuses to return cards is reported as refusing', async () => {
    serveBook({ '/b/1.vcf': vcard('Jane') });
    script['REPORT /b/'] = () => ({ status: 403, text: '' });
    await expect(readAll('/b/')).rejects.toMatchObject({ fault: 'refused', status: 403 });
  });

  test.each([
    ['by its status', { status: 404, text: '' }],
    [
      'within a multistatus',
      multistatus('<response><href>/b/</href><status>HTTP/1.1 404 Not Found</status></response>'),
    ],
  ])('whose address book is gone when it is listed (%s) is not taken to have no cards', async (_, gone) => {
    serveBook({ '/b/1.vcf': vcard('Jane') });
    script['PROPFIND /b/'] = ({ headers }) => (headers['depth'] === '0' ? multistatus(book('/b/')) : gone);
    await expect(readAll('/b/')).rejects.toMatchObject({ fault: 'refused' });
  });

  test('that says its list is incomplete is not taken to have listed all its cards', async () => {
    const notAll = '<response><href>/b/</href><status>HTTP/1.1 507 Insufficient Storage</status></response>';
    serveBook({ '/b/1.vcf': vcard('Jane') });
    const whole = script['PROPFIND /b/'];
    script['PROPFIND /b/'] = (request) =>
      request.headers['depth'] === '1'
        ? multistatus(book('/b/'), listed('/b/1.vcf'), notAll)
        : (whole?.(request) ?? multistatus());
    await expect(readAll('/b/')).rejects.toMatchObject({ fault: 'refused' });
  });

  test('that compresses its answers, and calls them others then, has its cards replaced all the same', async () => {
    script['GET /b/1.vcf'] = ({ headers }) => ({
      status: 200,
      text: 'before',
      // As Apache does; nginx makes it weak.
      headers: { etag: headers['accept-encoding']?.includes('gzip') === true ? '"1-gzip"' : '"1"' },
    });
    script['PUT /b/1.vcf'] = ({ headers }) => ({ status: headers['if-match'] === '"1"' ? 204 : 412 });
    const dav = new Dav(new Web(new URL(api.url), { email: 'a@legacy.example', password: 'x' }));
    const url = new URL('/b/1.vcf', api.url);
    const stored = await dav.read(url, SIGNAL);
    expect(await dav.replace(url, 'after', stored?.etag ?? '', SIGNAL)).toBe(204);
  });

  test('that has no ETags gets nothing added to a card, and that is told', async () => {
    const text = vcard('Ann', 'NICKNAME:Annie').replaceAll('&#13;', '\r');
    script['GET /b/1.vcf'] = () => ({ status: 200, text });
    const writer = cardDavWriter(new Dav(new Web(new URL(api.url), { email: 'a@legacy.example', password: 'x' })));
    const ours = { ...person('ann', 'Ann', [], ['+1 650 555 0100']), nickname: 'Nan' };
    const theirs = { id: `${api.url}/b/1.vcf`, uid: '', contact: person('', 'Ann', []) };
    const fill = writer.fill.bind(writer);
    expect(await fill(theirs, ours, SIGNAL)).toEqual({
      outcome: 'whole',
      stays: ['nickname', 'phone'],
      notes: [
        'Not added, because something else is there: nickname.',
        'Not added, because that could have overwritten a change of yours: phone numbers.',
      ],
    });
  });

  test.each([
    ['has weak ETags', 'W/"1"', ''],
    ['keeps several cards in one resource', '"1"', vcard('Bob', 'X-MINE:1').replaceAll('&#13;', '\r')],
  ])('that %s keeps what it has, and is told to lack ours', async (_, etag, more) => {
    const text = vcard('Ann').replaceAll('&#13;', '\r') + more;
    script['GET /b/1.vcf'] = () => ({ status: 200, text, headers: { etag } });
    script['PUT /b/1.vcf'] = ({ headers }) => ({ status: headers['if-match'] === '"1"' ? 204 : 412 });
    const writer = cardDavWriter(new Dav(new Web(new URL(api.url), { email: 'a@legacy.example', password: 'x' })));
    const theirs = { id: `${api.url}/b/1.vcf`, uid: '', contact: person('', 'Ann', []) };
    const fill = writer.fill.bind(writer);
    expect(await fill(theirs, person('ann', 'Ann', [], ['+1 650 555 0100']), SIGNAL)).toEqual({
      outcome: 'whole',
      stays: ['phone'],
      notes: ['Not added, because that could have overwritten a change of yours: phone numbers.'],
    });
  });

  test('in whose place a page answers has neither stored a contact nor lost one that is there', async () => {
    const writer = cardDavWriter(
      new Dav(new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' })),
    );
    const people = [{ ...person('ann', 'Ann', []), nickname: 'Nan' }];
    const fates = new MemoryFates();
    serveBook({});
    script[`PUT /b/${derivedUid('ann')}.vcf`] = () => PAGE;
    await expect(copyInto({ reader: readerOf(people), writer, signal: SIGNAL }, fates)).rejects.toMatchObject({
      fault: 'unexpected',
    });
    expect(fates.count('intent')).toBe(1);
    serveBook({ '/b/1.vcf': vcard('Ann') });
    script['GET /b/1.vcf'] = () => PAGE;
    await expect(copyInto({ reader: readerOf(people), writer, signal: SIGNAL })).rejects.toMatchObject({
      fault: 'unexpected',
    });
    script['GET /b/1.vcf'] = () => ({
      status: 200,
      text: vcard('Ann').replaceAll('&#13;', '\r'),
      headers: { etag: '"1"' },
    });
    script['PUT /b/1.vcf'] = () => PAGE;
    await expect(copyInto({ reader: readerOf(people), writer, signal: SIGNAL })).rejects.toMatchObject({
      fault: 'unexpected',
    });
  });

  test('that may call a card HTML is read all the same', async () => {
    serveBook({ '/b/1.vcf': '' });
    const text = vcard('Jane').replaceAll('&#13;', '\r');
    script['GET /b/1.vcf'] = () => ({ ...PAGE, text });
    expect(names(await readAll('/b/'))).toEqual(['Jane']);
  });

  test.each([403, 404])(
    'that refuses all (%i) is not believed about a contact, and one that refuses a contact is',
    async (status) => {
      const writer = cardDavWriter(
        new Dav(new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' })),
      );
      const people = [person('ann', 'Ann', []), person('bob', 'Bob', [])];
      const fates = new MemoryFates();
      serveBook({});
      script[`PUT /b/${derivedUid('ann')}.vcf`] = () => {
        delete script['PROPFIND /b/'];
        return { status, text: '' };
      };
      await expect(copyInto({ reader: readerOf(people), writer, signal: SIGNAL }, fates)).rejects.toMatchObject({
        name: 'ContactStoreError',
      });
      expect(fates.count('refused')).toBe(0);
      const cards: Record<string, string> = {};
      serveBook(cards);
      for (const { uid } of people)
        script[`PUT /b/${derivedUid(uid)}.vcf`] = ({ bytes }) => {
          if (uid === 'bob') cards[`/b/${derivedUid(uid)}.vcf`] = bytes.toString().replaceAll('\r', '&#13;');
          return { status: uid === 'bob' ? 201 : status, text: '' };
        };
      expect(await copyInto({ reader: readerOf(people), writer, signal: SIGNAL }, fates)).toMatchObject({
        written: 1,
        skipped: [{ subject: 'Ann', reason: `Your new address book refused this contact (${status}).` }],
      });
    },
  );

  test('that is back when it is looked at again has refused no contact meanwhile', async () => {
    const writer = cardDavWriter(
      new Dav(new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' })),
    );
    const fates = new MemoryFates();
    serveBook({});
    const shown = script['PROPFIND /b/'];
    script[`PUT /b/${derivedUid('ann')}.vcf`] = () => {
      script['PROPFIND /b/'] = () => {
        if (shown !== undefined) script['PROPFIND /b/'] = shown;
        return { status: 404, text: '' };
      };
      return { status: 404, text: '' };
    };
    const people = [person('ann', 'Ann', [])];
    await expect(copyInto({ reader: readerOf(people), writer, signal: SIGNAL }, fates)).rejects.toMatchObject({
      name: 'ContactStoreError',
    });
    expect(fates.count('refused')).toBe(0);
  });

  test('that is out of order when a contact is to be filled does not get it a second time', async () => {
    const writer = cardDavWriter(
      new Dav(new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' })),
    );
    serveBook({ '/b/1.vcf': vcard('Ann') });
    const shown = script['PROPFIND /b/'];
    script['GET /b/1.vcf'] = () => {
      script['PROPFIND /b/'] = () => {
        if (shown !== undefined) script['PROPFIND /b/'] = shown;
        return { status: 404, text: '' };
      };
      return { status: 404, text: '' };
    };
    const people = [{ ...person('ann', 'Ann', []), nickname: 'Nan' }];
    await expect(copyInto({ reader: readerOf(people), writer, signal: SIGNAL })).rejects.toMatchObject({
      name: 'ContactStoreError',
    });
    expect(api.requests.filter(({ method }) => method === 'PUT')).toEqual([]);
  });

  test('whose address the operator has removed is no fault of the new address book', () => {
    const { legacyCarddavUrl: _, ...settings } = readSettings({ SANDBOX: 'on' });
    const credentials = { email: 'a@legacy.example', password: 'x' };
    expect(() => openContactReader({ settings, credentials })).toThrow(expect.objectContaining({ account: 'source' }));
  });

  test('that fails at what it can’t read gets a contact in common fields', async () => {
    serveBook({});
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    const odd = { ...person('ann', 'Ann', []), vcard: vcard('Ann', 'X-ODD:1').replaceAll('&#13;', '\r') };
    script[`PUT /b/${derivedUid('ann')}.vcf`] = ({ bytes }) => ({
      status: bytes.includes('X-ODD') ? 500 : 201,
      text: '',
    });
    expect(await writer.write([odd], SIGNAL)).toMatchObject([{ outcome: 'written' }]);
  });

  test('that breaks off at a photo gets the contact without it; what it may have taken all the same is not said to be less', async () => {
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    serveBook({});
    const ann = { ...person('ann', 'Ann', []), photo: { mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) } };
    const path = `/b/${derivedUid('ann')}.vcf`;
    script[`PUT ${path}`] = () => ({ status: 201, text: '' });
    // No longer than a network may be away.
    api.faults.push(...Array.from({ length: 6 }, () => breaksAtPhoto));
    expect(await writer.write([ann], SIGNAL)).toEqual([{ outcome: 'written', notes: [], stays: [] }]);
    api.faults.push(...Array.from({ length: 48 }, () => breaksAtPhoto));
    expect(await writer.write([ann], SIGNAL)).toEqual([
      { outcome: 'written', notes: ['The photo was not accepted there.'], stays: ['photo'] },
    ]);
    script[`PUT ${path}`] = () => ({ status: 412, text: '' });
    expect(await writer.write([ann], SIGNAL)).toEqual([{ outcome: 'written', notes: [], stays: [] }]);
  });

  test.each([12, 24])('that is gone for %i requests gets no contact in another form', async (requests) => {
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    serveBook({});
    const ann = { ...person('ann', 'Ann', []), photo: { mediaType: 'image/png', bytes: new Uint8Array([1, 2, 3]) } };
    script[`PUT /b/${derivedUid('ann')}.vcf`] = () => ({ status: 201, text: '' });
    api.faults.push(...Array.from({ length: requests }, () => () => 'cut' as const));
    await expect(writer.write([ann], SIGNAL)).rejects.toMatchObject({ fault: 'unavailable' });
  });

  test('may hold cards of an old program in the charset of Windows beside others in UTF-8', async () => {
    serveBook({ '/b/1.vcf': '', '/b/2.vcf': '' });
    const cards = [data('/b/1.vcf', vcard('M\u00FCller, \u0080 5')), data('/b/2.vcf', vcard('J\u00C3\u00B6rg'))];
    const { text, ...answer } = multistatus(...cards);
    script['REPORT /b/'] = () => ({ ...answer, octets: Buffer.from(text ?? '', 'latin1') });
    expect(names(await readAll('/b/'))).toEqual(['Müller, € 5', 'Jörg']);
  });

  test.each([
    ['many such lines', '\u00E4\n\n\u00EF\u00BB\u00BF\u00C3\u00A4\r\n', 'ä\n\n\uFEFFä\r\n', 5000],
    ['one such line without an end', '\u00C3\u00A4\u00E2\u0082\u00AC\u00FF', 'ä€\uFFFD', 100_000],
    // A fold lies across each 128 KB.
    ['many folds inside a character, and octets that are none', '\u00C3\r\n \u00A4\u00FFab', 'ä\uFFFDab', 50_000],
  ])(
    'may hold a card of %s: others have their turn meanwhile, and it is read as before',
    async (_, one, read, times) => {
      let turns = 0;
      const count = () => {
        turns += 1;
        next = setImmediate(count);
      };
      let next = setImmediate(count);
      const octets = await inUtf8(Buffer.from(`NOTE:${one.repeat(times)}`, 'latin1'));
      clearImmediate(next);
      expect(octets.toString() === `NOTE:${read.repeat(times)}`).toBe(true);
      expect(turns).toBeGreaterThan(5);
    },
  );

  test('may fold its cards inside a character', async () => {
    serveBook({ '/b/1.vcf': '', '/b/2.vcf': '' });
    const { text, ...answer } = multistatus(data('/b/1.vcf', folded('&#13;\n')));
    script['REPORT /b/'] = () => ({ ...answer, octets: Buffer.from(text ?? '', 'latin1') });
    const alone = folded('\r\n').replaceAll('&#13;', '\r');
    script['GET /b/2.vcf'] = () => ({ status: 200, octets: Buffer.from(alone, 'latin1') });
    expect(names(await readAll('/b/'))).toEqual(['Jörg', 'Jörg']);
  });

  test.each([408, 423])('that answers %i for a moment gets the source’s own card', async (status) => {
    serveBook({});
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    const odd = { ...person('ann', 'Ann', []), vcard: vcard('Ann', 'X-ODD:1').replaceAll('&#13;', '\r') };
    let puts = 0;
    let stored = '';
    script[`PUT /b/${derivedUid('ann')}.vcf`] = ({ bytes }) => {
      puts += 1;
      stored = bytes.toString();
      return { status: puts < 3 ? status : 201, text: '' };
    };
    expect(await writer.write([odd], SIGNAL)).toEqual([{ outcome: 'written', notes: [], stays: [] }]);
    expect(stored).toContain('X-ODD:1');
    puts = -99;
    // For longer than a moment: nothing says that it is because of the card.
    await expect(writer.write([odd], SIGNAL)).rejects.toMatchObject({ fault: 'unavailable', status });
    expect(stored).toContain('X-ODD:1');
  });

  test('that has one card locked for an hour lets all others arrive, and the lock is told', async () => {
    const cards: Record<string, string> = { '/b/1.vcf': vcard('Ann') };
    serveBook(cards);
    const text = vcard('Ann').replaceAll('&#13;', '\r');
    script['GET /b/1.vcf'] = () => ({ status: 200, text, headers: { etag: '"1"' } });
    script['PUT /b/1.vcf'] = () => ({ status: 423, text: '', headers: { 'retry-after': '3600' } });
    const path = `/b/${derivedUid('bob')}.vcf`;
    script[`PUT ${path}`] = ({ bytes }) => {
      cards[path] = bytes.toString().replaceAll('\r', '&#13;');
      return { status: 201, text: '' };
    };
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    const people = [{ ...person('ann', 'Ann', []), nickname: 'Nan' }, person('bob', 'Bob', [])];
    const copied = await copyInto({ reader: readerOf(people), writer, signal: SIGNAL });
    expect(copied).toMatchObject({ written: 1, present: 1, lost: 0, changed: 0 });
    expect(copied.notes).toEqual([
      { contact: 'Ann', note: 'Your new address book refused to add details to this contact (423).' },
    ]);
  });

  test('may hold several cards in one resource: each is found there, and left as it is', async () => {
    const both = ['Ann', 'Bob'].map((name) => vcard(name, `UID:${name.toLowerCase()}`)).join('');
    serveBook({ '/b/all.vcf': both });
    script['GET /b/all.vcf'] = () => ({
      status: 200,
      text: both.replaceAll('&#13;', '\r'),
      headers: { etag: '"1"' },
    });
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    const people = [person('ann', 'Ann', []), person('bob', 'Bob', [])];
    const copied = await copyInto({ reader: readerOf(people), writer, signal: SIGNAL });
    expect(copied).toMatchObject({ written: 0, present: 2, notes: [], lost: 0, changed: 0 });
    expect(api.requests.map(({ method }) => method)).not.toContain('PUT');
  });

  test('that fails at the card of a group keeps the copy from no end', async () => {
    serveBook({});
    const group = { uid: 'g', name: 'Club', notes: 'ours', members: ['ann'], strangers: [], vcard: '' };
    const path = `/b/${derivedUid('g')}.vcf`;
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    script[`PUT ${path}`] = () => ({ status: 500, text: '' });
    expect(await writer.group(group, SIGNAL)).toEqual(['The notes of this group were not accepted there.']);
    script[`PUT ${path}`] = ({ headers }) => ({ status: headers['if-match'] === undefined ? 412 : 500, text: '' });
    const there = ['KIND:group', 'UID:g'].join('\r\n');
    script[`GET ${path}`] = () => ({
      status: 200,
      text: vcard('Club', there).replaceAll('&#13;', '\r'),
      headers: { etag: '"1"' },
    });
    expect(await writer.group(group, SIGNAL)).toEqual([]);
  });

  test('gets the addresses of a list that have no card, and the list without them if it refuses those', async () => {
    serveBook({});
    const strangers = ['mailto:al@example.com', 'gone'];
    const group = { uid: 'g', name: 'Choir', notes: '', members: ['ann'], strangers, vcard: '' };
    const path = `/b/${derivedUid('g')}.vcf`;
    const writer = cardDavWriter(
      new Dav(
        new Web(new URL(`${api.url}/b/`), { email: 'a@legacy.example', password: 'x' }, { sleep: async () => {} }),
      ),
    );
    const sent: string[][] = [];
    const put = (status: (text: string) => number) => {
      script[`PUT ${path}`] = ({ bytes }) => {
        const text = bytes.toString();
        sent.push(text.match(/(?<=MEMBER:).*/g)?.map((member) => member.trim()) ?? []);
        return { status: status(text), text: '' };
      };
    };
    put(() => 201);
    expect(await writer.group(group, SIGNAL)).toEqual([]);
    put((text) => (text.includes('mailto:') ? 400 : 201));
    expect(await writer.group(group, SIGNAL)).toEqual([
      'Some members of this group have no card, so they were left out.',
    ]);
    const whole = ['urn:uuid:ann', 'mailto:al@example.com'];
    expect(sent).toEqual([whole, whole, ['urn:uuid:ann']]);

    // One that is there, from an earlier copy.
    sent.length = 0;
    script[`PUT ${path}`] = ({ headers, bytes }) => {
      if (headers['if-match'] === undefined) return { status: 412, text: '' };
      sent.push(
        bytes
          .toString()
          .match(/(?<=MEMBER:).*/g)
          ?.map((member) => member.trim()) ?? [],
      );
      return { status: 204, text: '' };
    };
    const there = ['KIND:group', 'UID:g', 'X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:ann'].join('\r\n');
    script[`GET ${path}`] = () => ({
      status: 200,
      text: vcard('Choir', there).replaceAll('&#13;', '\r'),
      headers: { etag: '"1"' },
    });
    expect(await writer.group(group, SIGNAL)).toEqual([]);
    expect(sent).toEqual([whole]);

    // That it refuses addresses shows only now.
    sent.length = 0;
    const fills = script[`PUT ${path}`];
    script[`PUT ${path}`] = (request) =>
      request.headers['if-match'] !== undefined && request.bytes.includes('mailto:')
        ? { status: 400, text: '' }
        : (fills?.(request) ?? { status: 500, text: '' });
    expect(await writer.group({ ...group, members: ['ann', 'bob'] }, SIGNAL)).toEqual([
      'Some members of this group have no card, so they were left out.',
    ]);
    expect(sent).toEqual([['urn:uuid:ann', 'urn:uuid:bob']]);
  });

  test('whose cards have other ETags and modification times in each answer has each card read once', async () => {
    let moment = 0;
    script['PROPFIND /b/'] = () => {
      moment += 1;
      const card = response('/b/1.vcf', `<getetag>"${moment}"</getetag><resourcetype/>`);
      return multistatus(book('/b/'), card);
    };
    script['REPORT /b/'] = () => {
      moment += 1;
      return multistatus(data('/b/1.vcf', vcard('Jane', 'UID:jane', `REV:2026010${moment}T000000Z`)));
    };
    expect(names(await readAll('/b/'))).toEqual(['Jane']);
  });

  test('that never answers is unavailable after the timeout, and one that is busy is waited for', async () => {
    api.faults.push(
      () => 'hang',
      () => ({ status: 503, text: '', headers: { 'retry-after': '3' } }),
    );
    serveBook({});
    const pauses: number[] = [];
    const web = new Web(
      new URL(`${api.url}/b/`),
      { email: 'a@legacy.example', password: 'x' },
      {
        timeout: 200,
        sleep: async (milliseconds) => void pauses.push(milliseconds),
      },
    );
    expect(await new Dav(web).books(SIGNAL)).toEqual([{ url: new URL(`${api.url}/b/`), name: '' }]);
    expect(pauses).toEqual([1_000, 3_000]);
  });

  test('that is busy is not waited for once the worker stops, and the reason is the worker’s own', async () => {
    serveBook({});
    const stop = new AbortController();
    const reason = new Error('the worker stops');
    api.faults.push(() => ({ status: 503, text: '', headers: { 'retry-after': '60' } }));
    const open = openContactReader({
      settings: readSettings({ SANDBOX: 'on', LEGACY_CARDDAV_URL: `${api.url}/b/` }),
      credentials: { email: 'a@legacy.example', accessToken: async () => 'token' },
      // Right before the pause.
      onFailure: () => stop.abort(reason),
    });
    await expect(open.survey(stop.signal)).rejects.toBe(reason);
    expect(api.requests[0]?.headers.authorization).toBe('Bearer token');
  });

  test('without TLS is not given a password unless ALLOW_CLEAR_TEXT names it', async () => {
    serveBook({ '/b/1.vcf': vcard('Jane') });
    // The settings don't take this address for one of this machine.
    const url = `${api.url.replace('127.0.0.1', '0.0.0.0')}/b/`;
    expect(() => openPlain(url, '')).toThrow('LEGACY_CARDDAV_URL must start with https://');
    await openPlain(url, 'LEGACY_CARDDAV_URL').survey(SIGNAL);
    expect(api.requests[0]?.headers.authorization).toMatch(/^Basic /);
  });
});

test('a CardDAV server may take longer over the list of its cards than over anything else, and is not asked for it twice', async () => {
  const { promise: given, resolve: give } = Promise.withResolvers<void>();
  const lists: unknown[] = [];
  await using server = await startHttpListener((asked, answer) => {
    if (asked.method !== 'PROPFIND') return;
    lists.push(asked.resume());
    const { status, text, headers } = multistatus(book('/b/'), listed('/b/1.vcf'));
    void given.then(() => answer.writeHead(status, headers).end(text));
  });
  const base = new URL(`http://127.0.0.1:${server.port}/b/`);
  const web = new Web(base, { email: 'a@legacy.example', password: 'x' }, { timeout: 500, sleep: async () => {} });
  const cards = new Dav(web).cards(base, SIGNAL);
  await expect(web.ask({ method: 'GET', url: base, repeatable: false }, SIGNAL)).rejects.toThrow('did not answer');
  give();
  expect(await cards).toHaveLength(1);
  expect(lists).toHaveLength(1);
});
