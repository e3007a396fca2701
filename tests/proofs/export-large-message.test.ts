import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { FRESH } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { originalOf } from '../support/mbox-original.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';
import { mailUntil, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const OCTETS = 60_000_000;
const sha256Of = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe(
  'a single message of 60 MB (needs dovecot, unzip and python3)',
  { ...needs('dovecot', 'unzip', 'python3'), timeout: 120_000 },
  () => {
    let source: Dovecot;
    let folder: string;
    const bytes = Buffer.concat([
      Buffer.from(
        'From: a@b.example\r\nSubject: A film\r\nContent-Transfer-Encoding: base64\r\n\r\nFrom the start\r\n',
      ),
      Buffer.from(
        randomBytes((OCTETS / 78) * 57)
          .toString('base64')
          .replaceAll(/(.{76})/g, '$1\r\n'),
      ),
    ]);

    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'large-message-'));
      source = await startDovecot();
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      const date = '17-Jul-2010 02:44:25 -0700';
      await mail.append('INBOX', [
        { bytes: Buffer.from('Subject: before\r\n\r\nx\r\n'), flags: [], date },
        { bytes, flags: ['\\Seen'], date },
        { bytes: Buffer.from('Subject: after\r\n\r\ny\r\n'), flags: [], date },
      ]);
    });
    afterAll(async () => {
      await source[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    });

    /** The file that holds it, and what the manifest says of it. */
    async function exportedAs(emailFormat: 'eml' | 'mbox') {
      const root = join(folder, emailFormat);
      await using world = await openWorld(FRESH, {
        LEGACY_IMAP_URL: source.url,
        TRUSTED_MAIL_HOSTS: '127.0.0.1',
        DATA_DIR: root,
        EXPORTS_URL: join(root, 'exports'),
      });
      const destination = { email: 'me@example.com', provider: 'file_export' } as const;
      const { id } = await world.transfers.start(order({ destination, emailFormat, contactsFormat: 'vcf' }));
      expect(await mailUntil(world.transfers, id, ['completed'])).toMatchObject({ done: 3, total: 3, skipped: [] });
      const [file] = (await world.transfers.status(id))?.exports ?? [];
      const [, exportName = '', name = ''] = /exports\/([^/]+)\/([^?]+)/.exec(file?.url ?? '') ?? [];
      await run('unzip', ['-q', join(root, 'exports', exportName, name), '-d', join(root, 'unpacked')]);
      const lines = (await readFile(join(root, 'unpacked/manifest.jsonl'), 'utf8')).trim().split('\n');
      const listed = lines.map(
        (line) => JSON.parse(line) as { path: string; size: number; sha256: string; lineEnds: string; index: number },
      );
      const largest = listed.find(({ size }) => size === bytes.length);
      if (largest === undefined) throw new Error('The manifest does not list it.');
      return { ...largest, file: join(root, 'unpacked', largest.path) };
    }

    test('is exported as eml byte for byte', async () => {
      const { file, sha256 } = await exportedAs('eml');
      expect(sha256).toBe(sha256Of(bytes));
      expect((await readFile(file)).equals(bytes)).toBe(true);
    });

    test('stands in an mbox so that the way back gives its octets', async () => {
      const { file, sha256, lineEnds, size, index } = await exportedAs('mbox');
      const script = `
import sys, mailbox
sys.stdout.buffer.write(mailbox.mbox(sys.argv[1], create=False).get_bytes(int(sys.argv[2]) - 1))`;
      const stored = await run('python3', ['-c', script, file, String(index)]);
      expect(sha256).toBe(sha256Of(bytes));
      expect(originalOf(stored, { lineEnds, size }).equals(bytes)).toBe(true);
    });
  },
);
