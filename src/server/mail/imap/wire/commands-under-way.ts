import type { MailError } from '../mail-error.ts';
import { FetchReader } from './fetch-response.ts';
import { type LiteralSink, NOBODY, type Part, RESPONSE_LIMITS } from './response-parser.ts';
import type { StatusResponse } from './status-response.ts';

/** A command's own listeners, asked about what comes while it is the oldest. */
export type Listeners = {
  /** @returns whether the response was the command's; the others are counted against a limit. */
  readonly untagged?: (parts: readonly Part[], line: string) => boolean;
  readonly literal?: (parts: readonly Part[], size: number) => LiteralSink | undefined;
  /** Told at once how it was answered, before what follows is heard. */
  readonly answered?: (isOk: boolean) => void;
  /** A sign-in: NO means that it was refused. */
  readonly signingIn?: boolean;
  /** After its OK the octets are no IMAP any more. */
  readonly handsOver?: boolean;
  /** Sent only while this side may write. */
  readonly guarded?: boolean;
};

/** Far more lines than an answer has that is not a list. */
const ANSWERS_AT_MOST = 1000;

/** For a command whose answer is short: what a server says beyond it counts as what nobody asked for. */
export function bounded(take: NonNullable<Listeners['untagged']>): NonNullable<Listeners['untagged']> {
  let answers = 0;
  return (parts, line) => take(parts, line) && ++answers <= ANSWERS_AT_MOST;
}

/** A command that waits for its answer. */
type Command = Listeners & {
  readonly resolve: (answer: StatusResponse) => void;
  readonly reject: (error: MailError) => void;
};

/** The commands of one connection that have no answer yet, the oldest first, each under its tag. */
export class CommandsUnderWay {
  readonly #commands = new Map<string, Command>();
  #tag = 0;

  get size(): number {
    return this.#commands.size;
  }

  begin(listeners: Listeners): { readonly tag: string; readonly done: Promise<StatusResponse> } {
    const { promise, resolve, reject } = Promise.withResolvers<StatusResponse>();
    promise.catch(() => {});
    const tag = `A${++this.#tag}`;
    this.#commands.set(tag, { ...listeners, resolve, reject });
    return { tag, done: promise };
  }

  /**
   * Where the octets of a literal go; `undefined` when nobody wants them. While messages are fetched a large one that comes
   * again, or that nobody asked for, is passed over.
   */
  sinkFor(parts: readonly Part[], size: number): LiteralSink | undefined {
    let isFetching = false;
    for (const command of this.#commands.values()) {
      const sink = command.literal?.(parts, size);
      if (sink !== undefined) return sink;
      isFetching ||= command.literal !== undefined;
    }
    const [line] = parts;
    if (!isFetching || size <= RESPONSE_LIMITS.literal || typeof line !== 'string') return undefined;
    return FetchReader.numberOf(line) < 0 ? undefined : NOBODY;
  }

  /** Hands an untagged response to the oldest command that takes it. @returns whether one did */
  tell(parts: readonly Part[], line: string): boolean {
    for (const command of this.#commands.values()) if (command.untagged?.(parts, line) === true) return true;
    return false;
  }

  /** The command that has its answer; it is under way no more. `undefined` when there is none with that tag. */
  take(tag: string): Command | undefined {
    const command = this.#commands.get(tag);
    this.#commands.delete(tag);
    return command;
  }

  reject(error: MailError): void {
    for (const command of this.#commands.values()) command.reject(error);
    this.#commands.clear();
  }
}
