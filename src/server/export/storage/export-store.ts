/** Octets from `start` to `end`, both included. */
export type OctetRange = { readonly start: number; readonly end: number };

/** The file that was asked for is not there any more, or is not whole. */
export class FileGoneError extends Error {
  override name = 'FileGoneError';
}

/** The place where exports lie can't be used. Its operator mends it; what was asked for is asked for again later. */
export class StoreError extends Error {
  override name = 'StoreError';
}

/** Where finished exports lie. A file is named by its export and its own name; both are ours, never from outside. */
export type ExportStore = {
  /** A folder of this machine for what is under way. */
  readonly staging: string;
  /**
   * Moves a finished file of the staging folder in. Afterwards it is there whole; when this throws, not at all, as far
   * as can be told. An abort makes it throw where it would take long. @throws {StoreError}
   */
  put(exportName: string, name: string, file: string, signal: AbortSignal): Promise<void>;
  /** Just so many octets, unless it breaks off. @throws {FileGoneError}, {@link StoreError} */
  read(exportName: string, name: string, range: OctetRange, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Removes a file of an export, or all of them; fine when there are none. @throws {StoreError} */
  remove(exportName: string, name?: string): Promise<void>;
  /**
   * Removes the files of an export that are there when it is called, and not `kept`, which is asked afterwards: what is
   * stored and noted meanwhile stays. @throws {StoreError}, and what `kept` does
   */
  prune(exportName: string, kept: () => Promise<ReadonlySet<string>>, signal: AbortSignal): Promise<void>;
};
