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
await import('../machine/sign-out.test.ts');
await import('../machine/start-migration.test.ts');
await import('../machine/status-from-email.test.ts');
await import('../machine/status-modal.test.ts');
await import('../machine/support.test.ts');
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
const MISSED: readonly string[] = [
  'wizard: start-migration.visit [0] as if "the source is known" in and in or in not were true',
  'wizard: start-migration.visit [0] as if "it is a download" in and in or in not were true',
  'wizard: complete.visit [0] as if "the source is known" in not were true',
  'wizard.home.banner: start.press [start.press] as if in "#home-resting" were true',
  'wizard.home.page.signingIn.email: credentials.submit [1] as if "the email is at a legacy domain" in not were false',
  'wizard.home.page.signingIn.credentials: email.type [email.type] as if in "#home-asking" in or in not were true',
  'wizard.home.page.signingIn.credentials: email.type [email.type] as if in "#home-verifying" in or in not were true',
  'wizard.home.page.signingIn.credentials: email.type [email.type] as if in "#home-welcomed" in or in not were true',
  'wizard.home.page.signingIn.credentials.passwordMissing: credentials.submit [credentials.submit] as if "the password is empty" were true',
  'wizard.home.page.signingIn.credentials.passwordMissing: credentials.submit [credentials.submit] as if "the password is empty" were false',
  'home-asking: onDone of ask for capabilities without "remember the operations"',
  'wizard.home.page.signingIn.credentials.refused: credentials.submit [1] as if "operations are known" were true',
  'wizard.home.page.signingIn.credentials.refused: credentials.submit [1] as if "operations are known" were false',
  'wizard.home.page.lookingUp.asking: onDone of ask for the status without "remember the status"',
  'wizard.home.page.lookingUp.failed: lookup.submit [0] as if "the transfer ID looks right" were true',
  'wizard.destination.options: provider.choose [0] as if "Google is chosen" in and were true',
  'wizard.destination.options: provider.choose without "choose the provider"',
  'wizard.destination.options.other.host.used: host.toggle [host.toggle] as if in "#other-credentials-asking" in or in not were false',
  'wizard.destination.options.other.host.used: host.type [host.type] as if in "#other-credentials-asking" in or in not were false',
  'other-credentials-editing: credentials.submit [0] as if "the account can sign in" in and were true',
  'other-credentials-asking: onDone of ask for capabilities without "remember the typed account"',
  'other-credentials-verifying: onError of validate the account [1] as if "the failure is" in and were true',
  'start-migration-waiting: transfer.submit [0] as if in "#start-migration-contact-good" in and were true',
  'complete: transfer.open without "forget the transfer"',
  'wizard.statusFromEmail.showing: transfer.open without "forget the transfer"',
];

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
