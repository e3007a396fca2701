import { ReadableStream as Stream } from 'node:stream/web';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Log } from '../log.ts';

/**
 * The body of an answer, which comes as its client takes it. Where it fails the connection is cut, so that nobody takes
 * a part for the whole.
 */
export function streamed(c: Context, octets: AsyncIterable<Uint8Array>, log: Log): ReadableStream<Uint8Array> {
  const { outgoing } = c.env as HttpBindings;
  const untilItFails = async function* () {
    try {
      yield* octets;
    } catch (error) {
      // Its client may have gone away.
      if (!outgoing.destroyed) log.error({ path: c.req.routePath, err: error }, 'an answer broke off');
      outgoing.destroy();
    }
  };
  return Stream.from(untilItFails()) as ReadableStream<Uint8Array>;
}
