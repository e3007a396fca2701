import { Duplex } from 'node:stream';
import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Outgoing } from '../../src/server/mail/imap/wire/outgoing.ts';
import { Silence } from '../../src/server/mail/imap/wire/silence.ts';

/** Milliseconds that a server may be silent, and that it takes for a kilobyte. */
const [SILENCE, A_KILOBYTE] = [180_000, 500];

/** A clock that goes on by what is written, and a socket that tells when the octets are gone. */
function slowSocket() {
  let now = 0;
  const timers = new Set<{ readonly at: number; readonly run: () => void }>();
  const written: Buffer[] = [];
  const take = async (octets: Buffer, done: () => void) => {
    await later();
    for (let at = 0; at < octets.length; at += 1000) {
      now += A_KILOBYTE;
      for (const timer of timers) if (timer.at <= now && timers.delete(timer)) timer.run();
    }
    written.push(Buffer.from(octets));
    done();
  };
  const socket = new Duplex({
    read: () => {},
    write: (octets: Buffer, _, done) => void take(octets, done),
    writev: (all, done) => void take(Buffer.concat(all.map(({ chunk }) => chunk as Buffer)), done),
  });
  const clock = {
    now: () => now,
    elapsed: () => now,
    after: (milliseconds: number, run: () => void) => {
      const timer = { at: now + milliseconds, run };
      timers.add(timer);
      return () => void timers.delete(timer);
    },
  };
  return { socket, clock, written };
}

test('a server that takes a large piece slowly is not given up, and gets all of it in its order', async () => {
  const { socket, clock, written } = slowSocket();
  const given: string[] = [];
  const silence = new Silence({
    clock,
    limit: SILENCE,
    waitsFor: () => (outgoing.isStuck ? 'them' : 'nobody'),
    tooLong: () => given.push('given up'),
  });
  const outgoing = new Outgoing(socket, { mayWrite: () => true, silence, silenced: () => given.push('silenced') });
  const piece = Buffer.from(Array.from({ length: 1_000_000 }, (_, at) => (at * at + (at >> 8)) % 251));
  // All of it takes longer than a server may be silent.
  expect((piece.length / 1000) * A_KILOBYTE).toBeGreaterThan(2 * SILENCE);
  await outgoing.pass(piece);
  expect(given).toEqual([]);
  expect(Buffer.concat(written).equals(piece)).toBe(true);
});
