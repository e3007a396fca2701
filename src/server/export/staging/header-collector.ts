/** How much of a message's beginning is kept for its header at most, in octets. */
const HEADER_OCTETS = 64 * 1024;
const ENDS = ['\r\n\r\n', '\n\n'];
const LONGEST_END = 4;

/** Keeps the header of a message that goes by, and what comes with it; the chunks may be used for something else afterwards. */
export function openHeaderCollector(): { take(chunk: Uint8Array): void; octets(): Buffer } {
  let header: Buffer = Buffer.alloc(0);
  let isWhole = false;
  return {
    take: (chunk) => {
      if (isWhole) return;
      const unseen = Math.max(0, header.length - LONGEST_END);
      header = Buffer.concat([header, chunk.subarray(0, HEADER_OCTETS - header.length)]);
      const ends = ENDS.map((end) => header.indexOf(end, unseen)).filter((at) => at >= 0);
      isWhole = ends.length > 0 || header.length === HEADER_OCTETS;
      if (ends.length > 0) header = Buffer.from(header.subarray(0, Math.min(...ends) + LONGEST_END));
    },
    octets: () => header,
  };
}
