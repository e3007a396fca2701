import * as v from 'valibot';
import {
  changedAllTheTime,
  ContactStoreError,
  type ContactGroup,
  type ContactWriter,
  type ExistingContact,
  type FillResult,
  type WriteResult,
} from '../contact-store.ts';
import type { Contact } from '../contact.ts';
import { fillingFor } from '../fill.ts';
import { askJson, below, fitting, getJson, isGone, jsonRefusals, pagesOf, refusalOf } from '../json-web.ts';
import { PHOTO_NOT_TAKEN, putPhoto, staysOf } from '../photo-note.ts';
import { refusedNote, spillNotes, stayNote, strangersNote } from '../remarks.ts';
import { TRIES, type Web, type WebAnswer } from '../web.ts';
import {
  COMPARED_FIELDS,
  existingOf,
  filledContact,
  GraphContact,
  graphContactOf,
  UID_PROPERTY,
} from './graph-contact.ts';

/** Throttling is 429 or 503; a full mailbox is known by its code, whatever the status. */
export const MICROSOFT_REFUSALS = jsonRefusals(
  new Set(['ApplicationThrottled', 'ErrorServerBusy', 'TooManyRequests', 'MailboxConcurrency', 'activityLimitReached']),
  new Set(['ErrorQuotaExceeded', 'quotaLimitReached']),
);

/** How often a contact is read and filled again when somebody else changes it at the same time. */
const FILL_TRIES = 4;

/** Requests in one `$batch`, and how many a mailbox accepts concurrently. */
const REQUESTS_PER_BATCH = 20;
const AT_ONCE_PER_MAILBOX = 4;
/** The largest photo that Graph takes, in octets. */
const PHOTO_OCTETS_AT_MOST = 4 * 1024 * 1024;
const PAGE = 100;

const Page = v.object({
  value: v.array(GraphContact),
  '@odata.nextLink': v.optional(v.string(), ''),
});
const Batch = v.object({
  responses: v.array(
    v.object({
      id: v.string(),
      status: v.number(),
      headers: v.optional(v.nullish(v.record(v.string(), v.unknown()), {}), {}),
      body: v.optional(v.unknown()),
    }),
  ),
});
type Response = v.InferOutput<typeof Batch>['responses'][number];

/** Writes to the account's default contacts folder through Microsoft Graph v1.0. */
export function microsoftWriter(web: Web): ContactWriter {
  const setPhoto = async (id: string, contact: Contact, signal: AbortSignal): Promise<string[]> => {
    if (contact.photo === undefined) return [];
    const { mediaType, bytes } = contact.photo;
    if (bytes.length > PHOTO_OCTETS_AT_MOST) return [PHOTO_NOT_TAKEN];
    const request = {
      method: 'PUT',
      url: below(web, `me/contacts/${encodeURIComponent(id)}/photo/$value`),
      headers: { 'content-type': mediaType },
      body: bytes,
      repeatable: true,
    };
    return putPhoto(() => web.ask(request, signal));
  };

  /** `null`: Microsoft does not say. */
  const hasPhoto = async (id: string, signal: AbortSignal): Promise<boolean | null> => {
    const url = below(web, `me/contacts/${encodeURIComponent(id)}/photo`);
    const { status } = await askJson(web, { method: 'GET', url, repeatable: true }, signal);
    return status === 200 || (status === 404 ? false : null);
  };

  const fill = async (id: string, contact: Contact, signal: AbortSignal): Promise<FillResult | 'conflict'> => {
    const address = below(web, `me/contacts/${encodeURIComponent(id)}`);
    const url = new URL(address);
    url.searchParams.set('$select', COMPARED_FIELDS);
    const answer = await askJson(web, { method: 'GET', url, repeatable: true }, signal);
    if (isGone(answer)) return { outcome: 'gone' };
    if (answer.status !== 200) throw refusalOf(web, answer);
    const record = fitting(web, GraphContact, answer.json);
    const there = contact.photo === undefined || (await hasPhoto(id, signal));
    const { add, added, stays } = fillingFor({ ...existingOf(record), hasPhoto: there !== false }, contact);
    const { body, spill } = filledContact(record, add);
    let isSet = false;
    let refused = 0;
    if (Object.keys(body).length > 0) {
      const headers = { 'if-match': record['@odata.etag'] };
      const set = await askJson(web, { method: 'PATCH', url: address, headers, json: body, repeatable: true }, signal);
      if (set.status === 412 || set.status === 409) return 'conflict';
      if (isGone(set)) return { outcome: 'gone' };
      isSet = set.status === 200;
      if (!isSet) {
        const refusal = refusalOf(web, set);
        if (refusal.fault !== 'refused') throw refusal;
        refused = set.status;
      }
    }
    const photo = there === null ? [PHOTO_NOT_TAKEN] : await setPhoto(id, add, signal);
    const isFilled = isSet || (add.photo !== undefined && photo.length === 0);
    return {
      outcome: isFilled ? 'filled' : 'whole',
      stays: [...stays, ...(refused === 0 ? [] : added.filter((part) => part !== 'photo')), ...staysOf(photo)],
      notes: [...stayNote(stays), ...(refused === 0 ? spillNotes(spill) : [refusedNote(refused)]), ...photo],
    };
  };

  return {
    batchSize: REQUESTS_PER_BATCH,
    notesOn,
    existing: (signal) => contacts(web, signal),
    async write(batch, signal) {
      const mapped = batch.map(graphContactOf);
      const responses = await create(
        web,
        mapped.map(({ body }) => body),
        signal,
      );
      const results: WriteResult[] = [];
      for (let start = 0; start < batch.length; start += AT_ONCE_PER_MAILBOX) {
        const some = batch.slice(start, start + AT_ONCE_PER_MAILBOX).map(async (contact, offset) => {
          const { status, body } = at(responses, start + offset);
          if (status < 200 || status >= 300) return skipped(status);
          const { id } = fitting(web, GraphContact, body);
          const photo = await setPhoto(id, contact, signal);
          const notes = [...notesOn(contact), ...photo];
          return { outcome: 'written', notes, stays: staysOf(photo) } as const;
        });
        results.push(...(await Promise.all(some)));
      }
      return results;
    },
    async fill({ id }, contact, signal) {
      for (let attempt = 1; attempt <= FILL_TRIES; attempt += 1) {
        const result = await fill(id, contact, signal);
        if (result !== 'conflict') return result;
      }
      throw changedAllTheTime(web.base.host);
    },
    // A category exists as soon as a contact names it.
    group: async (group) => notesOfGroup(group),
  };
}

function notesOn(contact: Contact): string[] {
  return [...spillNotes(graphContactOf(contact).spill), ...labelNotes(contact)];
}

function notesOfGroup({ notes, members, strangers }: ContactGroup): string[] {
  return [
    ...(members.length === 0 ? ['This group has no contacts in it, so it was left out.'] : []),
    ...(notes.trim() === '' ? [] : ['Categories have no notes there, so the notes of this group were left out.']),
    ...strangersNote(strangers),
  ];
}

const PLAIN_LABELS: ReadonlySet<string> = new Set(['', 'home', 'work', 'other']);

/** Graph has no labels for addresses of all kinds. Only those that the owner chose are reported as missing. */
function labelNotes({ emails, addresses, websites }: Contact): string[] {
  const isMissed = [...emails, ...addresses, ...websites].some(({ label }) => !PLAIN_LABELS.has(label));
  return isMissed ? ['The labels of addresses and websites have no place there.'] : [];
}

async function* contacts(web: Web, signal: AbortSignal): AsyncIterable<ExistingContact> {
  const first = below(web, 'me/contacts');
  first.searchParams.set('$top', String(PAGE));
  first.searchParams.set('$select', COMPARED_FIELDS);
  first.searchParams.set('$expand', `singleValueExtendedProperties($filter=id eq '${UID_PROPERTY}')`);
  const next = ({ '@odata.nextLink': link }: v.InferOutput<typeof Page>) => (link === '' ? null : web.resolve(link));
  for await (const { value } of pagesOf(web, first, Page, next, signal)) yield* value.map(existingOf);
}

/** One response for each body. Requests that were throttled or never started (424) are sent again. */
async function create(web: Web, bodies: readonly unknown[], signal: AbortSignal): Promise<Response[]> {
  const done = new Map<string, Response>();
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const ids = [...bodies.keys()].map(String).filter((id) => !done.has(id));
    if (ids.length === 0) break;
    const responses = await send(web, ids, bodies, signal);
    const putOff = responses.filter((response) => response.status === 424 || web.isPutOff(answerOf(response)));
    for (const response of responses) if (!putOff.includes(response)) done.set(response.id, response);
    const unclear = responses.find((response) => response.status >= 500 && !putOff.includes(response));
    if (unclear !== undefined || responses.length < ids.length)
      throw new ContactStoreError(
        'unavailable',
        `${web.base.host} does not say what became of a contact`,
        unclear === undefined ? {} : { status: unclear.status },
      );
    if (putOff.length > 0 && attempt < TRIES) await web.pause(longestWait(putOff), attempt, signal);
  }
  if (done.size < bodies.length)
    throw new ContactStoreError('unavailable', `${web.base.host} is too busy`, { status: 429 });
  return [...bodies.keys()].map((id) => done.get(String(id))).filter((response) => response !== undefined);
}

function answerOf(response: Response): WebAnswer {
  const { status, body = null } = response;
  const wait = longestWait([response]);
  const headers = new Headers(wait === null ? {} : { 'retry-after': wait });
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

/** Chains the requests by `dependsOn`, so that Graph runs no more of them at once than a mailbox accepts. */
async function send(
  web: Web,
  ids: readonly string[],
  bodies: readonly unknown[],
  signal: AbortSignal,
): Promise<Response[]> {
  const requests = ids.map((id, place) => {
    const before = ids[place - AT_ONCE_PER_MAILBOX];
    return {
      id,
      method: 'POST',
      url: '/me/contacts',
      headers: { 'Content-Type': 'application/json' },
      body: bodies[Number(id)],
      ...(before === undefined ? {} : { dependsOn: [before] }),
    };
  });
  const request = { method: 'POST', url: below(web, '$batch'), json: { requests }, repeatable: false };
  const { responses } = await getJson(web, request, Batch, signal);
  return responses.filter(({ id }) => ids.includes(id));
}

function longestWait(responses: readonly Response[]): string | null {
  const waits = responses.flatMap(({ headers }) =>
    Object.entries(headers)
      .filter(([name]) => name.toLowerCase() === 'retry-after')
      .map(([, value]) => Number(value))
      .filter((seconds) => Number.isFinite(seconds)),
  );
  return waits.length === 0 ? null : String(Math.max(...waits));
}

function skipped(status: number): WriteResult {
  return { outcome: 'skipped', reason: `Microsoft refused this contact (${status}).` };
}

function at<Item>(items: readonly Item[], place: number): Item {
  const item = items[place];
  if (item === undefined) throw new ContactStoreError('unexpected', 'an answer is missing');
  return item;
}
