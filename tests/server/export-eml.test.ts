import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { hostileAccount } from '../support/hostile-account.ts';
import { digestsOf, memoryAccount } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';
import { person } from '../support/contact-samples.ts';

let world: ExportWorld;
let scratch: string;
let archive: string;
const account = memoryAccount([...hostileAccount(), { path: 'Nothing in it', messages: [] }]);
const MESSAGES = account.mailboxes.reduce((sum, { messages }) => sum + messages.length, 0);

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'unpacked-'));
  world = await openExportWorld();
  const id = await world.newTransfer();
  await world.exportContacts(id, [person('c1', 'Ada Lovelace', ['ada@example.com'], ['+1 650 555 0100'])]);
  expect(await world.exportMail(id, account)).toEqual([]);
  const files = await world.files(id);
  expect(files).toHaveLength(1);
  archive = files[0] ?? '';
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(scratch, { recursive: true, force: true });
});

type Listed = {
  type: string;
  path: string;
  mailbox: string;
  internalDate: string;
  flags: string[];
  size: number;
  sha256: string;
};

async function manifestOf(folder: string): Promise<Listed[]> {
  const text = await readFile(join(folder, 'manifest.jsonl'), 'utf8');
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Listed)
    .filter(({ type }) => type === 'message');
}

async function unpacked(name: string, unpack: (folder: string) => Promise<unknown>): Promise<string> {
  const folder = join(scratch, name, 'jail', 'here');
  await mkdir(folder, { recursive: true });
  await unpack(folder);
  return folder;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/** The digests of all messages that were unpacked, and how many files lie outside of where they belong. */
async function found(folder: string): Promise<{ digests: string[]; outside: number }> {
  const files = await filesIn(folder);
  const messages = files.filter((file) => file.endsWith('.eml'));
  const digests = await Promise.all(messages.map(async (file) => sha256Of(await readFile(file))));
  return { digests: digests.toSorted(), outside: (await filesIn(dirname(dirname(folder)))).length - files.length };
}

const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const key = (value: object) => JSON.stringify(value);
const all = { digests: digestsOf(account.mailboxes), outside: 0 };

test('unzip finds the archive whole and unpacks every message, none changed or outside', needs('unzip'), async () => {
  await run('unzip', ['-tqq', archive]);
  const folder = await unpacked('unzip', (to) => run('unzip', ['-q', archive, '-d', to]));
  expect(await found(folder)).toEqual(all);
});

test('bsdtar unpacks every message, none changed or outside', needs('bsdtar'), async () => {
  const folder = await unpacked('bsdtar', (to) => run('bsdtar', ['-xf', archive, '-C', to]));
  expect(await found(folder)).toEqual(all);
});

test('7z unpacks every message, none changed or outside', needs('7z'), async () => {
  await run('7z', ['t', archive]);
  const folder = await unpacked('7z', (to) => run('7z', ['x', `-o${to}`, archive]));
  expect(await found(folder)).toEqual(all);
});

test(
  'zipfile of Python finds every checksum right, and email of Python reads the messages',
  needs('python3'),
  async () => {
    const script = `
import sys, zipfile, email, email.policy, json
archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
names = [name for name in archive.namelist() if name.endswith('.eml')]
assert len(set(name.casefold() for name in archive.namelist())) == len(archive.namelist())
subjects = [email.message_from_bytes(archive.read(name), policy=email.policy.compat32)['subject'] for name in names]
print(json.dumps([len(names), sum(subject == 'Lunch tomorrow' for subject in subjects)]))`;
    const counts = JSON.parse((await run('python3', ['-c', script, archive])).toString()) as number[];
    expect(counts).toEqual([MESSAGES, (account.mailboxes.length - 1) * 2]);
  },
);

test('SHA256SUMS names every other file and fits each', needs('bsdtar', 'sha256sum'), async () => {
  const folder = await unpacked('sums', (to) => run('bsdtar', ['-xf', archive, '-C', to]));
  await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: folder });
  const lines = (await readFile(join(folder, 'SHA256SUMS'), 'utf8')).trim().split('\n');
  expect(lines).toHaveLength((await filesIn(folder)).length - 1);
});

test('the manifest has each message with its mailbox, flags, date, size and digest', needs('bsdtar'), async () => {
  // The time that the finer field can not hold is in UTC, and is taken for this machine's.
  const folder = await unpacked('manifest', (to) => run('env', ['TZ=UTC', 'bsdtar', '-xf', archive, '-C', to]));
  const listed = await manifestOf(folder);
  const expected = account.mailboxes.flatMap(({ path, messages }) =>
    messages.map(({ bytes, flags, internalDate }) => ({
      mailbox: path,
      flags,
      size: bytes.length,
      internalDate: internalDate.toISOString(),
      sha256: sha256Of(bytes),
    })),
  );
  expect(
    listed
      .map(({ mailbox, flags, size, internalDate, sha256 }) => key({ mailbox, flags, size, internalDate, sha256 }))
      .toSorted(),
  ).toEqual(expected.map(key).toSorted());
  for (const { path, size, internalDate, sha256 } of listed) {
    const file = join(folder, path);
    // ZIP counts in steps of two seconds where a program does not know the finer field.
    expect(Math.abs((await stat(file)).mtimeMs - Date.parse(internalDate))).toBeLessThan(2000);
    const bytes = await readFile(file);
    expect(bytes).toHaveLength(size);
    expect(sha256Of(bytes)).toBe(sha256);
  }
});

test('an empty mailbox is an empty folder', needs('bsdtar'), async () => {
  const folder = await unpacked('empty', (to) => run('bsdtar', ['-xf', archive, '-C', to]));
  expect(await readdir(join(folder, 'mail/Nothing in it'))).toEqual([]);
});

test('no two paths of the archive are the same file on Windows or macOS', needs('bsdtar'), async () => {
  const folder = await unpacked('twins', (to) => run('bsdtar', ['-xf', archive, '-C', to]));
  const paths = (await filesIn(folder)).map((path) => path.slice(folder.length + 1));
  const keys = new Set(paths.map((path) => path.normalize('NFD').toUpperCase()));
  expect(keys.size).toBe(paths.length);
  for (const path of paths) expect(path.length).toBeLessThan(210);
});

test('the README is plain text and says what there is', needs('bsdtar'), async () => {
  const folder = await unpacked('readme', (to) => run('bsdtar', ['-xf', archive, '-C', to]));
  const text = await readFile(join(folder, 'README.txt'), 'utf8');
  expect(text).toContain(`${MESSAGES.toLocaleString('en-US')} messages in ${account.mailboxes.length - 1} folders.`);
  expect(text).toContain('1 contact.');
  for (const line of text.split('\r\n')) expect(line.length).toBeLessThanOrEqual(88);
  expect(await readFile(join(folder, 'contacts/contacts.vcf'), 'utf8')).toContain('Ada Lovelace');
});

test('the README says that contacts could not be read, all of them or one', needs('bsdtar'), async () => {
  const readmeOf = async (id: string) => {
    await world.exportMail(id, memoryAccount([{ path: 'INBOX', messages: [] }]));
    return (await run('bsdtar', ['-xOf', (await world.files(id)).at(-1) ?? '', 'README.txt'])).toString();
  };
  expect(await readmeOf(await world.newTransfer())).toContain('\r\nYour contacts could not be read');
  const id = await world.newTransfer();
  const tooLarge = { mailbox: 'Contacts', reason: 'This contact card is too large.' };
  await world.exportContacts(
    id,
    [person('c1', 'Ada Lovelace', ['ada@example.com'])],
    [
      { kind: 'skipped', id: 's1', skipped: tooLarge },
      {
        kind: 'skipped',
        id: 's2',
        skipped: { ...tooLarge, reason: 'This contact card is empty.' },
        raw: 'BEGIN:VCARD',
      },
    ],
  );
  const text = await readmeOf(id);
  expect(text).toContain('1 contact.\r\n1 contact could not be exported. Your status page says which and why.');
  expect(text).not.toContain('Your contacts could not');
  const many = await world.newTransfer();
  const unread = Array.from({ length: 1001 }, (_, at) => ({
    kind: 'skipped' as const,
    id: `${at}`,
    skipped: tooLarge,
  }));
  await world.exportContacts(many, [person('c1', 'Ada Lovelace', ['ada@example.com'])], unread);
  expect(await readmeOf(many)).toContain('1 contact.\r\nVery many of your contacts could not be read');
});

test('the manifest table is safe in a spreadsheet', needs('bsdtar'), async () => {
  const folder = await unpacked('table', (to) => run('bsdtar', ['-xf', archive, '-C', to]));
  const text = await readFile(join(folder, 'manifest.csv'), 'utf8');
  expect(text.startsWith('\uFEFFType,')).toBe(true);
  expect(text).toContain("'=cmd|calc");
  expect(text).not.toMatch(/(?:^|,|\n)"?[=+@-]/);
});
