import type { Socket } from 'node:net';

/** Writes to a client. Each call resolves once the client has taken enough of it for more to be written. */
export type WireWriter = {
  /** A line of Latin-1 text, without its line break. */
  readonly line: (text: string) => Promise<void>;
  readonly write: (chunks: readonly Buffer[]) => Promise<void>;
};

export function wireWriter(socket: Socket): WireWriter {
  const write = async (chunks: readonly Buffer[]) => {
    if (socket.destroyed || !socket.writable) return;
    socket.cork();
    let roomy = true;
    for (const chunk of chunks) roomy = socket.write(chunk);
    socket.uncork();
    if (!roomy) await drained(socket);
  };
  return { write, line: (text) => write([Buffer.from(`${text}\r\n`, 'latin1')]) };
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.once('drain', done);
    socket.once('close', done);
  });
}
