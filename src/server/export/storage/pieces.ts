import { crc32 } from 'node:zlib';
import type { Database } from '../../store/database.ts';
import { FileGoneError, type OctetRange } from './export-store.ts';

/** A finished file is checked in pieces of this many octets; the last one is shorter. */
export const PIECE = 1024 * 1024;
/** In octets. */
const CHECKSUM = 4;

/** Whole pieces of a file, and the checksum of each; none if the file was made without them. */
export type Pieces = { readonly range: OctetRange; readonly checksums: readonly number[] };

/** A checksum as it is stored. */
export function checksumIn(crc: number): Buffer {
  const checksum = Buffer.alloc(CHECKSUM);
  checksum.writeUInt32BE(crc);
  return checksum;
}

type File = { readonly exportId: number; readonly name: string; readonly size: number };

/** The pieces that contain these octets of a file. */
export async function piecesWith(database: Database, file: File, { start, end }: OctetRange): Promise<Pieces> {
  const [first, last] = [Math.floor(start / PIECE), Math.floor(end / PIECE)];
  const [row] = await database.query<{ checksums: Uint8Array | null }>(
    'select substring(pieces from $3 for $4) as checksums from export_files where export_id = $1 and name = $2',
    [file.exportId, file.name, first * CHECKSUM + 1, (last - first + 1) * CHECKSUM],
  );
  const known = Buffer.from(row?.checksums ?? []);
  return {
    range:
      known.length === 0 ? { start, end } : { start: first * PIECE, end: Math.min(file.size, (last + 1) * PIECE) - 1 },
    checksums: Array.from({ length: known.length / CHECKSUM }, (_, at) => known.readUInt32BE(at * CHECKSUM)),
  };
}

/**
 * The wanted octets of whole pieces; none is given before its entire piece is known to be right.
 * @throws {FileGoneError} at the first piece that is not
 */
export async function* checked(
  octets: AsyncIterable<Uint8Array>,
  { range, checksums }: Pieces,
  wanted: OctetRange,
): AsyncGenerator<Uint8Array> {
  if (checksums.length === 0) {
    yield* octets;
    return;
  }
  let at = range.start;
  const settle = function* (piece: readonly Uint8Array[], checksum: number) {
    if (checksum !== checksums[Math.floor((at - range.start) / PIECE)])
      throw new FileGoneError('A piece of a file is damaged.');
    for (const part of piece) {
      const inside = part.subarray(Math.max(0, wanted.start - at), Math.max(0, wanted.end + 1 - at));
      if (inside.length > 0) yield inside;
      at += part.length;
    }
  };
  let piece: Uint8Array[] = [];
  let [length, checksum] = [0, 0];
  for await (const chunk of octets)
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + PIECE - length);
      piece.push(part);
      checksum = crc32(part, checksum);
      from += part.length;
      length += part.length;
      if (length < PIECE) continue;
      yield* settle(piece, checksum);
      piece = [];
      [length, checksum] = [0, 0];
    }
  if (length > 0) yield* settle(piece, checksum);
  if (at <= range.end) throw new FileGoneError('A file ends too soon.');
}
