import { expect, test } from 'vitest';
import { copiedBy, refusedBy } from '../../src/contract/transfer-status.ts';

const REFUSED = { reason: 'It is too large.' };

const contacts = { copied: 3, remarked: 2, present: 4, completed: 1, refused: 2 };

test.each([
  ['all messages', { done: 12, skipped: [] }, 12, 0],
  ['messages but two', { done: 12, skipped: [REFUSED, REFUSED] }, 10, 2],
  ['contacts, of which some were there', { done: 12, skipped: [REFUSED, REFUSED], contacts }, 5, 2],
  ['nothing yet', {}, 0, 0],
] as const)(
  'of %s that is counted as copied which the operation has copied itself',
  (_of, operation, copied, refused) => {
    expect(copiedBy(operation)).toBe(copied);
    expect(refusedBy(operation)).toBe(refused);
  },
);
