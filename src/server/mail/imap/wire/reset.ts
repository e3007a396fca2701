import type { Duplex } from 'node:stream';

/** Node's internal handle of a socket. That of TLS has the socket's own as its parent. */
type Handle = { readonly reset?: (done: () => void) => number; readonly _parent?: Handle };

/**
 * Closes a socket so that nothing of what was written leaves this machine any more. After a mere close, the kernel goes
 * on sending the megabytes that it holds for as long as the other side takes to read them. Node's `resetAndDestroy`
 * waits until everything is written, which a slow side prevents, and does not support TLS. A stream that is no socket
 * is only destroyed.
 */
export function reset(socket: Duplex): void {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null };
  const below = handle?._parent ?? handle;
  below?.reset?.(() => {});
  socket.destroy();
}
