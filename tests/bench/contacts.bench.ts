import { readSettings } from '../../src/contract/settings.ts';
import { copyContacts } from '../../src/server/contacts/copy-contacts.ts';
import type { ContactWriter } from '../../src/server/contacts/contact-store.ts';
import { openContactWriter } from '../../src/server/contacts/open-contacts.ts';
import { person, readerOf } from '../support/contact-samples.ts';
import { MemoryFates } from '../support/contacts-copy.ts';
import { GraphApi } from '../support/graph-api.ts';
import { PeopleApi } from '../support/people-api.ts';
import { passwordOf, RADICALE, startRadicale } from '../support/radicale.ts';
import { startApi, type ApiRequest, type Fault, type ScriptedApi } from '../support/scripted-api.ts';

const CONTACTS = 5_000;
const KILL_AT = 2_000;
/** Radicale looks through the whole book at each request. */
const TO_RADICALE = 1_000;
const CROWD = Array.from({ length: CONTACTS }, (_, at) => ({
  ...person(`uid-${at}`, `Person ${at}`, [`p${at}@example.com`], [`650555${String(at).padStart(4, '0')}`]),
  birthday: '1950-04-13',
  notes: 'likes tea',
}));

/** How an API puts a request off besides 429. */
const PUT_OFF = {
  google: { status: 403, json: { error: { errors: [{ reason: 'rateLimitExceeded' }] } } },
  office365: { status: 503, json: { error: { code: 'serviceNotAvailable' } }, headers: { 'retry-after': '1' } },
} as const;

/** Address book to address book: 5,000 contacts to each kind of destination, undisturbed, and with all that goes wrong. */
export async function benchContacts(say: (line: string) => void): Promise<void> {
  for (const provider of ['google', 'office365'] as const)
    for (const disturbed of [false, true]) {
      const people = new PeopleApi('token');
      const graph = new GraphApi('token');
      await using api = await startApi(provider === 'google' ? people.answer : graph.answer);
      graph.base = `${api.url}/v1.0`;
      if (disturbed) disturb(api, graph, PUT_OFF[provider]);
      const writer = () =>
        openContactWriter(provider, {
          settings: readSettings({
            SANDBOX: 'on',
            GOOGLE_CONTACTS_URL: api.url,
            OFFICE365_CONTACTS_URL: `${api.url}/v1.0`,
          }),
          credentials: { email: 'a@example.com', accessToken: async () => 'token' },
          sleep: async () => {},
        });
      const result = await measured(writer, disturbed, CONTACTS);
      const size = (provider === 'google' ? people.people : graph.contacts).size;
      say(line(CONTACTS, provider, disturbed, result, size, `, ${api.requests.length} requests`));
    }
  if (RADICALE === null) return say('contacts: radicale is not installed');
  await using server = await startRadicale(['new']);
  await server.makeBook('new', 'book');
  const writer = () =>
    openContactWriter('yahoo', {
      settings: readSettings({ SANDBOX: 'on', YAHOO_CONTACTS_URL: server.url }),
      credentials: { email: 'new', password: passwordOf('new') },
    });
  const result = await measured(writer, false, TO_RADICALE);
  say(line(TO_RADICALE, 'carddav', false, result, (await server.cards('new', 'book')).length, ''));
}

type Result = {
  readonly seconds: number;
  readonly lost: number;
  readonly duplicated: number;
  readonly settled: number;
};

async function measured(writer: () => ContactWriter, killed: boolean, count: number): Promise<Result> {
  const start = performance.now();
  const fates = new MemoryFates();
  const kill = new AbortController();
  const run = (signal: AbortSignal) =>
    copyContacts({
      reader: readerOf(CROWD.slice(0, count)),
      writer: writer(),
      fates,
      sleep: async () => {},
      signal,
      onProgress: ({ done }) => {
        if (killed && done >= KILL_AT) kill.abort(new Error('killed'));
      },
    });
  if (killed) await run(kill.signal).catch(() => {});
  const { lost, duplicated } = await run(new AbortController().signal);
  return { seconds: (performance.now() - start) / 1000, lost, duplicated, settled: fates.sum.written };
}

function line(
  count: number,
  provider: string,
  disturbed: boolean,
  result: Result,
  there: number,
  requests: string,
): string {
  const { seconds, lost, duplicated, settled } = result;
  const how = disturbed ? ' with a kill, lost answers, 429, 403 or 503, and partial batches' : '';
  return `contacts: ${count} to ${provider}${how}: ${seconds.toFixed(1)} s${requests}, ${settled} copied, ${there} there, ${lost} lost, ${duplicated} doubled`;
}

/** Every few writes: the answer is lost, or the request is put off in one way or another. */
function disturb(api: ScriptedApi, graph: GraphApi, putOff: ReturnType<Fault>): void {
  let writes = 0;
  const fault: Fault = ({ method, url }: ApiRequest) => {
    if (method !== 'POST' || !/batchCreateContacts|\$batch/.test(url.pathname)) return null;
    writes += 1;
    if (writes % 11 === 3) return 'drop';
    if (writes % 11 === 5) return { status: 429, headers: { 'retry-after': '1' } };
    if (writes % 11 === 7) return putOff;
    if (writes % 11 === 9) graph.subFaults.push(429, null, null, null, 429);
    return null;
  };
  // A fault is asked twice for one request, and is gone after it.
  let last: { request: ApiRequest; answer: ReturnType<Fault> } | undefined;
  const again: Fault = (request) => {
    if (last?.request !== request) {
      last = { request, answer: fault(request) };
      if (last.answer !== null) api.faults.push(again);
    }
    return last.answer;
  };
  api.faults.push(again);
}
