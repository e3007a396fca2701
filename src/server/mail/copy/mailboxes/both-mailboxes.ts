import { isRefusal, MailboxRenumbered, MailError } from '../../imap/mail-error.ts';
import type { MailReader, Opened, Selected } from '../../imap/streams.ts';
import type { LedgerMailbox } from '../ledger/ledger.ts';
import { FolderLeft, type Run, type Session } from '../run/run.ts';
import { notingHangUps } from '../troubles/hang-ups.ts';
import { makeMailbox } from './making.ts';

/** How often, in one run, a mailbox that is said to be missing is created again. */
const MADE_AT_MOST = 2;

/** Opens a mailbox and the one that it is copied into. @throws {MailError}, {@link FolderLeft} */
export async function openBoth(
  sourcePath: string,
  path: string,
  uidValidity: bigint,
  session: Session,
  run: Run,
): Promise<Selected> {
  const [selected] = await Promise.all([
    select(path, session, run).then((selected) => unlessClosed(withUidNext(path, selected, session))),
    reopen(session.reader, sourcePath, uidValidity, run),
  ]);
  return selected;
}

/** If a server does not report UIDNEXT, it is taken to follow the last UID: what was there before is not ours. */
async function withUidNext(path: string, selected: Selected, { checker }: Session): Promise<Selected> {
  if (selected.uidNext !== undefined) return selected;
  const { uidValidity } = await checker.open(path);
  if (uidValidity !== selected.uidValidity) throw new MailboxRenumbered('destination');
  const uids = await checker.search(path);
  return { ...selected, uidNext: uids.reduce((last, uid) => Math.max(last, uid), 0) + 1 };
}

/** Opens the mailbox again. The listed UIDs mean nothing under another UIDVALIDITY. */
export async function reopen(reader: MailReader, path: string, uidValidity: bigint, run: Run): Promise<Opened> {
  const opened = await unlessUnreadable(notingHangUps('source', path, reader, run, () => reader.open(path)));
  if (opened.uidValidity !== uidValidity) throw new MailboxRenumbered('source');
  return opened;
}

/** A refusal by the source is not the fault of the mailbox that is copied into. */
export async function unlessUnreadable<Answer>(reading: Promise<Answer>): Promise<Answer> {
  try {
    return await reading;
  } catch (error) {
    throw isRefusal(error) ? new FolderLeft('mailbox unreadable', error) : error;
  }
}

/** Some servers send no code if a mailbox is missing. */
function mayBeMissing({ responseCode }: MailError): boolean {
  return responseCode === undefined || responseCode === 'TRYCREATE' || responseCode === 'NONEXISTENT';
}

/**
 * Creates a mailbox again that has been deleted meanwhile; the error returned then restarts the folder. If the server
 * says each time that it is missing, the folder is left out.
 */
export async function afterRefusal(error: unknown, path: string, { writer }: Session, run: Run): Promise<unknown> {
  if (!isRefusal(error)) return error;
  // The source is read at the same time, and may have refused.
  if (error.account === 'source') return new FolderLeft('mailbox unreadable', error);
  const isMissing = error.responseCode !== undefined && mayBeMissing(error);
  if (!isMissing || run.faults(`made anew ${path}`) >= MADE_AT_MOST) return new FolderLeft('mailbox closed', error);
  try {
    run.planAgain('destination', path);
    run.noteFault(`made anew ${path}`);
    await makeMailbox(path, writer, run);
    return new MailError('lost', 'The mailbox was made anew.', { cause: error });
  } catch (refusal) {
    return isRefusal(refusal) ? new FolderLeft('mailbox not created', refusal) : refusal;
  }
}

/** Selects the mailbox, and creates it if it is missing: deleted at the destination meanwhile, or not there yet. */
async function select(path: string, { writer, checker }: Session, run: Run): Promise<Selected> {
  const selecting = () => notingHangUps('destination', path, checker, run, () => writer.select(path));
  try {
    return await selecting();
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (mayBeMissing(error)) run.planAgain('destination', path);
  }
  try {
    await makeMailbox(path, writer, run);
  } catch (error) {
    throw isRefusal(error) ? new FolderLeft('mailbox not created', error) : error;
  }
  return unlessClosed(unlessNotYetThere(selecting()));
}

/**
 * Some servers say of a mailbox that they have just made, or say exists, that it does not: Exchange does for some
 * seconds.
 */
async function unlessNotYetThere(selecting: Promise<Selected>): Promise<Selected> {
  try {
    return await selecting;
  } catch (error) {
    if (!isRefusal(error) || error.responseCode === undefined || !mayBeMissing(error)) throw error;
    const cause = new MailError('busy', 'The mailbox was made, or exists, and is not there when it is opened.', {
      cause: error,
    }).of('destination');
    throw new FolderLeft('mailbox closed', cause);
  }
}

/**
 * Turns a refusal into {@link FolderLeft}: of the mailbox at the destination, or of the source that is read meanwhile.
 */
export async function unlessClosed<Answer>(looking: Promise<Answer>): Promise<Answer> {
  try {
    return await looking;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    throw new FolderLeft(error.account === 'source' ? 'mailbox unreadable' : 'mailbox closed', error);
  }
}

/**
 * Works over new connections, as some servers end each after so many commands. The session's own are closed first: an
 * account may allow no more.
 */
export async function overNewSession(
  session: Session,
  mailbox: LedgerMailbox,
  run: Run,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  await session.writer[Symbol.asyncDispose]();
  await using writer = await run.copy.destination.writer();
  await overNewReader({ ...session, writer, checker: writer.reading() }, mailbox, run, work);
}

/** The same, with a new connection to the source only. */
export async function overNewReader(
  session: Session,
  { sourcePath, sourceUidValidity }: LedgerMailbox,
  run: Run,
  work: (session: Session) => Promise<void>,
): Promise<void> {
  await session.reader[Symbol.asyncDispose]();
  await using reader = await run.copy.source.reader();
  await reopen(reader, sourcePath, sourceUidValidity, run);
  await work({ ...session, reader });
}
