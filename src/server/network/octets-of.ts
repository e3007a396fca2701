/** An answer is longer than its limit; the rest of it was not read. */
export class AnswerTooLong extends Error {
  override name = 'AnswerTooLong';
}

/**
 * The body of an answer, unpacked, of so many octets at most.
 * @throws {AnswerTooLong}
 */
export async function octetsOf(answer: Response, limit: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  for await (const chunk of answer.body ?? []) {
    octets += chunk.length;
    if (octets > limit) throw new AnswerTooLong(`The answer has more than ${limit} octets.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
