import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ContactsFormat, EmailFormat } from '../../src/contract/export-format.ts';
import { Stopped } from '../../src/server/stopped.ts';
import { person } from '../support/contact-samples.ts';
import { openExportWorld, type ExportWorld } from '../support/export-world.ts';
import { hostileAccount } from '../support/hostile-account.ts';
import { memoryAccount, narrow } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { checkPst } from '../support/pst/pst-checker.ts';
import { contactsByReadpst, listedByLspst, readByExtractor } from '../support/pst/pst-readers.ts';
import { run } from '../support/run.ts';

const PEOPLE = [
  person('c1', 'Ada Lovelace', ['ada@example.com'], ['+1 650 555 0100']),
  person('c2', 'Ben Ünal', ['ben@example.com'], []),
];

describe('an export for Outlook (needs unzip and readpst)', needs('unzip', 'readpst'), () => {
  let world: ExportWorld;
  let scratch: string;
  let archives = 0;
  const account = memoryAccount([...hostileAccount(), { path: 'Nothing in it', messages: [] }]);
  const total = account.mailboxes.reduce((sum, { messages }) => sum + messages.length, 0);

  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'export-pst-'));
    world = await openExportWorld();
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
    await rm(scratch, { recursive: true, force: true });
  });

  async function unpacked(path: string): Promise<string> {
    archives += 1;
    const place = join(scratch, String(archives));
    await run('unzip', ['-q', path, '-d', place]);
    await run('sha256sum', ['--check', '--strict', '--quiet', 'SHA256SUMS'], { cwd: place });
    return place;
  }

  async function exported(email: EmailFormat, contacts: ContactsFormat, of = world): Promise<string[]> {
    const id = await of.newTransfer({ email, contacts });
    await of.exportContacts(id, PEOPLE);
    expect(await of.exportMail(id, account, { format: email, contactsFormat: contacts })).toEqual([]);
    return Promise.all((await of.files(id)).map((file) => unpacked(file)));
  }

  type Listed = { readonly type: string; readonly path: string; readonly mailbox: string; readonly index: number };
  const manifestOf = async (place: string) =>
    (await readFile(join(place, 'manifest.jsonl'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Listed);

  test('has all mail and all contacts in one file that is right by the document', async () => {
    const [place = ''] = await exported('pst', 'pst');
    const names = (await readdir(place, { recursive: true })).filter((name) => !/^reader\b/.test(name));
    expect(names.toSorted()).toEqual(
      [
        'README.txt',
        'index.html',
        'SHA256SUMS',
        'mail',
        'mail/San Bruno.pst',
        'manifest.csv',
        'manifest.jsonl',
      ].toSorted(),
    );
    const readme = await readFile(join(place, 'README.txt'), 'utf8');
    expect(readme, 'the new Outlook has another menu').not.toMatch(/(?<!Classic )Outlook\s+for Windows/);
    // Also those that were read twice, because they are broken.
    expect(await shownIn(place)).toBe(total);
    const path = join(place, 'mail/San Bruno.pst');
    expect(checkPst(path)).toEqual([]);
    const read = readByExtractor(path);
    expect(read.get('Contacts')?.map(({ subject }) => subject)).toEqual(['Ada Lovelace', 'Ben Ünal']);
    expect(read.get('Nothing in it')).toEqual([]);
    const counts = [...read].filter(([folder]) => folder !== 'Contacts').map(([, messages]) => messages.length);
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(total);
    const listed = await manifestOf(place);
    expect(listed.filter(({ type }) => type === 'message')).toHaveLength(total);
    expect(new Set(listed.map((each) => each.path))).toEqual(new Set(['mail/San Bruno.pst']));
  });

  test('has one inbox, and beside it what the account keeps below it', async () => {
    const id = await world.newTransfer({ email: 'pst' });
    const source = narrow(
      memoryAccount(
        ['INBOX', 'INBOX.Sent', 'INBOX.Trips.2019'].map((path) => ({ path, delimiter: '.', messages: [] })),
      ),
    );
    await world.exportMail(id, source, { format: 'pst' });
    const [place = ''] = await Promise.all((await world.files(id)).map((file) => unpacked(file)));
    const path = join(place, 'mail/San Bruno.pst');
    expect(checkPst(path)).toEqual([]);
    expect([...readByExtractor(path).keys()]).toEqual(['Deleted Items', 'Inbox', 'Sent', 'Trips', 'Trips/2019']);
  });

  test('has in its inbox the folders that an account has below it, beside others', async () => {
    const id = await world.newTransfer({ email: 'pst' });
    const folders = ['INBOX', 'INBOX/Bills', 'Sent'];
    const source = narrow(memoryAccount(folders.map((path) => ({ path, messages: [] }))));
    await world.exportMail(id, source, { format: 'pst' });
    const [place = ''] = await Promise.all((await world.files(id)).map((file) => unpacked(file)));
    const found = readByExtractor(join(place, 'mail/San Bruno.pst'));
    expect([...found.keys()]).toEqual(['Deleted Items', 'Inbox', 'Inbox/Bills', 'Sent']);
  });

  test('that was stopped anywhere goes on, and has every message once', async () => {
    await using small = await openExportWorld({ limits: { partMessages: 20, batchMessages: 4 } });
    const source = Array.from({ length: 3 }, (_, at) => ({
      path: `Folder ${at}`,
      messages: Array.from({ length: 17 }, (__, number) => ({
        uid: number + 1,
        bytes: Buffer.from(`Subject: ${at}.${number}\r\n\r\nbody\r\n`),
        flags: [],
        internalDate: new Date(Date.UTC(2020, at, number + 1)),
      })),
    }));
    const id = await small.newTransfer({ email: 'pst', contacts: 'pst' });
    for (const count of [5, 12, 10]) {
      const stop = new AbortController();
      const stopping = memoryAccount(source, {
        onFetch: (_path, _uid, reached) => {
          if (reached === count) stop.abort();
        },
      });
      const stopped = small.exportMail(id, narrow(stopping), {
        format: 'pst',
        contactsFormat: 'pst',
        signal: stop.signal,
      });
      await expect(stopped).rejects.toThrow(Stopped);
    }
    await small.exportMail(id, memoryAccount(source), { format: 'pst', contactsFormat: 'pst' });
    const found: string[] = [];
    for (const place of await Promise.all((await small.files(id)).map((file) => unpacked(file)))) {
      const [name = ''] = await readdir(join(place, 'mail'));
      for (const messages of readByExtractor(join(place, 'mail', name)).values())
        found.push(...messages.map(({ subject }) => subject));
    }
    expect(found.toSorted()).toEqual(
      source.flatMap(({ messages }, at) => messages.map((_, number) => `${at}.${number}`)).toSorted(),
    );
    expect((await readdir(small.root, { recursive: true })).filter((name) => name.includes('pst-'))).toEqual([]);
  });

  test(
    'is split into parts, each of which opens by itself, and no message is missing or twice',
    { tags: 'proof' },
    async () => {
      await using small = await openExportWorld({ limits: { partMessages: 20, batchMessages: 5 } });
      const places = await exported('pst', 'pst', small);
      expect(places.length).toBeGreaterThan(2);
      let messages = 0;
      for (const place of places) {
        const [name = ''] = await readdir(join(place, 'mail'));
        const path = join(place, 'mail', name);
        expect(checkPst(path)).toEqual([]);
        for (const [folder, items] of await listedByLspst(path)) if (folder !== 'Contacts') messages += items;
      }
      expect(messages).toBe(total);
      expect(new Set((await Promise.all(places.map((place) => readdir(join(place, 'mail'))))).flat()).size).toBe(
        places.length,
      );
    },
  );

  test('has mail as PST beside contacts as tables', { tags: 'proof' }, async () => {
    const [place = ''] = await exported('pst', 'csv');
    expect((await readdir(place, { recursive: true })).toSorted()).toContain('contacts/outlook.csv');
    const path = join(place, 'mail/San Bruno.pst');
    expect(checkPst(path)).toEqual([]);
    expect((await listedByLspst(path)).map(([folder]) => folder)).not.toContain('Contacts');
  });

  test('has contacts as PST beside mail as files', { tags: 'proof' }, async () => {
    const [place = ''] = await exported('eml', 'pst');
    const path = join(place, 'contacts/contacts.pst');
    expect(checkPst(path)).toEqual([]);
    const cards = await contactsByReadpst(path, join(scratch, 'cards'));
    expect(cards.map((card) => /FN:(.*)/.exec(card)?.[1]?.trim())).toEqual(['Ada Lovelace', 'Ben Ünal']);
    const contacts = (await manifestOf(place)).filter(({ type }) => type === 'contact');
    expect(contacts.map((each) => each.path)).toEqual(['contacts/contacts.pst', 'contacts/contacts.pst']);
  });
});

/** How many messages the page lists. */
async function shownIn(place: string): Promise<number> {
  const folder = join(place, 'reader/part-1');
  const lists = (await readdir(folder)).filter((name) => name.startsWith('list-'));
  const rows = lists.map(async (name) => {
    const [, json = ''] = /^archive\.list\(\d+,(.*)\)$/s.exec(await readFile(join(folder, name), 'utf8')) ?? [];
    return (JSON.parse(json) as readonly unknown[]).length;
  });
  return (await Promise.all(rows)).reduce((sum, count) => sum + count, 0);
}
