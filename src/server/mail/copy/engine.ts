import { isBareRefusal, isRefusal, type MailError } from '../imap/mail-error.ts';
import type { Opened } from '../imap/streams.ts';
import type { Forwarded } from './forwarded.ts';
import { openStream, workOf, type Stream } from './lanes/lane-work.ts';
import type { LedgerMailbox } from './ledger/ledger.ts';
import type { FolderReason } from './ledger/reasons.ts';
import type { Pools } from './lanes/pools.ts';
import type { Findings } from './reading-back/read-back.ts';
import { octetsIn } from './reading-back/shares.ts';
import type { Check, Run } from './run/run.ts';
import type { Sizes } from './run/sizes.ts';

/** What one run of a copy works with: its pools of connections, and what it has found so far. */
export type Engine = Pools & {
  readonly run: Run;
  /**
   * The source's mailboxes are listed once more although nothing has waited: without an earlier transfer that
   * completed, it is unknown what a list leaves out.
   */
  readonly listsAgain: boolean;
  /** Aborts everything when one part has failed. */
  readonly failing: AbortController;
  /** Whether the controls are open, or being closed. */
  controlled: boolean;
  /** Resolved when they have been closed, which leaves one more connection for the lanes. */
  released: Promise<void>;
  /** Grows when something is moved, looked at or given up, which tells a run that goes on from one that is stuck. */
  readonly moved: () => number;
  /** Resolved when nobody reads back any more beside the lanes of the current round. */
  alone: PromiseWithResolvers<void>;
  /** What waits to be read back in the current round. */
  checks: Stream<Check>;
  readonly findings: Findings;
  readonly forwarded: Forwarded;
  /** As they were last listed. */
  sourcePaths: readonly string[];
  destinationPaths: readonly string[];
  /** By source path: the folder's state when it was last listed, and how many messages that left out. */
  readonly seen: Map<string, { readonly opened: Opened; readonly unlisted: number }>;
  /** Source paths, in the ledger's form, that an earlier run knew of but whose content it could not list. */
  readonly heardOf: ReadonlySet<string>;
  /** Source paths that were known, or heard of, and were not listed any more. */
  readonly missed: Set<string>;
  /** What an earlier worker stored too late, and this run has taken back. */
  readonly takenBack: Set<string>;
  /** How often all mailboxes had to be listed again because one had changed its identity. */
  plannedAgain: number;
  /** By source path: why a folder was left. */
  readonly left: Map<string, FolderReason>;
  /** Those of `left` that get a second try at the next listing; `null` before there is one. */
  again: Set<string> | null;
  /** By source path: those that were left for an error that the server calls passing, or for a NO without a code. */
  readonly troubled: Map<string, MailError>;
};

/** @returns a function that notes an error at these mailboxes, if it may pass */
export function troubleWith(
  { troubled }: Engine,
  ...mailboxes: readonly Pick<LedgerMailbox, 'sourcePath'>[]
): (error: MailError) => void {
  return (error) => {
    if (isRefusal(error) && !isBareRefusal(error)) return;
    for (const { sourcePath } of mailboxes) troubled.set(sourcePath, error);
  };
}

/** Checks of one mailbox that wait are joined, to be read back together. */
export function openChecks({ readBack: most }: Sizes): Stream<Check> {
  return openStream({
    weightOf: ({ messages }) => messages.length,
    areAlike: (waiting, { mailbox, uidValidity }) =>
      waiting.mailbox.id === mailbox.id && waiting.uidValidity === uidValidity,
    join: (waiting, { messages }) => {
      const together = [...waiting.messages, ...messages];
      const isMuch = together.length > most.messages || octetsIn(together) > most.octets;
      return isMuch ? null : { ...waiting, messages: together };
    },
  });
}

/**
 * How many lanes may be open now, beside the checker, so that there are not more connections than an account allows.
 */
export function mostLanes({ connections, controlled, traits }: Engine): number {
  const { source, destination } = connections;
  return Math.min(source, destination) - (traits.saysUids ? 1 : 0) - (controlled ? 1 : 0);
}

/** How many checkers may be open beside the one that works beside the lanes. */
export function mostCheckers({ connections, controlled }: Engine): number {
  return connections.destination - 1 - (controlled ? 1 : 0);
}

/** Whether an account allows so few connections that its pools have to take turns. */
export function isNarrow({ source, destination }: Engine['connections']): boolean {
  return Math.min(source, destination) < 4;
}

/** Closes the pools that are not needed now. */
export async function closeOthers(engine: Engine, needed: readonly (keyof Engine)[]): Promise<void> {
  const pools = (['controls', 'lanes', 'checker', 'checkers'] as const).filter((pool) => !needed.includes(pool));
  await Promise.all(pools.map((pool) => engine[pool][Symbol.asyncDispose]()));
}

/** Lists the destination's mailboxes while nothing else is connected, and closes that connection. */
export async function listDestinationPaths(engine: Engine): Promise<void> {
  await closeOthers(engine, []);
  await engine.controls.work(workOf([0]), async (_, { destination }) => {
    engine.destinationPaths = (await (await destination()).mailboxes()).map((mailbox) => mailbox.path);
  });
  await closeOthers(engine, []);
}
