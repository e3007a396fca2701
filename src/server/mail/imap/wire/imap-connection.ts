import type { Duplex } from 'node:stream';
import type { Clock } from '../../../clock.ts';
import { lostBy, MailError, type MailRole } from '../mail-error.ts';
import { Hold } from '../hold.ts';
import type { MayWrite } from '../wire.ts';
import { Carrier } from './carrier.ts';
import { CommandsUnderWay, type Listeners } from './commands-under-way.ts';
import { Incoming } from './incoming.ts';
import type { Inlet } from './inlet.ts';
import { Outgoing } from './outgoing.ts';
import { type Part, ResponseParser } from './response-parser.ts';
import { Silence } from './silence.ts';
import { errorOf, readStatus, type StatusResponse } from './status-response.ts';
import { Unasked } from './unasked.ts';

/** How long a server may take to close the connection after its BYE, or after our LOGOUT, in milliseconds. */
const GOODBYE_WITHIN = 2000;
/** How long a connection that may not write any more stays for the answers to what it has written, in milliseconds. */
const LATE_ANSWERS_WITHIN = 10_000;
const READ_AHEAD = 256 * 1024;

export type ConnectionOptions = {
  readonly clock: Clock;
  /** Milliseconds of silence after which a server that owes an answer is given up. */
  readonly silence: number;
  readonly mayWrite?: MayWrite;
  /** Where the socket delivers what it reads, if not by itself. */
  readonly inlet?: Inlet;
  /** How much may wait in memory for its reader, in octets; by default 256 KB. */
  readonly readAhead?: number;
  /** Shared by all connections of the account. */
  readonly hold?: Hold;
  /** Ends the waiting for the hold. */
  readonly signal?: AbortSignal;
  /** Which of a transfer's accounts it is of; its errors say so. */
  readonly role?: MailRole;
};

/**
 * One IMAP connection: commands, their answers, and literals in both directions. Commands are pipelined: sent at once,
 * and answered in their order. Nothing is read ahead of a slow reader (back-pressure).
 */
export class ImapConnection implements AsyncDisposable {
  readonly incoming: Incoming;
  readonly outgoing: Outgoing;
  readonly clock: Clock;
  readonly #hold: Hold;
  readonly role: MailRole | undefined;
  /** Aborted when nothing more will be asked. */
  readonly #leave = new AbortController();
  readonly #impatience: AbortSignal;
  readonly #silence: Silence;
  readonly #carrier: Carrier;
  readonly #parser: ResponseParser;
  readonly #unasked = new Unasked();
  readonly #commands = new CommandsUnderWay();
  /** Called when the connection ends. */
  readonly #endings = new Set<(error: MailError) => void>();
  readonly #greeting = Promise.withResolvers<StatusResponse>();
  #capabilities = new Set<string>();
  #greeted = false;
  #ended: MailError | undefined;
  #bye: StatusResponse | undefined;
  #continuation: PromiseWithResolvers<boolean> | undefined;
  /** The `Opening` that opened the mailbox that is open. */
  openedBy: unknown;
  /** Whether the last EXAMINE or SELECT succeeded: if it is refused, some servers keep the mailbox before open. */
  hasOpen = false;
  /** How many EXPUNGE responses have come: each shifts sequence numbers. */
  expunged = 0;

  constructor(socket: Duplex, options: ConnectionOptions) {
    const { clock, silence, mayWrite = () => true, inlet, readAhead = READ_AHEAD } = options;
    this.clock = clock;
    this.#hold = options.hold ?? new Hold(clock);
    this.role = options.role;
    const { signal } = this.#leave;
    this.#impatience = options.signal === undefined ? signal : AbortSignal.any([signal, options.signal]);
    this.#silence = new Silence({
      clock,
      limit: silence,
      waitsFor: () => this.#waitsFor(),
      tooLong: () => this.end(new MailError('slow', 'The mail server did not answer in time.').of(this.role)),
    });
    this.outgoing = new Outgoing(socket, {
      mayWrite,
      silence: this.#silence,
      silenced: (error) => this.#fallSilent(error),
    });
    this.#parser = new ResponseParser({
      literal: (parts, size) => this.#commands.sinkFor(parts, size),
      response: (parts) => this.#response(parts),
    });
    this.incoming = new Incoming(socket, {
      parser: this.#parser,
      silence: this.#silence,
      readAhead,
      inlet,
      failed: (error) => this.end(lostBy(error).of(this.role)),
    });
    this.#greeting.promise.catch(() => {});
    this.#carrier = new Carrier(socket, (error) =>
      this.end((this.#bye === undefined ? lostBy(error) : errorOf(this.#bye)).of(this.role)),
    );
    this.incoming.listen();
    this.#silence.watch();
  }

  /** The server's greeting. @throws {MailError} */
  greeting(): Promise<StatusResponse> {
    return this.#greeting.promise;
  }

  /** In upper case. Empty until the server has sent them. */
  get capabilities(): ReadonlySet<string> {
    return this.#capabilities;
  }

  forgetCapabilities(): void {
    this.#capabilities = new Set();
  }

  /** Why the connection is over. */
  get ended(): MailError | undefined {
    return this.#ended;
  }

  /** Why nothing can be written any more; answers to what was written may still come. */
  get unwritable(): MailError | undefined {
    return this.outgoing.unwritable;
  }

  /**
   * Sends a command of one line. @returns the server's OK
   * @throws {MailError} for NO and BAD, and for a connection that ends
   */
  async command(line: string, listeners: Listeners = {}): Promise<StatusResponse> {
    if (this.outgoing.isTaken || this.#hold.left > 0) return this.#commandInTurn(line, listeners);
    return this.#sendLine(line, listeners).done;
  }

  async #commandInTurn(line: string, listeners: Listeners): Promise<StatusResponse> {
    let command: { done: Promise<StatusResponse> };
    await this.outgoing.takeTurn();
    try {
      await this.mayAsk();
      command = this.#sendLine(line, listeners);
    } finally {
      this.outgoing.giveTurn();
    }
    return command.done;
  }

  /**
   * Waits until the pause that the server has asked for is over.
   * @throws {MailError} `busy` if that takes longer than a run waits; `lost` if the connection is closed, or the work
   * is to stop, before
   */
  async mayAsk(): Promise<void> {
    if (this.#hold.left === 0) return;
    await this.#hold.over(this.#impatience);
    if (this.#impatience.aborted) throw this.#ended ?? new MailError('lost', 'The connection was closed.');
  }

  get #isLeaving(): boolean {
    return this.#leave.signal.aborted;
  }

  #sendLine(line: string, listeners: Listeners): { done: Promise<StatusResponse> } {
    const { tag, done } = this.begin(listeners);
    this.outgoing.write(`${tag} ${line}\r\n`, listeners.guarded);
    return { done };
  }

  /** Registers a command whose octets the caller writes, while it is the caller's turn. */
  begin(listeners: Listeners = {}): { readonly tag: string; readonly done: Promise<StatusResponse> } {
    if (this.unwritable !== undefined) {
      const done = Promise.reject<StatusResponse>(this.unwritable);
      done.catch(() => {});
      return { tag: '', done };
    }
    if (this.#commands.size === 0) this.#silence.heard();
    const begun = this.#commands.begin(listeners);
    this.#silence.watch();
    return begun;
  }

  /**
   * Waits for the server's continuation request. @returns false if it answered the command instead
   * @throws {MailError} if the connection ends before
   */
  async continuation(answered: Promise<unknown>): Promise<boolean> {
    if (this.unwritable !== undefined) throw this.unwritable;
    const asked = Promise.withResolvers<boolean>();
    this.#continuation = asked;
    this.#silence.heard();
    this.#silence.watch();
    const off = () => {
      if (this.#continuation === asked) this.#continuation = undefined;
      asked.resolve(false);
    };
    answered.then(off, off);
    return asked.promise;
  }

  /** Calls `tell` when the connection ends; at once if it has. @returns a function that cancels that */
  whenEnded(tell: (error: MailError) => void): () => void {
    if (this.#ended !== undefined) {
      tell(this.#ended);
      return () => {};
    }
    this.#endings.add(tell);
    return () => this.#endings.delete(tell);
  }

  /**
   * STARTTLS. What the server announced before is forgotten.
   * @throws {MailError} `certificate`, also if the server sent something between its OK and TLS (RFC 9051 §11.1)
   */
  async startTls(encrypt: () => Promise<Duplex>): Promise<void> {
    await this.command('STARTTLS', { handsOver: true });
    if (!this.#parser.between || this.#carrier.top.readableLength > 0)
      throw new MailError('certificate', 'The mail server said something between STARTTLS and TLS.');
    this.forgetCapabilities();
    const socket = await encrypt();
    this.#carrier.encrypt(socket);
    this.outgoing.changeTo(socket);
    this.incoming.changeTo(socket);
  }

  /** COMPRESS=DEFLATE (RFC 4978). */
  async compress(): Promise<void> {
    await this.command('COMPRESS DEFLATE', { handsOver: true });
    this.#carrier.compress();
    // Compression reads the octets later, on another thread.
    this.outgoing.changeTo(this.#carrier.top, { readsLate: true });
    this.incoming.changeTo(this.#carrier.top);
  }

  /** Sends LOGOUT, if the connection stands, and closes it. If it may not write any more, waits for late answers. */
  async logout(): Promise<void> {
    if (this.unwritable !== undefined) await new Promise((resolve) => this.whenEnded(resolve));
    if (this.#ended !== undefined) return;
    const off = this.clock.after(GOODBYE_WITHIN, () => this.destroy());
    this.#leave.abort();
    try {
      await this.#goodbye();
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
    } finally {
      off();
      this.destroy();
    }
  }

  /** Does not wait for the end of a pause. */
  async #goodbye(): Promise<void> {
    await this.outgoing.takeTurn();
    const { done } = this.#sendLine('LOGOUT', {});
    this.outgoing.giveTurn();
    await done;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.logout();
  }

  destroy(): void {
    this.end(new MailError('lost', 'The connection was closed.'));
  }

  /** Closes the connection; whoever waits for something of it gets the error. */
  end(error: MailError): void {
    if (this.#ended !== undefined) return;
    this.#ended = error;
    this.#leave.abort();
    this.outgoing.end(error);
    this.incoming.end();
    this.#silence.stop();
    // Nobody waits for the answers that are missing, such as to an append: if more of it reached the server, it might
    // be stored in addition to the next try.
    if (this.#commands.size > 0) this.#carrier.reset();
    else this.#carrier.destroy();
    this.#commands.reject(error);
    this.#greeting.reject(error);
    this.#continuation?.reject(error);
    for (const tell of this.#endings) tell(error);
    this.#endings.clear();
  }

  #response(parts: readonly Part[]): void {
    const [line] = parts;
    if (typeof line !== 'string') return;
    if (!this.#greeted) this.#greet(line);
    else if (line.startsWith('* ')) this.#untagged(parts, line);
    else if (line.startsWith('+')) this.#continue(parts);
    else if (line === '') this.#unasked.count(parts);
    else this.#tagged(line);
  }

  #greet(line: string): void {
    const greeting = line.startsWith('* ') ? readStatus(line, 2) : undefined;
    if (greeting === undefined || greeting.status === 'NO' || greeting.status === 'BAD')
      throw new MailError('lost', 'The server did not greet as a mail server does.');
    if (greeting.status === 'BYE') throw this.#heard(errorOf(greeting));
    this.#greeted = true;
    this.#learn(greeting);
    this.#greeting.resolve(greeting);
  }

  #untagged(parts: readonly Part[], line: string): void {
    if (isExpunge(line)) this.expunged++;
    if (this.#commands.tell(parts, line)) {
      this.#unasked.forget();
      return;
    }
    this.#unasked.count(parts);
    if (startsWithWord(line, 'CAPABILITY')) {
      this.#capabilities = new Set(line.slice(13).toUpperCase().split(' '));
      return;
    }
    const status = readStatus(line, 2);
    if (status === undefined) return;
    this.#learn(status);
    if (status.status !== 'BYE' || this.#isLeaving) return;
    this.#bye = status;
    const error = this.#heard(errorOf(status));
    // Answers may follow the BYE, such as the OK of an append, so the server gets time to close the connection.
    this.clock.after(GOODBYE_WITHIN, () => this.end(error));
  }

  #learn(status: StatusResponse): void {
    if (status.code === 'CAPABILITY') this.#capabilities = new Set(status.args.toUpperCase().split(' '));
  }

  #continue(parts: readonly Part[]): void {
    const waiting = this.#continuation;
    if (waiting === undefined) {
      this.#unasked.count(parts);
      return;
    }
    this.#continuation = undefined;
    waiting.resolve(true);
  }

  #tagged(line: string): void {
    const space = line.indexOf(' ');
    const tag = space < 0 ? line : line.slice(0, space);
    const answer = space < 0 ? undefined : readStatus(line, space + 1);
    // PREAUTH is no answer to a command.
    const command = answer === undefined || answer.status === 'PREAUTH' ? undefined : this.#commands.take(tag);
    if (command === undefined || answer === undefined)
      throw new MailError('lost', 'The mail server answered something that was not asked.');
    this.#unasked.forget();
    this.#silence.heard();
    this.#learn(answer);
    command.answered?.(answer.status === 'OK');
    if (answer.status === 'OK') {
      if (command.signingIn === true) this.#unasked.signedIn();
      if (command.handsOver === true) {
        this.incoming.handOver();
        this.#carrier.handOver();
      }
      command.resolve(answer);
    } else command.reject(this.#heard(errorOf(answer, command.signingIn === true ? { signingIn: true } : {})));
    this.#endSilenced();
  }

  #heard(error: MailError): MailError {
    this.#hold.note(error);
    return error.of(this.role);
  }

  #fallSilent(error: MailError): void {
    this.#continuation?.reject(error);
    this.#continuation = undefined;
    this.clock.after(LATE_ANSWERS_WITHIN, () => this.end(error));
    this.#endSilenced();
  }

  /** Ends the connection if nothing can be written any more, and all that was written has been answered. */
  #endSilenced(): void {
    if (this.unwritable !== undefined && this.#commands.size === 0) this.end(this.unwritable);
  }

  /** The server's silence only counts while it owes something. */
  #waitsFor(): 'nobody' | 'us' | 'them' {
    if (this.outgoing.isStuck || this.#continuation !== undefined || !this.#greeted) return 'them';
    if (this.#commands.size === 0) return 'nobody';
    return !this.incoming.isPaused && this.#commands.size > (this.outgoing.isTaken ? 1 : 0) ? 'them' : 'us';
  }
}

function startsWithWord(line: string, word: string): boolean {
  return line.slice(2, 3 + word.length).toUpperCase() === `${word} `;
}

function isExpunge(line: string): boolean {
  return line.length < 24 && line.slice(-8).toUpperCase() === ' EXPUNGE';
}
