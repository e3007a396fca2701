import { createHash } from 'node:crypto';

export type StoredMail = {
  /** Never used again, whatever happens to UIDs. */
  readonly id: number;
  uid: number;
  /** What it was known as before its mailbox was renumbered. */
  readonly formerly: { readonly uidValidity: number; readonly uid: number }[];
  readonly octets: Buffer;
  /** Hex sha256 of what was given, before the server made its own of it. */
  readonly digest: string;
  flags: Set<string>;
  /** Milliseconds since 1970, whole seconds. */
  internalDate: number;
  /** `before` the simulation, the `subscriber`, the `server`, which keeps it once more, or the process that appended it. */
  readonly by: string;
  /** When it was stored. */
  readonly at: number;
  /** All of it has been handed out. */
  wasRead?: boolean;
};

export type MailFolder = {
  name: string;
  uidValidity: number;
  uidNext: number;
  messages: StoredMail[];
  subscribed: boolean;
  readonly specialUse?: string;
  /** What its connections don't know yet: it has been renumbered or deleted. */
  stale: number;
  /** When it was made. */
  readonly madeAt: number;
};

/** One thing that happened to a message, as the server saw it. */
export type Deed = {
  readonly time: number;
  readonly kind: 'stored' | 'expunged' | 'flagged' | 'redated' | 'moved' | 'refused' | 'dropped';
  readonly by: string;
  readonly folder: string;
  readonly id: number;
  readonly digest: string;
  /** Why it was refused, as the server's response code, or empty. */
  readonly reason?: string;
};

/** What a server makes of what it is given. */
export type Rewriting = 'nothing' | 'adds headers' | 'changes line ends' | 'adds headers and size' | 'changes the body';

/** In place of a response code: it says nothing, and ends the connection. */
export const HANGS_UP = 'hangs up';
/** The same, with a BYE before. */
export const SAYS_GOODBYE = 'says goodbye';

/** In place of a response code of a mailbox that closes: it says nothing more over that connection, and leaves it open. */
export const FALLS_SILENT = 'falls silent';

/** It hangs up before a message or within, says BYE before it, or says NO with this response code. */
export type Break = 'hangs up' | 'breaks off within' | 'says goodbye' | 'SERVERBUG' | 'UNAVAILABLE';

export type Literals = 'synchronising' | 'minus' | 'plus';

/** What a server says otherwise than most do, each within RFC 9051 or not far from it. */
export const WAYS = [
  'items turned round',
  'rows turned round',
  'bodies twice',
  'bodies as literal8',
  'NIL for what is withheld',
  'warnings',
  'flags without UIDs',
  'rows that nobody asked for',
  'messages go within an answer',
  'searches turned round',
  'two answers for a message',
  'no sizes',
  'sizes without CR',
  'no UIDNEXT with STATUS',
  'UIDs of appended messages at times',
  'one UID for several appended',
  'words in small letters',
  'names as literals',
  'mailboxes twice',
  'searches by ranges',
  'a limit of messages a command',
  'counts again and again',
  'dates of another zone',
] as const;
export type Way = (typeof WAYS)[number];

/** How a simulated server differs from a good one; see the names of RFC 5530 for the response codes. */
export type Quirks = {
  readonly ways: readonly Way[];
  readonly literals: Literals;
  readonly uidPlus: boolean;
  readonly multiAppend: boolean;
  /** Of several in one command, of which it refuses one, it keeps those before. */
  readonly keepsSome: boolean;
  /** Only so many of its newest messages are shown. */
  readonly window: number;
  /** A message is shown to those who open its mailbox so many milliseconds after it was stored. */
  readonly showsAfter: number;
  /** So many listings leave messages out; infinite: all of them. */
  readonly shortListings: number;
  readonly rewriting: Rewriting;
  readonly twinsKeptOnce: boolean;
  /** Of those with one Message-ID the first is kept, whatever the others say. */
  readonly keepsOneOfAnId: boolean;
  readonly appendLimit: number;
  /** It hangs up, without a word, as soon as a literal of more octets is announced. */
  readonly breaksOffOver: number;
  /** Whether it says that limit beforehand (RFC 7889). */
  readonly saysAppendLimit: boolean;
  /** Messages, by digest, that it never takes, and the response code that it gives, or none, {@link HANGS_UP} or {@link SAYS_GOODBYE}. */
  readonly refused: ReadonlyMap<string, string>;
  /** Messages, by digest, that it lists and never gives out. */
  readonly withheld: ReadonlySet<string>;
  /** What is withheld is not listed either: it is counted, and found by SEARCH. */
  readonly hidesWithheld: boolean;
  /** Or it is listed with all others, and counted, but neither by its UID nor found by SEARCH. */
  readonly losesWithheld: boolean;
  /** Messages, by digest, at which an answer ends. */
  readonly breaking: ReadonlyMap<string, Break>;
  /** Of all appends, without a reason and only for now. */
  readonly refusesNow: number;
  /** What it refuses only for now it stores all the same, and says this code, or none. */
  readonly storesRefused: boolean;
  readonly refusalCode: string;
  /** A message whose last line has no end is answered by BAD (Yahoo). */
  readonly wantsLineEnd: boolean;
  /** A date in the first second of the epoch, or more than a day ahead, is refused (WildDuck). */
  readonly wantsDates: boolean;
  /** Stores such a message with the date of now, without a word (Dovecot, Courier, Cyrus). */
  readonly replacesDates: boolean;
  readonly quota: number;
  /** Appends in a minute before `[THROTTLED]`. */
  readonly appendsAMinute: number;
  readonly goodbyeAfterCommands: number;
  /** After so many messages in a day it says BYE to every append until the next one (Gmail says it of octets). */
  readonly appendsADay: number;
  readonly longestName: number;
  readonly foldsCase: boolean;
  /** Octets a day in both directions together. */
  readonly bytesADay: number;
  readonly connections: number;
  /** How long it takes to answer LOGOUT, in milliseconds. */
  readonly goodbyeTakes: number;
  readonly dropsKeywords: boolean;
  /** It stores messages without their flags, and takes those by STORE. */
  readonly dropsFlags: boolean;
  /** It says STATUS with a listing. */
  readonly listStatus: boolean;
  /** It can close a mailbox without removing anything from it (RFC 3691). */
  readonly unselect: boolean;
  readonly roundsSize: boolean;
  readonly ignoresDate: boolean;
  /** The n-th LIST, from 1, leaves the last mailbox out; 0: none does. */
  readonly listingThatLies: number;
  /** The first message of what it lists is told of again at the end. */
  readonly repeatsRows: boolean;
  /** It tells of flags that somebody else has changed. */
  readonly tellsFlags: boolean;
  /** A mailbox that can be opened so often, and then no more, or not until it has been tried so often. */
  readonly closing: {
    readonly path: string;
    /** Another one like it. */
    readonly other?: string;
    readonly opens: number;
    readonly until?: number;
    readonly code?: string;
    /** STATUS is refused, too. */
    readonly isSilent?: boolean;
  } | null;
  /** A mailbox that has another UIDVALIDITY each time it is opened. */
  readonly renumbers: string | null;
  /** A mailbox whose messages have other UIDs each time it is opened, under the same UIDVALIDITY. */
  readonly shiftsUids: string | null;
  /** This part of the messages that are asked for it leaves out of its answer, each time others (Yahoo). */
  readonly leavesOut: number;
  /**
   * So many of the commands that read, or of one kind of them, are refused, each for itself, with this response code or
   * none, from so many milliseconds after the beginning until so many.
   */
  readonly refusesReading: {
    readonly part: number;
    readonly code: string;
    readonly only?: string;
    readonly from?: number;
    readonly until?: number;
    readonly text?: string;
  } | null;
  /** It says which UID comes next. */
  readonly saysUidNext: boolean;
  /** The dates of this part of its messages can't be read. */
  readonly oddDates: number;
  /** This part of the commands that make mailboxes is refused, each for itself. */
  readonly refusesCreating: number;
  readonly delimiter: string;
  /** Of the personal namespace: all but INBOX are below. */
  readonly prefix: string;
  /** Milliseconds for a command. */
  readonly thinking: number;
  /** A mailbox's UIDVALIDITY is the second in which it was made, so that several have the same (Courier, GreenMail). */
  readonly datesUidValidity: boolean;
  /** The UIDs that it gives leave gaps (Exchange). */
  readonly skipsUids: boolean;
  /** A new mailbox is listed, and can be opened, so many milliseconds after it was made (Exchange). */
  readonly appearsAfter: number;
  /** A message with a keyword that has a dot is refused: by BAD (iCloud), or by NO, in words that say why (Dovecot). */
  readonly refusesKeywords: 'BAD' | 'NO' | null;
  /** This part of what it says it has stored it does not keep. */
  readonly drops: number;
  /** It keeps this part of what is appended twice. */
  readonly doubles: number;
};

export const GOOD: Quirks = {
  ways: [],
  literals: 'plus',
  uidPlus: true,
  multiAppend: true,
  keepsSome: false,
  window: Infinity,
  showsAfter: 0,
  shortListings: 0,
  rewriting: 'nothing',
  twinsKeptOnce: false,
  keepsOneOfAnId: false,
  appendLimit: Infinity,
  breaksOffOver: Infinity,
  saysAppendLimit: false,
  refused: new Map(),
  withheld: new Set(),
  hidesWithheld: false,
  losesWithheld: false,
  breaking: new Map(),
  refusesNow: 0,
  storesRefused: false,
  refusalCode: '',
  wantsLineEnd: false,
  wantsDates: false,
  replacesDates: false,
  quota: Infinity,
  appendsAMinute: Infinity,
  goodbyeAfterCommands: Infinity,
  appendsADay: Infinity,
  longestName: Infinity,
  foldsCase: false,
  bytesADay: Infinity,
  connections: Infinity,
  goodbyeTakes: 0,
  dropsKeywords: false,
  dropsFlags: false,
  listStatus: false,
  unselect: true,
  roundsSize: false,
  ignoresDate: false,
  listingThatLies: 0,
  repeatsRows: false,
  tellsFlags: false,
  closing: null,
  renumbers: null,
  shiftsUids: null,
  leavesOut: 0,
  refusesReading: null,
  saysUidNext: true,
  oddDates: 0,
  refusesCreating: 0,
  delimiter: '/',
  prefix: '',
  thinking: 0,
  datesUidValidity: false,
  skipsUids: false,
  appearsAfter: 0,
  refusesKeywords: null,
  drops: 0,
  doubles: 0,
};

export function digestOf(octets: Buffer): string {
  return createHash('sha256').update(octets).digest('hex');
}

/** `times`: how often it is kept, unless that is once. */
export type GivenMail = {
  readonly octets: Buffer;
  readonly flags: readonly string[];
  readonly internalDate: number;
  readonly times?: number;
};

/** A mailbox account as its server holds it, with all that ever happened to it. */
export class SimulatedAccount {
  readonly folders = new Map<string, MailFolder>();
  readonly history: Deed[] = [];
  /** Messages whose mailbox has got another name. */
  readonly renamed = new Set<number>();
  /** Messages, by digest, that were refused for their last line. */
  readonly #unended = new Set<string>();
  readonly #now: () => number;
  readonly quirks: Quirks;
  #nextId = 1;
  #nextUidValidity = 1_000_000;
  /** By the name of a mailbox. */
  readonly #lastUidValidity = new Map<string, number>();

  constructor(quirks: Quirks, now: () => number) {
    this.quirks = quirks;
    this.#now = now;
    this.create('INBOX');
  }

  create(name: string, specialUse?: string): MailFolder {
    const folder: MailFolder = {
      name,
      uidValidity: this.#newUidValidity(name),
      uidNext: 1,
      messages: [],
      subscribed: name === 'INBOX',
      stale: 0,
      madeAt: this.#now(),
      ...(specialUse === undefined ? {} : { specialUse }),
    };
    this.folders.set(name, folder);
    return folder;
  }

  find(name: string): MailFolder | undefined {
    if (name.toUpperCase() === 'INBOX') return this.folders.get('INBOX');
    const exact = this.folders.get(name);
    if (exact !== undefined || !this.quirks.foldsCase) return exact;
    return [...this.folders.values()].find((folder) => folder.name.toLowerCase() === name.toLowerCase());
  }

  delete(name: string, by: string): void {
    const folder = this.folders.get(name);
    if (folder === undefined) return;
    for (const message of folder.messages) this.#did('expunged', by, folder, message);
    folder.stale += 1;
    this.folders.delete(name);
  }

  /** All at once, as MULTIAPPEND does (RFC 3502). @returns the UID of each */
  store(folder: MailFolder, given: readonly GivenMail[], by: string): number[] {
    return given.map((mail) => {
      if (mail.times === 0) return this.#dropOne(folder, mail, by);
      const uid = this.#storeOne(folder, mail, by);
      if (mail.times === 2) this.#storeOne(folder, mail, 'server');
      return uid;
    });
  }

  refuse(folder: string, given: readonly GivenMail[], by: string, reason: string): void {
    for (const { octets } of given)
      this.history.push({
        time: this.#now(),
        kind: 'refused',
        by,
        folder,
        id: 0,
        digest: digestOf(octets),
        reason,
      });
  }

  /** Refuses those whose last line has no end. @returns whether there are any */
  misread(folder: string, given: readonly GivenMail[], by: string): boolean {
    const unended = given.filter(({ octets }) => octets.length > 0 && octets.at(-1) !== 10);
    for (const { octets } of unended) this.#unended.add(digestOf(octets));
    this.refuse(folder, unended, by, 'CLIENTBUG');
    return unended.length > 0;
  }

  expunge(folder: MailFolder, gone: ReadonlySet<StoredMail>, by: string): void {
    for (const message of gone) this.#did('expunged', by, folder, message);
    folder.messages = folder.messages.filter((message) => !gone.has(message));
  }

  flag(folder: MailFolder, message: StoredMail, flags: readonly string[], by: string): void {
    message.flags = new Set(flags);
    this.#did('flagged', by, folder, message);
  }

  /** It has a date so many seconds later from now on. */
  redate(folder: MailFolder, message: StoredMail, seconds: number, by: string): void {
    message.internalDate += 1000 * seconds;
    this.#did('redated', by, folder, message);
  }

  move(from: MailFolder, message: StoredMail, to: MailFolder, by: string): void {
    from.messages = from.messages.filter((each) => each !== message);
    message.uid = to.uidNext;
    to.uidNext += 1;
    to.messages.push(message);
    this.#did('moved', by, to, message);
  }

  /** Its messages and their UIDs stay as they are. */
  rename(folder: MailFolder, name: string): void {
    for (const { id } of folder.messages) this.renamed.add(id);
    this.folders.delete(folder.name);
    folder.name = name;
    folder.stale += 1;
    this.folders.set(name, folder);
  }

  /** All UIDs mean nothing any more. */
  renumber(folder: MailFolder): void {
    const before = folder.uidValidity;
    folder.uidValidity = this.#newUidValidity(folder.name);
    folder.messages.forEach((message, index) => {
      message.formerly.push({ uidValidity: before, uid: message.uid });
      message.uid = index + 1;
    });
    folder.uidNext = folder.messages.length + 1;
    folder.stale += 1;
  }

  /** All have other UIDs, and nobody is told. */
  shiftUids({ messages }: MailFolder): void {
    for (const message of messages) message.uid += 1000;
  }

  size(): number {
    let total = 0;
    for (const folder of this.folders.values()) for (const { octets } of folder.messages) total += octets.length;
    return total;
  }

  #newUidValidity(name: string): number {
    this.#nextUidValidity += 1;
    if (!this.quirks.datesUidValidity) return this.#nextUidValidity;
    const made = Math.max(Math.floor(this.#now() / 1000), (this.#lastUidValidity.get(name) ?? 0) + 1);
    this.#lastUidValidity.set(name, made);
    return made;
  }

  #dropOne(folder: MailFolder, { octets }: GivenMail, by: string): number {
    const { name: path, uidNext: uid } = folder;
    folder.uidNext += 1;
    this.history.push({ time: this.#now(), kind: 'dropped', by, folder: path, id: 0, digest: this.#digestOf(octets) });
    return uid;
  }

  #storeOne(folder: MailFolder, { octets, flags, internalDate }: GivenMail, by: string): number {
    const digest = this.#digestOf(octets);
    const own = by === 'before' || by === 'subscriber';
    if (this.quirks.twinsKeptOnce && !own) {
      const twin = folder.messages.find((message) => message.digest === digest);
      if (twin !== undefined) return twin.uid;
    }
    const messageId = this.quirks.keepsOneOfAnId && !own ? messageIdOf(octets) : undefined;
    const alike = messageId && folder.messages.find((message) => messageIdOf(message.octets) === messageId);
    if (alike) return alike.uid;
    const message: StoredMail = {
      id: this.#nextId,
      uid: folder.uidNext,
      formerly: [],
      octets: own ? octets : rewritten(octets, this.quirks.rewriting, this.#nextId),
      digest,
      flags: new Set(this.quirks.dropsFlags && !own ? [] : this.#keptOf(flags)),
      internalDate: this.quirks.ignoresDate && !own ? Math.floor(this.#now() / 1000) * 1000 : internalDate,
      by,
      at: this.#now(),
    };
    this.#nextId += 1;
    folder.uidNext += this.quirks.skipsUids ? 1 + (message.id % 3) : 1;
    folder.messages.push(message);
    this.#did('stored', by, folder, message);
    return message.uid;
  }

  #keptOf(flags: readonly string[]): readonly string[] {
    return this.quirks.dropsKeywords ? flags.filter((flag) => flag.startsWith('\\')) : flags;
  }

  /** What was refused without an end of its last line is the same message with one. */
  #digestOf(octets: Buffer): string {
    const bare = this.#unended.size === 0 ? undefined : digestOf(octets.subarray(0, -2));
    return bare !== undefined && this.#unended.has(bare) ? bare : digestOf(octets);
  }

  #did(kind: Deed['kind'], by: string, folder: MailFolder, { id, digest }: StoredMail): void {
    this.history.push({ time: this.#now(), kind, by, folder: folder.name, id, digest });
  }
}

export function messageIdOf(octets: Buffer): string | undefined {
  return /\r?\nMessage-ID: (\S+)/.exec(octets.toString('latin1', 0, 500))?.[1];
}

function rewritten(octets: Buffer, rewriting: Rewriting, id: number): Buffer {
  switch (rewriting) {
    case 'nothing':
      return octets;
    case 'changes the body':
      return Buffer.concat([octets, Buffer.from('\r\n-- \r\nchecked by us\r\n')]);
    case 'changes line ends':
      return Buffer.from(octets.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1');
    case 'adds headers':
      return Buffer.concat([Buffer.from(`X-Provider-Id: ${String(id).padStart(8, '0')}\r\n`), octets]);
    case 'adds headers and size':
      return Buffer.concat([
        Buffer.from(`X-Provider-Id: ${id}\r\nX-Provider-Trace: ${'x'.repeat(id % 60)}\r\n`),
        Buffer.from(octets.toString('latin1').replaceAll(/\r?\n/g, '\r\n'), 'latin1'),
      ]);
  }
}
