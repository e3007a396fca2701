import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export type Direction = 'to server' | 'to client';

export type TcpProxy = AsyncDisposable & {
  readonly port: number;
  /** Octets that have passed so far, on all connections together. */
  readonly passed: Readonly<Record<Direction, number>>;
  /** How many connections have been reset. */
  readonly resets: number;
  /** After `octets` more have passed in one direction, resets the connection that the last one came through, once. */
  resetAfter(direction: Direction, octets: number): void;
  /** Resets all current connections. */
  resetAll(): void;
  /** From now on, silently drops everything on the current connections. */
  holdAll(): void;
};

type Options = {
  /** Replaces a part that has arrived. A connection's parts are processed one after another. */
  readonly change?: (direction: Direction, part: Buffer) => Buffer | Promise<Buffer>;
  /** Parts are whole lines: how TCP cuts them is chance, and what is looked for in a line would be missed in two halves. */
  readonly byLine?: boolean;
  /** Called before a connection reaches the server; `false` refuses it. */
  readonly before?: () => Promise<boolean | void>;
};

async function* wholeLines(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  for await (const part of octets) {
    const end = part.lastIndexOf('\n') + 1;
    if (end > 0) {
      yield Buffer.concat([...rest, part.subarray(0, end)]);
      rest = [];
    }
    if (end < part.length) rest.push(part.subarray(end));
  }
  if (rest.length > 0) yield Buffer.concat(rest);
}

/**
 * A proxy in front of a local server that breaks connections on demand (with RST, not FIN).
 * @param to the server's port, or what tells it for each new connection
 */
export async function startTcpProxy(
  to: number | (() => number),
  { change, byLine = false, before }: Options = {},
): Promise<TcpProxy> {
  const passed: Record<Direction, number> = { 'to server': 0, 'to client': 0 };
  const links = new Set<readonly [Socket, Socket]>();
  const dead = new Set<readonly [Socket, Socket]>();
  const cut: { direction?: Direction; at: number } = { at: 0 };
  let resets = 0;

  const reset = (link: readonly [Socket, Socket]) => {
    if (!links.delete(link)) return;
    resets += 1;
    for (const end of link) end.resetAndDestroy();
  };
  const pass = async (link: readonly [Socket, Socket], direction: Direction): Promise<void> => {
    const [from, into] = direction === 'to server' ? link : [link[1], link[0]];
    for await (const part of byLine ? wholeLines(from) : (from as AsyncIterable<Buffer>)) {
      if (dead.has(link)) continue;
      const changed = change === undefined ? part : await change(direction, part);
      const left = cut.direction === direction ? cut.at - passed[direction] : Infinity;
      const goes = changed.subarray(0, Math.min(changed.length, Math.max(0, left)));
      passed[direction] += goes.length;
      await new Promise<void>((resolve) => {
        if (goes.length === 0) resolve();
        else into.write(goes, () => resolve());
      });
      if (goes.length < changed.length) {
        delete cut.direction;
        reset(link);
        return;
      }
    }
    into.end();
  };

  const server = createServer((client) => {
    client.on('error', () => {});
    void (async () => {
      if ((await before?.()) === false) {
        client.resetAndDestroy();
        return;
      }
      const upstream = connect(typeof to === 'number' ? to : to(), '127.0.0.1');
      upstream.on('error', () => {});
      const link = [client, upstream] as const;
      links.add(link);
      for (const end of link)
        end.setNoDelay(true).on('close', () => {
          links.delete(link);
          dead.delete(link);
        });
      // Broken connections are what the proxy is for.
      await Promise.allSettled([pass(link, 'to server'), pass(link, 'to client')]);
      for (const end of link) end.destroy();
    })();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    passed,
    get resets() {
      return resets;
    },
    resetAfter: (direction, octets) => {
      cut.direction = direction;
      cut.at = passed[direction] + octets;
    },
    resetAll: () => {
      for (const link of links) reset(link);
    },
    holdAll: () => {
      for (const link of links) dead.add(link);
    },
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const link of links) for (const end of link) end.destroy();
      await closed;
    },
  };
}
