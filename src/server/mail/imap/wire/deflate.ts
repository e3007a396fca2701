import { Duplex } from 'node:stream';
import { constants, createDeflateRaw, createInflateRaw } from 'node:zlib';

/** The fastest level that finds repetitions: mail is mostly base64, which no level shrinks below three quarters. */
const LEVEL = 1;

/**
 * A stream over another one that carries its octets compressed, both ways (RFC 4978 §4). Each write is flushed at once.
 */
export function openDeflate(below: Duplex): Duplex {
  const inflate = createInflateRaw({ flush: constants.Z_SYNC_FLUSH });
  const deflate = createDeflateRaw({ level: LEVEL, flush: constants.Z_SYNC_FLUSH });
  below.pipe(inflate);
  deflate.pipe(below);
  const above = Duplex.from({ readable: inflate, writable: deflate });
  const fail = (error: Error) => above.destroy(error);
  for (const stream of [below, inflate, deflate]) stream.on('error', fail);
  below.on('close', () => above.destroy());
  above.on('close', () => {
    inflate.destroy();
    deflate.destroy();
    below.destroy();
  });
  below.resume();
  return above;
}
