import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Skipped } from '../../contract/calls/status.ts';
import type { ContactsFormat, EmailFormat } from '../../contract/export-format.ts';
import type { Settings } from '../../contract/settings.ts';
import { foldersLeftBy } from '../../contract/transfer-status.ts';
import type { Clock } from '../clock.ts';
import type { ContactReader } from '../contacts/contact-store.ts';
import { groupVcard } from '../contacts/vcard/vcard-writer.ts';
import type { Log } from '../log.ts';
import type { CopySource, Waits } from '../mail/copy/run/mail-copy.ts';
import { Stopped } from '../stopped.ts';
import type { Database } from '../store/database.ts';
import { LeaseLost, requireLease, type Lease } from '../transfers/lease.ts';
import { contactFiles } from './archive/contact-files.ts';
import { eml } from './archive/eml.format.ts';
import type { MailFormat } from './staging/mail-format.ts';
import { mbox } from './archive/mbox.format.ts';
import { archiveFiles } from './archive/part.ts';
import { pst } from './archive/pst.format.ts';
import type { Left } from './archive/readme.ts';
import { writeArchive } from './archive/zip-archive.ts';
import { claimRoom, isDiskFull, isDiskUnusable, requireRoom, watchRoom } from './disk/disk-room.ts';
import { SKIPPED_AT_MOST } from './staging/parts.ts';
import { openSpoolReader, SpoolError, sweepSpool } from './disk/spool.ts';
import { EXPORT_LIMITS, type ExportLimits } from './staging/export-limits.ts';
import { fenced } from './staging/fenced.ts';
import { gatherMail } from './staging/gather-mail.ts';
import { openSegments, type Segments } from './staging/segments.ts';
import type { ExportProgress } from './staging/stage-mail.ts';
import { openStagedContacts, type StagedContacts } from './staging/staged-contacts.ts';
import { openExport, openStagedMessages, type StagedMessages } from './staging/staged-messages.ts';
import type { Export, PartFile } from './staging/staged.ts';
import { StoreError, type ExportStore } from './storage/export-store.ts';
import { openExportThread } from './thread/export-thread.ts';

/** Each part has its own instance of the format, because some keep track of where they have put what. */
const EXPORT_FORMATS: Readonly<Record<EmailFormat, () => MailFormat>> = { eml: () => eml, mbox: () => mbox, pst };

/** There is currently no room for the export, or nowhere to store it. A later run continues with what is staged. */
export class ExportPaused extends Error {
  override name = 'ExportPaused';
}

/** How often staged messages that turn out damaged are fetched again. */
const TRIES = 3;
const DAY_MS = 86_400_000;
const MEGABYTE = 1024 * 1024;
const NONE_LIVE = { live: () => new Set<string>() };

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
  readonly lease: Lease;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ExportProgress) => void;
};

export type MailExport = ExportRun &
  Waits & {
    readonly format: EmailFormat;
    /** The staged contacts go into the archive as well. */
    readonly contactsFormat?: ContactsFormat;
    readonly source: CopySource;
    readonly clock: Clock;
  };

/**
 * Stages all mail, and writes the parts that fill up meanwhile. Continues where an earlier run stopped.
 * @throws {ExportPaused} on a full disk, or when files can't be stored now; {@link MailError}, {@link Stopped} as the
 *   reader does
 */
export async function stageMail(services: ExportServices, work: MailExport): Promise<void> {
  await withRoom(services, work, (workspace) => unlessDamaged(workspace, () => stage(workspace, work)));
}

/**
 * Writes what is staged, contacts included, into the archive and offers it.
 * @returns the messages that the server does not hand out
 * @throws as {@link stageMail}, since staged messages that turn out damaged are fetched again
 */
export async function writeArchives(services: ExportServices, work: MailExport): Promise<readonly Skipped[]> {
  return withRoom(services, work, async (workspace) => {
    await unlessDamaged(workspace, async () => {
      if ((await workspace.reopen()).finished !== null) return;
      await stage(workspace, work);
      await writeSealed(workspace, contentsOf(work), NONE_LIVE);
      await offer(workspace);
    });
    return (await workspace.reopen()).mailSkipped ?? [];
  });
}

async function unlessDamaged({ services, work }: Workspace, write: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await write();
      return;
    } catch (error) {
      if (!(error instanceof SpoolError) || attempt === TRIES) throw error;
      const found = error.code === 'ENOENT' ? 'not in this DATA_DIR (is it another machine?)' : 'damaged';
      services.log.warn({ transferId: work.transferId, attempt }, `staged messages are ${found} and are fetched again`);
    }
  }
}

function contentsOf({ format, contactsFormat }: MailExport): Contents {
  return {
    openFormat: EXPORT_FORMATS[format],
    ...(contactsFormat === undefined ? {} : { contacts: contactsFormat }),
  };
}

/** Runs until the contents of the last part, which waits for the contacts, are settled. */
async function stage(workspace: Workspace, work: MailExport): Promise<void> {
  const { ledger, folder, limits } = workspace;
  const { finished, lastPart } = await workspace.reopen();
  if (finished !== null) return;
  // Even if only the last part is left, and before checking for room: a killed run leaves files.
  await sweepSpool(folder, () => ledger.segments());
  await pruneStored(workspace);
  if (lastPart !== null) return;
  const contents = contentsOf(work);
  await requireRoom(folder, limits.diskReserve);
  await using thread = openExportThread();
  await using segments = openSegments(folder, thread);
  const writeParts = () => writeSealed(workspace, contents, segments);
  await writeParts();
  const onPartFull = async () => {
    await ledger.seal();
    await writeParts();
  };
  const format = contents.openFormat();
  const skipped = await gatherMail({ ...work, ledger, limits, format, segments, folder, onPartFull });
  await segments.rotate();
  await ledger.seal({ skipped });
}

export type ContactsExport = ExportRun & { readonly reader: ContactReader };

/**
 * Reads all contacts and keeps them for the archive, which is written with the mail.
 * @returns the contacts that could not be read, and whether the archive has been offered
 */
export async function stageContacts(
  services: ExportServices,
  work: ContactsExport,
): Promise<{ readonly skipped: readonly Skipped[]; readonly offered: boolean }> {
  return withRoom(services, work, async (workspace) => {
    if (workspace.export.contactsStaged === null) await readContacts(workspace, work);
    const { contactsSkipped, finished } = await workspace.reopen();
    return { skipped: contactsSkipped ?? [], offered: finished !== null };
  });
}

async function readContacts(
  { contacts, ledger }: Workspace,
  { reader, signal, onProgress }: ContactsExport,
): Promise<void> {
  const skipped: Skipped[] = [];
  const { total } = await reader.survey(signal);
  await contacts.clear();
  // A contact that is changed while being read comes again, in its new form.
  const numbers = new Map<string, number>();
  let groups = 0;
  let unreadable = 0;
  for await (const reading of reader.contacts(signal)) {
    if (reading.kind === 'group') await contacts.putCard('group', (groups += 1), groupVcard(reading.group));
    else if (reading.kind === 'contact') {
      const { contact } = reading;
      const number = numbers.get(contact.uid) ?? numbers.size + 1;
      numbers.set(contact.uid, number);
      await contacts.put(number, contact);
    } else {
      skipped.push(reading.skipped);
      if (reading.raw !== undefined) await contacts.putCard('unreadable', (unreadable += 1), reading.raw);
    }
    const done = numbers.size + skipped.length;
    onProgress({ done, total: Math.max(total, done), bytes: 0 });
  }
  await ledger.contactsStaged(skipped);
}

type Workspace = {
  readonly services: ExportServices;
  readonly work: ExportRun;
  readonly export: Export;
  readonly reopen: () => Promise<Export>;
  readonly ledger: StagedMessages;
  readonly contacts: StagedContacts;
  readonly limits: ExportLimits;
  /** This export's folder on this machine. */
  readonly folder: string;
};

type Contents = { readonly openFormat: () => MailFormat; readonly contacts?: ContactsFormat };

async function withRoom<Result>(
  services: ExportServices,
  work: ExportRun,
  run: (workspace: Workspace) => Promise<Result>,
): Promise<Result> {
  const { database, exports, log } = services;
  try {
    const reopen = () => openExport(database, work.transferId);
    const opened = await reopen();
    const folder = join(exports.staging, opened.name);
    if (opened.finished === null) await mkdir(folder, { recursive: true, mode: 0o700 });
    return await run({
      services,
      work,
      export: opened,
      reopen,
      folder,
      ledger: openStagedMessages(fenced(database, work.lease), opened.id),
      contacts: openStagedContacts(fenced(database, work.lease), opened.id),
      limits: { ...EXPORT_LIMITS, ...services.limits },
    });
  } catch (error) {
    if (work.signal.aborted && !(error instanceof Stopped))
      throw new Stopped('The export was asked to stop.', { cause: error });
    // The worker that has the export now has removed what this one misses.
    if (await isLost(database, work.lease)) throw new LeaseLost(work.transferId);
    const facts = { transferId: work.transferId, folder: exports.staging, err: error };
    if (isDiskFull(error)) {
      const megabytes = Math.ceil((services.limits?.diskReserve ?? EXPORT_LIMITS.diskReserve) / MEGABYTE);
      log.error(
        { ...facts, megabytes },
        'an export is paused: the disk of DATA_DIR, of EXPORTS_URL or of the database is full, or has less room than these megabytes, which an export leaves free. Make room; it goes on by itself',
      );
      throw new ExportPaused('There is no room for the export.', { cause: error });
    }
    // A disk that keeps losing what is staged is as good as unusable.
    if (error instanceof StoreError || error instanceof SpoolError || isDiskUnusable(error)) {
      log.error(
        facts,
        'an export is paused: EXPORTS_URL or DATA_DIR can not be used. Mend it; the export goes on by itself',
      );
      throw new ExportPaused('There is no place for the export.', { cause: error });
    }
    throw error;
  }
}

async function isLost(database: Database, lease: Lease): Promise<boolean> {
  try {
    await requireLease(database, lease);
    return false;
  } catch (error) {
    return error instanceof LeaseLost;
  }
}

/** Writes the parts that are settled but not written, and then removes what they were made of. */
async function writeSealed(workspace: Workspace, contents: Contents, segments: Pick<Segments, 'live'>): Promise<void> {
  for (const part of await workspace.ledger.unwritten()) {
    await writePart(part, workspace, contents);
    await sweepSpool(workspace.folder, async () => {
      // In this order: a segment in use is live, or else recorded by the time the ledger is read.
      const live = segments.live();
      return new Set([...live, ...(await workspace.ledger.segments())]);
    });
  }
}

async function writePart(part: number, workspace: Workspace, contents: Contents): Promise<void> {
  const { ledger, folder, services, contacts, work } = workspace;
  const opened = await workspace.reopen();
  const isLast = part === opened.lastPart;
  const contactsFormat = isLast && opened.contactsStaged !== null ? contents.contacts : undefined;
  const format = contents.openFormat();
  const content = await ledger.content(part);
  // Claimed, because otherwise it would continue until nothing else has room either.
  using room = await claimRoom(folder, format.room(content), workspace.limits.diskReserve);
  // Half of the reserve is for the unforeseen.
  const watch = watchRoom(folder, workspace.limits.diskReserve / 2);
  const name = `part-${part}-${randomUUID().slice(0, 8)}.zip`;
  const path = join(folder, name);
  await using thread = openExportThread();
  await using reader = openSpoolReader(folder);
  const people = () => contacts.contacts();
  const source = {
    id: `${workspace.export.name}/${part}`,
    scratch: folder,
    made: new Date(services.now()),
    signal: work.signal,
  };
  try {
    const files = archiveFiles({
      ...source,
      folder,
      ledger,
      part,
      isLast,
      limits: workspace.limits,
      left: isLast ? await leftOf(opened, workspace, contents) : NOTHING_LEFT,
      hasContacts: contents.contacts !== undefined,
      spool: reader,
      thread,
      onWritten: (written) => {
        room.take(written);
        return watch(written);
      },
      provider: services.settings.legacyName,
      format,
      contacts: contactsFormat === 'pst' ? people : undefined,
      ...(contactsFormat === undefined
        ? {}
        : { contactFiles: await contactFiles(contactsFormat, contacts, source, format) }),
    });
    const written = await writeArchive(path, files, thread, work.signal);
    await services.exports.put(workspace.export.name, name, path, work.signal);
    await note({ part, name, ...written }, workspace);
  } catch (error) {
    await rm(path, { force: true });
    if (error instanceof SpoolError) await ledger.forget(part);
    throw error;
  }
}

const NOTHING_LEFT: Left = { messages: 0, contacts: 0, manyContacts: false, allContacts: false, folders: 0 };

async function leftOf(opened: Export, { contacts }: Workspace, ordered: Contents): Promise<Left> {
  const { contactsStaged, contactsSkipped, mailSkipped, mailUnsaved } = opened;
  const unread = contactsSkipped?.length ?? 0;
  const manyContacts = unread >= SKIPPED_AT_MOST;
  // Those that are damaged are in the archive as they are.
  const asTheyAre = await contacts.countCards('unreadable');
  return {
    messages: mailUnsaved ?? 0,
    contacts: manyContacts ? 0 : Math.max(0, unread - asTheyAre),
    manyContacts,
    allContacts: ordered.contacts !== undefined && contactsStaged === null,
    folders: foldersLeftBy({ skipped: mailSkipped ?? [] }),
  };
}

/**
 * Records a file, or removes it if nobody will be offered it: another worker has the export, or its owner no longer
 * wants it.
 */
async function note(file: PartFile, { ledger, services, export: { name } }: Workspace): Promise<void> {
  try {
    await ledger.written(file);
  } catch (error) {
    if (error instanceof LeaseLost) await services.exports.remove(name, file.name);
    throw error;
  }
}

/** Removes files of a run that died, or lost its database, after storing a part and before recording it. */
async function pruneStored({ ledger, services, work, export: { name } }: Workspace): Promise<void> {
  try {
    await services.exports.prune(name, () => ledger.names(), work.signal);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    services.log.warn({ err: error }, 'files that an export does not need could not be removed; they go with it');
  }
}

async function offer(workspace: Workspace): Promise<void> {
  const { ledger, services, folder } = workspace;
  const now = services.now();
  await pruneStored(workspace);
  await ledger.finish(new Date(now), new Date(now + services.settings.exportDays * DAY_MS));
  await rm(folder, { recursive: true, force: true });
}
