import type { Socket } from 'node:net';
import type { MailAccount } from '../mail-account.ts';
import { existing, guarded, kept, mailboxName, MOST_KEYWORDS, readFlags, SYSTEM_FLAGS } from './account-commands.ts';
import { type Command, type Value, WireReader, itemsOf, receive, textOf } from './command.ts';
import { readDateTime } from './date-time.ts';
import { list, statusLine } from './listing.ts';
import { ImapRefusal } from './refusal.ts';
import { expunge, performSelected, type Selected, tellChanges } from './selected.ts';
import { type Doorkeeper, authenticate, login, mechanisms } from './sign-in.ts';
import { type WireWriter, wireWriter } from './wire-writer.ts';

export type ImapHouse = {
  readonly greeting: string;
  readonly delimiter: '/' | '.';
  readonly door: Doorkeeper;
  /** The account of a signed-in address. */
  readonly account: (email: string) => MailAccount;
};

const LARGEST_MESSAGE = 50 * 1024 * 1024;
const LARGEST_BEFORE_SIGN_IN = 16 * 1024;
const IDLE_LIMIT = 30 * 60_000;
const LONGEST_NAME = 1000;
const CAPABILITIES =
  'IMAP4rev1 LITERAL+ SASL-IR ID ENABLE NAMESPACE UIDPLUS MOVE UNSELECT IDLE CHILDREN SPECIAL-USE CREATE-SPECIAL-USE ' +
  `LIST-EXTENDED LIST-STATUS STATUS=SIZE APPENDLIMIT=${LARGEST_MESSAGE}`;

/** Serves one connection (RFC 3501) until either side ends it. */
export async function serveImap(socket: Socket, house: ImapHouse): Promise<void> {
  socket.setNoDelay(true);
  socket.setTimeout(IDLE_LIMIT, () => socket.end('* BYE Idle for too long\r\n'));
  await new Session(socket, house).run();
}

class Session {
  readonly #socket: Socket;
  readonly #out: WireWriter;
  readonly #wire: WireReader;
  readonly #house: ImapHouse;
  #account: MailAccount | null = null;
  #selected: Selected | null = null;
  #ended = false;

  constructor(socket: Socket, house: ImapHouse) {
    this.#socket = socket;
    this.#out = wireWriter(socket);
    this.#wire = new WireReader(socket);
    this.#house = house;
  }

  async run(): Promise<void> {
    await this.#out.line(`* OK [CAPABILITY ${this.#capabilities()}] ${this.#house.greeting}`);
    try {
      while (!this.#ended) {
        const limit = this.#account === null ? LARGEST_BEFORE_SIGN_IN : LARGEST_MESSAGE;
        const received = await receive(this.#wire, limit, () => this.#out.line('+ Go ahead'));
        if (received === null) break;
        if (received.kind === 'bad') await this.#refuse(received.tag, received.refusal);
        else await this.#answer(received.command);
      }
    } catch (error) {
      if (!(error instanceof ImapRefusal)) throw error;
      await this.#out.line(`* BYE ${error.message}`);
    }
    this.#socket.end();
  }

  async #answer(command: Command): Promise<void> {
    try {
      const text = await this.#perform(command);
      const quiet = ['FETCH', 'STORE', 'SEARCH'].includes(command.name);
      if (this.#selected !== null) await tellChanges(this.#selected, !quiet, this.#out);
      await this.#out.line(`${command.tag} OK ${text}`);
    } catch (error) {
      if (!(error instanceof ImapRefusal)) throw error;
      if (error.answer === 'BYE') throw error;
      await this.#refuse(command.tag, error);
    }
  }

  #refuse(tag: string, refusal: ImapRefusal): Promise<void> {
    return this.#out.line(`${tag} ${refusal.answer} ${refusal.message}`);
  }

  async #perform({ name, args }: Command): Promise<string> {
    switch (name) {
      case 'CAPABILITY':
        await this.#out.line(`* CAPABILITY ${this.#capabilities()}`);
        return 'Done';
      case 'NOOP':
      case 'CHECK':
        return 'Done';
      case 'ID':
        await this.#out.line('* ID ("name" "San Bruno sandbox" "version" "1")');
        return 'Done';
      case 'LOGOUT':
        this.#ended = true;
        await this.#out.line('* BYE Goodbye');
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
        await this.#out.line('* ENABLED');
        return 'Done';
      case 'NAMESPACE':
        await this.#out.line(`* NAMESPACE (("" "${delimiter}")) NIL NIL`);
        return 'Done';
      case 'LIST':
      case 'LSUB':
        for (const line of guarded(() => list(account, name, args, delimiter))) await this.#out.line(`* ${line}`);
        return 'Done';
      case 'STATUS':
        await this.#out.line(`* ${statusLine(existing(account, args[0]), itemsOf(args[1], 'The items'))}`);
        return 'Done';
      case 'CREATE':
        return this.#create(account, args);
      case 'DELETE': {
        const mailbox = existing(account, args[0]);
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
    if (name === 'CLOSE' || name === 'UNSELECT') {
      if (name === 'CLOSE' && selected.writable) expunge({ account, selected }, () => true);
      this.#selected = null;
      return 'Closed';
    }
    const byUid = name.startsWith('UID ');
    return performSelected(byUid ? name.slice(4) : name, { account, selected, args, byUid, out: this.#out });
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
    const mailbox = existing(account, args[0]);
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
    const mailbox = existing(account, value);
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
    await this.#out.line(lines.join('\r\n'));
    return `[READ-${writable ? 'WRITE' : 'ONLY'}] Selected`;
  }

  async #append(account: MailAccount, args: readonly Value[]): Promise<string> {
    const mailbox = existing(account, args[0], '[TRYCREATE] ');
    const rest = args.slice(1);
    const flags = rest[0]?.kind === 'list' ? readFlags(itemsOf(rest.shift(), 'The flags')) : [];
    const time = rest.length > 1 ? readDateTime(textOf(rest.shift(), 'The date')) : Date.now();
    const [message] = rest;
    if (message?.kind !== 'string' || rest.length !== 1) throw new ImapRefusal('BAD', 'APPEND wants one message');
    const uid = kept(() => account.append(mailbox, time, flags, message.bytes));
    return `[APPENDUID ${mailbox.uidValidity} ${uid}] Appended`;
  }

  /** IDLE (RFC 2177): reports changes as they happen, until the client sends DONE. */
  async #idle(account: MailAccount): Promise<string> {
    let telling = this.#out.line('+ Idling');
    const tell = () => {
      const selected = this.#selected;
      if (selected !== null) telling = telling.then(() => tellChanges(selected, true, this.#out));
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

  #capabilities(): string {
    const auth = mechanisms(this.#house.door).map((name) => `AUTH=${name}`);
    if (this.#account !== null) return CAPABILITIES;
    return [CAPABILITIES, ...auth, ...(this.#house.door.password === undefined ? ['LOGINDISABLED'] : [])].join(' ');
  }

  async #ask(challenge: string): Promise<string> {
    await this.#out.line(`+ ${challenge}`);
    const line = await this.#wire.line(LARGEST_BEFORE_SIGN_IN);
    if (line === null) throw new ImapRefusal('BYE', 'Gone');
    return line.toString('latin1').trim();
  }
}
