import * as v from 'valibot';
import { withoutEnd } from '../../contract/without-end.ts';
import { ContactStoreError } from './contact-store.ts';
import type { Web, WebRequest } from './web.ts';

export type JsonRequest = Pick<WebRequest, 'method' | 'url' | 'repeatable'> & { readonly json?: unknown };
export type JsonAnswer = { readonly status: number; readonly json: unknown };

/** JSON over `Web`. Statuses that `Web.ask` leaves to its caller come back, so look at `status`. */
export async function askJson(web: Web, { json, ...request }: JsonRequest, signal: AbortSignal): Promise<JsonAnswer> {
  const body =
    json === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) };
  const answer = await web.ask({ ...request, ...body }, signal);
  return { status: answer.status, json: parsed(answer.body.toString('utf8')) };
}

/**
 * The answer of a call that has to succeed, as its schema has it.
 * @throws {ContactStoreError} `authentication` (403: a scope is missing), `refused`, `unexpected`
 */
export async function getJson<const Schema extends v.GenericSchema>(
  web: Web,
  request: JsonRequest,
  schema: Schema,
  signal: AbortSignal,
): Promise<v.InferOutput<Schema>> {
  const { status, json } = await askJson(web, request, signal);
  if (status < 200 || status >= 300) throw refusalOf(web, status);
  return fitting(web, schema, json);
}

export function refusalOf(web: Web, status: number): ContactStoreError {
  if (status === 403)
    return new ContactStoreError('authentication', `${web.base.host} does not allow access to contacts`, { status });
  return new ContactStoreError('refused', `${web.base.host} answers ${status}`, { status });
}

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

/** A path below the base address, whether that ends in a slash or not. */
export function below(web: Web, path: string): URL {
  return new URL(`${withoutEnd(web.base.href, '/')}/${path}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
