import { isUtf8 } from 'node:buffer';
import { fieldOf, headerFields, structured, type HeaderField } from './header-fields.ts';
import { isText, type Part } from './mail-parser.ts';

/**
 * The header of a message that is being read. Programs from before encoded words wrote it in the charset of the text,
 * which a multipart states only in its parts.
 */
export class MessageHeader {
  readonly octets: Buffer;
  #fields: readonly HeaderField[];
  #needsCharset: boolean;

  constructor(octets: Buffer = Buffer.alloc(0), fields: readonly HeaderField[] = []) {
    this.octets = octets;
    this.#fields = fields;
    const isStated = structured(fieldOf(fields, 'content-type')).parameters.has('charset');
    this.#needsCharset = !isStated && !isUtf8(octets);
  }

  get fields(): readonly HeaderField[] {
    return this.#fields;
  }

  /** Takes the charset of the first text that has one. To be called for each part, in order. */
  noteCharset(part: Part): void {
    if (!this.#needsCharset || !isText(part)) return;
    const charset = part.content.parameters.get('charset') ?? '';
    if (charset === '') return;
    this.#needsCharset = false;
    this.#fields = headerFields(this.octets, charset);
  }
}
