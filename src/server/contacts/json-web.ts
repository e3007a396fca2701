import * as v from 'valibot';
import { withoutEnd } from '../../contract/without-end.ts';
import { ContactStoreError } from './contact-store.ts';
import type { Refusals, Web, WebAnswer, WebRequest } from './web.ts';

export type JsonRequest = Pick<WebRequest, 'method' | 'url' | 'repeatable' | 'headers'> & { readonly json?: unknown };
/** `reason`: the store's own word for a refusal. */
export type JsonAnswer = { readonly status: number; readonly json: unknown; readonly reason?: string };

/** JSON over `Web`. Statuses that `Web.ask` leaves to its caller are returned, so check `status`. */
export async function askJson(web: Web, { json, ...request }: JsonRequest, signal: AbortSignal): Promise<JsonAnswer> {
  const body =
    json === undefined
      ? {}
      : { headers: { ...request.headers, 'content-type': 'application/json' }, body: JSON.stringify(json) };
  const answer = await web.ask({ ...request, ...body }, signal);
  const reason = answer.status < 400 ? undefined : web.reasonOf(answer);
  return { status: answer.status, json: parsed(answer), ...(reason === undefined ? {} : { reason }) };
}

/**
 * The answer of a call that must succeed, parsed by its schema.
 * @throws {ContactStoreError} `authentication` (403: a scope is missing), `refused`, `unexpected` (also another page)
 */
export async function getJson<const Schema extends v.GenericSchema>(
  web: Web,
  request: JsonRequest,
  schema: Schema,
  signal: AbortSignal,
): Promise<v.InferOutput<Schema>> {
  const answer = await askJson(web, request, signal);
  if (answer.status < 200 || answer.status >= 300) throw refusalOf(web, answer);
  return fitting(web, schema, answer.json);
}

/** What an unsuccessful answer means for the contacts. Quota errors have been recognised before this. */
export function refusalOf(web: Web, { status, json, reason }: JsonAnswer): ContactStoreError {
  const { host } = web.base;
  const said = { host, status, ...(reason === undefined ? {} : { reason }) };
  const words = reason === undefined ? `${status}` : `${status} ${reason}`;
  // Another page in its place, such as that of something between us, speaks of no permission and of no contact.
  if (json === undefined && (status === 403 || status === 404))
    return new ContactStoreError('unexpected', `${host} answers ${words} by another page`, said);
  // A missing permission: `Refusals` has already singled out quotas.
  if (status === 403)
    return new ContactStoreError('authentication', `${host} does not allow access to contacts (${words})`, said);
  return new ContactStoreError('refused', `${host} answers ${words}`, said);
}

/** Whether the API says so, and not another page in its place. */
export function isGone({ status, json }: JsonAnswer): boolean {
  return status === 404 && json !== undefined;
}

/** The form of an API's error codes; any other text could contain personal data. */
const Reason = v.pipe(v.string(), v.regex(/^[\w.-]{1,64}$/));
/** The error bodies of Google (`errors[].reason`, `details[].reason`, `status`) and of Microsoft (`code`). */
const ErrorBody = v.object({
  error: v.object({
    code: v.optional(v.unknown()),
    status: v.optional(v.unknown()),
    errors: v.optional(v.array(v.looseObject({ reason: v.optional(v.unknown()) })), []),
    details: v.optional(v.array(v.looseObject({ reason: v.optional(v.unknown()) })), []),
  }),
});

/**
 * Refusals of an API that names its reason in a JSON body.
 * @param busy temporary reasons; @param full reasons that hold until the owner has made room
 */
export function jsonRefusals(busy: ReadonlySet<string>, full: ReadonlySet<string>): Refusals {
  return {
    reasonOf: (answer) => {
      const body = v.safeParse(ErrorBody, parsed(answer));
      if (!body.success) return undefined;
      const { code, status, errors, details } = body.output.error;
      const reasons = [...errors, ...details].map(({ reason }) => reason);
      return [...reasons, status, code].find((reason) => v.is(Reason, reason));
    },
    kindOf: ({ status }, reason) => {
      if (status === 507 || (reason !== undefined && full.has(reason))) return 'full';
      return reason !== undefined && busy.has(reason) ? 'busy' : null;
    },
  };
}

/** @throws {ContactStoreError} `unexpected`, if it does not fit */
export function fitting<const Schema extends v.GenericSchema>(
  web: Web,
  schema: Schema,
  json: unknown,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, json);
  if (!result.success)
    throw new ContactStoreError('unexpected', `${web.base.host} answers something else than documented`);
  return result.output;
}

/** Pages of one listing, at most. */
const PAGES_AT_MOST = 10_000;

/**
 * The pages of a listing, each requested from the address that the previous one gives.
 * @param next the address of the page after; `null` after the last
 * @throws {ContactStoreError} `unexpected` if it returns to an earlier page, or has no end
 */
export async function* pagesOf<const Schema extends v.GenericSchema>(
  web: Web,
  first: URL,
  schema: Schema,
  next: (page: v.InferOutput<Schema>) => URL | null,
  signal: AbortSignal,
): AsyncIterable<v.InferOutput<Schema>> {
  const asked = new Set<string>();
  for (let url: URL | null = first; url !== null;) {
    if (asked.has(url.href) || asked.size >= PAGES_AT_MOST)
      throw new ContactStoreError('unexpected', `${web.base.host} gives a list that has no end`);
    asked.add(url.href);
    const page = await getJson(web, { method: 'GET', url, repeatable: true }, schema, signal);
    yield page;
    url = next(page);
  }
}

/** A path below the base address, whether that ends in a slash or not. */
export function below(web: Web, path: string): URL {
  return new URL(`${withoutEnd(web.base.href, '/')}/${path}`);
}

/** Most values in one answer, as its schema checks them all synchronously. A thousand contacts have a fifth of that. */
export const VALUES_AT_MOST = 500_000;
const [COMMA, BRACKET, BRACE, QUOTE, BACKSLASH] = [0x2c, 0x5b, 0x7b, 0x22, 0x5c];

/** Every value is preceded by one of these characters, or contains one. */
function isEndless(body: Buffer): boolean {
  let [signs, isInText] = [0, false];
  for (let at = 0; at < body.length && signs <= VALUES_AT_MOST; at += 1) {
    const octet = body[at];
    if (octet === QUOTE) isInText = !isInText;
    else if (isInText) at += octet === BACKSLASH ? 1 : 0;
    else if (octet === COMMA || octet === BRACKET || octet === BRACE) signs += 1;
  }
  return signs > VALUES_AT_MOST;
}

/** `undefined` if it is not JSON, or too large. */
function parsed({ body }: WebAnswer): unknown {
  if (isEndless(body)) return undefined;
  try {
    return JSON.parse(body.toString('utf8'));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
