import { isRefusal, MailboxRenumbered, MailError, unlessRefused } from '../imap/mail-error.ts';
import type { Clock } from '../imap/wire.ts';
import type { MailControl, MailReader, MailWriter, Opened } from '../imap/streams.ts';
import { digestOf } from './digest.ts';
import { destinationPlace, fetchReadable, openFaults, type Faults, type Place } from './breaks.ts';
import { openLanes, Stopped, workOf } from './lanes.ts';
import { mayBeOdd, storedPath } from './ledger-rows.ts';
import { inParts } from './looking.ts';
import type { Appended, TakeBackRecords } from './take-back-records.ts';
import { isTroubled } from './troubles.ts';

const MESSAGES_AT_ONCE = 200;

/** The moments between which a worker can die. */
export type TakeBackStep = 'intended' | 'expunged' | 'noted' | 'folder removed';

export type TakingBack = {
  readonly clock: Clock;
  readonly reader: () => Promise<MailReader>;
  readonly writer: () => Promise<MailWriter>;
  readonly control: () => Promise<MailControl>;
  readonly records: TakeBackRecords;
  readonly mayWrite: () => boolean;
  /** Whether it is tried again for a mailbox that the server is in trouble with. */
  readonly mayWait: boolean;
  readonly signal: AbortSignal;
  readonly onStep: (step: TakeBackStep) => void | Promise<void>;
};

/** `not one by one`: the server can't take away one message without others, so nothing was taken back. */
export type TakeBackEnd = 'done' | 'not one by one';

/**
 * Takes back what a transfer has appended and nobody has touched since: by UID, in the same folder under the same
 * UIDVALIDITY, with the flags that it was given, and with the same octets. Then the folders that it made and that are
 * empty. What is not sure stays, and what the server hangs up at. Can be repeated after any failure.
 * @throws {MailError}, {@link LeaseLost}, {@link Stopped}
 */
export async function takeBack(taking: TakingBack): Promise<TakeBackEnd> {
  const { clock, signal, records } = taking;
  let moved = 0;
  const looked = () => {
    moved += 1;
  };
  const run = { ...openFaults(), looked };
  const paths = await records.paths();
  const names = await oddNames(paths, taking);
  {
    await using lanes = openLanes<Session>({
      size: 1,
      clock,
      signal,
      moved: () => moved,
      open: () => openSession(taking),
    });
    let saysUids = false;
    await lanes.work(workOf([0]), async (_, { writer }) => {
      ({ saysUids } = writer.traits);
    });
    if (!saysUids) return 'not one by one';
    const troubles: MailError[] = [];
    await lanes.work(workOf(paths), async (stored, session) => {
      const path = names.get(stored) ?? stored;
      try {
        await takeBackFrom({ path, stored }, session, taking, run);
      } catch (error) {
        if (!isTroubled(error, path, run)) throw error;
        troubles.push(error);
      }
    });
    const [trouble] = troubles;
    if (trouble !== undefined && taking.mayWait) throw trouble;
  }
  await removeFolders(taking);
  return 'done';
}

type Session = AsyncDisposable & { readonly reader: MailReader; readonly writer: MailWriter };

async function openSession(taking: TakingBack): Promise<Session> {
  const writer = await taking.writer();
  try {
    const reader = await taking.reader();
    const dispose = async () => {
      await Promise.all([reader[Symbol.asyncDispose](), writer[Symbol.asyncDispose]()]);
    };
    return { reader, writer, [Symbol.asyncDispose]: dispose };
  } catch (error) {
    await writer[Symbol.asyncDispose]();
    throw error;
  }
}

/** The names that the server has for those that no column holds. */
async function oddNames(paths: readonly string[], { control }: TakingBack): Promise<ReadonlyMap<string, string>> {
  if (!paths.some(mayBeOdd)) return new Map();
  await using listing = await control();
  return new Map((await listing.mailboxes()).map(({ path }) => [storedPath(path), path]));
}

/** A mailbox by its name and by the one that records have. */
type Named = { readonly path: string; readonly stored: string };

async function takeBackFrom({ path, stored }: Named, session: Session, taking: TakingBack, run: Faults): Promise<void> {
  const { reader } = session;
  const { records } = taking;
  let after = { mailboxId: 0, uid: 0 };
  for (;;) {
    const page = await records.page(stored, after, MESSAGES_AT_ONCE);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last;
    stopWhenAsked(taking);
    // Anew for each page: what others have changed shows only then.
    const opened = await unlessRefused(reader.open(path));
    if (opened === null) return;
    // Under another UIDVALIDITY a UID is of some other message.
    const named = page.filter(({ uidValidity }) => uidValidity === opened.uidValidity);
    await takeBackPage(path, named, opened, session, taking, run);
  }
}

async function takeBackPage(
  path: string,
  messages: readonly Appended[],
  opened: Opened,
  { reader, writer }: Session,
  taking: TakingBack,
  run: Faults,
): Promise<void> {
  if (messages.length === 0) return;
  const { records, onStep } = taking;
  const flags = await flagsOf(path, messages, reader);
  // What was about to go and is not there has gone by us.
  const gone = messages.filter(({ intent, destinationUid }) => intent && !flags.has(destinationUid));
  if (gone.length > 0) await records.removed(gone);
  const untouched = messages.filter((message) => isUntouched(message, flags.get(message.destinationUid)));
  const ours = await withSameOctets(destinationPlace(reader, path, opened.uidValidity), untouched, run);
  const spared = messages.filter((message) => message.intent && !gone.includes(message) && !ours.includes(message));
  if (spared.length > 0) await records.spare(spared);
  if (ours.length === 0) return;
  await records.intend(ours);
  await onStep('intended');
  stopWhenAsked(taking);
  const selected = await writer.select(path);
  if (selected.uidValidity !== opened.uidValidity) throw new MailboxRenumbered();
  await writer.expunge(
    path,
    ours.map(({ destinationUid }) => destinationUid),
    opened.highestModseq,
  );
  await onStep('expunged');
  await reader.open(path);
  const still = await flagsOf(path, ours, reader);
  const removed = ours.filter(({ destinationUid }) => !still.has(destinationUid));
  await records.removed(removed);
  // Those do not come again: what fails after them is tried as often again.
  if (removed.length > 0) run.looked();
  const touchedSince = ours.filter(({ destinationUid }) => still.has(destinationUid));
  if (touchedSince.length > 0) await records.spare(touchedSince);
  await onStep('noted');
}

async function flagsOf(
  path: string,
  messages: readonly Appended[],
  reader: MailReader,
): Promise<Map<number, readonly string[]>> {
  const flags = new Map<number, readonly string[]>();
  for (const uids of inParts(messages.map(({ destinationUid }) => destinationUid)))
    for await (const page of reader.look(path, uids)) for (const listed of page) flags.set(listed.uid, listed.flags);
  return flags;
}

/** Its flags are those that it was given; the mark of an earlier try of ours is not counted. */
function isUntouched({ flags, intent }: Appended, there: readonly string[] | undefined): boolean {
  if (there === undefined) return false;
  const setOf = (all: readonly string[]) =>
    new Set(all.map((flag) => flag.toLowerCase()).filter((flag) => !intent || flag !== '\\deleted'));
  const [given, found] = [setOf(flags), setOf(there)];
  return given.size === found.size && [...given].every((flag) => found.has(flag));
}

async function withSameOctets(place: Place, messages: readonly Appended[], run: Faults): Promise<readonly Appended[]> {
  const same: Appended[] = [];
  const byUid = new Map(messages.map((message) => [message.destinationUid, message]));
  for (const uids of inParts([...byUid.keys()]))
    for await (const { uid, octets } of fetchReadable(place, uids, run)) {
      const { sha256 } = await digestOf(octets);
      const message = byUid.get(uid);
      if (message?.sha256 === sha256) same.push(message);
    }
  return same;
}

/** The deepest first, so that one that held only another one of ours is empty by then. */
async function removeFolders(taking: TakingBack): Promise<void> {
  const { records, onStep } = taking;
  const folders = await records.folders();
  if (folders.length === 0) return;
  await using control = await taking.control();
  await using reader = await taking.reader();
  const { delimiter } = control.namespace;
  for (const path of folders) {
    stopWhenAsked(taking);
    const all = await control.mailboxes();
    const here = all.find((mailbox) => mailbox.path === path);
    const hasChildren = delimiter !== '' && all.some((mailbox) => mailbox.path.startsWith(`${path}${delimiter}`));
    if (here !== undefined) {
      if (hasChildren || here.specialUse !== undefined) continue;
      const opened = await openUnlessInTrouble(path, reader, taking);
      if (opened === null || opened.exists > 0) continue;
      try {
        await control.remove(path);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        continue;
      }
    }
    await records.folderRemoved(path);
    await onStep('folder removed');
  }
}

/** A folder that the server is in trouble with stays, once it is not waited for any more. */
async function openUnlessInTrouble(path: string, reader: MailReader, { mayWait }: TakingBack): Promise<Opened | null> {
  try {
    return await unlessRefused(reader.open(path));
  } catch (error) {
    if (mayWait || !(error instanceof MailError) || error.fault !== 'busy') throw error;
    return null;
  }
}

function stopWhenAsked({ signal, mayWrite }: TakingBack): void {
  if (signal.aborted || !mayWrite()) throw new Stopped('The work was asked to stop.');
}
