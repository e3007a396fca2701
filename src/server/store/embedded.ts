import { mkdir } from 'node:fs/promises';
import { PGlite } from '@electric-sql/pglite';
import { EmbeddedUnavailable, EmbeddedUnusable, isPanic } from './database-faults.ts';

/**
 * PGlite that answers nothing more after a panic, such as for lack of room for its log: the next statement, even the one
 * that closes it, would compute without end, and the process would hear no signal.
 */
class Embedded extends PGlite {
  readonly #onBroken: (fault: Error) => void;
  #broken: Error | null = null;

  constructor(folder: string, onBroken: (fault: Error) => void) {
    super(folder);
    this.#onBroken = onBroken;
  }

  override execProtocolRawSync(message: Uint8Array): Uint8Array {
    if (this.#broken !== null) throw this.#broken;
    return super.execProtocolRawSync(message);
  }

  override async execProtocolStream(...asked: Parameters<PGlite['execProtocolStream']>) {
    try {
      return await super.execProtocolStream(...asked);
    } catch (error) {
      if (this.#broken === null && isPanic(error)) {
        this.#broken = error;
        this.#onBroken(new EmbeddedUnavailable(error));
      }
      throw error;
    }
  }

  override async close(): Promise<void> {
    if (this.#broken === null) await super.close();
  }
}

/**
 * Opens PGlite in `folder`.
 * @param onBroken is told, once, why it answers nothing more until another process opens it
 * @throws {EmbeddedUnusable}
 */
export async function openEmbedded(folder: string, onBroken: (fault: Error) => void): Promise<PGlite> {
  // PGlite's files get the umask's permissions; like PostgreSQL's, they must not be readable by anyone else.
  if (!folder.startsWith('memory:')) await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const lite = new Embedded(folder, onBroken);
    await lite.waitReady;
    return lite;
  } catch (cause) {
    throw new EmbeddedUnusable(folder, cause);
  }
}
