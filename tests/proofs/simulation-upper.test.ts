import { expect, test } from 'vitest';
import { failuresOf } from './half-of-seeds.ts';

test(
  'simulations by the thousand end as they should: the upper half of the seeds',
  { timeout: 3 * 3_600_000 },
  async () => {
    expect(await failuresOf('upper')).toEqual([]);
  },
);
