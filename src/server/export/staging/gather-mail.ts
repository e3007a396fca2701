import type { Skipped } from '../../../contract/calls/status.ts';
import { workThrough, type Pause } from '../../mail/copy/connection-pool.ts';
import { MESSAGE_SIZE_LIMIT } from '../../mail/imap/connection.ts';
import type { Mailbox, MailReader, OpenedMailbox } from '../../mail/imap/message.ts';
import type { Ledger } from './staged-messages.ts';
import type { ExportLimits } from './export-limits.ts';
import type { MailFormat } from '../archive/mail-format.ts';
import type { SpoolDesk } from './spool.ts';
import { openDesk, type Desk, type Sheet } from './stage-mail.ts';

export type ExportProgress = { readonly done: number; readonly total: number; readonly bytes: number };

export type Gathering = {
  readonly ledger: Ledger;
  readonly openReader: () => Promise<MailReader>;
  readonly connections: number;
  readonly pause: Pause;
  readonly format: MailFormat;
  readonly limits: ExportLimits;
  /** Where the spool is, for a look at the room on its disk. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly spool: SpoolDesk;
  /** Seals what is staged and writes it; messages may be staged meanwhile, for the next part. */
  readonly onPartFull: () => Promise<void>;
  readonly onProgress: (progress: ExportProgress) => void;
};

/** How often the mailboxes are gone through: again for what arrived meanwhile or was not handed out at first. */
const PASSES = 4;

/**
 * Stages every message that is not staged yet. It ends when a pass over all mailboxes finds nothing new.
 * @returns the messages that the source lists and, asked again, does not hand out.
 * @throws {MailError} what stopped it, {@link Stopped} after an abort
 */
export async function gatherMail(gathering: Gathering): Promise<readonly Skipped[]> {
  const desk = await openDesk(gathering);
  let sheets: readonly Sheet[] = [];
  for (let pass = 1; pass <= PASSES; pass += 1) {
    const before = desk.count();
    sheets = await listAll(gathering, desk);
    const batches = sheets.flatMap((sheet) => [...batchesOf(sheet, gathering.limits)]);
    await workThrough(batches, {
      ...gathering,
      size: gathering.connections,
      moved: () => desk.count(),
      open: gathering.openReader,
      work: (batch, reader) => desk.take(batch, reader),
    });
    if (desk.count() === before) break;
  }
  return sheets.flatMap((sheet) =>
    sheet.wanted
      .filter(({ uid }) => !sheet.taken.has(uid))
      .map((wanted) => skippedOf(sheet.opened.mailbox, wanted.size)),
  );
}

function skippedOf({ path }: Mailbox, size: number): Skipped {
  const reason =
    size > MESSAGE_SIZE_LIMIT
      ? 'This message is too large to be exported. It is still in your mailbox.'
      : 'The mail server lists this message and does not hand it out. It is still in your mailbox.';
  return { mailbox: path, reason };
}

/** What of each mailbox is not staged yet, by a fresh listing. */
async function listAll({ ledger, openReader, pause, signal }: Gathering, desk: Desk): Promise<Sheet[]> {
  const sheets = new Map<string, Sheet>();
  let total = 0;
  await workThrough([0], {
    size: 1,
    pause,
    signal,
    moved: () => sheets.size,
    open: openReader,
    work: async (_, reader) => {
      sheets.clear();
      total = 0;
      for (const mailbox of await reader.mailboxes()) {
        const opened = await reader.open(mailbox);
        total += opened.exists;
        sheets.set(mailbox.path, await sheetOf(opened, reader, ledger));
      }
    },
  });
  desk.expect(total);
  return [...sheets.values()];
}

async function sheetOf(opened: OpenedMailbox, reader: MailReader, ledger: Ledger): Promise<Sheet> {
  const mailboxId = await ledger.mailbox(opened.mailbox);
  const { uids, highest, older } = await ledger.staged(mailboxId, opened.uidValidity);
  const wanted = new Map<number, { uid: number; size: number }>();
  for await (const { uid, size } of reader.list(opened.mailbox)) if (!uids.has(uid)) wanted.set(uid, { uid, size });
  return { opened, mailboxId, highest, claims: older > 0, wanted: [...wanted.values()], taken: new Set() };
}

/** A message larger than a whole batch is one by itself. */
function* batchesOf(sheet: Sheet, { batchOctets, batchMessages }: ExportLimits) {
  let [uids, octets]: [number[], number] = [[], 0];
  for (const { uid, size } of sheet.wanted) {
    if (size > MESSAGE_SIZE_LIMIT) continue;
    if (uids.length > 0 && (octets + size > batchOctets || uids.length === batchMessages)) {
      yield { sheet, uids, octets };
      [uids, octets] = [[], 0];
    }
    uids.push(uid);
    octets += size;
  }
  if (uids.length > 0) yield { sheet, uids, octets };
}
