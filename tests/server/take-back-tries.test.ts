import { expect, test } from 'vitest';
import type { Appended, TakeBackRecords } from '../../src/server/mail/copy/take-back-records.ts';
import { takeBack } from '../../src/server/mail/copy/take-back.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailControl, MailReader, MailWriter } from '../../src/server/mail/imap/streams.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';

/** Fails within a minute, should the tries go on for ever. */
const TRIES_AT_MOST = 50;

const lost = () => Promise.reject(new MailError('lost', 'The connection ended.'));

/** Opens once, and then no more. */
function brokenReader(): MailReader {
  let pages = 0;
  return {
    open: async () => {
      pages += 1;
      return pages === 1 ? { uidValidity: 1n, exists: 0 } : lost();
    },
    [Symbol.asyncDispose]: async () => {},
  } as unknown as MailReader;
}

test('a take back that gets no further ends, however much of it is passed each time', async () => {
  let opened = 0;
  // Under another UIDVALIDITY: they are passed, and the page after them never comes.
  const page = [{ mailboxId: 1, uid: 1, uidValidity: 2n }] as unknown as readonly Appended[];
  const ended = takeBack({
    clock: HASTY_CLOCK,
    reader: async () => {
      opened += 1;
      if (opened > TRIES_AT_MOST) throw new RangeError('It goes on for ever.');
      return brokenReader();
    },
    writer: async () =>
      ({ traits: { saysUids: true }, [Symbol.asyncDispose]: async () => {} }) as unknown as MailWriter,
    control: async () => ({}) as MailControl,
    records: { paths: async () => ['INBOX'], page: async () => page } as unknown as TakeBackRecords,
    mayWrite: () => true,
    mayWait: true,
    signal: new AbortController().signal,
    onStep: () => {},
  });
  await expect(ended).rejects.toThrow('The connection ended.');
  expect(opened).toBeLessThan(10);
});

async function openUndamaged(path: string): Promise<{ uidValidity: bigint; exists: number }> {
  if (path === 'Damaged') throw new MailError('busy', 'It is in trouble.', { responseCode: 'SERVERBUG' });
  return { uidValidity: 1n, exists: 0 };
}

test('a mailbox that the server is in trouble with keeps nothing in the others from being taken back', async () => {
  const asked = new Set<string>();
  const page = [{ mailboxId: 1, uid: 1, uidValidity: 2n }] as unknown as readonly Appended[];
  const records = {
    paths: async () => ['Damaged', 'INBOX'],
    page: async (path: string, { uid }: { uid: number }) => {
      asked.add(path);
      return uid === 0 ? page : [];
    },
    folders: async () => [],
  };
  const takenBack = (mayWait: boolean) =>
    takeBack({
      clock: HASTY_CLOCK,
      reader: async () => ({ open: openUndamaged, [Symbol.asyncDispose]: async () => {} }) as unknown as MailReader,
      writer: async () =>
        ({ traits: { saysUids: true }, [Symbol.asyncDispose]: async () => {} }) as unknown as MailWriter,
      control: async () => ({}) as MailControl,
      records: records as unknown as TakeBackRecords,
      mayWrite: () => true,
      mayWait,
      signal: new AbortController().signal,
      onStep: () => {},
    });
  await expect(takenBack(true)).rejects.toMatchObject({ fault: 'busy', responseCode: 'SERVERBUG' });
  expect(asked).toEqual(new Set(['Damaged', 'INBOX']));
  // What it could not look into stays, and is told.
  expect(await takenBack(false)).toBe('done');
});
