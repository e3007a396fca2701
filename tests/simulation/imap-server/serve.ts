import { FALLS_SILENT, HANGS_UP, SAYS_GOODBYE, type SimulatedAccount } from '../account.ts';
import type { Chance } from '../chance.ts';
import type { Peer, ServerSide } from '../network.ts';
import type { Scheduler } from '../scheduler.ts';
import { commandsOf } from './commands.ts';
import { BadWords, textOf, wordsOf } from './imap-words.ts';
import type { ServerLoad } from './server-load.ts';
import { type Answer, DAY, Refusal, type Session } from './session.ts';

/** Literals that a server with LITERAL- takes without being asked (RFC 7888 §4). */
const SMALL_LITERAL = 4096;
const LITERAL_MARK = /~?\{(\d+)(\+?)\}$/;
const WORDS =
  /\b(?:FETCH|UID|FLAGS|INTERNALDATE|RFC822\.SIZE|BODY|EXISTS|EXPUNGE|E?SEARCH|ALL|LIST|STATUS|MESSAGES|UIDNEXT|UIDVALIDITY|OK|NO|BAD|BYE|APPENDUID|PERMANENTFLAGS|CAPABILITY|NAMESPACE)\b/g;
const HINT = /Backoff Time: (\d+)/;
/** What had been sent before a hint was heard, in milliseconds. */
const HEARD_WITHIN = 5000;

/** One connection to a simulated IMAP server (RFC 9051, 3501), which does what its account's quirks say. */
export function serve(
  peer: Peer,
  account: SimulatedAccount,
  load: ServerLoad,
  scheduler: Scheduler,
  chance: Chance,
): ServerSide {
  const { quirks } = account;
  let open = true;
  let buffer: Buffer = Buffer.alloc(0);
  let parts: Buffer[] = [];
  let literal: number | null = null;
  let busy = false;
  let commands = 0;
  let waiting: (() => void) | null = null;

  load.connections += 1;
  const close = () => {
    if (!open) return;
    open = false;
    load.connections -= 1;
  };
  const cutOff = () => {
    peer.end();
    close();
  };
  const session: Session = {
    client: peer.client,
    account,
    load,
    scheduler,
    chance,
    selected: null,
    does: (way) => quirks.ways.includes(way),
    send: (...data) => {
      const small = session.does('words in small letters');
      const all = Buffer.concat(
        data.map((each) =>
          typeof each === 'string'
            ? Buffer.from(small ? each.replace(WORDS, (word) => word.toLowerCase()) : each)
            : each,
        ),
      );
      session.count(all.length);
      peer.send(all);
    },
    hangUp: (text) => {
      session.send(`* BYE ${text}\r\n`);
      cutOff();
    },
    cutOff,
    count: (octets) => {
      const day = Math.floor(scheduler.now() / DAY);
      if (load.traffic.day !== day) {
        load.traffic.day = day;
        load.traffic.bytes = 0;
      }
      load.traffic.bytes += octets;
    },
  };
  const later = (tag: string, answer: () => Answer) => {
    waiting = () => finish(tag, answer());
  };
  const { obey, capabilities, update } = commandsOf(session, later);

  /** Takes what has come, as far as it makes whole commands; one at a time. */
  const consume = () => {
    for (;;) {
      if (!open || busy) return;
      if (literal !== null) {
        if (buffer.length < literal) return;
        parts.push(buffer.subarray(0, literal));
        buffer = buffer.subarray(literal);
        literal = null;
      }
      const end = buffer.indexOf('\r\n');
      if (end < 0) return;
      const line = buffer.subarray(0, end);
      buffer = buffer.subarray(end + 2);
      if (waiting !== null) {
        const answer = waiting;
        waiting = null;
        answer();
        continue;
      }
      const mark = LITERAL_MARK.exec(line.toString('latin1', Math.max(0, line.length - 20)));
      if (mark === null) {
        const command = [...parts, line];
        parts = [];
        perform(command);
        continue;
      }
      parts.push(line.subarray(0, line.length - mark[0].length));
      literal = Number(mark[1]);
      if (literal > quirks.breaksOffOver) {
        cutOff();
        return;
      }
      if (mark[2] === '+') {
        const most = { synchronising: -1, minus: SMALL_LITERAL, plus: Infinity }[quirks.literals];
        if (literal > most) {
          session.hangUp('[TOOBIG] That literal is not taken');
          return;
        }
      } else {
        const refusal = earlyRefusal(parts, literal);
        if (refusal === null) session.send('+ Go ahead\r\n');
        else {
          const tag = tagOf(parts);
          parts = [];
          literal = null;
          session.send(`${tag} NO ${refusal}\r\n`);
        }
      }
    }
  };

  /** What a server says before it takes a literal. */
  const earlyRefusal = (parts: readonly Buffer[], size: number): string | null =>
    /^\S+ APPEND /i.test(parts[0]?.toString('latin1') ?? '') && size > quirks.appendLimit && quirks.saysAppendLimit
      ? '[TOOBIG] Too large'
      : null;

  const perform = (command: readonly Buffer[]) => {
    busy = true;
    scheduler.after(quirks.thinking * (0.5 + chance.fraction()), `${peer.client}'s command`, () => {
      if (!open) return;
      const tag = tagOf(command);
      busy = false;
      commands += 1;
      load.commands += 1;
      load.onCommand?.(load.commands);
      const now = scheduler.now();
      const isHeld = load.hints.some(
        ({ client, from, until }) => client === peer.client && from + HEARD_WITHIN < now && now < until,
      );
      if (isHeld && !/^\S+ LOGOUT/i.test(command[0]?.toString('latin1', 0, 20) ?? '')) load.onImpatience?.(peer.client);
      scheduler.note(`${peer.client} says ${command[0]?.toString('latin1', 0, 120)}`);
      if (commands > quirks.goodbyeAfterCommands) {
        session.hangUp('That is enough for this connection');
        return;
      }
      const answer = answered(tag, command);
      if (answer !== null) finish(tag, answer);
      consume();
    });
  };

  const finish = (tag: string, { status, text, thenBye }: Answer) => {
    if (open) update();
    const hint = Number(HINT.exec(text)?.[1] ?? 0);
    if (hint > 0) load.hints.push({ client: peer.client, from: scheduler.now(), until: scheduler.now() + hint });
    if (status !== 'OK') scheduler.note(`${peer.client} gets ${tag} ${status} ${text}`);
    session.send(`${tag} ${status} ${text}\r\n`);
    if (thenBye === true) session.hangUp('Bye');
  };

  const answered = (tag: string, command: readonly Buffer[]): Answer | null => {
    try {
      const [, verb, ...words] = wordsOf(command);
      const name = textOf(verb).toUpperCase();
      if (name === 'UID') return obey(`UID ${textOf(words[0]).toUpperCase()}`, words.slice(1), tag);
      return obey(name, words, tag);
    } catch (error) {
      if (error instanceof Refusal && error.message.includes(FALLS_SILENT)) {
        // Nor does it answer anything that comes after it.
        busy = true;
        return null;
      }
      if (error instanceof Refusal && error.message.includes(SAYS_GOODBYE)) {
        session.hangUp('Fatal error: Internal error');
        return null;
      }
      if (error instanceof Refusal && error.message.includes(HANGS_UP)) {
        cutOff();
        return null;
      }
      if (error instanceof Refusal) return { status: error.status, text: error.message };
      if (error instanceof BadWords) return { status: 'BAD', text: error.message };
      throw error;
    }
  };

  session.send(`* OK [CAPABILITY ${capabilities()}] Ready\r\n`);
  return {
    receive: (data) => {
      if (!open) return;
      buffer = buffer.length === 0 ? data : Buffer.concat([buffer, data]);
      consume();
    },
    closed: close,
  };
}

function tagOf(parts: readonly Buffer[]): string {
  return /^\S+/.exec(parts[0]?.toString('latin1') ?? '')?.[0] ?? '*';
}
