import type { Socket } from 'node:net';
import type { MailAccount, Mailbox, Message } from '../mail-account.ts';
import { type Command, type Value, WireReader, inSet, itemsOf, readSet, receive, textOf } from './command.ts';
import { readDateTime } from './date-time.ts';
import { answerItems, readItems } from './fetch.ts';
import { list, statusLine } from './listing.ts';
import { decodeName } from './mailbox-name.ts';
import { ImapRefusal } from './refusal.ts';
import { readSearch, search } from './search.ts';
import { type Doorkeeper, authenticate, login, mechanisms } from './sign-in.ts';

export type ImapHouse = {
  readonly greeting: string;
  readonly delimiter: '/' | '.';
  readonly door: Doorkeeper;
  /** The account of an address that has signed in. */
  readonly account: (email: string) => MailAccount;
};

const LARGEST_MESSAGE = 50 * 1024 * 1024;
const LARGEST_BEFORE_SIGN_IN = 16 * 1024;
const IDLE_LIMIT = 30 * 60_000;
const LONGEST_NAME = 1000;
const MOST_KEYWORDS = 100;
const SYSTEM_FLAGS = ['\\Answered', '\\Flagged', '\\Deleted', '\\Seen', '\\Draft'];
const CAPABILITIES =
  'IMAP4rev1 LITERAL+ SASL-IR ID ENABLE NAMESPACE UIDPLUS MOVE UNSELECT IDLE CHILDREN SPECIAL-USE CREATE-SPECIAL-USE ' +
  `LIST-EXTENDED LIST-STATUS STATUS=SIZE APPENDLIMIT=${LARGEST_MESSAGE}`;

/** `view` is the mailbox as this client has been told of it; a number in a command is a place in it. */
type Selected = { readonly mailbox: Mailbox; readonly writable: boolean; readonly view: Message[]; changes: number };
type Place = { readonly number: number; readonly message: Message };

/** Serves one connection (RFC 3501) until either side ends it. */
export async function serveImap(socket: Socket, house: ImapHouse): Promise<void> {
  socket.setNoDelay(true);
  socket.setTimeout(IDLE_LIMIT, () => socket.end('* BYE Idle for too long\r\n'));
  await new Session(socket, house).run();
}

class Session {
  readonly #socket: Socket;
  readonly #wire: WireReader;
  readonly #house: ImapHouse;
  #account: MailAccount | null = null;
  #selected: Selected | null = null;
  #ended = false;

  constructor(socket: Socket, house: ImapHouse) {
    this.#socket = socket;
    this.#wire = new WireReader(socket);
    this.#house = house;
  }

  async run(): Promise<void> {
    await this.#line(`* OK [CAPABILITY ${this.#capabilities()}] ${this.#house.greeting}`);
    try {
      while (!this.#ended) {
        const limit = this.#account === null ? LARGEST_BEFORE_SIGN_IN : LARGEST_MESSAGE;
        const received = await receive(this.#wire, limit, () => this.#line('+ Go ahead'));
        if (received === null) break;
        if (received.kind === 'bad') await this.#refuse(received.tag, received.refusal);
        else await this.#answer(received.command);
      }
    } catch (error) {
      if (!(error instanceof ImapRefusal)) throw error;
      await this.#line(`* BYE ${error.message}`);
    }
    this.#socket.end();
  }

  async #answer(command: Command): Promise<void> {
    try {
      const text = await this.#perform(command);
      const quiet = ['FETCH', 'STORE', 'SEARCH'].includes(command.name);
      await this.#tell(!quiet);
      await this.#line(`${command.tag} OK ${text}`);
    } catch (error) {
      if (!(error instanceof ImapRefusal)) throw error;
      if (error.answer === 'BYE') throw error;
      await this.#refuse(command.tag, error);
    }
  }

  #refuse(tag: string, refusal: ImapRefusal): Promise<void> {
    return this.#line(`${tag} ${refusal.answer} ${refusal.message}`);
  }

  async #perform({ name, args }: Command): Promise<string> {
    switch (name) {
      case 'CAPABILITY':
        await this.#line(`* CAPABILITY ${this.#capabilities()}`);
        return 'Done';
      case 'NOOP':
      case 'CHECK':
        return 'Done';
      case 'ID':
        await this.#line('* ID ("name" "San Bruno sandbox" "version" "1")');
        return 'Done';
      case 'LOGOUT':
        this.#ended = true;
        await this.#line('* BYE Goodbye');
        return 'Done';
      case 'LOGIN':
      case 'AUTHENTICATE':
        return this.#signIn(name, args);
      default:
        return this.#performSignedIn(name, args);
    }
  }

  async #signIn(name: 'LOGIN' | 'AUTHENTICATE', args: readonly Value[]): Promise<string> {
    if (this.#account !== null) throw new ImapRefusal('BAD', 'You are signed in already');
    const { door } = this.#house;
    const first = textOf(args[0], 'The first word');
    const email =
      name === 'LOGIN'
        ? await login(door, first, textOf(args[1], 'The password'))
        : await authenticate(
            door,
            first.toUpperCase(),
            args[1] === undefined ? undefined : textOf(args[1], 'The response'),
            (challenge) => this.#ask(challenge),
          );
    this.#account = this.#house.account(email);
    return `[CAPABILITY ${this.#capabilities()}] Welcome`;
  }

  async #performSignedIn(name: string, args: readonly Value[]): Promise<string> {
    const account = this.#account;
    if (account === null) throw new ImapRefusal('BAD', 'Sign in first, or the command is unknown');
    const { delimiter } = this.#house;
    switch (name) {
      case 'ENABLE':
        await this.#line('* ENABLED');
        return 'Done';
      case 'NAMESPACE':
        await this.#line(`* NAMESPACE (("" "${delimiter}")) NIL NIL`);
        return 'Done';
      case 'LIST':
      case 'LSUB':
        for (const line of guarded(() => list(account, name, args, delimiter))) await this.#line(`* ${line}`);
        return 'Done';
      case 'STATUS':
        await this.#line(`* ${statusLine(this.#existing(account, args[0]), itemsOf(args[1], 'The items'))}`);
        return 'Done';
      case 'CREATE':
        return this.#create(account, args);
      case 'DELETE': {
        const mailbox = this.#existing(account, args[0]);
        if (mailbox.name === 'INBOX') throw new ImapRefusal('NO', '[CANNOT] The inbox stays');
        kept(() => account.delete(mailbox));
        return 'Deleted';
      }
      case 'RENAME':
        return this.#rename(account, args);
      case 'SUBSCRIBE':
      case 'UNSUBSCRIBE': {
        const mailbox = mailboxName(args[0]);
        kept(() => account.subscribe(mailbox, name === 'SUBSCRIBE'));
        return 'Done';
      }
      case 'SELECT':
      case 'EXAMINE':
        return this.#select(account, args[0], name === 'SELECT');
      case 'APPEND':
        return this.#append(account, args);
      case 'IDLE':
        return this.#idle(account);
      default:
        return this.#performSelected(account, name, args);
    }
  }

  async #performSelected(account: MailAccount, name: string, args: readonly Value[]): Promise<string> {
    const selected = this.#selected;
    if (selected === null) throw new ImapRefusal('BAD', 'Select a mailbox first, or the command is unknown');
    if (selected.mailbox.gone) throw new ImapRefusal('BYE', 'The mailbox has been deleted');
    const byUid = name.startsWith('UID ');
    switch (byUid ? name.slice(4) : name) {
      case 'CLOSE':
        if (selected.writable) this.#expunge(account, selected, () => true);
        this.#selected = null;
        return 'Closed';
      case 'UNSELECT':
        this.#selected = null;
        return 'Closed';
      case 'EXPUNGE': {
        mustBeWritable(selected);
        const set = byUid ? readSet(textOf(args[0], 'The set'), lastUid(selected)) : null;
        this.#expunge(account, selected, (uid) => set === null || inSet(set, uid));
        return 'Expunged';
      }
      case 'FETCH':
        return this.#fetch(account, selected, args, byUid);
      case 'STORE':
        return this.#store(account, selected, args, byUid);
      case 'COPY':
      case 'MOVE':
        return this.#copy(account, selected, args, byUid, name.endsWith('MOVE'));
      case 'SEARCH': {
        const test = readSearch(args, { number: selected.view.length, uid: lastUid(selected) });
        const found = await search(account, selected.view, test);
        const numbers = found.map(({ number, message }) => (byUid ? message.uid : number));
        await this.#line(['* SEARCH', ...numbers].join(' '));
        return 'Searched';
      }
      default:
        throw new ImapRefusal('BAD', 'The command is unknown');
    }
  }

  async #create(account: MailAccount, args: readonly Value[]): Promise<string> {
    const { delimiter } = this.#house;
    const name = mailboxName(args[0]).replace(delimiter === '/' ? /\/+$/ : /\.+$/, '');
    if (name === '' || name.length > LONGEST_NAME || name.split(delimiter).includes('') || /[\p{Cc}*%]/u.test(name))
      throw new ImapRefusal('NO', '[CANNOT] A mailbox can not have this name');
    if (account.mailbox(name) !== undefined)
      throw new ImapRefusal('NO', '[ALREADYEXISTS] The mailbox is there already');
    const uses = args[1] === undefined ? [] : itemsOf(args[1], 'The parameters');
    const use = uses[0] === undefined ? undefined : textOf(itemsOf(uses[1], 'USE')[0], 'The use');
    kept(() => account.create(name, use));
    return 'Created';
  }

  async #rename(account: MailAccount, args: readonly Value[]): Promise<string> {
    const mailbox = this.#existing(account, args[0]);
    const to = mailboxName(args[1]);
    if (mailbox.name === 'INBOX') throw new ImapRefusal('NO', '[CANNOT] The inbox stays');
    if (account.mailbox(to) !== undefined) throw new ImapRefusal('NO', '[ALREADYEXISTS] The mailbox is there already');
    const inside = mailbox.name + this.#house.delimiter;
    const below = [...account.mailboxes.values()].filter(({ name }) => name.startsWith(inside));
    for (const child of below) kept(() => account.rename(child, to + child.name.slice(inside.length - 1)));
    kept(() => account.rename(mailbox, to));
    return 'Renamed';
  }

  async #select(account: MailAccount, value: Value | undefined, writable: boolean): Promise<string> {
    this.#selected = null;
    const mailbox = this.#existing(account, value);
    const view = [...mailbox.messages];
    const known = [...new Set([...SYSTEM_FLAGS, ...view.flatMap(({ flags }) => flags)])].slice(0, MOST_KEYWORDS);
    const unseen = view.findIndex(({ flags }) => !flags.includes('\\Seen')) + 1;
    const lines = [
      `* FLAGS (${known.join(' ')})`,
      `* ${view.length} EXISTS`,
      '* 0 RECENT',
      ...(unseen === 0 ? [] : [`* OK [UNSEEN ${unseen}] First unseen`]),
      `* OK [PERMANENTFLAGS (${writable ? [...known, '\\*'].join(' ') : ''})] Kept`,
      `* OK [UIDVALIDITY ${mailbox.uidValidity}] UIDs are valid`,
      `* OK [UIDNEXT ${mailbox.uidNext}] Next UID`,
    ];
    this.#selected = { mailbox, writable, view, changes: mailbox.changes };
    await this.#line(lines.join('\r\n'));
    return `[READ-${writable ? 'WRITE' : 'ONLY'}] Selected`;
  }

  async #append(account: MailAccount, args: readonly Value[]): Promise<string> {
    const mailbox = this.#existing(account, args[0], '[TRYCREATE] ');
    const rest = args.slice(1);
    const flags = rest[0]?.kind === 'list' ? readFlags(itemsOf(rest.shift(), 'The flags')) : [];
    const time = rest.length > 1 ? readDateTime(textOf(rest.shift(), 'The date')) : Date.now();
    const [message] = rest;
    if (message?.kind !== 'string' || rest.length !== 1) throw new ImapRefusal('BAD', 'APPEND wants one message');
    const uid = kept(() => account.append(mailbox, time, flags, message.bytes));
    return `[APPENDUID ${mailbox.uidValidity} ${uid}] Appended`;
  }

  async #fetch(account: MailAccount, selected: Selected, args: readonly Value[], byUid: boolean): Promise<string> {
    const items = readItems(args[1], byUid);
    const marks = selected.writable && items.some((item) => item.kind === 'section' && !item.peek);
    for (const { number, message } of places(selected, args[0], byUid)) {
      if (message.expunged) continue;
      if (marks && !message.flags.includes('\\Seen'))
        kept(() => account.setFlags(selected.mailbox, message, [...message.flags, '\\Seen']));
      const data = await answerItems(account, message, items);
      await this.#write([Buffer.from(`* ${number} FETCH (`), ...data, Buffer.from(')\r\n')]);
    }
    return 'Fetched';
  }

  async #store(account: MailAccount, selected: Selected, args: readonly Value[], byUid: boolean): Promise<string> {
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
    if (match[2] === undefined) for (const line of lines) await this.#line(line);
    return 'Stored';
  }

  async #copy(
    account: MailAccount,
    selected: Selected,
    args: readonly Value[],
    byUid: boolean,
    move: boolean,
  ): Promise<string> {
    if (move) mustBeWritable(selected);
    const target = this.#existing(account, args[1], '[TRYCREATE] ');
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
    await this.#line(`* OK ${code} Moved`);
    for (const [message] of pairs) kept(() => account.expunge(selected.mailbox, message));
    return 'Moved';
  }

  #expunge(account: MailAccount, { mailbox }: Selected, wanted: (uid: number) => boolean): void {
    const doomed = mailbox.messages.filter(({ flags, uid }) => flags.includes('\\Deleted') && wanted(uid));
    for (const message of doomed) kept(() => account.expunge(mailbox, message));
  }

  /** IDLE (RFC 2177): tells of changes as they come, until the client says DONE. */
  async #idle(account: MailAccount): Promise<string> {
    let telling = this.#line('+ Idling');
    const tell = () => {
      telling = telling.then(() => this.#tell(true));
    };
    account.on('change', tell);
    tell();
    try {
      const line = await this.#wire.line();
      await telling;
      if (line !== null && line.toString('latin1').trim().toUpperCase() !== 'DONE')
        throw new ImapRefusal('BAD', 'IDLE ends with DONE');
    } finally {
      account.off('change', tell);
    }
    return 'Done';
  }

  /** Tells of what others have changed since; places may only move, as `expunges` says, where RFC 3501 §7.4.1 lets them. */
  async #tell(expunges: boolean): Promise<void> {
    const selected = this.#selected;
    if (selected === null || selected.changes === selected.mailbox.changes) return;
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
    for (const line of lines) await this.#line(line);
  }

  #existing(account: MailAccount, value: Value | undefined, code = '[NONEXISTENT] '): Mailbox {
    const mailbox = account.mailbox(mailboxName(value));
    if (mailbox === undefined) throw new ImapRefusal('NO', `${code}There is no such mailbox`);
    return mailbox;
  }

  #capabilities(): string {
    const auth = mechanisms(this.#house.door).map((name) => `AUTH=${name}`);
    if (this.#account !== null) return CAPABILITIES;
    return [CAPABILITIES, ...auth, ...(this.#house.door.password === undefined ? ['LOGINDISABLED'] : [])].join(' ');
  }

  async #ask(challenge: string): Promise<string> {
    await this.#line(`+ ${challenge}`);
    const line = await this.#wire.line(LARGEST_BEFORE_SIGN_IN);
    if (line === null) throw new ImapRefusal('BYE', 'Gone');
    return line.toString('latin1').trim();
  }

  #line(text: string): Promise<void> {
    return this.#write([Buffer.from(`${text}\r\n`, 'latin1')]);
  }

  /** Resolves when the client has taken enough of it for more to be written. */
  async #write(chunks: readonly Buffer[]): Promise<void> {
    const socket = this.#socket;
    if (socket.destroyed || !socket.writable) return;
    socket.cork();
    let roomy = true;
    for (const chunk of chunks) roomy = socket.write(chunk);
    socket.uncork();
    if (roomy) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      };
      socket.once('drain', done);
      socket.once('close', done);
    });
  }
}

function mailboxName(value: Value | undefined): string {
  return guarded(() => decodeName(textOf(value, 'The mailbox')));
}

function guarded<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError) throw new ImapRefusal('BAD', error.message);
    throw error;
  }
}

/** Does what the journal must keep; a disk that refuses is a NO, and nothing has changed. */
function kept<T>(change: () => T): T {
  try {
    return change();
  } catch (error) {
    if (error instanceof Error && 'code' in error) throw new ImapRefusal('NO', '[SERVERBUG] The disk refuses it');
    throw error;
  }
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

function readFlags(values: readonly Value[]): readonly string[] {
  const flags = values.map((value) => {
    const text = textOf(value, 'A flag');
    const known = SYSTEM_FLAGS.find((flag) => flag.toLowerCase() === text.toLowerCase());
    if (known === undefined && !/^[^\s(){%*"\\\]\p{Cc}]{1,128}$/u.test(text))
      throw new ImapRefusal('BAD', `The flag ${text.slice(0, 40)} makes no sense`);
    return known ?? text;
  });
  const unlike = flags.filter(
    (flag, index) => flags.findIndex((other) => other.toLowerCase() === flag.toLowerCase()) === index,
  );
  return unlike.slice(0, MOST_KEYWORDS);
}
