import { asRefusal, isBreak, isOfAccount, MailError, unlessRefused } from '../../imap/mail-error.ts';
import type { MailReader } from '../../imap/streams.ts';
import type { Run } from '../run/run.ts';
import type { Account } from '../run/sessions.ts';

/** What is known of an account's mailboxes in this run. */
export type Openings = Pick<Run, 'faults' | 'noteFault' | 'looked' | 'opened' | 'sourcePaths' | 'destinationPaths'>;

/** At so many mailboxes a server may fall silent, in one run, before it is rather the server that does. */
const SILENCES = 3;

/**
 * A server hangs up, or falls silent, each time that it is to open or list this mailbox, as Dovecot does where its index is
 * damaged, and opens another one over the same connection.
 */
export class HangsUp extends MailError {
  constructor(account: Account, cause: unknown) {
    super('lost', 'The mail server hangs up at a mailbox.', { cause });
    this.account = account;
  }
}

/** So many that are refused are tried before a mailbox that is suspect. */
const OTHERS_AT_MOST = 5;

function nameOf(account: Account, path: string): string {
  return `hung up at ${account} ${path}`;
}

/** Whether a server has hung up at a mailbox in this run, or the like, so that it is to be asked for alone, after all others. */
export function isSuspect(account: Account, path: string, run: Pick<Run, 'faults'>): boolean {
  return run.faults(nameOf(account, path)) > 0;
}

function shutOutName(account: Account): string {
  return `shut out of ${account}`;
}

/** How many mailboxes have said the code of a sign-in, after one that was right, where no other one opened. */
export function shutOut(account: Account, run: Pick<Run, 'faults'>): number {
  return run.faults(shutOutName(account));
}

/** What was said at a mailbox as if it were of the account: a new sign-in, and another mailbox, show whether it is. */
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

/** Notes that a server has hung up at a mailbox, if that is what went wrong over this connection. */
export function noteHangUp(account: Account, path: string, error: unknown, reader: MailReader, run: Openings): boolean {
  if (!isBreak(error) || !reader.isOver) return false;
  const isSlow = (error as MailError).fault === 'slow';
  // It takes one time more to know that it is this one. One that says nothing at all takes minutes each time.
  if (run.noteFault(nameOf(account, path)) > 1) return true;
  if (!isSlow || run.noteFault(`silences of ${account}`) <= SILENCES) run.looked();
  return true;
}

/**
 * Does what opens a mailbox first, and notes whether the server hangs up at it, or says what is said of accounts. From the
 * second time on another mailbox is opened before, so that a server which is gone, or opens none, is told from one that does
 * so at this one.
 * @param reader over the connection that the work is done over
 * @throws {HangsUp} and what the work throws; a refusal in place of what is said of accounts
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

/** The same for what may be done without the mailbox being there. */
export async function blamingHangUps<Answer>(
  account: Account,
  path: string,
  reader: MailReader,
  run: Openings,
  work: () => Promise<Answer>,
): Promise<Answer> {
  // The server has hung up at another one before: over this connection none answers any more.
  if (reader.isOver) return work();
  const wasSuspect = isSuspect(account, path, run);
  const isSure = wasSuspect && (await opensAnother(account, path, reader, run));
  try {
    return await work();
  } catch (error) {
    if (isOfAccount(error) && !reader.isOver) {
      if (!wasSuspect) throw suspecting(account, path, error, run);
      if (!isSure && error.fault !== 'credentials') throw error;
      // It has been signed in to since.
      if (!isSure && run.noteFault(`shut out of ${account} ${path}`) === 1) run.noteFault(shutOutName(account));
      throw asRefusal(error);
    }
    const hasHungUp = noteHangUp(account, path, error, reader, run);
    throw hasHungUp && isSure ? new HangsUp(account, error) : error;
  }
}

/**
 * Asks something of several mailboxes together, and of those at which the server has hung up alone and last. What has been
 * answered is in `answered`, and not asked again.
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
    if (first !== undefined) noteHangUp(account, first, error, reader, run);
    throw error;
  }
  for (const path of suspects) await ask(path, alone(path));
}

/** Whether the server opens another mailbox: one that it has opened in this run, if there is one, or any that it lists. */
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
      // That one's trouble says nothing of this one.
      const isItsOwn = isTrouble || (isOfAccount(error) && !reader.isOver);
      if (noteHangUp(account, other, error, reader, run) || !isItsOwn) throw error;
    }
    tries += 1;
    if (tries === OTHERS_AT_MOST) break;
  }
  return false;
}
