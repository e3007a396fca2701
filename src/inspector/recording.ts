import type { StatelyInspectionEvent, StatelySnapshotEvent } from '@statelyai/inspect';
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

/**
 * Everything heard so far, and the page that was heard last. `wizards` are the wizard's own sessions, `calls` the names
 * of its other actors by session.
 */
export type Recording = {
  readonly page: number;
  readonly entries: readonly Entry[];
  readonly moments: readonly Moment[];
  readonly wizards: ReadonlySet<string>;
  readonly calls: ReadonlyMap<string, string>;
};

export const NOTHING_HEARD: Recording = { page: 0, entries: [], moments: [], wizards: new Set(), calls: new Map() };

/**
 * Adds a message from `@statelyai/inspect` to a recording. `page` is the page that it came from: each numbers its
 * sessions from 0.
 */
export function heard(recording: Recording, message: StatelyInspectionEvent, page: number, names: Names): Recording {
  const time = Number(message.createdAt);
  const session = `${page} ${message.sessionId}`;
  if (message.type === '@xstate.actor') {
    if (message.parentId !== undefined)
      return { ...recording, calls: new Map([...recording.calls, [session, names.callOf(message.name)]]) };
    const wizards = new Set([...recording.wizards, session]);
    return written({ ...recording, page, wizards }, time, 'load', 'The page was loaded', {});
  }
  const isWizard = recording.wizards.has(session);
  const call = recording.calls.get(session);
  if (!isWizard && call === undefined) return recording;
  const here =
    page === recording.page ? recording : written({ ...recording, page }, time, 'load', 'Another page goes on', {});
  if (message.type === '@xstate.snapshot') return isWizard ? withMoment(here, message) : recording;
  const { type, ...payload } = message.event as { readonly type: string };
  if (isWizard)
    return type === 'xstate.init' ? recording : written(here, time, kindOf(type), names.eventOf(type), payload);
  return call !== undefined && type === 'xstate.init' ? written(here, time, 'call', call, payload) : recording;
}

function withMoment(recording: Recording, { snapshot }: StatelySnapshotEvent): Recording {
  const { value, context } = snapshot as { value?: StateValue; context?: Record<string, unknown> };
  if (value === undefined) return recording;
  const moment = { entry: recording.entries.length - 1, active: activeIn(value), context: context ?? {} };
  return { ...recording, moments: [...recording.moments, moment] };
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
