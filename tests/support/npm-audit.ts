import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

type Advice = { readonly name: string; readonly severity: string };

/** Known vulnerabilities in production dependencies, of this severity or worse; `null` if the registry doesn't answer. */
export function knownVulnerabilities(level: 'high'): readonly Advice[] | null {
  const { stdout } = spawnSync(
    'npm',
    ['audit', '--json', '--omit=dev', `--audit-level=${level}`, '--fetch-retries=0', '--fetch-timeout=10000'],
    { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8', maxBuffer: 64 * 1024 * 1024, timeout: 30_000 },
  );
  return stdout === null ? null : adviceIn(stdout);
}

export function adviceIn(answer: string): readonly Advice[] | null {
  if (!answer.trimStart().startsWith('{')) return null;
  const { vulnerabilities } = JSON.parse(answer) as { vulnerabilities?: Readonly<Record<string, Advice>> };
  if (vulnerabilities === undefined) return null;
  return Object.values(vulnerabilities).filter(({ severity }) => ['high', 'critical'].includes(severity));
}
