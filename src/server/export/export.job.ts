import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Skipped } from '../../contract/calls/status.ts';
import type { Settings } from '../../contract/settings.ts';
import type { ContactReader } from '../contacts/contact-store.ts';
import type { Pause } from '../jobs/connection-pool.ts';
import type { Log } from '../log.ts';
import { Stopped } from '../mail/copy.ts';
import type { MailReader } from '../mail/message.ts';
import type { Database } from '../store/database.ts';
import { contactFiles, type ContactsFileFormat } from './contact-files.ts';
import { openContactShelf, type ContactShelf } from './contact-shelf.ts';
import { isDiskFull, requireRoom } from './disk-full.ts';
import { eml } from './eml.format.ts';
import { EXPORT_LIMITS, type ExportLimits } from './export-limits.ts';
import type { ExportStore } from './export-store.ts';
import { gatherMail, type ExportProgress } from './gather-mail.ts';
import { openExport, openLedger, type Export, type Ledger } from './ledger.ts';
import type { MailFormat } from './mail-format.ts';
import { mbox } from './mbox.format.ts';
import { archiveFiles } from './part.ts';
import { openSpoolDesk, openSpoolReader, SpoolError, sweepSpool, type SpoolDesk } from './spool.ts';
import { writeArchive } from './zip-archive.ts';

export const EXPORT_FORMATS = { eml, mbox } as const satisfies Record<string, MailFormat>;
export type MailFileFormat = keyof typeof EXPORT_FORMATS;

/** There is no room for the export now. What is staged stays; a later run goes on from there. */
export class ExportPaused extends Error {
  override name = 'ExportPaused';
  /** Seconds after which it is worth trying again. */
  readonly retryAfter = PAUSED_SECONDS;
}

const PAUSED_SECONDS = 300;
/** Staged messages that turn out damaged are fetched again, but not for ever. */
const TRIES = 3;
const DAY_MS = 86_400_000;

export type ExportServices = {
  readonly database: Database;
  readonly settings: Pick<Settings, 'exportDays' | 'legacyName'>;
  readonly log: Log;
  readonly exports: ExportStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly limits?: Partial<ExportLimits>;
};

export type ExportRun = {
  readonly transferId: string;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ExportProgress) => void;
};

export type MailExport = ExportRun & {
  readonly format: MailFileFormat;
  /** In the archive with the mail, if they were read before. */
  readonly contactsFormat?: ContactsFileFormat;
  readonly openReader: () => Promise<MailReader>;
  readonly connections: number;
  readonly pause: Pause;
};

export type ContactsExport = ExportRun & {
  readonly format: ContactsFileFormat;
  readonly reader: ContactReader;
  /** Whether mail follows; without it the contacts are the whole archive. */
  readonly mailFollows: boolean;
};

/**
 * Stages all mail, writes the archive and offers it. Goes on from wherever an earlier run left it.
 * @returns the messages that the server does not hand out
 * @throws {ExportPaused} on a full disk; {@link MailError}, {@link Stopped} as the reader does
 */
export async function exportMail(services: ExportServices, work: MailExport): Promise<readonly Skipped[]> {
  return withRoom(services, work, async (under) => {
    const { limits, ledger } = under;
    const format = EXPORT_FORMATS[work.format];
    const contents = { format, ...(work.contactsFormat === undefined ? {} : { contacts: work.contactsFormat }) };
    let skipped: readonly Skipped[] = [];
    for (let attempt = 1; ; attempt += 1) {
      await using spool = openSpoolDesk(under.folder);
      await sweepSpool(under.folder, await ledger.segments());
      const writeParts = () => writeSealed(under, contents, spool);
      try {
        await writeParts();
        if ((await ledger.lastPart()) === null) {
          skipped = await gatherMail({
            ...work,
            ledger,
            limits,
            format,
            spool,
            folder: under.folder,
            onPartFull: async () => {
              await ledger.seal(false);
              await writeParts();
            },
          });
          await spool.rotate();
          await ledger.seal(true);
          await writeParts();
        }
        await offer(under);
        return skipped;
      } catch (error) {
        if (!(error instanceof SpoolError) || attempt === TRIES) throw error;
        services.log.warn({ transfer: work.transferId, attempt }, 'staged messages are damaged and are fetched again');
      }
    }
  });
}

/** Reads all contacts; without mail to follow, writes the archive and offers it. */
export async function exportContacts(services: ExportServices, work: ContactsExport): Promise<readonly Skipped[]> {
  return withRoom(services, work, async (under) => {
    const skipped: Skipped[] = [];
    const { total } = await work.reader.survey(work.signal);
    await under.shelf.clear();
    let count = 0;
    for await (const reading of work.reader.contacts(work.signal)) {
      if (reading.kind === 'skipped') skipped.push(reading.skipped);
      else await under.shelf.put((count += 1), reading.contact);
      const done = count + skipped.length;
      work.onProgress({ done, total: Math.max(total, done), bytes: 0 });
    }
    if (!work.mailFollows) {
      await under.ledger.seal(true);
      await writeSealed(under, { contacts: work.format });
      await offer(under);
    }
    return skipped;
  });
}

type Under = {
  readonly services: ExportServices;
  readonly work: ExportRun;
  readonly export: Export;
  readonly ledger: Ledger;
  readonly shelf: ContactShelf;
  readonly limits: ExportLimits;
  /** Of this export, on this machine. */
  readonly folder: string;
};

type Contents = { readonly format?: MailFormat; readonly contacts?: ContactsFileFormat };

async function withRoom(
  services: ExportServices,
  work: ExportRun,
  run: (under: Under) => Promise<readonly Skipped[]>,
): Promise<readonly Skipped[]> {
  const { database, exports, log } = services;
  try {
    const opened = await openExport(database, work.transferId);
    if (opened.finished !== null) return [];
    const folder = join(exports.staging, opened.name);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return await run({
      services,
      work,
      export: opened,
      folder,
      ledger: openLedger(database, opened.id),
      shelf: openContactShelf(database, opened.id),
      limits: { ...EXPORT_LIMITS, ...services.limits },
    });
  } catch (error) {
    if (work.signal.aborted && !(error instanceof Stopped))
      throw new Stopped('The export was asked to stop.', { cause: error });
    if (!isDiskFull(error)) throw error;
    log.error(
      { transfer: work.transferId, folder: exports.staging, err: error },
      'an export is paused: the disk of EXPORTS_URL or of the database is full. Make room; it goes on by itself',
    );
    throw new ExportPaused('There is no room for the export.', { cause: error });
  }
}

/** Writes the parts that are settled and not written. What they were made of goes afterwards. */
async function writeSealed(under: Under, contents: Contents, spool?: SpoolDesk): Promise<void> {
  for (const part of await under.ledger.unwritten()) {
    await writePart(part, under, contents);
    // Asked in this order: what is written to now is live, or noted by the time the ledger is asked.
    const live = spool?.live() ?? new Set<string>();
    await sweepSpool(under.folder, new Set([...live, ...(await under.ledger.segments())]));
  }
}

async function writePart(part: number, under: Under, contents: Contents): Promise<void> {
  const { ledger, folder, services, shelf, work } = under;
  const isLast = part === (await ledger.lastPart());
  const count = isLast && contents.contacts !== undefined ? await shelf.count() : 0;
  await requireRoom(folder, under.limits.diskReserve);
  const name = `part-${part}-${randomUUID().slice(0, 8)}.zip`;
  const path = join(folder, name);
  await using reader = openSpoolReader(folder);
  try {
    const files = archiveFiles({
      ledger,
      part,
      isLast,
      spool: reader,
      provider: services.settings.legacyName,
      made: new Date(services.now()),
      ...(contents.format === undefined ? {} : { format: contents.format }),
      ...(isLast && contents.contacts !== undefined
        ? { contacts: contactFiles(contents.contacts, count, () => shelf.contacts()) }
        : {}),
    });
    const written = await writeArchive(path, files, work.signal);
    await services.exports.put(under.export.name, name, path);
    await ledger.written({ part, name, ...written });
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof SpoolError) await ledger.forget(part);
    throw error;
  }
}

async function offer({ ledger, services, folder }: Under): Promise<void> {
  const now = services.now();
  await ledger.finish(new Date(now), new Date(now + services.settings.exportDays * DAY_MS));
  await rm(folder, { recursive: true, force: true });
}
