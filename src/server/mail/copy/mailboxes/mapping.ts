import { isInbox, isInboxName, ownPath, personalPrefix, type Mailbox } from '../../imap/mailbox.ts';
import { VIEWS } from '../../imap/roles.ts';
import type { Namespace } from '../../imap/streams.ts';
import { mailboxName } from '../../imap/wire/mailbox-name.ts';
import { normalized } from '../../../normalized.ts';

/**
 * Where one source mailbox goes. `create` if the destination doesn't have it yet; then `plainer` is the name for a
 * server that refuses to create it as it is, `plainest`, which is short as well, for one that refuses that, and
 * `numbered` for one that reserves that name for itself.
 */
export type MappedMailbox = {
  readonly source: Mailbox;
  readonly destination: string;
  readonly create: boolean;
  readonly plainer: string;
  readonly plainest: string;
  readonly numbered: string;
};

/** `left` are views of messages that lie in other mailboxes as well. */
export type Mapping = { readonly mailboxes: readonly MappedMailbox[]; readonly left: readonly Mailbox[] };

/** RFC 6154 roles that hold messages of their own. */
const ROLES = new Set(['\\Sent', '\\Drafts', '\\Junk', '\\Trash', '\\Archive']);
/**
 * Dovecot and Cyrus take 255 octets of modified UTF-7 for a whole name; this many characters a part keeps names within
 * reason.
 */
const PART_LENGTH = 80;
/**
 * The length of a whole short name, in octets of modified UTF-7. Gmail takes 225, which leaves room for a number behind
 * it.
 */
const SHORT_LENGTH = 200;
/** The last part of a short name needs so many octets to be told from others. */
const LAST_PART_LENGTH = 40;
const GMAIL_CONTAINERS = new Set(['[gmail]', '[google mail]']);

/**
 * Decides where each source mailbox goes; pure, and the same for the same input. A mailbox never shares its
 * destination with another one of the source.
 * @param namespace of the destination
 * @param earlier what was decided before, by source path: it stays so for the whole transfer.
 * @param ownFolders of the destination, by their names in lower case, that show no mail
 */
export function mapMailboxes(
  source: readonly Mailbox[],
  destination: readonly Mailbox[],
  namespace: Namespace,
  earlier: ReadonlyMap<string, string> = new Map(),
  ownFolders: readonly string[] = [],
): Mapping {
  const views = isGmailLike(source) ? source.filter(isView) : [];
  const existing = new Set(destination.map((mailbox) => mailbox.path));
  const folded = new Map(destination.toReversed().map(({ path }) => [fold(path), path]));
  const roles = rolesOf(destination);
  const taken = new Set([...earlier.values()].map(fold));
  const prefix = personalPrefix(source);
  const gmailDestination = isGmailLike(destination);
  const there = { namespace, existing, folded, numbers: new Map<string, number>() };
  const decided = new Map<string, string>();
  const decide = (mailbox: Mailbox, path: string) => {
    decided.set(mailbox.path, path);
    taken.add(fold(path));
  };
  const rest = source
    .filter((mailbox) => !views.includes(mailbox))
    .toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));

  for (const mailbox of rest) {
    const before = isInbox(mailbox) ? 'INBOX' : earlier.get(mailbox.path);
    if (before !== undefined) decide(mailbox, before);
  }
  for (const mailbox of rest) {
    if (decided.has(mailbox.path)) continue;
    const role = mailbox.specialUse;
    const home = role === undefined ? undefined : roles.get(role);
    if (home !== undefined && !taken.has(fold(home))) decide(mailbox, home);
  }
  for (const mailbox of rest) {
    if (decided.has(mailbox.path)) continue;
    decide(mailbox, freePath(namesOf(mailbox, NEVER), there, taken));
  }
  return {
    mailboxes: rest.map((mailbox) => {
      const path = decided.get(mailbox.path) ?? mailbox.path;
      const create = path !== 'INBOX' && !existing.has(path);
      if (!create) return { source: mailbox, destination: path, create, plainer: path, plainest: path, numbered: path };
      const names = belowNoInbox(namesOf(mailbox, ODD));
      const isPlain = names.join('\n') === namesOf(mailbox, NEVER).join('\n');
      const plainer = isPlain ? path : freePath(names, there, taken);
      taken.add(fold(plainer));
      const plainest = isPlainest(names) ? plainer : freePath(plainestOf(names), there, taken);
      taken.add(fold(plainest));
      const numbered = freePath(names, there, taken, 2);
      taken.add(fold(numbered));
      return { source: mailbox, destination: path, create, plainer, plainest, numbered };
    }),
    left: views,
  };

  function namesOf(mailbox: Mailbox, unwanted: RegExp): string[] {
    const parts = partsOf(mailbox, prefix).map((part) => validPart(part, namespace.delimiter, unwanted));
    if (gmailDestination && GMAIL_CONTAINERS.has((parts[0] ?? '').toLowerCase()))
      parts[0] = (parts[0] ?? '').replaceAll(/[[\]]/g, '');
    // The provider shows no mail below its own folders either.
    if (ownFolders.includes(fold(parts[0] ?? ''))) parts[0] = `${parts[0]} (2)`;
    return parts;
  }
}

/** Gmail shows labels as mailboxes, and every message once more in views. It is recognised by their container. */
export function isGmailLike(mailboxes: readonly Mailbox[]): boolean {
  return mailboxes.some(
    (mailbox) =>
      mailbox.specialUse === '\\All' && GMAIL_CONTAINERS.has((mailbox.path.split('/')[0] ?? '').toLowerCase()),
  );
}

function isView(mailbox: Mailbox): boolean {
  return mailbox.specialUse !== undefined && VIEWS.has(mailbox.specialUse);
}

function rolesOf(mailboxes: readonly Mailbox[]): Map<string, string> {
  const roles = new Map<string, string>();
  for (const { path, specialUse } of mailboxes)
    if (specialUse !== undefined && ROLES.has(specialUse) && !roles.has(specialUse)) roles.set(specialUse, path);
  return roles;
}

function partsOf(mailbox: Mailbox, prefix: string): string[] {
  const path = ownPath(mailbox, prefix);
  return mailbox.delimiter === '' ? [path] : path.split(mailbox.delimiter);
}

/**
 * No server takes these: control characters, halves of surrogate pairs, which the ledger can't hold either, and the
 * wildcards of LIST (RFC 9051 §6.3.9).
 */
const NEVER = /[\p{Cc}\p{Cs}*%]/gu;
/** Some servers refuse these as well; Gmail does quotes, backslashes and carets, Cyrus many more. */
const ODD = /[\p{Cc}\p{Cs}\p{Cf}\p{So}*%\\"'`^&~<>{}|:;?/]/gu;

/** One level of a name: no delimiter, nothing unwanted, no blanks around it, and not too long. */
function validPart(part: string, delimiter: string, unwanted: RegExp): string {
  const swapped = delimiter === '' ? part : part.replaceAll(delimiter, '_');
  const plain = Array.from(swapped.replaceAll(unwanted, '_').trim()).slice(0, PART_LENGTH).join('').trim();
  return plain === '' || plain === '.' || plain === '..' || plain.startsWith('~')
    ? `_${plain.replace(/^~/, '')}`
    : plain;
}

function isPlainest(names: readonly string[]): boolean {
  return octetsOf(names) <= SHORT_LENGTH && !names.some((name) => name.includes('.'));
}

/**
 * Dovecot keeps a mailbox in a file of its whole name (Maildir++), with dots between the parts, so a part must have
 * none.
 */
function plainestOf(names: readonly string[]): readonly string[] {
  return shortened(names.map((name) => name.replaceAll('.', '_')));
}

/** Shortens the last part, if those above it leave room; else all parts. */
function shortened(names: readonly string[]): readonly string[] {
  if (octetsOf(names) <= SHORT_LENGTH) return names;
  const above = names.slice(0, -1);
  const room = SHORT_LENGTH - octetsOf([...above, '']);
  if (room >= LAST_PART_LENGTH) return [...above, cut(names.at(-1) ?? '', room)];
  const share = Math.floor(SHORT_LENGTH / names.length) - 1;
  return names.map((name) => cut(name, share));
}

function octetsOf(names: readonly string[]): number {
  return mailboxName(names.join('/')).length;
}

/** The longest beginning of at most so many octets; at least one character. */
function cut(name: string, octets: number): string {
  const characters = Array.from(name);
  while (characters.length > 1 && octetsOf([characters.join('')]) > octets) characters.pop();
  return characters.join('').trim();
}

/** Some servers allow nothing below the inbox (RFC 9051 §7.3.1, \Noinferiors). */
function belowNoInbox(names: readonly string[]): readonly string[] {
  return names.length > 1 && isInboxName(names[0] ?? '') ? names.slice(1) : names;
}

/** The mailboxes of the destination, also by their {@link fold folded} names. */
type There = {
  readonly namespace: Namespace;
  readonly existing: ReadonlySet<string>;
  readonly folded: ReadonlyMap<string, string>;
  /** By folded name, the last number that was given: those before it, from 2 on, are taken. */
  readonly numbers: Map<string, number>;
};

function freePath(
  parts: readonly string[],
  { namespace: { prefix, delimiter }, existing, folded, numbers }: There,
  taken: ReadonlySet<string>,
  from = 1,
): string {
  const whole = delimiter === '' ? parts.join('_') : parts.join(delimiter);
  const key = fold(whole);
  // Counted from where it was left: each of thousands of names that are cut to the same would count from the beginning.
  for (let number = from; ; number = Math.max(number + 1, numbers.get(key) ?? 2)) {
    const name = number === 1 ? whole : `${whole} (${number})`;
    // INBOX in another spelling is still the inbox.
    if (isInboxName(name)) continue;
    const path = `${prefix}${name}`;
    const plain = fold(path);
    if (taken.has(plain)) continue;
    if (number > 1) numbers.set(key, number);
    return existing.has(path) ? path : (folded.get(plain) ?? path);
  }
}

/** Equal for names that some server takes for the same. */
export function fold(path: string): string {
  return normalized(path, 'NFC').toLowerCase();
}
