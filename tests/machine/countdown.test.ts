import { expect, test } from 'vitest';
import { timeLeft } from '../../machines/countdown.ts';
import { SETTINGS } from '../support/wizard.ts';

const END = '2025-11-30T23:59:59-08:00';
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test('access ends on 30 November 2025 at 23:59:59 Pacific time where nothing else is set', () => {
  expect(SETTINGS.accessEnd).toBe(END);
  expect(new Date(END).toISOString()).toBe('2025-12-01T07:59:59.000Z');
});

test.each([
  ['41 days before', 41 * DAY, 'day', 41],
  ['1 ms less than 2 days before', 2 * DAY - 1, 'day', 1],
  ['1 day before', DAY, 'day', 1],
  ['1 ms less than 1 day before', DAY - 1, 'hour', 23],
  ['1 hour before', HOUR, 'hour', 1],
  ['1 ms less than 1 hour before', HOUR - 1, 'hour', 0],
  ['1 ms before', 1, 'hour', 0],
  ['at', 0, 'day', 0],
  ['1 ms after', -1, 'day', 0],
  ['a year after', -365 * DAY, 'day', 0],
] as const)('%s the end, what is left is shown in whole units, rounded down', (_, left, unit, count) => {
  expect(timeLeft(END, Date.parse(END) - left)).toEqual({ unit, count });
});
