import { MailError } from '../imap/mail-error.ts';
import type { Mailbox, MailboxStatus } from '../imap/mailbox.ts';
import type { MailControl, MailReader, Namespace, Opened } from '../imap/streams.ts';
import type { Folder } from './copy-folder.ts';
import { closeOthers, isNarrow, mostCheckers, mostLanes, troubleWith, type Engine } from './engine.ts';
import { workOf } from './lanes/lane-work.ts';
import { storedPath } from './ledger/rows.ts';
import { openMaking, type Making } from './mailboxes/making.ts';
import { mapMailboxes, type MappedMailbox } from './mailboxes/mapping.ts';
import { followRenames, mayBeRenamed, type Names } from './mailboxes/renames.ts';
import { settleAbandoned } from './recovery/recovery.ts';
import type { Run } from './run/run.ts';
import { askedOfAll, notingHangUps } from './troubles/hang-ups.ts';
import { unlessInTrouble, unlessTroubled } from './troubles/troubles.ts';

/** What a round of the copy is to do; `making` makes the mailboxes that the folders go to. */
export type Plan = { readonly folders: readonly Folder[]; readonly making: Making };

/**
 * Plans the next round: the folders of the source that have changed since they were last listed (at first all), the
 * inbox first.
 */
export async function planFolders(engine: Engine): Promise<Plan> {
  const { run, lanes, seen, left } = engine;
  const isAgain = seen.size > 0;
  const { listed, ours: oursAtOnce } = await listSides(engine, isAgain);
  nameAsListed(new Set(listed.map((mailbox) => mailbox.path)), run);
  const statuses = await statusesOf(listed, engine);
  if (isAgain && isUnchanged(listed, statuses, engine)) {
    engine.sourcePaths = listed.map((mailbox) => mailbox.path);
    await releaseControls(engine);
    return { folders: [], making: openMaking([], run) };
  }
  const { mailboxes: ours, namespace } = oursAtOnce ?? (await listDestination(engine));
  engine.destinationPaths = ours.map((mailbox) => mailbox.path);
  nameDestinations(engine.destinationPaths, run);
  const theirs = await allOf(listed, statuses, engine);
  engine.sourcePaths = theirs.map((mailbox) => mailbox.path);
  const before = new Map([...run.known].flatMap(([path, [first]]) => (first ? [[path, first.destinationPath]] : [])));
  const mapping = mapMailboxes(theirs, ours, namespace, before, run.copy.destination.limits.ownFolders);
  const current = new Set(mapping.mailboxes.map((mapped) => mapped.source.path));
  for (const path of current) if (engine.again?.delete(path) === true) left.delete(path);
  await settleVanished(current, engine);
  const making = openMaking(mapping.mailboxes, run);
  const folders = foldersOf(mapping.mailboxes, making, engine);
  const old = folders.filter(({ sourcePath }) => seen.has(sourcePath));
  if (old.length === 0) return { making, folders: folders.filter(({ sourcePath }) => !left.has(sourcePath)) };
  // These were open for folders that have vanished or have been renamed.
  await lanes[Symbol.asyncDispose]();
  return {
    making,
    folders: folders.filter(
      ({ sourcePath: path }) => !left.has(path) && !isSame(statuses.get(path), seen.get(path)?.opened),
    ),
  };
}

type Listings = {
  /** The mailboxes of the source. */
  readonly listed: readonly Mailbox[];
  /** Those of the destination; not listed again before something at the source is new. */
  readonly ours: Ours | undefined;
};
type Ours = { readonly mailboxes: readonly Mailbox[]; readonly namespace: Namespace };

/**
 * Lists the source and, the first time, the destination. Opens the connections that come next, and closes its own if
 * they are not needed again, or if there are few.
 */
async function listSides(engine: Engine, isAgain: boolean): Promise<Listings> {
  const { run, controls, lanes, checkers, seen } = engine;
  const again = isAgain ? await listOverReader(engine) : null;
  if (again !== null) return { listed: again, ours: undefined };
  // The checkers have all connections, as none was to be needed beside them.
  if (isAgain && engine.traits.listsOverReaders) await closeOthers(engine, ['controls', 'checker']);
  const sides: Listings[] = [];
  // The earlier controls are open until their LOGOUT is done.
  await engine.released;
  engine.controlled = true;
  // The other pools may still hold connections of a round in which nothing could be copied.
  if (!isAgain) await closeOthers(engine, ['controls']);
  await controls.work(workOf([0]), async (_, { source, destination }) => {
    // Both sign-ins have succeeded.
    if (!isNarrow(engine.connections) && !isAgain) lanes.warm(mostLanes(engine));
    else if (!isNarrow(engine.connections)) checkers.warm(Math.min(mostCheckers(engine), seen.size));
    const [listed, ours] = await Promise.all([
      listSource(source, isAgain || run.known.size > 0, run),
      isAgain ? undefined : destination().then(mailboxesOf),
    ]);
    sides.push({ listed, ours });
  });
  const side = sides.at(-1);
  if (side === undefined) throw new Error('The mailboxes were not listed.');
  if (!isAgain || isNarrow(engine.connections)) await releaseControls(engine);
  return side;
}

/** Lists the source over an open connection of a checker. @returns `null` if there is none, or it did not answer */
async function listOverReader({ run, checkers, connections }: Engine): Promise<readonly Mailbox[] | null> {
  if (isNarrow(connections)) return null;
  const standing = await checkers.giveAway(connections.destination);
  try {
    const reader = standing.find((session) => session.standing?.canListMailboxes === true)?.standing;
    return reader === undefined ? null : await listSource(reader, true, run);
  } catch (error) {
    if (error instanceof MailError) return null;
    throw error;
  } finally {
    await checkers.takeOver(standing);
  }
}

/**
 * Lists the source, with STATUS if the server has LIST-STATUS and that has not failed before: it may fail at one
 * mailbox.
 */
async function listSource(
  source: Pick<MailControl, 'mailboxes'>,
  wantsStatus: boolean,
  run: Run,
): Promise<readonly Mailbox[]> {
  const name = 'list with status';
  const withStatus = wantsStatus && run.faults(name) === 0;
  try {
    return await source.mailboxes({ withStatus });
  } catch (error) {
    if (withStatus && error instanceof MailError && error.pause === undefined) run.noteFault(name);
    throw error;
  }
}

async function mailboxesOf(control: MailControl): Promise<Ours> {
  return { mailboxes: await control.mailboxes(), namespace: await control.namespace() };
}

async function listDestination(engine: Engine): Promise<Ours> {
  const answers: Ours[] = [];
  // The earlier controls are open until their LOGOUT is done.
  await engine.released;
  engine.controlled = true;
  // The destination's control needs one of the checkers' connections.
  await engine.checkers[Symbol.asyncDispose]();
  await engine.controls.work(workOf([0]), async (_, { destination }) => {
    answers.push(await mailboxesOf(await destination()));
  });
  await releaseControls(engine);
  const ours = answers.at(-1);
  if (ours === undefined) throw new Error('The mailboxes were not listed.');
  return ours;
}

/** Whether each folder is as it was when it was listed, and none is gone, new or to be tried again. */
function isUnchanged(listed: readonly Mailbox[], statuses: Statuses, { run, seen, left, again }: Engine): boolean {
  const paths = new Set(listed.map(({ path }) => path));
  const isSettled = (path: string) =>
    again?.has(path) !== true && (left.has(path) || isSame(statuses.get(path), seen.get(path)?.opened));
  return [...paths].every(isSettled) && [...seen.keys(), ...run.known.keys()].every((path) => paths.has(path));
}

/**
 * The mailboxes of the source, including those that the list leaves out this time. Renamed ones are recognised on the
 * way.
 */
async function allOf(listed: readonly Mailbox[], statuses: Statuses, engine: Engine): Promise<readonly Mailbox[]> {
  const { run, lanes } = engine;
  const paths = new Set(listed.map((mailbox) => mailbox.path));
  const validities = new Map([...statuses].map(([path, { uidValidity }]) => [path, uidValidity]));
  const names = { current: paths, validities };
  const mayBe = mayBeRenamed(names, run);
  if (!mayBe) run.unsure.clear();
  if (!mayBe && [...run.known.keys()].every((path) => paths.has(path))) return listed;
  let unlisted: readonly string[] = [];
  await engine.released;
  if (isNarrow(engine.connections)) await closeOthers(engine, ['lanes']);
  await lanes.work(
    workOf([0]),
    async (_, { reader }) => {
      // One that could not be read under its old name is read under the new one.
      if (mayBeRenamed(names, run))
        for (const path of await followRenames(names, reader, run)) engine.left.delete(path);
      unlisted = await unlistedOf(names, reader, run);
    },
    () => 1,
  );
  if (isNarrow(engine.connections)) await lanes[Symbol.asyncDispose]();
  const delimiter = listed.find((mailbox) => mailbox.delimiter !== '')?.delimiter ?? '';
  return [...listed, ...unlisted.map((path) => ({ path, delimiter }))];
}

/** Mailboxes that the source has and does not list. One that it lists under another name is not among them. */
async function unlistedOf(names: Names, reader: MailReader, run: Run): Promise<readonly string[]> {
  const validitiesOf = async (paths: readonly string[]) => {
    const validities: (bigint | undefined)[] = [];
    // One after the other: of several at once it is unknown at which of them a server drops the connection.
    for (const path of paths)
      validities.push(names.validities.get(path) ?? (await statusOf(path, reader, run))?.uidValidity);
    return validities;
  };
  const before = [...run.known.keys()].filter((path) => !names.current.has(path));
  const validities = await validitiesOf(before);
  if (validities.every((validity) => validity === undefined)) return [];
  const others = new Set(await validitiesOf([...names.current]));
  return before.filter((_, at) => validities[at] !== undefined && !others.has(validities[at]));
}

/** @returns `null` if the source refuses it, or fails at that mailbox each time */
function statusOf(path: string, reader: MailReader, run: Run): Promise<Opened | null> {
  const ask = () => notingHangUps('source', path, reader, run, () => reader.status(path));
  return unlessInTrouble(ask, 'status of', path, run);
}

/** The ledger keeps a name that a column can't hold in another form: the listed one takes its place. */
function nameAsListed(paths: ReadonlySet<string>, { known }: Run): void {
  for (const path of paths) {
    const key = storedPath(path);
    const mailboxes = key === path || paths.has(key) ? undefined : known.get(key);
    if (mailboxes === undefined) continue;
    known.delete(key);
    known.set(
      path,
      mailboxes.map((mailbox) => ({ ...mailbox, sourcePath: path })),
    );
  }
}

/** The same for the destination's names. */
function nameDestinations(paths: readonly string[], { known }: Run): void {
  const odd = new Map(
    paths.map((path) => [storedPath(path), path] as const).filter(([stored, path]) => stored !== path),
  );
  if (odd.size === 0) return;
  for (const [path, mailboxes] of known)
    known.set(
      path,
      mailboxes.map((mailbox) => ({
        ...mailbox,
        destinationPath: odd.get(mailbox.destinationPath) ?? mailbox.destinationPath,
      })),
    );
}

type Statuses = ReadonlyMap<string, MailboxStatus>;

/** The current STATUS of folders that are known: from the listing, or asked for each. Missing if it is refused. */
async function statusesOf(listed: readonly Mailbox[], engine: Engine): Promise<Statuses> {
  const { run, checkers, connections, seen } = engine;
  const statuses = new Map(
    listed.flatMap(({ path, status }) => (status === undefined ? [] : [[path, status] as const])),
  );
  const unsaid = listed.flatMap(({ path }) =>
    (seen.has(path) || run.known.has(path)) && !statuses.has(path) ? [path] : [],
  );
  const answered = new Set<string>();
  let isLooking = true;
  /** Opens checkers for the final comparison, unless something new is found. */
  const makeReady = async () => {
    await engine.released;
    if (isLooking && seen.size > 0 && !isNarrow(connections)) checkers.warm(Math.min(mostCheckers(engine), seen.size));
  };
  void makeReady();
  const ask = async (path: string, reader: MailReader) => {
    const status = () => unlessInTrouble(() => reader.status(path), 'status of', path, run);
    // Asked twice: a refusal may be momentary, and without an answer a renamed folder would be taken for another one.
    const { uidValidity, uidNext, exists } = (await status()) ?? (await status()) ?? {};
    // Some servers report no UIDNEXT: their folders never count as unchanged.
    if (uidValidity !== undefined) {
      statuses.set(path, { uidValidity, uidNext: uidNext ?? 0, exists: exists ?? -1 });
      run.opened.source.add(path);
    }
    run.looked();
  };
  const askAlone = async (path: string, reader: MailReader) => {
    const asking = notingHangUps('source', path, reader, run, async () => {
      await ask(path, reader);
      return statuses.get(path) ?? null;
    });
    await unlessTroubled(asking, path, run, troubleWith(engine, { sourcePath: path }));
  };
  try {
    // The lanes that were opened ahead leave no connection until the controls are closed.
    if (unsaid.length > 0) await engine.released;
    await checkers.work(workOf(unsaid.length === 0 ? [] : [unsaid]), async (all, session) => {
      const reader = await session.reader();
      await askedOfAll('source', all, reader, run, answered, {
        together: (path) => ask(path, reader),
        alone: (path) => askAlone(path, reader),
      });
    });
  } finally {
    isLooking = false;
  }
  return statuses;
}

/**
 * Closes the controls, which nothing needs any more, so that others can have their connections; at once if there are
 * few.
 */
async function releaseControls(engine: Engine): Promise<void> {
  const before = engine.released;
  const close = async () => {
    await Promise.all([before, engine.controls[Symbol.asyncDispose]()]);
    engine.controlled = false;
  };
  engine.released = close();
  if (isNarrow(engine.connections)) await engine.released;
}

function isSame(now: MailboxStatus | undefined, before: Opened | undefined): boolean {
  return (
    now !== undefined &&
    now.uidValidity === before?.uidValidity &&
    now.uidNext === before.uidNext &&
    now.exists === before.exists
  );
}

/** Settles open groups under mailboxes that the source no longer has. */
async function settleVanished(current: ReadonlySet<string>, engine: Engine): Promise<void> {
  const { run, lanes } = engine;
  const groups = await run.copy.ledger.groups();
  if (groups.length === 0) return;
  const vanished = [...run.known.values()].flat().filter((mailbox) => !current.has(mailbox.sourcePath));
  const open = vanished.filter((mailbox) => groups.some((group) => group.mailboxId === mailbox.id));
  if (open.length === 0) return;
  await engine.checkers[Symbol.asyncDispose]();
  await lanes.work(
    workOf(open),
    (mailbox, session) =>
      settleAbandoned(
        mailbox,
        groups.filter((group) => group.mailboxId === mailbox.id),
        session,
        run,
      ),
    () => mostLanes(engine),
  );
}

function foldersOf(mapped: readonly MappedMailbox[], making: Making, { forwarded }: Engine): readonly Folder[] {
  return mapped
    .toSorted((a, b) => Number(b.destination === 'INBOX') - Number(a.destination === 'INBOX'))
    .map(({ source: { path: sourcePath }, destination }) => ({
      sourcePath,
      isInbox: destination === 'INBOX',
      destination: (writer) => making.pathFor(sourcePath, writer),
      planned: () => making.plannedFor(sourcePath),
      forwarded: (marked, { uidValidity }, { reader, checker }) =>
        forwarded.brought(sourcePath, uidValidity, marked, reader, checker),
    }));
}
