import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  read,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

/** The position of a record's body in its journal, in octets. */
export type Extent = { readonly offset: number; readonly size: number };

export type Entry = { readonly record: unknown; readonly body?: Buffer };

const WINDOW = 256 * 1024;
const LONGEST_RECORD = 16 * 1024 * 1024;
const NEWLINE = Buffer.from('\n');
const readAsync = promisify(read);

/**
 * An append-only file of JSON records, each with an optional body of octets: `<body size> <json>\n<body>\n`.
 * A record is in the file (though not synced to the disk) before `append` returns, so it survives a `kill -9`.
 * A truncated record is dropped when the file is opened again.
 */
export class Journal implements Disposable {
  readonly #file: number;
  #end = 0;

  private constructor(file: number) {
    this.#file = file;
  }

  static open(path: string, replay: (record: unknown, body: Extent) => void): Journal {
    mkdirSync(dirname(path), { recursive: true });
    const journal = new Journal(openSync(path, 'a+', 0o600));
    journal.#replay(replay);
    return journal;
  }

  /** Replaces the whole file with these records, atomically. */
  static rewrite(path: string, entries: Iterable<Entry>): void {
    mkdirSync(dirname(path), { recursive: true });
    const file = openSync(`${path}.new`, 'w', 0o600);
    for (const { record, body } of entries) writeAll(file, encode(record, body));
    closeSync(file);
    renameSync(`${path}.new`, path);
  }

  /** @throws when the write fails; the file is then unchanged. */
  append(record: unknown, body?: Buffer): Extent {
    const bytes = encode(record, body);
    try {
      writeAll(this.#file, bytes);
    } catch (error) {
      ftruncateSync(this.#file, this.#end);
      throw error;
    }
    this.#end += bytes.length;
    const size = body?.length ?? 0;
    return { offset: this.#end - size - 1, size };
  }

  async read({ offset, size }: Extent): Promise<Buffer> {
    const bytes = Buffer.allocUnsafe(size);
    let filled = 0;
    while (filled < size) {
      const { bytesRead } = await readAsync(this.#file, bytes, filled, size - filled, offset + filled);
      if (bytesRead === 0) throw new Error('The journal is shorter than its records claim.');
      filled += bytesRead;
    }
    return bytes;
  }

  #replay(replay: (record: unknown, body: Extent) => void): void {
    const length = fstatSync(this.#file).size;
    let window = Buffer.alloc(0);
    let start = 0;
    while (this.#end < length) {
      let line = lineAt(window, this.#end - start);
      for (let want = WINDOW; line === null && want <= LONGEST_RECORD; want *= 8) {
        start = this.#end;
        window = Buffer.allocUnsafe(Math.min(want, length - start));
        readSync(this.#file, window, 0, window.length, start);
        line = lineAt(window, 0);
      }
      const match = line === null ? null : /^(\d+) (.*)$/s.exec(line.toString());
      if (line === null || match === null) break;
      const size = Number(match[1]);
      const offset = this.#end + line.length + 1;
      if (offset + size + 1 > length) break;
      replay(JSON.parse(match[2] ?? ''), { offset, size });
      this.#end = offset + size + 1;
    }
    if (this.#end < length) ftruncateSync(this.#file, this.#end);
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }
}

function lineAt(window: Buffer, from: number): Buffer | null {
  if (from < 0 || from >= window.length) return null;
  const end = window.indexOf(NEWLINE, from);
  return end < 0 ? null : window.subarray(from, end);
}

function encode(record: unknown, body: Buffer = Buffer.alloc(0)): Buffer {
  return Buffer.concat([Buffer.from(`${body.length} ${JSON.stringify(record)}\n`), body, NEWLINE]);
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
