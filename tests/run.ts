import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { startVitest, type TestCase, type TestModule, type TestSuite, type Vitest } from 'vitest/node';
import { FOLDERS, isChosen, STORIES } from './folders.ts';
import { gapsIn, type Ran, verdictOf } from './runner/verdict.ts';
import { RULES } from './specification/all.ts';
import { installed } from './support/installed.ts';
import { missingPrograms, wantedPrograms } from './support/needs.ts';

const ROOT = join(import.meta.dirname, '..');
const given = process.argv.slice(2);
/** `npm run proofs`; else the tests. */
const isProofs = given[0] === 'proofs';
const files = isProofs ? given.slice(1) : given;
const isAllProofs = isProofs && files.length === 0;
/** Where a machine of its own runs it, nothing may be missing. */
const mayLack = process.env['CI'] === undefined;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function run(command: string, ...parameters: string[]): boolean {
  return spawnSync(command, parameters, { stdio: ['ignore', 'ignore', 'inherit'] }).status === 0;
}

/** Programs that unpack archives can't name what is written in other letters on a machine that has no locale. */
function setLocale(): void {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  if (!/utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || ''))
    process.env['LC_ALL'] = process.platform === 'darwin' ? 'en_US.UTF-8' : 'C.UTF-8';
}

/** Fetches what the machine lacks by its package manager, where it may; `TEST_SETUP=off` keeps it from it. */
function setUp(): void {
  const lacking = wantedPrograms(isAllProofs);
  if (lacking.length === 0) return;
  if (process.env['TEST_SETUP'] === 'off') say('TEST_SETUP=off: nothing is installed.');
  else if (installed('apt-get') !== null) installByApt(lacking.map(({ debian }) => debian));
  else if (installed('brew') !== null) run('brew', 'install', ...lacking.flatMap(({ homebrew }) => homebrew ?? []));
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

/** The projects that this run asks for; stories are no part of `npm test`, unless files are named. */
function projects(): string[] {
  const folders = FOLDERS.filter((folder) => (folder.isProof ?? false) === isProofs).map(({ name }) => name);
  return isProofs || files.length > 0 ? [...folders, ...Object.values(STORIES)] : folders;
}

/** Vitest reports what a folder leaves to the other run as skipped. What has run counts in any case. */
function isOfThisRun(test: TestCase): boolean {
  const folder = FOLDERS.find(({ name }) => name === test.project.name);
  return test.result().state !== 'skipped' || folder === undefined || isChosen(folder, test.tags);
}

function ranOf(test: TestCase): Ran {
  const { project, name, fullName } = test;
  return {
    project: project.name,
    name,
    fullName: `${relative(ROOT, test.module.moduleId)} > ${fullName}`,
    state: test.result().state,
    isFlaky: test.diagnostic()?.flaky ?? false,
    errors: (test.result().errors ?? []).map(({ message, diff, stack }) => [message, diff, stack].join('\n')),
    lacks: lackedBy(test),
  };
}

function lackedBy(test: TestCase): readonly string[] {
  const lacks = [...(test.meta().lacks ?? [])];
  for (let above: TestSuite | TestModule = test.parent; above.type === 'suite'; above = above.parent)
    lacks.push(...(above.meta().lacks ?? []));
  return [...new Set(lacks)];
}

/** What proofs noted of themselves by `annotate(figure, 'figure')`. */
function figuresOf(vitest: Vitest): string[] {
  return vitest.state
    .getTestModules()
    .flatMap((module) => [...module.children.allTests()])
    .flatMap((test) => test.annotations())
    .filter(({ type }) => type === 'figure')
    .map(({ message }) => message);
}

setLocale();
setUp();
const vitest = await startVitest('test', files, { watch: false, project: projects() });
const modules = vitest.state.getTestModules();
const ran = modules.flatMap((module) => [...module.children.allTests()].filter(isOfThisRun).map(ranOf));
const broken = modules.filter((module) => module.errors().length > 0).length + vitest.state.getUnhandledErrors().length;
const figures = figuresOf(vitest);
await vitest.close();

const verdict = verdictOf(ran, { mayLack });
const crossing = new Set(FOLDERS.filter(({ crossesWire }) => crossesWire).map(({ name }) => name));
const gaps = isProofs || files.length > 0 ? [] : gapsIn(RULES, ran, crossing);
const missing = missingPrograms(isAllProofs);
if (isProofs) for (const figure of figures) say(figure);
for (const line of verdict.lines) say(line);
for (const { line, why } of gaps) say(`Not shown, "${line}": ${why}`);
for (const { need, debian } of missing)
  say(`${mayLack ? 'Not here' : 'FAILED, as it is not here'}: ${need} (Debian's ${debian}).`);
const faults = gaps.filter(({ isFault }) => isFault).length + broken + (mayLack ? 0 : missing.length);
const failed = verdict.failed + faults;
say(`${verdict.passed} passed, ${failed} failed, ${verdict.skipped} skipped`);
process.exitCode = failed === 0 && verdict.passed > 0 ? 0 : 1;
