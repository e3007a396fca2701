/** sysexits(3): a wrong command line, a service that is away or busy, and a configuration that no restart mends. */
export const EXIT = { usage: 64, unavailable: 69, configuration: 78 } as const;

export function exitWith(message: string, code: number): never {
  process.stderr.write(`${message}\n`);
  process.exit(code);
}
