import { roomInArchive, type MailFormat, type PartSource } from '../staging/mail-format.ts';
import type { PartMailbox } from '../staging/staged.ts';
import { mboxBody, mboxHead, openLineEnds } from './mbox.ts';
import { senderAddress } from './message-name.ts';
import { ARCHIVE_ENTRIES } from './zip-archive.ts';

/**
 * A mailbox that continues in a later part has another file name there, so that all parts can be unpacked in one place.
 */
function pathOf({ folder, before }: Pick<PartMailbox, 'folder' | 'before'>): string {
  return `mail/${folder}${before === 0 ? '' : `.part${before + 1}`}.mbox`;
}

async function* mailboxContent({ ledger, octets, part }: PartSource, mailboxId: number): AsyncGenerator<Buffer> {
  for await (const message of ledger.messages(part, mailboxId)) {
    yield mboxHead({ ...message, sender: message.label });
    yield* mboxBody(octets(message), message.lineEnds);
  }
}

/** One file for each mailbox, in the form `mboxrd`. */
export const mbox: MailFormat = {
  partMessages: ARCHIVE_ENTRIES,
  room: roomInArchive,
  label: ({ header }) => senderAddress(header),
  openLineEnds,
  async *files(source) {
    for (const mailbox of await source.ledger.mailboxes(source.part))
      yield {
        path: pathOf(mailbox),
        modified: mailbox.newest,
        grain: mailbox.octets / mailbox.messages,
        content: () => mailboxContent(source, mailbox.mailboxId),
      };
  },
  empty: (folder) => pathOf({ folder, before: 0 }),
  place: (message, mailbox, index) => ({ path: pathOf(mailbox), more: { index, lineEnds: message.lineEnds } }),
  about: [
    'mail/          Your mail: a file ending in .mbox for each folder of your mailbox.',
    '               Thunderbird takes them in with the add-on ImportExportTools NG, Apple',
    '               Mail by File > Import Mailboxes, mutt by mutt -f FILE. Thunderbird shows',
    '               all messages as read; the manifest says which of them were.',
    '',
    '               The form is mboxrd: lines that begin with "From ", whatever number of',
    '               ">" stands before it, have one ">" more. Each message begins with three',
    '               lines that were not in it: Status, X-Status and X-Keywords (read,',
    '               answered, flagged, and so on). Lines end with LF. To get a message back',
    '               byte for byte: drop those three lines, take one ">" from each line that',
    '               begins with one or more ">" and then "From ", turn LF into CRLF if the',
    '               manifest says lineEnds crlf, and keep as many octets from the start as',
    '               the manifest says. The sha256 in the manifest is of that original.',
  ],
};
