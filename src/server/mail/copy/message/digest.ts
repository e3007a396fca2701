import { createHash } from 'node:crypto';
import { observed } from '../../imap/observed-octets.ts';
import type { Fetched, Octets } from '../../imap/streams.ts';
import { type Mac, openMac } from './mac.ts';
import { openForm, type Form } from './norm.ts';

/** How much of a message is searched for its header, in octets. */
const HEAD_OCTETS = 16 * 1024;
export const END_OF_HEADER = '\r\n\r\n';

const LINE_FEED = 10;

/**
 * What is known of octets that have passed: how many, their SHA-256 in hex, the first of them, with the header, and
 * their MAC if it was asked for.
 */
export type Digest = {
  readonly size: number;
  readonly sha256: string;
  readonly head: Buffer;
  /** The last line has an end. */
  readonly isEnded: boolean;
  readonly mac?: Mac;
};

/** Passes octets on and computes their digest, which is there once all of them have passed. */
export function digesting(
  octets: Octets,
  { withMac = false } = {},
): { readonly octets: Octets; readonly hasBegun: () => boolean; readonly digest: () => Digest } {
  const hash = createHash('sha256');
  const mac = withMac ? openMac() : undefined;
  const head: Buffer[] = [];
  let size = 0;
  let isHeader = true;
  let last: number | undefined;
  const take = (chunk: Uint8Array) => {
    hash.update(chunk);
    mac?.write(chunk);
    if (isHeader) {
      const part = Buffer.from(chunk.buffer, chunk.byteOffset, Math.min(chunk.length, HEAD_OCTETS - size));
      const end = part.indexOf(END_OF_HEADER);
      isHeader = end < 0 && size + chunk.length < HEAD_OCTETS;
      head.push(Buffer.from(end < 0 ? part : part.subarray(0, end)));
    }
    size += chunk.length;
    last = chunk.at(-1) ?? last;
  };
  return {
    octets: observed(octets, { chunk: take }),
    hasBegun: () => size > 0,
    digest: () => ({
      size,
      sha256: hash.digest('hex'),
      head: Buffer.concat(head),
      isEnded: last === LINE_FEED,
      ...(mac === undefined ? {} : { mac: mac.end() }),
    }),
  };
}

/** Reads all octets, only for their digest. */
export async function digestOf(octets: Octets): Promise<{ readonly size: number; readonly sha256: string }> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of octets) {
    hash.update(chunk);
    size += chunk.length;
  }
  return { size, sha256: hash.digest('hex') };
}

/** What a message is recognised by: its digest, and the form that is the same at every provider. */
export type Portrait = Pick<Digest, 'size' | 'sha256'> & {
  readonly uid: number;
  readonly date: number | null;
  readonly form: Form;
};

/** Reads each message to its end, and says what it can be recognised by. */
export async function* portraits(messages: AsyncIterable<Fetched>): AsyncIterable<Portrait> {
  for await (const { uid, internalDate, octets } of messages) {
    const form = openForm();
    const passing = digesting(octets);
    for await (const chunk of passing.octets) form.write(chunk);
    // Without the header, as those of a whole mailbox may be in memory.
    const { size, sha256 } = passing.digest();
    yield { size, sha256, uid, date: secondsOf(internalDate), form: form.end() };
  }
}

/** Internal dates have whole seconds on the wire. @returns seconds since the epoch, `null` when there is no date */
export function secondsOf(date: Date): number | null {
  const time = date.getTime();
  return Number.isNaN(time) ? null : Math.floor(time / 1000);
}
