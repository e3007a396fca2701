import { ReadableStream as Stream } from 'node:stream/web';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { Log } from '../log.ts';

/**
 * A streamed body, produced at the client's pace. If it fails, the connection is cut, so that no client mistakes a part
 * for the whole.
 */
export function streamed(c: Context, octets: AsyncIterable<Uint8Array>, log: Log): ReadableStream<Uint8Array> {
  const { outgoing } = c.env as HttpBindings;
  const untilItFails = async function* () {
    try {
      yield* octets;
    } catch (error) {
      // Not worth a line if the client has disconnected.
      if (!outgoing.destroyed) log.error({ path: c.req.routePath, err: error }, 'an answer broke off');
      outgoing.destroy();
    }
  };
  return Stream.from(untilItFails()) as ReadableStream<Uint8Array>;
}
