import { expect, test } from 'vitest';
import { copiedBy, foldersLeftBy, isOfFolder, refusedBy } from '../../src/contract/transfer-status.ts';
import { wordsFor } from '../../src/server/mail/copy/ledger/reasons.ts';

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

test('a reason says of a whole folder that it is of one, and of a message that it is not', () => {
  const messages = ['too large', 'not accepted', 'virus', 'unreadable', 'lost', 'removed'];
  const folders = ['unreadable', 'not created', 'closed', 'not read back', 'not complete'].map(
    (name) => `mailbox ${name}`,
  );
  const skipped = [...messages, ...folders].map((name) => ({ reason: wordsFor(name) }));
  // Each is known by its name.
  expect(skipped.every(({ reason }) => reason.endsWith('.'))).toBe(true);
  expect(skipped.map(isOfFolder)).toEqual([...messages.map(() => false), ...folders.map(() => true)]);
  expect(foldersLeftBy({ skipped })).toBe(folders.length);
  expect(refusedBy({ skipped })).toBe(messages.length);
});
