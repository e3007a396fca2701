import { pause, type Clock } from '../../clock.ts';
import { Stopped } from '../../stopped.ts';
import { isRefusal, MailError } from '../imap/mail-error.ts';
import { LONGEST_PAUSE_MS } from '../imap/hold.ts';

/** Tries in a row that move nothing before the run gives up; the transfer itself goes on later. */
const TRIES_IN_A_ROW = 4;
const FIRST_PAUSE_MS = 1000;

/** Items that wait for a lane. An item that is given back is the next one again. */
export type Work<Item> = {
  /** `null` once there will be none any more. */
  next(): Item | null | Promise<Item | null>;
  /** Whether there is a next one, once that is known. */
  waits(): boolean | Promise<boolean>;
  /** How many wait now. */
  readonly length: () => number;
  /** @returns whether it is behind others now, which have not been tried in vain */
  giveBack(item: Item): boolean;
};

export function workOf<Item>(items: readonly Item[]): Work<Item> {
  const waiting = [...items];
  return {
    next: () => waiting.shift() ?? null,
    waits: () => waiting.length > 0,
    length: () => waiting.length,
    giveBack: (item) => {
      waiting.unshift(item);
      return false;
    },
  };
}

/**
 * Splits items into batches, in their order: at most `most` in each, and, where there are enough, some for each lane.
 */
export function batchesOf<Item>(
  items: readonly Item[],
  { lanes, most }: { readonly lanes: number; readonly most: number },
): readonly (readonly Item[])[] {
  const size = Math.max(1, Math.min(most, Math.ceil(items.length / Math.max(1, lanes))));
  return Array.from({ length: Math.ceil(items.length / size) }, (_, at) => items.slice(at * size, (at + 1) * size));
}

/** Items that come while others are worked on; `next` waits for them until it is ended. */
export type Stream<Item> = Work<Item> & {
  /** The next one, if it waits. */
  take(): Item | null;
  push(item: Item): void;
  end(): void;
  /** Resolves when what waits weighs no more than `to`, or when the stream has ended. */
  shrunk(to: number): Promise<void>;
};

type Weighing<Item> = {
  readonly weightOf: (item: Item) => number;
  /** Whether two are of one kind. An item is joined to the last one of its kind only: those before have no room. */
  readonly areAlike: (waiting: Item, item: Item) => boolean;
  /** Makes one item of two of a kind that nobody has begun; `null` when they stay apart. */
  readonly join: (waiting: Item, item: Item) => Item | null;
};

export function openStream<Item>({ weightOf, areAlike, join }: Weighing<Item>): Stream<Item> {
  const waiting: Item[] = [];
  const state = { ended: false, weight: 0 };
  let changed = Promise.withResolvers<void>();
  const tell = () => {
    changed.resolve();
    changed = Promise.withResolvers();
  };
  const waits = async () => {
    while (waiting.length === 0 && !state.ended) await changed.promise;
    return waiting.length > 0;
  };
  const take = () => {
    const item = waiting.shift();
    if (item === undefined) return null;
    state.weight -= weightOf(item);
    tell();
    return item;
  };
  return {
    next: async () => {
      for (;;) {
        const item = take();
        if (item !== null || !(await waits())) return item;
      }
    },
    take,
    waits,
    giveBack: (item) => {
      waiting.unshift(item);
      state.weight += weightOf(item);
      tell();
      return false;
    },
    push: (item) => {
      state.weight += weightOf(item);
      const at = waiting.findLastIndex((before) => areAlike(before, item));
      const before = waiting[at];
      const joined = before === undefined ? null : join(before, item);
      if (joined !== null) {
        waiting[at] = joined;
        return;
      }
      waiting.push(item);
      tell();
    },
    end: () => {
      state.ended = true;
      tell();
    },
    length: () => waiting.length,
    shrunk: async (to) => {
      while (state.weight > to && !state.ended) await changed.promise;
    },
  };
}

/** Sessions towards mail servers, which stand from one call of `work` to the next. */
export type Lanes<Session> = AsyncDisposable & {
  /**
   * Works through all items with a few sessions at once, each made when it is needed and made anew after a passing
   * fault or a refusal. An item may be worked on again after a fault. A server that doesn't allow all the sessions keeps those it does.
   * `goesOn` is false once another lane has failed: then what can wait is left.
   * @param most how many lanes may work now; one more is closed before its next item
   * @param grows after which more may: those that were too many wait for it
   * @throws {MailError} the fault that could not be got over; {@link Stopped} after an abort
   */
  work<Item>(
    items: Work<Item>,
    work: (item: Item, session: Session, goesOn: () => boolean) => Promise<void>,
    most?: () => number,
    grows?: Promise<unknown>,
  ): Promise<void>;
  /** Makes so many sessions that `work` will need soon. What fails is left to the work that needs it. */
  warm(count: number): void;
  /** Gives away the sessions that stand, at most so many, and closes the others. */
  giveAway(most: number): Promise<readonly Session[]>;
  /** Takes these over for lanes that have no session; closes the rest. */
  takeOver(sessions: readonly Session[]): Promise<void>;
};

/** `isOver`: it has ended by itself, and is of no use any more. */
export type LaneSession = AsyncDisposable & { readonly isOver?: boolean };

type Slot<Session> = { session?: Promise<Session> | undefined; isOpen?: boolean; hasWorked?: boolean };

type Options<Session> = {
  readonly size: number;
  readonly open: () => Promise<Session>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How much has been moved so far, to tell a run that goes on from one that is stuck. */
  readonly moved: () => number;
};

export function openLanes<Session extends LaneSession>(options: Options<Session>): Lanes<Session> {
  const { size, open, clock, signal, moved } = options;
  const slots: Slot<Session>[] = Array.from({ length: size }, () => ({}));
  const sessionOf = (slot: Slot<Session>): Promise<Session> => slot.session ?? fill(slot, open());
  const fill = (slot: Slot<Session>, opening: Promise<Session>): Promise<Session> => {
    slot.session = opening;
    slot.hasWorked = false;
    opening.then(
      () => note(slot, opening, true),
      () => note(slot, opening, false),
    );
    return opening;
  };
  const note = (slot: Slot<Session>, opening: Promise<Session>, isOpen: boolean) => {
    if (slot.session !== opening) return;
    slot.isOpen = isOpen;
    if (!isOpen) slot.session = undefined;
  };
  const empty = (slot: Slot<Session>): Promise<Session | undefined> => {
    const { session } = slot;
    slot.session = undefined;
    slot.isOpen = false;
    return session?.catch(() => undefined) ?? Promise.resolve(undefined);
  };
  const close = async (slot: Slot<Session>) => {
    await (await empty(slot))?.[Symbol.asyncDispose]();
  };
  return {
    work: async (items, work, most = () => size, grows?) => {
      const failures: unknown[] = [];
      const goesOn = () => failures.length === 0 && !signal.aborted;
      let busy = 0;
      let opening = 0;

      const mayWork = (number: number) => number < Math.max(1, most());

      /** For a lane that is one too many: it closes its session, and waits for more to be allowed, or for the end. */
      const standBack = async (slot: Slot<Session>, over: PromiseWithResolvers<void>) => {
        await close(slot);
        await Promise.race([grows, over.promise]);
      };

      /** Opens a session for an item that waits. @returns whether it is open; no, when the other lanes take all of them */
      const makeReady = async (slot: Slot<Session>, gaveBack: boolean, over: PromiseWithResolvers<void>) => {
        // One session is opened for each item that waits; a lane that gave its item back needs one in any case.
        if (slot.session === undefined && !gaveBack && opening >= items.length()) return false;
        opening += 1;
        try {
          // The other lanes may have taken everything before it is open.
          await Promise.race([sessionOf(slot), ...(gaveBack ? [] : [over.promise])]);
        } finally {
          opening -= 1;
        }
        return slot.isOpen === true;
      };

      /** @param over resolved when there is nothing to begin any more */
      const lane = async (slot: Slot<Session>, number: number, over: PromiseWithResolvers<void>) => {
        let tries = 0;
        let movedBefore = moved();
        let gaveBack = false;
        for (;;) {
          if (!mayWork(number)) {
            await standBack(slot, over);
            if (!mayWork(number)) return;
          }
          // One that has not worked yet fails instead: a server that ends each at once is not asked without a pause.
          if (slot.hasWorked === true && (await slot.session)?.isOver === true) await close(slot);
          // What waits while a session is opened may be taken by another lane.
          const { isOpen } = slot;
          const item = isOpen === true ? await items.next() : null;
          if (isOpen === true ? item === null : !(await items.waits())) {
            over.resolve();
            return;
          }
          if (!goesOn()) {
            // Other lanes may be waiting until it is done.
            if (item !== null) items.giveBack(item);
            if (failures.length > 0) return;
            throw new Stopped('The work was asked to stop.');
          }
          let working = false;
          try {
            if (item === null) {
              if (!(await makeReady(slot, gaveBack, over))) return;
              continue;
            }
            gaveBack = false;
            const session = await sessionOf(slot);
            slot.hasWorked = true;
            working = true;
            busy += 1;
            await work(item, session, goesOn);
            tries = 0;
          } catch (error) {
            await close(slot);
            if (signal.aborted) throw new Stopped('The work was asked to stop.', { cause: error });
            // A refusal that the work did not handle itself may have been momentary.
            if (!(error instanceof MailError) || !(error.passing || isRefusal(error))) throw error;
            const isBehind = item !== null && items.giveBack(item);
            gaveBack = true;
            // The others have what the server allows; they will take this item as well.
            if (!working && busy > 0) return;
            tries = isBehind ? 0 : moved() > movedBefore ? 1 : tries + 1;
            movedBefore = moved();
            const wait = Math.max(error.pause ?? 0, FIRST_PAUSE_MS * 2 ** (tries - 1));
            if (tries >= TRIES_IN_A_ROW || wait > LONGEST_PAUSE_MS) throw error;
            await pause(clock, wait, signal);
          } finally {
            if (working) busy -= 1;
          }
        }
      };
      const run = async (slot: Slot<Session>, number: number, over: PromiseWithResolvers<void>) => {
        try {
          await lane(slot, number, over);
        } catch (error) {
          failures.push(error);
          over.resolve();
        }
      };
      // A lane that gave its item back may leave it to nobody, when the others had just ended.
      do {
        const over = Promise.withResolvers<void>();
        await Promise.all(slots.map((slot, number) => run(slot, number, over)));
      } while (failures.length === 0 && (await items.waits()));
      if (failures.length > 0) throw worst(failures);
    },
    warm: (count) => {
      for (const slot of slots.slice(0, count)) sessionOf(slot).catch(() => {});
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

/** A fault that somebody must mend says more than a lost connection, and a stop says least. */
function worst(failures: readonly unknown[]): unknown {
  return failures.toSorted((a, b) => rank(b) - rank(a))[0];
}

function rank(error: unknown): number {
  if (error instanceof Stopped) return 0;
  return error instanceof MailError ? (error.passing ? 1 : 2) : 3;
}
