import type { MailControl, MailReader } from '../imap/streams.ts';
import type { MailCopy } from './mail-copy.ts';
import type { CheckSession } from './read-back.ts';
import type { Session } from './run.ts';

/** What lists and creates mailboxes, on both sides. */
export type Controls = AsyncDisposable & { readonly source: MailControl; readonly destination: MailControl };

export type Account = 'source' | 'destination';

/** A server that wants a pause before it lets another connection in allows fewer than we thought. */
export type Counted = <Opened>(account: Account, opening: Promise<Opened>) => Promise<Opened>;

export async function openControls({ source, destination }: MailCopy, counted: Counted): Promise<Controls> {
  const [one, other] = await both(counted('source', source.control()), counted('destination', destination.control()));
  return { source: one, destination: other, [Symbol.asyncDispose]: () => closeAll([one, other]) };
}

export async function openSession({ source, destination }: MailCopy, counted: Counted): Promise<Session> {
  const [reader, writer] = await both(counted('source', source.reader()), counted('destination', destination.writer()));
  let checker: MailReader | undefined;
  return {
    reader,
    writer,
    checker: async () => (checker ??= await counted('destination', destination.reader())),
    [Symbol.asyncDispose]: () => closeAll([reader, writer, ...(checker === undefined ? [] : [checker])]),
  };
}

export async function openCheckSession({ source, destination }: MailCopy, counted: Counted): Promise<CheckSession> {
  const checker = await counted('destination', destination.reader());
  let reader: MailReader | undefined;
  return {
    checker,
    reader: async () => (reader ??= await counted('source', source.reader())),
    [Symbol.asyncDispose]: () => closeAll([checker, ...(reader === undefined ? [] : [reader])]),
  };
}

/** Both, or neither: the one that stands is closed when the other can't be had. */
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
