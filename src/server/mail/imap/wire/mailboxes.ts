import { isInTrouble, isRefusal, MailError, unlessNo, unlessRefused } from '../mail-error.ts';
import type { Mailbox, MailboxStatus } from '../mailbox.ts';
import { rolesOf } from '../roles.ts';
import type { Namespace } from '../streams.ts';
import type { ImapConnection } from './imap-connection.ts';
import { mailboxName, pathListedAs } from './mailbox-name.ts';
import { answeredInTime } from './answer-within.ts';
import { askStatus, statusItems } from './opening.ts';
import type { Part } from './response-parser.ts';
import { type Value, ValueReader } from './value-reader.ts';

/** More than any account has. Limited because the list is held in memory, and the server may be a stranger's. */
const MAILBOXES_AT_MOST = 20_000;
const LISTING_OCTETS = 8 * 1024 * 1024;
/** The same: each is looked for among the mailboxes, and listed by itself. */
const NAMESPACES_AT_MOST = 100;
/** Asked about one by one. */
const LEAVES_AT_MOST = 100;

const tooMany = () => new MailError('refused', `The mail server lists more than ${MAILBOXES_AT_MOST} mailboxes.`);

/** A mailbox as it is listed; `attributes` in lower case. */
type Row = { readonly path: string; readonly delimiter: string; readonly attributes: ReadonlySet<string> };
type Answer = { readonly rows: readonly Row[]; readonly statuses: ReadonlyMap<string, MailboxStatus> };

/**
 * The namespaces and mailboxes of an account. The namespaces are asked for once, together with the first list, which is
 * discarded if they all have a prefix.
 */
export class AccountMailboxes {
  readonly #connection: ImapConnection;
  #namespaces: Promise<readonly Namespace[]> | undefined;
  /** Whether the namespaces are known, and all have a prefix. */
  #isPrefixed = false;

  constructor(connection: ImapConnection) {
    this.#connection = connection;
  }

  /**
   * The namespace in which new mailboxes are created.
   * @throws {MailError}
   */
  namespace(): Promise<Namespace> {
    return answeredInTime(this.#connection, () => homeOf(this.#all(), this.#connection));
  }

  /**
   * The mailboxes that can be opened, each once: some servers list one twice. A path is sent as its name was listed.
   * @throws {MailError} `refused` if the server lists more than any account has, before that fills the memory
   */
  list({ withStatus = false } = {}): Promise<Mailbox[]> {
    return answeredInTime(this.#connection, () =>
      listMailboxes(this.#connection, this.#all(), () => this.#isPrefixed, withStatus),
    );
  }

  #all(): Promise<readonly Namespace[]> {
    const told = (namespaces: readonly Namespace[]) => {
      this.#isPrefixed = namespaces.length > 0 && !namespaces.some(isWhole);
    };
    this.#namespaces ??= personalNamespaces(this.#connection, told).catch((error: unknown) => {
      this.#namespaces = undefined;
      throw error;
    });
    return this.#namespaces;
  }
}

/** The namespace for new mailboxes: of several, the one without a prefix, or that of the inbox (`INBOX.`). */
async function homeOf(asked: Promise<readonly Namespace[]>, connection: ImapConnection): Promise<Namespace> {
  const all = await asked;
  const home = all.find(isWhole) ?? all.find(({ prefix }) => /^inbox.?$/i.test(prefix)) ?? all[0];
  const { prefix, delimiter } = home ?? { prefix: '', delimiter: '' };
  return { prefix, delimiter: delimiter === '' ? await delimiterOf(connection) : delimiter };
}

/** Whether all mailboxes of the account can be listed in it. */
function isWhole({ prefix }: Namespace): boolean {
  return prefix === '';
}

/**
 * The account's own namespaces (RFC 2342); none if the server does not tell.
 * @param told called at once, before anything that follows is read
 * @throws {MailError}
 */
async function personalNamespaces(
  connection: ImapConnection,
  told: (namespaces: readonly Namespace[]) => void,
): Promise<readonly Namespace[]> {
  if (!connection.capabilities.has('NAMESPACE')) return [];
  let personal: readonly Namespace[] | undefined;
  const untagged = (parts: readonly Part[], line: string) => {
    if (personal !== undefined || !/^\* NAMESPACE /i.test(line)) return false;
    personal = namespacesIn(new ValueReader(parts, 12).value());
    told(personal);
    return true;
  };
  await unlessRefused(connection.command('NAMESPACE', { untagged }));
  return personal ?? [];
}

/** @throws {MailError} `refused` if there are more than any account has */
function namespacesIn(personal: Value): readonly Namespace[] {
  const all = listOf(personal);
  if (all.length > NAMESPACES_AT_MOST)
    throw new MailError('refused', `The mail server has more than ${NAMESPACES_AT_MOST} namespaces.`);
  return all.flatMap((each) => {
    const [name, delimiter] = listOf(each);
    return typeof name === 'string' ? [namespaceOf(name, textOf(delimiter))] : [];
  });
}

function namespaceOf(name: string, delimiter: string): Namespace {
  const isEnded = name === '' || name.endsWith(delimiter);
  return { prefix: pathListedAs(isEnded ? name : `${name}${delimiter}`), delimiter };
}

/**
 * The hierarchy delimiter; empty if there is none.
 * @throws {MailError}
 */
async function delimiterOf(connection: ImapConnection): Promise<string> {
  for (const pattern of ['', '*']) {
    const answer = await unlessRefused(ask(connection, 'LIST', ['', pattern]));
    const known = answer?.rows.find(({ delimiter }) => delimiter !== '');
    if (known !== undefined) return known.delimiter;
  }
  return '';
}

async function listMailboxes(
  connection: ImapConnection,
  asked: Promise<readonly Namespace[]>,
  isPrefixed: () => boolean,
  withStatus: boolean,
): Promise<Mailbox[]> {
  const mailboxes = new Map<string, Row>();
  const unopenable = new Map<string, Row>();
  const statuses = new Map<string, MailboxStatus>();
  const add = (answer: Answer) => {
    for (const row of answer.rows) {
      const rows = isOpenable(row) ? mailboxes : unopenable;
      if (!rows.has(row.path)) rows.set(row.path, row);
    }
    if (mailboxes.size > MAILBOXES_AT_MOST) throw tooMany();
    for (const [path, status] of answer.statuses) statuses.set(path, status);
  };
  // Not if all namespaces have a prefix: this list also has what others share, which may be more than any account has.
  const whole = isPrefixed() ? undefined : list(connection, ['', '*'], withStatus, isPrefixed);
  whole?.catch(() => {});
  const namespaces = await asked;
  if (whole !== undefined && !isPrefixed()) add(await whole);
  const hasSome = (prefix: string) => [...mailboxes.keys()].some((path) => path.startsWith(prefix));
  // Some servers leave namespaces with a prefix out of the list of everything (Dovecot, `list = no`).
  for (const { prefix } of namespaces) {
    if (prefix === '' || hasSome(prefix)) continue;
    const apart = list(connection, [prefix, '*'], withStatus);
    const answer = isPrefixed() ? await apart : await unlessNo(apart);
    if (answer !== null) add(answer);
  }
  if (!mailboxes.has('INBOX')) {
    const answer = await list(connection, ['', 'INBOX'], withStatus);
    add(answer);
    if (answer.rows.length === 0 && (await hasInbox(connection))) add({ rows: [INBOX], statuses: new Map() });
  }
  const leaves = [...unopenable.values()].filter((row) => isLeaf(row) && !mailboxes.has(row.path));
  for (const row of leaves.slice(0, LEAVES_AT_MOST))
    if (await isInTroubleWith(connection, row.path)) mailboxes.set(row.path, row);
  const roles = rolesOf([...mailboxes.values()]);
  return Array.from(mailboxes.values(), ({ path, delimiter }) => {
    const [specialUse, status] = [roles.get(path), statuses.get(path)];
    return {
      path,
      delimiter,
      ...(specialUse === undefined ? {} : { specialUse }),
      ...(status === undefined ? {} : { status }),
    };
  });
}

const INBOX: Row = { path: 'INBOX', delimiter: '', attributes: new Set() };

/** Whether there is one that no list shows: a server that lists nothing, as it fails, must not be taken for empty. */
async function hasInbox(connection: ImapConnection): Promise<boolean> {
  const status = await unlessRefused(askStatus(connection, 'INBOX', ['UIDVALIDITY']));
  return (status?.get('UIDVALIDITY') ?? 0n) > 0n;
}

function isOpenable({ attributes, path }: Row): boolean {
  return path !== '' && !attributes.has('\\noselect') && !attributes.has('\\nonexistent');
}

function isLeaf({ attributes, path }: Row): boolean {
  return path !== '' && !attributes.has('\\haschildren') && !attributes.has('\\nonexistent');
}

/**
 * Whether the server fails at a mailbox that it lists as none that can be opened, as Dovecot does where it may not read
 * a folder on its disk: such a mailbox has mail, and must not pass for a mere name.
 */
async function isInTroubleWith(connection: ImapConnection, path: string): Promise<boolean> {
  try {
    await askStatus(connection, path, ['UIDVALIDITY']);
    return false;
  } catch (error) {
    if (error instanceof MailError && isInTrouble(error)) return true;
    if (!isRefusal(error)) throw error;
    return error.responseCode === 'CORRUPTION';
  }
}

type Place = readonly [reference: string, pattern: string];

const never = () => false;

/**
 * Lists mailboxes. Some servers announce the options of LIST-EXTENDED (RFC 5258) and then refuse them.
 * @param isSpare whether nobody will read the answer, so that none of it is kept
 */
async function list(
  connection: ImapConnection,
  place: Place,
  withStatus: boolean,
  isSpare: () => boolean = never,
): Promise<Answer> {
  const { capabilities } = connection;
  const options = [
    ...(withStatus && capabilities.has('LIST-STATUS') ? ['STATUS (MESSAGES UIDNEXT UIDVALIDITY)'] : []),
    ...(capabilities.has('SPECIAL-USE') && capabilities.has('LIST-EXTENDED') ? ['SPECIAL-USE'] : []),
  ];
  const verb = capabilities.has('XLIST') && !capabilities.has('SPECIAL-USE') ? 'XLIST' : 'LIST';
  if (options.length === 0) return ask(connection, verb, place, '', isSpare);
  try {
    return await ask(connection, verb, place, ` RETURN (${options.join(' ')})`, isSpare);
  } catch (error) {
    if (!isRefusal(error) || connection.ended !== undefined || isSpare()) throw error;
    return ask(connection, verb, place, '', isSpare);
  }
}

async function ask(
  connection: ImapConnection,
  verb: string,
  place: Place,
  options = '',
  isSpare: () => boolean = never,
): Promise<Answer> {
  const rows: Row[] = [];
  const statuses = new Map<string, MailboxStatus>();
  let octets = 0;
  const untagged = (parts: readonly Part[], line: string) => {
    const word = /^\* (X?LIST|STATUS) /i.exec(line.slice(0, 9));
    if (word === null) return false;
    if (isSpare()) return true;
    octets += parts.reduce((sum, part) => sum + (part?.length ?? 0), 0);
    const reader = new ValueReader(parts, word[0].length);
    if (word[1]?.toUpperCase() === 'STATUS') {
      const status = statusOf(new Map(statusItems(parts)));
      if (status !== undefined) statuses.set(pathListedAs(textOf(reader.value())), status);
    } else rows.push(rowOf(reader));
    if (octets > LISTING_OCTETS || rows.length > MAILBOXES_AT_MOST) throw tooMany();
    return true;
  };
  const [reference, pattern] = place.map((name) => mailboxName(name));
  await connection.command(`${verb} ${reference} ${pattern}${options}`, { untagged });
  return { rows, statuses };
}

/** Some servers begin each name with the delimiter. */
function rowOf(reader: ValueReader): Row {
  const attributes = listOf(reader.value()).map((attribute) => textOf(attribute).toLowerCase());
  const delimiter = textOf(reader.value());
  const value = reader.value();
  const name = value === null ? 'NIL' : textOf(value);
  const isAbsolute = delimiter !== '' && name.startsWith(delimiter);
  return { path: pathListedAs(isAbsolute ? name.slice(1) : name), delimiter, attributes: new Set(attributes) };
}

function statusOf(items: ReadonlyMap<string, bigint>): MailboxStatus | undefined {
  const uidValidity = items.get('UIDVALIDITY') ?? 0n;
  const [uidNext, exists] = [Number(items.get('UIDNEXT') ?? 0n), items.get('MESSAGES')];
  return uidValidity > 0n && uidNext > 0 && exists !== undefined
    ? { uidValidity, uidNext, exists: Number(exists) }
    : undefined;
}

function listOf(value: Value | undefined): readonly Value[] {
  return Array.isArray(value) ? value : [];
}

function textOf(value: Value | undefined): string {
  return typeof value === 'string' ? value : '';
}
