import type { NodeDatabase } from './node-database.ts';
import { nameMap } from './named-properties.ts';
import { binaries, binary, boolean, integer, text, TYPE, type Property } from './properties.ts';
import { writeProperties, type Written } from './property-context.ts';
import { ROW_ID, ROW_VERSION, Table, type TableColumn } from './table-context.ts';

/** RFC 6154's names, and others that IMAP and PST have. */
export type FolderRole = 'inbox' | 'sent' | 'drafts' | 'trash' | 'junk' | 'archive' | 'outbox' | 'contacts';

/** A folder with its contents; the last five bits of `nid` are 0. */
export type StoreFolder = {
  readonly nid: number;
  readonly parent: number;
  readonly name: string;
  readonly role: FolderRole | undefined;
  readonly count: number;
  readonly unread: number;
  /** Its table of contents, if it has any contents. */
  readonly contents: Written | undefined;
};

const STORE = 0x21;
const NAME_MAP = 0x61;
const ROOT = 0x122;
const SEARCH_QUEUE = 0x1e1;
const SEARCH_ACTIVITY = 0x201;
const SPAM_SEARCH = 0x2223;
export const TOP = 0x8022;
const FINDER = 0x8042;
export const DELETED_ITEMS = 0x8062;

/** The low five bits of a NID (MS-PST §2.2.2.1). */
export const NODE_TYPE = {
  folder: 0x02,
  searchFolder: 0x03,
  message: 0x04,
  attachment: 0x05,
  searchQueue: 0x06,
  searchCriteria: 0x07,
  hierarchy: 0x0d,
  contents: 0x0e,
  associated: 0x0f,
  searchContents: 0x10,
} as const;

const columns = (...tags: readonly number[]): TableColumn[] =>
  tags.map((tag) => ({ id: Math.floor(tag / 0x1_0000), type: tag % 0x1_0000 }));
const row = columns(ROW_ID * 0x1_0000 + TYPE.integer32, ROW_VERSION * 0x1_0000 + TYPE.integer32);

/** The columns of Outlook's own tables, in its order: a table that begins differently contradicts its template. */
const HIERARCHY = [
  ...row,
  ...columns(
    0x3001001f,
    0x36020003,
    0x36030003,
    0x360a000b,
    0x0e300102,
    0x0e330014,
    0x0e340102,
    0x0e380003,
    0x3613001f,
    0x66350003,
    0x66360003,
  ),
];
export const CONTENTS = [
  ...row,
  ...columns(
    0x0e170003,
    0x001a001f,
    0x0e070003,
    0x00170003,
    0x0042001f,
    0x0037001f,
    0x0e060040,
    0x00390040,
    0x0e080003,
    0x0e04001f,
    0x0e03001f,
    0x0057000b,
    0x0058000b,
    0x00360003,
    0x10970003,
    0x0070001f,
    0x00710102,
    0x30130102,
    0x65c60003,
    0x30080040,
    0x0e300102,
    0x0e330014,
    0x0e340102,
    0x0e3d0102,
    0x0e3c0102,
    0x0e380003,
  ),
];
const ASSOCIATED = [
  ...row,
  ...columns(
    0x0e170003,
    0x001a001f,
    0x0e070003,
    0x3001001f,
    0x70030003,
    0x70040102,
    0x70050102,
    0x7006001f,
    0x70070003,
    0x6800001f,
    0x6803000b,
    0x68051003,
    0x682f001f,
  ),
];
const SEARCH_CONTENTS = [
  ...row,
  ...columns(
    0x67f10003,
    0x0e05001f,
    0x0e170003,
    0x001a001f,
    0x0e070003,
    0x00170003,
    0x0042001f,
    0x0037001f,
    0x0e060040,
    0x0e080003,
    0x0e04001f,
    0x0e03001f,
    0x0057000b,
    0x0058000b,
    0x00360003,
    0x0e2a000b,
    0x30080040,
  ),
];
export const RECIPIENTS = [
  ...row,
  ...columns(
    0x0e0f000b,
    0x3002001f,
    0x3003001f,
    0x0fff0102,
    0x3001001f,
    0x0c150003,
    0x300b0102,
    0x0ff90102,
    0x0ffe0003,
    0x39000003,
    0x3a40000b,
    0x39ff001f,
  ),
];
export const ATTACHMENTS = [...row, ...columns(0x370b0003, 0x0e200003, 0x37050003, 0x3704001f)];
const RECEIVE_FOLDERS = [...row, ...columns(0x66050003, 0x001a001f)];
const OUTGOING = [...row, ...columns(0x00390040, 0x0e100003, 0x0e140003)];

const TEMPLATES: readonly (readonly [number, readonly TableColumn[]])[] = [
  [0x60d, HIERARCHY],
  [0x60e, CONTENTS],
  [0x60f, ASSOCIATED],
  [0x610, SEARCH_CONTENTS],
  [0x64c, OUTGOING],
  [0x671, ATTACHMENTS],
  [0x692, RECIPIENTS],
];

/** Which of the store's folders exist, for `PidTagValidFolderMask`. */
const VALID = { top: 1, inbox: 2, outbox: 4, wastebasket: 8, sent: 0x10, finder: 0x80 } as const;

/** `uid` has 16 octets and is unique to this file: Outlook takes two files with the same one for one file. */
export type Store = { readonly uid: Buffer; readonly name: string; readonly folders: readonly StoreFolder[] };

/** Outlook's identifier for a folder or a message of this file. */
function entryId(uid: Buffer, nid: number): Buffer {
  const id = Buffer.alloc(24);
  uid.copy(id, 4);
  id.writeUInt32LE(nid, 20);
  return id;
}

/** One of the store's own folders, which is empty. */
function own(nid: number, parent: number, name: string): StoreFolder {
  return { nid, parent, name, role: undefined, count: 0, unread: 0, contents: undefined };
}

/** Writes what every PST file has besides its messages (§2.7), and all folders, even those without messages. */
export function writeStore(database: NodeDatabase, { uid, name, folders }: Store): void {
  const add = (nid: number, { data, subnodes }: Written, parent = 0) =>
    database.addNode({ nid, data, subnodes, parent });
  const properties = (nid: number, of: readonly Property[], parent = 0) =>
    add(nid, writeProperties(database, of), parent);
  const empty = (nid: number, of: readonly TableColumn[]) => add(nid, new Table(database, of).finish());
  const known = (role: FolderRole) => folders.find((folder) => folder.role === role)?.nid;
  const entry = (id: number, nid: number | undefined) => (nid === undefined ? [] : [binary(id, entryId(uid, nid))]);
  const [inbox, outbox, sent, junk] = [known('inbox'), known('outbox'), known('sent'), known('junk')];
  const mask =
    VALID.top |
    VALID.wastebasket |
    VALID.finder |
    (inbox === undefined ? 0 : VALID.inbox) |
    (outbox === undefined ? 0 : VALID.outbox) |
    (sent === undefined ? 0 : VALID.sent);

  properties(STORE, [
    binary(0x0ff9, uid),
    text(0x3001, name),
    integer(0x35df, mask),
    ...entry(0x35e0, TOP),
    ...entry(0x35e2, outbox),
    ...entry(0x35e3, known('trash') ?? DELETED_ITEMS),
    ...entry(0x35e4, sent),
    ...entry(0x35e7, FINDER),
    integer(0x67ff, 0),
  ]);
  properties(NAME_MAP, nameMap());
  for (const [nid, of] of TEMPLATES) empty(nid, of);
  const receive = new Table(database, RECEIVE_FOLDERS);
  receive.addRow(1, [integer(0x6605, inbox ?? ROOT), text(0x001a, '')]);
  add(0x62b, receive.finish());
  database.addNode({ nid: SEARCH_QUEUE, data: 0, subnodes: 0, parent: 0 });
  const activity = Buffer.alloc(4);
  activity.writeUInt32LE(SPAM_SEARCH);
  database.addNode({ nid: SEARCH_ACTIVITY, data: database.writeBlock(activity), subnodes: 0, parent: 0 });

  const all = [
    own(ROOT, ROOT, ''),
    own(TOP, ROOT, 'Top of Personal Folders'),
    own(FINDER, ROOT, 'Search Root'),
    own(SPAM_SEARCH, ROOT, 'SPAM Search Folder 2'),
    ...(known('trash') === undefined ? [own(DELETED_ITEMS, TOP, 'Deleted Items')] : []),
    ...folders,
  ];
  const children = Map.groupBy(
    all.filter(({ nid }) => nid !== ROOT),
    ({ parent }) => parent,
  );
  const described = (folder: StoreFolder) => [
    text(0x3001, folder.name),
    integer(0x3602, folder.count),
    integer(0x3603, folder.unread),
    boolean(0x360a, children.has(folder.nid)),
    ...(folder.nid === ROOT || folder.nid === FINDER || folder.nid === SPAM_SEARCH || folder.nid === TOP
      ? []
      : [text(0x3613, folder.role === 'contacts' ? 'IPF.Contact' : 'IPF.Note')]),
  ];
  // Where Outlook looks for the folders that the store itself doesn't name (MS-OXOSFLD §2.2.3).
  const wellKnown = [
    ...entry(0x36d1, known('contacts')),
    ...entry(0x36d7, known('drafts')),
    ...(junk === undefined ? [] : [binaries(0x36d8, [...Array(4).fill(Buffer.alloc(0)), entryId(uid, junk)])]),
  ];
  for (const folder of all) {
    const { nid, parent } = folder;
    const holdsEntries = nid === ROOT || nid === inbox;
    properties(nid, [...described(folder), ...(holdsEntries ? wellKnown : [])], parent);
    const typed = (type: number) => Math.floor(nid / 32) * 32 + type;
    if (nid === SPAM_SEARCH) {
      database.addNode({ nid: typed(NODE_TYPE.searchQueue), data: 0, subnodes: 0, parent: 0 });
      properties(typed(NODE_TYPE.searchCriteria), [integer(0x660b, 0)]);
      empty(typed(NODE_TYPE.searchContents), SEARCH_CONTENTS);
      continue;
    }
    const hierarchy = new Table(database, HIERARCHY);
    for (const child of (children.get(nid) ?? []).toSorted((one, other) => one.nid - other.nid))
      hierarchy.addRow(child.nid, described(child));
    add(typed(NODE_TYPE.hierarchy), hierarchy.finish());
    if (folder.contents === undefined) empty(typed(NODE_TYPE.contents), CONTENTS);
    else add(typed(NODE_TYPE.contents), folder.contents);
    empty(typed(NODE_TYPE.associated), ASSOCIATED);
  }
}
