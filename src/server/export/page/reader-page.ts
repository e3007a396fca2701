import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { escapeHtml } from '../../escape-html.ts';
import { SpoolError, type SpoolReader } from '../disk/spool.ts';
import type { MailFormat, PartFileContent } from '../staging/mail-format.ts';
import type { StagedMessages } from '../staging/staged-messages.ts';
import type { PartMessage } from '../staging/staged.ts';
import { verified } from '../staging/verified.ts';
import type { ExportThread } from '../thread/export-thread.ts';
import type { PageFolders, PageMessage } from '../thread/page-writer.ts';

/** How many messages go to the thread together, and how many batches it may have at a time. */
const [BATCH, AHEAD] = [50, 20];

type Source = PageFolders & {
  readonly ledger: Pick<StagedMessages, 'mailboxes'>;
  readonly spool: SpoolReader;
  readonly thread: ExportThread;
  readonly part: number;
  readonly provider: string;
  readonly made: Date;
  readonly format: MailFormat;
  readonly signal: AbortSignal;
};

/** A different name in each part, so that parts unpacked in one place keep their own. */
export function readerPage(part: number): string {
  return part === 1 ? 'index.html' : `index-${part}.html`;
}

/** The page of a part, made while the part's messages are written. */
export type ReaderPage = AsyncDisposable & {
  /** Adds a message; a repetition of the last one is ignored. @throws {SpoolError} if a message is gone */
  show(message: PartMessage): Promise<void>;
  /** After the last message. */
  files(): AsyncGenerator<PartFileContent>;
};

let pages = 0;

/**
 * A page that lists, searches, shows and prints the messages of a part in any browser, without a network. Its contents
 * are in scripts of pure data beside it, because a browser lets a page from the disk read nothing else.
 */
export async function openReaderPage(source: Source): Promise<ReaderPage> {
  const { ledger, spool, thread, part, provider, made, format, folder, scratch, signal } = source;
  const mailboxes = new Map((await ledger.mailboxes(part)).map((mailbox) => [mailbox.mailboxId, mailbox]));
  const page = (pages += 1);
  const underWay = [thread.ask('beginPage', { page, folders: { folder, scratch } })];
  underWay[0]?.catch(() => {});
  // Ends the waiting on an abort: what the thread still has to read may take minutes.
  const over = Promise.withResolvers<never>();
  over.promise.catch(() => {});
  const giveUp = () => over.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  let batch: PageMessage[] = [];
  let last: PartMessage | undefined;
  const send = async () => {
    const sent = thread.ask('addToPage', { page, messages: batch });
    sent.catch(() => {});
    underWay.push(sent);
    batch = [];
    if (underWay.length === AHEAD) await Promise.race([underWay.shift(), over.promise]);
  };
  return {
    show: async (message) => {
      if (message === last) return;
      last = message;
      const mailbox = mailboxes.get(message.mailboxId);
      if (mailbox === undefined) throw new Error('A message is in no mailbox of its part.');
      // Only a format with one file per message has files to link to.
      const { path: file, more } = format.place(message, mailbox, 0);
      const { path, internalDate, segment, position, size } = message;
      batch.push({ path, internalDate, segment, position, size, file: 'index' in more ? '' : file });
      if (batch.length === BATCH) await send();
    },
    files: async function* () {
      await send();
      await Promise.race([Promise.all(underWay), over.promise]);
      const { blocks, scripts } = await Promise.race([thread.ask('endPage', { page }), over.promise]);
      const place = `reader/part-${part}`;
      for (const { name, staged, known, sha256 } of scripts)
        yield {
          path: `${place}/${name}`,
          modified: made,
          grain: 0,
          known,
          sha256,
          content: () => ownOctets(verified(spool.read(staged), staged)),
        };
      const html = await readFile(join(import.meta.dirname, 'reader.html'), 'utf8');
      const said = { PROVIDER: escapeHtml(provider), PLACE: place, BLOCKS: String(blocks) };
      const filled = Buffer.from(
        Object.entries(said).reduce((text, [name, value]) => text.replaceAll(`%${name}%`, () => value), html),
      );
      yield {
        path: readerPage(part),
        modified: made,
        grain: 0,
        known: { size: filled.length, crc32: crc32(filled) },
        content: async function* () {
          yield filled;
        },
      };
    },
    [Symbol.asyncDispose]: async () => {
      signal.removeEventListener('abort', giveUp);
      // A thread that has died has nothing open.
      await thread.ask('closePage', { page }).catch(() => {});
    },
  };
}

/** Mail that is damaged on the disk is fetched again; the page's own data can't be. */
async function* ownOctets(octets: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* octets;
  } catch (error) {
    throw error instanceof SpoolError ? new Error('What the page consists of is damaged.', { cause: error }) : error;
  }
}
