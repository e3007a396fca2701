import { readFileSync } from 'node:fs';

/**
 * The peak memory of this process, in octets (`VmHWM`, proc(5)). The value from `getrusage` includes that of the
 * process that started it.
 */
export function peakMemory(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error('The kernel does not say how much memory was used.');
  return Number(kilobytes) * 1024;
}
