import { isRefusal, MailError, unlessRefused, wordsOf } from '../mail-error.ts';
import type { Appended, Appending, MailReader, MailWriter, NewMessage, Selected, WriterTraits } from '../streams.ts';
import { writeInternalDate } from './fetch-response.ts';
import type { ImapConnection } from './imap-connection.ts';
import { openStreamReader } from './imap-stream-reader.ts';
import { mailboxName } from './mailbox-name.ts';
import { askStatus, bigNumberOf, Opening } from './opening.ts';
import type { StatusResponse } from './status-response.ts';
import { numbersOf, setsOf } from './uid-sets.ts';

/** LITERAL- (RFC 7888 §5), in octets. */
const SMALL_LITERAL = 4096;

/** Writes over a connection that is signed in, and closes it in the end. */
export function openStreamWriter(connection: ImapConnection): MailWriter {
  return new ImapStreamWriter(connection);
}

/** What the capabilities of a connection allow. */
export function traitsOf(capabilities: ReadonlySet<string>): WriterTraits {
  const limit = [...capabilities].find((name) => name.startsWith('APPENDLIMIT='));
  const octets = limit === undefined ? Number.NaN : Number(limit.slice(12));
  return {
    together: capabilities.has('MULTIAPPEND'),
    literals: capabilities.has('LITERAL+') ? 'any size' : capabilities.has('LITERAL-') ? 'small' : 'synchronising',
    saysUids: capabilities.has('UIDPLUS'),
    ...(Number.isSafeInteger(octets) && octets > 0 ? { appendLimit: octets } : {}),
  };
}

/** One APPEND command under way: the messages whose octets it has, each with its place among the outcomes. */
type Command = {
  readonly places: number[];
  readonly answered: Promise<void>;
  /** It has its answer. */
  over: boolean;
  /** Its last line end has not been sent. */
  open: boolean;
};

class ImapStreamWriter implements MailWriter {
  readonly traits: WriterTraits;
  readonly #connection: ImapConnection;
  readonly #opening: Opening;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
    this.#opening = new Opening(connection, 'SELECT');
    this.traits = traitsOf(connection.capabilities);
  }

  async select(path: string): Promise<Selected> {
    // Without a number the capability says that each mailbox has a limit of its own (RFC 7889 §4).
    const asksLimit = this.#connection.capabilities.has('APPENDLIMIT');
    const [limits, { permanentFlags, ...opened }] = await Promise.all([
      asksLimit ? unlessRefused(askStatus(this.#connection, path, ['APPENDLIMIT'])) : undefined,
      this.#opening.open(path),
    ]);
    const appendLimit = Number(limits?.get('APPENDLIMIT') ?? 0n);
    return {
      ...opened,
      keeps: keeping(permanentFlags),
      ...(appendLimit > 0 ? { appendLimit } : {}),
    };
  }

  async create(path: string): Promise<boolean> {
    const name = mailboxName(path);
    let isNew = true;
    try {
      await this.#connection.command(`CREATE ${name}`, { guarded: true });
    } catch (error) {
      isNew = false;
      if (!(await this.#isThere(path, error))) throw error;
    }
    // Whether it can is of no interest, and the end of the connection shows in everything else.
    this.#connection.command(`SUBSCRIBE ${name}`, { guarded: true }).catch(() => {});
    return isNew;
  }

  /** Whether a mailbox was not created because there is one: Exchange says so without the code ALREADYEXISTS. */
  async #isThere(path: string, refusal: unknown): Promise<boolean> {
    if (!isRefusal(refusal)) return false;
    if (refusal.responseCode === 'ALREADYEXISTS') return true;
    const items = await unlessRefused(askStatus(this.#connection, path, ['UIDVALIDITY']));
    return items?.has('UIDVALIDITY') === true;
  }

  append(path: string, messages: AsyncIterable<NewMessage>, { together }: { readonly together: boolean }): Appending {
    const append = new Append(this.#connection, this.traits, path, together && this.traits.together);
    const sent = append.send(messages);
    return {
      sent,
      outcome: sent.then(
        () => append.outcome(),
        () => append.outcome(),
      ),
    };
  }

  async addFlags(path: string, uid: number, flags: readonly string[]): Promise<void> {
    const { permanentFlags } = await this.#opening.ensure(path);
    const kept = keeping(permanentFlags)(flags);
    if (kept.length > 0)
      await this.#connection.command(`UID STORE ${uid} +FLAGS.SILENT (${kept.join(' ')})`, { guarded: true });
  }

  async expunge(path: string, uids: readonly number[], unchangedSince?: bigint): Promise<void> {
    // A plain EXPUNGE would take away whatever else the subscriber has marked.
    if (!this.traits.saysUids) throw new MailError('refused', 'The mail server can’t take away one message alone.');
    await this.#opening.ensure(path);
    const isCounted = unchangedSince !== undefined && this.#connection.capabilities.has('CONDSTORE');
    const condition = isCounted ? ` (UNCHANGEDSINCE ${unchangedSince})` : '';
    for (const { set } of setsOf(uids)) {
      await this.#connection.command(`UID STORE ${set}${condition} +FLAGS.SILENT (\\Deleted)`);
      await this.#connection.command(`UID EXPUNGE ${set}`);
    }
  }

  get isOver(): boolean {
    return this.#connection.unwritable !== undefined;
  }

  reading(): MailReader {
    return openStreamReader(this.#connection);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.logout();
  }
}

/** Which flags a mailbox keeps: `\*` allows new keywords, system flags must be listed (RFC 9051 §7.1, PERMANENTFLAGS). */
function keeping(permanent: readonly string[] | undefined): (flags: readonly string[]) => string[] {
  const listed = new Set(permanent?.map((flag) => flag.toLowerCase()));
  return (flags) =>
    flags.filter((flag) => {
      const name = flag.toLowerCase();
      if (name === '\\recent' || !isFlag(flag)) return false;
      return permanent === undefined || listed.has(name) || (listed.has('\\*') && !name.startsWith('\\'));
    });
}

/** A keyword or system flag of RFC 9051 §9; what else servers call a flag can't be sent in a command. */
function isFlag(flag: string): boolean {
  const from = flag.startsWith('\\') ? 1 : 0;
  for (let at = from; at < flag.length; at++) {
    const code = flag.charCodeAt(at);
    if (code <= 32 || code > 126 || '(){%*"\\]'.includes(flag[at] ?? '')) return false;
  }
  return flag.length > from;
}

/** One call of `append`: one command for all its messages, or one for each. */
class Append {
  readonly #connection: ImapConnection;
  readonly #traits: WriterTraits;
  readonly #mailbox: string;
  readonly #together: boolean;
  readonly #outcomes: (Appended | undefined)[] = [];
  readonly #commands: Command[] = [];

  constructor(connection: ImapConnection, traits: WriterTraits, path: string, together: boolean) {
    this.#connection = connection;
    this.#traits = traits;
    this.#mailbox = mailboxName(path);
    this.#together = together;
  }

  /** Never rejects, because every command's answer is noted. */
  async outcome(): Promise<readonly Appended[]> {
    await Promise.all(this.#commands.map(({ answered }) => answered));
    return this.#outcomes.map(
      (outcome) =>
        outcome ?? { kind: 'failed', error: this.#connection.unwritable ?? new MailError('lost', 'Not sent.') },
    );
  }

  async send(messages: AsyncIterable<NewMessage>): Promise<void> {
    await this.#connection.outgoing.takeTurn();
    let command: Command | undefined;
    try {
      for await (const message of messages) {
        if (this.#connection.unwritable !== undefined) throw this.#connection.unwritable;
        const place = this.#outcomes.push(undefined) - 1;
        if (message.size > (this.#traits.appendLimit ?? Infinity))
          this.#outcomes[place] = { kind: 'refused', reason: 'too large', text: '' };
        // Of messages that go together none is stored any more.
        else if (this.#together && command?.over === true)
          this.#outcomes[place] = this.#outcomes[command.places[0] ?? 0];
        else command = await this.#sendMessage(message, place, command);
      }
    } finally {
      if (command !== undefined) this.#close(command);
      this.#connection.outgoing.giveTurn();
    }
    const { unwritable } = this.#connection;
    if (unwritable !== undefined && this.#commands.some(({ over }) => !over)) throw unwritable;
  }

  #close(command: Command): void {
    if (!command.open) return;
    command.open = false;
    this.#connection.outgoing.write('\r\n', true);
  }

  async #sendMessage(message: NewMessage, place: number, before: Command | undefined): Promise<Command> {
    const connection = this.#connection;
    const { literals } = this.#traits;
    const { size } = message;
    const atOnce = literals === 'any size' || (literals === 'small' && size <= SMALL_LITERAL);
    const head = `${describe(message)} {${size}${atOnce ? '+' : ''}}\r\n`;
    let command = before;
    if (command === undefined || !this.#together) {
      await connection.mayAsk();
      const { tag, done } = connection.begin();
      command = this.#noted(done, place);
      connection.outgoing.write(`${tag} APPEND ${this.#mailbox}${head}`, true);
    } else {
      command.places.push(place);
      connection.outgoing.write(head, true);
    }
    if (!atOnce && !(await connection.continuation(command.answered))) {
      command.open = false;
      return command;
    }
    await this.#sendOctets(message);
    if (!this.#together) this.#close(command);
    return command;
  }

  async #sendOctets({ size, octets }: NewMessage): Promise<void> {
    const connection = this.#connection;
    let left = size;
    let whole = false;
    try {
      for await (const chunk of octets) {
        if (chunk.length > left) break;
        left -= chunk.length;
        const passing = connection.outgoing.pass(chunk);
        if (passing !== undefined) await passing;
        if (connection.unwritable !== undefined) throw connection.unwritable;
      }
      whole = left === 0;
    } finally {
      // A literal can't be broken off: what the server would take next for the rest of it would change the message.
      if (!whole && connection.unwritable === undefined)
        connection.end(new MailError('lost', 'An append was broken off.'));
    }
    if (!whole) throw new RangeError(`A message of ${size} octets was announced; ${left} are missing or it has more.`);
  }

  #noted(done: Promise<StatusResponse>, place: number): Command {
    const command: Command = { places: [place], over: false, open: true, answered: Promise.resolve() };
    this.#commands.push(command);
    return Object.assign(command, { answered: this.#note(command, done) });
  }

  async #note(command: Command, done: Promise<StatusResponse>): Promise<void> {
    const { places } = command;
    let outcomes: readonly Appended[];
    try {
      const answer = await done;
      outcomes = command.open ? this.#mistrust(places.length) : storedBy(answer, places.length);
    } catch (error) {
      const outcome = notStoredBy(error);
      outcomes = places.map(() => outcome);
    }
    command.over = true;
    for (const [index, place] of places.entries()) this.#outcomes[place] = outcomes[index];
  }

  /** An OK to a command that has not been sent to its end. */
  #mistrust(count: number): Appended[] {
    const error = new MailError('lost', 'The mail server answered an append before it had it.');
    this.#connection.end(error);
    return Array.from({ length: count }, () => ({ kind: 'unknown', error }));
  }
}

function describe({ flags, internalDate }: NewMessage): string {
  const date = writeInternalDate(internalDate);
  return ` (${flags.filter(isFlag).join(' ')})${date === undefined ? '' : ` ${date}`}`;
}

/** APPENDUID (RFC 4315 §3), one UID for each message or none. */
function storedBy({ code, args }: StatusResponse, count: number): Appended[] {
  const [validity = '', set = ''] = code === 'APPENDUID' ? args.split(' ', 2) : [];
  const uids = numbersOf(set, count);
  const uidValidity = bigNumberOf(validity) ?? 0n;
  return Array.from({ length: count }, (_, index) => {
    const uid = uids?.length === count ? uids[index] : undefined;
    return uid === undefined || uidValidity === 0n ? { kind: 'stored' } : { kind: 'stored', uid, uidValidity };
  });
}

/** RFC 5530 and its like: codes that speak of the mailbox or the account, not of the message. */
const NOT_ITS_OWN = new Set(['TRYCREATE', 'NONEXISTENT', 'NOPERM', 'INUSE', 'CORRUPTION', 'READ-ONLY']);

function notStoredBy(error: unknown): Appended {
  if (!(error instanceof MailError)) throw error;
  switch (error.fault) {
    case 'lost':
    case 'slow':
    case 'unreachable':
    case 'certificate':
      return { kind: 'unknown', error };
    case 'busy':
      // An implementation limit (RFC 5530) that this message is beyond; some servers say the same of too many commands.
      if (error.responseCode === 'LIMIT' && !isOfRate(wordsOf(error))) return refusedBy(error);
      return { kind: 'failed', error };
    case 'credentials':
    case 'full':
      return { kind: 'failed', error };
    case 'refused':
      return error.responseCode !== undefined && NOT_ITS_OWN.has(error.responseCode)
        ? { kind: 'failed', error }
        : refusedBy(error);
  }
}

function isOfRate(text: string): boolean {
  return /rate|throttl|too many|too fast|backoff|later|bandwidth|daily/i.test(text);
}

function refusedBy(error: MailError): Appended {
  const text = wordsOf(error);
  if (error.responseCode === 'APPENDLIMIT' || error.responseCode === 'TOOBIG')
    return { kind: 'refused', reason: 'too large', text };
  const words = error.responseCode === undefined ? text.toLowerCase() : '';
  if (TOO_LARGE.some((phrase) => words.includes(phrase))) return { kind: 'refused', reason: 'too large', text };
  return { kind: 'refused', reason: words.includes('virus') ? 'virus' : 'not accepted', text };
}

const TOO_LARGE = ['maximum size', 'maximum message size', 'too large', 'too big', 'size exceeded'];
