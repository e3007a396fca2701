import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isEmail } from '../contract/email-address.ts';
import type { ImapHouse } from './imap/session.ts';
import { serveImap } from './imap/session.ts';
import { ImapRefusal } from './imap/refusal.ts';
import { listen } from './listen.ts';
import { MailAccount, type SeedMailbox } from './mail-account.ts';
import { createServer, type Socket } from 'node:net';

const ENDING = '.journal';
const LONGEST_FILE_NAME = 200;
const MOST_CONNECTIONS = 200;

export type MailServerOptions = Pick<ImapHouse, 'greeting' | 'delimiter' | 'door'> & {
  /** Holds a journal for each account. */
  readonly folder: string;
  readonly port: number;
  readonly seed: (email: string) => readonly SeedMailbox[];
};

export type MailServer = AsyncDisposable & {
  readonly port: number;
  /** The account of an address, created on first use. @throws {ImapRefusal} when it is not an email address. */
  readonly account: (email: string) => MailAccount;
  /** The addresses that have an account, sorted. */
  readonly accounts: () => readonly string[];
};

/** An IMAP server on the loopback address, with an account for each address that can sign in. */
export async function startMailServer(options: MailServerOptions): Promise<MailServer> {
  const { folder, seed, port } = options;
  const accounts = new Map<string, MailAccount>();
  const account = (email: string) => {
    const address = email.toLowerCase();
    const open = accounts.get(address);
    if (open !== undefined) return open;
    const name = encodeURIComponent(address) + ENDING;
    if (!isEmail(address) || name.length > LONGEST_FILE_NAME)
      throw new ImapRefusal('NO', '[CANNOT] There can be no account for this address');
    const opened = MailAccount.open(join(folder, name), seed(address));
    accounts.set(address, opened);
    return opened;
  };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    serveImap(socket, { ...options, account }).catch((error: unknown) => {
      if (!sockets.has(socket) || socket.destroyed) return;
      console.error('The sandbox mail server ended a connection:', error);
      socket.destroy();
    });
  });
  server.maxConnections = MOST_CONNECTIONS;
  const taken = await listen(server, port);
  return {
    port: taken,
    account,
    accounts: () =>
      (existsSync(folder) ? readdirSync(folder) : [])
        .filter((name) => name.endsWith(ENDING))
        .map((name) => decodeURIComponent(name.slice(0, -ENDING.length)))
        .toSorted(),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
      for (const open of accounts.values()) open[Symbol.dispose]();
    },
  };
}
