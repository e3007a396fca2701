import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { SettingsError, type Settings } from '../../../contract/settings.ts';
import { withoutEnd } from '../../../contract/without-end.ts';
import type { BucketAddress } from './bucket-store.ts';
import { openFolderStore } from './folder-store.ts';
import type { ExportStore } from './export-store.ts';

const EXAMPLE = 'EXPORTS_URL=s3://bucket/prefix?endpoint=https://s3.example.com&region=us-west-1';
const FAULT = "must be a folder, or a bucket's address that starts with s3://.";
const PARAMETERS = ['endpoint', 'region'];
/** Strict, as a misspelt endpoint would send the files to Amazon. */
const Bucket = v.strictObject({
  bucket: v.pipe(v.string(), v.regex(/^[a-z0-9][a-z0-9._-]{1,62}$/)),
  prefix: v.string(),
  endpoint: v.optional(v.pipe(v.string(), v.url())),
  region: v.optional(v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,40}$/)), 'us-east-1'),
});

/**
 * The folder or the bucket that `EXPORTS_URL` names. The AWS SDK finds a bucket's keys by itself: in
 * `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, a profile, or the machine's role.
 * @throws {SettingsError}
 */
export function openExportStore({ exportsUrl, dataDir }: Pick<Settings, 'exportsUrl' | 'dataDir'>): ExportStore {
  if (!/^[a-z0-9+.-]+:\/\//i.test(exportsUrl)) return openFolderStore(resolve(exportsUrl));
  const url = URL.parse(exportsUrl);
  const parameters = Object.fromEntries(url?.searchParams ?? []);
  const address = v.safeParse(Bucket, {
    ...parameters,
    bucket: url?.hostname,
    prefix: url === null ? undefined : withoutEnd(url.pathname.replace(/^\/+/, ''), '/'),
  });
  const fault = faultOfParameters(Object.keys(parameters), address.issues ?? []);
  if (url?.protocol !== 's3:' || !address.success || fault !== null)
    throw new SettingsError([`EXPORTS_URL ${fault ?? FAULT} Example: ${EXAMPLE}`]);
  return bucketStore(address.output, resolve(join(dataDir, 'staging')));
}

/** What is wrong behind the `?`; only what looks like a name is repeated, as a secret may stand there. */
function faultOfParameters(given: readonly string[], issues: readonly v.BaseIssue<unknown>[]): string | null {
  const other = given.find((name) => !PARAMETERS.includes(name));
  if (other !== undefined)
    return `has a parameter${/^[a-z_-]{1,40}$/i.test(other) ? `, ${other},` : ''} that is neither endpoint nor region.`;
  const wrong = PARAMETERS.find((name) => issues.some((issue) => v.getDotPath(issue) === name));
  return wrong === undefined ? null : `has no valid ${wrong}.`;
}

/** Amazon's SDK takes 50 MB of memory, so it is loaded on first use, and only for buckets. */
function bucketStore(address: BucketAddress, staging: string): ExportStore {
  let opening: Promise<ExportStore> | undefined;
  const open = () =>
    (opening ??= import('./bucket-store.ts').then(({ openBucketStore }) => openBucketStore(address, staging)));
  return {
    staging,
    put: async (...file) => (await open()).put(...file),
    read: async (...file) => (await open()).read(...file),
    remove: async (...file) => (await open()).remove(...file),
    prune: async (...files) => (await open()).prune(...files),
  };
}
