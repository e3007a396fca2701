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
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  });
  const keyOf = (...parts: string[]) => join(prefix, ...parts);
  return {
    staging,
    put: async (exportName, name, file) => {
      await new Upload({
        client,
        params: {
          Bucket: bucket,
          Key: keyOf(exportName, name),
          Body: createReadStream(file),
          ContentType: 'application/zip',
        },
        partSize: PIECE,
        queueSize: PIECES_AT_ONCE,
      }).done();
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
    remove: async (exportName) => {
      const pages = paginateListObjectsV2({ client }, { Bucket: bucket, Prefix: `${keyOf(exportName)}/` });
      for await (const { Contents = [] } of pages)
        for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
    },
  };
}
