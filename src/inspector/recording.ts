import type { StatelyInspectionEvent } from '@statelyai/inspect';
import type { StateValue } from 'xstate';

/** One thing that happened: an event that the wizard took, or a call that it made. */
export type Entry = {
  readonly number: number;
  /** ms since 1970. */
  readonly time: number;
  readonly kind: 'load' | 'event' | 'call' | 'answer';
  readonly words: string;
  readonly payload: unknown;
};

/** The wizard as it stood after an entry. */
export type Moment = {
  readonly entry: number;
  readonly active: ReadonlySet<string>;
  readonly context: Readonly<Record<string, unknown>>;
};

/** What the machine calls its calls and events. */
export type Names = { readonly callOf: (id: string) => string; readonly eventOf: (type: string) => string };

/** All that was heard so far. `wizards` are the sessions of the wizard itself, `calls` what its other actors are called. */
export type Recording = {
  readonly entries: readonly Entry[];
  readonly moments: readonly Moment[];
  readonly wizards: ReadonlySet<string>;
  readonly calls: ReadonlyMap<string, string>;
};

export const NOTHING_HEARD: Recording = { entries: [], moments: [], wizards: new Set(), calls: new Map() };

/** The recording with one more message of `@statelyai/inspect` heard. A call is known by the id of its invocation, an event by its type. */
export function heard(recording: Recording, message: StatelyInspectionEvent, { callOf, eventOf }: Names): Recording {
  const { wizards, calls } = recording;
  const time = Number(message.createdAt);
  const { sessionId } = message;
  switch (message.type) {
    case '@xstate.actor': {
      // Every load of the page counts its sessions from the start again.
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

/** The paths of all states that a value is in, with those around them. */
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

/** Whether an entry is but the countdown of Home, which comes every second. */
export function isTick(entry: Entry | undefined): boolean {
  return entry?.words.startsWith('after countdown tick') ?? false;
}

/** Of the leaves that are active at a moment, the one that was entered last. */
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

/** The keys, each with those that it is inside of, under which two values differ: such as `typed.email`. */
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
