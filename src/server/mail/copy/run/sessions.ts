import type { MailRole } from '../../imap/mail-error.ts';
import type { MailControl, MailReader } from '../../imap/streams.ts';
import type { MailCopy } from './mail-copy.ts';
import type { CheckSession, Session } from './run.ts';

export type Account = MailRole;

/** Connections that list the mailboxes of the accounts. The one to the destination may be opened once it is needed. */
export type Controls = AsyncDisposable & {
  readonly source: MailControl;
  readonly destination: () => Promise<MailControl>;
};

/** Watches the opening of a connection: a server that answers "busy" allows fewer of them than we thought. */
export type Counted = <Opened>(account: Account, opening: Promise<Opened>) => Promise<Opened>;

/** @param accounts whose connections are opened at once */
export async function openControls(
  { source, destination }: MailCopy,
  counted: Counted,
  accounts: 'both' | 'source',
): Promise<Controls> {
  const ofSource = counted('source', source.control());
  const openOther = () => counted('destination', destination.control());
  const [one, standing] = accounts === 'both' ? await both(ofSource, openOther()) : [await ofSource];
  let other = standing;
  return {
    source: one,
    destination: async () => (other ??= await openOther()),
    [Symbol.asyncDispose]: () => closeAll([one, ...(other === undefined ? [] : [other])]),
  };
}

/**
 * Signs in to both accounts at once.
 * @param counted watches each connection that is opened, as an account may allow fewer
 */
export async function openSession({ source, destination }: MailCopy, counted: Counted): Promise<Session> {
  const openReader = () => counted('source', source.reader());
  const [reader, writer] = await both(openReader(), counted('destination', destination.writer()));
  const checker = writer.reading();
  return {
    reader,
    writer,
    checker,
    get isOver() {
      return reader.isOver || writer.isOver;
    },
    checking: () => checkSession(checker, openReader, reader),
    [Symbol.asyncDispose]: () => closeAll([reader, writer]),
  };
}

/** Signs in to the destination; to the source only when it is asked for. */
export async function openCheckSession({ source, destination }: MailCopy, counted: Counted): Promise<CheckSession> {
  return checkSession(await counted('destination', destination.reader()), () => counted('source', source.reader()));
}

/** @param standing the connection to the source, if there is one already */
function checkSession(checker: MailReader, openReader: () => Promise<MailReader>, standing?: MailReader): CheckSession {
  let reader = standing;
  return {
    checker,
    reader: async () => (reader ??= await openReader()),
    get standing() {
      return reader;
    },
    get isOver() {
      return checker.isOver || reader?.isOver === true;
    },
    [Symbol.asyncDispose]: () => closeAll([checker, ...(reader === undefined ? [] : [reader])]),
  };
}

/** Opens both, or neither: if one fails, the other is closed. */
async function both<One extends AsyncDisposable, Other extends AsyncDisposable>(
  one: Promise<One>,
  other: Promise<Other>,
): Promise<[One, Other]> {
  const [first, second] = await Promise.allSettled([one, other]);
  if (first.status === 'fulfilled' && second.status === 'fulfilled') return [first.value, second.value];
  await closeAll([first, second].flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  throw first.status === 'rejected' ? first.reason : (second as PromiseRejectedResult).reason;
}

async function closeAll(sessions: readonly AsyncDisposable[]): Promise<void> {
  await Promise.all(sessions.map((session) => session[Symbol.asyncDispose]()));
}
