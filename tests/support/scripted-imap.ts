import { duplexPair, type Duplex } from 'node:stream';
import type { Clock } from '../../src/server/clock.ts';
import type { Dial } from '../../src/server/mail/imap/wire.ts';
import { openSession, type SessionOptions } from '../../src/server/mail/imap/wire/session.ts';
import type { ImapConnection } from '../../src/server/mail/imap/wire/imap-connection.ts';

/** A clock that only advances when the test says so. */
export type ManualClock = Clock & { pass(milliseconds: number): void };

export function manualClock(): ManualClock {
  let elapsed = 0;
  const waiting = new Set<{ readonly at: number; readonly run: () => void }>();
  return {
    now: () => elapsed,
    elapsed: () => elapsed,
    after: (milliseconds, run) => {
      const timer = { at: elapsed + milliseconds, run };
      waiting.add(timer);
      return () => waiting.delete(timer);
    },
    pass: (milliseconds) => {
      const until = elapsed + milliseconds;
      for (;;) {
        const next = [...waiting].filter(({ at }) => at <= until).toSorted((a, b) => a.at - b.at)[0];
        if (next === undefined) break;
        waiting.delete(next);
        elapsed = next.at;
        next.run();
      }
      elapsed = until;
    },
  };
}

/** What a scripted server can do in response to a line. `tag` is the line's first word. */
export type Stage = {
  readonly tag: string;
  /** Sends lines, adding their line breaks, or octets verbatim. */
  readonly say: (...lines: (string | Buffer)[]) => void;
  readonly hangUp: () => void;
};
/** Handles each line, without its line break. If it returns `false`, the line gets the usual answer. */
export type Script = (line: string, stage: Stage) => void | false;

export type Scripted = { readonly dial: Dial; readonly clock: ManualClock; readonly lines: string[] };

/** An in-memory server that says what a test wants. Clients' literals arrive as lines. */
export function scriptedServer(
  script: Script,
  {
    greeting = '* OK hello',
    capabilities = 'IMAP4rev1 SASL-IR AUTH=PLAIN',
  }: { greeting?: string; capabilities?: string } = {},
): Scripted {
  const lines: string[] = [];
  const serve = (socket: Duplex) => {
    let held = '';
    socket.write(`${greeting}\r\n`);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      const all = (held + chunk.toString('latin1')).split('\r\n');
      held = all.pop() ?? '';
      for (const line of all) {
        lines.push(line);
        const tag = line.split(' ', 1)[0] ?? '';
        const say = (...said: (string | Buffer)[]) => {
          for (const each of said)
            if (!socket.destroyed) socket.write(typeof each === 'string' ? Buffer.from(`${each}\r\n`, 'latin1') : each);
        };
        const stage: Stage = { tag, say, hangUp: () => socket.end() };
        if (script(line, stage) === false) answerPlainly(line, stage, capabilities);
      }
    });
  };
  return {
    lines,
    clock: manualClock(),
    dial: async () => {
      const [client, server] = duplexPair();
      serve(server);
      return { socket: client };
    },
  };
}

function answerPlainly(line: string, { tag, say }: Stage, capabilities: string): void {
  const [, command = ''] = line.split(' ');
  if (command === 'CAPABILITY') say(`* CAPABILITY ${capabilities}`);
  if (command === 'EXAMINE' || command === 'SELECT')
    say('* 2 EXISTS', '* OK [UIDVALIDITY 7] ok', '* OK [UIDNEXT 90] ok');
  if (command === 'LOGOUT') say('* BYE bye');
  if (/^A\d+$/.test(tag)) say(`${tag} OK done`);
}

export function scriptedSession(
  { dial, clock }: Pick<Scripted, 'dial' | 'clock'>,
  options: Partial<SessionOptions> = {},
): Promise<ImapConnection> {
  return openSession(
    {
      email: 'anna',
      place: { host: 'mail.example', port: 993, security: 'tls', named: 'by operator' },
      credentials: { kind: 'password', password: 'secret' },
    },
    { dial, clock, ...options },
  );
}
