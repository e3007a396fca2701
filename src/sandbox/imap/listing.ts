import type { MailAccount, Mailbox } from '../mail-account.ts';
import { type Value, itemsOf, textOf } from './command.ts';
import { decodeName, encodeName } from './mailbox-name.ts';
import { ImapRefusal } from './refusal.ts';

const STATUS_ITEMS: Readonly<Record<string, (mailbox: Mailbox) => number>> = {
  MESSAGES: ({ messages }) => messages.length,
  RECENT: () => 0,
  UIDNEXT: ({ uidNext }) => uidNext,
  UIDVALIDITY: ({ uidValidity }) => uidValidity,
  UNSEEN: ({ messages }) => messages.filter(({ flags }) => !flags.includes('\\Seen')).length,
  SIZE: ({ messages }) => messages.reduce((sum, { size }) => sum + size, 0),
};

/** A mailbox name as a quoted string. */
function wireName(name: string): string {
  return `"${encodeName(name).replace(/[\\"]/g, '\\$&')}"`;
}

export function statusLine(mailbox: Mailbox, wanted: readonly Value[]): string {
  const items = wanted.map((value) => {
    const name = textOf(value, 'A status item').toUpperCase();
    const count = STATUS_ITEMS[name];
    if (count === undefined) throw new ImapRefusal('BAD', `The status item ${name.slice(0, 40)} is unknown`);
    return `${name} ${count(mailbox)}`;
  });
  return `STATUS ${wireName(mailbox.name)} (${items.join(' ')})`;
}

type Asked = {
  readonly onlySubscribed: boolean;
  readonly onlySpecialUse: boolean;
  readonly patterns: readonly RegExp[];
  readonly status: readonly Value[] | undefined;
};

/** LIST (RFC 3501 §6.3.8, 5258, 5819, 6154) and LSUB: the untagged responses, without their `* `. */
export function list(
  account: MailAccount,
  command: 'LIST' | 'LSUB',
  args: readonly Value[],
  delimiter: string,
): readonly string[] {
  if (args.length === 2 && args[1]?.kind !== 'list' && textOf(args[1], 'The pattern') === '')
    return [`${command} (\\Noselect) "${delimiter}" ""`];
  const asked = readList(args, delimiter);
  const names = [...account.mailboxes.keys(), ...(command === 'LSUB' ? account.subscriptions : [])];
  const all = new Set([...names, ...names.flatMap((name) => parents(name, delimiter))]);
  const lines: string[] = [];
  for (const name of [...all].toSorted()) {
    const mailbox = account.mailbox(name);
    const subscribed = account.subscriptions.has(name);
    const wanted =
      asked.patterns.some((pattern) => pattern.test(name)) &&
      (!(asked.onlySubscribed || command === 'LSUB') || subscribed) &&
      (!asked.onlySpecialUse || mailbox?.use !== undefined);
    if (!wanted) continue;
    const attributes = [
      ...(mailbox === undefined ? ['\\Noselect', '\\NonExistent'] : []),
      [...all].some((other) => other.startsWith(name + delimiter)) ? '\\HasChildren' : '\\HasNoChildren',
      ...(subscribed && command === 'LIST' ? ['\\Subscribed'] : []),
      ...(mailbox?.use === undefined ? [] : [mailbox.use]),
    ];
    lines.push(`${command} (${attributes.join(' ')}) "${delimiter}" ${wireName(name)}`);
    if (asked.status !== undefined && mailbox !== undefined) lines.push(statusLine(mailbox, asked.status));
  }
  return lines;
}

function readList(args: readonly Value[], delimiter: string): Asked {
  const rest = [...args];
  const selection = rest[0]?.kind === 'list' ? words(itemsOf(rest.shift(), 'The selection')) : [];
  const reference = textOf(rest.shift(), 'The reference');
  const patterns = rest[0]?.kind === 'list' ? itemsOf(rest.shift(), 'The patterns') : [rest.shift()];
  let status: readonly Value[] | undefined;
  if (rest.length > 0) {
    if (textOf(rest.shift(), 'RETURN').toUpperCase() !== 'RETURN')
      throw new ImapRefusal('BAD', 'LIST has too many words');
    const options = itemsOf(rest.shift(), 'RETURN');
    const at = options.findIndex((value) => value.kind === 'atom' && value.text.toUpperCase() === 'STATUS');
    if (at >= 0) status = itemsOf(options[at + 1], 'The status items');
  }
  return {
    onlySubscribed: selection.includes('SUBSCRIBED'),
    onlySpecialUse: selection.includes('SPECIAL-USE'),
    patterns: patterns.map((value) => matcher(reference + textOf(value, 'The pattern'), delimiter)),
    status,
  };
}

function words(values: readonly Value[]): readonly string[] {
  return values.map((value) => (value.kind === 'atom' ? value.text.toUpperCase() : ''));
}

function matcher(wire: string, delimiter: string): RegExp {
  const pattern = decodeName(wire.replace(/[*%]*\*[*%]*/g, '*').replace(/%+/g, '%')).replace(
    /[\\^$.|?+()[\]{}]/g,
    '\\$&',
  );
  const inner = delimiter === '.' ? String.raw`[^.]*` : '[^/]*';
  return new RegExp(`^${pattern.replaceAll('*', '.*').replaceAll('%', inner)}$`, /^inbox$/i.test(wire) ? 'i' : '');
}

function parents(name: string, delimiter: string): readonly string[] {
  const parts = name.split(delimiter);
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(delimiter));
}
