import { roomInArchive, type MailFormat } from '../staging/mail-format.ts';
import type { PartMessage } from '../staging/staged.ts';
import { messageName } from './message-name.ts';
import { ARCHIVE_ENTRIES } from './zip-archive.ts';

const pathOf = ({ folder, label }: PartMessage) => `mail/${folder}/${label}`;

/** One file per message, byte for byte; the file's time is the internal date. */
export const eml: MailFormat = {
  partMessages: ARCHIVE_ENTRIES,
  room: roomInArchive,
  label: (message, number) => messageName({ ...message, number }),
  async *files({ ledger, staged, part }) {
    for await (const message of ledger.messages(part))
      yield {
        path: pathOf(message),
        modified: message.internalDate,
        grain: message.size,
        sha256: message.sha256,
        known: { size: message.size, crc32: message.crc32 },
        content: () => staged(message),
      };
  },
  empty: (folder) => `mail/${folder}/`,
  place: (message) => ({ path: pathOf(message), more: {} }),
  about: [
    'mail/          Your mail: a file ending in .eml for each message, in folders as in',
    '               your mailbox, each exactly as it was. The names give the date (in',
    '               UTC), the sender and the subject. Open one by a double click: Apple',
    '               Mail, Outlook, Thunderbird and most other mail programs show it.',
    '               To take them all into Thunderbird, drag the files onto a folder.',
  ],
};
