import { readFile } from 'node:fs/promises';
import { cpus } from 'node:os';

/** `USER_HZ`, which Linux has had at 100 for ever. */
const TICKS_PER_SECOND = 100;
/** Of what follows the name in `/proc/self/stat` (proc(5)): CPU of children that have ended. */
const [CHILDREN_USER, CHILDREN_SYSTEM] = [13, 14];

/** CPU in milliseconds: of all cores and processes, and of programs that were run meanwhile and have ended. */
export type Spent = { readonly machine: number; readonly programs: number };

/** What the machine spends on something, whoever does it: of nothing else if nothing else is done. */
export async function spentOn<Result>(work: () => Promise<Result>): Promise<{ result: Result; spent: Spent }> {
  const before = { machine: busy(), programs: await ofChildren() };
  const result = await work();
  return {
    result,
    spent: { machine: busy() - before.machine, programs: (await ofChildren()) - before.programs },
  };
}

function busy(): number {
  return cpus().reduce((sum, { times: { user, nice, sys, irq } }) => sum + user + nice + sys + irq, 0);
}

async function ofChildren(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'latin1');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = Number(fields[CHILDREN_USER]) + Number(fields[CHILDREN_SYSTEM]);
  return (ticks / TICKS_PER_SECOND) * 1000;
}
