import type { StatelyInspectionEvent } from '@statelyai/inspect';

/**
 * The broadcast channel between the portal and the viewer. A window that the portal opens would lose its opener when
 * the portal navigates to a sign-in elsewhere; over the channel, the viewer also hears the page that comes back.
 */
const CHANNEL = 'wizard-inspector';
const HELLO = { type: '@statelyai.connected' };
/** How many events are kept for a viewer that connects late. */
const KEPT = 2_000;

/** A message on the channel. `page` identifies the page at random; `number` counts its messages. */
type Said = { readonly page: number; readonly number: number; readonly event: StatelyInspectionEvent };

/** The portal's end: keeps events, and replays all of them for each viewer that announces itself. */
export function openPortalEnd(): (event: StatelyInspectionEvent) => void {
  const { channel, say } = openChannel();
  const kept: Said[] = [];
  const page = Math.random();
  let number = 0;
  channel.addEventListener('message', ({ data }) => {
    if (typeOf(data) === HELLO.type) for (const said of kept) say(said);
  });
  return (event) => {
    const said: Said = { page, number: (number += 1), event };
    kept.push(said);
    if (kept.length > KEPT) kept.shift();
    say(said);
  };
}

/** The viewer's end. It listens to the channel and, as Stately's viewer does, to its opener or parent window. */
export function openViewerEnd(hear: (event: StatelyInspectionEvent, page?: number) => void): void {
  const { channel, say } = openChannel();
  // The portal replays its events whenever a viewer announces itself; this skips those already heard.
  const heard = new Map<number, number>();
  channel.addEventListener('message', ({ data }) => {
    if (!isSaid(data) || data.number <= (heard.get(data.page) ?? 0)) return;
    heard.set(data.page, data.number);
    hear(data.event, data.page);
  });
  addEventListener('message', ({ data, origin }) => {
    if (origin === location.origin && isInspection(data)) hear(data);
  });
  // The adapter ignores a window until its load event.
  const announce = () => {
    say(HELLO);
    const host = (opener as Window | null) ?? (parent === window ? null : parent);
    host?.postMessage(HELLO, location.origin);
  };
  if (document.readyState === 'complete') setTimeout(announce);
  else addEventListener('load', () => setTimeout(announce));
}

function openChannel() {
  const channel = new BroadcastChannel(CHANNEL);
  // A BroadcastChannel is limited to its origin, and takes no target.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const say = (message: unknown) => channel.postMessage(message);
  return { channel, say };
}

function typeOf(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'type' in data ? data.type : undefined;
}

function isSaid(data: unknown): data is Said {
  return typeof data === 'object' && data !== null && 'event' in data && isInspection(data.event);
}

function isInspection(data: unknown): data is StatelyInspectionEvent {
  return typeof data === 'object' && data !== null && '_version' in data && String(typeOf(data)).startsWith('@xstate.');
}
