import { execFile } from 'node:child_process';

/** Runs a program and returns its standard output. @throws if its exit code isn't 0 */
export function run(program: string, parameters: readonly string[], options: { cwd?: string } = {}): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  execFile(
    program,
    parameters,
    { encoding: 'buffer', maxBuffer: 256 * 1024 * 1024, ...options },
    (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else
        reject(
          new Error(`${program}: ${stdout.toString().slice(-2000)} ${stderr.toString().slice(-2000)}`, {
            cause: error,
          }),
        );
    },
  );
  return promise;
}
