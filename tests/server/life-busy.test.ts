import { setImmediate as later } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { MACHINE_CLOCK, type Clock } from '../../src/server/clock.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';
import { mailWhen, openWorldOfTest, sentOn, statusOf, whenEnded, whenLetGo } from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';

/** What has been written to a socket of this process arrives within fewer turns. */
async function arrived(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await later();
}

test('a transfer whose server was busy for long, and can not be reached once then, goes on', async () => {
  let how: 'well' | 'busy' | 'away' = 'well';
  const world = await openWorldOfTest({
    mail: { INBOX: [letter(1), letter(2)] },
    change: (direction, part) => {
      if (direction !== 'to client' || how === 'well') return part;
      const text = part.toString('latin1');
      return Buffer.from(
        how === 'away'
          ? text.replace(/^\* OK /, '* BYE ')
          : text.replaceAll(/^(\w+) OK .*(?:LOGIN|CAPABILITY|Logged).*$/gim, '$1 NO [INUSE] Too busy.'),
        'latin1',
      );
    },
  });
  const ordered = await world.order();
  how = 'busy';
  await using _worker = await world.work();
  const { database, queue } = world.web;
  const reasons: unknown[] = [];
  for (let run = 1; run <= 4; run += 1) {
    const { waiting } = await mailWhen(
      world,
      ordered,
      (mail) => mail.waiting !== undefined || mail.finished !== undefined,
    );
    reasons.push(waiting?.reason);
    if (run === 3) how = 'away';
    if (run === 4) how = 'well';
    // The third run is one more in a row than ends any other transfer, and none of them counts against the fourth.
    const idleRuns = run === 2 ? 27 : null;
    const [kept] = await database.query<{ idle_runs: number }>(
      "select idle_runs from operations where operation = 'emailmigration'",
    );
    // On a busy machine the worker may have come back by itself meanwhile.
    expect(kept?.idle_runs).toBeLessThan(20);
    await whenLetGo(world, ordered);
    await database.query('update operations set waiting_reason = null, idle_runs = coalesce($1, idle_runs)', [
      idleRuns,
    ]);
    await queue.send(ordered.id);
  }
  expect(reasons).toEqual(['busy', 'busy', 'busy', 'unreachable']);
  expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 2 });
  expect((await statusOf(world, ordered)).emailmigration).not.toHaveProperty('failure');
});

test('a mailbox that Exchange lets nobody read by IMAP is left to its owner after hours, and not waited for without end', async () => {
  let isAllowed = true;
  const asked = new Set<string>();
  const world = await openWorldOfTest({
    mail: { INBOX: [letter(1)] },
    change: (direction, part) => {
      const text = part.toString('latin1');
      if (direction !== 'to client') {
        for (const [, tag = ''] of text.matchAll(/^(\w+) (?:NAMESPACE|LIST|STATUS|SELECT|EXAMINE)\b/gim))
          asked.add(tag);
        return part;
      }
      return Buffer.from(
        text.replaceAll(/^(\w+) OK .*$/gm, (line, tag: string) =>
          asked.delete(tag) && !isAllowed ? `${tag} BAD User is authenticated but not connected.\r` : line,
        ),
        'latin1',
      );
    },
  });
  const ordered = await world.order();
  isAllowed = false;
  await using _worker = await world.work();
  const { database, queue } = world.web;
  for (const before of [20, 27]) {
    const { waiting } = await mailWhen(world, ordered, (mail) => mail.waiting !== undefined);
    expect(waiting?.reason).toBe('busy');
    const [kept] = await database.query<{ idle_runs: number }>('select idle_runs from operations');
    expect(kept?.idle_runs).toBe(before === 20 ? 1 : 21);
    await whenLetGo(world, ordered);
    await database.query('update operations set waiting_reason = null, idle_runs = $1', [before]);
    await queue.send(ordered.id);
  }
  const { attention } = await mailWhen(world, ordered, (mail) => mail.attention !== undefined);
  expect(attention).toMatchObject({ side: 'destination', reason: 'refused' });
});

test.each(['[UNAVAILABLE] Not now.', 'Not now.'])(
  'mailboxes that a server refuses to open are waited for, and reported after four waits: NO %s',
  async (says) => {
    for (const passes of [true, false]) {
      let isWell = false;
      /** Tags of the commands that are refused. */
      const opening = new Set<string>();
      const world = await openWorldOfTest({
        mail: { INBOX: [letter(1), letter(2)] },
        change: (direction, part) => {
          const text = part.toString('latin1');
          if (direction !== 'to client') {
            for (const [, tag = ''] of text.matchAll(/^(\w+) (?:EXAMINE|SELECT) /gim)) opening.add(tag);
            return part;
          }
          const refused = text.replaceAll(/^(\w+) OK .*$/gm, (line, tag: string) =>
            !isWell && opening.delete(tag) ? `${tag} NO ${says}\r` : line,
          );
          return Buffer.from(refused, 'latin1');
        },
      });
      const ordered = await world.order();
      await using _worker = await world.work();
      const reasons = await sentOn(world, ordered, passes ? 3 : 30);
      isWell = passes;
      expect(new Set(reasons)).toEqual(new Set(['busy']));
      await sentOn(world, ordered);
      const { status, done } = await whenEnded(world, ordered);
      const [{ refusal_waits: waits } = {}] = await world.web.database.query<{ refusal_waits: number }>(
        'select refusal_waits from operations',
      );
      expect({ status, done, isLast: waits === 4 }).toEqual(
        passes ? { status: 'completed', done: 2, isLast: false } : { status: 'review', done: 0, isLast: true },
      );
    }
  },
);

test('messages that a destination refuses without a reason for a while are stored after all', async () => {
  for (const passes of [true, false]) {
    let isWell = false;
    const appending = new Set<string>();
    let refused = 0;
    const world = await openWorldOfTest({
      mail: { INBOX: [letter(1), letter(2), letter(3)], Family: [letter(4)] },
      change: (direction, part) => {
        const text = part.toString('latin1');
        if (direction !== 'to client') {
          for (const [, tag = ''] of text.matchAll(/^(\w+) APPEND "?Family/gim)) appending.add(tag);
          // So that nothing is stored by the server behind.
          return isWell
            ? part
            : Buffer.from(text.replaceAll(/^(\w+) APPEND "?Family"?/gim, '$1 APPEND "Famine"'), 'latin1');
        }
        return Buffer.from(
          text.replaceAll(/^(\w+) NO .*$/gm, (line, tag: string) => {
            if (isWell || !appending.delete(tag)) return line;
            refused += 1;
            return `${tag} NO System Error (Failure)\r`;
          }),
          'latin1',
        );
      },
    });
    const ordered = await world.order();
    await using _worker = await world.work();
    expect(await sentOn(world, ordered, 2)).toEqual(['busy', 'busy']);
    isWell = passes;
    await sentOn(world, ordered);
    const mail = await whenEnded(world, ordered);
    expect(refused).toBeGreaterThan(passes ? 0 : 2);
    expect(mail).toMatchObject({ status: 'completed', done: 4, lost: 0, duplicated: 0, changed: 0 });
    expect(mail.skipped ?? []).toHaveLength(passes ? 0 : 1);
  }
});

test(
  'what a destination stores although it says NO is there once, reported as copied, and not copied again',
  needs('dovecot'),
  async () => {
    let refused = 0;
    const world = await openWorldOfTest({
      dovecots: true,
      mail: { INBOX: Array.from({ length: 30 }, (_, number) => letter(number)), Family: [letter(31), letter(32)] },
      change: (direction, part) => {
        if (direction !== 'to client') return part;
        const text = part.toString('latin1');
        refused += text.split(' OK [APPENDUID').length - 1;
        return Buffer.from(text.replaceAll(/^(\w+) OK \[APPENDUID.*$/gm, '$1 NO System Error (Failure)\r'), 'latin1');
      },
    });
    await using _worker = await world.work();
    for (const order of [1, 2]) {
      const mail = await whenEnded(world, await world.order());
      expect({ order, ...mail }).toMatchObject({ order, status: 'completed', lost: 0, duplicated: 0, changed: 0 });
      expect(mail.skipped ?? []).toEqual([]);
      await using destination = await world.destinationMail();
      expect([await destination.read('INBOX'), await destination.read('Family')].map(({ length }) => length)).toEqual([
        30, 2,
      ]);
    }
    expect(refused).toBeGreaterThan(1);
  },
);

test('a pause that a server asks of one connection is kept by all of them', async () => {
  // Shorter than a lease.
  const PAUSE = 6000;
  const opening = new Set<string>();
  let isAsked = false;
  let passed = 0;
  const elapsed = () => MACHINE_CLOCK.elapsed() + passed;
  const keepers = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  let kept = 0;
  let isQuiet = false;
  /** As soon as the one that was told keeps it, and another. What had been sent before may still arrive. */
  const over = (async () => {
    await keepers[0].promise;
    await arrived();
    isQuiet = true;
    await keepers[1].promise;
    await arrived();
    isQuiet = false;
  })();
  const clock: Clock = {
    ...HASTY_CLOCK,
    elapsed,
    after: (milliseconds, run) => {
      if (milliseconds <= PAUSE / 2 || milliseconds > PAUSE) return HASTY_CLOCK.after(milliseconds, run);
      keepers[kept]?.resolve();
      kept += 1;
      const until = elapsed() + milliseconds;
      let isCalledOff = false;
      void (async () => {
        await over;
        if (isCalledOff) return;
        passed = Math.max(passed, until - MACHINE_CLOCK.elapsed());
        run();
      })();
      return () => {
        isCalledOff = true;
      };
    },
  };
  const early: string[] = [];
  const mail = Object.fromEntries(['INBOX', 'A', 'B', 'C'].map((name) => [name, [letter(1), letter(2), letter(3)]]));
  const world = await openWorldOfTest({
    mail,
    change: (direction, part) => {
      const text = part.toString('latin1');
      if (direction !== 'to client') {
        if (isQuiet) early.push(...text.split('\r\n').filter((line) => /^A\d+ (?!LOGOUT)/.test(line)));
        // The inbox is copied alone.
        for (const [, tag = ''] of text.matchAll(/^(\w+) SELECT "?[ABC]\b/gim)) opening.add(tag);
        return part;
      }
      return Buffer.from(
        text.replaceAll(/^(\w+) OK .*$/gm, (line, tag: string) => {
          if (isAsked || !opening.delete(tag)) return line;
          isAsked = true;
          return `${tag} NO [THROTTLED] Suggested Backoff Time: ${PAUSE} milliseconds\r`;
        }),
        'latin1',
      );
    },
  });
  const ordered = await world.order();
  await using _worker = await world.work({ clock });
  expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 12 });
  expect(kept).toBeGreaterThan(1);
  expect(early).toEqual([]);
});
