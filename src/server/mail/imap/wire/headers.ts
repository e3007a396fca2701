import type { Listeners } from './commands-under-way.ts';
import { FetchReader } from './fetch-response.ts';
import type { ImapConnection } from './imap-connection.ts';
import type { LiteralSink } from './response-parser.ts';
import { setsOf } from './uid-sets.ts';

const HEADER_LIMIT = 64 * 1024;

/** The header sections of messages of the open mailbox, each up to 64 KB. @throws {MailError} */
export async function fetchHeaders(
  connection: ImapConnection,
  reader: FetchReader,
  uids: readonly number[],
): Promise<{ uid: number; header: Buffer }[]> {
  const headers: { uid: number; header: Buffer }[] = [];
  const wanted = new Set(uids);
  let collected: HeaderSink | undefined;
  const listeners: Listeners = {
    literal: (parts) => {
      if (typeof parts[0] !== 'string' || FetchReader.numberOf(parts[0]) < 0) return undefined;
      const last = parts.at(-1);
      if (typeof last !== 'string' || !last.toUpperCase().includes('BODY[HEADER]')) return undefined;
      collected = new HeaderSink();
      return collected;
    },
    untagged: (parts, line) => {
      if (FetchReader.numberOf(line) < 0) return false;
      const { uid } = reader.read(parts);
      const header = collected?.header;
      collected = undefined;
      if (uid === undefined || header === undefined || !wanted.delete(uid)) return false;
      headers.push({ uid, header });
      return true;
    },
  };
  await Promise.all(
    [...setsOf(uids)].map(({ set }) =>
      connection.command(`UID FETCH ${set} (UID BODY.PEEK[HEADER]<0.${HEADER_LIMIT}>)`, listeners),
    ),
  );
  return headers;
}

/** Keeps the beginning of a header section. */
class HeaderSink implements LiteralSink {
  readonly #chunks: Buffer[] = [];
  #room = HEADER_LIMIT;

  octets(chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#room);
    this.#room -= kept.length;
    if (kept.length > 0) this.#chunks.push(Buffer.from(kept));
  }

  end(): void {}

  get header(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}
