import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import * as v from 'valibot';

const Environment = v.record(v.string(), v.string());

const SCRIPT = `
import { startSandbox } from ${JSON.stringify(new URL('../../src/sandbox/main.ts', import.meta.url).href)};
const [folder] = process.argv.slice(1);
const options = { folder, webPort: 0, publicUrl: 'http://localhost:9999', legacyDomains: ['sanbrunocable.example'] };
const sandbox = await startSandbox(options);
console.log(JSON.stringify(sandbox.environment));
`;

/** A sandbox in a process of its own, so that it can be killed. */
export async function startProcess(
  folder: string,
): Promise<{ child: ChildProcess; environment: v.InferOutput<typeof Environment> }> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SCRIPT, folder], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout }))
    return { child, environment: v.parse(Environment, JSON.parse(line)) };
  throw new Error('The sandbox ended before it was ready.');
}
