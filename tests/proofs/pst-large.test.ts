import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { measureWriting } from '../support/pst/pst-bench.ts';
import { ALL_PROOFS } from '../folders.ts';
import { checkPst } from '../support/pst/pst-checker.ts';
import { letterOf } from '../support/pst/pst-corpus.ts';
import { listedByLspst, readByExtractor } from '../support/pst/pst-readers.ts';
import { run } from '../support/run.ts';

/** What an export may have. */
const MEMORY = 256_000_000;

async function attachmentOf(raw: Buffer): Promise<string> {
  const [attachment] = (await PostalMime.parse(raw)).attachments;
  const content = attachment?.content ?? '';
  return createHash('sha256')
    .update(typeof content === 'string' ? content : new Uint8Array(content))
    .digest('hex');
}

/** In one folder; readers of other people take minutes for them. */
const MANY = ALL_PROOFS ? 20_000 : 8000;

describe('a large PST file (needs readpst and pffexport)', needs('readpst', 'pffexport'), () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'pst-large-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test(`of ${MANY} messages in one folder is right, and three readers find each of them`, async () => {
    const into = await mkdtemp(join(directory, 'many-'));
    const { paths, octets, rss } = await measureWriting(into, MANY, 0);
    expect(octets).toBeGreaterThan(MANY * 1550);
    expect(rss).toBeLessThan(MEMORY);
    const [path = ''] = paths;
    expect(checkPst(path)).toEqual([]);
    expect(new Map(await listedByLspst(path)).get('Inbox')).toBe(MANY);
    const read = readByExtractor(path).get('Inbox') ?? [];
    expect(read.map(({ subject }) => subject)).toEqual(Array.from({ length: MANY }, (_, number) => `Letter ${number}`));
    await run('pffexport', ['-q', '-m', 'items', '-t', join(into, 'pff'), path]);
    const exported = await readdir(join(into, 'pff.export/Top of Personal Folders/Inbox'));
    expect(exported.filter((name) => name.startsWith('Message'))).toHaveLength(MANY);
    const last = await readFile(
      join(into, `pff.export/Top of Personal Folders/Inbox/Message${String(MANY).padStart(5, '0')}/OutlookHeaders.txt`),
      'utf8',
    );
    expect(last).toContain(`Letter ${MANY - 1}`);
    await rm(into, { recursive: true });
  });

  test(
    'of more than 2 GB is right, and what two readers take from its end is what went in',
    needs('PROOFS=all'),
    async () => {
      const into = await mkdtemp(join(directory, 'two-'));
      const count = 3000;
      const { paths, octets, rss } = await measureWriting(into, count, 1_000_000);
      expect(octets).toBeGreaterThan(2 ** 31);
      expect(rss).toBeLessThan(MEMORY);
      const [path = ''] = paths;
      expect(checkPst(path)).toEqual([]);
      // One process: several share the file's position, and miss messages now and then.
      await run('readpst', ['-e', '-D', '-q', '-j', '0', '-o', into, path]);
      const place = join(into, 'Mail/Inbox');
      expect(await readdir(place)).toHaveLength(count);
      await run('pffexport', ['-q', '-m', 'items', '-t', join(into, 'pff'), path]);
      for (const number of [0, count / 2, count - 1]) {
        const wanted = await attachmentOf(letterOf(number, 1_000_000));
        expect(await attachmentOf(await readFile(join(place, `${number + 1}.eml`)))).toBe(wanted);
        const message = `Message${String(number + 1).padStart(5, '0')}`;
        const file = join(into, 'pff.export/Top of Personal Folders/Inbox', message, 'Attachments', `1_${number}.bin`);
        expect(
          createHash('sha256')
            .update(await readFile(file))
            .digest('hex'),
        ).toBe(wanted);
      }
      await rm(into, { recursive: true });
    },
  );
});
