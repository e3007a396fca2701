import { Stopped } from '../stopped.ts';
import { setUpForwarding, type ForwardingOutcome } from '../forwarding/set-up-forwarding.ts';
import { openSieveSession, sievePlaceOf, type SieveSession } from '../forwarding/sieve-session.ts';
import { MailError } from '../mail/imap/mail-error.ts';
import { DatabaseUnavailable } from '../store/database-faults.ts';
import { forwardingOf, noteForwardingSet } from '../transfers/forwardings.ts';
import { LeaseLost, requireLease } from '../transfers/lease.ts';
import type { OperationEnd } from '../transfers/operations.ts';
import type { Run, Runner, RunnerServices } from './runner.ts';
import { SENTENCES } from './sentences.ts';

/**
 * The pauses between tries. They are few, because the transfer does not end before forwarding has. Only if forwarding
 * may already be on is it tried for as long as a mail server is waited for: otherwise its owner would be told that it
 * is off, and could not switch it off.
 */
const PAUSES_MS = [2000, 10_000, 30_000];
/** For the whole conversation with the script server. */
const WITHIN_MS = 60_000;

/**
 * How long a stop waits for the script server's answer to a change: if forwarding were on but counted as stopped,
 * nobody could switch it off. Less than a worker has to settle.
 */
const CHANGED_WITHIN_MS = 1500;

/** After this, deliveries that began under the old script have ended. */
const DELIVERIES_END_WITHIN_MS = 5000;

/**
 * Forwards the old mailbox to the new one once the mail has been copied, and before the mailbox is listed for the last
 * time, so that nothing is missed: what arrived before the forwarding is copied, what arrives after it is forwarded.
 * Even if this fails, the mail continues.
 */
export const runForwarding: Runner = async (run, services) => {
  if (!run.isOpen('emailmigration')) return unset(SENTENCES.forwardingWithoutMail);
  const outcome = await setUp(run, services);
  if (typeof outcome !== 'string') return outcome;
  await noteForwardingSet(services.database, run.transfer.id, outcome === 'set');
  return { status: 'completed' };
};

/**
 * Waits, before the mailbox is listed for the last time, for deliveries that began without forwarding. Separate from
 * the set-up, because that is committed at once.
 */
export async function awaitDeliveries(run: Run, services: RunnerServices): Promise<void> {
  if (!run.transfer.operations.includes('emailforwarding')) return;
  const forwarding = await forwardingOf(services.database, run.transfer.id);
  if (forwarding?.isOn === true) await services.pause(DELIVERIES_END_WITHIN_MS, run.signal);
}

type Standing = Extract<ForwardingOutcome, string>;
type Refused = Exclude<ForwardingOutcome, string>;

async function setUp(run: Run, services: RunnerServices): Promise<Standing | OperationEnd> {
  // An earlier run may have switched it on without learning so.
  let mayBeOn = run.idleRuns() > 1;
  const onChange = () => {
    mayBeOn = true;
  };
  for (let attempt = 0; ; attempt += 1) {
    try {
      const outcome = await forward(run, services, onChange);
      return typeof outcome === 'string' ? outcome : endOf(outcome, run, services);
    } catch (error) {
      if (run.signal.aborted) throw new Stopped('Forwarding was asked to stop.');
      if ([Stopped, LeaseLost, DatabaseUnavailable].some((kind) => error instanceof kind)) throw error;
      const pause = PAUSES_MS[attempt];
      services.log.warn({ err: error, transferId: run.transfer.id, attempt }, 'forwarding could not be set up');
      if (!(error instanceof MailError)) return unset(SENTENCES.forwardingRefused);
      if (error.passing && pause === undefined && mayBeOn) {
        error.account = 'source';
        throw error;
      }
      if (!error.passing || pause === undefined) return unset(sentenceFor(error));
      await services.pause(pause, run.signal);
    }
  }
}

async function forward(
  run: Run,
  { settings, database, clock }: RunnerServices,
  onChange: () => void,
): Promise<ForwardingOutcome> {
  const { transfer, source } = run;
  const place = sievePlaceOf(settings);
  // LEGACY_SIEVE_URL was removed after the order.
  if (place === null) return { refused: 'redirects' };
  if (source.kind !== 'password') throw new Error('The source has no password, so there is no server of scripts.');
  const deadline = AbortSignal.timeout(WITHIN_MS);
  using stop = stopWithin(run.signal, clock);
  try {
    await using session = await openSieveSession(
      { email: transfer.sourceEmail, password: source.password, place },
      AbortSignal.any([stop.signal, deadline]),
    );
    return await setUpForwarding(
      whileHeld(session, async () => {
        await requireLease(database, run.lease);
        if (!run.lease.mayWrite()) throw new Stopped('The lease may have run out.');
        stop.spareChange();
        onChange();
      }),
      transfer.destinationEmail,
    );
  } catch (cause) {
    if (deadline.aborted && !run.signal.aborted)
      throw new MailError('slow', 'The server of scripts took too long.', { cause });
    throw cause;
  }
}

/** Aborts with the given signal; after `spareChange`, some time later. */
function stopWithin(
  signal: AbortSignal,
  clock: RunnerServices['clock'],
): Disposable & { readonly signal: AbortSignal; readonly spareChange: () => void } {
  const stop = new AbortController();
  let isSpared = false;
  let callOff: (() => void) | undefined;
  const onAbort = () => {
    if (isSpared) callOff = clock.after(CHANGED_WITHIN_MS, () => stop.abort());
    else stop.abort();
  };
  if (signal.aborted) stop.abort();
  else signal.addEventListener('abort', onAbort, { once: true });
  return {
    signal: stop.signal,
    spareChange: () => {
      isSpared = true;
    },
    [Symbol.dispose]: () => {
      signal.removeEventListener('abort', onAbort);
      callOff?.();
    },
  };
}

/**
 * Changes scripts only while the lease is held, as the database knows it: meanwhile the owner may have stopped the
 * transfer, and have had forwarding set up to another address.
 */
function whileHeld(session: SieveSession, requireHeld: () => Promise<void>): SieveSession {
  return {
    ...session,
    put: async (name, script) => {
      await requireHeld();
      await session.put(name, script);
    },
    activate: async (name) => {
      await requireHeld();
      await session.activate(name);
    },
  };
}

function endOf({ refused }: Refused, run: Run, { log }: RunnerServices): OperationEnd {
  log.warn({ transferId: run.transfer.id, reason: refused }, 'forwarding was not set up');
  switch (refused) {
    case 'redirects':
      return unset(SENTENCES.forwardingNotOffered);
    case 'rules':
      return unset(SENTENCES.forwardingBesideRules);
    case 'name':
      return unset(SENTENCES.forwardingNameTaken);
  }
}

function unset(failure: string): OperationEnd {
  return { status: 'review', failure };
}

function sentenceFor(error: MailError): string {
  switch (error.fault) {
    case 'credentials':
      return SENTENCES.forwardingCredentials;
    case 'refused':
    case 'full':
    case 'certificate':
      return SENTENCES.forwardingRefused;
    case 'unreachable':
    case 'slow':
    case 'lost':
    case 'busy':
      return SENTENCES.forwardingUnreachable;
  }
}
