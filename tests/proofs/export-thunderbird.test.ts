import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openExportWorld } from '../support/export-world.ts';
import { hostileAccount } from '../support/hostile-account.ts';
import { originalOf } from '../support/mbox-original.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';
import { openedInThunderbird } from '../support/thunderbird.ts';

type Listed = { type: string; path: string; internalDate: string; size: number; sha256: string; lineEnds: string };

test(
  'Thunderbird finds every message of every mbox, and hands out its octets',
  needs('thunderbird', 'unzip'),
  async () => {
    await using world = await openExportWorld();
    const folder = await mkdtemp(join(tmpdir(), 'mboxes-'));
    try {
      const id = await world.newTransfer({ email: 'mbox' });
      const mailboxes = hostileAccount().filter((_, at) => at % 3 === 0);
      await world.exportMail(id, memoryAccount(mailboxes), { format: 'mbox' });
      const [archive = ''] = await world.files(id);
      await run('unzip', ['-q', archive, '-d', folder]);
      const lines = (await readFile(join(folder, 'manifest.jsonl'), 'utf8')).trim().split('\n');
      const listed = lines.map((line) => JSON.parse(line) as Listed).filter(({ type }) => type === 'message');
      const paths = [...new Set(listed.map(({ path }) => path))];
      expect(paths).toHaveLength(mailboxes.length);

      const names = new Map(paths.map((path, at) => [`box ${at}`, join(folder, path)]));
      const seen = await openedInThunderbird(names);
      for (const [at, path] of paths.entries()) {
        const messages = seen.get(`box ${at}`) ?? [];
        const expected = listed.filter((message) => message.path === path);
        expect(messages).toHaveLength(expected.length);
        // Thunderbird lists them in the order of the file, with the quotes of `From ` lines taken off.
        for (const [which, { size, sha256, lineEnds }] of expected.entries()) {
          const stored = messages[which] ?? Buffer.alloc(0);
          const bytes = originalOf(stored, { lineEnds, size }, 'quotes are off');
          expect(createHash('sha256').update(bytes).digest('hex')).toBe(sha256);
        }
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
