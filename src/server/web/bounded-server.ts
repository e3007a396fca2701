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
 * How many pipelined requests may await their answers before the connection is closed. Browsers and proxies don't
 * pipeline.
 */
export const UNANSWERED_PER_SOCKET = 8;
/** How long a connection may be idle. Calls are answered sooner, and status streams send heartbeats. */
export const STANDS_STILL_MS = 60_000;
/** How long a download may pause, the same as for one from a bucket. */
export const DOWNLOAD_RESTS_MS = 600_000;

const SLOW_LOOKED_FOR_EVERY_MS = 2000;

/** The number of requests without a complete answer, by connection. */
const unanswered = new WeakMap<Socket, number>();

/**
 * The class that Node instantiates for each request. A request over the limit poses as an upgrade that nobody handles:
 * Node then reads nothing more and closes the connection.
 */
class BoundedRequest extends IncomingMessage {
  readonly isTooMany: boolean;
  constructor(socket: Socket) {
    super(socket);
    this.isTooMany = (unanswered.get(socket) ?? 0) >= UNANSWERED_PER_SOCKET;
    if (this.isTooMany) Object.defineProperty(this, 'upgrade', { get: () => true, set: () => {} });
  }
}

/** Node creates one for each request, including those that it answers itself. */
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
 * A server that closes connections with too many pending requests, or on which nothing has moved for `standsStillMs`.
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

/** Lets the client pause for up to {@link DOWNLOAD_RESTS_MS} while it reads this answer. */
export function mayRest(c: Context): void {
  const { outgoing } = c.env as HttpBindings;
  outgoing.setTimeout(DOWNLOAD_RESTS_MS);
}
