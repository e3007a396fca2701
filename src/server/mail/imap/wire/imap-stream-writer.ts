import type { OauthProvider } from '../../../../contract/provider.ts';
import { asRefusal, isLasting, isRefusal, MailError, unlessNo, unlessRefused } from '../mail-error.ts';
import type { Appended, Appending, MailReader, MailWriter, NewMessage, Selected, WriterTraits } from '../streams.ts';
import { Append } from './append.ts';
import { keeping } from './flags.ts';
import type { ImapConnection } from './imap-connection.ts';
import { openStreamReader } from './imap-stream-reader.ts';
import { mailboxName } from './mailbox-name.ts';
import { askStatus, Opening } from './opening.ts';
import { setsOf } from './uid-sets.ts';

/**
 * What the writers of one account learn of its server. `refusesLarge`: it rejects large non-synchronising literals.
 * `keepsDeleted`: it keeps messages that are marked as deleted.
 */
export type Learnt = { refusesLarge: boolean; keepsDeleted: boolean };

/**
 * What is known of a server beforehand.
 * @param provider whose server it is, if that is known
 */
export function knownOf(provider: OauthProvider | null): Learnt {
  return {
    // Microsoft announces LITERAL+, but has refused large literals: "BAD command line limit exceeded" (MailKit 1493).
    refusesLarge: provider === 'office365',
    // Yahoo, whose servers AOL uses as well, refuses such a message (imapsync 420). Gmail expunges it at once, unless
    // its owner has changed that (`autoExpunge` in its API).
    keepsDeleted: provider === null || provider === 'office365',
  };
}

/** A writer over a connection that is signed in; it closes the connection when it is disposed of. */
export function openStreamWriter(connection: ImapConnection, learnt: Learnt = knownOf(null)): MailWriter {
  return new ImapStreamWriter(connection, learnt);
}

/** What the capabilities of a connection allow, as far as the server is known to keep its word. */
function traitsOf(capabilities: ReadonlySet<string>, learnt: Learnt): WriterTraits {
  const limit = [...capabilities].find((name) => name.startsWith('APPENDLIMIT='));
  const octets = limit === undefined ? Number.NaN : Number(limit.slice(12));
  return {
    together: capabilities.has('MULTIAPPEND'),
    literals: literalsOf(capabilities, learnt),
    saysUids: capabilities.has('UIDPLUS'),
    ...(Number.isSafeInteger(octets) && octets > 0 ? { appendLimit: octets } : {}),
  };
}

function literalsOf(capabilities: ReadonlySet<string>, { refusesLarge }: Learnt): WriterTraits['literals'] {
  if (capabilities.has('LITERAL+')) return refusesLarge ? 'small' : 'any size';
  return capabilities.has('LITERAL-') ? 'small' : 'synchronising';
}

/**
 * Makes the error a plain refusal, so that nobody waits, if the server has as many mailboxes as it can, or accepts none
 * of such a name. The latter is no fault of the sign-in.
 */
function refusedWhereLasting(error: unknown): unknown {
  const isOfMailbox = error instanceof MailError && (isLasting(error) || error.fault === 'credentials');
  return isOfMailbox ? asRefusal(error) : error;
}

class ImapStreamWriter implements MailWriter {
  readonly traits: WriterTraits;
  readonly #connection: ImapConnection;
  readonly #opening: Opening;
  readonly #learnt: Learnt;

  constructor(connection: ImapConnection, learnt: Learnt) {
    this.#connection = connection;
    this.#learnt = learnt;
    this.#opening = new Opening(connection, 'SELECT');
    this.traits = traitsOf(connection.capabilities, learnt);
    // BYE with TOOBIG: see RFC 7888 §4. Cyrus announces LITERAL+ even if configured to take only what LITERAL- allows.
    connection.whenEnded(({ responseCode }) => {
      if (responseCode === 'TOOBIG') learnt.refusesLarge = true;
    });
  }

  async select(path: string): Promise<Selected> {
    // Without a number, the capability means that each mailbox has a limit of its own (RFC 7889 §4).
    const asksLimit = this.#connection.capabilities.has('APPENDLIMIT');
    const [limits, { permanentFlags, ...opened }] = await Promise.all([
      asksLimit ? unlessNo(askStatus(this.#connection, path, ['APPENDLIMIT'])) : undefined,
      this.#opening.open(path),
    ]);
    const appendLimit = Number(limits?.get('APPENDLIMIT') ?? 0n);
    const keeps = keeping(permanentFlags);
    return {
      ...opened,
      keeps: (flags) => keeps(flags).filter((flag) => this.#learnt.keepsDeleted || flag.toLowerCase() !== '\\deleted'),
      ...(appendLimit > 0 ? { appendLimit } : {}),
    };
  }

  async create(path: string): Promise<boolean> {
    const name = mailboxName(path);
    let isNew = true;
    try {
      await this.#connection.command(`CREATE ${name}`, { guarded: true });
    } catch (error) {
      isNew = false;
      if (!(await this.#isThere(path, error))) throw refusedWhereLasting(error);
    }
    // Whether SUBSCRIBE succeeds does not matter, and the end of the connection shows in everything else.
    this.#connection.command(`SUBSCRIBE ${name}`, { guarded: true }).catch(() => {});
    return isNew;
  }

  /**
   * Whether the mailbox was not created because it exists. Exchange says so without the code ALREADYEXISTS. Gmail also
   * sends that code for its own labels, even those that it hides from IMAP and lets nobody open (OfflineIMAP 256).
   */
  async #isThere(path: string, refusal: unknown): Promise<boolean> {
    if (!isRefusal(refusal)) return false;
    const isSaid = refusal.responseCode === 'ALREADYEXISTS';
    const items = await unlessNo(askStatus(this.#connection, path, ['UIDVALIDITY']));
    return items === null ? ((await this.#isListed(path)) ?? isSaid) : isSaid || items.has('UIDVALIDITY');
  }

  /**
   * Whether it is listed, as even mailboxes are that the account may not open (Cyrus and Courier, by their ACLs).
   * @returns `undefined` if the server does not tell
   */
  async #isListed(path: string): Promise<boolean | undefined> {
    // In LIST, these are wildcards.
    if (/[%*]/.test(path)) return undefined;
    let isListed = false;
    const untagged = (_: unknown, line: string) => {
      if (!/^\* LIST /i.test(line)) return false;
      isListed = !/\\(?:NoSelect|NonExistent)\b/i.test(line);
      return true;
    };
    const answer = await unlessRefused(this.#connection.command(`LIST "" ${mailboxName(path)}`, { untagged }));
    return answer === null ? undefined : isListed;
  }

  append(path: string, messages: AsyncIterable<NewMessage>, { together }: { readonly together: boolean }): Appending {
    const append = new Append(this.#connection, this.traits, path, together && this.traits.together);
    const mayBeMarked = this.#learnt.keepsDeleted;
    const outcome = async () => {
      const all = await append.outcome();
      return mayBeMarked ? all.map((each) => this.#unlessMarked(each)) : all;
    };
    const sent = append.send(messages);
    return { sent, outcome: sent.then(outcome, outcome) };
  }

  /** Yahoo's servers also have other names, such as AT&T's. A message refused for its mark is sent again without it. */
  #unlessMarked(outcome: Appended): Appended {
    if (outcome.kind !== 'refused' || !/deleted flag/i.test(outcome.text)) return outcome;
    this.#learnt.keepsDeleted = false;
    return { kind: 'failed', error: new MailError('lost', 'The mail server takes nothing that is marked as deleted.') };
  }

  async addFlags(path: string, uid: number, flags: readonly string[]): Promise<void> {
    const { permanentFlags } = await this.#opening.ensure(path);
    const kept = keeping(permanentFlags)(flags);
    if (kept.length > 0)
      await this.#connection.command(`UID STORE ${uid} +FLAGS.SILENT (${kept.join(' ')})`, { guarded: true });
  }

  async expunge(path: string, uids: readonly number[], unchangedSince?: bigint): Promise<void> {
    // A plain EXPUNGE would also delete whatever the subscriber has marked.
    if (!this.traits.saysUids) throw new MailError('refused', 'The mail server can’t take away one message alone.');
    await this.#opening.ensure(path);
    const isCounted = unchangedSince !== undefined && this.#connection.capabilities.has('CONDSTORE');
    const condition = isCounted ? ` (UNCHANGEDSINCE ${unchangedSince})` : '';
    for (const { set } of setsOf(uids)) {
      await unlessModified(this.#connection.command(`UID STORE ${set}${condition} +FLAGS.SILENT (\\Deleted)`));
      await this.#connection.command(`UID EXPUNGE ${set}`);
    }
  }

  async undelete(path: string, uids: readonly number[]): Promise<void> {
    await this.#opening.ensure(path);
    for (const { set } of setsOf(uids)) await this.#connection.command(`UID STORE ${set} -FLAGS.SILENT (\\Deleted)`);
  }

  get isOver(): boolean {
    return this.#connection.unwritable !== undefined;
  }

  reading(): MailReader {
    // Courier appends nothing to a mailbox that the connection has opened by EXAMINE.
    return openStreamReader(this.#connection, 'SELECT');
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.logout();
  }
}

/** Some of the messages have changed, and are left as they are (RFC 7162 §3.1.3). */
async function unlessModified(storing: Promise<unknown>): Promise<void> {
  try {
    await storing;
  } catch (error) {
    if (!(error instanceof MailError && error.responseCode === 'MODIFIED')) throw error;
  }
}
