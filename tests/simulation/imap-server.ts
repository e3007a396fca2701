import {
  digestOf,
  FALLS_SILENT,
  type GivenMail,
  HANGS_UP,
  SAYS_GOODBYE,
  type MailFolder,
  type SimulatedAccount,
  type StoredMail,
  type Way,
} from './account.ts';
import type { Chance } from './chance.ts';
import {
  BadWords,
  dateTimeOf,
  dayOf,
  membersOf,
  pathOf,
  quoted,
  quotedPath,
  setOf,
  textOf,
  timeOf,
  wordsOf,
  type Word,
} from './imap-words.ts';
import type { Peer, ServerSide } from './network.ts';
import { EPOCH, type Scheduler } from './scheduler.ts';

/** Literals that a server with LITERAL- takes without being asked (RFC 7888 §4). */
const SMALL_LITERAL = 4096;
const LITERAL_MARK = /~?\{(\d+)(\+?)\}$/;
const DAY = 86_400_000;
/** How often a server does what it does at times. */
const AT_TIMES = 0.3;
const SIZE_UNIT = 1024;
const WORDS =
  /\b(?:FETCH|UID|FLAGS|INTERNALDATE|RFC822\.SIZE|BODY|EXISTS|EXPUNGE|E?SEARCH|ALL|LIST|STATUS|MESSAGES|UIDNEXT|UIDVALIDITY|OK|NO|BAD|BYE|APPENDUID|PERMANENTFLAGS|CAPABILITY|NAMESPACE)\b/g;
const HINT = /Backoff Time: (\d+)/;
/** What had been sent before a hint was heard, in milliseconds. */
const HEARD_WITHIN = 5000;

/** What all connections of one account share besides the account. */
export type ServerLoad = {
  connections: number;
  readonly traffic: { day: number; bytes: number };
  /** Messages that were stored. */
  readonly appended: { day: number; messages: number };
  /** When each message of the last minute came. */
  appends: number[];
  /** How often the mailbox that closes was opened. */
  opened: number;
  listings: number;
  shortListings: number;
  commands: number;
  /** The pauses that it has asked for. */
  readonly hints: { readonly client: string; readonly from: number; readonly until: number }[];
  /** Told who has asked for something within a pause, well after having heard of it. */
  onImpatience?: (client: string) => void;
  /** Told of every command, before it is done. */
  onCommand?: (count: number) => void;
};

export function emptyLoad(): ServerLoad {
  return {
    connections: 0,
    traffic: { day: 0, bytes: 0 },
    appended: { day: 0, messages: 0 },
    appends: [],
    opened: 0,
    listings: 0,
    shortListings: 0,
    commands: 0,
    hints: [],
  };
}

type Answer = { readonly status: 'OK' | 'NO' | 'BAD'; readonly text: string; readonly thenBye?: boolean };

const READING = new Set(['LIST', 'STATUS', 'SELECT', 'EXAMINE', 'FETCH', 'UID FETCH', 'UID SEARCH']);

/** Thrown by a command that is not done. */
class Refusal extends Error {
  readonly status: 'NO' | 'BAD';
  constructor(status: 'NO' | 'BAD', text: string) {
    super(text);
    this.status = status;
  }
}

/** One connection to a simulated IMAP server (RFC 9051, 3501), which does what its account's quirks say. */
export function serve(
  peer: Peer,
  account: SimulatedAccount,
  load: ServerLoad,
  scheduler: Scheduler,
  chance: Chance,
): ServerSide {
  const { quirks } = account;
  const does = (way: Way) => quirks.ways.includes(way);
  let open = true;
  let buffer: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let literal: number | null = null;
  let busy = false;
  let commands = 0;
  let signedIn = false;
  let waiting: ((line: string) => void) | null = null;
  let selected: {
    folder: MailFolder;
    stale: number;
    view: StoredMail[];
    readOnly: boolean;
    /** As they were when the mailbox was opened, or told since. */
    told: Map<StoredMail, string>;
  } | null = null;

  load.connections += 1;
  const count = (octets: number) => {
    const day = Math.floor(scheduler.now() / DAY);
    if (load.traffic.day !== day) {
      load.traffic.day = day;
      load.traffic.bytes = 0;
    }
    load.traffic.bytes += octets;
  };
  const send = (...data: readonly (string | Buffer)[]) => {
    const small = does('words in small letters');
    const all = Buffer.concat(
      data.map((each) =>
        typeof each === 'string' ? Buffer.from(small ? each.replace(WORDS, (word) => word.toLowerCase()) : each) : each,
      ),
    );
    count(all.length);
    peer.send(all);
  };
  const close = () => {
    if (!open) return;
    open = false;
    load.connections -= 1;
  };
  const hangUp = (text: string) => {
    send(`* BYE ${text}\r\n`);
    peer.end();
    close();
  };

  /** Takes what has come, as far as it makes whole commands; one at a time. */
  const consume = () => {
    for (;;) {
      if (!open || busy) return;
      if (literal !== null) {
        if (buffer.length < literal) return;
        parts.push(buffer.subarray(0, literal));
        buffer = buffer.subarray(literal);
        literal = null;
      }
      const end = buffer.indexOf('\r\n');
      if (end < 0) return;
      const line = buffer.subarray(0, end);
      buffer = buffer.subarray(end + 2);
      if (waiting !== null) {
        const answer = waiting;
        waiting = null;
        answer(line.toString());
        continue;
      }
      const mark = LITERAL_MARK.exec(line.toString('latin1', Math.max(0, line.length - 20)));
      if (mark === null) {
        const command = [...parts, line];
        parts = [];
        perform(command);
        continue;
      }
      parts.push(line.subarray(0, line.length - mark[0].length));
      literal = Number(mark[1]);
      if (literal > quirks.breaksOffOver) {
        peer.end();
        close();
        return;
      }
      if (mark[2] === '+') {
        const most = { synchronising: -1, minus: SMALL_LITERAL, plus: Infinity }[quirks.literals];
        if (literal > most) {
          hangUp('[TOOBIG] That literal is not taken');
          return;
        }
      } else {
        const refusal = earlyRefusal(parts, literal);
        if (refusal === null) send('+ Go ahead\r\n');
        else {
          const tag = tagOf(parts);
          parts = [];
          literal = null;
          send(`${tag} NO ${refusal}\r\n`);
        }
      }
    }
  };

  /** What a server says before it takes a literal. */
  const earlyRefusal = (parts: readonly Buffer[], size: number): string | null =>
    /^\S+ APPEND /i.test(parts[0]?.toString('latin1') ?? '') && size > quirks.appendLimit && quirks.saysAppendLimit
      ? '[TOOBIG] Too large'
      : null;

  const perform = (command: readonly Buffer[]) => {
    busy = true;
    scheduler.after(quirks.thinking * (0.5 + chance.fraction()), `${peer.client}'s command`, () => {
      if (!open) return;
      const tag = tagOf(command);
      busy = false;
      commands += 1;
      load.commands += 1;
      load.onCommand?.(load.commands);
      const now = scheduler.now();
      const isHeld = load.hints.some(
        ({ client, from, until }) => client === peer.client && from + HEARD_WITHIN < now && now < until,
      );
      if (isHeld && !/^\S+ LOGOUT/i.test(command[0]?.toString('latin1', 0, 20) ?? '')) load.onImpatience?.(peer.client);
      scheduler.note(`${peer.client} says ${command[0]?.toString('latin1', 0, 120)}`);
      if (commands > quirks.goodbyeAfterCommands) {
        hangUp('That is enough for this connection');
        return;
      }
      const answer = answered(tag, command);
      if (answer !== null) finish(tag, answer);
      consume();
    });
  };
  const finish = (tag: string, { status, text, thenBye }: Answer) => {
    update();
    const hint = Number(HINT.exec(text)?.[1] ?? 0);
    if (hint > 0) load.hints.push({ client: peer.client, from: scheduler.now(), until: scheduler.now() + hint });
    if (status !== 'OK') scheduler.note(`${peer.client} gets ${tag} ${status} ${text}`);
    send(`${tag} ${status} ${text}\r\n`);
    if (thenBye === true) hangUp('Bye');
  };
  const answered = (tag: string, command: readonly Buffer[]): Answer | null => {
    try {
      const [, verb, ...words] = wordsOf(command);
      const name = textOf(verb).toUpperCase();
      if (name === 'UID') return obey(`UID ${textOf(words[0]).toUpperCase()}`, words.slice(1), tag);
      return obey(name, words, tag);
    } catch (error) {
      if (error instanceof Refusal && error.message.includes(FALLS_SILENT)) {
        // Nor does it answer anything that comes after it.
        busy = true;
        return null;
      }
      if (error instanceof Refusal && error.message.includes(SAYS_GOODBYE)) {
        hangUp('Fatal error: Internal error');
        return null;
      }
      if (error instanceof Refusal && error.message.includes(HANGS_UP)) {
        peer.end();
        close();
        return null;
      }
      if (error instanceof Refusal) return { status: error.status, text: error.message };
      if (error instanceof BadWords) return { status: 'BAD', text: error.message };
      throw error;
    }
  };

  const goodbye = (tag: string): null => {
    send('* BYE Goodbye\r\n', `${tag} OK Done\r\n`);
    peer.end();
    close();
    return null;
  };

  const obey = (name: string, words: readonly Word[], tag: string): Answer | null => {
    if (!signedIn && !['CAPABILITY', 'NOOP', 'LOGOUT', 'AUTHENTICATE', 'LOGIN', 'ID'].includes(name))
      throw new Refusal('BAD', 'Sign in first');
    if (signedIn && load.traffic.bytes > quirks.bytesADay && Math.floor(scheduler.now() / DAY) === load.traffic.day)
      if (/^(?:UID FETCH|APPEND|FETCH)$/.test(name)) {
        if (name === 'APPEND') refuseAppend(words, 'OVERQUOTA');
        return {
          status: 'NO',
          text: '[OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)',
          thenBye: true,
        };
      }
    const { refusesReading } = quirks;
    const isRefused =
      (refusesReading?.only === undefined ? READING.has(name) : refusesReading.only === name) &&
      scheduler.now() >= (refusesReading?.from ?? 0) &&
      scheduler.now() < (refusesReading?.until ?? Infinity);
    if (refusesReading !== null && isRefused && chance.happens(refusesReading.part))
      throw new Refusal(
        'NO',
        `${refusesReading.code === '' ? '' : `[${refusesReading.code}] `}${refusesReading.text ?? 'Something went wrong'}`,
      );
    switch (name) {
      case 'CAPABILITY':
        send(`* CAPABILITY ${capabilities()}\r\n`);
        return { status: 'OK', text: 'Done' };
      case 'NOOP':
      case 'ENABLE':
        return { status: 'OK', text: 'Done' };
      case 'ID':
        send('* ID NIL\r\n');
        return { status: 'OK', text: 'Done' };
      case 'LOGOUT':
        if (quirks.goodbyeTakes === 0) return goodbye(tag);
        scheduler.after(quirks.goodbyeTakes, `${peer.client}'s goodbye`, () => goodbye(tag));
        return null;
      case 'LOGIN':
        return signIn();
      case 'AUTHENTICATE':
        if (words.length > 1) return signIn();
        send('+ \r\n');
        waiting = () => finish(tag, signIn());
        return null;
      case 'NAMESPACE':
        send(`* NAMESPACE ((${quoted(quirks.prefix)} ${quoted(quirks.delimiter)})) NIL NIL\r\n`);
        return { status: 'OK', text: 'Done' };
      case 'LIST':
      case 'LSUB':
        return list(name, words);
      case 'CREATE':
        return create(pathOf(words[0]));
      case 'SUBSCRIBE':
        folderOf(words[0]).subscribed = true;
        return { status: 'OK', text: 'Done' };
      case 'STATUS':
        return status(words);
      case 'SELECT':
      case 'EXAMINE':
        return select(folderOf(words[0]), name === 'EXAMINE');
      case 'CLOSE':
      case 'UNSELECT':
        selected = null;
        return { status: 'OK', text: 'Done' };
      case 'FETCH':
        return fetch(words, true);
      case 'UID FETCH':
        return fetch(words, false);
      case 'UID SEARCH':
        return search(words);
      case 'UID STORE':
        return store(words);
      case 'UID EXPUNGE':
        if (!quirks.uidPlus) throw new Refusal('BAD', 'UID EXPUNGE is not known');
        return expunge(
          membersOf(
            textOf(words[0]),
            current().view.map((message) => message.uid),
          ),
        );
      case 'EXPUNGE':
        return expunge(current().view.map((message) => message.uid));
      case 'APPEND':
        return append(words);
      default:
        throw new Refusal('BAD', `${name.slice(0, 40)} is not known`);
    }
  };

  const capabilities = () =>
    [
      'IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=XOAUTH2 NAMESPACE SPECIAL-USE LIST-EXTENDED ENABLE ID',
      { synchronising: '', minus: 'LITERAL-', plus: 'LITERAL+' }[quirks.literals],
      quirks.uidPlus ? 'UIDPLUS' : '',
      quirks.listStatus ? 'LIST-STATUS' : '',
      quirks.unselect ? 'UNSELECT' : '',
      quirks.multiAppend ? 'MULTIAPPEND' : '',
      does('searches by ranges') ? 'ESEARCH' : '',
      does('a limit of messages a command') ? 'MESSAGELIMIT=3' : '',
      quirks.saysAppendLimit ? `APPENDLIMIT=${quirks.appendLimit}` : '',
    ]
      .filter((name) => name !== '')
      .join(' ');

  const signIn = (): Answer => {
    if (load.connections > quirks.connections)
      return { status: 'NO', text: '[LIMIT] Too many simultaneous connections', thenBye: true };
    signedIn = true;
    return { status: 'OK', text: `[CAPABILITY ${capabilities()}] Welcome` };
  };

  const folderOf = (word: Word | undefined, code = 'NONEXISTENT'): MailFolder => {
    const folder = account.find(pathOf(word));
    if (folder === undefined || !hasAppeared(folder)) throw new Refusal('NO', `[${code}] No such mailbox`);
    return folder;
  };
  const current = () => {
    if (selected === null) throw new Refusal('BAD', 'Select a mailbox first');
    return selected;
  };
  const hasAppeared = ({ madeAt }: MailFolder) =>
    madeAt === EPOCH || madeAt + quirks.appearsAfter <= EPOCH + scheduler.now();
  const isShown = ({ by, at }: StoredMail) => by === 'before' || at + quirks.showsAfter <= EPOCH + scheduler.now();
  const shown = (folder: MailFolder): StoredMail[] =>
    folder.messages.slice(-Math.min(quirks.window, 1e9)).filter(isShown);

  const nameOf = ({ name }: MailFolder) => {
    const path = quotedPath(name);
    if (!does('names as literals')) return path;
    const plain = path.slice(1, -1).replaceAll(/\\(.)/g, '$1');
    return `{${Buffer.byteLength(plain)}}\r\n${plain}`;
  };
  const list = (name: string, words: readonly Word[]): Answer => {
    const withStatus = quirks.listStatus && JSON.stringify(words).includes('STATUS');
    if (textOf(words[1]) === '') {
      send(`* LIST (\\Noselect) ${quoted(quirks.delimiter)} ""\r\n`);
      return { status: 'OK', text: 'Done' };
    }
    load.listings += 1;
    const folders = [...account.folders.values()].filter(hasAppeared);
    if (load.listings === quirks.listingThatLies && folders.length > 1) folders.pop();
    for (const folder of folders) {
      if (name === 'LSUB' && !folder.subscribed) continue;
      const flags = ['\\HasNoChildren', folder.specialUse ?? '', folder.subscribed ? '\\Subscribed' : ''];
      const attributes = flags.filter((flag) => flag !== '').join(' ');
      const row = `* ${name} (${attributes}) ${quoted(quirks.delimiter)} ${nameOf(folder)}\r\n`;
      send(does('mailboxes twice') ? `${row}${row}` : row);
      if (!withStatus) continue;
      const { closing } = quirks;
      if (isSilent(folder) && [HANGS_UP, SAYS_GOODBYE].includes(closing?.code ?? ''))
        throw new Refusal('NO', closing?.code ?? '');
      send(statusLine(folder));
    }
    return { status: 'OK', text: 'Done' };
  };
  const create = (name: string): Answer => {
    if (account.find(name) !== undefined) throw new Refusal('NO', '[ALREADYEXISTS] It exists');
    if (quirks.refusesCreating > 0 && chance.happens(quirks.refusesCreating)) throw new Refusal('NO', 'Not now');
    if (quirks.prefix !== '' && !name.startsWith(quirks.prefix)) throw new Refusal('NO', 'Invalid mailbox name');
    if (name.length > quirks.longestName) throw new Refusal('NO', '[CANNOT] The name is too long');
    account.create(name);
    return { status: 'OK', text: 'Done' };
  };
  const statusLine = (folder: MailFolder) =>
    `* STATUS ${nameOf(folder)} (MESSAGES ${shown(folder).length}${quirks.saysUidNext && !does('no UIDNEXT with STATUS') ? ` UIDNEXT ${folder.uidNext}` : ''} UIDVALIDITY ${folder.uidValidity})\r\n`;
  const isClosing = ({ name }: MailFolder) => name === quirks.closing?.path || name === quirks.closing?.other;
  const isSilent = (folder: MailFolder) =>
    quirks.closing?.isSilent === true && isClosing(folder) && load.opened >= quirks.closing.opens;
  const status = (words: readonly Word[]): Answer => {
    const folder = folderOf(words[0]);
    if (isSilent(folder)) throw new Refusal('NO', `[${quirks.closing?.code ?? 'NOPERM'}] It can not be opened`);
    send(statusLine(folder));
    return { status: 'OK', text: 'Done' };
  };
  const select = (folder: MailFolder, readOnly: boolean): Answer => {
    selected = null;
    const { closing } = quirks;
    if (isClosing(folder)) load.opened += 1;
    const isClosed = closing !== null && load.opened > closing.opens && load.opened <= (closing.until ?? Infinity);
    if (isClosed && isClosing(folder)) throw new Refusal('NO', `[${closing.code ?? 'NOPERM'}] It can not be opened`);
    if (quirks.renumbers === folder.name) account.renumber(folder);
    const told = new Map(folder.messages.map((message) => [message, flagsOf(message)]));
    selected = { folder, stale: folder.stale, view: shown(folder), readOnly, told };
    const flags = '\\Answered \\Flagged \\Deleted \\Seen \\Draft';
    send(
      `* FLAGS (${flags})\r\n`,
      `* ${selected.view.length} EXISTS\r\n`,
      '* 0 RECENT\r\n',
      `* OK [PERMANENTFLAGS (${flags}${quirks.dropsKeywords ? '' : ' \\*'})] Kept\r\n`,
      `* OK [UIDVALIDITY ${folder.uidValidity}] Valid\r\n`,
      quirks.saysUidNext ? `* OK [UIDNEXT ${folder.uidNext}] Next\r\n` : '',
    );
    return { status: 'OK', text: `[${readOnly ? 'READ-ONLY' : 'READ-WRITE'}] Done` };
  };

  const tellOfGone = () => {
    if (selected === null) return;
    const { folder, view } = selected;
    const there = new Set(folder.messages);
    for (let at = view.length - 1; at >= 0; at -= 1) {
      const message = view[at];
      if (message === undefined || there.has(message)) continue;
      view.splice(at, 1);
      send(`* ${at + 1} EXPUNGE\r\n`);
    }
  };

  /** Tells of what others did meanwhile; a mailbox that has gone or been renumbered ends the connection. */
  const update = () => {
    if (selected === null || !open) return;
    const { folder, view, told } = selected;
    if (folder.stale !== selected.stale) return;
    tellOfGone();
    if (quirks.tellsFlags)
      view.forEach((message, index) => {
        const [before, now] = [told.get(message), flagsOf(message)];
        told.set(message, now);
        if (before !== undefined && before !== now)
          send(`* ${index + 1} FETCH (UID ${message.uid} FLAGS (${now}))\r\n`);
      });
    const seen = new Set(view);
    const newest = folder.messages.filter(
      (message) => !seen.has(message) && message.uid > (view.at(-1)?.uid ?? 0) && isShown(message),
    );
    if (newest.length === 0) return;
    view.push(...(Number.isFinite(quirks.window) ? newest.slice(-quirks.window) : newest));
    send(`* ${view.length} EXISTS\r\n`);
  };

  const fetch = (words: readonly Word[], byNumber: boolean): Answer | null => {
    const { view, folder, stale } = current();
    if (folder.stale !== stale) return { status: 'NO', text: '[SERVERBUG] The mailbox has changed', thenBye: true };
    const items = itemsOf(words[1]);
    const there = new Set(folder.messages);
    let uids = membersOf(
      textOf(words[0]),
      view.map((message, index) => (byNumber ? index + 1 : message.uid)),
    );
    if (byNumber) uids = uids.map((number) => view[number - 1]?.uid ?? 0);
    const listing = !items.some((item) => item.startsWith('BODY'));
    const isByUid = !byNumber && !textOf(words[0]).includes('*');
    if (listing && uids.length > 1 && load.shortListings < quirks.shortListings) {
      load.shortListings += 1;
      uids = uids.filter((_, index) => index % 2 === 0);
    }
    const wanted = new Set(uids);
    if (does('warnings')) send('* NO [ALERT] The disk is nearly full\r\n', '* OK Still here\r\n');
    const broken = listing
      ? -1
      : view.findIndex((message) => wanted.has(message.uid) && quirks.breaking.has(message.digest));
    const given = view.filter(
      (message, index) => wanted.has(message.uid) && there.has(message) && (broken < 0 || index < broken),
    );
    const unasked = view.find((message) => !wanted.has(message.uid) && there.has(message));
    if (does('rows that nobody asked for') && unasked !== undefined) given.unshift(unasked);
    if (does('rows turned round')) given.reverse();
    for (const message of given) {
      if (does('counts again and again')) send(`* ${view.length} EXISTS\r\n* 0 RECENT\r\n`);
      if (does('messages go within an answer')) tellOfGone();
      const number = view.indexOf(message) + 1;
      if (number === 0) continue;
      const isListed = listing && !quirks.hidesWithheld && !(quirks.losesWithheld && isByUid);
      if (!isListed && quirks.withheld.has(message.digest)) {
        if (!listing && does('NIL for what is withheld')) send(`* ${number} FETCH (UID ${message.uid} BODY[] NIL)\r\n`);
        continue;
      }
      if (!listing && quirks.leavesOut > 0 && chance.happens(quirks.leavesOut)) continue;
      if (does('flags without UIDs') && chance.happens(AT_TIMES))
        send(`* ${number} FETCH (FLAGS (${flagsOf(message)}))\r\n`);
      const times = does('bodies twice') && chance.happens(AT_TIMES) ? 2 : 1;
      for (let time = 1; time <= times; time += 1)
        for (const some of answersFor(items)) send(`* ${number} FETCH (`, ...fetched(message, some), ')\r\n');
    }
    const culprit = view[broken];
    const breaks = quirks.breaking.get(culprit?.digest ?? '');
    if (culprit !== undefined && breaks === 'breaks off within') {
      const row = Buffer.concat(
        [`* ${broken + 1} FETCH (`, ...fetched(culprit, items)].map((each) => Buffer.from(each)),
      );
      const part = row.subarray(0, row.length - Math.ceil(culprit.octets.length / 2));
      // One of few octets has been handed out, where something comes after them.
      culprit.wasRead = part.includes(culprit.octets);
      send(part);
      peer.end();
      close();
      return null;
    }
    if (breaks === 'says goodbye') {
      hangUp('Connection is closed. 14');
      return null;
    }
    if (breaks === 'hangs up') return { status: 'NO', text: 'Internal error occurred', thenBye: true };
    if (breaks !== undefined) throw new Refusal('NO', `[${breaks}] Internal error occurred`);
    const first = view.findIndex((message) => wanted.has(message.uid) && there.has(message));
    const again = listing && quirks.repeatsRows ? view[first] : undefined;
    if (again !== undefined) send(`* ${first + 1} FETCH (`, ...fetched(again, items), ')\r\n');
    return { status: 'OK', text: 'Done' };
  };
  const answersFor = (items: readonly string[]): (readonly string[])[] => {
    if (!does('two answers for a message') || chance.happens(AT_TIMES)) return [items];
    const half = items.length >> 1;
    return [items.slice(0, half), items.slice(half)];
  };
  const fetched = (message: StoredMail, items: readonly string[]): (string | Buffer)[] => {
    const pieces: (string | Buffer)[] = [];
    const named = items.some((item) => item === 'UID') ? items : ['UID', ...items];
    const all = does('items turned round') ? named.toReversed() : named;
    all.forEach((item, index) => {
      if (index > 0) pieces.push(' ');
      const upper = item.toUpperCase();
      if (upper === 'UID') pieces.push(`UID ${message.uid}`);
      else if (upper === 'FLAGS') pieces.push(`FLAGS (${flagsOf(message)})`);
      else if (upper === 'INTERNALDATE')
        pieces.push(
          `INTERNALDATE ${isOdd(message) ? '"00-Jan-0000 00:00:00 +0000"' : dateTimeOf(message.internalDate, does('dates of another zone'))}`,
        );
      else if (upper === 'RFC822.SIZE') pieces.push(`RFC822.SIZE ${sizeOf(message)}`);
      else if (upper.startsWith('BODY')) {
        const octets = section(message.octets, upper);
        if (upper.startsWith('BODY[]') || upper.startsWith('BODY.PEEK[]')) message.wasRead = true;
        const name = item.replace(/\.PEEK/i, '').replace(/<(\d+)\.\d+>$/, '<$1>');
        pieces.push(`${name} ${does('bodies as literal8') ? '~' : ''}{${octets.length}}\r\n`, octets);
      } else throw new Refusal('BAD', `${upper.slice(0, 40)} is not known`);
    });
    return pieces;
  };
  const isOdd = ({ digest }: StoredMail) => Number.parseInt(digest.slice(0, 4), 16) / 65536 < quirks.oddDates;
  const sizeOf = ({ octets }: StoredMail) => {
    if (does('no sizes')) return 0;
    if (does('sizes without CR')) return octets.filter((octet) => octet !== 13).length;
    return quirks.roundsSize ? Math.ceil(octets.length / SIZE_UNIT) * SIZE_UNIT : octets.length;
  };

  const search = (words: readonly Word[]): Answer => {
    const { view, folder } = current();
    const there = new Set(folder.messages);
    let found = view.filter((message) => there.has(message));
    for (let at = 0; at < words.length; at += 1) {
      const key = textOf(words[at]).toUpperCase();
      if (key === 'ALL') continue;
      else if (key === 'RETURN') at += 1;
      else if (key === 'SINCE') {
        at += 1;
        const day = dayOf(textOf(words[at]));
        found = found.filter((message) => message.internalDate / DAY >= day);
      } else if (key === 'UID') {
        at += 1;
        const members = new Set(
          membersOf(
            textOf(words[at]),
            view.map((message) => message.uid),
          ),
        );
        found = found.filter((message) => members.has(message.uid));
      } else if (key === 'HEADER') {
        const header = `\n${textOf(words[at + 1])}: `.toLowerCase();
        const value = textOf(words[at + 2]).toLowerCase();
        at += 2;
        found = found.filter(({ octets }) => {
          const head = `\n${headerOf(octets).toString('latin1')}`.toLowerCase();
          const from = head.indexOf(header);
          return from >= 0 && head.slice(from).split('\r\n')[0]?.includes(value) === true;
        });
      } else throw new Refusal('BAD', `The search key ${key.slice(0, 40)} is not known`);
    }
    if (quirks.losesWithheld) found = found.filter(({ digest }) => !quirks.withheld.has(digest));
    if (!Number.isFinite(quirks.shortListings) && found.length > 1) found = found.filter((_, index) => index % 2 === 0);
    if (does('searches turned round')) found = found.toReversed();
    const uids = found.map(({ uid }) => uid);
    const all = uids.length === 0 ? '' : ` ALL ${does('searches turned round') ? uids.join(',') : setOf(uids)}`;
    if (does('searches by ranges')) send(`* ESEARCH (TAG "A") UID${all}\r\n`);
    else send(`* SEARCH${uids.map((uid) => ` ${uid}`).join('')}\r\n`);
    return { status: 'OK', text: 'Done' };
  };

  const store = (words: readonly Word[]): Answer => {
    const { view, folder, readOnly, stale } = current();
    if (readOnly) throw new Refusal('NO', '[NOPERM] It is open for reading only');
    if (folder.stale !== stale) return { status: 'NO', text: '[SERVERBUG] The mailbox has changed', thenBye: true };
    const uids = new Set(
      membersOf(
        textOf(words[0]),
        view.map((message) => message.uid),
      ),
    );
    const action = textOf(words[1]).toUpperCase();
    const flags = itemsOf(words[2]).filter((flag) => !quirks.dropsKeywords || flag.startsWith('\\'));
    const there = new Set(folder.messages);
    view.forEach((message, index) => {
      if (!uids.has(message.uid) || !there.has(message)) return;
      const before = action.startsWith('FLAGS') ? [] : [...message.flags];
      const lower = new Set(flags.map((flag) => flag.toLowerCase()));
      const kept = before.filter((flag) => !lower.has(flag.toLowerCase()));
      account.flag(folder, message, action.startsWith('-') ? kept : [...kept, ...flags], peer.client);
      if (!action.endsWith('.SILENT'))
        send(`* ${index + 1} FETCH (UID ${message.uid} FLAGS (${[...message.flags].join(' ')}))\r\n`);
    });
    return { status: 'OK', text: 'Done' };
  };
  const expunge = (uids: readonly number[]): Answer => {
    const { folder, readOnly, stale } = current();
    if (readOnly) throw new Refusal('NO', '[NOPERM] It is open for reading only');
    if (folder.stale !== stale) return { status: 'NO', text: '[SERVERBUG] The mailbox has changed', thenBye: true };
    const wanted = new Set(uids);
    account.expunge(
      folder,
      new Set(folder.messages.filter((each) => wanted.has(each.uid) && each.flags.has('\\Deleted'))),
      peer.client,
    );
    return { status: 'OK', text: 'Done' };
  };

  const dateOfNow = () => EPOCH + Math.floor(scheduler.now() / 1000) * 1000;
  const givenOf = (words: readonly Word[]): GivenMail[] => {
    const given: GivenMail[] = [];
    let flags: string[] = [];
    let internalDate = dateOfNow();
    for (const word of words.slice(1))
      if (Buffer.isBuffer(word)) {
        given.push({ octets: Buffer.from(word), flags, internalDate });
        flags = [];
        internalDate = dateOfNow();
      } else if (typeof word === 'string') internalDate = timeOf(word);
      else flags = itemsOf(word);
    if (given.length === 0) throw new Refusal('BAD', 'There is no message');
    if (given.length > 1 && !quirks.multiAppend) throw new Refusal('BAD', 'One message at a time');
    return given;
  };
  const isWithinReason = (date: number) => date > 1000 && date < EPOCH + scheduler.now() + DAY;
  const refuseAppend = (words: readonly Word[], reason: string) =>
    account.refuse(pathOf(words[0]), givenOf(words), peer.client, reason);
  const append = (words: readonly Word[]): Answer | null => {
    const name = pathOf(words[0]);
    const given = givenOf(words);
    const no = (code: string, culprits: readonly GivenMail[], text = 'Not stored'): Answer => {
      account.refuse(name, culprits, peer.client, code);
      return { status: 'NO', text: code === '' ? text : `[${code}] ${text}` };
    };
    const folder = account.find(name);
    if (folder === undefined || !hasAppeared(folder)) return no('TRYCREATE', given);
    const odd = given.filter(
      ({ flags }) => quirks.refusesKeywords !== null && flags.some((flag) => flag.includes('.')),
    );
    if (odd.length > 0) {
      account.refuse(name, odd, peer.client, 'keyword');
      return { status: quirks.refusesKeywords ?? 'NO', text: 'Invalid keyword name' };
    }
    /** Those before the one that it refuses have been stored, and stay (RFC 3502 forbids it). */
    const keepSome = (fits: (octets: Buffer) => boolean) => {
      const culprit = given.findIndex(({ octets }) => !fits(octets));
      if (quirks.keepsSome && culprit > 0) account.store(folder, given.slice(0, culprit), peer.client);
    };
    const day = Math.floor(scheduler.now() / DAY);
    if (load.appended.day !== day) Object.assign(load.appended, { day, messages: 0 });
    if (load.appended.messages >= quirks.appendsADay) {
      hangUp('Session expired, please login again.');
      return null;
    }
    const minute = scheduler.now() - 60_000;
    load.appends = load.appends.filter((time) => time > minute);
    if (load.appends.length + given.length > quirks.appendsAMinute && load.appends.length > 0) {
      let left = quirks.appendsAMinute - load.appends.length;
      keepSome(() => (left -= 1) >= 0);
      return no('THROTTLED', given, 'Suggested Backoff Time: 30000 milliseconds');
    }
    const large = given.filter(({ octets }) => octets.length > quirks.appendLimit);
    if (large.length > 0) {
      keepSome(({ length }) => length <= quirks.appendLimit);
      return no('TOOBIG', large);
    }
    if (quirks.wantsLineEnd && account.misread(name, given, peer.client))
      return { status: 'BAD', text: '[CLIENTBUG] Additional arguments found after last expected argument' };
    const undatable = given.filter(({ internalDate }) => quirks.wantsDates && !isWithinReason(internalDate));
    if (undatable.length > 0) return no('', undatable, 'Invalid date');
    const poison = given.filter((mail) => quirks.refused.has(digestOf(mail.octets)));
    const [first] = poison;
    if (first !== undefined) {
      keepSome((octets) => !quirks.refused.has(digestOf(octets)));
      const refusal = no(quirks.refused.get(digestOf(first.octets)) ?? '', [first]);
      if (refusal.text.includes(SAYS_GOODBYE)) {
        hangUp(refusal.text.includes('LIMIT') ? '[LIMIT] Resource limit exceeded' : 'Connection is closed. 14');
        return null;
      }
      if (!refusal.text.includes(HANGS_UP)) return refusal;
      peer.end();
      close();
      return null;
    }
    const octets = given.reduce((total, mail) => total + mail.octets.length, 0);
    if (account.size() + octets > quirks.quota) {
      let left = quirks.quota - account.size();
      keepSome(({ length }) => (left -= length) >= 0);
      return no('OVERQUOTA', given);
    }
    const isRefused = chance.happens(quirks.refusesNow);
    if (isRefused && !quirks.storesRefused) {
      keepSome((octets) => octets !== given.at(-1)?.octets);
      return no(quirks.refusalCode, given);
    }
    load.appends.push(...given.map(() => scheduler.now()));
    count(octets);
    load.appended.messages += given.length;
    const dated = given.map((mail) =>
      quirks.replacesDates && !isWithinReason(mail.internalDate) ? { ...mail, internalDate: dateOfNow() } : mail,
    );
    const uids = account.store(folder, dated, peer.client);
    if (isRefused) return no(quirks.refusalCode, given);
    const saysUids = quirks.uidPlus && !(does('UIDs of appended messages at times') && chance.happens(AT_TIMES));
    const told = does('one UID for several appended') ? uids.slice(0, 1) : uids;
    const text = saysUids ? `[APPENDUID ${folder.uidValidity} ${appendedSet(told)}] Done` : 'Done';
    return { status: 'OK', text };
  };

  send(`* OK [CAPABILITY ${capabilities()}] Ready\r\n`);
  return {
    receive: (data) => {
      if (!open) return;
      buffer = buffer.length === 0 ? data : Buffer.concat([buffer, data]);
      consume();
    },
    closed: close,
  };
}

function appendedSet(uids: readonly number[]): string {
  // Twins that are kept once come with UIDs that don't rise.
  return uids.every((uid, index) => index === 0 || uid > (uids[index - 1] ?? 0)) ? setOf(uids) : uids.join(',');
}

function flagsOf({ flags }: StoredMail): string {
  return [...flags].join(' ');
}

function tagOf(parts: readonly Buffer[]): string {
  return /^\S+/.exec(parts[0]?.toString('latin1') ?? '')?.[0] ?? '*';
}

function itemsOf(word: Word | undefined): string[] {
  if (Array.isArray(word)) return (word as readonly Word[]).map((each) => textOf(each));
  return [textOf(word)];
}

function headerOf(octets: Buffer): Buffer {
  const end = octets.indexOf('\r\n\r\n');
  return end < 0 ? octets : octets.subarray(0, end + 4);
}

/** `BODY[]`, `BODY[HEADER]`, `BODY[HEADER.FIELDS (…)]`, each with `<from.size>` if wanted. */
function section(octets: Buffer, item: string): Buffer {
  const name = /\[(.*)\]/.exec(item)?.[1] ?? '';
  let part = octets;
  if (name === 'HEADER') part = headerOf(octets);
  else if (name.startsWith('HEADER.FIELDS')) {
    const fields = new Set((/\((.*)\)/.exec(name)?.[1] ?? '').split(' '));
    const lines = headerOf(octets).toString('latin1').split('\r\n');
    const kept = lines.filter((line) => fields.has((line.split(':')[0] ?? '').toUpperCase()));
    part = Buffer.from([...kept, '', ''].join('\r\n'), 'latin1');
  } else if (name !== '') throw new Refusal('BAD', 'That section is not known');
  const range = /<(\d+)\.(\d+)>$/.exec(item);
  return range === null ? part : part.subarray(Number(range[1]), Number(range[1]) + Number(range[2]));
}
