import type { InspectionEvent } from 'xstate';
import { wizardMachine } from '../../machines/wizard.machine.ts';

type Machine = typeof wizardMachine;
type Watch = (event: InspectionEvent) => void;

let tested: { readonly machine: Machine; readonly inspect?: Watch; readonly mayFail: boolean } = {
  machine: wizardMachine,
  mayFail: false,
};

/** The machine that the scenarios run: the product's, unless the mutation check has put another in its place. */
export function testedMachine() {
  return tested;
}

/** Runs scenarios on a mutant, whose errors are its own affair, or on the product's machine with somebody watching. */
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
