import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { installed } from './installed.ts';

/** The program from Debian's package radicale, or `null`; tests that need it are then skipped. */
export const RADICALE = installed('radicale');

const START_TRIES = 100;

export type Radicale = AsyncDisposable & {
  /** The server's root, such as `http://127.0.0.1:12345/`. */
  readonly url: string;
  /** Creates an address book for a user of the server. @returns its address */
  makeBook(user: string, book: string): Promise<string>;
  put(bookUrl: string, user: string, name: string, card: string): Promise<void>;
  /** The cards of a book, as the server has stored them on its disk. */
  cards(user: string, book: string): Promise<string[]>;
};

/** Starts a CardDAV server of its own. */
export async function startRadicale(
  users: readonly string[],
  passwordFor: (user: string) => string = passwordOf,
): Promise<Radicale> {
  if (RADICALE === null) throw new Error('radicale is not installed');
  const folder = await mkdtemp(join(tmpdir(), 'radicale-'));
  const port = await freePort();
  await writeFile(join(folder, 'users'), users.map((user) => `${user}:${passwordFor(user)}\n`).join(''));
  await writeFile(
    join(folder, 'config'),
    [
      `[server]\nhosts = 127.0.0.1:${port}`,
      `[auth]\ntype = htpasswd\nhtpasswd_filename = ${folder}/users\nhtpasswd_encryption = plain\ndelay = 0`,
      `[storage]\nfilesystem_folder = ${folder}/store`,
      '[logging]\nlevel = error',
    ].join('\n'),
  );
  const server = spawn(RADICALE, ['--config', join(folder, 'config')], { stdio: 'ignore' });
  const ended = once(server, 'exit');
  const url = `http://127.0.0.1:${port}/`;
  for (let attempt = 1; !(await answers(url)); attempt += 1) {
    if (attempt > START_TRIES || server.exitCode !== null) throw new Error('radicale did not start');
    await delay(100);
  }

  return {
    url,
    async makeBook(user, book) {
      const address = `${url}${encodeURIComponent(user)}/${book}/`;
      const type = '<d:resourcetype><d:collection/><c:addressbook/></d:resourcetype>';
      const body = `<?xml version="1.0"?><d:mkcol xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:carddav"><d:set><d:prop>${type}</d:prop></d:set></d:mkcol>`;
      await send(user, passwordFor(user), 'MKCOL', address, body, 'application/xml');
      return address;
    },
    put: (bookUrl, user, name, card) =>
      send(user, passwordFor(user), 'PUT', `${bookUrl}${name}`, card, 'text/vcard; charset=utf-8'),
    async cards(user, book) {
      const path = join(folder, 'store/collection-root', user, book);
      const names = (await readdir(path)).filter((name) => !name.startsWith('.Radicale'));
      return Promise.all(names.map((name) => readFile(join(path, name), 'utf8')));
    },
    async [Symbol.asyncDispose]() {
      server.kill();
      await ended;
      await rm(folder, { recursive: true });
    },
  };
}

async function send(
  user: string,
  password: string,
  method: string,
  address: string,
  body: string,
  type: string,
): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
  const answer = await fetch(address, { method, body, headers: { authorization, 'content-type': type } });
  if (!answer.ok) throw new Error(`radicale answers ${answer.status} to ${method}: ${await answer.text()}`);
}

export function passwordOf(user: string): string {
  return `password of ${user}`;
}

async function answers(url: string): Promise<boolean> {
  try {
    await fetch(url, { redirect: 'manual' });
    return true;
  } catch {
    return false;
  }
}
