import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Stopped } from '../../src/server/stopped.ts';
import { openLog } from '../../src/server/log.ts';
import { DiskFullError } from '../../src/server/export/disk/disk-room.ts';
import type { ContactReader } from '../../src/server/contacts/contact-store.ts';
import { ExportPaused, stageContacts } from '../../src/server/export/export.job.ts';
import { removeUnfinishedExport } from '../../src/server/export/download/sweeper.ts';
import { StoreError } from '../../src/server/export/storage/export-store.ts';
import { fenced } from '../../src/server/export/staging/fenced.ts';
import { openStagedMessages } from '../../src/server/export/staging/staged-messages.ts';
import { LeaseLost, type Lease } from '../../src/server/transfers/lease.ts';
import { SpoolError } from '../../src/server/export/disk/spool.ts';
import { openFolderStore } from '../../src/server/export/storage/folder-store.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import { person } from '../support/contact-samples.ts';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { digestsOf, memoryAccount, narrow, type MemoryMailbox } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';

const LIMITS = { batchMessages: 4, partMessages: 20 };

let world: ExportWorld;
beforeAll(async () => {
  world = await openExportWorld({ limits: LIMITS });
});
afterAll(() => world[Symbol.asyncDispose]());

function mailboxes(count = 3, messages = 17): MemoryMailbox[] {
  return Array.from({ length: count }, (_, at) => ({
    path: `Folder ${at}`,
    uidValidity: 7n,
    messages: Array.from({ length: messages }, (_, n) => ({
      uid: n + 1,
      bytes: Buffer.from(`Subject: ${at}.${n}\r\n\r\n${'body '.repeat(n)}\r\n`),
      flags: [],
      internalDate: new Date(Date.UTC(2020, at, n + 1)),
    })),
  }));
}

/** The digests of all messages in the finished files, as bsdtar unpacks them. */
async function digestsIn(transferId: string): Promise<string[]> {
  const digests: string[] = [];
  for (const file of await world.files(transferId)) {
    const folder = await mkdtemp(join(tmpdir(), 'part-'));
    await run('bsdtar', ['-xf', file, '-C', folder]);
    for (const name of await readdir(folder, { recursive: true }))
      if (name.endsWith('.eml'))
        digests.push(
          createHash('sha256')
            .update(await readFile(join(folder, name)))
            .digest('hex'),
        );
    await rm(folder, { recursive: true });
  }
  return digests.toSorted();
}

const stopAt = (count: number, stop: AbortController) => (_path: string, _uid: number, reached: number) => {
  if (reached === count) stop.abort();
};

const offered = async (transferId: string) =>
  (await world.database.query('select 1 from exports where transfer_id = $1 and finished is not null', [transferId]))
    .length > 0;

/** Every entry below the exports' folder. */
const everything = async () => (await readdir(world.root, { recursive: true })).toSorted();

test('a run that was stopped anywhere goes on without fetching what it has', needs('bsdtar'), async () => {
  const source = mailboxes();
  for (const count of [1, 5, 18, 33, 51]) {
    const id = await world.newTransfer();
    const stop = new AbortController();
    const first = memoryAccount(source, { onFetch: stopAt(count, stop) });
    await expect(world.exportMail(id, narrow(first), { signal: stop.signal })).rejects.toThrow(Stopped);
    expect(await offered(id)).toBe(false);
    const second = memoryAccount(source);
    await world.exportMail(id, second);
    expect(await digestsIn(id)).toEqual(digestsOf(source));
    const twice = second.fetched.filter((message) => first.fetched.includes(message));
    expect(twice.length).toBeLessThanOrEqual(LIMITS.batchMessages);
    expect(second.fetched.length + first.fetched.length - twice.length).toBe(51);
  }
});

test('a lost connection costs nothing that was handed out before', needs('bsdtar'), async () => {
  const source = mailboxes();
  const drops = new Set<number>();
  const account = memoryAccount(source, {
    onFetch: (_path, _uid, count) => {
      if (count % 7 === 0 && !drops.has(count)) {
        drops.add(count);
        throw new MailError('lost', 'The connection ended.');
      }
    },
  });
  const id = await world.newTransfer();
  await world.exportMail(id, account);
  expect(drops.size).toBe(7);
  expect(account.fetched).toHaveLength(51);
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test('what arrives during the export is in it, and what is deleted does not stop it', needs('bsdtar'), async () => {
  const source = mailboxes(2, 6);
  const late = { uid: 99, bytes: Buffer.from('Subject: late\r\n\r\n'), flags: [], internalDate: new Date(0) };
  const gone = source[1]?.messages[5];
  const account = memoryAccount(source, {
    onFetch: (_path, _uid, count) => {
      if (count !== 3) return;
      source[0]?.messages.push(late);
      source[1]?.messages.pop();
    },
  });
  const id = await world.newTransfer();
  expect(await world.exportMail(id, account)).toEqual([]);
  expect(gone).toBeDefined();
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test('a mailbox that is numbered anew between two runs is exported once', needs('bsdtar'), async () => {
  const source = mailboxes(1, 16);
  const stop = new AbortController();
  const first = memoryAccount(source, { onFetch: stopAt(9, stop) });
  const id = await world.newTransfer();
  await expect(world.exportMail(id, first, { signal: stop.signal })).rejects.toThrow(Stopped);
  const renumbered = source.map((mailbox) => ({
    ...mailbox,
    uidValidity: 8n,
    messages: mailbox.messages.map((message) => ({ ...message, uid: message.uid + 1000 })),
  }));
  await world.exportMail(id, memoryAccount(renumbered));
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test(
  'a mailbox that can not be opened, and one that lists less than it counts, are named, and the rest is exported',
  needs('bsdtar'),
  async () => {
    const source = mailboxes(3, 5);
    const account = memoryAccount(source, {
      closed: (path) => path === 'Folder 0',
      unlisted: (path) => (path === 'Folder 1' ? 2 : 0),
    });
    const id = await world.newTransfer();
    expect(await world.exportMail(id, account)).toEqual([
      { mailbox: 'Folder 0', reason: 'The mail server does not let us read this folder.' },
      {
        mailbox: 'Folder 1',
        reason: 'The mail server counts more messages in this folder than it hands out.',
      },
    ]);
    expect(await digestsIn(id)).toEqual(digestsOf(source.slice(1)));
    const readme = await run('bsdtar', ['-xOf', (await world.files(id)).at(-1) ?? '', 'README.txt']);
    expect(readme.toString()).toContain('2 folders could not be exported, or not all of it.');
  },
);

test.each([
  ['at which its server hangs up each time', new MailError('lost', 'The mail server closed the connection.')],
  ['that is always said to be in trouble', new MailError('busy', 'Something is wrong.', { responseCode: 'SERVERBUG' })],
  ['of which is said what is said of accounts', new MailError('credentials', 'Not for you.')],
])('a mailbox %s is named, and the rest is exported', needs('bsdtar'), async (_, trouble) => {
  const source = mailboxes(3, 5);
  for (const path of ['Folder 0', 'Folder 2']) {
    const account = memoryAccount(source, { inTrouble: (each) => (each === path ? trouble : undefined) });
    const id = await world.newTransfer();
    expect(await world.exportMail(id, account)).toEqual([
      { mailbox: path, reason: 'The mail server does not let us read this folder.' },
    ]);
    expect(await digestsIn(id)).toEqual(digestsOf(source.filter((each) => each.path !== path)));
  }
});

test(
  'a mailbox at which its server hangs up once it has been listed keeps none of the others back, and its messages are named',
  needs('bsdtar'),
  async () => {
    const source = mailboxes(3, 9);
    const lost = new MailError('lost', 'The mail server closed the connection.');
    for (const path of ['Folder 0', 'Folder 2']) {
      let asked = 0;
      const account = memoryAccount(source, {
        inTrouble: (each, isListed) => {
          if (isListed || each !== path) return undefined;
          asked += 1;
          return lost;
        },
      });
      const id = await world.newTransfer();
      const skipped = await world.exportMail(id, account);
      expect(skipped).toHaveLength(9);
      expect(new Set(skipped.map(({ mailbox }) => mailbox))).toEqual(new Set([path]));
      expect(await digestsIn(id)).toEqual(digestsOf(source.filter((each) => each.path !== path)));
      expect(asked).toBeLessThan(12);
    }
  },
);

test(
  'a mailbox at which its server hangs up each time, listed or not, is waited for as a copy waits for it',
  needs('bsdtar'),
  async () => {
    const lost = new MailError('lost', 'The mail server closed the connection.');
    for (const isListed of [false, true]) {
      const account = memoryAccount(mailboxes(3, 5), {
        inTrouble: (path, isListing) => (path === 'Folder 1' && !(isListed && isListing) ? lost : undefined),
      });
      const id = await world.newTransfer();
      for (const [troubleWaits, pause] of [5000, 15_000, 60_000, 180_000, 900_000, 3_600_000].entries())
        await expect(world.exportMail(id, account, { troubleWaits, refusalWaits: 0 })).rejects.toMatchObject({
          pause,
          waited: 'troubleWaits',
        });
      await expect(world.exportMail(id, account, { troubleWaits: 6, refusalWaits: 0 })).rejects.toMatchObject({
        waited: 'refusalWaits',
      });
    }
  },
);

test(
  'a message that the server refuses to hand out is named, and those around it are exported',
  needs('bsdtar'),
  async () => {
    const source = mailboxes(1, 10);
    const account = memoryAccount(source, {
      onFetch: (_path, uid) => {
        if (uid === 5) throw new MailError('refused', 'The server says NO.');
      },
      withheld: (_path, uid) => uid === 8,
    });
    const id = await world.newTransfer();
    const skipped = await world.exportMail(id, account);
    expect(skipped).toHaveLength(2);
    expect(skipped[0]).toMatchObject({ mailbox: 'Folder 0' });
    const readme = await run('bsdtar', ['-xOf', (await world.files(id)).at(-1) ?? '', 'README.txt']);
    expect(readme.toString()).toContain('2 messages could not be exported. Your status page says which and why.');
    const readable = source.map((mailbox) => ({
      ...mailbox,
      messages: mailbox.messages.filter(({ uid }) => uid !== 5 && uid !== 8),
    }));
    expect(await digestsIn(id)).toEqual(digestsOf(readable));
  },
);

test(
  'what a server refuses without a reason is waited for, four minutes in all, before it is named',
  needs('bsdtar'),
  async () => {
    const source = mailboxes(3, 5);
    let isWell = false;
    const account = memoryAccount(source, {
      closed: (path) => !isWell && path === 'Folder 0',
      withheld: (path, uid) => !isWell && path === 'Folder 1' && uid === 3,
    });
    for (const passes of [true, false]) {
      isWell = false;
      const id = await world.newTransfer();
      for (const [refusalWaits, pause] of [5000, 15_000, 60_000, 180_000].entries())
        await expect(world.exportMail(id, account, { refusalWaits })).rejects.toMatchObject({
          fault: 'busy',
          pause,
        });
      isWell = passes;
      const skipped = await world.exportMail(id, account, { refusalWaits: 4 });
      const told = skipped.map(({ mailbox }) => mailbox);
      const there = (await digestsIn(id)).length;
      expect({ told, there }).toEqual(passes ? { told: [], there: 15 } : { told: ['Folder 0', 'Folder 1'], there: 9 });
    }
  },
);

/** Stages so many messages. */
async function stoppedAt(id: string, source: MemoryMailbox[], count: number): Promise<void> {
  const stop = new AbortController();
  const account = narrow(memoryAccount(source, { onFetch: stopAt(count, stop) }));
  await expect(world.exportMail(id, account, { signal: stop.signal })).rejects.toThrow(Stopped);
}

test.each([
  ['at once', 'SERVERBUG'],
  ['once it has been listed', 'INUSE'],
  ['under another name', 'UNAVAILABLE'],
])(
  'a mailbox that its server is in trouble with %s keeps no other mail back, and is not exported twice: %s',
  needs('bsdtar'),
  async (since, responseCode) => {
    for (const passes of [true, false]) {
      const source = mailboxes(3, 5);
      const id = await world.newTransfer();
      let isWell = false;
      let opened = 0;
      const account = memoryAccount(source, {
        inTrouble: (path) => {
          if (isWell || path !== source[1]?.path) return undefined;
          opened += 1;
          return since === 'once it has been listed' && opened === 1
            ? undefined
            : new MailError('busy', 'The mailbox is in trouble.', { responseCode });
        },
      });
      if (since === 'under another name') {
        await stoppedAt(id, source, 11);
        source[1] = { ...(source[1] as MemoryMailbox), path: 'Another name' };
      }
      await expect(world.exportMail(id, narrow(account), { refusalWaits: 0 })).rejects.toMatchObject({
        fault: 'busy',
        pause: 5000,
      });
      isWell = passes;
      const skipped = await world.exportMail(id, narrow(account), { refusalWaits: 4 });
      expect(new Set(skipped.map(({ mailbox }) => mailbox))).toEqual(new Set(passes ? [] : [source[1]?.path]));
      const there = await digestsIn(id);
      expect(there.toSorted()).toEqual(
        digestsOf(source.filter((_, at) => passes || at !== 1 || since === 'under another name')).toSorted(),
      );
    }
  },
);

test('the files tell how many messages they lack, however many', needs('bsdtar'), async () => {
  const source = mailboxes(1, 1300);
  const account = memoryAccount(source, { withheld: (_path, uid) => uid > 100 });
  await using world = await openExportWorld();
  const id = await world.newTransfer();
  await world.exportContacts(id, []);
  await world.exportMail(id, account);
  const readme = await run('bsdtar', ['-xOf', (await world.files(id)).at(-1) ?? '', 'README.txt']);
  expect(readme.toString()).toContain('1,200 messages could not be exported.');
});

test('a contact that is changed while it is read is exported once, as it is by then', needs('bsdtar'), async () => {
  const ada = person('c1', 'Ada Lovelace', ['ada@example.com'], ['+1 650 555 0100']);
  const changed = person('c1', 'Ada Lovelace', ['ada@example.com'], ['+1 650 555 0199']);
  const id = await world.newTransfer();
  // As the reader gives them, when its last look has found the card changed.
  await world.exportContacts(id, [ada, person('c2', 'Grace Hopper', ['grace@example.com']), changed]);
  await world.exportMail(id, memoryAccount(mailboxes(1, 1)));
  const [file = ''] = await world.files(id);
  const inside = async (name: string) => (await run('bsdtar', ['-xOf', file, name])).toString();
  expect(await inside('README.txt')).toContain('2 contacts.');
  const cards = await inside('contacts/contacts.vcf');
  expect(cards.match(/^FN:.*(?=\r)/gm)).toEqual(['FN:Ada Lovelace', 'FN:Grace Hopper']);
  expect(cards.match(/^TEL.*(?=\r)/gm)).toEqual([expect.stringContaining('0199')]);
});

test('contacts that can not be read keep no export waiting, whatever their files are called', async () => {
  const id = await world.newTransfer();
  const reader: ContactReader = {
    survey: async () => ({ total: 1, uids: new Set() }),
    async *contacts() {
      yield {
        kind: 'skipped',
        id: 'x',
        skipped: { mailbox: 'Contacts', reason: 'We cannot read this contact card.', subject: 'nul \0.vcf' },
      };
    },
  };
  const staged = await stageContacts(world.services, {
    transferId: id,
    lease: { transferId: id, epoch: 0 },
    reader,
    signal: new AbortController().signal,
    onProgress: () => {},
  });
  expect(staged.skipped.map(({ subject }) => subject)).toEqual(['nul  .vcf']);
});

test(
  'a message at which the server hangs up each time is named, and those around it are exported',
  needs('bsdtar'),
  async () => {
    const silent = new MailError('lost', 'The connection ended.');
    const goodbye = new MailError('lost', 'Bye', { cause: Object.assign(new Error('BYE'), { responseStatus: 'BYE' }) });
    const ways: readonly (readonly [readonly number[], MailError])[] = [
      [[5], silent],
      [[1, 10], silent],
      [[3, 4], silent],
      [[3, 10], goodbye],
    ];
    for (const [broken, hangsUp] of ways) {
      const source = mailboxes(2, 10);
      const account = memoryAccount(source, {
        onFetch: (path, uid) => {
          if (path === 'Folder 0' && broken.includes(uid)) throw hangsUp;
        },
      });
      const id = await world.newTransfer();
      const skipped = await world.exportMail(id, account);
      expect(skipped.map(({ mailbox }) => mailbox)).toEqual(broken.map(() => 'Folder 0'));
      const readable = source.map((mailbox) => ({
        ...mailbox,
        messages: mailbox.messages.filter(({ uid }) => mailbox.path !== 'Folder 0' || !broken.includes(uid)),
      }));
      expect(await digestsIn(id)).toEqual(digestsOf(readable));
    }
  },
);

test(
  'a message at which the server says goodbye keeps the end waiting for some minutes, not for as long as an outage',
  needs('bsdtar'),
  async () => {
    const goodbye = new MailError('lost', 'Bye', { cause: Object.assign(new Error('BYE'), { responseStatus: 'BYE' }) });
    const account = memoryAccount(mailboxes(2, 10), {
      onFetch: (path, uid) => {
        if (path === 'Folder 0' && uid === 5) throw goodbye;
      },
    });
    const id = await world.newTransfer();
    for (const [refusalWaits, pause] of [5000, 15_000, 60_000, 180_000].entries())
      await expect(world.exportMail(id, account, { troubleWaits: 0, refusalWaits })).rejects.toMatchObject({
        pause,
        waited: 'refusalWaits',
      });
    expect(await world.exportMail(id, account, { troubleWaits: 0, refusalWaits: 4 })).toHaveLength(1);
  },
);

test('staged messages that were damaged or lost are fetched again', needs('bsdtar'), async () => {
  const source = mailboxes();
  for (const [damage, said] of [
    [(file: string) => rm(file), /are not in this DATA_DIR/],
    [(file: string) => truncate(file, 100), /are damaged/],
    [async (file: string) => writeFile(file, Buffer.alloc((await stat(file)).size)), /are damaged/],
  ] as const) {
    const id = await world.newTransfer();
    const stop = new AbortController();
    const first = memoryAccount(source, { onFetch: stopAt(15, stop) });
    await expect(world.exportMail(id, first, { signal: stop.signal })).rejects.toThrow(Stopped);
    const segments = (await everything()).filter((name) => name.endsWith('.segment'));
    expect(segments.length).toBeGreaterThan(0);
    for (const segment of segments) await damage(join(world.root, segment));
    const lines: string[] = [];
    const log = openLog('warn', { write: (line) => void lines.push(line) });
    await world.exportMail(id, memoryAccount(source), { services: { ...world.services, log } });
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual([expect.stringMatching(said)]);
    expect(await digestsIn(id)).toEqual(digestsOf(source));
  }
});

const unreachable = () => Promise.reject(new StoreError('The bucket does not answer.'));

test(
  'files whose messages were lost on the way and fetched again tell their numbers without a gap',
  needs('bsdtar'),
  async () => {
    for (const source of [mailboxes(1, 10), mailboxes()]) {
      const id = await world.newTransfer();
      // All is settled, and the machine is gone on which it is staged.
      const services = { ...world.services, exports: { ...openFolderStore(world.root), put: unreachable } };
      await expect(world.exportMail(id, memoryAccount(source), { services })).rejects.toThrow(ExportPaused);
      for (const name of await everything()) if (name.endsWith('.segment')) await rm(join(world.root, name));
      await world.exportMail(id, memoryAccount(source));
      expect(await digestsIn(id)).toEqual(digestsOf(source));
      const files = await world.files(id);
      const told: (string | undefined)[] = [];
      for (const file of files)
        told.push(/This is part \d+/.exec(String(await run('bsdtar', ['-xOf', file, 'README.txt'])))?.[0]);
      expect(told).toEqual(files.length === 1 ? [undefined] : files.map((_file, at) => `This is part ${at + 1}`));
    }
  },
);

test('a disk that loses again and again what is staged is waited for', needs('bsdtar'), async () => {
  const source = mailboxes();
  const id = await world.newTransfer();
  let tries = 0;
  const put = () => {
    tries += 1;
    return Promise.reject(new SpoolError('A segment of the staged messages can not be read.'));
  };
  const services = { ...world.services, exports: { ...openFolderStore(world.root), put } };
  await expect(world.exportMail(id, memoryAccount(source), { services })).rejects.toThrow(ExportPaused);
  expect(tries).toBe(3);
  await world.exportMail(id, memoryAccount(source));
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test('nothing is left behind but the finished files', async () => {
  await using world = await openExportWorld({ limits: LIMITS });
  const id = await world.newTransfer();
  await world.exportMail(id, memoryAccount(mailboxes()));
  const files = (await world.files(id)).map((file) => basename(file));
  expect(files.length).toBeGreaterThan(1);
  const [first = ''] = await world.files(id);
  expect((await readdir(dirname(first))).toSorted()).toEqual(files.toSorted());
  expect(await readdir(join(world.root, '.staging'))).toEqual([]);
  const [rows] = await world.database.query<{ count: number }>(
    'select count(*)::integer as count from export_messages',
  );
  expect(rows?.count).toBe(0);
});

test.each(['while it fetches', 'while the last part is stored'])(
  'what a run leaves that is killed %s takes no room from the next one',
  needs('bsdtar'),
  async (when) => {
    const source = mailboxes();
    const inner = openFolderStore(world.root);
    const id = await world.newTransfer();
    const stop = new AbortController();
    const first = memoryAccount(source, when === 'while it fetches' ? { onFetch: stopAt(15, stop) } : {});
    const killed = { ...inner, put: (): Promise<void> => Promise.reject(new Stopped('It is killed.')) };
    const services = { ...world.services, exports: killed };
    await expect(world.exportMail(id, first, { signal: stop.signal, services })).rejects.toThrow(Stopped);
    const [row] = await world.database.query<{ name: string }>('select name from exports where transfer_id = $1', [id]);
    const folder = join(inner.staging, row?.name ?? '');
    const left = async () => (await readdir(folder)).filter((name) => name.startsWith('half'));
    for (const name of ['half-1.zip', 'half-2.zip']) await writeFile(join(folder, name), 'the half of an archive');
    expect(await left()).toHaveLength(2);

    const full = { ...world.services, limits: { ...LIMITS, diskReserve: Number.MAX_SAFE_INTEGER } };
    await expect(world.exportMail(id, memoryAccount(source), { services: full })).rejects.toThrow(ExportPaused);
    expect(await left()).toEqual([]);
    await world.exportMail(id, memoryAccount(source));
    expect(await digestsIn(id)).toEqual(digestsOf(source));
  },
);

test('the log names each disk that an export may need room on, and how much it leaves free', async () => {
  const id = await world.newTransfer();
  const lines: string[] = [];
  const log = openLog('error', { write: (line: string) => void lines.push(line) });
  const limits = { ...LIMITS, diskReserve: 2 ** 50 };
  const services = { ...world.services, log, limits };
  await expect(world.exportMail(id, memoryAccount(mailboxes()), { services })).rejects.toThrow(ExportPaused);
  expect(lines.map((line) => JSON.parse(line) as unknown)).toMatchObject([
    {
      transferId: id,
      megabytes: 2 ** 30,
      msg: expect.stringMatching(/^an export is paused: .* DATA_DIR, of EXPORTS_URL or of the database/) as string,
    },
  ]);
});

/** Another worker takes the transfer, or its owner has it stopped. @returns the lease that is good since */
async function takeOver(transferId: string): Promise<Lease> {
  const [row] = await world.database.query<{ epoch: number }>(
    'update transfers set epoch = epoch + 1 where id = $1 returning epoch',
    [transferId],
  );
  return { transferId, epoch: row?.epoch ?? 0 };
}

test('an export that was not wanted any more while a part was stored leaves nothing where exports lie', async () => {
  const inner = openFolderStore(world.root);
  const id = await world.newTransfer();
  let gone = '';
  const exports: typeof inner = {
    ...inner,
    put: async (exportName, ...file) => {
      gone = exportName;
      // Its owner has stopped it, and this worker has been asleep.
      await takeOver(id);
      await removeUnfinishedExport({ ...world.services, exports: inner }, id);
      await mkdir(dirname(file[1]), { recursive: true });
      await writeFile(file[1], 'the archive');
      await inner.put(exportName, ...file);
    },
  };
  const services = { ...world.services, exports };
  await expect(world.exportMail(id, memoryAccount(mailboxes()), { services })).rejects.toThrow(LeaseLost);
  expect(gone).not.toBe('');
  expect(await readdir(join(world.root, gone))).toEqual([]);
});

test('a worker that was frozen changes nothing once another one has the export', needs('bsdtar'), async () => {
  const source = mailboxes();
  const id = await world.newTransfer();
  const stop = new AbortController();
  const first = memoryAccount(source, { onFetch: stopAt(30, stop) });
  await expect(world.exportMail(id, first, { signal: stop.signal })).rejects.toThrow(Stopped);
  const noted = () =>
    world.database.query<{ part: number | null }>(
      `select part from export_messages where export_id in (select id from exports where transfer_id = $1)`,
      [id],
    );
  const before = await noted();
  const staged = (await everything()).filter((name) => name.endsWith('.segment'));
  const lease = await takeOver(id);
  const frozen = memoryAccount(source);
  await expect(world.exportMail(id, frozen)).rejects.toThrow(LeaseLost);
  expect(await noted()).toEqual(before);
  expect((await everything()).filter((name) => name.endsWith('.segment'))).toEqual(staged);

  // What it finds damaged, because the other one has written it and swept it, it does not forget.
  const [row] = await world.database.query<{ id: number }>(
    'select id::float8 as id from exports where transfer_id = $1',
    [id],
  );
  const ledgers = [0, lease.epoch].map((epoch) =>
    openStagedMessages(fenced(world.database, { transferId: id, epoch }), row?.id ?? 0),
  );
  const [old] = ledgers;
  if (old === undefined) throw new Error('There is no ledger.');
  await expect(old.forget(1)).rejects.toThrow(LeaseLost);
  await expect(old.seal()).rejects.toThrow(LeaseLost);
  await expect(old.segments()).rejects.toThrow(LeaseLost);
  const part = { part: 9, name: 'part-9.zip', size: 1, sha256: '', pieces: Buffer.alloc(4) };
  await expect(old.written(part)).rejects.toThrow(LeaseLost);
  await expect(old.finish(new Date(0), new Date(1))).rejects.toThrow(LeaseLost);
  expect(await noted()).toEqual(before);

  await world.exportMail(id, memoryAccount(source), { lease });
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test('a stored part that nobody had noted when its worker died is not kept', async () => {
  const source = mailboxes();
  const id = await world.newTransfer();
  const inner = openFolderStore(world.root);
  const dying = {
    ...inner,
    put: async (...file: Parameters<typeof inner.put>) => {
      await inner.put(...file);
      throw new Error('The database is gone.');
    },
  };
  const services = { ...world.services, exports: dying };
  await expect(world.exportMail(id, memoryAccount(source), { services })).rejects.toThrow('The database is gone.');
  await world.exportMail(id, memoryAccount(source));
  const files = await world.files(id);
  expect(await readdir(dirname(files[0] ?? ''))).toEqual(files.map((file) => basename(file)).toSorted());
});

test.each(['before', 'after'])(
  'a worker that was frozen %s it asked what is wanted leaves all that its successor has stored',
  async (when) => {
    const source = mailboxes();
    const id = await world.newTransfer();
    const stop = new AbortController();
    const first = memoryAccount(source, { onFetch: stopAt(15, stop) });
    await expect(world.exportMail(id, first, { signal: stop.signal })).rejects.toThrow(Stopped);
    const inner = openFolderStore(world.root);
    let isFrozen = false;
    const takesOver = async () => {
      if (isFrozen) return;
      isFrozen = true;
      await world.exportMail(id, memoryAccount(source), { lease: await takeOver(id) });
    };
    const exports: typeof inner = {
      ...inner,
      prune: async (exportName, kept, signal) => {
        // Something is there that nobody wants.
        await mkdir(join(world.root, exportName), { recursive: true });
        await writeFile(join(world.root, exportName, 'part-9-dead.zip'), 'of a worker that died');
        await inner.prune(
          exportName,
          async () => {
            if (when === 'before') await takesOver();
            const wanted = await kept();
            if (when === 'after') await takesOver();
            return wanted;
          },
          signal,
        );
      },
    };
    const services = { ...world.services, exports };
    await expect(world.exportMail(id, memoryAccount(source), { services })).rejects.toThrow(LeaseLost);
    expect(isFrozen).toBe(true);
    const files = (await world.files(id)).map((file) => basename(file)).toSorted();
    const [file = ''] = await world.files(id);
    expect((await readdir(dirname(file))).toSorted()).toEqual(files);
  },
);

test('a place that can not be used pauses the export, which goes on when it can be', needs('bsdtar'), async () => {
  const source = mailboxes();
  const id = await world.newTransfer();
  const inner = openFolderStore(world.root);
  const refusing = {
    ...inner,
    put: (): Promise<void> => Promise.reject(new StoreError('The bucket is away.')),
  };
  const services = { ...world.services, exports: refusing };
  await expect(world.exportMail(id, memoryAccount(source), { services })).rejects.toThrow(ExportPaused);
  await world.exportMail(id, memoryAccount(source));
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test('a mailbox that is deleted just before it is read keeps no other mail back', needs('bsdtar'), async () => {
  const source = mailboxes();
  const account = memoryAccount(source);
  const { reader: open } = account.source;
  const gone = source[1];
  let opened = 0;
  const reader = async () => {
    const inner = await open();
    return {
      ...inner,
      open: async (path: string) => {
        if (path === gone?.path && (opened += 1) === 2) source.splice(1, 1);
        return inner.open(path);
      },
    };
  };
  const id = await world.newTransfer();
  await world.exportMail(id, { ...account, source: { ...account.source, reader } });
  expect(await digestsIn(id)).toEqual(digestsOf(source.filter((mailbox) => mailbox !== gone)));
});

test('a full disk pauses the export at any moment, and it goes on when there is room', needs('bsdtar'), async () => {
  const source = mailboxes();
  const inner = openFolderStore(world.root);
  let puts = 0;
  const full = {
    ...inner,
    put: async (...given: Parameters<typeof inner.put>) => {
      puts += 1;
      if (puts === 2) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
      await inner.put(...given);
    },
  };
  const services = { ...world.services, exports: full };
  const id = await world.newTransfer();
  await expect(world.exportMail(id, memoryAccount(source), { services })).rejects.toThrow(ExportPaused);
  expect(await offered(id)).toBe(false);
  expect(await world.files(id)).toHaveLength(1);
  await world.exportMail(id, memoryAccount(source), { services });
  expect(await digestsIn(id)).toEqual(digestsOf(source));
});

test('an export is not begun with less room than the reserve', async () => {
  const services = { ...world.services, limits: { diskReserve: Number.MAX_SAFE_INTEGER } };
  const id = await world.newTransfer();
  const account = memoryAccount(mailboxes());
  const failed = await world.exportMail(id, account, { services }).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(ExportPaused);
  expect((failed as Error).cause).toBeInstanceOf(DiskFullError);
  expect(account.fetched).toEqual([]);
});
