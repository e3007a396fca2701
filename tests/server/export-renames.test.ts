import { createHash } from 'node:crypto';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stopped } from '../../src/server/stopped.ts';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { memoryAccount, narrow, type MemoryMailbox } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';

const LIMITS = { batchMessages: 2, partMessages: 8 };

let world: ExportWorld;
beforeAll(async () => {
  world = await openExportWorld({ limits: LIMITS });
});
afterAll(() => world[Symbol.asyncDispose]());

/** A mailbox with so many messages, all of which have its word in them. */
function mailbox(path: string, uidValidity: bigint, count: number, word = path): MemoryMailbox {
  return {
    path,
    uidValidity,
    messages: Array.from({ length: count }, (_, n) => ({
      uid: n + 1,
      bytes: Buffer.from(`Subject: ${word} ${n}\r\n\r\nText\r\n`),
      flags: [],
      internalDate: new Date(Date.UTC(2020, 1, n + 1)),
    })),
  };
}

const named = (path: string, before: MemoryMailbox): MemoryMailbox => ({ ...before, path });

/** An export that was stopped when so many messages had come. */
async function begun(source: MemoryMailbox[], count: number): Promise<string> {
  const id = await world.newTransfer();
  const stop = new AbortController();
  const account = memoryAccount(source, {
    onFetch: (_path, _uid, reached) => {
      if (reached === count) stop.abort();
    },
  });
  await expect(world.exportMail(id, narrow(account), { signal: stop.signal })).rejects.toThrow(Stopped);
  return id;
}

async function endedWith(id: string, source: MemoryMailbox[]): Promise<void> {
  expect(await world.exportMail(id, narrow(memoryAccount(source)))).toEqual([]);
}

/** The messages in the finished files, as `folder in the archive: subject`, in order. */
async function saved(id: string): Promise<string[]> {
  const all: string[] = [];
  for (const file of await world.files(id)) {
    const manifest = (await run('bsdtar', ['-xOf', file, 'manifest.jsonl'])).toString();
    for (const line of manifest.split('\n').filter((each) => each !== '')) {
      const { type, path, sha256 } = JSON.parse(line) as Record<'type' | 'path' | 'sha256', string>;
      if (type !== 'message') continue;
      const bytes = await run('bsdtar', ['-xOf', file, path.replaceAll(/[[\]*?\\]/g, String.raw`\$&`)]);
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      all.push(`${dirname(path).replace('mail/', '')}: ${/^Subject: (.*)\r$/m.exec(bytes.toString())?.[1]}`);
    }
  }
  return all.toSorted();
}

const lines = (folder: string, word: string, from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `${folder}: ${word} ${from + n}`);

test('a source whose disk is away, and that shows an empty account in place of it, is waited for', async () => {
  const before = mailbox('INBOX', 7n, 7);
  const id = await begun([before], 5);
  const away = world.exportMail(id, narrow(memoryAccount([mailbox('INBOX', 8n, 0)])));
  await expect(away).rejects.toMatchObject({ fault: 'unreachable', account: 'source' });
  await endedWith(id, [before]);
});

test('a mailbox whose new name is no modified UTF-7 has a folder that can be read', needs('bsdtar'), async () => {
  const before = mailbox('Before', 7n, 7);
  const id = await begun([before], 5);
  const odd = [...Buffer.from('É')].map((octet) => String.fromCharCode(0xdc00 + octet)).join('');
  await endedWith(id, [named(`${odd}cole`, before)]);
  expect(await saved(id)).toEqual(lines('École', 'Before', 0, 7));
});

test(
  'an account that keeps all mailboxes below its inbox has folders beside it, renamed ones too',
  needs('bsdtar'),
  async () => {
    const inbox = { ...mailbox('INBOX', 5n, 1), delimiter: '.' };
    const sent = { ...mailbox('INBOX.Sent', 6n, 2), delimiter: '.' };
    const old = { ...mailbox('INBOX.Trips.2019', 7n, 4), delimiter: '.' };
    const id = await begun([inbox, sent, old], 6);
    await endedWith(id, [inbox, sent, named('INBOX.Trips.2020', old)]);
    expect(await saved(id)).toEqual([
      ...lines('INBOX', 'INBOX', 0, 1),
      ...lines('Sent', 'INBOX.Sent', 0, 2),
      ...lines('Trips/2020', 'INBOX.Trips.2019', 0, 4),
    ]);
  },
);

test('a mailbox that is renamed between two runs is exported once, under its new name', needs('bsdtar'), async () => {
  const before = mailbox('Before', 7n, 7);
  const other = mailbox('Other', 8n, 2);
  const id = await begun([before, other], 5);
  await endedWith(id, [named('Now', before), other]);
  expect(await saved(id)).toEqual([...lines('Now', 'Before', 0, 7), ...lines('Other', 'Other', 0, 2)]);
});

test(
  'a mailbox that is renamed while its messages come, and what has arrived in it, is exported once',
  needs('bsdtar'),
  async () => {
    const before = mailbox('Before', 7n, 6);
    const source = [before];
    const account = memoryAccount(source, {
      onFetch: (_path, _uid, reached) => {
        if (reached === 6) source[0] = { ...mailbox('Now', 7n, 7, 'Before') };
      },
    });
    const id = await world.newTransfer();
    expect(await world.exportMail(id, narrow(account))).toEqual([]);
    expect(await saved(id)).toEqual(lines('Now', 'Before', 0, 7));
  },
);

test(
  'a renamed mailbox of which a file is written already keeps the folder that it has there',
  needs('bsdtar'),
  async () => {
    const before = mailbox('Before', 7n, 20);
    const id = await begun([before], 13);
    expect(await world.files(id)).toHaveLength(1);
    await endedWith(id, [named('Now', before), mailbox('Before', 9n, 3, 'New')]);
    expect(await world.files(id)).toHaveLength(3);
    expect(await saved(id)).toEqual(
      [...lines('Before (2)', 'New', 0, 3), ...lines('Before', 'Before', 0, 20)].toSorted(),
    );
  },
);

test('a mailbox and another one that has its old name now are exported once each', needs('bsdtar'), async () => {
  const before = mailbox('Before', 7n, 7);
  const id = await begun([before], 5);
  await endedWith(id, [mailbox('Before', 9n, 3, 'New'), named('Now', before)]);
  expect(await saved(id)).toEqual([...lines('Before', 'New', 0, 3), ...lines('Now', 'Before', 0, 7)]);
});

test('mailboxes that have exchanged their names are exported once each', needs('bsdtar'), async () => {
  const [first, second] = [mailbox('First', 7n, 3), mailbox('Second', 8n, 4)];
  const id = await begun([first, second], 7);
  await endedWith(id, [named('Second', first), named('First', second)]);
  expect(await saved(id)).toEqual([...lines('First', 'Second', 0, 4), ...lines('Second', 'First', 0, 3)]);
});

test(
  'a mailbox that has the name of a deleted one now is exported once, beside what was staged of that',
  needs('bsdtar'),
  async () => {
    const [deleted, renamed] = [mailbox('Deleted', 7n, 3), mailbox('Renamed', 8n, 4)];
    const id = await begun([deleted, renamed], 7);
    await endedWith(id, [named('Deleted', renamed)]);
    expect(await saved(id)).toEqual(
      [
        ...lines('Deleted', 'Deleted', 0, 2),
        ...lines('Deleted', 'Deleted', 2, 3),
        ...lines('Deleted (2)', 'Renamed', 0, 4),
      ].toSorted(),
    );
  },
);

test.each([
  ['with other messages of the same UIDs and dates', mailbox('Now', 7n, 6)],
  [
    'with messages of other dates',
    {
      ...mailbox('Now', 7n, 6),
      messages: mailbox('Now', 7n, 6).messages.map((message) => ({ ...message, internalDate: new Date(0) })),
    },
  ],
])('a mailbox %s is another one, whatever its UIDVALIDITY says', needs('bsdtar'), async (_, now) => {
  const id = await begun([mailbox('Before', 7n, 7)], 5);
  await endedWith(id, [now]);
  expect(await saved(id)).toEqual([...lines('Before', 'Before', 0, 4), ...lines('Now', 'Now', 0, 6)]);
});

test(
  'a copy of a mailbox that is still there is exported as well, in a folder of its own',
  needs('bsdtar'),
  async () => {
    const before = mailbox('Before', 7n, 20);
    const id = await begun([before], 13);
    expect(await world.files(id)).toHaveLength(1);
    await endedWith(id, [named('A copy', before), before]);
    expect(await saved(id)).toEqual(
      [...lines('A copy', 'Before', 0, 20), ...lines('Before', 'Before', 0, 20)].toSorted(),
    );
  },
);
