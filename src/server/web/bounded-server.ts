import {
  createServer,
  IncomingMessage,
  ServerResponse,
  type RequestListener,
  type Server,
  type ServerOptions,
} from 'node:http';
import type { Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/**
 * How many requests may wait for their answers on one connection before it is closed. Browsers and proxies send one
 * after another.
 */
export const UNANSWERED_PER_SOCKET = 8;
/** How long a connection may be silent. A call is answered within less, and a status stream says something. */
export const STANDS_STILL_MS = 60_000;
/** How long a download may rest, as with a bucket. */
export const DOWNLOAD_RESTS_MS = 600_000;

const SLOW_LOOKED_FOR_EVERY_MS = 2000;

/** By connection, how many requests have no whole answer yet. */
const unanswered = new WeakMap<Socket, number>();

/**
 * What Node makes of the head of a request. One too many looks like an upgrade that nobody takes: Node reads nothing
 * that lies behind it, and closes the connection.
 */
class BoundedRequest extends IncomingMessage {
  readonly isTooMany: boolean;
  constructor(socket: Socket) {
    super(socket);
    this.isTooMany = (unanswered.get(socket) ?? 0) >= UNANSWERED_PER_SOCKET;
    if (this.isTooMany) Object.defineProperty(this, 'upgrade', { get: () => true, set: () => {} });
  }
}

/** Node makes one for each request, also for those that it answers itself. */
class CountedResponse<Request extends IncomingMessage> extends ServerResponse<Request> {
  constructor(...made: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(...made);
    const [{ socket }] = made;
    const count = (change: number) => unanswered.set(socket, (unanswered.get(socket) ?? 0) + change);
    count(1);
    this.once('close', () => count(-1));
  }
}

/**
 * A server that closes a connection on which too many requests wait for their answers, or nothing has moved for too
 * long.
 */
export function createBoundedServer(answer: RequestListener, standsStillMs = STANDS_STILL_MS): Server {
  const options: ServerOptions<typeof BoundedRequest, typeof CountedResponse> = {
    connectionsCheckingInterval: SLOW_LOOKED_FOR_EVERY_MS,
    IncomingMessage: BoundedRequest,
    ServerResponse: CountedResponse,
    shouldUpgradeCallback: ({ isTooMany }) => isTooMany,
  };
  const server = createServer(options, answer);
  server.timeout = standsStillMs;
  return server;
}

/** Lets whoever reads this answer rest for {@link DOWNLOAD_RESTS_MS}. */
export function mayRest(c: Context): void {
  const { outgoing } = c.env as HttpBindings;
  outgoing.setTimeout(DOWNLOAD_RESTS_MS);
}
