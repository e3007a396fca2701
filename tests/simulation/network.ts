import { Duplex } from 'node:stream';
import type { Chance } from './chance.ts';
import type { SimulatedProcess } from './process.ts';
import type { Scheduler } from './scheduler.ts';

/** What is in flight before a writer has to wait. */
const SOCKET_BUFFER = 32_768;

export type Weather = {
  /** Milliseconds each way. */
  readonly latency: number;
  readonly jitter: number;
  /** Whether what is sent arrives in pieces of any size. */
  readonly pieces: boolean;
};

/** A fault of the n-th connection to a server: `up` is towards it. */
export type LinkFault = {
  readonly connection: number;
  readonly direction: 'up' | 'down';
  readonly atOctet: number;
  /** Milliseconds of silence, for ever when infinite; without it the connection is reset. */
  readonly stallFor?: number;
};

/** The server's end of a connection. */
export type Peer = {
  /** Who has dialled. */
  readonly client: string;
  readonly send: (data: Buffer) => void;
  readonly end: () => void;
};

export type ServerSide = { readonly receive: (data: Buffer) => void; readonly closed: () => void };

export type Host = {
  readonly name: string;
  readonly accept: (peer: Peer) => ServerSide;
  readonly weather: Weather;
  readonly faults: readonly LinkFault[];
  connections: number;
};

/** Octets on their way in one direction, in order. */
type Pipe = {
  inFlight: number;
  passed: number;
  lastArrival: number;
  /** What arrives during a silence waits here. */
  held: (() => void)[] | null;
};

/** How long a server keeps a connection of which it hears nothing (RFC 9051 §5.4). */
const AUTOLOGOUT = 30 * 60_000;

/** Dials a simulated server from a process: a stream that behaves as a socket does. @throws ECONNREFUSED as an error */
export function dial(host: Host, process: SimulatedProcess, scheduler: Scheduler, chance: Chance): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    process.effect(`dials ${host.name}`, () => {
      scheduler.after(delay(host.weather, chance), `${host.name} accepts ${process.name}`, () => {
        if (!process.alive()) return;
        host.connections += 1;
        const link = openLink(host, process, scheduler, chance, host.connections);
        link.on('error', reject);
        scheduler.after(delay(host.weather, chance), `${process.name} is connected to ${host.name}`, () => {
          // A process that thaws hears of a reset in the same moment, before whoever waits for the link listens.
          process.deliver(() => resolve(link));
        });
      });
    });
  });
}

function delay({ latency, jitter }: Weather, chance: Chance): number {
  return latency + chance.skewed(jitter);
}

function emptyPipe(): Pipe {
  return { inFlight: 0, passed: 0, lastArrival: 0, held: null };
}

class LinkError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(`${code} in the simulated network`);
    this.code = code;
  }
}

/** A line that is silent keeps what arrives until it speaks again. */
function inTurn(pipe: Pipe, run: () => void): void {
  if (pipe.held === null) run();
  else pipe.held.push(run);
}

function openLink(host: Host, process: SimulatedProcess, scheduler: Scheduler, chance: Chance, number: number): Duplex {
  const name = `${host.name}#${number}`;
  const faults = host.faults.filter((fault) => fault.connection === number);
  const up = emptyPipe();
  const down = emptyPipe();
  let open = true;
  const received: Buffer[] = [];
  let wanted = false;
  let ended = false;

  const closeServer = () => {
    if (!open) return;
    open = false;
    server.closed();
  };
  const reset = () => {
    scheduler.note(`${name} is reset`);
    closeServer();
    process.deliver(() => stream.destroy(new LinkError('ECONNRESET')));
  };
  const arrive = (pipe: Pipe, label: string, run: () => void) => {
    const at = Math.max(pipe.lastArrival, scheduler.now() + delay(host.weather, chance)) + 0.001;
    pipe.lastArrival = at;
    scheduler.after(at - scheduler.now(), label, () => inTurn(pipe, run));
  };
  const silence = (pipe: Pipe, direction: string, milliseconds: number, rest: () => void) => {
    scheduler.note(`${name} is silent ${direction} for ${milliseconds}`);
    pipe.held = [rest];
    if (!Number.isFinite(milliseconds)) scheduler.after(AUTOLOGOUT, `${name} is given up by the server`, closeServer);
    else
      scheduler.after(milliseconds, `${name} speaks again`, () => {
        const held = pipe.held ?? [];
        pipe.held = null;
        // It may fall silent again at one of them.
        for (const run of held) inTurn(pipe, run);
      });
  };
  /** Lets a piece through as far as the faults allow. */
  const pass = (pipe: Pipe, direction: 'up' | 'down', data: Buffer, onward: (data: Buffer) => void) => {
    const fault = faults.find(
      (fault) =>
        open &&
        fault.direction === direction &&
        fault.atOctet >= pipe.passed &&
        fault.atOctet < pipe.passed + data.length,
    );
    const size = fault === undefined ? data.length : fault.atOctet - pipe.passed;
    // The octet at which it happens is not met again.
    pipe.passed += data.length;
    if (size > 0) onward(data.subarray(0, size));
    if (fault === undefined) return;
    if (fault.stallFor === undefined) reset();
    else silence(pipe, direction, fault.stallFor, () => onward(data.subarray(size)));
  };
  const sendUp = (data: Buffer, taken: () => void) => {
    if (!open) return;
    up.inFlight += data.length;
    const full = up.inFlight > SOCKET_BUFFER;
    const pieces = piecesOf(data, host.weather, chance);
    pieces.forEach((piece, index) => {
      arrive(up, `${name} up ${piece.length}`, () => {
        up.inFlight -= piece.length;
        pass(up, 'up', piece, (data) => {
          if (open) server.receive(data);
        });
        if (full && index === pieces.length - 1) process.deliver(taken);
      });
    });
    if (!full) taken();
  };
  const flow = () => {
    while (wanted && received.length > 0) {
      const data = received.shift();
      if (data !== undefined) wanted = stream.push(data);
    }
    if (wanted && ended) {
      ended = false;
      stream.push(null);
    }
  };
  const stream = new Duplex({
    highWaterMark: 16_384,
    read: () => {
      wanted = true;
      flow();
    },
    write: (data: Buffer, _encoding, done) => {
      process.effect(`writes to ${name}: ${data.length}`, () => sendUp(data, () => done()));
    },
    writev: (chunks, done) => {
      const data = Buffer.concat(chunks.map(({ chunk }) => chunk as Buffer));
      process.effect(`writes to ${name}: ${data.length}`, () => sendUp(data, () => done()));
    },
    final: (done) => {
      process.effect(`${name} ends`, () => {
        arrive(up, `${name} has ended`, closeServer);
        done();
      });
    },
    destroy: (error, done) => {
      process.effect(`${name} destroys`, () => arrive(up, `${name} is gone`, closeServer));
      done(error);
    },
  });
  // A process that has died says nothing; its system closes the socket after what was in flight, or loses some of that.
  process.onDeath(() => {
    if (!open) return;
    if (chance.happens(0.3)) {
      scheduler.after(delay(host.weather, chance), `${name} is reset by a death`, closeServer);
    } else arrive(up, `${name} is closed by a death`, closeServer);
  });
  const server = host.accept({
    client: process.name,
    send: (data) => {
      if (!open) return;
      for (const piece of piecesOf(data, host.weather, chance))
        arrive(down, `${name} down ${piece.length}`, () =>
          pass(down, 'down', piece, (data) =>
            process.deliver(() => {
              received.push(data);
              flow();
            }),
          ),
        );
    },
    end: () => {
      if (!open) return;
      open = false;
      arrive(down, `${name} is ended by the server`, () => {
        process.deliver(() => {
          ended = true;
          flow();
        });
      });
    },
  });
  return stream;
}

function piecesOf(data: Buffer, { pieces }: Weather, chance: Chance): Buffer[] {
  if (!pieces || data.length < 2 || chance.happens(0.7)) return [data];
  const parts: Buffer[] = [];
  let rest = data;
  for (let count = 0; count < 3 && rest.length > 1; count += 1) {
    const size = 1 + Math.floor(chance.skewed(rest.length - 1));
    parts.push(rest.subarray(0, size));
    rest = rest.subarray(size);
  }
  return [...parts, rest];
}
