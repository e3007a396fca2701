import type { MailAccount, Mailbox, Message } from '../mail-account.ts';
import { existing, kept, readFlags } from './account-commands.ts';
import { type Value, inSet, readSet, textOf } from './command.ts';
import { answerItems, readItems } from './fetch.ts';
import { ImapRefusal } from './refusal.ts';
import { readSearch, search } from './search.ts';
import type { WireWriter } from './wire-writer.ts';

/** `view` is the mailbox as this client knows it; sequence numbers are positions in it. */
export type Selected = {
  readonly mailbox: Mailbox;
  readonly writable: boolean;
  readonly view: Message[];
  changes: number;
};
type Place = { readonly number: number; readonly message: Message };

/** A command on messages of the selected mailbox; with `byUid`, its numbers are UIDs. */
export type Task = {
  readonly account: MailAccount;
  readonly selected: Selected;
  readonly args: readonly Value[];
  readonly byUid: boolean;
  readonly out: WireWriter;
};

/** Runs a command that needs a selected mailbox; `name` is without `UID`. @returns the text of the tagged OK. */
export async function performSelected(name: string, task: Task): Promise<string> {
  const { account, selected, args, byUid, out } = task;
  switch (name) {
    case 'EXPUNGE': {
      mustBeWritable(selected);
      const set = byUid ? readSet(textOf(args[0], 'The set'), lastUid(selected)) : null;
      expunge(task, (uid) => set === null || inSet(set, uid));
      return 'Expunged';
    }
    case 'FETCH':
      return fetchMessages(task);
    case 'STORE':
      return store(task);
    case 'COPY':
    case 'MOVE':
      return copy(task, name === 'MOVE');
    case 'SEARCH': {
      const test = readSearch(args, { number: selected.view.length, uid: lastUid(selected) });
      const found = await search(account, selected.view, test);
      const numbers = found.map(({ number, message }) => (byUid ? message.uid : number));
      await out.line(['* SEARCH', ...numbers].join(' '));
      return 'Searched';
    }
    default:
      throw new ImapRefusal('BAD', 'The command is unknown');
  }
}

async function fetchMessages({ account, selected, args, byUid, out }: Task): Promise<string> {
  const items = readItems(args[1], byUid);
  const marks = selected.writable && items.some((item) => item.kind === 'section' && !item.peek);
  for (const { number, message } of places(selected, args[0], byUid)) {
    if (message.expunged) continue;
    if (marks && !message.flags.includes('\\Seen'))
      kept(() => account.setFlags(selected.mailbox, message, [...message.flags, '\\Seen']));
    const data = await answerItems(account, message, items);
    await out.write([Buffer.from(`* ${number} FETCH (`), ...data, Buffer.from(')\r\n')]);
  }
  return 'Fetched';
}

async function store({ account, selected, args, byUid, out }: Task): Promise<string> {
  mustBeWritable(selected);
  const match = /^([+-]?)FLAGS(\.SILENT)?$/.exec(textOf(args[1], 'What to store').toUpperCase());
  if (match === null) throw new ImapRefusal('BAD', 'STORE wants FLAGS');
  const given = readFlags(args[2]?.kind === 'list' ? args[2].items : args.slice(2));
  const lower = new Set(given.map((flag) => flag.toLowerCase()));
  const known = selected.changes === selected.mailbox.changes;
  const lines: string[] = [];
  for (const { number, message } of places(selected, args[0], byUid)) {
    if (message.expunged) continue;
    const others = message.flags.filter((flag) => !lower.has(flag.toLowerCase()));
    const flags = match[1] === '-' ? others : match[1] === '+' ? [...others, ...given] : given;
    kept(() => account.setFlags(selected.mailbox, message, flags));
    lines.push(`* ${number} FETCH (${byUid ? `UID ${message.uid} ` : ''}FLAGS (${flags.join(' ')}))`);
  }
  if (known) selected.changes = selected.mailbox.changes;
  if (match[2] === undefined) for (const line of lines) await out.line(line);
  return 'Stored';
}

async function copy({ account, selected, args, byUid, out }: Task, move: boolean): Promise<string> {
  if (move) mustBeWritable(selected);
  const target = existing(account, args[1], '[TRYCREATE] ');
  const pairs: (readonly [Message, number])[] = [];
  for (const { message } of places(selected, args[0], byUid)) {
    if (message.expunged) continue;
    const bytes = await account.read(message);
    if (target.gone) throw new ImapRefusal('NO', '[TRYCREATE] The mailbox is gone');
    pairs.push([message, kept(() => account.append(target, message.internalDate, message.flags, bytes))]);
  }
  if (pairs.length === 0) return 'Nothing to copy';
  const from = pairs.map(([{ uid }]) => uid).join(',');
  const code = `[COPYUID ${target.uidValidity} ${from} ${pairs.map(([, uid]) => uid).join(',')}]`;
  if (!move) return `${code} Copied`;
  await out.line(`* OK ${code} Moved`);
  for (const [message] of pairs) kept(() => account.expunge(selected.mailbox, message));
  return 'Moved';
}

export function expunge(
  { account, selected }: Pick<Task, 'account' | 'selected'>,
  wanted: (uid: number) => boolean,
): void {
  const { mailbox } = selected;
  const doomed = mailbox.messages.filter(({ flags, uid }) => flags.includes('\\Deleted') && wanted(uid));
  for (const message of doomed) kept(() => account.expunge(mailbox, message));
}

/** Reports what other clients have changed. EXPUNGE is only sent with `expunges`: RFC 3501 §7.4.1 forbids it at times. */
export async function tellChanges(selected: Selected, expunges: boolean, out: WireWriter): Promise<void> {
  if (selected.changes === selected.mailbox.changes) return;
  const { mailbox, view } = selected;
  const since = selected.changes;
  const lines: string[] = [];
  if (expunges)
    for (let at = view.length - 1; at >= 0; at -= 1)
      if (view[at]?.expunged === true) {
        view.splice(at, 1);
        lines.push(`* ${at + 1} EXPUNGE`);
      }
  const known = lastUid(selected);
  const fresh = mailbox.messages.filter(({ uid }) => uid > known);
  for (const [index, { changed, expunged, flags, uid }] of view.entries())
    if (changed > since && !expunged) lines.push(`* ${index + 1} FETCH (UID ${uid} FLAGS (${flags.join(' ')}))`);
  if (fresh.length > 0) {
    view.push(...fresh);
    lines.push(`* ${view.length} EXISTS`);
  }
  if (expunges || view.every(({ expunged }) => !expunged)) selected.changes = mailbox.changes;
  for (const line of lines) await out.line(line);
}

function mustBeWritable({ writable }: Selected): void {
  if (!writable) throw new ImapRefusal('NO', '[READ-ONLY] The mailbox is only examined');
}

function lastUid({ view }: Selected): number {
  return view.at(-1)?.uid ?? 0;
}

function places({ view }: Selected, value: Value | undefined, byUid: boolean): Place[] {
  const last = view.at(-1)?.uid ?? 0;
  const set = readSet(textOf(value, 'The set'), byUid ? last : view.length);
  return view
    .map((message, index) => ({ number: index + 1, message }))
    .filter(({ number, message }) => inSet(set, byUid ? message.uid : number));
}
