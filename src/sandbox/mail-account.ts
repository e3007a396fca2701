import { EventEmitter } from 'node:events';
import * as v from 'valibot';
import { type Extent, Journal } from './journal.ts';

/** `internalDate` is in ms since 1970; `changed` is the mailbox's `changes` at the time its flags last changed. */
export type Message = {
  readonly uid: number;
  readonly internalDate: number;
  readonly size: number;
  readonly source: Buffer | Extent;
  flags: readonly string[];
  changed: number;
  expunged: boolean;
};

/** `messages` are in ascending order of UID; `use` is a special-use attribute (RFC 6154) such as `\Sent`. */
export type Mailbox = {
  name: string;
  readonly uidValidity: number;
  readonly use: string | undefined;
  readonly messages: Message[];
  uidNext: number;
  changes: number;
  gone: boolean;
};

export type SeedMessage = {
  readonly uid: number;
  readonly internalDate: number;
  readonly flags: readonly string[];
  readonly source: Buffer;
};

/** A mailbox that an account starts with, the same every time. Without `uidValidity`, one is taken from the clock, once. */
export type SeedMailbox = {
  readonly name: string;
  readonly use?: string;
  readonly uidValidity?: number;
  readonly uidNext?: number;
  readonly subscribed?: boolean;
  readonly messages?: readonly SeedMessage[];
};

const Name = v.string();
const Flags = v.array(v.string());
const Uid = v.number();
const Change = v.variant('change', [
  v.object({ change: v.literal('create'), mailbox: Name, uidValidity: v.number(), use: v.optional(v.string()) }),
  v.object({ change: v.literal('delete'), mailbox: Name }),
  v.object({ change: v.literal('rename'), mailbox: Name, to: Name }),
  v.object({ change: v.literal('subscribe'), mailbox: Name, on: v.boolean() }),
  v.object({ change: v.literal('append'), mailbox: Name, uid: Uid, internalDate: v.number(), flags: Flags }),
  v.object({ change: v.literal('flags'), mailbox: Name, uid: Uid, flags: Flags }),
  v.object({ change: v.literal('expunge'), mailbox: Name, uid: Uid }),
]);
type Change = v.InferOutput<typeof Change>;

/** Another client has deleted the mailbox. */
export class MailboxGone extends Error {
  override name = 'MailboxGone';
}

/**
 * One person's mailboxes. They start out as the seed; every change after that is in the journal before the call
 * returns, so the account survives the process. Emits `change` after each.
 */
export class MailAccount extends EventEmitter<{ change: [] }> implements Disposable {
  readonly mailboxes = new Map<string, Mailbox>();
  readonly subscriptions = new Set<string>();
  readonly #journal: Journal;
  #lastUidValidity = 0;

  private constructor(path: string, seed: readonly SeedMailbox[]) {
    super();
    this.setMaxListeners(0);
    for (const mailbox of seed) if (mailbox.uidValidity !== undefined) this.#plant(mailbox, mailbox.uidValidity);
    let fresh = true;
    this.#journal = Journal.open(path, (record, body) => {
      fresh = false;
      this.#apply(v.parse(Change, record), body);
    });
    if (!fresh) return;
    for (const { name, use, uidValidity } of seed) {
      if (uidValidity !== undefined) continue;
      this.create(name, use);
      this.subscribe(name, true);
    }
  }

  static open(path: string, seed: readonly SeedMailbox[]): MailAccount {
    return new MailAccount(path, seed);
  }

  mailbox(name: string): Mailbox | undefined {
    return this.mailboxes.get(name);
  }

  create(mailbox: string, use?: string): Mailbox {
    const uidValidity = Math.max(Math.floor(Date.now() / 1000), this.#lastUidValidity + 1);
    this.#commit({ change: 'create', mailbox, uidValidity, ...(use === undefined ? {} : { use }) });
    return this.#existing(mailbox);
  }

  /** @throws {MailboxGone} like every call on a mailbox */
  delete(mailbox: Mailbox): void {
    const name = nameOf(mailbox);
    this.#commit({ change: 'delete', mailbox: name });
  }

  rename(mailbox: Mailbox, to: string): void {
    const name = nameOf(mailbox);
    this.#commit({ change: 'rename', mailbox: name, to });
  }

  subscribe(name: string, on: boolean): void {
    this.#commit({ change: 'subscribe', mailbox: name, on });
  }

  append(mailbox: Mailbox, internalDate: number, flags: readonly string[], bytes: Buffer): number {
    const name = nameOf(mailbox);
    const { uidNext } = mailbox;
    this.#commit({ change: 'append', mailbox: name, uid: uidNext, internalDate, flags: [...flags] }, bytes);
    return uidNext;
  }

  setFlags(mailbox: Mailbox, { uid }: Message, flags: readonly string[]): void {
    const name = nameOf(mailbox);
    this.#commit({ change: 'flags', mailbox: name, uid, flags: [...flags] });
  }

  expunge(mailbox: Mailbox, { uid }: Message): void {
    const name = nameOf(mailbox);
    this.#commit({ change: 'expunge', mailbox: name, uid });
  }

  /** At most `length` octets of the message, from `start`. */
  async read({ source, size }: Message, start = 0, length = size): Promise<Buffer> {
    const end = Math.min(size, start + length);
    if (start >= end) return Buffer.alloc(0);
    if (Buffer.isBuffer(source)) return source.subarray(start, end);
    return this.#journal.read({ offset: source.offset + start, size: end - start });
  }

  [Symbol.dispose](): void {
    this.#journal[Symbol.dispose]();
  }

  #commit(change: Change, body?: Buffer): void {
    this.#apply(change, this.#journal.append(change, body));
    this.emit('change');
  }

  #existing(name: string): Mailbox {
    const mailbox = this.mailboxes.get(name);
    if (mailbox === undefined) throw new Error(`The journal refers to a mailbox that doesn't exist: ${name}`);
    return mailbox;
  }

  #plant({ name, use, uidNext, subscribed = true, messages = [] }: SeedMailbox, uidValidity: number): void {
    const planted = messages.map((message) => ({
      ...message,
      size: message.source.length,
      changed: 0,
      expunged: false,
    }));
    const next = uidNext ?? (messages.at(-1)?.uid ?? 0) + 1;
    this.mailboxes.set(name, { name, uidValidity, use, messages: planted, uidNext: next, changes: 0, gone: false });
    this.#lastUidValidity = Math.max(this.#lastUidValidity, uidValidity);
    if (subscribed) this.subscriptions.add(name);
  }

  #apply(change: Change, body: Extent): void {
    if (change.change === 'subscribe') {
      if (change.on) this.subscriptions.add(change.mailbox);
      else this.subscriptions.delete(change.mailbox);
      return;
    }
    if (change.change === 'create') {
      const { mailbox: name, use, uidValidity } = change;
      this.#plant({ name, subscribed: false, ...(use === undefined ? {} : { use }) }, uidValidity);
      return;
    }
    const mailbox = this.#existing(change.mailbox);
    mailbox.changes += 1;
    switch (change.change) {
      case 'delete':
        this.mailboxes.delete(mailbox.name);
        mailbox.gone = true;
        return;
      case 'rename':
        this.mailboxes.delete(mailbox.name);
        mailbox.name = change.to;
        this.mailboxes.set(mailbox.name, mailbox);
        return;
      case 'append': {
        const { uid, internalDate, flags } = change;
        const { changes } = mailbox;
        mailbox.messages.push({
          uid,
          internalDate,
          flags,
          size: body.size,
          source: body,
          changed: changes,
          expunged: false,
        });
        mailbox.uidNext = uid + 1;
        return;
      }
      case 'flags':
      case 'expunge': {
        const at = messageAt(mailbox, change.uid);
        const message = mailbox.messages[at];
        if (message === undefined) return;
        if (change.change === 'flags') {
          message.flags = change.flags;
          message.changed = mailbox.changes;
        } else {
          message.expunged = true;
          mailbox.messages.splice(at, 1);
        }
      }
    }
  }
}

function nameOf({ name, gone }: Mailbox): string {
  if (gone) throw new MailboxGone('The mailbox has been deleted.');
  return name;
}

/** The index of the message with this UID in its mailbox; -1 when there is none. */
function messageAt({ messages }: Mailbox, uid: number): number {
  let low = 0;
  let high = messages.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    const found = messages[middle]?.uid ?? 0;
    if (found === uid) return middle;
    if (found < uid) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
