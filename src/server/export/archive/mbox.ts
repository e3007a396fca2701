import type { LineEnds, LineEndsReader } from '../staging/staged.ts';

/**
 * The `mboxrd` form (see RFC 4155, Appendix A): a `From_` line, three lines of ours, the message, in which lines that
 * match `>*From ` get one more `>`, and an empty line. To restore it byte for byte: drop the first three lines
 * (`Status`, `X-Status`, `X-Keywords`), remove one `>` from lines that match `^>+From `, turn LF into CRLF if the
 * manifest says `crlf`, and keep the first `size` octets.
 */

const LF = 0x0a;
const CR = 0x0d;
const QUOTE = 0x3e;
const FROM = Buffer.from('From ');

/** `crlf` if each LF has its CR, so that LF alone can represent both; a message with bare LFs is kept as it is. */
export function openLineEnds(): LineEndsReader {
  let bare = false;
  let last = 0;
  return {
    take: (chunk) => {
      for (let at = chunk.indexOf(LF); at >= 0 && !bare; at = chunk.indexOf(LF, at + 1))
        bare = (at === 0 ? last : chunk[at - 1]) !== CR;
      last = chunk.at(-1) ?? last;
    },
    end: () => (bare ? 'kept' : 'crlf'),
  };
}

/** The `From_` line and the flags, as mutt and Thunderbird read them, before the message's own header. */
export function mboxHead(message: {
  readonly sender: string;
  readonly internalDate: Date;
  readonly flags: readonly string[];
}): Buffer {
  const flags = new Set(message.flags.map((flag) => flag.toLowerCase()));
  const letters = (pairs: readonly (readonly [string, string])[]) =>
    pairs.map(([flag, letter]) => (flags.has(flag) ? letter : '')).join('');
  const keywords = message.flags
    .filter((flag) => !flag.startsWith('\\'))
    .map((flag) => flag.replaceAll(/[^\x21-\x7e]/g, ''));
  const marks = letters([
    ['\\answered', 'A'],
    ['\\flagged', 'F'],
    ['\\draft', 'T'],
    ['\\deleted', 'D'],
  ]);
  return Buffer.from(
    `From ${message.sender} ${asctime(message.internalDate)}\n` +
      `Status: ${flags.has('\\seen') ? 'RO' : 'O'}\n` +
      `X-Status: ${marks}\n` +
      `X-Keywords: ${keywords.join(' ')}\n`,
  );
}

/** `Wed Mar  5 14:22:33 2025`, in UTC. */
function asctime(date: Date): string {
  const [day, month] = [date.toUTCString().slice(0, 3), date.toUTCString().slice(8, 11)];
  const time = date.toISOString().slice(-13, -5);
  return `${day} ${month} ${String(date.getUTCDate()).padStart(2)} ${time} ${String(date.getUTCFullYear()).padStart(4, '0')}`;
}

/** Room for this many additional `>` in a piece; one that needs more is output in two. */
const QUOTES_ROOM = 256;

/** The message's octets as they are in the mbox, with the closing empty line; chunk by chunk, in constant memory. */
export async function* mboxBody(chunks: AsyncIterable<Buffer>, lineEnds: LineEnds): AsyncGenerator<Buffer> {
  const dropsCr = lineEnds === 'crlf';
  /** Whether the line consists only of `>` so far, and how much of `From ` has followed. */
  let startsLine = true;
  let matched = 0;
  let heldCr = false;
  let last = LF;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      // At most five octets are held back from the previous chunk.
      const out = Buffer.allocUnsafe(chunk.length - from + QUOTES_ROOM + FROM.length + 1);
      let length = 0;
      const full = out.length - FROM.length - 2;
      if (heldCr && chunk[from] !== LF) out[length++] = CR;
      heldCr = false;
      while (from < chunk.length && length + chunk.length - from <= full) {
        if (startsLine) {
          if (matched === 0) while (chunk[from] === QUOTE) out[length++] = chunk[from++] ?? QUOTE;
          while (matched < FROM.length && from < chunk.length && chunk[from] === FROM[matched]) {
            matched += 1;
            from += 1;
          }
          if (from === chunk.length && matched < FROM.length) break;
          if (matched === FROM.length) out[length++] = QUOTE;
          length += FROM.copy(out, length, 0, matched);
          matched = 0;
          startsLine = false;
        }
        const lf = chunk.indexOf(LF, from);
        const end = lf < 0 ? chunk.length : lf + 1;
        startsLine = lf >= 0;
        const crAt = dropsCr ? (lf < 0 ? end - 1 : lf - 1) : -1;
        if (crAt >= from && chunk[crAt] === CR) {
          length += chunk.copy(out, length, from, crAt);
          if (lf < 0) heldCr = true;
          else out[length++] = LF;
        } else length += chunk.copy(out, length, from, end);
        from = end;
      }
      if (length > 0) last = out[length - 1] ?? last;
      yield out.subarray(0, length);
    }
  }
  const held = Buffer.concat([FROM.subarray(0, matched), Buffer.from(heldCr ? [CR] : [])]);
  if (held.length > 0) last = 0;
  yield Buffer.concat([held, Buffer.from(last === LF ? '\n' : '\n\n')]);
}
