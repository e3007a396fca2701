import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline, Readable, Transform } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  NoSuchKey,
  paginateListObjectsV2,
  S3Client,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { FileGoneError, StoreError, type ExportStore } from './export-store.ts';

export type BucketAddress = {
  readonly bucket: string;
  readonly prefix: string;
  readonly endpoint?: string | undefined;
  readonly region: string;
};

/** How many octets are read of an answer that is not a file, and how many answers of a list. */
const ANSWER_OCTETS = 4 * 1024 * 1024;
const PAGES_AT_MOST = 100;
/**
 * A file is uploaded in pieces of this many octets, this many at once (memory is the product); 10,000 pieces at most.
 */
const PIECE = 8 * 1024 * 1024;
const PIECES_AT_ONCE = 3;
/**
 * For each kind of request: how long, in milliseconds, connecting may take, how long until the answer begins (`0`: as
 * long as silence), how long nothing may move on a connection; how many tries; and how many connections, so that no
 * kind waits for another. A download may pause for a while once it has begun. A removal is quick, because somebody
 * waits for it.
 */
const WRITING = { reached: 10_000, begun: 0, silence: 30_000, attempts: 2, connections: 100 };
const REMOVING = { reached: 2000, begun: 0, silence: 3000, attempts: 2, connections: 20 };
const READING = { reached: 10_000, begun: 10_000, silence: 600_000, attempts: 2, connections: 1000 };

/**
 * Exports in an S3-compatible bucket. Pieces left by a crash are invisible; a lifecycle rule of the bucket
 * (AbortIncompleteMultipartUpload) removes them.
 */
export function openBucketStore(address: BucketAddress, staging: string, begun = READING.begun): ExportStore {
  const { bucket, prefix } = address;
  const writing = clientOf(address, WRITING);
  const removing = clientOf(address, REMOVING);
  const reading = clientOf(address, { ...READING, begun });
  const keyOf = (...parts: string[]) => join(prefix, ...parts);
  const removeKey = async (key: string, options: Ending = {}) => {
    await removing.send(new DeleteObjectCommand({ Bucket: bucket, Key: key }), options);
  };
  const keysOf = async (exportName: string, options: Ending = {}) => {
    const place = { Bucket: bucket, Prefix: `${keyOf(exportName)}/` };
    const keys: string[] = [];
    let pages = 0;
    for await (const { Contents = [] } of paginateListObjectsV2({ client: removing }, place, options)) {
      // Anything else that the bucket lists belongs to another export, and stays.
      keys.push(...Contents.flatMap(({ Key }) => (Key?.startsWith(place.Prefix) === true ? Key : [])));
      pages += 1;
      if (pages > PAGES_AT_MOST) throw new Error('The bucket lists files without end.');
    }
    return keys;
  };
  const removeAll = async (exportName: string) => {
    for (const key of await keysOf(exportName)) await removeKey(key);
  };
  return {
    staging,
    put: async (exportName, name, file, signal) => {
      const key = keyOf(exportName, name);
      const upload = new Upload({
        client: endingWith(signal, writing, removing),
        params: { Bucket: bucket, Key: key, Body: createReadStream(file, { signal }), ContentType: 'application/zip' },
        partSize: PIECE,
        queueSize: PIECES_AT_ONCE,
      });
      try {
        await upload.done();
      } catch (error) {
        // It may be there anyway, if only the answer was lost.
        await removeKey(key).catch(() => {});
        throw new StoreError('The bucket did not take a file.', { cause: error });
      }
      await rm(file);
    },
    read: async (exportName, name, { start, end }, signal) => {
      const { Body, ContentLength } = await reading
        .send(new GetObjectCommand({ Bucket: bucket, Key: keyOf(exportName, name), Range: `bytes=${start}-${end}` }), {
          abortSignal: signal,
        })
        .catch((error: unknown) => {
          if (error instanceof NoSuchKey) throw new FileGoneError(name, { cause: error });
          if (signal.aborted) throw error;
          throw new StoreError('The bucket did not hand out a file.', { cause: error });
        });
      if (Body === undefined) throw new FileGoneError(name);
      const stream = Body as Readable & typeof Body;
      if (ContentLength !== end - start + 1) {
        stream.destroy();
        throw new StoreError('The bucket handed out another number of octets than it was asked for.');
      }
      signal.addEventListener('abort', () => stream.destroy(), { once: true });
      return stream.transformToWebStream() as ReadableStream<Uint8Array>;
    },
    remove: async (exportName, name) => {
      try {
        await (name === undefined ? removeAll(exportName) : removeKey(keyOf(exportName, name)));
      } catch (error) {
        unusable(error);
      }
    },
    prune: async (exportName, kept, abortSignal) => {
      const keys = await keysOf(exportName, { abortSignal }).catch(unusable);
      if (keys.length === 0) return;
      const wanted = await kept();
      for (const key of keys) if (!wanted.has(basename(key))) await removeKey(key, { abortSignal }).catch(unusable);
    },
  };
}

/** The signal that ends a request. */
type Ending = { readonly abortSignal?: AbortSignal };

function unusable(error: unknown): never {
  throw new StoreError('The bucket did not let go of a file.', { cause: error });
}

function clientOf({ region, endpoint }: BucketAddress, limits: typeof WRITING): S3Client {
  const client = new S3Client({
    region,
    maxAttempts: limits.attempts,
    // Servers other than Amazon's often support neither newer checksums nor a bucket in the host name.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    requestHandler: {
      connectionTimeout: limits.reached,
      requestTimeout: limits.begun,
      throwOnRequestTimeout: true,
      socketTimeout: limits.silence,
      httpAgent: { maxSockets: limits.connections },
      httpsAgent: { maxSockets: limits.connections },
    },
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
  });
  // The library reads anything but a file all at once, however long it is.
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (asked) => {
        const answered = await next(asked);
        const answer = answered.response as { readonly statusCode: number; body: unknown };
        const isFile = commandName === GetObjectCommand.name && answer.statusCode < 300;
        if (answer.body instanceof Readable && !isFile) answer.body = bounded(answer.body);
        return answered;
      },
    { step: 'deserialize', priority: 'low' },
  );
  return client;
}

function bounded(body: Readable): Readable {
  let octets = 0;
  const counted = new Transform({
    transform: (chunk: Buffer, _encoding, next) => {
      octets += chunk.length;
      if (octets > ANSWER_OCTETS) next(new Error('The bucket answers too much.'));
      else next(null, chunk);
    },
  });
  return pipeline(body, counted, () => {});
}

/**
 * A client for one upload, whose requests a signal ends. The upload's own abort would return before its requests end,
 * and they might still arrive. Cancelling the upload at the bucket is tried only briefly, and its failure is ignored.
 */
function endingWith(signal: AbortSignal, client: S3Client, removing: S3Client): S3Client {
  const send = async (command: Parameters<S3Client['send']>[0]) =>
    command instanceof AbortMultipartUploadCommand
      ? removing.send(command).catch(() => {})
      : client.send(command, { abortSignal: signal });
  return Object.create(client, { send: { value: send } }) as S3Client;
}
