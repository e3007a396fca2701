import { expect, test, TestRunner } from 'vitest';
import type { AnyMachineSnapshot } from 'xstate';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { type Mutant, mutantsOf } from '../support/mutants.ts';
import { needs } from '../support/needs.ts';
import { testInstead } from '../support/tested-machine.ts';

// The scenarios' own test functions are collected here rather than run: each is then run against mutants of the machine, in
// this process. A run of the runner for each mutant would take hours; a comparison of traces would prove no test.
type Collected = {
  readonly type: string;
  readonly tasks?: readonly Collected[];
  collect?(file: unknown): Promise<Collected>;
};

const suite = TestRunner.getCurrentSuite();
await import('../machine/act-consent.test.ts');
await import('../machine/acts.test.ts');
await import('../machine/asking-home.test.ts');
await import('../machine/complete-and-status.test.ts');
await import('../machine/consent.test.ts');
await import('../machine/destination.test.ts');
await import('../machine/guide.test.ts');
await import('../machine/home.test.ts');
await import('../machine/offline.test.ts');
await import('../machine/other-account.test.ts');
await import('../machine/primary-move.test.ts');
await import('../machine/session.test.ts');
await import('../machine/sign-in-for-more.test.ts');
await import('../machine/sign-out.test.ts');
await import('../machine/start-migration.test.ts');
await import('../machine/status-from-email.test.ts');
await import('../machine/status-modal.test.ts');
await import('../machine/support.test.ts');
await import('../machine/taking-back.test.ts');
await import('../machine/transfer-in-the-way.test.ts');
await import('../machine/visits.test.ts');
await import('../machine/what-is-forgotten.test.ts');
const described = (suite.tasks as unknown as Collected[]).splice(0);

async function testsIn(tasks: readonly Collected[]): Promise<Collected[]> {
  const found = await Promise.all(
    tasks.map(async (task) => {
      if (task.type === 'test') return [task];
      return testsIn((task.collect === undefined ? task : await task.collect({})).tasks ?? []);
    }),
  );
  return found.flat();
}

/** What no scenario finds yet: the list may only grow shorter. */
const MISSED: readonly string[] = [];

type Scenario = { readonly run: () => Promise<void>; readonly nodes: ReadonlySet<string> };

/** A scenario as the product's machine plays it: with every state that it comes by. */
async function scenarioOf(task: Collected): Promise<Scenario> {
  const nodes = new Set<string>([wizardMachine.root.id]);
  const run = async () => TestRunner.getTestFn(task as never)();
  await testInstead(wizardMachine, run, (event) => {
    if (event.type === '@xstate.microstep' || event.type === '@xstate.snapshot')
      for (const { id } of (event.snapshot as Partial<AnyMachineSnapshot>)._nodes ?? []) nodes.add(id);
  });
  return { run, nodes };
}

/** Whether some scenario fails on the mutant, of those that come by the state that it differs in. */
async function isFound(mutant: Mutant, scenarios: readonly Scenario[], first: Scenario[]): Promise<boolean> {
  const machine = mutant.make();
  for (const scenario of new Set([...first, ...scenarios])) {
    if (!scenario.nodes.has(mutant.node)) continue;
    const failed = await testInstead(machine, scenario.run).then(
      () => false,
      () => true,
    );
    if (!failed) continue;
    first.unshift(scenario);
    first.splice(10);
    return true;
  }
  return false;
}

test(
  'each action, guard and delay that is taken from the machine makes a scenario fail, but for those that are named',
  {
    ...needs('PROOFS=all'),
    timeout: 1_200_000,
  },
  async () => {
    const scenarios: Scenario[] = [];
    for (const task of collected) scenarios.push(await scenarioOf(task));
    scenarios.sort((one, other) => one.nodes.size - other.nodes.size);
    const mutants = mutantsOf(wizardMachine);
    const missed: string[] = [];
    const first: Scenario[] = [];
    for (const mutant of mutants) if (!(await isFound(mutant, scenarios, first))) missed.push(mutant.name);
    const found = mutants.length - missed.length;
    process.stdout.write(
      `Mutants of the wizard found by ${scenarios.length} scenarios: ${found} of ${mutants.length} (${((100 * found) / mutants.length).toFixed(1)} %)\n${missed.map((name) => `  missed: ${name}\n`).join('')}`,
    );
    expect(missed.filter((name) => !MISSED.includes(name))).toEqual([]);
  },
);

// Last, for a suite that has been collected takes no further tests.
const collected = await testsIn(described);
