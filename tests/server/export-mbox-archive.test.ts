import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { hostileAccount } from '../support/hostile-account.ts';
import { installed } from '../support/installed.ts';
import { originalOf } from '../support/mbox-original.ts';
import { digestsOf, memoryAccount } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';

/** Small parts, so that mailboxes go on from one part to the next. */
const PARTS = { partMessages: 90, batchMessages: 5, partOctets: 1_500_000 };

let world: ExportWorld;
let folder: string;
const account = memoryAccount([...hostileAccount(), { path: 'Nothing in it', messages: [] }]);
const unzip = installed('unzip');
const parts: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mbox-'));
  world = await openExportWorld({ limits: PARTS });
  const id = await world.newTransfer({ email: 'mbox' });
  expect(await world.exportMail(id, account, { format: 'mbox' })).toEqual([]);
  for (const [at, file] of (await world.files(id)).entries()) {
    const part = join(folder, `part ${at + 1}`);
    parts.push(part);
    if (unzip !== null) await run('unzip', ['-q', file, '-d', part]);
  }
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Listed = {
  type: string;
  path: string;
  index: number;
  mailbox: string;
  flags: string[];
  size: number;
  sha256: string;
  lineEnds: string;
  internalDate: string;
};

async function manifestOf(part: string): Promise<Listed[]> {
  const lines = (await readFile(join(part, 'manifest.jsonl'), 'utf8')).trim().split('\n');
  return lines.map((line) => JSON.parse(line) as Listed).filter(({ type }) => type === 'message');
}

type ReadMessage = { readonly from: string; readonly flags: string; readonly bytes: Buffer };

/** Every message of each mbox as Python's `mailbox` gives it. */
async function readByPython(paths: readonly string[]): Promise<ReadMessage[][]> {
  const script = `
import sys, mailbox, json, base64
def read(path):
  box = mailbox.mbox(path, create=False)
  return [{'from': box[key].get_from(), 'flags': box[key].get_flags(),
    'bytes': base64.b64encode(box.get_bytes(key)).decode()} for key in box.keys()]
print(json.dumps([read(path) for path in sys.argv[1:]]))`;
  const read = JSON.parse((await run('python3', ['-c', script, ...paths])).toString()) as {
    from: string;
    flags: string;
    bytes: string;
  }[][];
  return read.map((messages) => messages.map((each) => ({ ...each, bytes: Buffer.from(each.bytes, 'base64') })));
}

const LETTERS: Record<string, string> = {
  '\\Seen': 'R',
  '\\Answered': 'A',
  '\\Flagged': 'F',
  '\\Draft': 'T',
  '\\Deleted': 'D',
};

test(
  'mailbox of Python reads every message, and the way back gives its octets, over all parts',
  needs('unzip', 'python3'),
  async () => {
    expect(parts.length).toBeGreaterThan(3);
    const digests: string[] = [];
    for (const part of parts) {
      const listed = await manifestOf(part);
      const paths = [...new Set(listed.map((message) => message.path))];
      const read = await readByPython(paths.map((path) => join(part, path)));
      for (const [at, path] of paths.entries()) {
        const messages = read[at] ?? [];
        const expected = listed.filter((message) => message.path === path);
        expect(messages).toHaveLength(expected.length);
        for (const { index, flags, size, sha256, lineEnds, internalDate } of expected) {
          const message = messages[index - 1];
          const bytes = originalOf(message?.bytes ?? Buffer.alloc(0), { lineEnds, size });
          expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
          digests.push(sha256);
          const letters = ['O', ...flags.map((flag) => LETTERS[flag] ?? '')].filter((letter) => letter !== '');
          expect((message?.flags ?? '').split('')).toEqual(expect.arrayContaining(letters));
          const when = new Date(`${(message?.from ?? '').split(' ').slice(1).join(' ')} UTC`);
          expect(when).toEqual(new Date(internalDate));
        }
      }
    }
    expect(digests.toSorted()).toEqual(digestsOf(account.mailboxes));
  },
);

test('an empty mailbox is an empty file', needs('unzip'), async () => {
  expect(await readFile(join(parts.at(-1) ?? '', 'mail/Nothing in it.mbox'), 'utf8')).toBe('');
});

test('a mailbox that goes on in a later part has another file name there', needs('unzip'), async () => {
  const paths = new Map<string, string>();
  for (const part of parts)
    for (const { path } of await manifestOf(part)) {
      const key = path.normalize('NFD').toUpperCase();
      expect(paths.get(key) ?? part).toBe(part);
      paths.set(key, part);
    }
  expect([...paths.keys()].some((path) => path.endsWith('.PART2.MBOX'))).toBe(true);
});

test('each README says which part it is, and what a part holds at most', needs('unzip'), async () => {
  for (const [at, part] of parts.entries()) {
    const text = await readFile(join(part, 'README.txt'), 'utf8');
    expect(text).toContain(`This is part ${at + 1}${at + 1 === parts.length ? ', the last one' : ''}. `);
    expect(text.replaceAll(/\s+/g, ' ')).toContain('no part holds more than 1.5 MB of mail or 90 messages.');
    expect((await manifestOf(part)).length).toBeLessThanOrEqual(PARTS.partMessages);
  }
});

test(
  'mutt opens every mailbox and hands out all its messages, those that it can hold unchanged',
  needs('unzip', 'mutt', 'script'),
  async () => {
    const listed = await manifestOf(parts[0] ?? '');
    // Mutt ends a line at a NUL, a header with a bare LF, and gives one to a message that has none.
    const ordinary = account.mailboxes.map(({ messages, ...mailbox }) => ({
      ...mailbox,
      messages: messages.filter(({ bytes }) => !bytes.includes(0) && bytes.includes('\r\n\r\n')),
    }));
    const holds = new Set(digestsOf(ordinary));
    // Its own home: mutt asks about a folder for mail that is not there, and the answer would be taken from the keys.
    const home = await mkdtemp(join(folder, 'mutt-'));
    const settings = join(home, 'muttrc');
    const calm = 'sort=mailbox-order pipe_decode=no pipe_split=yes wait_key=no sleep_time=0';
    await writeFile(settings, `set folder='${home}' record='' postponed='' ${calm}\n`);
    const paths = [...new Set(listed.map(({ path }) => path))];
    expect(paths.length).toBeGreaterThan(1);
    for (const [at, path] of paths.entries()) {
      const taken = join(home, `taken ${at}`);
      await mkdir(taken);
      // Each message goes to a file that is named by how many there were before.
      const keep = join(home, `keep-${at}.sh`);
      await writeFile(keep, `cat > "${taken}/$(ls "${taken}" | wc -l)"\n`);
      const keys = `<tag-pattern>~A<enter><tag-prefix><pipe-message>sh ${keep}<enter><exit>`;
      const file = join(parts[0] ?? '', path).replaceAll("'", `'\\''`);
      const command = `HOME='${home}' TERM=vt100 mutt -n -F '${settings}' -R -e 'push "${keys}"' -f '${file}'`;
      await run('script', ['-qec', command, '/dev/null']);

      const expected = listed.filter((message) => message.path === path);
      expect(await readdir(taken)).toHaveLength(expected.length);
      const held = expected.filter((message) => message.lineEnds === 'crlf' && holds.has(message.sha256));
      expect(held.length).toBeGreaterThan(expected.length / 2);
      for (const { index, size, sha256, lineEnds } of held) {
        const piped = await readFile(join(taken, String(index - 1)));
        const bytes = originalOf(piped.subarray(piped.indexOf('\n') + 1), { lineEnds, size });
        expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
      }
    }
  },
);
