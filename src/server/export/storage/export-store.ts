/** Octets from `start` to `end`, both included. */
export type OctetRange = { readonly start: number; readonly end: number };

/** The file that was asked for is not there any more. */
export class FileGoneError extends Error {
  override name = 'FileGoneError';
}

/** Where finished exports lie. A file is named by its export and its own name; both are ours, never from outside. */
export type ExportStore = {
  /** A folder of this machine for what is under way. */
  readonly staging: string;
  /** Moves a finished file of the staging folder in. Afterwards it is there whole, or not at all. */
  put(exportName: string, name: string, file: string): Promise<void>;
  /** @throws {FileGoneError} */
  read(exportName: string, name: string, range: OctetRange, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** Removes all files of an export; fine when there are none. */
  remove(exportName: string): Promise<void>;
};
