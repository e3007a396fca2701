import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { TestOptions } from 'vitest';
import { ALL_PROOFS } from '../folders.ts';
import { DELIVERY_AGENT, HEADLESS_CHROMIUM, installed, MANAGESIEVE_LOGIN } from './installed.ts';
import { knownVulnerabilities } from './npm-audit.ts';
import { mayMount } from './small-disk.ts';

declare module 'vitest' {
  interface TaskMeta {
    /** What the test was skipped for lack of: see {@link needs}. */
    lacks?: readonly Need[];
  }
}

/** A third-party program and the packages that contain it. */
type Program = {
  /** Its name or path, if that differs from the need's name. */
  readonly program?: string;
  /** A slower alternative. */
  readonly instead?: string;
  readonly debian: string;
  readonly homebrew?: string;
  /** Only needed for `npm run proofs`. */
  readonly forProofs?: true;
};

/** The programs that tests use. */
const PROGRAMS = {
  chromium: {
    program: process.env['CHROMIUM_PATH'] ?? HEADLESS_CHROMIUM,
    instead: 'chromium',
    debian: HEADLESS_CHROMIUM,
    homebrew: 'chromium',
  },
  dovecot: { debian: 'dovecot-imapd', homebrew: 'dovecot' },
  sievec: { debian: 'dovecot-sieve', homebrew: 'dovecot' },
  managesieve: { program: MANAGESIEVE_LOGIN, debian: 'dovecot-managesieved' },
  'dovecot-lda': { program: DELIVERY_AGENT, debian: 'dovecot-core' },
  postgresql: { program: 'initdb', debian: 'postgresql', homebrew: 'postgresql@16' },
  pgbouncer: { debian: 'pgbouncer', homebrew: 'pgbouncer' },
  radicale: { debian: 'radicale' },
  mbsync: { debian: 'isync', homebrew: 'isync' },
  bsdtar: { debian: 'libarchive-tools', homebrew: 'libarchive' },
  '7z': { debian: 'p7zip-full', homebrew: 'p7zip' },
  mutt: { debian: 'mutt', homebrew: 'mutt' },
  unzip: { debian: 'unzip', homebrew: 'unzip' },
  readpst: { debian: 'pst-utils', homebrew: 'libpst' },
  pffexport: { debian: 'pff-tools' },
  python3: { debian: 'python3', homebrew: 'python3' },
  openssl: { debian: 'openssl', homebrew: 'openssl' },
  curl: { debian: 'curl', homebrew: 'curl' },
  sha256sum: { debian: 'coreutils', homebrew: 'coreutils' },
  script: { debian: 'bsdutils' },
  // The smallest package with a Calc that needs no screen: 89 MB, 20 seconds.
  soffice: { debian: 'libreoffice-calc-nogui', homebrew: 'libreoffice' },
  pdftotext: { debian: 'poppler-utils', homebrew: 'poppler', forProofs: true },
  firefox: { program: 'firefox-esr', instead: 'firefox', debian: 'firefox-esr', forProofs: true },
  thunderbird: { debian: 'thunderbird', homebrew: 'thunderbird', forProofs: true },
} as const satisfies Record<string, Program>;

/** Conditions that no package can provide. */
const CONDITIONS = {
  Linux: () => process.platform === 'linux',
  'the right to mount a disk': mayMount,
  'the right to make a namespace': () => spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0,
  'PROOFS=all': () => ALL_PROOFS,
  'the advisories of the npm registry': () => knownVulnerabilities('high') !== null,
  'the repository of git': () => existsSync(join(import.meta.dirname, '../../.git')),
  'the specification beside the repository': () => existsSync(SPECIFICATION),
};

/** The specification is outside the repository, and not on every machine. */
export const SPECIFICATION = join(import.meta.dirname, '../../../shared/spec');

export type Need = keyof typeof PROGRAMS | keyof typeof CONDITIONS;

const programs: Readonly<Record<string, Program>> = PROGRAMS;
const conditions: Readonly<Record<string, () => boolean>> = CONDITIONS;
const known = new Map<Need, boolean>();

function isHere(need: Need): boolean {
  const here = known.get(need) ?? conditions[need]?.() ?? pathOf(need) !== null;
  known.set(need, here);
  return here;
}

function pathOf(need: string): string | null {
  const { program = need, instead } = programs[need] ?? {};
  return installed(program) ?? (instead === undefined ? null : installed(instead));
}

/** Options for tests that only run where all of these are available. The runner reports what was skipped, and why. */
export function needs(...all: readonly Need[]): Pick<TestOptions, 'skip' | 'meta'> {
  const lacks = all.filter((need) => !isHere(need));
  return { skip: lacks.length > 0, meta: { lacks } };
}

/** Whether a package contains it. If so, its absence is a failure where nothing may be missing. */
export function isProgram(need: string): boolean {
  return need in programs;
}

type MissingProgram = Program & { readonly need: Need };

/** The programs that this run needs and that are currently not installed. */
export function missingPrograms(forProofs: boolean): MissingProgram[] {
  return neededPrograms(forProofs).filter(({ need }) => pathOf(need) === null);
}

/** Those, and the ones for which only the alternative is installed. */
export function wantedPrograms(forProofs: boolean): MissingProgram[] {
  return neededPrograms(forProofs).filter(({ need, program = need }) => installed(program) === null);
}

function neededPrograms(forProofs: boolean): MissingProgram[] {
  return Object.entries(programs)
    .filter(([, program]) => forProofs || program.forProofs !== true)
    .map(([need, program]) => ({ ...program, need: need as Need }));
}
