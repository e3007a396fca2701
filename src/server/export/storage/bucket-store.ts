import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { DeleteObjectCommand, GetObjectCommand, NoSuchKey, paginateListObjectsV2, S3Client } from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { FileGoneError, type ExportStore } from './export-store.ts';

export type BucketAddress = {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint?: string | undefined;
  readonly region: string;
};

/** A file goes up in pieces of this many octets, so many at once: memory is their product, and 10,000 pieces are the most. */
const PIECE = 8 * 1024 * 1024;
const PIECES_AT_ONCE = 3;
/** A bucket that takes longer to be reached, or to take a piece and answer, is tried again, and given up in the end. */
const REACHED_WITHIN_MS = 10_000;
const ANSWER_WITHIN_MS = 120_000;
/** To clear up after an upload that failed is not tried for longer. */
const CLEARED_WITHIN_MS = 10_000;

/**
 * Exports in an S3-compatible bucket. A piece that a crash left behind is invisible; a lifecycle rule of the bucket
 * (AbortIncompleteMultipartUpload) clears it away.
 */
export function openBucketStore({ bucket, prefix, endpoint, region }: BucketAddress, staging: string): ExportStore {
  const client = new S3Client({
    region,
    // Servers other than Amazon's often know no newer checksums and no bucket in the host name.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: REACHED_WITHIN_MS,
      requestTimeout: ANSWER_WITHIN_MS,
      throwOnRequestTimeout: true,
    },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  });
  const keyOf = (...parts: string[]) => join(prefix, ...parts);
  const removeFile = async (exportName: string, name: string, options = {}) => {
    await client.send(new DeleteObjectCommand({ Bucket: bucket, Key: keyOf(exportName, name) }), options);
  };
  return {
    staging,
    put: async (exportName, name, file, signal) => {
      const upload = new Upload({
        client,
        params: {
          Bucket: bucket,
          Key: keyOf(exportName, name),
          // An abort comes this way: by the upload's own it ends before what is under way, and that may arrive yet.
          Body: createReadStream(file, { signal }),
          ContentType: 'application/zip',
        },
        partSize: PIECE,
        queueSize: PIECES_AT_ONCE,
      });
      try {
        await upload.done();
      } catch (error) {
        // It may be there all the same: the answer was lost.
        await removeFile(exportName, name, { abortSignal: AbortSignal.timeout(CLEARED_WITHIN_MS) }).catch(() => {});
        throw error;
      }
      await rm(file);
    },
    read: async (exportName, name, { start, end }, signal) => {
      try {
        const { Body } = await client.send(
          new GetObjectCommand({ Bucket: bucket, Key: keyOf(exportName, name), Range: `bytes=${start}-${end}` }),
          { abortSignal: signal },
        );
        if (Body === undefined) throw new FileGoneError(name);
        const stream = Body as Readable & typeof Body;
        signal.addEventListener('abort', () => stream.destroy(), { once: true });
        return stream.transformToWebStream() as ReadableStream<Uint8Array>;
      } catch (error) {
        if (error instanceof NoSuchKey) throw new FileGoneError(name, { cause: error });
        throw error;
      }
    },
    remove: async (exportName, name) => {
      if (name !== undefined) return removeFile(exportName, name);
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${keyOf(exportName)}/` });
      for await (const { Contents = [] } of pages)
        for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    },
  };
}
