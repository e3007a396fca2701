import { Duplex } from 'node:stream';
import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
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

/** What is written to a socket that takes one write at a time, each when it is told to. */
function guarding() {
  const { clock } = slowSocket();
  const taken: string[] = [];
  const dones: (() => void)[] = [];
  const socket = new Duplex({
    read: () => {},
    write: (octets: Buffer, _, done) => {
      taken.push(octets.toString());
      dones.push(done);
    },
  });
  const silenced: string[] = [];
  const lease = { isHeld: true };
  const silence = new Silence({ clock, limit: SILENCE, waitsFor: () => 'nobody', tooLong: () => {} });
  const outgoing = new Outgoing(socket, {
    mayWrite: () => lease.isHeld,
    silence,
    silenced: ({ message }) => silenced.push(message),
  });
  const takeAll = async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      for (const done of dones.splice(0)) done();
      await later();
    }
  };
  return { outgoing, lease, taken, silenced, takeAll };
}

test('what is guarded is asked for once more when it leaves, and does not where the lease was lost meanwhile', async () => {
  const { outgoing, lease, taken, silenced, takeAll } = guarding();
  outgoing.write('A1 APPEND', true);
  lease.isHeld = false;
  await takeAll();
  expect([taken, silenced]).toEqual([[], ['This worker may not write any more.']]);
  outgoing.write('A2 LOGOUT');
  await takeAll();
  expect(taken).toEqual([]);
});

test('what waits behind a slow socket stays when the lease is lost', async () => {
  const { outgoing, lease, taken, takeAll } = guarding();
  outgoing.write('first', true);
  await later();
  outgoing.write('second', true);
  await later();
  lease.isHeld = false;
  outgoing.write('third', true);
  await takeAll();
  expect(taken).toEqual(['first']);
});

test('what is not guarded leaves without a lease, also after what was', async () => {
  const { outgoing, lease, taken, silenced, takeAll } = guarding();
  outgoing.write('A1 APPEND', true);
  await takeAll();
  lease.isHeld = false;
  outgoing.write('A2 UID EXPUNGE 3');
  await takeAll();
  expect([taken, silenced]).toEqual([['A1 APPEND', 'A2 UID EXPUNGE 3'], []]);
});

test('whoever waits for the socket hears of its end', async () => {
  const { outgoing, taken, takeAll } = guarding();
  const large = outgoing.pass(Buffer.alloc(100_000, 'x'));
  const behind = outgoing.pass(Buffer.alloc(5000, 'y'));
  outgoing.end(new MailError('lost', 'Gone.'));
  await expect(large).rejects.toThrow('Gone.');
  await expect(behind).rejects.toThrow('Gone.');
  await expect(outgoing.pass(Buffer.alloc(100_000))).rejects.toThrow('Gone.');
  await takeAll();
  expect(taken).toEqual(['x'.repeat(100_000)]);
});

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
