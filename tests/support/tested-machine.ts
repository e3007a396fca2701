import type { InspectionEvent } from 'xstate';
import { wizardMachine } from '../../machines/wizard.machine.ts';

type Machine = typeof wizardMachine;
type Watch = (event: InspectionEvent) => void;

let tested: { readonly machine: Machine; readonly inspect?: Watch; readonly mayFail: boolean } = {
  machine: wizardMachine,
  mayFail: false,
};

/** The machine that the scenarios run: the product's, unless the mutation check has replaced it. */
export function testedMachine() {
  return tested;
}

/** Runs scenarios on a mutant, ignoring the errors it throws, or on the product's machine with an observer. */
export async function testInstead<Outcome>(
  machine: Machine,
  run: () => Promise<Outcome>,
  inspect?: Watch,
): Promise<Outcome> {
  tested = { machine, mayFail: machine !== wizardMachine, ...(inspect === undefined ? {} : { inspect }) };
  try {
    return await run();
  } finally {
    tested = { machine: wizardMachine, mayFail: false };
  }
}
