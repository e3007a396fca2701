import { pause, type Clock } from '../../../clock.ts';
import { Stopped } from '../../../stopped.ts';
import { LONGEST_PAUSE_MS } from '../../imap/hold.ts';
import { isRefusal, isSpent, MailError } from '../../imap/mail-error.ts';
import type { Work } from './lane-work.ts';

/** Tries in a row that move nothing before the run gives up; the transfer itself goes on later. */
const TRIES_IN_A_ROW = 4;
const FIRST_PAUSE_MS = 1000;

/** Sessions with mail servers, which are kept open from one call of `work` to the next. */
export type Lanes<Session> = AsyncDisposable & {
  /**
   * Works through all items with a few sessions at once, each opened when it is needed, and opened again after a
   * passing fault or a refusal. An item may be worked on again after a fault. If a server allows fewer sessions, the
   * work goes on with those. `goesOn` is false once another lane has failed, or after an abort: then what can wait is
   * left.
   * @param most how many lanes may work now; one beyond that closes its session before its next item
   * @param grows resolves when more may work: lanes beyond `most` wait for it
   * @throws {MailError} the fault that persisted; {@link Stopped} after an abort
   */
  work<Item>(
    items: Work<Item>,
    work: (item: Item, session: Session, goesOn: () => boolean) => Promise<void>,
    most?: () => number,
    grows?: Promise<unknown>,
  ): Promise<void>;
  /** Opens so many sessions that `work` will need soon. A failure is left to the work that needs the session. */
  warm(count: number): void;
  /** Hands over the open sessions, at most so many, and closes the others. */
  giveAway(most: number): Promise<readonly Session[]>;
  /** Takes over these sessions for lanes that have none; closes the rest. */
  takeOver(sessions: readonly Session[]): Promise<void>;
};

/** `isOver`: it has ended by itself, and can't be used any more. */
export type LaneSession = AsyncDisposable & { readonly isOver?: boolean };

type Options<Session> = {
  readonly size: number;
  readonly open: () => Promise<Session>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How much has been moved so far, to tell a run that goes on from one that is stuck. */
  readonly moved: () => number;
};

export function openLanes<Session extends LaneSession>(options: Options<Session>): Lanes<Session> {
  const { size, open } = options;
  const slots: Slot<Session>[] = Array.from({ length: size }, () => ({}));
  return {
    work: (items, work, most = () => size, grows?) =>
      new Crew(items, { ...options, slots, work, most, grows }).workThrough(),
    warm: (count) => {
      for (const slot of slots.slice(0, count)) sessionIn(slot, open).catch(() => {});
    },
    giveAway: async (most) => {
      const given: Session[] = [];
      for (const slot of slots) {
        const session = slot.isOpen === true ? await slot.session : undefined;
        if (session === undefined || session.isOver === true || given.length >= most) continue;
        given.push(session);
        void empty(slot);
      }
      await Promise.all(slots.map(close));
      return given;
    },
    takeOver: async (sessions) => {
      const waiting = [...sessions];
      for (const slot of slots) {
        const session = slot.session === undefined ? waiting.shift() : undefined;
        if (session === undefined) continue;
        void fill(slot, Promise.resolve(session));
        slot.hasWorked = true;
      }
      await Promise.all(waiting.map((session) => session[Symbol.asyncDispose]()));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(slots.map(close));
    },
  };
}

/** A lane's place for a session. */
type Slot<Session> = { session?: Promise<Session> | undefined; isOpen?: boolean; hasWorked?: boolean };

function sessionIn<Session>(slot: Slot<Session>, open: () => Promise<Session>): Promise<Session> {
  return slot.session ?? fill(slot, open());
}

function fill<Session>(slot: Slot<Session>, opening: Promise<Session>): Promise<Session> {
  slot.session = opening;
  slot.hasWorked = false;
  opening.then(
    () => note(slot, opening, true),
    () => note(slot, opening, false),
  );
  return opening;
}

function note<Session>(slot: Slot<Session>, opening: Promise<Session>, isOpen: boolean): void {
  if (slot.session !== opening) return;
  slot.isOpen = isOpen;
  if (!isOpen) slot.session = undefined;
}

function empty<Session>(slot: Slot<Session>): Promise<Session | undefined> {
  const { session } = slot;
  slot.session = undefined;
  slot.isOpen = false;
  return session?.catch(() => undefined) ?? Promise.resolve(undefined);
}

async function close<Session extends LaneSession>(slot: Slot<Session>): Promise<void> {
  await (await empty(slot))?.[Symbol.asyncDispose]();
}

/** How often a lane has tried in vain. */
function openTries(moved: () => number) {
  let tries = 0;
  let movedBefore = moved();
  return {
    succeeded: () => {
      tries = 0;
    },
    /** @returns how long to wait before the next try, in milliseconds; `null` when there is to be none */
    failed: (error: MailError, isBehind: boolean): number | null => {
      tries = isBehind ? 0 : moved() > movedBefore ? 1 : tries + 1;
      movedBefore = moved();
      const wait = Math.max(error.pause ?? 0, FIRST_PAUSE_MS * 2 ** (tries - 1));
      return tries >= TRIES_IN_A_ROW || wait > LONGEST_PAUSE_MS ? null : wait;
    },
  };
}

type Working<Item, Session> = Options<Session> & {
  readonly slots: readonly Slot<Session>[];
  readonly work: (item: Item, session: Session, goesOn: () => boolean) => Promise<void>;
  readonly most: () => number;
  readonly grows: Promise<unknown> | undefined;
};

/** A lane of a {@link Crew}: its place for a session, and how it has fared. */
type Lane<Session> = {
  readonly slot: Slot<Session>;
  readonly number: number;
  readonly tries: ReturnType<typeof openTries>;
  /** A lane that gave its item back needs a session in any case. */
  gaveBack: boolean;
  isWorking: boolean;
};

/** The lanes of one call of {@link Lanes.work}. */
class Crew<Item, Session extends LaneSession> {
  readonly #items: Work<Item>;
  readonly #with: Working<Item, Session>;
  readonly #failures: unknown[] = [];
  /** How many lanes work on an item, and how many open a session for one. */
  #busy = 0;
  #opening = 0;
  /** Resolved when there is nothing to begin any more. */
  #over = Promise.withResolvers<void>();

  constructor(items: Work<Item>, working: Working<Item, Session>) {
    this.#items = items;
    this.#with = working;
  }

  async workThrough(): Promise<void> {
    const { slots, moved } = this.#with;
    // A lane may have given its item back when all others had just ended.
    do {
      this.#over = Promise.withResolvers();
      const lanes = slots.map((slot, number) => ({
        slot,
        number,
        tries: openTries(moved),
        gaveBack: false,
        isWorking: false,
      }));
      await Promise.all(lanes.map((lane) => this.#run(lane)));
    } while (this.#failures.length === 0 && (await this.#items.waits()));
    if (this.#failures.length > 0) throw worst(this.#failures);
  }

  readonly #goesOn = (): boolean => this.#failures.length === 0 && !this.#with.signal.aborted;

  async #run(lane: Lane<Session>): Promise<void> {
    try {
      await this.#workItems(lane);
    } catch (error) {
      this.#failures.push(error);
      this.#over.resolve();
    }
  }

  async #workItems(lane: Lane<Session>): Promise<void> {
    const { slot } = lane;
    for (;;) {
      if (!this.#mayWork(lane)) {
        await this.#standBack(lane);
        if (!this.#mayWork(lane)) return;
      }
      // A session that has not worked yet is left to fail instead: if a server ends each one at once, there is a pause.
      if (slot.hasWorked === true && (await slot.session)?.isOver === true) await close(slot);
      // Before a session is open no item is taken: another lane may take it meanwhile.
      const { isOpen } = slot;
      const item = isOpen === true ? await this.#items.next() : null;
      if (isOpen === true ? item === null : !(await this.#items.waits())) {
        this.#over.resolve();
        return;
      }
      if (!this.#goesOn()) {
        // Other lanes may be waiting until it is done.
        if (item !== null) this.#items.giveBack(item);
        if (this.#failures.length > 0) return;
        throw new Stopped('The work was asked to stop.');
      }
      try {
        if (item !== null) await this.#perform(item, lane);
        else if (!(await this.#makeReady(lane))) return;
      } catch (error) {
        if (!(await this.#recover(error, item, lane))) return;
      } finally {
        if (lane.isWorking) this.#busy -= 1;
        lane.isWorking = false;
      }
    }
  }

  #mayWork({ number }: Lane<Session>): boolean {
    return number < Math.max(1, this.#with.most());
  }

  /** For a lane beyond the number allowed: closes its session, and waits for more to be allowed, or for the end. */
  async #standBack({ slot }: Lane<Session>): Promise<void> {
    await close(slot);
    await Promise.race([this.#with.grows, this.#over.promise]);
  }

  /**
   * Opens a session for an item that waits.
   * @returns whether it is open; not if the other lanes have taken all items
   */
  async #makeReady({ slot, gaveBack }: Lane<Session>): Promise<boolean> {
    // One session is opened for each item that waits.
    if (slot.session === undefined && !gaveBack && this.#opening >= this.#items.length()) return false;
    this.#opening += 1;
    try {
      // The other lanes may have taken everything before it is open.
      await Promise.race([sessionIn(slot, this.#with.open), ...(gaveBack ? [] : [this.#over.promise])]);
    } finally {
      this.#opening -= 1;
    }
    return slot.isOpen === true;
  }

  async #perform(item: Item, lane: Lane<Session>): Promise<void> {
    const { slot } = lane;
    lane.gaveBack = false;
    const session = await sessionIn(slot, this.#with.open);
    slot.hasWorked = true;
    lane.isWorking = true;
    this.#busy += 1;
    await this.#with.work(item, session, this.#goesOn);
    lane.tries.succeeded();
  }

  /**
   * Gives the item back after a fault that may pass, and waits.
   * @returns whether the lane is to try again; not if the other lanes do
   * @throws what ends all lanes
   */
  async #recover(error: unknown, item: Item | null, lane: Lane<Session>): Promise<boolean> {
    const { clock, signal } = this.#with;
    await close(lane.slot);
    if (signal.aborted) throw new Stopped('The work was asked to stop.', { cause: error });
    // A refusal that the work did not handle itself may have been momentary.
    if (!(error instanceof MailError) || !(error.passing || isRefusal(error))) throw error;
    const isBehind = item !== null && this.#items.giveBack(item);
    lane.gaveBack = true;
    // Each further try would be one more sign-in, for the same answer.
    if (isSpent(error)) throw error;
    // The server allows no more sessions than the others have; they will take this item as well.
    if (!lane.isWorking && this.#busy > 0) return false;
    const wait = lane.tries.failed(error, isBehind);
    if (wait === null) throw error;
    await pause(clock, wait, signal);
    return true;
  }
}

/** A fault that needs somebody's action says more than a lost connection, and a stop says least. */
function worst(failures: readonly unknown[]): unknown {
  return failures.toSorted((a, b) => rank(b) - rank(a))[0];
}

function rank(error: unknown): number {
  if (error instanceof Stopped) return 0;
  return error instanceof MailError ? (error.passing ? 1 : 2) : 3;
}
