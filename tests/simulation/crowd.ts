import type { Duplex } from 'node:stream';
import type { SimulatedProcess } from './process.ts';
import type { Side } from './scenario.ts';

type Standing = { dialling: number; readonly sockets: Set<Duplex> };

const CROWDS = new WeakMap<SimulatedProcess, Map<Side, Standing>>();

/**
 * Dials, and counts how many connections a process has towards a server then, from the dialling on until it lets go of
 * them or has heard of their end.
 */
export async function counting(
  process: SimulatedProcess,
  side: Side,
  dialling: () => Promise<Duplex>,
  tell: (connections: number) => void,
): Promise<Duplex> {
  const sides = CROWDS.get(process) ?? new Map<Side, Standing>();
  CROWDS.set(process, sides);
  const standing = sides.get(side) ?? { dialling: 0, sockets: new Set() };
  sides.set(side, standing);
  for (const socket of standing.sockets) if (socket.destroyed || socket.readableEnded) standing.sockets.delete(socket);
  standing.dialling += 1;
  tell(standing.dialling + standing.sockets.size);
  try {
    const socket = await dialling();
    standing.sockets.add(socket);
    return socket;
  } finally {
    standing.dialling -= 1;
  }
}
