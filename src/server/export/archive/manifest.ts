import { BYTE_ORDER_MARK, csvRows, harmless } from '../../spreadsheet.ts';
import type { MailFormat } from '../staging/mail-format.ts';
import type { StagedMessages } from '../staging/staged-messages.ts';
import type { ContactEntry } from './contact-files.ts';

type Listed = { readonly ledger: StagedMessages; readonly part: number; readonly format: MailFormat };

/**
 * A message as both manifests list it. `mailbox` is the server's own name, `more` is what the format needs in addition.
 */
async function* messages({ ledger, part, format }: Listed) {
  const mailboxes = new Map((await ledger.mailboxes(part)).map((mailbox) => [mailbox.mailboxId, mailbox]));
  let [mailboxId, index] = [0, 0];
  for await (const message of ledger.messages(part)) {
    const mailbox = mailboxes.get(message.mailboxId);
    if (mailbox === undefined) throw new Error('A message is in no mailbox of its part.');
    index = message.mailboxId === mailboxId ? index + 1 : 1;
    mailboxId = message.mailboxId;
    const { path, more } = format.place(message, mailbox, index);
    yield {
      path,
      mailbox: message.path,
      internalDate: message.internalDate.toISOString(),
      flags: message.flags,
      size: message.size,
      sha256: message.sha256,
      more,
    };
  }
}

/**
 * JSON lines, for programs: `type` is `message` or `contact`; `size` is octets, `sha256` of the message as the server
 * held it.
 */
export async function* manifestLines(
  listed: Listed,
  contacts: () => AsyncIterable<ContactEntry>,
): AsyncGenerator<Buffer> {
  for await (const some of inBatches(messages(listed)))
    yield lines(some.map(({ more, ...message }) => ({ type: 'message', ...message, ...more })));
  for await (const some of inBatches(contacts())) yield lines(some.map((contact) => ({ type: 'contact', ...contact })));
}

function lines(items: readonly object[]): Buffer {
  return Buffer.from(items.map((item) => `${JSON.stringify(item)}\n`).join(''));
}

/** The same for a spreadsheet; cells that a program could take for a formula begin with an apostrophe. */
export async function* manifestTable(
  listed: Listed,
  contacts: () => AsyncIterable<ContactEntry>,
): AsyncGenerator<Buffer> {
  yield Buffer.concat([
    Buffer.from(BYTE_ORDER_MARK),
    rows([['Type', 'File', 'Number in file', 'Mailbox', 'Received (UTC)', 'Flags', 'Octets', 'SHA-256', 'Name']]),
  ]);
  for await (const some of inBatches(messages(listed)))
    yield rows(
      some.map(({ path, mailbox, internalDate, flags, size, sha256, more }) => {
        return ['message', path, more['index'] ?? '', mailbox, internalDate, flags.join(' '), size, sha256, ''];
      }),
    );
  for await (const some of inBatches(contacts()))
    yield rows(some.map(({ path, index, name }) => ['contact', path, index, '', '', '', '', '', name]));
}

function rows(all: readonly (readonly (string | number)[])[]): Buffer {
  return Buffer.from(csvRows(all.map((cells) => cells.map((cell) => harmless(String(cell))))));
}

/** How much is written at once. */
const BATCH = 200;

async function* inBatches<Item>(items: AsyncIterable<Item>): AsyncGenerator<readonly Item[]> {
  let batch: Item[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
