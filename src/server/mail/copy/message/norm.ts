import { createHash } from 'node:crypto';

const [LF, CR] = [10, 13];
/** Longer headers are not compared field by field: what is beyond counts as the body, from the next line on. */
const HEADER_OCTETS = 256 * 1024;
/** A longer line is not held either; its rest counts as the body. */
const LINE_OCTETS = 1024 * 1024;

/**
 * What stays the same of a message that a provider keeps in a form of its own: the header fields (and other lines in
 * the header), apart from order, folding and blanks, and the body, apart from line ends and empty lines at its end. It
 * takes little memory, so that those of a whole mailbox can be held: of each field 48 bits of its SHA-256, sorted.
 */
export type Form = { readonly fields: Float64Array; readonly body: string; readonly messageId: string };

/** Takes a message's octets one chunk after the other. Holds no more of it than its header. */
export function openForm(): { write: (chunk: Uint8Array) => void; end: () => Form } {
  const head: Buffer[] = [];
  let headOctets = 0;
  let inBody = false;
  let lineIsEmpty = true;
  let heldEnds = 0;
  const hash = createHash('sha256');

  /** Hashes the lines of the body, ended by LF, without empty ones at the end. */
  function body(chunk: Buffer): void {
    for (let at = 0; at < chunk.length;) {
      const octet = chunk[at];
      if (octet === CR) at += 1;
      else if (octet === LF) {
        heldEnds += 1;
        at += 1;
      } else {
        let end = at;
        while (end < chunk.length && chunk[end] !== CR && chunk[end] !== LF) end += 1;
        if (heldEnds > 0) hash.update('\n'.repeat(Math.min(heldEnds, 1024)));
        heldEnds = 0;
        hash.update(chunk.subarray(at, end));
        at = end;
      }
    }
  }

  return {
    write: (given) => {
      const chunk = Buffer.from(given.buffer, given.byteOffset, given.byteLength);
      let at = 0;
      while (!inBody && at < chunk.length) {
        const octet = chunk[at];
        at += 1;
        if (octet === LF) {
          inBody = lineIsEmpty || headOctets + at > HEADER_OCTETS;
          lineIsEmpty = true;
        } else if (octet !== CR) lineIsEmpty = false;
        inBody ||= headOctets + at >= LINE_OCTETS;
      }
      if (at > 0) {
        head.push(Buffer.from(chunk.subarray(0, at)));
        headOctets += at;
      }
      if (at < chunk.length) body(chunk.subarray(at));
    },
    end: () => {
      const fields: number[] = [];
      let messageId = '';
      for (const field of fieldsOf(Buffer.concat(head).toString('latin1'))) {
        const digest = createHash('sha256').update(field, 'latin1').digest();
        fields.push(digest.readUIntBE(0, 6));
        if (field.startsWith('message-id:') && field !== 'message-id:') messageId ||= digest.toString('hex');
      }
      return { fields: Float64Array.from(fields).toSorted(), body: hash.digest('hex'), messageId };
    },
  };
}

function* fieldsOf(header: string): Iterable<string> {
  const unfolded = header.replaceAll('\r', '').replaceAll(/\n[ \t]+/g, ' ');
  for (const folded of unfolded.split('\n')) {
    const line = folded.replaceAll(/[ \t]+/g, ' ').trim();
    const colon = line.indexOf(':');
    if (colon > 0) yield `${line.slice(0, colon).trim().toLowerCase()}:${line.slice(colon + 1).trim()}`;
    else if (line !== '') yield line;
  }
}

/** Whether `stored` is `sent` as a provider keeps it: nothing of it is missing; header fields may have been added. */
export function isProvidersForm(sent: Form, stored: Form): boolean {
  if (sent.body !== stored.body) return false;
  let at = 0;
  for (const field of sent.fields) {
    while (at < stored.fields.length && (stored.fields[at] ?? 0) < field) at += 1;
    if (stored.fields[at] !== field) return false;
    at += 1;
  }
  return true;
}
