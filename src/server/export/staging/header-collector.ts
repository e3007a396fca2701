/** How much of a message's beginning is kept for its header, in octets. */
export const HEADER_OCTETS = 64 * 1024;

/** Keeps the beginning of a message that goes by; the chunks may be used for something else afterwards. */
export function openHeaderCollector(): { take(chunk: Uint8Array): void; octets(): Buffer } {
  const chunks: Buffer[] = [];
  let room = HEADER_OCTETS;
  return {
    take: (chunk) => {
      if (room === 0) return;
      const kept = Buffer.from(chunk.subarray(0, room));
      room -= kept.length;
      chunks.push(kept);
    },
    octets: () => Buffer.concat(chunks),
  };
}
