import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections (32768 on Linux), so that none of those takes it meanwhile. */
const [FIRST, LAST] = [12_000, 32_000];
/** Test files that run side by side take theirs from different stretches. */
const STRETCH = 1_000;
const stretches = (LAST - FIRST) / STRETCH;
const start = FIRST + (Number(process.env['VITEST_POOL_ID'] ?? process.pid) % stretches) * STRETCH;
let offset = process.pid % STRETCH;

/** A port that nothing listens on, and the next one is free as well: the sandbox's pages take that. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < STRETCH; tries += 2) {
    const port = start + (offset % STRETCH);
    offset += 2;
    if ((await isFree(port)) && (await isFree(port + 1))) return port;
  }
  throw new Error(`No port from ${start} to ${start + STRETCH} is free.`);
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
