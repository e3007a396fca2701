import type { StatelyInspectionEvent } from '@statelyai/inspect';

/**
 * The line between the portal and the viewer. A channel of the browser's own, as the window that a portal opens loses its
 * opener when the portal leaves for a sign-in elsewhere; so the viewer stays and sees the page that comes back.
 */
const CHANNEL = 'wizard-inspector';
const HELLO = { type: '@statelyai.connected' };
/** What a viewer that comes late can still be told. */
const KEPT = 2_000;

/** What goes over the channel: `number` counts what the page, known by a number of its own, has said. */
type Said = { readonly page: number; readonly number: number; readonly event: StatelyInspectionEvent };

/** The portal's end: keeps what was said, and says all of it to each viewer that announces itself. */
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

/** The viewer's end. It hears the channel, and the window that opened it or holds it, as Stately's own viewer would. */
export function openViewerEnd(hear: (event: StatelyInspectionEvent) => void): void {
  const { channel, say } = openChannel();
  // What was said before another viewer, or this one, announced itself is said again.
  const heard = new Map<number, number>();
  channel.addEventListener('message', ({ data }) => {
    if (!isSaid(data) || data.number <= (heard.get(data.page) ?? 0)) return;
    heard.set(data.page, data.number);
    hear(data.event);
  });
  addEventListener('message', ({ data, origin }) => {
    if (origin === location.origin && isInspection(data)) hear(data);
  });
  // A window that is still loading is not heard by the adapter, which learns of it by its load event.
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
  // A channel reaches its own origin only, and takes no target.
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
