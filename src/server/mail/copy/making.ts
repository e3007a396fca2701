import { LeaseLost } from '../../transfers/lease.ts';
import { MailError } from '../imap/mail-error.ts';
import type { MailWriter } from '../imap/streams.ts';
import type { MappedMailbox } from './mapping.ts';
import { FolderLeft, type Run } from './run.ts';

/** So many are asked for before the first is answered. */
const AT_ONCE = 32;

/** The mailboxes of the destination that a copy needs. */
export type Making = {
  /** Makes those that are missing; can be repeated after a fault. @throws {MailError} other than a mailbox's own, {@link LeaseLost} */
  make(writer: MailWriter): Promise<void>;
  /** Where a mailbox of the source goes, or why it could not be made. */
  pathFor(sourcePath: string): string | FolderLeft;
};

export function openMaking(mapped: readonly MappedMailbox[], run: Run): Making {
  const paths = new Map<string, string | FolderLeft>(mapped.map((each) => [each.source.path, each.destination]));
  const missing = mapped.filter(({ create }) => create);
  return {
    make: async (writer) => {
      for (let from = 0; from < missing.length; from += AT_ONCE)
        await Promise.all(
          missing.slice(from, from + AT_ONCE).map(async (each) => {
            paths.set(each.source.path, await makeMapped(each, writer, run));
          }),
        );
    },
    pathFor: (sourcePath) => {
      const path = paths.get(sourcePath);
      if (path === undefined) throw new Error('Nobody decided where the mailbox goes.');
      return path;
    },
  };
}

/** A server that refuses a name is asked for the plainer one. */
async function makeMapped(mapped: MappedMailbox, writer: MailWriter, run: Run): Promise<string | FolderLeft> {
  let refusal: unknown;
  for (const path of new Set([mapped.destination, mapped.plainer])) {
    try {
      await makeMailbox(path, writer, run);
      return path;
    } catch (error) {
      if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
      refusal = error;
    }
  }
  return new FolderLeft('mailbox not created', refusal);
}

/** One that exists already is fine. @throws {MailError}, {@link LeaseLost} */
export async function makeMailbox(path: string, writer: MailWriter, { copy }: Run): Promise<void> {
  const { lease, onMade } = copy;
  if (!lease.mayWrite()) throw new LeaseLost(lease.transferId);
  if (await writer.create(path)) await onMade(path);
}
