import { LeaseLost } from '../../transfers/lease.ts';
import { MailError } from '../imap/mail-error.ts';
import type { Mailbox } from '../imap/mailbox.ts';
import type { Namespace, Opened } from '../imap/streams.ts';
import type { Folder } from './copy-folder.ts';
import { isNarrow, mostLanes, type Engine } from './engine.ts';
import { workOf } from './lanes.ts';
import { mapMailboxes, type MappedMailbox } from './mapping.ts';
import { settleAbandoned } from './recovery.ts';
import { followRenames, mayBeRenamed } from './renames.ts';
import { FolderLeft } from './run.ts';

/** The folders of the source that have changed since they were last listed: at first all. The inbox is the first. */
export async function planFolders(engine: Engine): Promise<readonly Folder[]> {
  const { run, controls, lanes, checkers, seen, left } = engine;
  const sides: { theirs: readonly Mailbox[]; ours: readonly Mailbox[]; namespace: Namespace }[] = [];
  await controls.work(workOf([0]), async (_, { source, destination }) => {
    // Both passwords are good: what comes next is made ready.
    if (!isNarrow(engine.connections) && seen.size === 0) lanes.warm(mostLanes(engine) - 1);
    else if (!isNarrow(engine.connections)) checkers.warm(1);
    const [theirs, ours] = await Promise.all([source.mailboxes(), destination.mailboxes()]);
    sides.push({ theirs, ours, namespace: destination.namespace });
  });
  const side = sides.at(-1);
  if (side === undefined) throw new Error('The mailboxes were not listed.');
  const { theirs, ours, namespace } = side;
  engine.destinationPaths = ours.map((mailbox) => mailbox.path);
  const paths = new Set(theirs.map((mailbox) => mailbox.path));
  if (mayBeRenamed(paths, run)) {
    await controls[Symbol.asyncDispose]();
    await engine.lanes.work(
      workOf([0]),
      (_, { reader }) => followRenames(paths, reader, run),
      () => 1,
    );
    if (isNarrow(engine.connections)) await engine.lanes[Symbol.asyncDispose]();
  }
  const before = new Map([...run.known].flatMap(([path, [first]]) => (first ? [[path, first.destinationPath]] : [])));
  const mapping = mapMailboxes(theirs, ours, namespace, before);
  const current = new Set(mapping.mailboxes.map((mapped) => mapped.source.path));
  await settleVanished(current, engine);
  const folders = openFolders(mapping.mailboxes, engine);
  const old = folders.filter(({ sourcePath }) => seen.has(sourcePath));
  await settleCreations(folders, engine);
  if (old.length === 0) return folders.filter(({ sourcePath }) => !left.has(sourcePath));
  const changed = new Set<string>();
  let isLooking = true;
  /** For the last look, unless something new is found. */
  const makeReady = async () => {
    await engine.created;
    if (isLooking && !isNarrow(engine.connections))
      checkers.warm(Math.min(engine.connections.destination - 1, seen.size));
  };
  void makeReady();
  try {
    await checkers.work(
      workOf([0]),
      async (_, session) => {
        const reader = await session.reader();
        const now = await Promise.all(
          old.map(
            async ({ sourcePath }) => [sourcePath, await reader.status(sourcePath).catch(ignoreRefusal)] as const,
          ),
        );
        for (const [path, status] of now) if (!isSame(status, seen.get(path)?.opened)) changed.add(path);
      },
      () => 1,
    );
  } finally {
    isLooking = false;
  }
  return folders.filter(
    ({ sourcePath }) => !left.has(sourcePath) && (changed.has(sourcePath) || !seen.has(sourcePath)),
  );
}

/** With few connections allowed, mailboxes are created before the rest begins; else meanwhile. */
async function settleCreations(folders: readonly Folder[], engine: Engine): Promise<void> {
  const { connections, controls } = engine;
  engine.creating = true;
  const created = async () => {
    await Promise.allSettled(folders.map((folder) => folder.destination()));
    await controls[Symbol.asyncDispose]();
    engine.creating = false;
  };
  engine.created = created();
  if (isNarrow(connections)) await engine.created;
}

/** Once all mailboxes have been created, the connections of the controls are for others; one is made anew now and then. */
async function spareControls({ controls, creating }: Engine): Promise<void> {
  if (!creating) await controls[Symbol.asyncDispose]();
}

function ignoreRefusal(error: unknown): undefined {
  if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
}

function isSame(now: Opened | undefined, before: Opened | undefined): boolean {
  return (
    now !== undefined &&
    now.uidNext !== undefined &&
    now.uidValidity === before?.uidValidity &&
    now.uidNext === before.uidNext &&
    now.exists === before.exists
  );
}

/** Open groups under mailboxes that the source no longer has. */
async function settleVanished(current: ReadonlySet<string>, { run, lanes }: Engine): Promise<void> {
  const groups = await run.copy.ledger.groups();
  if (groups.length === 0) return;
  const vanished = [...run.known.values()].flat().filter((mailbox) => !current.has(mailbox.sourcePath));
  const open = vanished.filter((mailbox) => groups.some((group) => group.mailboxId === mailbox.id));
  await lanes.work(workOf(open), (mailbox, session) =>
    settleAbandoned(
      mailbox,
      groups.filter((group) => group.mailboxId === mailbox.id),
      session,
      run,
    ),
  );
}

/** Creates what is missing, one after the other in the background; each folder waits for its own. */
function openFolders(mapped: readonly MappedMailbox[], engine: Engine): readonly Folder[] {
  const { controls, forwarded, run } = engine;
  const { lease } = run.copy;
  const create = async (path: string) => {
    await controls.work(workOf([path]), async (each, { destination }) => {
      if (!lease.mayWrite()) throw new LeaseLost(lease.transferId);
      await destination.create(each);
    });
    await spareControls(engine);
  };
  let before: Promise<unknown> = Promise.resolve();
  const ready = (each: MappedMailbox): Promise<string> => {
    const making = before.then(() => createMapped(each, create));
    // What follows waits for it, but does not fail with it; the folder itself does.
    before = making.catch(() => {});
    return making;
  };
  return mapped
    .toSorted((a, b) => Number(b.destination === 'INBOX') - Number(a.destination === 'INBOX'))
    .map((each) => {
      const destination = each.create ? ready(each) : Promise.resolve(each.destination);
      destination.catch(() => {});
      const sourcePath = each.source.path;
      return {
        sourcePath,
        isInbox: each.destination === 'INBOX',
        destination: () => destination,
        create,
        forwarded: (marked, session) => forwarded.brought(sourcePath, marked, session.reader, session.checker),
      };
    });
}

/** A server that refuses a name is asked for the plainer one. */
async function createMapped(mapped: MappedMailbox, create: (path: string) => Promise<void>): Promise<string> {
  let refusal: unknown;
  for (const path of new Set([mapped.destination, mapped.plainer])) {
    try {
      await create(path);
      return path;
    } catch (error) {
      if (!(error instanceof MailError) || error.fault !== 'refused') throw error;
      refusal = error;
    }
  }
  throw new FolderLeft('mailbox not created', refusal);
}
