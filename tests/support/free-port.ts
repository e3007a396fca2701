import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports (from 32768 on Linux), so that no outgoing connection takes a port before it is used. */
const [FIRST, LAST] = [12_000, 32_000];
/** Test files that run in parallel take ports from different ranges. */
const STRETCH = 1_000;
const stretches = (LAST - FIRST) / STRETCH;
const start = FIRST + (Number(process.env['VITEST_POOL_ID'] ?? process.pid) % stretches) * STRETCH;
let offset = process.pid % STRETCH;

/** A free port. The next one is free as well, for the sandbox's pages. */
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
