import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import PostalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { claimRoom, DiskFullError, requireRoom } from '../../src/server/export/disk/disk-room.ts';
import { ExportPaused } from '../../src/server/export/export.job.ts';
import { sampleOf } from '../folders.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import type { ExportedFiles, ExportProcess } from '../support/export-process.ts';
import { openExportWorld } from '../support/export-world.ts';
import { FRESH, layFreshDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter, ODD_LETTERS } from '../support/mail-letters.ts';
import { digestsOf, memoryAccount } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { startRadicale, type Radicale } from '../support/radicale.ts';
import { run } from '../support/run.ts';
import { mountSmallDisk } from '../support/small-disk.ts';
import { mailUntil, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const PROCESS = join(import.meta.dirname, '../support/export-process.ts');
const COMBINATIONS = [
  ['eml', 'csv'],
  ['eml', 'vcf'],
  ['mbox', 'csv'],
  ['mbox', 'vcf'],
] as const;
const CONTACTS = ['Ada Lovelace', 'Grace Hopper'];

type Manifest = { type: string; path: string; sha256: string; name: string }[];

async function unpacked(archive: string, folder: string): Promise<Manifest> {
  await mkdir(folder, { recursive: true });
  await run('unzip', ['-q', archive, '-d', folder]);
  await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: folder });
  const lines = (await readFile(join(folder, 'manifest.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Manifest[number]);
}

const digests = (manifest: Manifest) =>
  manifest.flatMap(({ type, sha256 }) => (type === 'message' ? [sha256] : [])).toSorted();

describe(
  'an export from a Dovecot and a CardDAV server',
  { ...needs('dovecot', 'radicale', 'unzip'), timeout: 180_000 },
  () => {
    let source: Dovecot;
    let contacts: Radicale;
    let folder: string;
    let expected: string[];

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'export-transfer-'));
      source = await startDovecot();
      contacts = await startRadicale([SUBSCRIBER], () => DOVECOT_PASSWORD);
      const book = await contacts.makeBook(SUBSCRIBER, 'friends');
      for (const [at, name] of CONTACTS.entries())
        await contacts.put(
          book,
          SUBSCRIBER,
          `${at}.vcf`,
          `BEGIN:VCARD\r\nVERSION:3.0\r\nUID:c${at}\r\nFN:${name}\r\nN:${name};;;;\r\nEND:VCARD\r\n`,
        );
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      await mail.append('INBOX', [
        ...Array.from({ length: 150 }, (_, index) => letter(index)),
        ...ODD_LETTERS,
        letter(3),
      ]);
      for (const mailbox of ['Family/Letters', 'family', 'Gr&APwA3w-e']) await mail.create(mailbox);
      await mail.append(
        'Family/Letters',
        Array.from({ length: 20 }, (_, index) => letter(500 + index, 5000)),
      );
      await mail.append('Gr&APwA3w-e', [letter(900)]);
      const found = [];
      for (const mailbox of await mail.mailboxes()) found.push(...(await mail.read(mailbox)));
      expected = found.map(({ sha256 }) => sha256).toSorted();
    });
    afterAll(async () => {
      await source[Symbol.asyncDispose]();
      await contacts[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    const environment = (name: string) => ({
      LEGACY_IMAP_URL: source.url,
      LEGACY_CARDDAV_URL: `${contacts.url}{email}/`,
      TRUSTED_MAIL_HOSTS: `127.0.0.1,${new URL(contacts.url).host}`,
      DATA_DIR: join(folder, name),
    });

    test('loses, doubles and changes nothing, in each combination of formats', { tags: 'sampled' }, async () => {
      await using world = await openWorld(FRESH, environment('combinations'));
      for (const [emailFormat, contactsFormat] of sampleOf(COMBINATIONS, 3)) {
        const { id } = await world.transfers.start(
          order({
            destination: { email: 'me@example.com', provider: 'file_export' },
            operations: ['emailmigration', 'contactsmigration'],
            emailFormat,
            contactsFormat,
          }),
        );
        const seen = new Set<string>();
        const offered = new Set<number>();
        let status: TransferStatus | null = null;
        for (const late = Date.now() + 40_000; Date.now() < late; await wait(50)) {
          status = await world.transfers.status(id);
          for (const progress of [status?.emailmigration, status?.contactsmigration]) {
            seen.add(progress?.status ?? '');
            // The files are there as soon as the status says that the export is complete.
            if (progress?.status === 'completed') offered.add(status?.exports?.length ?? 0);
          }
          if (status?.emailmigration?.finished !== undefined && status.contactsmigration?.finished !== undefined) break;
        }
        expect([...seen].toSorted()).toEqual(['completed', 'started']);
        expect([...offered]).toEqual([1]);
        expect(status?.emailmigration).toMatchObject({
          status: 'completed',
          done: expected.length,
          total: expected.length,
          lost: 0,
          duplicated: 0,
          changed: 0,
          skipped: [],
        });
        expect(status?.contactsmigration).toMatchObject({ status: 'completed', done: 2, total: 2 });

        const [file] = status?.exports ?? [];
        const [, exportName = '', name = ''] = /exports\/([^/]+)\/([^?]+)/.exec(file?.url ?? '') ?? [];
        const archive = join(folder, 'combinations/exports', exportName, name);
        expect(
          createHash('sha256')
            .update(await readFile(archive))
            .digest('hex'),
        ).toBe(file?.sha256);
        const place = join(folder, `${emailFormat}-${contactsFormat}`);
        const manifest = await unpacked(archive, place);
        expect(digests(manifest)).toEqual(expected);
        const paths = new Set(manifest.map(({ path }) => path));
        expect(paths).toContain(contactsFormat === 'csv' ? 'contacts/google.csv' : 'contacts/contacts.vcf');
        expect([...paths].some((path) => path.startsWith('mail/Grüße') && path.endsWith(`.${emailFormat}`))).toBe(true);
        for (const path of [...paths].filter((each) => each.startsWith('contacts/')))
          for (const contact of CONTACTS)
            expect(await readFile(join(place, path), 'utf8')).toContain(contact.split(' ')[0]);
      }
    });

    test('writes to its owner where the files are, when they are there', { tags: 'proof' }, async () => {
      const letters: string[] = [];
      const smtp = new SMTPServer({
        disabledCommands: ['AUTH', 'STARTTLS'],
        onData: (stream, _session, done) => {
          void (async () => {
            letters.push(await text(stream));
            done();
          })();
        },
      });
      await new Promise<void>((resolve) => {
        smtp.listen(0, '127.0.0.1', resolve);
      });
      const { port } = smtp.server.address() as AddressInfo;
      try {
        await using world = await openWorld(FRESH, {
          ...environment('told'),
          SMTP_URL: `smtp://127.0.0.1:${port}`,
          MAIL_FROM: 'no-reply@sanbruno.example',
        });
        const { id } = await world.transfers.start(
          order({
            destination: { email: 'me@example.com', provider: 'file_export' },
            emailFormat: 'eml',
            contactsFormat: 'vcf',
            notificationContact: 'me@example.com',
          }),
        );
        await mailUntil(world.transfers, id, ['completed']);
        const [file] = (await world.transfers.status(id))?.exports ?? [];
        await expect.poll(() => letters).not.toEqual([]);
        const letter = await PostalMime.parse(letters.at(-1) ?? '');
        expect(letter.subject).toContain('complete');
        for (const text of [letter.text, letter.html]) {
          expect(text).toContain(`/status?migration_id=${id}`);
          expect(text).not.toContain(file?.url);
        }
      } finally {
        await new Promise<void>((resolve) => {
          smtp.close(resolve);
        });
      }
    });

    test('tells why it stopped when the password is refused, and offers nothing', async () => {
      await using world = await openWorld(FRESH, environment('refused'));
      const { id } = await world.transfers.start(
        order({
          source: { email: 'nobody@sanbrunocable.example', password: 'wrong', provider: 'sanbruno' },
          destination: { email: 'me@example.com', provider: 'file_export' },
          operations: ['emailmigration', 'contactsmigration'],
          emailFormat: 'eml',
          contactsFormat: 'vcf',
        }),
      );
      const end = await mailUntil(world.transfers, id, ['error']);
      expect(end.failure).toContain('password');
      const status = await world.transfers.status(id);
      expect(status?.exports).toBeUndefined();
    });

    test(
      'goes on after each kill -9, and ends with every message once',
      { tags: 'proof', timeout: 600_000 },
      async () => {
        const settings = environment('killed');
        await mkdir(settings.DATA_DIR, { recursive: true });
        await layFreshDatabase(settings.DATA_DIR);
        const job: ExportProcess = {
          database: { folder: join(settings.DATA_DIR, 'database') },
          environment: settings,
        };
        const start = async (killAfter?: number) => {
          const child = spawn(process.execPath, [PROCESS, JSON.stringify(job)], {
            stdio: ['ignore', 'pipe', 'inherit'],
          });
          const ended = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>;
          if (killAfter !== undefined) {
            await Promise.race([once(child.stdout, 'data'), ended]);
            await wait(killAfter);
            child.kill('SIGKILL');
          }
          const [output] = await Promise.all([text(child.stdout), ended]);
          return output.trim().split('\n').at(-1) ?? '';
        };
        const outputs = [];
        for (const killAfter of [50, 300, 450, 600, 150, 750, 900]) outputs.push(await start(killAfter));
        expect(outputs.filter((output) => !output.startsWith('[')).length).toBeGreaterThan(1);
        const files = JSON.parse(await start()) as ExportedFiles;
        expect(files).toHaveLength(1);
        const archive = join(folder, 'killed/exports', files[0]?.export ?? '', files[0]?.name ?? '');
        expect(digests(await unpacked(archive, join(folder, 'after kills')))).toEqual(expected);
      },
    );
  },
);

test(
  'an export on a disk that is really full pauses, and goes on when there is room',
  needs('the right to mount a disk', 'unzip'),
  async () => {
    await using disk = await mountSmallDisk(3);
    const { root } = disk;
    await using world = await openExportWorld({ root, limits: { batchOctets: 200_000, partOctets: 800_000 } });
    const messages = Array.from({ length: 40 }, (_, at) => ({
      uid: at + 1,
      bytes: Buffer.concat([
        Buffer.from(`Subject: ${at}\r\n\r\n`),
        createHash('sha512').update(`${at}`).digest(),
        Buffer.alloc(100_000, at),
      ]),
      flags: [],
      internalDate: new Date(0),
    }));
    const mailboxes = [{ path: 'INBOX', messages }];
    const id = await world.newTransfer();
    const first = memoryAccount(mailboxes);
    // What another program leaves of the disk is too little for the staged mail.
    await disk.fill('other', 2_500_000);
    await expect(world.exportMail(id, first)).rejects.toThrow(ExportPaused);
    const offered = 'select 1 from exports where transfer_id = $1 and finished is not null';
    expect(await world.database.query(offered, [id])).toEqual([]);
    await rm(join(root, 'other'));
    await disk.resize(80);
    const second = memoryAccount(mailboxes);
    await world.exportMail(id, second);
    const found: string[] = [];
    for (const [at, file] of (await world.files(id)).entries())
      found.push(...digests(await unpacked(file, join(root, `part ${at}`))));
    expect(found.toSorted()).toEqual(digestsOf(mailboxes));
    expect(second.fetched.length).toBeLessThan(messages.length);
  },
);

test(
  'an archive that a disk has no room for is not begun, so that the database and the logs keep theirs',
  needs('the right to mount a disk'),
  async () => {
    await using disk = await mountSmallDisk(6);
    await using world = await openExportWorld({ root: disk.root });
    const messages = Array.from({ length: 40 }, (_, at) => ({
      uid: at + 1,
      bytes: Buffer.alloc(100_000, at),
      flags: [],
      internalDate: new Date(0),
    }));
    const id = await world.newTransfer();
    const mailboxes = [{ path: 'INBOX', messages }];
    const paused = await world.exportMail(id, memoryAccount(mailboxes)).catch((error: unknown) => error);
    expect(paused).toBeInstanceOf(ExportPaused);
    expect((paused as Error).cause).toBeInstanceOf(DiskFullError);
    await disk.resize(20);
    const again = memoryAccount(mailboxes);
    await world.exportMail(id, again);
    expect(again.fetched).toEqual([]);
    expect(await world.files(id)).toHaveLength(1);
  },
);

test(
  'two archives at once do not take the room that only one of them has',
  needs('the right to mount a disk'),
  async () => {
    const MB = 1024 * 1024;
    await using disk = await mountSmallDisk(14);
    {
      using first = await claimRoom(disk.root, 8 * MB, 2 * MB);
      await expect(claimRoom(disk.root, 8 * MB, 2 * MB)).rejects.toThrow(DiskFullError);
      await expect(requireRoom(disk.root, 7 * MB)).rejects.toThrow(DiskFullError);
      // What is on the disk is not counted a second time.
      await disk.fill('what the first one has written', 3 * MB);
      first.take(3 * MB);
      using _second = await claimRoom(disk.root, 4 * MB, 2 * MB);
      await expect(claimRoom(disk.root, MB, 2 * MB)).rejects.toThrow(DiskFullError);
      first.take(100 * MB);
      using _third = await claimRoom(disk.root, MB, 2 * MB);
    }
    using _alone = await claimRoom(disk.root, 9 * MB, 2 * MB);
  },
);

test(
  'a file that takes more room than was thought is given up before the disk is full',
  needs('the right to mount a disk'),
  async () => {
    await using disk = await mountSmallDisk(60);
    const limits = { diskReserve: 8 * 1024 * 1024 };
    await using world = await openExportWorld({ root: disk.root, limits });
    // Text that does not shrink, which the page has once more.
    const messages = Array.from({ length: 200 }, (_, at) => ({
      uid: at + 1,
      bytes: Buffer.from(`Subject: ${at}\r\n\r\n${randomBytes(75_000).toString('base64')}`),
      flags: [],
      internalDate: new Date(0),
    }));
    const id = await world.newTransfer();
    const mailboxes = [{ path: 'INBOX', messages }];
    const paused = await world.exportMail(id, memoryAccount(mailboxes)).catch((error: unknown) => error);
    expect((paused as Error).cause).toMatchObject({ name: 'DiskFullError', message: 'The disk is nearly full.' });
    await disk.resize(100);
    const again = memoryAccount(mailboxes);
    await world.exportMail(id, again);
    expect(again.fetched).toEqual([]);
  },
);

test(
  'a disk that can only be read, as after an error, pauses an export that begins on it',
  needs('the right to mount a disk'),
  async () => {
    await using disk = await mountSmallDisk(20);
    await using world = await openExportWorld({ root: disk.root });
    const id = await world.newTransfer();
    const message = { uid: 1, bytes: Buffer.from('x'), flags: [], internalDate: new Date(0) };
    const account = memoryAccount([{ path: 'INBOX', messages: [message] }]);
    await run('mount', ['-o', 'remount,ro', disk.root]);
    await expect(world.exportMail(id, account)).rejects.toThrow(ExportPaused);
    await run('mount', ['-o', 'remount,rw', disk.root]);
    await world.exportMail(id, account);
    expect(await world.files(id)).toHaveLength(1);
  },
);
