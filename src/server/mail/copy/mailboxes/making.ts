import { Stopped } from '../../../stopped.ts';
import { LeaseLost } from '../../../transfers/lease.ts';
import { isRefusal, MailError, wordsOf } from '../../imap/mail-error.ts';
import type { MailWriter } from '../../imap/streams.ts';
import { FolderLeft, type Run } from '../run/run.ts';
import type { MappedMailbox } from './mapping.ts';

/** How many CREATE commands are sent before the first is answered. */
const AT_ONCE = 32;

/** The mailboxes of the destination that a copy needs. */
export type Making = {
  /**
   * Creates those that are missing, all together. A mailbox that the server refuses, or is busy or full for, holds up
   * its own folder only.
   */
  readonly makeAll: (writer: MailWriter) => Promise<void>;
  /**
   * Where a mailbox of the source goes. When this resolves, it exists.
   * @throws {FolderLeft} when it can't be made, and as {@link makeMailbox}
   */
  readonly pathFor: (sourcePath: string, writer: MailWriter) => Promise<string>;
  /** Where it is to go, as far as that is known. */
  readonly plannedFor: (sourcePath: string) => string;
};

/** The mailboxes that a plan lacks at the destination; they are made when the first folder asks for its own. */
export function openMaking(mapped: readonly MappedMailbox[], run: Run): Making {
  const missing = new Map(mapped.filter(({ create }) => create).map((each) => [each.source.path, each]));
  const paths = new Map(mapped.map((each) => [each.source.path, each.destination]));
  const refused = new Map<string, FolderLeft>();
  const plannedFor = (sourcePath: string) => {
    const path = paths.get(sourcePath);
    if (path === undefined) throw new Error('Nobody decided where the mailbox goes.');
    return path;
  };
  const make = async (each: MappedMailbox, writer: MailWriter) => {
    const path = each.source.path;
    try {
      paths.set(path, await makeMapped(each, writer, run));
    } catch (error) {
      if (!(error instanceof FolderLeft)) throw error;
      refused.set(path, error);
    }
    missing.delete(path);
  };
  return {
    makeAll: async (writer) => {
      const all = [...missing.values()];
      for (let from = 0; from < all.length; from += AT_ONCE) {
        const made = await Promise.allSettled(all.slice(from, from + AT_ONCE).map((each) => make(each, writer)));
        const faults = made.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
        for (const fault of faults) if (!isItsOwn(fault)) throw fault;
        if (faults.length > 0) return;
      }
    },
    pathFor: async (sourcePath, writer) => {
      const each = missing.get(sourcePath);
      if (each !== undefined) await make(each, writer);
      const refusal = refused.get(sourcePath);
      if (refusal !== undefined) throw refusal;
      return plannedFor(sourcePath);
    },
    plannedFor,
  };
}

/** Whether an error (busy, full) is of one mailbox only: its folder asks again later. */
function isItsOwn(fault: unknown): boolean {
  return fault instanceof MailError && (fault.fault === 'busy' || fault.fault === 'full');
}

/** If the server refuses a name, plainer ones are tried; if it reserves a name for itself, a numbered one. */
async function makeMapped(mapped: MappedMailbox, writer: MailWriter, run: Run): Promise<string> {
  const paths = [...new Set([mapped.destination, mapped.plainer, mapped.plainest])];
  let refusal: unknown;
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    try {
      await makeMailbox(path, writer, run);
      return path;
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal = error;
      if (path === mapped.plainer && isReserved(error)) paths.push(mapped.numbered);
    }
  }
  throw new FolderLeft('mailbox not created', refusal);
}

/** Outlook reserves `Files`, Gmail the names of its labels: it says that they exist, even if nobody can open them. */
function isReserved(refusal: MailError): boolean {
  return refusal.responseCode === 'ALREADYEXISTS' || /\breserved\b/i.test(wordsOf(refusal));
}

/** Creates a mailbox; one that exists is fine. @throws {MailError}, {@link LeaseLost}, {@link Stopped} */
export async function makeMailbox(path: string, writer: MailWriter, { copy, opened }: Run): Promise<void> {
  const { lease, signal, onMade } = copy;
  if (signal.aborted) throw new Stopped('The work was asked to stop.');
  if (!lease.mayWrite()) throw new LeaseLost(lease.transferId);
  const isNew = await writer.create(path);
  if (!isNew) return;
  opened.destination.add(path);
  await onMade(path);
}
