import type { MailError } from '../mail-error.ts';
import { FetchReader } from './fetch-response.ts';
import { type LiteralSink, NOBODY, type Part, RESPONSE_LIMITS } from './response-parser.ts';
import type { StatusResponse } from './status-response.ts';

/** What a command listens for. Untagged responses and literals are offered to the oldest command first. */
export type Listeners = {
  /** @returns whether the response belongs to the command; those that belong to none are counted against a limit */
  readonly untagged?: (parts: readonly Part[], line: string) => boolean;
  readonly literal?: (parts: readonly Part[], size: number) => LiteralSink | undefined;
  /** Called with the tagged answer at once, before anything that follows is read. */
  readonly answered?: (isOk: boolean) => void;
  /** It is a sign-in, so NO refuses that. */
  readonly signingIn?: boolean;
  /** What follows its OK is TLS or compressed. */
  readonly handsOver?: boolean;
  /** Sent only while this worker may write (`MayWrite`). */
  readonly guarded?: boolean;
};

/** Far more lines than any answer has, except lists. */
const ANSWERS_AT_MOST = 1000;

/** For a command with a short answer: lines beyond the limit count as unsolicited. */
export function bounded(take: NonNullable<Listeners['untagged']>): NonNullable<Listeners['untagged']> {
  let answers = 0;
  return (parts, line) => take(parts, line) && ++answers <= ANSWERS_AT_MOST;
}

/** A command that waits for its answer. */
type Command = Listeners & {
  readonly resolve: (answer: StatusResponse) => void;
  readonly reject: (error: MailError) => void;
};

/** The commands of one connection that have not been answered, the oldest first, each under its tag. */
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
   * The sink for a literal; `undefined` if no command wants it. While messages are fetched, a large one that comes
   * again, or that nobody asked for, is discarded: collected, it would exceed the limit and end the connection.
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

  /** Removes the command that was answered; `undefined` if there is none with that tag. */
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
