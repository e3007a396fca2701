import type { StatelyInspectionEvent } from '@statelyai/inspect';
import type { StateValue } from 'xstate';

/** Something that happened: an event that the wizard received, or a call that it made. */
export type Entry = {
  readonly number: number;
  /** ms since 1970. */
  readonly time: number;
  readonly kind: 'load' | 'event' | 'call' | 'answer';
  readonly words: string;
  readonly payload: unknown;
};

/** The state of the wizard after an entry. */
export type Moment = {
  readonly entry: number;
  readonly active: ReadonlySet<string>;
  readonly context: Readonly<Record<string, unknown>>;
};

/** The machine's names for its calls and events. */
export type Names = { readonly callOf: (id: string) => string; readonly eventOf: (type: string) => string };

/** Everything heard so far. `wizards` are the wizard's own sessions, `calls` the names of its other actors by session. */
export type Recording = {
  readonly entries: readonly Entry[];
  readonly moments: readonly Moment[];
  readonly wizards: ReadonlySet<string>;
  readonly calls: ReadonlyMap<string, string>;
};

export const NOTHING_HEARD: Recording = { entries: [], moments: [], wizards: new Set(), calls: new Map() };

/** Adds a message from `@statelyai/inspect` to a recording. `callOf` takes an invocation's ID, `eventOf` an event's type. */
export function heard(recording: Recording, message: StatelyInspectionEvent, { callOf, eventOf }: Names): Recording {
  const { wizards, calls } = recording;
  const time = Number(message.createdAt);
  const { sessionId } = message;
  switch (message.type) {
    case '@xstate.actor': {
      // Session IDs start over whenever the page is loaded.
      if (message.parentId === undefined)
        return written(
          { ...recording, wizards: new Set([sessionId]), calls: new Map() },
          time,
          'load',
          'The page was loaded',
          {},
        );
      return { ...recording, calls: new Map([...calls, [sessionId, callOf(message.name)]]) };
    }
    case '@xstate.event': {
      const { type, ...payload } = message.event as { readonly type: string };
      if (wizards.has(sessionId))
        return type === 'xstate.init' ? recording : written(recording, time, kindOf(type), eventOf(type), payload);
      const call = calls.get(sessionId);
      return call !== undefined && type === 'xstate.init' ? written(recording, time, 'call', call, payload) : recording;
    }
    case '@xstate.snapshot': {
      if (!wizards.has(sessionId)) return recording;
      const { value, context } = message.snapshot as { value?: StateValue; context?: Record<string, unknown> };
      if (value === undefined) return recording;
      const moment = { entry: recording.entries.length - 1, active: activeIn(value), context: context ?? {} };
      return { ...recording, moments: [...recording.moments, moment] };
    }
  }
}

function written(recording: Recording, time: number, kind: Entry['kind'], words: string, payload: unknown): Recording {
  const entry = { number: recording.entries.length, time, kind, words, payload };
  return { ...recording, entries: [...recording.entries, entry] };
}

function kindOf(type: string): Entry['kind'] {
  return /^xstate\.(?:done|error)\.actor\./.test(type) ? 'answer' : 'event';
}

/** The paths of all active states, including their ancestors. */
export function activeIn(value: StateValue): Set<string> {
  const paths = new Set<string>();
  const add = (inner: StateValue, path: string) => {
    for (const [key, deeper] of typeof inner === 'string' ? [[inner, {}] as const] : Object.entries(inner)) {
      const here = path === '' ? key : `${path}.${key}`;
      paths.add(here);
      if (deeper !== undefined) add(deeper, here);
    }
  };
  add(value, '');
  return paths;
}

/** Whether an entry is just a tick of Home's countdown, which comes every second. */
export function isTick(entry: Entry | undefined): boolean {
  return entry?.words.startsWith('after countdown tick') ?? false;
}

/** The leaf that was entered last among those active at a moment. */
export function newestLeaf(
  moments: readonly Moment[],
  at: number,
  isLeaf: (path: string) => boolean,
): string | undefined {
  const active = moments[at]?.active ?? new Set<string>();
  for (let index = at; index >= 0; index -= 1) {
    const before = moments[index - 1]?.active ?? new Set<string>();
    const entered = [...(moments[index]?.active ?? [])].findLast(
      (path) => isLeaf(path) && active.has(path) && !before.has(path),
    );
    if (entered !== undefined) return entered;
  }
  return undefined;
}

/** The key paths at which two values differ, for example `typed.email`. */
export function changesBetween(before: unknown, after: unknown, path = ''): string[] {
  if (Object.is(before, after)) return [];
  if (!isRecord(before) || !isRecord(after)) return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
    changesBetween(before[key], after[key], path === '' ? key : `${path}.${key}`),
  );
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
