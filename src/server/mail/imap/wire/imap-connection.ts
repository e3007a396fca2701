import type { Duplex } from 'node:stream';
import { MailError, mailErrorOf } from '../mail-error.ts';
import type { Clock, MayWrite } from '../wire.ts';
import { openDeflate } from './deflate.ts';
import type { Block, Inlet } from './inlet.ts';
import { type LiteralSink, type Part, ResponseParser } from './response-parser.ts';
import { errorOf, readStatus, type StatusResponse } from './status-response.ts';

/** What is smaller is copied, so that it leaves together with what is around it, in octets. */
const COPIED_BELOW = 8 * 1024;
const COPIES_OCTETS = 64 * 1024;
/** What of a message may be waiting in memory for its reader, in octets; beyond it nothing more is read. */
const READ_AHEAD = 256 * 1024;
/** Lines that nobody asked for, between two answers: a server that tells a new count with every append stays below. */
const UNASKED_LIMIT = 100_000;
/** The same in octets: many times what so many counts take. */
const UNASKED_OCTETS = 16 * 1024 * 1024;
/** How long a server may take to close the connection after its goodbye, and after ours, in milliseconds. */
const GOODBYE_WITHIN = 2000;
/** How long a connection that may not write any more stays for the answers to what it has written, in milliseconds. */
const LATE_ANSWERS_WITHIN = 10_000;
/** A timer that comes so much too late, in milliseconds, tells that this process stood still. */
const STOOD_STILL = 1000;

/** A command's own listeners, asked about what comes while it is the oldest. */
export type Listeners = {
  /** @returns whether the response was the command's; the others are counted against a limit. */
  readonly untagged?: (parts: readonly Part[], line: string) => boolean;
  readonly literal?: (parts: readonly Part[], size: number) => LiteralSink | undefined;
  /** A sign-in: NO means that it was refused. */
  readonly signingIn?: boolean;
  /** After its OK the octets are no IMAP any more. */
  readonly handsOver?: boolean;
  /** Sent only while this side may write. */
  readonly guarded?: boolean;
};

type Pending = Listeners & {
  readonly resolve: (answer: StatusResponse) => void;
  readonly reject: (error: MailError) => void;
};

export type ConnectionOptions = {
  readonly clock: Clock;
  /** Milliseconds of silence after which a server that owes an answer is given up. */
  readonly silence: number;
  readonly mayWrite?: MayWrite;
  /** Where the socket gives what it reads, if not by itself. */
  readonly inlet?: Inlet;
};

/**
 * One IMAP connection: commands, their answers, literals both ways. Commands are sent at once and answered in their
 * order. Nothing is read ahead of a slow reader, and whoever writes can see when to wait.
 */
export class ImapConnection implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #silence: number;
  readonly #mayWrite: MayWrite;
  readonly #parser: ResponseParser;
  readonly #pending = new Map<string, Pending>();
  /** Told when the connection ends. */
  readonly #endings = new Set<(error: MailError) => void>();
  readonly #greeting = Promise.withResolvers<StatusResponse>();
  /** Waiting for their turn to write, in order. */
  readonly #turns: (() => void)[] = [];
  #socket: Duplex;
  #inlet: Inlet | undefined;
  /** What comes off the socket before compression. */
  #below: Duplex;
  #capabilities = new Set<string>();
  #tag = 0;
  #unasked = 0;
  #unaskedOctets = 0;
  #greeted = false;
  #ended: MailError | undefined;
  /** This side may not write any more, and only hears what came of what it has written. */
  #silenced: MailError | undefined;
  #bye: StatusResponse | undefined;
  #leaving = false;
  /** Somebody writes a command in several pieces. */
  #writing = false;
  /** Guarded octets are corked, and leave only if they still may. */
  #guarded = false;
  #corked = false;
  #continuation: PromiseWithResolvers<boolean> | undefined;
  #drain: PromiseWithResolvers<void> | undefined;
  /** What is left of the memory that small pieces are copied into. */
  #copies: Buffer = Buffer.alloc(0);
  /** Octets that are somebody else's are on their way into the socket. */
  #passing: PromiseWithResolvers<void> | undefined;
  #held = 0;
  #paused = false;
  #heard: number;
  #disarm: (() => void) | undefined;
  /** How many messages the server said have gone from an open mailbox: sequence numbers have moved. */
  expunged = 0;

  constructor(socket: Duplex, { clock, silence, mayWrite = () => true, inlet }: ConnectionOptions) {
    this.#clock = clock;
    this.#silence = silence;
    this.#mayWrite = mayWrite;
    this.#heard = clock.elapsed();
    this.#parser = new ResponseParser({
      literal: (parts, size) => this.#literal(parts, size),
      response: (parts) => this.#response(parts),
    });
    this.#greeting.promise.catch(() => {});
    this.#socket = socket;
    this.#below = socket;
    this.#inlet = inlet;
    this.#attach(socket);
    this.#arm();
  }

  /** The server's first words. @throws {MailError} */
  greeting(): Promise<StatusResponse> {
    return this.#greeting.promise;
  }

  /** Upper case. Empty until the server has told. */
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
    return this.#ended ?? this.#silenced;
  }

  /**
   * Sends a command of one line. @returns what the server said with its OK
   * @throws {MailError} for NO and BAD, and for a connection that ends
   */
  async command(line: string, listeners: Listeners = {}): Promise<StatusResponse> {
    if (this.#writing) {
      await this.takeTurn();
      const { done } = this.#sendLine(line, listeners);
      this.giveTurn();
      return done;
    }
    return this.#sendLine(line, listeners).done;
  }

  #sendLine(line: string, listeners: Listeners): { done: Promise<StatusResponse> } {
    const { tag, done } = this.begin(listeners);
    this.write(`${tag} ${line}\r\n`, listeners.guarded);
    return { done };
  }

  /** Registers a command whose octets the caller writes, while it is the caller's turn. */
  begin(listeners: Listeners = {}): { readonly tag: string; readonly done: Promise<StatusResponse> } {
    const { promise, resolve, reject } = Promise.withResolvers<StatusResponse>();
    promise.catch(() => {});
    if (this.unwritable !== undefined) {
      reject(this.unwritable);
      return { tag: '', done: promise };
    }
    const tag = `A${++this.#tag}`;
    if (this.#pending.size === 0) this.#heard = this.#clock.elapsed();
    this.#pending.set(tag, { ...listeners, resolve, reject });
    this.#arm();
    return { tag, done: promise };
  }

  /** Waits until nobody else writes. To be followed by `giveTurn`, whatever happens. */
  takeTurn(): Promise<void> {
    if (!this.#writing) {
      this.#writing = true;
      return Promise.resolve();
    }
    return new Promise((resolve) => this.#turns.push(resolve));
  }

  giveTurn(): void {
    const next = this.#turns.shift();
    if (next === undefined) this.#writing = false;
    else next();
  }

  /**
   * Text has one character an octet. What is written in one go leaves together.
   * @param guarded whether the octets leave only while this side may write: those of an append do
   * @param gone is told when the octets have left this process, or never will
   * @returns whether to write on without waiting for `drained`
   */
  write(octets: string | Uint8Array, guarded = false, gone?: () => void): boolean {
    if (this.unwritable !== undefined) return true;
    if (guarded) {
      if (!this.#allowed()) return true;
      this.#guarded = true;
    }
    if (!this.#corked) {
      this.#corked = true;
      this.#socket.cork();
      process.nextTick(() => this.#uncork());
    }
    return typeof octets === 'string' ? this.#socket.write(octets, 'latin1') : this.#socket.write(octets, gone);
  }

  /**
   * Writes guarded octets that are the caller's own again once this is over; when it rejects they may still be on their
   * way. @returns nothing when it is over already
   * @throws {MailError} when the connection ends before, or may not write any more
   */
  pass(octets: Uint8Array): Promise<void> | undefined {
    // What compresses reads on its own thread, and says that it is done before it is.
    if (octets.length < COPIED_BELOW || this.#socket !== this.#below)
      return this.write(this.#copyOf(octets), true) ? undefined : this.drained();
    if (this.unwritable !== undefined) return Promise.reject(this.unwritable);
    const passing = Promise.withResolvers<void>();
    this.#passing = passing;
    this.write(octets, true, () => {
      if (this.#passing === passing) this.#passing = undefined;
      this.#heard = this.#clock.elapsed();
      passing.resolve();
    });
    this.#uncork();
    if (this.unwritable === undefined && this.#socket.writableLength === 0) {
      this.#passing = undefined;
      return undefined;
    }
    this.#heard = this.#clock.elapsed();
    this.#arm();
    return passing.promise;
  }

  /** Side by side in memory that is used once: an allocation for each small message costs more than its octets. */
  #copyOf(octets: Uint8Array): Uint8Array {
    if (octets.length >= COPIED_BELOW) return Buffer.from(octets);
    if (octets.length > this.#copies.length) this.#copies = Buffer.allocUnsafeSlow(COPIES_OCTETS);
    const copy = this.#copies.subarray(0, octets.length);
    copy.set(octets);
    this.#copies = this.#copies.subarray(octets.length);
    return copy;
  }

  #allowed(): boolean {
    if (this.#mayWrite()) return true;
    this.#fallSilent();
    return false;
  }

  /**
   * What has been written may be stored after another worker has taken over; only its answer tells by which UID it is to
   * be taken back. What has not left this process does not leave it any more.
   */
  #fallSilent(): void {
    const error = new MailError('lost', 'This worker may not write any more.');
    this.#silenced = error;
    this.#corked = false;
    this.#socket.cork();
    this.#continuation?.reject(error);
    this.#continuation = undefined;
    this.#drain?.reject(error);
    this.#drain = undefined;
    this.#passing?.reject(error);
    this.#passing = undefined;
    this.#clock.after(LATE_ANSWERS_WITHIN, () => this.end(error));
    this.#endSilenced();
  }

  #endSilenced(): void {
    if (this.#silenced !== undefined && this.#pending.size === 0) this.end(this.#silenced);
  }

  #uncork(): void {
    if (!this.#corked) return;
    this.#corked = false;
    if (this.unwritable !== undefined) return;
    if (this.#guarded) {
      this.#guarded = false;
      if (!this.#allowed()) return;
    }
    this.#socket.uncork();
  }

  /** Resolves once the socket takes more. @throws {MailError} when the connection ends before */
  drained(): Promise<void> {
    if (this.unwritable !== undefined) return Promise.reject(this.unwritable);
    if (!this.#socket.writableNeedDrain) return Promise.resolve();
    if (this.#drain === undefined) {
      this.#drain = Promise.withResolvers();
      this.#drain.promise.catch(() => {});
      this.#heard = this.#clock.elapsed();
      this.#arm();
    }
    return this.#drain.promise;
  }

  /**
   * Waits until the server asks for the rest of a command. @returns false when it answered the command instead
   * @throws {MailError} when the connection ends before
   */
  async continuation(answered: Promise<unknown>): Promise<boolean> {
    if (this.unwritable !== undefined) throw this.unwritable;
    const asked = Promise.withResolvers<boolean>();
    this.#continuation = asked;
    this.#heard = this.#clock.elapsed();
    this.#arm();
    const off = () => {
      if (this.#continuation === asked) this.#continuation = undefined;
      asked.resolve(false);
    };
    answered.then(off, off);
    return asked.promise;
  }

  /** For the chunk that is being given: keeps its octets as they are. Where there is nothing to keep they stay anyway. */
  keep(): Block | undefined {
    return this.#inlet?.keep();
  }

  /** So many octets wait for their reader. */
  hold(octets: number): void {
    this.#held += octets;
    if (this.#held <= READ_AHEAD || this.#paused) return;
    this.#paused = true;
    this.#socket.pause();
  }

  /** The reader has taken so many. */
  release(octets: number): void {
    this.#held -= octets;
    if (this.#held > READ_AHEAD / 2 || !this.#paused) return;
    this.#paused = false;
    this.#heard = this.#clock.elapsed();
    if (this.#ended === undefined) this.#socket.resume();
  }

  /** Has something told when the connection ends; at once if it has. @returns what calls it off */
  whenEnded(tell: (error: MailError) => void): () => void {
    if (this.#ended !== undefined) {
      tell(this.#ended);
      return () => {};
    }
    this.#endings.add(tell);
    return () => this.#endings.delete(tell);
  }

  /**
   * STARTTLS: everything learnt before is forgotten. @throws {MailError} `certificate` also when the server has said
   * something between its OK and TLS (RFC 9051 §11.1).
   */
  async startTls(encrypt: () => Promise<Duplex>): Promise<void> {
    const plain = this.#socket;
    await this.command('STARTTLS', { handsOver: true });
    if (!this.#parser.between || plain.readableLength > 0)
      throw new MailError('certificate', 'The mail server said something between STARTTLS and TLS.');
    this.forgetCapabilities();
    const socket = await encrypt();
    this.#socket = socket;
    this.#below = socket;
    this.#attach(socket);
  }

  /** COMPRESS=DEFLATE (RFC 4978). */
  async compress(): Promise<void> {
    const below = this.#socket;
    await this.command('COMPRESS DEFLATE', { handsOver: true });
    this.#socket = openDeflate(below);
    this.#attach(this.#socket);
  }

  /** Says goodbye, if the connection stands, and closes it. */
  async logout(): Promise<void> {
    if (this.#silenced !== undefined) this.destroy();
    if (this.#ended !== undefined) return;
    const off = this.#clock.after(GOODBYE_WITHIN, () => this.destroy());
    this.#leaving = true;
    try {
      await this.command('LOGOUT');
    } catch (error) {
      if (!(error instanceof MailError)) throw error;
    } finally {
      off();
      this.destroy();
    }
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
    this.#parser.stop();
    this.#disarm?.();
    this.#socket.destroy();
    this.#below.destroy();
    for (const command of this.#pending.values()) command.reject(error);
    this.#pending.clear();
    this.#greeting.reject(error);
    this.#continuation?.reject(error);
    this.#drain?.reject(error);
    this.#passing?.reject(error);
    for (const tell of this.#endings) tell(error);
    this.#endings.clear();
  }

  readonly #onData = (chunk: Buffer) => {
    this.#heard = this.#clock.elapsed();
    try {
      const taken = this.#parser.feed(chunk);
      if (taken < chunk.length && this.#ended === undefined) this.#socket.unshift(Buffer.from(chunk.subarray(taken)));
    } catch (error) {
      this.end(lostBy(error));
    }
  };
  readonly #onDrain = () => {
    this.#heard = this.#clock.elapsed();
    this.#drain?.resolve();
    this.#drain = undefined;
  };
  readonly #onError = (error: unknown) => this.end(this.#bye === undefined ? lostBy(error) : errorOf(this.#bye));
  readonly #onClose = () =>
    this.end(
      this.#bye === undefined ? new MailError('lost', 'The mail server closed the connection.') : errorOf(this.#bye),
    );

  #attach(socket: Duplex): void {
    if (this.#inlet === undefined) socket.on('data', this.#onData);
    else this.#inlet.listen(this.#onData);
    socket.on('drain', this.#onDrain);
    socket.on('error', this.#onError);
    socket.on('end', this.#onClose);
    socket.on('close', this.#onClose);
  }

  #detach(socket: Duplex): void {
    socket.off('data', this.#onData);
    socket.off('drain', this.#onDrain);
    socket.off('end', this.#onClose);
    socket.pause();
    this.#inlet?.handOver(socket);
    this.#inlet = undefined;
  }

  #literal(parts: readonly Part[], size: number): LiteralSink | undefined {
    for (const command of this.#pending.values()) {
      const sink = command.literal?.(parts, size);
      if (sink !== undefined) return sink;
    }
    return undefined;
  }

  #response(parts: readonly Part[]): void {
    const [line] = parts;
    if (typeof line !== 'string') return;
    if (!this.#greeted) this.#greet(line);
    else if (line.startsWith('* ')) this.#untagged(parts, line);
    else if (line.startsWith('+')) this.#continue(parts);
    else if (line === '') this.#countUnasked(parts);
    else this.#tagged(line);
  }

  #greet(line: string): void {
    const greeting = line.startsWith('* ') ? readStatus(line, 2) : undefined;
    if (greeting === undefined || greeting.status === 'NO' || greeting.status === 'BAD')
      throw new MailError('lost', 'The server did not greet as a mail server does.');
    if (greeting.status === 'BYE') throw errorOf(greeting);
    this.#greeted = true;
    this.#learn(greeting);
    this.#greeting.resolve(greeting);
  }

  #untagged(parts: readonly Part[], line: string): void {
    if (isExpunge(line)) this.expunged++;
    for (const command of this.#pending.values()) {
      if (command.untagged?.(parts, line) !== true) continue;
      this.#forgetUnasked();
      return;
    }
    this.#countUnasked(parts);
    if (startsWithWord(line, 'CAPABILITY')) {
      this.#capabilities = new Set(line.slice(13).toUpperCase().split(' '));
      return;
    }
    const status = readStatus(line, 2);
    if (status === undefined) return;
    this.#learn(status);
    if (status.status !== 'BYE' || this.#leaving) return;
    this.#bye = status;
    // Answers may follow, such as the OK of an append: so the connection ends when the server ends it.
    this.#clock.after(GOODBYE_WITHIN, () => this.end(errorOf(status)));
  }

  #forgetUnasked(): void {
    this.#unasked = 0;
    this.#unaskedOctets = 0;
  }

  #countUnasked(parts: readonly Part[]): void {
    for (const part of parts) this.#unaskedOctets += part?.length ?? 0;
    if (++this.#unasked > UNASKED_LIMIT || this.#unaskedOctets > UNASKED_OCTETS)
      throw new MailError('lost', 'The mail server says things without end.');
  }

  #learn(status: StatusResponse): void {
    if (status.code === 'CAPABILITY') this.#capabilities = new Set(status.args.toUpperCase().split(' '));
  }

  #continue(parts: readonly Part[]): void {
    const waiting = this.#continuation;
    if (waiting === undefined) {
      this.#countUnasked(parts);
      return;
    }
    this.#continuation = undefined;
    waiting.resolve(true);
  }

  #tagged(line: string): void {
    const space = line.indexOf(' ');
    const tag = space < 0 ? line : line.slice(0, space);
    const command = this.#pending.get(tag);
    const answer = space < 0 ? undefined : readStatus(line, space + 1);
    if (command === undefined || answer === undefined)
      throw new MailError('lost', 'The mail server answered something that was not asked.');
    this.#forgetUnasked();
    this.#pending.delete(tag);
    this.#learn(answer);
    if (answer.status === 'OK') {
      if (command.handsOver === true) {
        this.#parser.stop();
        this.#detach(this.#socket);
      }
      command.resolve(answer);
    } else command.reject(errorOf(answer, command.signingIn === true ? { signingIn: true } : {}));
    this.#endSilenced();
  }

  /** Whether the server owes something now: only then its silence counts. */
  get #owed(): boolean {
    if (this.#drain !== undefined || this.#passing !== undefined) return true;
    if (this.#continuation !== undefined || !this.#greeted) return true;
    return !this.#paused && this.#pending.size > (this.#writing ? 1 : 0);
  }

  #arm(): void {
    if (this.#disarm !== undefined || this.#ended !== undefined) return;
    const wait = Math.max(1, this.#heard + this.#silence - this.#clock.elapsed());
    const due = this.#clock.elapsed() + wait;
    this.#disarm = this.#clock.after(wait, () => {
      this.#disarm = undefined;
      // What came meanwhile has not been read yet, such as the OK of an append.
      if (this.#clock.elapsed() - due > STOOD_STILL) this.#heard = this.#clock.elapsed();
      const idle =
        this.#pending.size === 0 && this.#greeted && this.#drain === undefined && this.#passing === undefined;
      if (idle || this.#ended !== undefined) return;
      if (!this.#owed) this.#heard = this.#clock.elapsed();
      else if (this.#clock.elapsed() - this.#heard >= this.#silence) {
        this.end(new MailError('slow', 'The mail server did not answer in time.'));
        return;
      }
      this.#arm();
    });
  }
}

function startsWithWord(line: string, word: string): boolean {
  return line.slice(2, 3 + word.length).toUpperCase() === `${word} `;
}

function isExpunge(line: string): boolean {
  return line.length < 24 && line.slice(-8).toUpperCase() === ' EXPUNGE';
}

/** What ended a connection that stood: its cause is told apart only where that says what is to be done. */
function lostBy(error: unknown): MailError {
  if (error instanceof MailError) return error;
  if (!(error instanceof Error)) throw error;
  const code = (error as NodeJS.ErrnoException).code;
  if (code === 'ETIMEDOUT') return mailErrorOf(error);
  return new MailError('lost', `The connection to the mail server ended (${code ?? 'no code'}).`, { cause: error });
}
