/** Octets from `start` to `end`, both included. */
export type OctetRange = { readonly start: number; readonly end: number };

/** The requested file is gone, or is not complete. */
export class FileGoneError extends Error {
  override name = 'FileGoneError';
}

const BUCKETS_WORD = /^[A-Z][a-z][A-Za-z]{1,46}$/;

/** The place where exports are kept can't be used. Its operator has to fix it; the request is made again later. */
export class StoreError extends Error {
  override name = 'StoreError';
  /** A bucket's own word for what is wrong, such as `AccessDenied`, for the log. */
  readonly code: string | undefined;
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    const { name, $metadata } = (options?.cause ?? {}) as { name?: string; $metadata?: object };
    this.code = $metadata !== undefined && name !== undefined && BUCKETS_WORD.test(name) ? name : undefined;
  }
}

/**
 * Where finished exports are kept. A file is named by its export and its own name; both are ours, never from outside.
 */
export type ExportStore = {
  /** A folder on this machine for unfinished exports. */
  readonly staging: string;
  /**
   * Moves a finished file in from the staging folder. Afterwards it is there completely or, if this throws, not at all,
   * as far as can be told. An abort makes it throw if it would take long.
   * @throws {StoreError}
   */
  put(exportName: string, name: string, file: string, signal: AbortSignal): Promise<void>;
  /** Exactly these octets, unless it breaks off. @throws {FileGoneError}, {@link StoreError} */
  read(exportName: string, name: string, range: OctetRange, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Removes a file of an export, or all of them, if there are any. @throws {StoreError} */
  remove(exportName: string, name?: string): Promise<void>;
  /**
   * Removes the files of an export that exist when it is called and are not `kept`, which is called afterwards, so that
   * what is stored and recorded meanwhile stays. @throws {StoreError}, and what `kept` throws
   */
  prune(exportName: string, kept: () => Promise<ReadonlySet<string>>, signal: AbortSignal): Promise<void>;
};
