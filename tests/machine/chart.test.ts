import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
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

const saidOf = async (page: string, from: string, to: string) => {
  const { lines } = await layOutPage(chartOf(wizardMachine), page);
  const line = lines.find((one) => one.from === from && one.to === to);
  return labelLines(line?.words ?? []).map(({ text }) => text);
};

test(
  'a line says of each event when it is taken: where one condition of several is enough, and where no other held',
  { timeout: 90_000 },
  async () => {
    expect(await saidOf('destination', 'destination.options', 'leavingForTransfer')).toEqual([
      'provider.choose',
      'if Google is chosen and terms are',
      'accepted',
      'else',
    ]);
    expect(await saidOf('statusFromEmail', 'statusFromEmail.asking', 'statusFromEmail.notFound')).toEqual([
      'done: list the transfers',
      'else',
      'failed: list the transfers',
      'else',
      'after answer limit (30 s)',
    ]);
    expect(
      await saidOf('startMigration', 'startMigration.submission.loading', 'startMigration.submission.waiting'),
    ).toEqual([
      'failed: start the transfer',
      'if the sign-in is refused by the',
      'source',
      'if the sign-in elsewhere has ended',
      'else',
      'after answer limit (30 s)',
    ]);
  },
);
