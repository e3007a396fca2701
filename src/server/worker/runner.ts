import type { Operation } from '../../contract/operation.ts';
import type { Settings } from '../../contract/settings.ts';
import type { Clock } from '../clock.ts';
import type { ExportStore } from '../export/storage/export-store.ts';
import type { Log } from '../log.ts';
import type { StepListener, Waits } from '../mail/copy/run/mail-copy.ts';
import type { TakeBackStep } from '../mail/copy/take-back.ts';
import type { Discover, MailTimes } from '../mail/imap/connection.ts';
import type { Holds } from '../mail/imap/hold.ts';
import type { UncheckedCertificates } from '../mail/imap/tls.ts';
import type { Resolver } from '../network/resolver.ts';
import type { Tokens } from '../oauth/tokens.ts';
import type { Database } from '../store/database.ts';
import type { Safe } from '../store/safe.ts';
import type { Vault } from '../store/vault.ts';
import type { Secret } from '../transfers/credentials.ts';
import type { HeldLease } from '../transfers/lease.ts';
import type { Counts, OperationEnd } from '../transfers/operations.ts';
import type { Transfer } from '../transfers/transfer.ts';
import type { Work } from './pace.ts';

/** Waits; ends early, without an error, when the signal aborts. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>;

/** What runs need from the program. A test can replace the clock, the waits and the steps. */
export type RunnerServices = {
  readonly database: Database;
  readonly vault: Vault;
  readonly safe: Safe;
  readonly settings: Settings;
  readonly log: Log;
  readonly tokens: Pick<Tokens, 'accessToken' | 'expire' | 'forget' | 'keep' | 'hold' | 'unhold'>;
  readonly discover: Discover;
  /** Used for hosts that a visitor named. */
  readonly resolver: Resolver;
  readonly exports: ExportStore;
  readonly onUncheckedCertificate: UncheckedCertificates;
  /** Aborts when the worker, and with it the process, is to end. */
  readonly processEnds: AbortSignal;
  readonly pause: Pause;
  readonly clock: Clock;
  /** The pauses that mail servers have asked for, shared by all runs. */
  readonly holds: Holds;
  readonly times: MailTimes;
  readonly onStep: StepListener;
  readonly onTakeBackStep: (step: TakeBackStep) => void | Promise<void>;
};

/** One run of one step of an operation, continuing where the last one stopped. */
export type Run = Waits & {
  readonly transfer: Transfer;
  readonly operation: Operation;
  readonly lease: HeldLease;
  readonly source: Secret;
  /** `null` for an export. */
  readonly destination: Secret | null;
  readonly signal: AbortSignal;
  /** With the octets, if they are known, the remaining time is estimated. */
  readonly onProgress: (counts: Omit<Counts, 'left'> & Partial<Work>) => void;
  /** How many runs in a row have moved nothing, this one included; 1 once it has moved something. */
  readonly idleRuns: () => number;
  /** Whether an operation of the transfer is still open. */
  readonly isOpen: (operation: Operation) => boolean;
};

/**
 * Does a step. Returns how its operation ended, or `null` if a later step continues it. Throws what stopped it:
 * `MailError`, `ContactStoreError`, `ConsentError`, `TokenUnavailable`, `ExportPaused`, `Stopped`, `LeaseLost`; the
 * worker decides whether to try again.
 */
export type Runner = (run: Run, services: RunnerServices) => Promise<OperationEnd | null>;
