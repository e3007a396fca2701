import { MailError } from '../../imap/mail-error.ts';
import type { MailCopy } from '../run/mail-copy.ts';
import type { CheckSession, Session } from '../run/run.ts';
import {
  openCheckSession,
  openControls,
  openSession,
  type Account,
  type Controls,
  type Counted,
} from '../run/sessions.ts';
import { openLanes, type Lanes } from './lanes.ts';

/** The connections of one run, and what is known of its servers since those were opened. */
export type Pools = {
  readonly controls: Lanes<Controls>;
  readonly lanes: Lanes<Session>;
  /** `checker` works beside the lanes, `checkers` once those are done. */
  readonly checker: Lanes<CheckSession>;
  readonly checkers: Lanes<CheckSession>;
  /** How many connections each account gets, those of `controls` and `checker` included. */
  readonly connections: { source: number; destination: number };
  readonly traits: {
    /** Whether the destination reports the UIDs of what it stores; if not, nothing can be read back beside the lanes. */
    saysUids: boolean;
    /** Whether it takes messages of any size without a round trip (LITERAL+), so that one connection fills the bandwidth. */
    takesUnannounced: boolean;
    /** Whether the source can be listed over a connection that has read from it, so that the next round needs no other. */
    listsOverReaders: boolean;
  };
};

type Watching = {
  /** Receives the accounts that did not allow a connection. */
  readonly refused: Set<Account>;
  readonly moved: () => number;
  /** Whose mailboxes the controls are to list. */
  readonly listed: () => 'both' | 'source';
};

/** Opens no connection before one is needed. */
export function openPools(copy: MailCopy, { refused, moved, listed }: Watching): Pools & AsyncDisposable {
  const { source, destination, clock, signal } = copy;
  const connections = { source: source.limits.connections, destination: destination.limits.connections };
  const traits = { saysUids: true, takesUnannounced: false, listsOverReaders: false };
  const counted: Counted = (account, opening) =>
    opening.catch((error: unknown) => {
      if (error instanceof MailError && error.fault === 'busy') {
        refused.add(account);
        connections[account] = Math.max(1, connections[account] - 1);
      }
      throw error;
    });
  const pool = { clock, signal, moved };
  const checking = { ...pool, open: () => openCheckSession(copy, counted) };
  const opening = async () => {
    const session = await openSession(copy, counted);
    const { saysUids, literals } = session.writer.traits;
    traits.saysUids = saysUids;
    traits.takesUnannounced = literals === 'any size';
    traits.listsOverReaders = session.reader.canListMailboxes;
    return session;
  };
  const { source: ofSource, destination: ofDestination } = connections;
  const opened = new AsyncDisposableStack();
  return {
    controls: opened.use(openLanes({ ...pool, size: 1, open: () => openControls(copy, counted, listed()) })),
    lanes: opened.use(openLanes({ ...pool, size: Math.max(1, Math.min(ofSource, ofDestination)), open: opening })),
    checker: opened.use(openLanes({ ...checking, size: 1 })),
    checkers: opened.use(openLanes({ ...checking, size: Math.max(1, ofDestination - 1) })),
    connections,
    traits,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
