import { MailboxRenumbered, MailError, unlessRefused } from '../mail-error.ts';
import type { Opened } from '../streams.ts';
import { bounded } from './commands-under-way.ts';
import { numberOf } from './fetch-response.ts';
import type { ImapConnection } from './imap-connection.ts';
import { mailboxName } from './mailbox-name.ts';
import type { Part } from './response-parser.ts';
import { readStatus, type StatusResponse } from './status-response.ts';

/** A mailbox as EXAMINE or SELECT opened it. */
export type OpenMailbox = Opened & {
  /** PERMANENTFLAGS; `undefined` when the server gave none, which means all (RFC 9051 §7.1). */
  readonly permanentFlags: readonly string[] | undefined;
};

export type Verb = 'EXAMINE' | 'SELECT';

/**
 * The mailbox that a connection has open, opened anew when another one is wanted, or somebody else has opened one over
 * it.
 */
export class Opening {
  readonly #connection: ImapConnection;
  readonly #verb: Verb;
  readonly #validities = new Map<string, bigint>();
  #path: string | undefined;
  #opened: Promise<OpenMailbox> | undefined;
  /** Of the open mailbox, as far as it is known. */
  #uidNext = Infinity;

  constructor(connection: ImapConnection, verb: Verb) {
    this.#connection = connection;
    this.#verb = verb;
  }

  /**
   * Opens a mailbox anew; its UIDVALIDITY is the one that counts from now on, so that whoever knows UIDs holds it against
   * theirs. @throws {MailError}
   */
  open(path: string): Promise<OpenMailbox> {
    return this.#ask(path, undefined);
  }

  /**
   * Sees to it that a mailbox is open for the commands that follow; its own is sent at the call. A UIDVALIDITY other than
   * it was ends the connection, before anything of the mailbox is believed. @throws {MailError}
   * @param uids to be found there: a mailbox that was opened before it had them is opened anew, because some servers
   * show an open mailbox as it was (Courier)
   */
  ensure(path: string, uids: readonly number[] = []): Promise<OpenMailbox> {
    const known = this.isLast(path) && uids.every((uid) => uid < this.#uidNext);
    if (known && this.#opened !== undefined) return this.#opened;
    return this.#ask(path, this.#validities.get(path));
  }

  /** Whether a command that is sent now meets this mailbox. */
  isLast(path: string): boolean {
    return this.#path === path && this.#connection.openedBy === this;
  }

  /** Closes what is open, without removing anything from it (UNSELECT, RFC 3691). @throws {MailError} */
  async close(): Promise<void> {
    if (this.#connection.openedBy === undefined) return;
    const wasOpen = this.#connection.hasOpen;
    this.#connection.openedBy = undefined;
    this.#connection.hasOpen = false;
    this.#path = undefined;
    this.#opened = undefined;
    const closing = this.#connection.command('UNSELECT');
    // Some refuse it where the last one could not be opened.
    await (wasOpen ? closing : unlessRefused(closing));
  }

  #ask(path: string, expected: bigint | undefined): Promise<OpenMailbox> {
    this.#path = path;
    this.#connection.openedBy = this;
    this.#uidNext = Infinity;
    // What comes before the answer is of the mailbox before.
    this.#connection.hasOpen = false;
    const opened = this.#send(path, expected);
    this.#opened = opened;
    void this.#note(path, opened);
    return opened;
  }

  async #note(path: string, opened: Promise<OpenMailbox>): Promise<void> {
    try {
      const { uidValidity, uidNext = Infinity } = await opened;
      this.#validities.set(path, uidValidity);
      if (this.#opened === opened) this.#uidNext = uidNext;
    } catch {
      // Whoever asked for it learns why.
      if (this.#opened === opened) this.#opened = undefined;
    }
  }

  async #send(path: string, expected: bigint | undefined): Promise<OpenMailbox> {
    let exists = 0;
    let uidValidity = 0n;
    let uidNext: number | undefined;
    let highestModseq: bigint | undefined;
    let permanentFlags: readonly string[] | undefined;
    const learn = ({ code, args }: StatusResponse) => {
      switch (code) {
        case 'UIDVALIDITY':
          uidValidity = bigNumberOf(args) ?? 0n;
          if (expected !== undefined && uidValidity !== expected) throw new MailboxRenumbered(this.#connection.role);
          return true;
        case 'UIDNEXT':
          if (numberOf(args) > 0) uidNext = numberOf(args);
          return true;
        case 'HIGHESTMODSEQ':
          highestModseq = bigNumberOf(args);
          return true;
        case 'PERMANENTFLAGS':
          permanentFlags = args
            .replaceAll(/[()]/g, ' ')
            .split(' ')
            .filter((flag) => flag !== '');
          return true;
        case 'UNSEEN':
        case 'NOMODSEQ':
        case 'MAILBOXID':
          return true;
        case undefined:
        default:
          return false;
      }
    };
    await this.#connection.command(`${this.#verb} ${mailboxName(path)}`, {
      answered: (isOk) => {
        this.#connection.hasOpen = isOk;
      },
      untagged: bounded((_parts, line) => {
        const status = readStatus(line, 2);
        if (status !== undefined) return status.status === 'OK' && learn(status);
        const words = line.slice(2, 40).toUpperCase().split(' ');
        if (words[1] === 'EXISTS' && numberOf(words[0] ?? '') >= 0) {
          exists = numberOf(words[0] ?? '');
          return true;
        }
        return words[1] === 'RECENT' || words[0] === 'FLAGS';
      }),
    });
    // RFC 9051 §2.3.1.1 demands it; without one no message could be told from another after a reconnect.
    if (uidValidity === 0n) throw new MailError('refused', 'The mail server gives no UIDVALIDITY.');
    return {
      uidValidity,
      exists,
      permanentFlags,
      ...(uidNext === undefined ? {} : { uidNext }),
      ...(highestModseq === undefined ? {} : { highestModseq }),
    };
  }
}

/** Asks for numbers of a mailbox without opening it. @returns what came of them, by upper-case name. @throws {MailError} */
export async function askStatus(
  connection: ImapConnection,
  path: string,
  items: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const numbers = new Map<string, bigint>();
  await connection.command(`STATUS ${mailboxName(path)} (${items.join(' ')})`, {
    untagged: bounded((parts, line) => {
      if (line.slice(2, 9).toUpperCase() !== 'STATUS ') return false;
      for (const [name, number] of statusItems(parts)) if (items.includes(name)) numbers.set(name, number);
      return true;
    }),
  });
  return numbers;
}

/** The name of the mailbox is passed over: some servers don't quote it as they should. */
export function* statusItems(parts: readonly Part[]): Generator<readonly [name: string, number: bigint]> {
  const text = parts.at(-1);
  if (typeof text !== 'string') return;
  const open = text.lastIndexOf('(');
  const close = text.lastIndexOf(')');
  if (open < 0 || close < open) return;
  const words = text
    .slice(open + 1, close)
    .split(' ', 100)
    .filter((word) => word !== '');
  for (let at = 0; at + 1 < words.length; at += 2) {
    const number = bigNumberOf(words[at + 1] ?? '');
    if (number !== undefined) yield [(words[at] ?? '').toUpperCase(), number];
  }
}

/** The greatest number64 (RFC 9051 §9), and what a column holds. */
const GREATEST = 2n ** 63n - 1n;

/** A number of 64 bits, such as HIGHESTMODSEQ; `undefined` for anything else. */
export function bigNumberOf(text: string): bigint | undefined {
  if (text.length === 0 || text.length > 20 || !isDigits(text)) return undefined;
  const number = BigInt(text);
  return number <= GREATEST ? number : undefined;
}

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) < 48 || text.charCodeAt(at) > 57) return false;
  return true;
}
