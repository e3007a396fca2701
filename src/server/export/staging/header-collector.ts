/** How much of a message's beginning is kept at most, for its header, in octets. */
const HEADER_OCTETS = 64 * 1024;
const [USUAL_END, BARE_END] = ['\r\n\r\n', '\n\n'];

/** Keeps the header of a message passing through, and what comes with it; the chunks may be reused afterwards. */
export function openHeaderCollector(): { take(chunk: Uint8Array): void; octets(): Buffer } {
  let header: Buffer = Buffer.alloc(0);
  let isWhole = false;
  return {
    take: (chunk) => {
      if (isWhole) return;
      const unseen = Math.max(0, header.length - USUAL_END.length);
      const more = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, HEADER_OCTETS - header.length));
      const beginning = header.length === 0 ? more : Buffer.concat([header, more]);
      const end = endOf(beginning, unseen);
      isWhole = end !== undefined || beginning.length === HEADER_OCTETS;
      header = Buffer.from(beginning.subarray(0, end));
    },
    octets: () => header,
  };
}

function endOf(octets: Buffer, from: number): number | undefined {
  const usual = octets.indexOf(USUAL_END, from, 'latin1');
  // Whichever comes first, so that a message without a bare one is not searched to its end.
  const bare = octets.subarray(0, usual < 0 ? octets.length : usual).indexOf(BARE_END, from, 'latin1');
  if (bare >= 0) return bare + USUAL_END.length;
  return usual < 0 ? undefined : usual + USUAL_END.length;
}
