import { createServer, type Socket } from 'node:net';
import type { Documents } from './contacts/documents.ts';
import { listen } from './listen.ts';

const SCRIPTS = 'scripts';
const ACTIVE = 'active';
const LARGEST_SCRIPT = 64 * 1024;
const MOST_SCRIPTS = 32;
const LARGEST_COMMAND = 4 * LARGEST_SCRIPT;
const EXTENSIONS = ['copy', 'fileinto', 'imap4flags', 'include', 'mailbox'];

export type ScriptServerOptions = {
  readonly port: number;
  readonly documents: Documents;
  readonly accepts: (email: string, password: string) => boolean;
};

export type ScriptServer = AsyncDisposable & { readonly port: number };

/** A ManageSieve server (RFC 5804) on the loopback address, for everyone who can sign in with a password. */
export async function startScriptServer(options: ScriptServerOptions): Promise<ScriptServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
    serve(socket, options);
  });
  const port = await listen(server, options.port);
  return {
    port,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function serve(socket: Socket, options: ScriptServerOptions): void {
  const session = new Session(options);
  let received = Buffer.alloc(0);
  socket.write(CAPABILITIES);
  socket.on('data', (part: Buffer) => {
    received = Buffer.concat([received, part]);
    for (let read = readCommand(received); read !== null; read = readCommand(received)) {
      received = received.subarray(read.length);
      socket.write(read.words.length === 0 ? 'NO "There is no command."\r\n' : session.perform(read.words));
      if (read.words[0]?.toUpperCase() === 'LOGOUT') socket.end();
    }
    if (received.length > LARGEST_COMMAND) socket.end('BYE "The command is too long."\r\n');
  });
}

const CAPABILITIES = [
  '"IMPLEMENTATION" "Sandbox"',
  '"SASL" "PLAIN"',
  `"SIEVE" "${EXTENSIONS.join(' ')}"`,
  '"MAXREDIRECTS" "4"',
  '"VERSION" "1.0"',
  'OK',
  '',
].join('\r\n');
const OK = 'OK\r\n';

class Session {
  readonly #options: ScriptServerOptions;
  #owner: string | undefined;

  constructor(options: ScriptServerOptions) {
    this.#options = options;
  }

  /** Runs a command and returns the whole response. */
  perform([name = '', ...args]: readonly string[]): string {
    const command = name.toUpperCase();
    if (command === 'CAPABILITY') return CAPABILITIES;
    if (command === 'LOGOUT' || command === 'NOOP') return OK;
    if (command === 'AUTHENTICATE') return this.#signIn(args);
    if (this.#owner === undefined) return 'NO "Sign in first."\r\n';
    return this.#performFor(this.#owner, command, args);
  }

  #signIn([mechanism = '', initial = '']: readonly string[]): string {
    const [, email = '', password = ''] = Buffer.from(initial, 'base64').toString().split('\0');
    const address = email.trim().toLowerCase();
    if (mechanism.toUpperCase() !== 'PLAIN') return 'NO "This mechanism is not known here."\r\n';
    if (!this.#options.accepts(address, password)) return 'NO "The address or the password is wrong."\r\n';
    this.#owner = address;
    return OK;
  }

  #performFor(owner: string, command: string, [name = '', text = '']: readonly string[]): string {
    const { documents } = this.#options;
    const scripts = documents.all(owner, SCRIPTS) as ReadonlyMap<string, string>;
    const active = documents.all(owner, ACTIVE).get(ACTIVE);
    const script = scripts.get(name);
    switch (command) {
      case 'LISTSCRIPTS':
        return (
          [...scripts.keys()].map((each) => `${quoted(each)}${each === active ? ' ACTIVE' : ''}\r\n`).join('') + OK
        );
      case 'GETSCRIPT':
        return script === undefined ? NONE : `{${Buffer.byteLength(script)}}\r\n${script}\r\n${OK}`;
      case 'CHECKSCRIPT':
        return faultOf(name) ?? OK;
      case 'HAVESPACE':
        return Number(text) > LARGEST_SCRIPT ? FULL : OK;
      case 'PUTSCRIPT': {
        if (name === '') return 'NO "A script has a name."\r\n';
        if (text.length > LARGEST_SCRIPT || (script === undefined && scripts.size >= MOST_SCRIPTS)) return FULL;
        const fault = faultOf(text);
        if (fault === null) documents.put(owner, SCRIPTS, name, text);
        return fault ?? OK;
      }
      case 'SETACTIVE':
        if (name === '') documents.remove(owner, ACTIVE, ACTIVE);
        else if (script === undefined) return NONE;
        else documents.put(owner, ACTIVE, ACTIVE, name);
        return OK;
      case 'DELETESCRIPT':
        if (script === undefined) return NONE;
        if (name === active) return 'NO (ACTIVE) "The active script stays."\r\n';
        documents.remove(owner, SCRIPTS, name);
        return OK;
      default:
        return 'NO "This command is not known here."\r\n';
    }
  }
}

const NONE = 'NO (NONEXISTENT) "There is no such script."\r\n';
const FULL = 'NO (QUOTA/MAXSIZE) "There is no room for this script."\r\n';

/** Nothing here runs scripts, so only the extensions that they require are checked. */
function faultOf(script: string): string | null {
  const required = [...script.matchAll(/^require\s+([^;]{1,1000});/gim)].flatMap(([, list = '']) =>
    [...list.matchAll(/"([^"]{1,100})"/g)].map(([, extension = '']) => extension),
  );
  const unknown = required.find((extension) => !EXTENSIONS.includes(extension));
  return unknown === undefined ? null : `NO ${quoted(`The extension ${unknown} is not known here.`)}\r\n`;
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}

/** The words of a command: atoms, quoted strings and literals (RFC 5804 §4); `null` while it is incomplete. */
function readCommand(octets: Buffer): { words: readonly string[]; length: number } | null {
  const words: string[] = [];
  let at = 0;
  while (at < octets.length) {
    const octet = octets[at];
    if (octet === 0x20) at += 1;
    else if (octet === 0x0d) return octets[at + 1] === 0x0a ? { words, length: at + 2 } : null;
    else {
      const word =
        octet === 0x22 ? readQuoted(octets, at) : octet === 0x7b ? readLiteral(octets, at) : readAtom(octets, at);
      if (word === null) return null;
      words.push(word.text);
      at = word.end;
    }
  }
  return null;
}

type Word = { readonly text: string; readonly end: number };

function readQuoted(octets: Buffer, start: number): Word | null {
  const bytes: number[] = [];
  for (let at = start + 1; at < octets.length; at += 1) {
    if (octets[at] === 0x22) return { text: Buffer.from(bytes).toString(), end: at + 1 };
    if (octets[at] === 0x5c) at += 1;
    bytes.push(octets[at] ?? 0);
  }
  return null;
}

function readLiteral(octets: Buffer, start: number): Word | null {
  const close = octets.indexOf('}\r\n', start);
  const size = close < 0 ? Number.NaN : Number(/^\{(\d{1,9})\+?$/.exec(octets.toString('latin1', start, close))?.[1]);
  const from = close + 3;
  if (Number.isNaN(size) || octets.length < from + size) return null;
  return { text: octets.toString('utf8', from, from + size), end: from + size };
}

function readAtom(octets: Buffer, start: number): Word | null {
  let end = start;
  while (end < octets.length && octets[end] !== 0x20 && octets[end] !== 0x0d) end += 1;
  return end === octets.length ? null : { text: octets.toString('utf8', start, end), end };
}
