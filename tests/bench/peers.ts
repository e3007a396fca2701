import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installed } from '../support/installed.ts';
import { run } from '../support/run.ts';
import { SHARED_BENCH } from './mailboxes.ts';

/** Where a peer finds an account; `certificate` is a file, and then TLS is spoken. */
export type PeerAccount = { readonly port: number; readonly user: string; readonly certificate?: string };

/** What copies a mailbox; answers milliseconds. */
export type Peer = (source: PeerAccount, destination: PeerAccount) => Promise<number>;

/** The bare client of the same room as the project, which knows the happy path only. */
const YARDSTICK = join(SHARED_BENCH, 'raw-grouped.mjs');

/** `null` where it is not installed. */
export function mbsyncWith(password: string): Peer | null {
  const program = installed('mbsync');
  if (program === null) return null;
  const store = (name: string, { port, user, certificate }: PeerAccount) => {
    const host = certificate === undefined ? '127.0.0.1' : 'localhost';
    const tls = certificate === undefined ? 'SSLType None' : `SSLType IMAPS\nCertificateFile ${certificate}`;
    return `IMAPAccount ${name}\nHost ${host}\nPort ${port}\nUser ${user}\nPass ${password}\n${tls}\nAuthMechs LOGIN\n\nIMAPStore ${name}\nAccount ${name}\n\n`;
  };
  return async (source, destination) => {
    const folder = await mkdtemp(join(tmpdir(), 'mbsync-'));
    await writeFile(
      join(folder, 'rc'),
      `${store('from', source)}${store('to', destination)}Channel all\nFar :from:\nNear :to:\nPatterns *\nCreate Near\nSync Pull\nExpunge None\nCopyArrivalDate yes\nSyncState ${folder}/\n`,
    );
    const began = performance.now();
    await run(program, ['-q', '-c', join(folder, 'rc'), '-a']);
    const ms = performance.now() - began;
    await rm(folder, { recursive: true, force: true });
    return ms;
  };
}

/** Reads all octets of an account and does nothing with them. `null` where it is not there; it knows one password. */
export function reading(): ((account: PeerAccount) => Promise<unknown>) | null {
  const program = join(SHARED_BENCH, 'fetch-all.mjs');
  if (!existsSync(program)) return null;
  return ({ port, user, certificate }) => {
    const how = [
      '--conns',
      '2',
      '--mode',
      'discard',
      '--buf',
      '262144',
      ...(certificate === undefined ? [] : ['--tls']),
    ];
    return run(process.execPath, [program, '--port', `${port}`, '--user', user, ...how]);
  };
}

/** `null` where it is not there. It knows one password, and no TLS. @param databases each run has a new one */
export function yardstick(databases: { create(): Promise<string> }): Peer | null {
  if (!existsSync(YARDSTICK)) return null;
  return async (source, destination) => {
    const ports = ['--srcPort', `${source.port}`, '--dstPort', `${destination.port}`];
    const users = ['--srcUser', source.user, '--dstUser', destination.user];
    const rest = ['--db', await databases.create(), '--conns', '4'];
    const told = await run(process.execPath, [YARDSTICK, ...ports, ...users, ...rest]);
    return (JSON.parse(told.toString().trim().split('\n').at(-1) ?? '') as { seconds: number }).seconds * 1000;
  };
}
