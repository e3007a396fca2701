import { spawnSync } from 'node:child_process';
import { startVitest } from 'vitest/node';
import { installed, MANAGESIEVE_LOGIN } from './support/installed.ts';

type Need = { readonly program: string; readonly debian: string; readonly homebrew?: string };

/** The programs of other people that tests talk to. */
const NEEDS: readonly Need[] = [
  { program: 'chromium', debian: 'chromium', homebrew: 'chromium' },
  { program: 'dovecot', debian: 'dovecot-imapd', homebrew: 'dovecot' },
  // The ManageSieve server comes as a package of its own and in no folder for programs.
  { program: 'sievec', debian: 'dovecot-sieve', homebrew: 'dovecot' },
  { program: MANAGESIEVE_LOGIN, debian: 'dovecot-managesieved' },
  { program: 'initdb', debian: 'postgresql', homebrew: 'postgresql@16' },
  { program: 'radicale', debian: 'radicale' },
  { program: 'mbsync', debian: 'isync', homebrew: 'isync' },
  { program: 'bsdtar', debian: 'libarchive-tools', homebrew: 'libarchive' },
  { program: '7z', debian: 'p7zip-full', homebrew: 'p7zip' },
  { program: 'mutt', debian: 'mutt', homebrew: 'mutt' },
  { program: 'unzip', debian: 'unzip', homebrew: 'unzip' },
  { program: 'python3', debian: 'python3', homebrew: 'python3' },
  { program: 'openssl', debian: 'openssl', homebrew: 'openssl' },
  { program: 'curl', debian: 'curl', homebrew: 'curl' },
  // The smallest package with a Calc that needs no screen: 89 MB, 20 seconds.
  { program: 'soffice', debian: 'libreoffice-calc-nogui', homebrew: 'libreoffice' },
];

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function run(command: string, ...parameters: string[]): boolean {
  return spawnSync(command, parameters, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

function missing(): Need[] {
  return NEEDS.filter((need) => installed(need.program) === null);
}

/** Fetches what the machine lacks by its package manager, where it may; `TEST_SETUP=off` keeps it from it. */
function setUp(): void {
  const lacking = missing();
  if (lacking.length === 0) return;
  if (process.env['TEST_SETUP'] === 'off') say('TEST_SETUP=off: nothing is installed.');
  else if (installed('apt-get') !== null) installByApt(lacking.map((need) => need.debian));
  else if (installed('brew') !== null) run('brew', 'install', ...lacking.flatMap((need) => need.homebrew ?? []));
  for (const { program, debian } of missing())
    say(`Not here: ${program} (Debian's ${debian}); the tests that need it are skipped.`);
}

function installByApt(packages: readonly string[]): void {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (sudo.length > 0 && !run('sudo', '-n', 'true')) {
    say(`No right to install ${packages.join(', ')}: neither root nor passwordless sudo.`);
    return;
  }
  say(`Installing ${packages.join(', ')} by apt-get…`);
  const apt = [...sudo, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq'];
  const [command = 'env', ...parameters] = apt;
  run(command, ...parameters, 'update');
  // One by one after a failure: a package that this system doesn't have must not keep the others away.
  if (run(command, ...parameters, 'install', '--no-install-recommends', '-y', ...packages)) return;
  for (const name of packages) run(command, ...parameters, 'install', '--no-install-recommends', '-y', name);
}

setUp();
const vitest = await startVitest('test', process.argv.slice(2), { watch: false });
const results = vitest.state
  .getTestModules()
  .flatMap((module) => [...module.children.allTests()].map((test) => test.result().state));
const broken = vitest.state.getTestModules().filter((module) => module.errors().length > 0).length;
const errors = vitest.state.getUnhandledErrors().length;
await vitest.close();
const count = (state: string) => results.filter((result) => result === state).length;
const failed = count('failed') + broken + errors;
say(`${count('passed')} passed, ${failed} failed, ${count('skipped')} skipped`);
process.exitCode = failed === 0 && count('passed') > 0 ? 0 : 1;
