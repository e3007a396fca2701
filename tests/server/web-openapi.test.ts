import { expect, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { createApp } from '../../src/server/web/app.ts';
import { calls } from '../../src/server/web/calls/all.ts';
import { openApi } from '../../src/server/web/openapi.ts';
import type { Web } from '../../src/server/web/services.ts';

type Document = { openapi: string; paths: Record<string, Record<string, Operation>> };
type Operation = {
  parameters?: { name: string; required: boolean; schema: object }[];
  requestBody?: { content: { 'application/json': { schema: Schema } } };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
};
type Schema = { type?: string; properties?: Record<string, Schema>; required?: string[] };

const settings = readSettings({});
const document = openApi(settings) as Document;

test('the document and the routes are the same', () => {
  // Registering routes uses the settings only.
  const app = createApp({ settings } as Web);
  const routes = app.routes
    .filter(({ path, method }) => path.startsWith('/api/') && method !== 'ALL')
    .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`);
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(new Set(routes)).toEqual(new Set(documented));
  expect(documented.length).toBe(calls.length + 8);
});

test('the document is OpenAPI 3.1 and speaks snake case, as the wire does', () => {
  expect(document.openapi).toBe('3.1.0');
  const load = document.paths['/api/load/']?.['post'];
  const schema = load?.requestBody?.content['application/json'].schema;
  expect(schema?.required).toEqual(['source_account', 'destination_account', 'operations', 'parameters']);
  expect(Object.keys(schema?.properties ?? {})).toEqual([
    'source_account',
    'destination_account',
    'operations',
    'parameters',
    'file_export_parameters',
  ]);
  const capabilities = document.paths['/api/capabilities/']?.['post']?.responses['200']?.content?.['application/json'];
  expect(capabilities?.schema.required).toEqual(['allowed_operations', 'provider', 'auth']);
});

test('query parameters say whether they are required', () => {
  expect(document.paths['/api/status/']?.['get']?.parameters).toEqual([
    { name: 'job_id', in: 'query', required: true, schema: { type: 'string', pattern: '^[0-9a-fA-F]{32}$' } },
  ]);
  expect(document.paths['/api/v2/san-bruno-create-account/']?.['post']?.parameters).toMatchObject([
    { name: 'in_qa', required: false },
  ]);
});
