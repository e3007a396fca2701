import { createHash } from 'node:crypto';
import type { ApiAnswer, ApiRequest } from './scripted-api.ts';

export type GraphRecord = Record<string, unknown> & { readonly id: string };
type BatchRequest = {
  readonly id: string;
  readonly method: string;
  readonly url: string;
  readonly body: Record<string, unknown>;
  readonly dependsOn?: readonly string[];
};
type BatchResponse = { id: string; status: number; headers?: Record<string, string>; body?: unknown };

/** The contacts API of Microsoft Graph v1.0 as documented at learn.microsoft.com/graph, in memory, for one mailbox. */
export class GraphApi {
  readonly contacts = new Map<string, GraphRecord>();
  readonly photos = new Map<string, { bytes: Buffer; type: string }>();
  readonly token: string;
  page = 100;
  base = '';
  /**
   * The answers to the next sub-requests of batches, in order; `null` for the regular one, `stored` for a 503 after it.
   */
  readonly subFaults: (BatchResponse['status'] | 'stored' | null)[] = [];
  /** The most sub-requests that ran at the same time in one batch. */
  atOnce = 0;
  #made = 0;

  constructor(token: string) {
    this.token = token;
  }

  add(fields: Record<string, unknown>): GraphRecord {
    this.#made += 1;
    const record = { ...fields, id: `AAMk=${this.#made}/+` };
    this.contacts.set(record.id, record);
    return record;
  }

  readonly answer = (request: ApiRequest): ApiAnswer => {
    const { method, url, headers } = request;
    if (headers.authorization !== `Bearer ${this.token}`) return error(401, 'InvalidAuthenticationToken');
    const photo = /^\/v1\.0\/me\/contacts\/([^/]+)\/photo(\/\$value)?$/.exec(url.pathname);
    if (photo !== null) return this.#photo(request, decodeURIComponent(photo[1] ?? ''));
    const one = /^\/v1\.0\/me\/contacts\/([^/]+)$/.exec(url.pathname);
    if (one !== null) return this.#single(request, decodeURIComponent(one[1] ?? ''));
    if (method === 'GET' && url.pathname === '/v1.0/me/contacts') return this.#list(url.searchParams);
    if (method === 'POST' && url.pathname === '/v1.0/$batch')
      return this.#batch((request.json as { requests: BatchRequest[] }).requests);
    return error(404, 'ResourceNotFound');
  };

  #list(query: URLSearchParams): ApiAnswer {
    const start = Number(query.get('$skip') ?? '0');
    const size = Math.min(Number(query.get('$top')), this.page);
    const wanted = /id eq '(.+)'/.exec(query.get('$expand') ?? '')?.[1]?.toLowerCase();
    const select = query.get('$select')?.split(',') ?? [];
    const all = [...this.contacts.values()];
    const value = all.slice(start, start + size).map((record) => {
      const properties = (record['singleValueExtendedProperties'] ?? []) as { id: string }[];
      return {
        '@odata.etag': 'W/"x"',
        ...Object.fromEntries(select.map((field) => [field, record[field] ?? null])),
        singleValueExtendedProperties: properties.filter(({ id }) => id.toLowerCase() === wanted),
      };
    });
    const next = new URLSearchParams(query);
    next.set('$skip', String(start + size));
    const more = start + size < all.length;
    return ok({ value, ...(more ? { '@odata.nextLink': `${this.base}/me/contacts?${next.toString()}` } : {}) });
  }

  /** A change is refused if the contact has changed since it was read. */
  #single({ method, headers, json }: ApiRequest, id: string): ApiAnswer {
    const record = this.contacts.get(id);
    if (record === undefined) return error(404, 'ErrorItemNotFound');
    if (method === 'GET') return ok({ ...record, '@odata.etag': etagOf(record) });
    if (method !== 'PATCH') return error(405, 'MethodNotAllowed');
    if (headers['if-match'] !== etagOf(record)) return error(412, 'ErrorIrresolvableConflict');
    const after = { ...record, ...(json as Record<string, unknown>) };
    if (!isValid(after)) return error(400, 'RequestBodyRead');
    this.contacts.set(id, after);
    return ok(after);
  }

  #batch(requests: readonly BatchRequest[]): ApiAnswer {
    if (requests.length > 20) return error(400, 'MaximumValueExceeded');
    const responses = new Map<string, BatchResponse>();
    const depth = new Map<string, number>();
    for (const request of requests) {
      const before = request.dependsOn?.[0];
      depth.set(request.id, before === undefined ? 0 : (depth.get(before) ?? 0) + 1);
      const failed = before !== undefined && (responses.get(before)?.status ?? 500) >= 400;
      responses.set(request.id, failed ? { id: request.id, status: 424 } : this.#one(request));
    }
    const levels = [...depth.values()];
    this.atOnce = Math.max(this.atOnce, ...levels.map((level) => levels.filter((other) => other === level).length));
    // Answers don't come in the order of the requests.
    return ok({ responses: [...responses.values()].toReversed() });
  }

  #one({ id, method, url, body }: BatchRequest): BatchResponse {
    const fault = this.subFaults.shift() ?? null;
    if (fault === 429 || fault === 503)
      return { id, status: fault, headers: { 'Retry-After': fault === 429 ? '7' : '3' } };
    if (fault !== null && fault !== 'stored') return { id, status: fault };
    if (method !== 'POST' || url !== '/me/contacts') return { id, status: 404 };
    if (!isValid(body)) return { id, status: 400, body: { error: { code: 'RequestBodyRead' } } };
    const record = this.add(body);
    return fault === 'stored' ? { id, status: 503 } : { id, status: 201, body: record };
  }

  #photo({ method, bytes, headers, url }: ApiRequest, id: string): ApiAnswer {
    if (!this.contacts.has(id)) return error(404, 'ErrorItemNotFound');
    if (method === 'GET') return this.photos.has(id) ? ok({ id: '48X48' }) : error(404, 'ImageNotFound');
    if (!url.pathname.endsWith('/$value')) return error(405, 'MethodNotAllowed');
    this.photos.set(id, { bytes, type: headers['content-type'] ?? '' });
    return { status: 200 };
  }
}

function isValid(body: Record<string, unknown>): boolean {
  const count = (field: string) => ((body[field] ?? []) as unknown[]).length;
  const addresses = (body['emailAddresses'] ?? []) as { address: string }[];
  return (
    count('emailAddresses') <= 3 &&
    count('homePhones') <= 2 &&
    count('businessPhones') <= 2 &&
    addresses.every(({ address }) => address.includes('@')) &&
    (body['birthday'] === undefined || isTimestamp(body['birthday']))
  );
}

function isTimestamp(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value);
}

function ok(json: unknown): ApiAnswer {
  return { status: 200, json };
}

function etagOf(record: GraphRecord): string {
  return `W/"${createHash('sha256').update(JSON.stringify(record)).digest('hex').slice(0, 16)}"`;
}

function error(status: number, code: string): ApiAnswer {
  return { status, json: { error: { code, message: 'refused' } } };
}
