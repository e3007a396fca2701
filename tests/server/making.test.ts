import { expect, test } from 'vitest';
import { openBoth } from '../../src/server/mail/copy/mailboxes/both-mailboxes.ts';
import { openMaking } from '../../src/server/mail/copy/mailboxes/making.ts';
import { FolderLeft, type Run, type Session } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import type { MailWriter } from '../../src/server/mail/imap/streams.ts';
import { Stopped } from '../../src/server/stopped.ts';
import { LeaseLost } from '../../src/server/transfers/lease.ts';

/** Mailboxes `a` to `d` of which `a` is there already, and a destination that answers as it is told to. */
function making(answer: (path: string) => Promise<boolean>) {
  const asked: string[] = [];
  const made: string[] = [];
  const stop = new AbortController();
  const lease = { transferId: 'one', may: true };
  const run = {
    copy: {
      lease: { transferId: 'one', mayWrite: () => lease.may },
      signal: stop.signal,
      onMade: async (path: string) => void made.push(path),
    },
    ...openFaults(),
    looked: () => {},
    opened: { source: new Set(), destination: new Set() },
  } as unknown as Run;
  const writer = {
    create: (path: string) => {
      asked.push(path);
      return answer(path);
    },
  } as unknown as MailWriter;
  const mapped = ['a', 'b', 'c', 'd'].map((path) => ({
    source: { path, delimiter: '/' },
    destination: path,
    create: path !== 'a',
    plainer: `plain ${path}`,
    plainest: path === 'd' ? 'short' : `plain ${path}`,
    numbered: `${path} (2)`,
  }));
  return { ...openMaking(mapped, run), run, writer, asked, made, stop, lease };
}

test('all missing mailboxes are requested at once, and those that did not exist before are recorded', async () => {
  const gate = Promise.withResolvers<void>();
  const { makeAll, pathFor, writer, asked, made } = making(async (path) => {
    await gate.promise;
    return path !== 'c';
  });
  const underWay = makeAll(writer);
  expect(asked).toEqual(['b', 'c', 'd']);
  gate.resolve();
  await underWay;
  expect(made).toEqual(['b', 'd']);
  for (const path of ['a', 'b', 'c', 'd']) expect(await pathFor(path, writer)).toBe(path);
  expect(asked).toHaveLength(3);
});

test('a name that the server reserves is avoided', async () => {
  const { pathFor, writer, asked } = making(async (path) => {
    if (path.endsWith('(2)')) return true;
    if (path.endsWith('d')) throw new MailError('refused', 'NO', { responseCode: 'ALREADYEXISTS' });
    const said = path.endsWith('b') ? 'Folder name is reserved.' : 'Not now.';
    throw new MailError('refused', 'NO', { cause: { responseText: said } });
  });
  expect(await pathFor('b', writer)).toBe('b (2)');
  await expect(pathFor('c', writer)).rejects.toThrow(FolderLeft);
  expect(asked).toEqual(['b', 'plain b', 'b (2)', 'c', 'plain c']);
  // Gmail’s own labels, which it need not show.
  expect(await pathFor('d', writer)).toBe('d (2)');
});

test('a refused name is asked for in its plainer and its plainest form; refused as well, its folder alone is left', async () => {
  const { makeAll, pathFor, writer, asked, made } = making(async (path) => {
    if (path === 'b' || /[cd]$/.test(path)) throw new MailError('refused', 'Not that name.');
    return true;
  });
  await makeAll(writer);
  expect(made.toSorted()).toEqual(['plain b', 'short']);
  expect(await pathFor('b', writer)).toBe('plain b');
  await expect(pathFor('c', writer)).rejects.toThrow(FolderLeft);
  expect(await pathFor('d', writer)).toBe('short');
  expect(asked.filter((path) => path.endsWith('c'))).toEqual(['c', 'plain c']);
});

test.each(['busy', 'full'] as const)(
  'a server that is %s for one mailbox holds up that folder alone',
  async (fault) => {
    let isOver = false;
    const { makeAll, pathFor, writer, made } = making(async (path) => {
      if (path === 'c' && !isOver) throw new MailError(fault, 'Not now.');
      return true;
    });
    await makeAll(writer);
    expect(made).toEqual(['b', 'd']);
    expect(await pathFor('d', writer)).toBe('d');
    await expect(pathFor('c', writer)).rejects.toMatchObject({ fault });
    isOver = true;
    expect(await pathFor('c', writer)).toBe('c');
    expect(made).toEqual(['b', 'd', 'c']);
  },
);

test('when a connection ends in the middle, what was created is recorded first, and only the rest is requested again', async () => {
  let ends = true;
  const { makeAll, writer, asked, made } = making(async (path) => {
    if (path === 'c' && ends) throw new MailError('lost', 'Gone.');
    await Promise.resolve();
    return true;
  });
  await expect(makeAll(writer)).rejects.toMatchObject({ fault: 'lost' });
  expect(made).toEqual(['b', 'd']);
  ends = false;
  await makeAll(writer);
  expect(asked).toEqual(['b', 'c', 'd', 'c']);
  expect(made).toEqual(['b', 'd', 'c']);
});

test('nothing is made after a stop, or once another worker may have the transfer', async () => {
  const stopped = making(async () => true);
  stopped.stop.abort();
  await expect(stopped.makeAll(stopped.writer)).rejects.toThrow(Stopped);
  const late = making(async () => true);
  late.lease.may = false;
  await expect(late.makeAll(late.writer)).rejects.toThrow(LeaseLost);
  expect([...stopped.asked, ...late.asked]).toEqual([]);
});

test.each<[string, boolean, string]>([
  ['is there, and lets nobody in', false, 'mailbox closed'],
  ['can not be made', true, 'mailbox not created'],
])('a mailbox that %s is told as that', async (_what, isMissing, reason) => {
  const refused = new MailError('refused', 'NO Permission denied');
  const { run, writer } = making(() => (isMissing ? Promise.reject(refused) : Promise.resolve(false)));
  const session = {
    reader: { open: async () => ({ uidValidity: 1n }) },
    writer: { ...writer, select: () => Promise.reject(refused) },
    checker: { isOver: false },
  } as unknown as Session;
  const opening = openBoth('Family', 'Family', 1n, session, { ...run, planAgain: () => {} });
  await expect(opening).rejects.toMatchObject({ name: 'FolderLeft', reason });
});
