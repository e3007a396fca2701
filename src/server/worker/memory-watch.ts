import { getHeapStatistics } from 'node:v8';
import type { Log } from '../log.ts';
import type { Database } from '../store/database.ts';
import { noteShortage, noteSurvival } from '../transfers/deaths.ts';

/** One death may be chance; after the second, a third is not risked. */
export const DEATHS_AT_MOST = 2;
const LOOK_EVERY_MS = 250;
/** From this share of the allowed memory on, a death is attributed to lack of memory. */
const SHORT_FROM = 0.75;
/** And until memory has not been short for this long: between two garbage collections it may seem to be enough. */
const CALM_AFTER_MS = 10_000;
/** A transfer that kills its worker does so soon; the others wait no longer than this for it. */
const ALONE_FOR_MS = 15 * 60_000;

export type MemoryWatch = Disposable & {
  /** Watches while a transfer is worked on, until the returned value is disposed of. */
  during(transferId: string): AsyncDisposable;
  /**
   * Lets transfers that a worker has died with run one at a time: the next may begin when the returned value is
   * disposed of, or after a quarter of an hour. Otherwise they would die together again, and nobody would know which
   * one was the cause. `null` if it is another one's turn.
   */
  suspect(): Disposable | null;
};

type Services = {
  readonly database: Database;
  readonly log: Log;
  /** The share of its memory that the process uses. */
  readonly memoryUsed?: () => number;
};

/**
 * Records which transfers run while memory is short, to recognise one that has killed its worker when it is taken
 * again. The record is withdrawn once memory is not short any more: a death after that has another cause.
 */
export function watchMemory({ database, log, memoryUsed = shareUsed }: Services): MemoryWatch {
  const running = new Set<string>();
  const noted = new Set<string>();
  let hasSuspect = false;
  let calmFor = 0;
  // One write after the other, so that the last one counts.
  let writing: Promise<void> = Promise.resolve();
  const write = (note: () => Promise<void>) => {
    writing = writing
      .then(note)
      .catch((error: unknown) => log.error({ err: error }, 'whether memory is short could not be noted'));
  };
  const noteShort = () => {
    const unnoted = [...running].filter((id) => !noted.has(id));
    if (unnoted.length === 0) return;
    for (const id of unnoted) noted.add(id);
    log.warn({ transfers: unnoted.length }, 'memory is short');
    write(() => noteShortage(database, unnoted));
  };
  const noteCalm = () => {
    const survived = [...noted];
    if (survived.length === 0) return;
    noted.clear();
    write(() =>
      noteSurvival(database, survived).catch((error: unknown) => {
        for (const id of survived) noted.add(id);
        calmFor = 0;
        throw error;
      }),
    );
  };
  const timer = setInterval(() => {
    const isShort = memoryUsed() >= SHORT_FROM;
    calmFor = isShort ? 0 : calmFor + LOOK_EVERY_MS;
    if (isShort) noteShort();
    else if (calmFor >= CALM_AFTER_MS) noteCalm();
  }, LOOK_EVERY_MS).unref();
  return {
    during: (transferId) => {
      running.add(transferId);
      return {
        [Symbol.asyncDispose]: async () => {
          running.delete(transferId);
          await writing;
          if (noted.delete(transferId)) await noteSurvival(database, [transferId]);
        },
      };
    },
    suspect: () => {
      if (hasSuspect) return null;
      hasSuspect = true;
      let isOver = false;
      const end = () => {
        if (isOver) return;
        [isOver, hasSuspect] = [true, false];
        clearTimeout(timer);
      };
      const timer = setTimeout(end, ALONE_FOR_MS).unref();
      return { [Symbol.dispose]: end };
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

function shareUsed(): number {
  const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
  const allowed = process.constrainedMemory();
  // Without a limit, the value is the machine's memory, or larger than any machine's.
  return Math.max(used / limit, allowed > 0 ? residentSize() / allowed : 0);
}

/**
 * In octets; 0 if the system does not tell: the value is in a file, and the process may have no file descriptors left.
 */
function residentSize(): number {
  try {
    return process.memoryUsage.rss();
  } catch {
    return 0;
  }
}
