import { createHash } from 'node:crypto';
import type { RoomWatch } from '../disk/disk-room.ts';
import type { SpoolReader } from '../disk/spool.ts';
import { openReaderPage } from '../page/reader-page.ts';
import type { ExportLimits } from '../staging/export-limits.ts';
import type { ArchiveFile, MailFormat, PartFileContent, PartSource } from '../staging/mail-format.ts';
import type { PartMessage } from '../staging/staged.ts';
import { verified } from '../staging/verified.ts';
import type { ExportThread } from '../thread/export-thread.ts';
import type { ContactFiles } from './contact-files.ts';
import { manifestLines, manifestTable } from './manifest.ts';
import { readme, type Left } from './readme.ts';

export type PartContent = Omit<PartSource, 'staged' | 'octets'> & {
  /** Where the messages are staged. */
  readonly folder: string;
  readonly spool: SpoolReader;
  readonly thread: ExportThread;
  readonly limits: ExportLimits;
  readonly left: Left;
  readonly format: MailFormat;
  /** Whether contacts were ordered. */
  readonly hasContacts: boolean;
  /** Given with the last part, if the contacts could be read. */
  readonly contactFiles?: ContactFiles;
};

/** All contents of an archive, in order: README, mail, contacts, the page to read it with, manifests, and checksums. */
export async function* archiveFiles(content: PartContent): AsyncGenerator<ArchiveFile> {
  const { ledger, part, format, made, contactFiles, onWritten } = content;
  const sums: string[] = [];
  const summed = (file: PartFileContent) => summedFile(file, sums, onWritten);
  const mailboxes = await ledger.mailboxes(part);
  const entries = contactFiles?.entries ?? none;
  const plain = (path: string, body: () => AsyncIterable<Uint8Array>) => ({
    path,
    modified: made,
    grain: 0,
    content: body,
  });
  const about = readme({
    provider: content.provider,
    made,
    part,
    isLast: content.isLast,
    limits: content.limits,
    left: content.left,
    hasContacts: content.hasContacts,
    messages: mailboxes.reduce((sum, mailbox) => sum + mailbox.messages, 0),
    mailboxes: mailboxes.length,
    mail: format,
    ...(contactFiles === undefined ? {} : { contacts: { count: contactFiles.count, about: contactFiles.about } }),
  });

  yield summed(plain('README.txt', () => only(Buffer.from(about))));
  await using page = await openReaderPage(content);
  async function* staged(message: PartMessage): AsyncGenerator<Buffer> {
    await page.show(message);
    yield* content.spool.read(message);
  }
  const octets = (message: PartMessage) => verified(staged(message), message);
  for await (const file of format.files({ ...content, staged, octets })) yield summed(file);
  const empty = content.isLast ? await ledger.emptyFolders() : [];
  for (const path of empty.flatMap((folder) => format.empty(folder) ?? [])) yield summed(plain(path, none));
  for await (const file of contactFiles?.files() ?? []) yield summed({ modified: made, grain: 0, ...file });
  for await (const file of page.files()) yield summed(file);
  yield summed(plain('manifest.csv', () => manifestTable(content, entries)));
  yield summed(plain('manifest.jsonl', () => manifestLines(content, entries)));
  yield plain('SHA256SUMS', () => only(Buffer.from(sums.join(''))));
}

/** Records the file's line for `SHA256SUMS` once it has been read. */
function summedFile(file: PartFileContent, sums: string[], onWritten: RoomWatch): ArchiveFile {
  const { content, sha256, ...described } = file;
  return {
    ...described,
    content: async function* () {
      const digest = sha256 === undefined ? createHash('sha256') : undefined;
      for await (const chunk of content()) {
        digest?.update(chunk);
        const looking = onWritten(chunk.length);
        if (looking !== undefined) await looking;
        yield chunk;
      }
      sums.push(`${digest?.digest('hex') ?? sha256}  ${file.path}\n`);
    },
  };
}

async function* none(): AsyncGenerator<never> {}

async function* only(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}
