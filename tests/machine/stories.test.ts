import { join } from 'node:path';
import { buildIndex } from 'storybook/internal/core-server';
import { expect, test } from 'vitest';
import { createActor, SimulatedClock } from 'xstate';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { chartOf, statesIn } from '../../src/inspector/chart.ts';
import { leafOf, storyIdOf } from '../../stories/leaf.ts';
import { TODAY } from '../../stories/people.ts';
import { scriptedWizard } from '../../stories/script.ts';
import { SETTINGS } from '../support/wizard.ts';

test('every leaf state of the machine has its story', async () => {
  const { entries } = await buildIndex({ configDir: join(import.meta.dirname, '../../.storybook') });
  const leaves = statesIn(chartOf(wizardMachine).root)
    .filter(({ kind }) => kind === 'leaf')
    .map(({ path }) => path);
  expect(leaves.length).toBeGreaterThan(100);
  const missing = leaves.filter((leaf) => !(storyIdOf(leaf) in entries));
  expect(missing, `in stories/ is no ${missing.map(storyIdOf).join(', no ')}`).toEqual([]);
  const wanted = new Set(leaves.map(storyIdOf));
  const orphans = Object.keys(entries).filter((id) => id.startsWith('states-') && !wanted.has(id));
  expect(orphans, 'stories of no state').toEqual([]);
});

test('the chart shows the leaf that a story is of, and some leaf of each other story that has a wizard', () => {
  const shown = ['status.page.following.live.open', 'status.banner.shown'];
  expect(leafOf('states-status--banner-shown', shown)).toBe('status.banner.shown');
  expect(leafOf('life-status--waiting', shown)).toBe('status.page.following.live.open');
  expect(leafOf('parts-controls--primary', [])).toBeUndefined();
});

test('the day of the stories does not pass: the countdown of a journey stays where it was', () => {
  const clock = new SimulatedClock();
  const machine = scriptedWizard({}, () => {});
  const actor = createActor(machine, { input: { settings: SETTINGS, now: TODAY }, clock }).start();
  actor.send({ type: 'home.visit', error: '' });
  clock.increment(5_000);
  expect(actor.getSnapshot().matches({ home: { countdown: 'ticking' } })).toBe(true);
  expect(actor.getSnapshot().context.now).toBe(TODAY);
});
