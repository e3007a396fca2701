import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createMachine } from 'xstate';
import { refusedBy } from '../../machines/failure.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { chartFiles } from '../../src/inspector/chart-files.ts';
import { chartOf, statesIn } from '../../src/inspector/chart.ts';
import { labelLines, layOutPage } from '../../src/inspector/layout.ts';
import { nodesOf, transitionsOf } from '../support/transitions.ts';

const FOLDER = join(import.meta.dirname, '../../machines/chart');

test(
  'the chart in machines/chart is the one that "npm run chart" makes of the machine',
  { timeout: 90_000 },
  async () => {
    const wanted = await chartFiles();
    expect((await readdir(FOLDER)).toSorted()).toEqual([...wanted.keys()].toSorted());
    for (const [name, text] of wanted)
      expect((await readFile(join(FOLDER, name), 'utf8')) === text, `${name} is out of date: run "npm run chart"`).toBe(
        true,
      );
  },
);

test('the chart has every state and every transition of the machine', () => {
  const { root, ways } = chartOf(wizardMachine);
  expect(
    statesIn(root)
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(
    nodesOf(wizardMachine.root)
      .map((node) => node.path.join('.'))
      .toSorted(),
  );
  expect(ways.length).toBe(transitionsOf(wizardMachine.root).size);
  expect(ways.filter(({ event, condition }) => event.startsWith('xstate.') || condition?.trim() === 'if')).toEqual([]);
});

test('a line says of each event when it is taken: where one condition of several is enough, and where no other held', async () => {
  const toB = { target: 'b' };
  const machine = createMachine({
    initial: 'page',
    states: {
      page: {
        initial: 'a',
        states: {
          a: {
            on: {
              either: [{ guard: 'it is open', ...toB }, { guard: refusedBy('source') as never, ...toB }, toB],
              other: [{ guard: 'it is open', target: 'a' }, toB],
              always: toB,
            },
          },
          b: {},
        },
      },
    },
  });
  const { lines } = await layOutPage(chartOf(machine), 'page');
  const line = lines.find(({ to }) => to === 'page.b');
  expect(labelLines(line?.words ?? []).map(({ text }) => text)).toEqual([
    'either',
    'if it is open',
    'if the sign-in is refused by the',
    'source',
    'else',
    'other',
    'else',
    'always',
  ]);
});
