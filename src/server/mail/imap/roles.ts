import { specialUse } from 'imapflow/lib/special-use.js';
import { readablePath } from './wire/mailbox-name.ts';

/** A mailbox as it is listed; `attributes` in lower case. */
type Listed = { readonly path: string; readonly delimiter: string; readonly attributes: ReadonlySet<string> };

/** RFC 6154 and RFC 8457. */
const ROLES = ['\\All', '\\Archive', '\\Drafts', '\\Flagged', '\\Important', '\\Junk', '\\Sent', '\\Trash'];
/** The roles of views: their messages are in other mailboxes as well. */
export const VIEWS: ReadonlySet<string> = new Set(['\\All', '\\Flagged', '\\Important']);

/** How certain a role is: stated by the server, an exact name, a name with something around it. */
const RANKS = { extension: 0, name: 1, 'name-guess': 2 } as const;

/**
 * The roles of mailboxes by path, each role given once. What the server states takes precedence over a name, which is
 * recognised in many languages; of equals, the mailbox higher in the hierarchy gets the role.
 */
export function rolesOf(mailboxes: readonly Listed[]): ReadonlyMap<string, string> {
  const candidates = mailboxes
    .flatMap((mailbox) => candidateOf(mailbox) ?? [])
    .toSorted((a, b) => a.rank - b.rank || a.depth - b.depth || (a.path < b.path ? -1 : 1));
  const roles = new Map<string, string>();
  const given = new Set<string>();
  for (const { path, role } of candidates) {
    if (given.has(role)) continue;
    given.add(role);
    roles.set(path, role);
  }
  return roles;
}

function candidateOf({ path, delimiter, attributes }: Listed) {
  if (path === 'INBOX') return { path, role: '\\Inbox', rank: 0, depth: 0 };
  const parts = delimiter === '' ? [path] : path.split(delimiter);
  const said = ROLES.find((role) => attributes.has(role.toLowerCase()));
  if (said !== undefined) return { path, role: said, rank: RANKS.extension, depth: parts.length };
  const { flag: role, source = 'name' } = specialUse(false, {
    flags: new Set(),
    name: readablePath(parts.at(-1) ?? ''),
  });
  // A name in some language is enough to recognise a mailbox that messages are put into, but not a view.
  return role === null || VIEWS.has(role) ? undefined : { path, role, rank: RANKS[source], depth: parts.length };
}
