import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createHash } from 'node:crypto';

/** A message that a test stores or finds. `date` is an INTERNALDATE, such as `17-Jul-1996 02:44:25 -0700`. */
export type Letter = { readonly bytes: Buffer; readonly flags: readonly string[]; readonly date: string };
export type FoundLetter = {
  readonly uid: number;
  readonly sha256: string;
  readonly size: number;
  /** Sorted, in lower case, without `\recent`. */
  readonly flags: readonly string[];
  /** Seconds since the epoch. */
  readonly date: number;
};

/**
 * A small IMAP client for tests only. It shares no code with the product, so that what the product did is judged
 * independently. Mailbox names are in modified UTF-7, as on the wire.
 */
export type MailClient = AsyncDisposable & {
  command(text: string): Promise<string[]>;
  create(mailbox: string): Promise<void>;
  append(mailbox: string, letters: readonly Letter[]): Promise<void>;
  mailboxes(): Promise<string[]>;
  read(mailbox: string): Promise<FoundLetter[]>;
};

type Piece = { readonly line: string; readonly literals: readonly Buffer[] };

export async function openMailClient(port: number, user: string, password: string): Promise<MailClient> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const pieces = piecesOf(socket);
  let tags = 0;
  const next = async () => {
    const { value, done } = await pieces.next();
    if (done === true) throw new Error('The mail server hung up.');
    return value;
  };
  const send = async (command: string, literal?: Buffer): Promise<Piece[]> => {
    tags += 1;
    const tag = `t${tags}`;
    socket.write(`${tag} ${command}\r\n`);
    const answers: Piece[] = [];
    for (;;) {
      const piece = await next();
      if (piece.line.startsWith('+') && literal !== undefined) {
        socket.write(literal);
        socket.write('\r\n');
      } else if (piece.line.startsWith(`${tag} `)) {
        if (!piece.line.startsWith(`${tag} OK`)) throw new Error(`${command.slice(0, 60)}: ${piece.line}`);
        return answers;
      } else answers.push(piece);
    }
  };
  await next();
  await send(`LOGIN ${quoted(user)} ${quoted(password)}`);
  return {
    command: async (text) => (await send(text)).map((piece) => piece.line),
    create: async (mailbox) => {
      await send(`CREATE ${quoted(mailbox)}`);
      await send(`SUBSCRIBE ${quoted(mailbox)}`);
    },
    append: async (mailbox, letters) => {
      for (const { bytes, flags, date } of letters)
        await send(`APPEND ${quoted(mailbox)} (${flags.join(' ')}) "${date}" {${bytes.length}}`, bytes);
    },
    mailboxes: async () =>
      (await send('LIST "" "*"'))
        .filter((piece) => !/\\Noselect/i.test(piece.line))
        .map((piece) => piece.literals[0]?.toString() ?? nameIn(piece.line))
        .toSorted(),
    read: async (mailbox) => {
      await send(`EXAMINE ${quoted(mailbox)}`);
      const found = await send('UID FETCH 1:* (UID FLAGS INTERNALDATE BODY.PEEK[])').catch((error: unknown) => {
        if (String(error).includes('Invalid')) return [];
        throw error;
      });
      return found.filter((piece) => / FETCH /.test(piece.line)).map(letterIn);
    },
    [Symbol.asyncDispose]: async () => {
      await send('LOGOUT');
      socket.destroy();
    },
  };
}

function letterIn({ line, literals }: Piece): FoundLetter {
  const bytes = literals[0] ?? Buffer.alloc(0);
  const uid = /UID (\d+)/.exec(line)?.[1] ?? '';
  const flags = /FLAGS \(([^)]*)\)/.exec(line)?.[1] ?? '';
  const date = /INTERNALDATE "([^"]+)"/.exec(line)?.[1] ?? '';
  return {
    uid: Number(uid),
    sha256: createHash('sha256').update(bytes).digest('hex'),
    size: bytes.length,
    flags: flags
      .toLowerCase()
      .split(' ')
      .filter((flag) => flag !== '' && flag !== '\\recent')
      .toSorted(),
    date: Date.parse(date) / 1000,
  };
}

export function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, (sign) => `\\${sign}`)}"`;
}

function nameIn(line: string): string {
  const match = /^\* LIST \([^)]*\) (?:NIL|"(?:\\.|[^"])*") (?:"((?:\\.|[^"])*)"|(\S+))/.exec(line);
  return (match?.[1] ?? match?.[2] ?? '').replaceAll(/\\(.)/g, '$1');
}

/** Responses as lines, with their literals separated from them. */
async function* piecesOf(socket: Socket): AsyncGenerator<Piece, void> {
  let buffer = Buffer.alloc(0);
  let line = '';
  let literals: Buffer[] = [];
  let wanted = 0;
  const chunks: Buffer[] = [];
  let gathered = 0;
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    gathered += chunk.length;
    if (buffer.length + gathered < wanted) continue;
    buffer = Buffer.concat([buffer, ...chunks.splice(0)]);
    gathered = 0;
    for (;;) {
      if (wanted > 0 || line.endsWith('\0')) {
        if (buffer.length < wanted) break;
        literals.push(buffer.subarray(0, wanted));
        buffer = buffer.subarray(wanted);
        line = line.slice(0, -1);
        wanted = 0;
      }
      const end = buffer.indexOf('\r\n');
      if (end < 0) break;
      line += buffer.subarray(0, end).toString('latin1');
      buffer = buffer.subarray(end + 2);
      const literal = /\{(\d+)\}$/.exec(line);
      if (literal === null) {
        yield { line, literals };
        line = '';
        literals = [];
      } else {
        line = `${line.slice(0, literal.index)}\0`;
        wanted = Number(literal[1]);
      }
    }
  }
}
