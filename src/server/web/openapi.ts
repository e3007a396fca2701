import { toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { deleteExport, EXPORT_FILE } from '../../contract/calls/export-file.ts';
import { RECEIPT, ReceiptQuery } from '../../contract/calls/receipt.ts';
import { OAUTH_RETURN, OAUTH_START, OAUTH_START_FOR_STATUS } from '../../contract/calls/oauth.ts';
import { Ok } from '../../contract/calls/ok.ts';
import { Side } from '../../contract/calls/resume.ts';
import { statusStream } from '../../contract/calls/status.ts';
import { Challenge, WORK_HEADER } from '../../contract/work.ts';
import { FAILURE_CODES } from '../../contract/failure-code.ts';
import { OAUTH_PROVIDERS } from '../../contract/provider-name.ts';
import type { Settings } from '../../contract/settings.ts';
import { calls } from './calls/all.ts';
import type { Route } from './calls/route.ts';

export const OPENAPI_PATH = '/api/openapi.json';

type JsonSchema = ReturnType<typeof toJsonSchema>;

/** The OpenAPI 3.1 document for all calls, generated from the schemas that parse them. */
export function openApi(settings: Settings): object {
  return {
    openapi: '3.1.0',
    info: { title: `${settings.legacyName} Email Data Transfer Tool`, version: '1' },
    servers: [{ url: settings.publicUrl }],
    paths: {
      ...Object.fromEntries(
        calls.map((route) => [route.call.path, { [route.call.method.toLowerCase()]: operation(route) }]),
      ),
      [OAUTH_START]: { get: redirect('Begins a sign-in at a provider, for a transfer') },
      [OAUTH_START_FOR_STATUS]: { get: redirect('Begins a sign-in at a provider, for the list of transfers') },
      [`${OAUTH_RETURN}{provider}/`]: { get: comeBack() },
      [statusStream.path]: { get: events() },
      [RECEIPT]: { get: receipt() },
      [templateOf(EXPORT_FILE)]: { get: download() },
      [templateOf(deleteExport.path)]: { post: deletion() },
      [OPENAPI_PATH]: {
        get: {
          summary: 'This document',
          responses: { 200: { description: 'OpenAPI 3.1', content: json({ type: 'object' }) } },
        },
      },
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'The token that `validate` gave' } },
      schemas: {
        Failure: {
          type: 'object',
          required: ['error', 'message'],
          properties: {
            error: { type: 'string', enum: FAILURE_CODES },
            message: { type: 'string' },
            jobid: { type: 'string', description: 'The transfer that is in the way, where there is one' },
            side: { ...schemaOf(Side), description: 'The mailbox of a transfer whose sign-in was refused' },
            challenge: {
              ...schemaOf(Challenge),
              description: `Work with which the call is let through, by the header ${WORK_HEADER}`,
            },
          },
        },
      },
    },
  };
}

/** Converts `/a/:name/` to OpenAPI's form, `/a/{name}/`. */
function templateOf(path: string): string {
  return path.replaceAll(/:(\w+)/g, '{$1}');
}

function operation({ call }: Route): object {
  return {
    ...(call.bearer === undefined ? {} : { security: [{ bearer: [] }, {}] }),
    operationId: call.path.split('/').filter(Boolean).slice(1).join('-'),
    ...(call.Query === undefined ? {} : { parameters: parametersOf(call.Query) }),
    ...(call.Request === undefined ? {} : { requestBody: { required: true, content: json(schemaOf(call.Request)) } }),
    responses: { 200: { description: 'Done', content: json(schemaOf(call.Answer)) }, ...failures() },
  };
}

function failures(): object {
  return { default: { description: 'A refusal', content: json({ $ref: '#/components/schemas/Failure' }) } };
}

/** The wire form is a schema's input, before its transforms. */
function schemaOf(schema: v.GenericSchema<unknown, unknown>): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, { typeMode: 'input', errorMode: 'ignore' });
  return rest;
}

function parametersOf(query: v.GenericSchema<unknown, unknown>): object[] {
  const { properties = {}, required = [] } = schemaOf(query);
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}

function redirect(summary: string): object {
  return {
    summary,
    parameters: [{ name: 'provider', in: 'query', required: true, schema: { type: 'string', enum: OAUTH_PROVIDERS } }],
    responses: { 302: { description: 'To the provider, or back to the portal with `error`' } },
  };
}

function comeBack(): object {
  return {
    summary: 'Where a provider sends the browser back to',
    parameters: [{ name: 'provider', in: 'path', required: true, schema: { type: 'string' } }],
    responses: { 302: { description: 'To the portal, with the tokens’ ID and the address, or with `error`' } },
  };
}

function events(): object {
  return {
    summary: 'The status as server-sent events: `status` whenever it changes, `end` after the last',
    parameters: parametersOf(statusStream.Query),
    responses: {
      200: { description: 'A stream', content: { 'text/event-stream': { schema: { type: 'string' } } } },
      ...failures(),
    },
  };
}

const exportName = {
  name: 'export',
  in: 'path',
  required: true,
  schema: { type: 'string', pattern: '^[0-9a-f]{32}$' },
};

function download(): object {
  return {
    summary: 'A file of a finished export, for who may manage its transfer; in parts by `Range` (RFC 9110 §14)',
    parameters: [exportName, { name: 'file', in: 'path', required: true, schema: { type: 'string' } }],
    responses: {
      200: { description: 'The file', content: { 'application/zip': {} } },
      206: { description: 'A part of it', content: { 'application/zip': {} } },
      303: LED,
      304: { description: 'It has not changed' },
      412: { description: 'It is another one' },
      416: { description: 'It has no such part' },
      ...failures(),
    },
  };
}

/** The response to a browser navigation. */
const LED = { description: 'Leads to the page of the transfer, where its owner can sign in' };

function receipt(): object {
  return {
    summary: 'The receipt of a transfer that has ended, signed; for who may manage it',
    parameters: parametersOf(ReceiptQuery),
    responses: {
      200: { description: 'The receipt', content: { 'text/html': {}, 'text/csv': {}, 'application/json': {} } },
      303: LED,
      ...failures(),
    },
  };
}

function deletion(): object {
  return {
    summary: 'Deletes the files of an export before their time, for who may manage its transfer',
    parameters: [exportName],
    requestBody: { required: false, content: json({ type: 'object' }) },
    responses: { 200: { description: 'Deleted', content: json(schemaOf(Ok)) }, ...failures() },
  };
}

function json(schema: object): object {
  return { 'application/json': { schema } };
}
