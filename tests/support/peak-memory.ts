import { readFileSync } from 'node:fs';

/**
 * The most octets of memory that this process ever had (`VmHWM`, proc(5)). What `getrusage` says begins with those of the
 * process that started it.
 */
export function peakMemory(): number {
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  if (kilobytes === undefined) throw new Error('The kernel does not say how much memory was used.');
  return Number(kilobytes) * 1024;
}
