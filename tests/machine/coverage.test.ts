import { expect, test } from 'vitest';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import { addressOf } from '../../machines/wizard.routes.ts';
import { nodesOf, transitionsOf } from '../support/transitions.ts';
import { SECRET, walk } from '../support/walk.ts';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const STEPS = 10_000;

const taken = new Set<string>();
const leaves = new Set<string>();

test('every delay that a state waits for is declared', () => {
  const waits = nodesOf(wizardMachine.root).flatMap((node) => node.after.map((transition) => transition.delay));
  expect(new Set(waits)).toEqual(new Set(Object.keys(DELAYS)));
});

test.each(SEEDS)(
  'random walk %i of 10,000 steps keeps the promises of every page',
  { timeout: 120_000 },
  async (seed) => {
    let submits = 0;
    await walk(seed, STEPS, taken, ({ event, before, after }, { left, called }) => {
      for (const node of after._nodes) if (node.type === 'atomic') leaves.add(node.id);
      expect(after.can({ type: 'home.visit', error: '' })).toBe(true);
      expect(after.can({ type: 'support.visit' })).toBe(true);
      const address = addressOf(after);
      const text = `${address?.path ?? ''}?${new URLSearchParams(address?.query).toString()} ${left.join(' ')}`;
      expect(text).not.toContain(SECRET);
      expect(decodeURIComponent(text.replaceAll('+', ' '))).not.toContain(SECRET);
      const type = typeof event === 'string' ? event : event.type;
      if (['transfer.submit', 'call.retry', 'connection.return'].includes(type)) submits += 1;
      expect(called.filter((name) => name === 'start the transfer').length).toBeLessThanOrEqual(submits);
      if (
        !after.matches('home') &&
        !before.matches('home') &&
        type !== 'contact.type' &&
        !after.matches('startMigration')
      )
        expect(after.context.notificationContact).toBe(before.context.notificationContact);
      if (!after.matches('home') && before.context.source !== null)
        expect(after.context.source).toEqual(before.context.source);
    });
  },
);

test('every leaf state is reached and every transition taken', () => {
  const all = transitionsOf(wizardMachine.root);
  const missed = [...all].filter((name) => !taken.has(name));
  const everyLeaf = nodesOf(wizardMachine.root).filter((node) => node.type === 'atomic');
  process.stdout.write(
    `Leaf states reached: ${leaves.size} of ${everyLeaf.length}. Transitions taken: ${all.size - missed.length} of ${all.size} (${((100 * (all.size - missed.length)) / all.size).toFixed(1)} %).\n${missed.map((name) => `  missed: ${name}\n`).join('')}`,
  );
  expect(missed).toEqual([]);
  expect(everyLeaf.map((node) => node.id).filter((id) => !leaves.has(id))).toEqual([]);
});
