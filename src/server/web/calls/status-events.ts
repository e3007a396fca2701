import type { Context } from 'hono';
import { streamSSE } from 'hono/streaming';
import * as v from 'valibot';
import { statusStream, type TransferStatus } from '../../../contract/calls/status.ts';
import { goesOn, STATUS_HEARTBEAT_MS } from '../../../contract/transfer-status.ts';
import { clientOf } from '../guards.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import { Shares } from '../shares.ts';
import { askerOf } from '../browser.ts';
import { forManagers, statusOf, viewOf } from './status.ts';

/** How often the database is polled: once for each transfer, however many clients watch it. */
const LOOK_EVERY_MS = 1000;
/** Browsers reconnect by themselves after a stream ends. */
const STREAM_AT_MOST_MS = 30 * 60_000;
export const STREAMS_AT_MOST = 1000;
export const STREAMS_PER_CLIENT = 10;
export const STREAMS_PER_WIDER_NETWORK = 100;

type Viewer = { readonly changed: (status: TransferStatus) => void; readonly ended: () => void };
/** The viewers of a transfer, each with the status that it was told last, as JSON. */
type Watch = { readonly viewers: Map<Viewer, string>; timer: NodeJS.Timeout };

/** The open streams of this process. */
export type StatusStreams = {
  /** @throws {Refusal} 404 for an unknown ID, 429 when too many are open. */
  open(id: string, client: string, viewer: Viewer): Promise<{ status: TransferStatus; close: () => void }>;
};

export function openStatusStreams(
  { transfers, log }: Pick<Web, 'transfers' | 'log'>,
  stopping?: AbortSignal,
): StatusStreams {
  const watches = new Map<string, Watch>();
  const shares = new Shares<Viewer>({
    most: { ofNetwork: STREAMS_PER_CLIENT, ofWiderNetwork: STREAMS_PER_WIDER_NETWORK, inAll: STREAMS_AT_MOST },
    end: (viewer) => viewer.ended(),
    // A page without a stream polls instead. Taking turns would only make all of them reconnect again and again.
    waits: true,
  });

  stopping?.addEventListener('abort', () => {
    for (const watch of watches.values()) for (const viewer of watch.viewers.keys()) viewer.ended();
  });

  async function look(id: string, watch: Watch): Promise<void> {
    const status = await transfers.status(id);
    if (watches.get(id) !== watch) return;
    const text = JSON.stringify(status);
    for (const [viewer, told] of watch.viewers) {
      if (status !== null && text !== told) {
        watch.viewers.set(viewer, text);
        viewer.changed(status);
      }
      if (status === null || !goesOn(status)) viewer.ended();
    }
  }

  function watchOf(id: string): Watch {
    const existing = watches.get(id);
    if (existing !== undefined) return existing;
    const watch: Watch = { viewers: new Map(), timer: setTimeout(() => {}, 0) };
    const again = () => {
      watch.timer = setTimeout(() => {
        look(id, watch)
          .catch((error: unknown) => log.warn({ err: error }, 'a status could not be read'))
          .finally(() => {
            if (watches.get(id) === watch) again();
          });
      }, LOOK_EVERY_MS).unref();
    };
    clearTimeout(watch.timer);
    again();
    watches.set(id, watch);
    return watch;
  }

  return {
    open: async (id, client, viewer) => {
      const giveBack = shares.take(client, viewer);
      if (giveBack === null)
        throw new Refusal(429, 'TOO_MANY_ATTEMPTS', 'Too many status pages are open. Your transfer goes on.', {
          retryAfter: 30,
        });
      let watch: Watch | undefined;
      const close = () => {
        giveBack();
        if (watch === undefined) return;
        watch.viewers.delete(viewer);
        if (watch.viewers.size > 0) return;
        clearTimeout(watch.timer);
        watches.delete(id);
      };
      try {
        const status = await statusOf(id, transfers);
        watch = watchOf(id);
        watch.viewers.set(viewer, JSON.stringify(status));
        return { status, close };
      } catch (error) {
        close();
        throw error;
      }
    },
  };
}

type Events = typeof statusStream.events;

function eventOf<Name extends keyof Events>(event: Name, data: v.InferInput<Events[Name]>) {
  return { event, data: JSON.stringify(data) };
}

/** Answers with the contract's {@link statusStream}. */
export function answerEvents(
  {
    settings,
    limits,
    owners,
    sessions,
    transfers,
  }: Pick<Web, 'settings' | 'limits' | 'owners' | 'sessions' | 'transfers'>,
  streams: StatusStreams,
) {
  return async (c: Context): Promise<Response> => {
    const query = v.safeParse(statusStream.Query, c.req.query());
    if (!query.success) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.');
    const client = clientOf(c, settings);
    await limits.take('calls by a client', client);
    const viewNow = () => viewOf(query.output.job_id, { owners, sessions }, askerOf(c, settings));
    const view = await viewNow();
    const isSignedOut = async () => view === forManagers && (await viewNow().catch(() => null)) !== view;
    if (c.req.method === 'HEAD') {
      // A stream would stay open, with nobody to read it.
      await statusOf(query.output.job_id, transfers);
      return c.body(null, 200, { 'Content-Type': 'text/event-stream' });
    }
    const viewer = openMailslot();
    const opened = await streams.open(query.output.job_id, client, viewer);
    const response = streamSSE(c, async (stream) => {
      stream.onAbort(viewer.ended);
      let isDue = false;
      const heartbeat = setInterval(() => {
        isDue = true;
        viewer.wake();
      }, STATUS_HEARTBEAT_MS);
      const atMost = setTimeout(viewer.ended, STREAM_AT_MOST_MS);
      // Once the stream is over, doesn't wait for a client that has stopped reading.
      const write = (event: Parameters<typeof stream.writeSSE>[0]) =>
        Promise.race([stream.writeSSE(event), viewer.over]);
      try {
        let shown: TransferStatus | null = null;
        for (let status = opened.status; ; status = await viewer.next(status)) {
          // Ends the stream of a viewer who has been signed out since; the browser then asks again.
          if (isDue && (await isSignedOut())) {
            await write(eventOf('end', null));
            return;
          }
          isDue = false;
          if (status === shown) await write(eventOf('alive', null));
          else await write(eventOf('status', view(status)));
          shown = status;
          if (!goesOn(status)) await write(eventOf('end', null));
          if (!goesOn(status) || viewer.isOver()) return;
        }
      } finally {
        clearInterval(heartbeat);
        clearTimeout(atMost);
        opened.close();
      }
    });
    response.headers.set('X-Accel-Buffering', 'no');
    return response;
  };
}

/** Holds the newest status until it is taken. */
function openMailslot() {
  let newest: TransferStatus | null = null;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let isOver = false;
  let woken = Promise.withResolvers<void>();
  const wake = () => woken.resolve();
  return {
    changed: (status: TransferStatus) => {
      newest = status;
      wake();
    },
    ended: () => {
      isOver = true;
      end();
      wake();
    },
    wake,
    over,
    isOver: () => isOver,
    /** Waits for a change, the end or a heartbeat. */
    next: async (shown: TransferStatus): Promise<TransferStatus> => {
      if (newest === null && !isOver) await woken.promise;
      woken = Promise.withResolvers();
      const status = newest ?? shown;
      newest = null;
      return status;
    },
  };
}
