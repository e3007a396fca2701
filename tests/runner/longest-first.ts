import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const TESTS = join(import.meta.dirname, '..');
/** What computes for minutes on one core, while most others wait for programs: at the end each would have it alone. */
const LONGEST = new Set([
  join(TESTS, 'proofs/simulation-lower.test.ts'),
  join(TESTS, 'proofs/simulation-upper.test.ts'),
  join(TESTS, 'simulation/scenarios/hang-ups-and-goodbyes.test.ts'),
  join(TESTS, 'simulation/scenarios/mailboxes-that-hang-up.test.ts'),
  join(TESTS, 'simulation/simulation.test.ts'),
]);

/** Vitest's own order would begin the projects by their names, and the larger files of each before the others. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is no array that is sorted.
    const sorted = await super.sort(files);
    return sorted.toSorted(
      (one, other) => groupOf(one) - groupOf(other) || Number(isLong(other)) - Number(isLong(one)),
    );
  }
}

function isLong({ moduleId }: TestSpecification): boolean {
  return LONGEST.has(moduleId);
}

function groupOf({ project }: TestSpecification): number {
  return project.config.sequence.groupOrder;
}
