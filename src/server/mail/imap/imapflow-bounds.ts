import type { Transform } from 'node:stream';
import type { ImapFlow } from 'imapflow';

// What imapflow leaves open towards a server that may be a stranger's. Some of it reaches into imapflow, whose version is
// fixed; tests/security/hostile-jobs.test.ts shows each.

const SAID_LOOKED_AT_MS = 20;
/** What is read in one go. */
const PIECE_OCTETS = 8 * 1024;

/**
 * imapflow reads ten chunks in one go, for which it may take a second: here everybody else has their turn after each
 * piece. Without it a server that anybody names holds up the house.
 */
export function takeTurns(client: ImapFlow): void {
  const { streamer } = client as unknown as { streamer: Transform };
  const transform = streamer._transform.bind(streamer);
  streamer._transform = (chunk: Buffer, encoding, next) => {
    const take = (at: number) => {
      transform(chunk.subarray(at, at + PIECE_OCTETS), encoding, (error) => {
        const isLast = at + PIECE_OCTETS >= chunk.length || (error ?? null) !== null;
        setImmediate(() => (isLast ? next(error) : take(at + PIECE_OCTETS)));
      });
    };
    take(0);
  };
}

/**
 * An answer that imapflow can't take fails its stream a moment later. When the connection has been closed by then, as for
 * a refusal in the same answer, imapflow listens no more, and the error would end the process.
 */
export function outliveErrors(client: ImapFlow): void {
  const { streamer } = client as unknown as { streamer: Transform };
  streamer.on('error', () => {});
}

type Untagged = (response: { readonly attributes?: readonly unknown[] }) => Promise<void>;
type Exec = (
  command: string,
  attributes: unknown,
  options?: { readonly untagged?: Readonly<Record<string, Untagged>> },
) => Promise<unknown>;

/** A personal namespace without a prefix, and with a delimiter that is still to be asked for, as imapflow reads it. */
const NO_PREFIX = [[{ value: '' }, null]];

/**
 * A server may have no personal namespace (NIL, RFC 2342), or announce the command and tell nothing. imapflow fails over
 * it without letting go of the answer, and then reads no other one until the silence is over: here it is told of one.
 */
export function expectNoNamespace(client: ImapFlow): void {
  const inside = client as unknown as { exec: Exec };
  const exec = inside.exec.bind(client);
  inside.exec = async (command, attributes, options) => {
    const tell = options?.untagged?.['NAMESPACE'];
    if (command !== 'NAMESPACE' || tell === undefined) return exec(command, attributes, options);
    let isTold = false;
    const listen: Untagged = async (response) => {
      isTold = false;
      await tell(response);
      const personal = response.attributes?.[0];
      isTold = Array.isArray(personal) && personal.length > 0;
    };
    const answer = await exec(command, attributes, {
      ...options,
      untagged: { ...options?.untagged, NAMESPACE: listen },
    });
    if (!isTold) await tell({ attributes: [NO_PREFIX, null, null] });
    return answer;
  };
}

/** Closes a connection whose server says more than so many octets meanwhile; `again` begins to count anew. */
export function limitOctets(
  client: ImapFlow,
  atMost: number,
  onTooMany: () => void,
): Disposable & { readonly again: () => void } {
  let before = client.stats().received;
  const timer = setInterval(() => {
    if (client.stats().received - before < atMost) return;
    onTooMany();
    client.close();
  }, SAID_LOOKED_AT_MS);
  return {
    again: () => {
      before = client.stats().received;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
