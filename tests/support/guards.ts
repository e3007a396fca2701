import type { wizardMachine } from '../../machines/wizard.machine.ts';

type Guard = (args: never, params: never) => boolean;

/** The two outcomes of every guard that the machine declares, by name. */
export function outcomesOf(machine: typeof wizardMachine): Set<string> {
  return new Set(Object.keys(machine.implementations.guards).flatMap((name) => [`${name}: true`, `${name}: false`]));
}

/** The same machine, that notes each outcome of its guards in `seen`. */
export function watchGuards(machine: typeof wizardMachine, seen: Set<string>): typeof wizardMachine {
  const guards = machine.implementations.guards as unknown as Readonly<Record<string, Guard>>;
  const watched = Object.fromEntries(
    Object.entries(guards).map(([name, guard]) => [
      name,
      (args: never, params: never) => {
        const outcome = guard(args, params);
        seen.add(`${name}: ${outcome}`);
        return outcome;
      },
    ]),
  );
  return machine.provide({ guards: watched });
}
