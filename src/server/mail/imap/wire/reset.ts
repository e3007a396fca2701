import type { Duplex } from 'node:stream';

/** What Node keeps of a socket to itself: of TLS, the handle below it. */
type Handle = { readonly reset?: (done: () => void) => number; readonly _parent?: Handle };

/**
 * Closes a socket so that nothing leaves this machine any more of what was written. After a mere close the kernel goes on
 * sending what it holds, megabytes, for as long as the other side takes to read it. Node's `resetAndDestroy` waits until
 * all is written, which a slow side keeps from coming, and knows no TLS. A stream that is no socket is only destroyed.
 */
export function reset(socket: Duplex): void {
  const { _handle: handle } = socket as { readonly _handle?: Handle | null };
  const below = handle?._parent ?? handle;
  below?.reset?.(() => {});
  socket.destroy();
}
