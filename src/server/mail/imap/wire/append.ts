import { MailError } from '../mail-error.ts';
import type { Appended, NewMessage, WriterTraits } from '../streams.ts';
import { notStoredBy, storedBy } from './append-answer.ts';
import { writeInternalDate } from './fetch-response.ts';
import { isFlag } from './flags.ts';
import type { ImapConnection } from './imap-connection.ts';
import { mailboxName } from './mailbox-name.ts';
import type { StatusResponse } from './status-response.ts';

/** The limit of LITERAL- (RFC 7888 §5), in octets. */
const SMALL_LITERAL = 4096;

/** One APPEND command under way; `places` are the indexes of its messages among the outcomes. */
type Command = {
  readonly places: number[];
  readonly answered: Promise<void>;
  /** It has its answer. */
  over: boolean;
  /** The line end that completes it has not been sent. */
  open: boolean;
};

/** One call of `append`: one command for all its messages, or one for each. */
export class Append {
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
        // The MULTIAPPEND was answered before its end, so none of its further messages is stored.
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
      // A literal can't be cut short: the server would take what is sent next as the rest of the message.
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

  /** The server answered OK to a command that was not sent to its end. */
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
