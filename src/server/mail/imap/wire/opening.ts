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
  /** PERMANENTFLAGS; `undefined` if the server sent none, which means all (RFC 9051 §7.1). */
  readonly permanentFlags: readonly string[] | undefined;
};

export type Verb = 'EXAMINE' | 'SELECT';

/**
 * The mailbox that a connection has open. It is opened anew if another one is wanted, or if somebody else has opened
 * one over the same connection.
 */
export class Opening {
  readonly #connection: ImapConnection;
  readonly #verb: Verb;
  readonly #validities = new Map<string, bigint>();
  #path: string | undefined;
  #opened: Promise<OpenMailbox> | undefined;
  /** UIDNEXT of the open mailbox, if it is known. */
  #uidNext = Infinity;

  constructor(connection: ImapConnection, verb: Verb) {
    this.#connection = connection;
    this.#verb = verb;
  }

  /**
   * Opens a mailbox anew. From now on its UIDVALIDITY is the expected one; callers that know UIDs compare it with
   * theirs.
   * @param isCounted whether the server is to say `highestModseq`, and counts changes from then on
   * @throws {MailError}
   */
  open(path: string, isCounted = false): Promise<OpenMailbox> {
    return this.#ask(path, undefined, isCounted);
  }

  /**
   * Makes sure that a mailbox is open for the commands that follow; its own command is sent at the call. If the
   * UIDVALIDITY has changed, the connection ends before anything else of the mailbox is used.
   * @param uids expected there: a mailbox that was opened before they existed is opened anew, because some servers show
   * an open mailbox as it was (Courier)
   * @throws {MailError}
   */
  ensure(path: string, uids: readonly number[] = []): Promise<OpenMailbox> {
    const known = this.isLast(path) && uids.every((uid) => uid < this.#uidNext);
    if (known && this.#opened !== undefined) return this.#opened;
    return this.#ask(path, this.#validities.get(path));
  }

  /** Whether a command that is sent now applies to this mailbox. */
  isLast(path: string): boolean {
    return this.#path === path && this.#connection.openedBy === this;
  }

  /**
   * Closes what is open, without removing anything from it (UNSELECT, RFC 3691).
   * @throws {MailError}
   */
  async close(): Promise<void> {
    if (this.#connection.openedBy === undefined) return;
    const wasOpen = this.#connection.hasOpen;
    this.#connection.openedBy = undefined;
    this.#connection.hasOpen = false;
    this.#path = undefined;
    this.#opened = undefined;
    const closing = this.#connection.command('UNSELECT');
    // Some servers refuse UNSELECT if the last mailbox could not be opened.
    await (wasOpen ? closing : unlessRefused(closing));
  }

  #ask(path: string, expected: bigint | undefined, isCounted = false): Promise<OpenMailbox> {
    this.#path = path;
    this.#connection.openedBy = this;
    this.#uidNext = Infinity;
    // What comes before the answer is about the mailbox before.
    this.#connection.hasOpen = false;
    const opened = this.#send(path, expected, isCounted);
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
      // Whoever asked for the mailbox gets the error.
      if (this.#opened === opened) this.#opened = undefined;
    }
  }

  async #send(path: string, expected: bigint | undefined, isCounted: boolean): Promise<OpenMailbox> {
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
    await this.#connection.command(`${this.#verb} ${mailboxName(path)}${isCounted ? ' (CONDSTORE)' : ''}`, {
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
    // RFC 9051 §2.3.1.1 requires it; without one, messages could not be identified after a reconnect.
    if (uidValidity === 0n)
      throw new MailError('refused', 'The mail server gives no UIDVALIDITY.').of(this.#connection.role);
    return {
      uidValidity,
      exists,
      permanentFlags,
      ...(uidNext === undefined ? {} : { uidNext }),
      ...(highestModseq === undefined ? {} : { highestModseq }),
    };
  }
}

/**
 * Asks for numbers of a mailbox by STATUS, without opening it.
 * @returns the numbers that were sent, by their names in upper case
 * @throws {MailError}
 */
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

/**
 * The items of a STATUS response. The mailbox's name is skipped, because some servers don't quote it as they should.
 */
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

/** The greatest number64 (RFC 9051 §9), and the greatest number that a database column holds. */
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
