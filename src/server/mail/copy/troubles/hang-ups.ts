import { asRefusal, isBreak, isFarewell, isOfAccount, MailError, unlessRefused } from '../../imap/mail-error.ts';
import type { MailReader } from '../../imap/streams.ts';
import type { Run } from '../run/run.ts';
import type { Account } from '../run/sessions.ts';

/** What is known of an account's mailboxes in this run. */
export type Openings = Pick<
  Run,
  'faults' | 'noteFault' | 'forgetFaults' | 'looked' | 'opened' | 'sourcePaths' | 'destinationPaths'
>;

/** If a server does not answer, or says BYE, at more mailboxes than this in one run, the server is at fault. */
const SILENCES = 3;

/** Readers that have asked for a mailbox: a BYE to their next question may be that of a connection used up. */
const used = new WeakSet<MailReader>();

/**
 * A server drops the connection, says BYE, or does not answer, each time it is to open or list this mailbox, but opens
 * another one over the same connection. Dovecot does so if the index of a mailbox is damaged, Cyrus says BYE then.
 */
export class HangsUp extends MailError {
  constructor(account: Account, cause: unknown) {
    super('lost', 'The mail server hangs up at a mailbox.', { cause });
    this.account = account;
  }
}

/** How many other mailboxes are tried, if they are refused, before a suspect one is opened. */
const OTHERS_AT_MOST = 5;

function nameOf(account: Account, path: string): string {
  return `hung up at ${account} ${path}`;
}

/** The name for a BYE at a mailbox; it is forgotten when the mailbox opens. */
function goodbyeName(account: Account, path: string): string {
  return `said goodbye at ${account} ${path}`;
}

/**
 * Whether a server has dropped the connection, or the like, at a mailbox in this run, so that it is asked for alone and
 * last.
 */
export function isSuspect(account: Account, path: string, run: Pick<Run, 'faults'>): boolean {
  return run.faults(nameOf(account, path)) > 0 || run.faults(goodbyeName(account, path)) > 0;
}

function shutOutName(account: Account): string {
  return `shut out of ${account}`;
}

/**
 * How many mailboxes answered with the code of a failed sign-in, although the sign-in had succeeded, while no other one
 * opened.
 */
export function shutOut(account: Account, run: Pick<Run, 'faults'>): number {
  return run.faults(shutOutName(account));
}

/**
 * For an error at one mailbox that reads as if it concerned the account: a new sign-in, and another mailbox, show if
 * so.
 */
function suspecting(account: Account, path: string, cause: MailError, run: Openings): MailError {
  run.noteFault(nameOf(account, path));
  run.looked();
  return new MailError('lost', 'The mail server says of a mailbox what is said of accounts.', { cause }).of(account);
}

export function suspectsLast<Item>(
  items: readonly Item[],
  account: Account,
  pathOf: (item: Item) => string,
  run: Openings,
): { readonly others: readonly Item[]; readonly suspects: readonly Item[] } {
  const isLast = (item: Item) => isSuspect(account, pathOf(item), run);
  return { others: items.filter((item) => !isLast(item)), suspects: items.filter(isLast) };
}

/**
 * Notes that a server has dropped the connection at a mailbox.
 * @param mayBeGoodbye whether a BYE may be to this mailbox: some servers say it after so many commands
 * @returns whether that is what went wrong
 */
function noteHangUp(
  account: Account,
  path: string,
  error: unknown,
  reader: MailReader,
  run: Openings,
  mayBeGoodbye: boolean,
): boolean {
  const isGoodbye = mayBeGoodbye && isFarewell(error);
  if (!(isBreak(error) || isGoodbye) || !reader.isOver) return false;
  const mayBeOfAll = isGoodbye || (error as MailError).fault === 'slow';
  // One more try shows whether it is this mailbox. Where the server does not answer at all, a try takes minutes.
  if (run.noteFault(isGoodbye ? goodbyeName(account, path) : nameOf(account, path)) > 1) return true;
  if (!mayBeOfAll || run.noteFault(`silences of ${account}`) <= SILENCES) run.looked();
  return true;
}

/** Whether no mailbox has been asked for over this reader's connection; from now on, one has. */
function isFirstOver(reader: MailReader): boolean {
  const isFirst = !used.has(reader);
  used.add(reader);
  return isFirst;
}

/**
 * Does work that opens a mailbox first, and notes whether the server drops the connection at it, or reports an error of
 * the account. From the second time on, another mailbox is opened before, to tell a server that is gone, or opens none,
 * from one that fails at this mailbox only.
 * @param reader over the connection that the work is done over
 * @throws {HangsUp} and what the work throws; a refusal in place of an error of the account
 */
export async function notingHangUps<Answer>(
  account: Account,
  path: string,
  reader: MailReader,
  run: Openings,
  work: () => Promise<Answer>,
): Promise<Answer> {
  const answer = await blamingHangUps(account, path, reader, run, work);
  if (answer !== null) run.opened[account].add(path);
  return answer;
}

/** The same for work that can succeed without the mailbox, which therefore does not count as opened. */
export async function blamingHangUps<Answer>(
  account: Account,
  path: string,
  reader: MailReader,
  run: Openings,
  work: () => Promise<Answer>,
): Promise<Answer> {
  // The connection was dropped at another mailbox before, so this one is not the cause.
  if (reader.isOver) return work();
  const wasSuspect = isSuspect(account, path, run);
  const mayBeGoodbye = isFirstOver(reader) || run.faults(goodbyeName(account, path)) > 0;
  const isSure = wasSuspect && (await opensAnother(account, path, reader, run));
  try {
    const answer = await work();
    run.forgetFaults(goodbyeName(account, path));
    return answer;
  } catch (error) {
    if (isOfAccount(error) && !reader.isOver) {
      if (!wasSuspect) throw suspecting(account, path, error, run);
      if (!isSure && error.fault !== 'credentials') throw error;
      // The account has been signed in to since the first such error.
      if (!isSure && run.noteFault(`shut out of ${account} ${path}`) === 1) run.noteFault(shutOutName(account));
      throw asRefusal(error);
    }
    const hasHungUp = noteHangUp(account, path, error, reader, run, mayBeGoodbye);
    throw hasHungUp && isSure ? new HangsUp(account, error) : error;
  }
}

/**
 * Asks something of several mailboxes together, and of those at which the server has dropped the connection alone and
 * last. What has been answered is in `answered`, and not asked again.
 */
export async function askedOfAll(
  account: Account,
  paths: readonly string[],
  reader: MailReader,
  run: Openings,
  answered: Set<string>,
  { together, alone }: Record<'together' | 'alone', (path: string) => Promise<unknown>>,
): Promise<void> {
  const waiting = paths.filter((path) => !answered.has(path));
  const mayBeGoodbye = waiting.length > 0 && isFirstOver(reader);
  const { others, suspects } = suspectsLast(waiting, account, (path) => path, run);
  const ask = async (path: string, asking: Promise<unknown>) => {
    await asking;
    answered.add(path);
  };
  try {
    await Promise.all(others.map((path) => ask(path, together(path))));
  } catch (error) {
    const first = others.find((path) => !answered.has(path));
    if (first !== undefined && isOfAccount(error) && !reader.isOver) throw suspecting(account, first, error, run);
    if (first !== undefined) noteHangUp(account, first, error, reader, run, mayBeGoodbye);
    throw error;
  }
  for (const path of suspects) await ask(path, alone(path));
}

/** Whether the server opens another mailbox: first those that it has opened in this run, then any that it lists. */
async function opensAnother(account: Account, path: string, reader: MailReader, run: Openings): Promise<boolean> {
  const listed = account === 'source' ? run.sourcePaths() : run.destinationPaths();
  const others = new Set([...run.opened[account], ...listed]);
  let tries = 0;
  for (const other of others) {
    if (other === path || isSuspect(account, other, run)) continue;
    try {
      if ((await unlessRefused(reader.open(other))) !== null) return true;
    } catch (error) {
      const isTrouble = error instanceof MailError && error.fault === 'busy' && error.pause === undefined;
      // A fault at the other mailbox says nothing about this one.
      const isItsOwn = isTrouble || (isOfAccount(error) && !reader.isOver);
      if (noteHangUp(account, other, error, reader, run, false) || !isItsOwn) throw error;
    }
    tries += 1;
    if (tries === OTHERS_AT_MOST) break;
  }
  return false;
}
