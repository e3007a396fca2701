import { expect, test } from 'vitest';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';
import { type LifeWorld, mailWhen, openWorldOfTest, type Ordered, statusOf, whenEnded } from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';

test(
  'a transfer whose server was busy for long, and can not be reached once then, goes on',
  { timeout: 60_000 },
  async () => {
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
    await using _worker = await world.work({ clock: HASTY_CLOCK });
    const { database, queue } = world.web;
    const reasons: unknown[] = [];
    for (let run = 1; run <= 30; run += 1) {
      const { waiting } = await mailWhen(
        world,
        ordered,
        (mail) => mail.waiting !== undefined || mail.finished !== undefined,
      );
      reasons.push(waiting?.reason);
      if (run === 29) how = 'away';
      if (run === 30) how = 'well';
      await database.query('update operations set waiting_reason = null');
      await queue.send(ordered.id);
    }
    expect(reasons).toEqual([...Array.from({ length: 29 }, () => 'busy'), 'unreachable']);
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 2 });
    expect((await statusOf(world, ordered)).emailmigration).not.toHaveProperty('failure');
  },
);

/** A worker that is sent on again each time it waits: so often, or until the transfer ends. */
async function runsOf(world: LifeWorld, ordered: Ordered, most: number): Promise<readonly unknown[]> {
  const { database, queue } = world.web;
  const reasons: unknown[] = [];
  while (reasons.length < most) {
    const mail = await mailWhen(
      world,
      ordered,
      ({ waiting, finished }) => waiting !== undefined || finished !== undefined,
    );
    if (mail.finished !== undefined) break;
    reasons.push(mail.waiting?.reason);
    await database.query('update operations set waiting_reason = null');
    await queue.send(ordered.id);
  }
  return reasons;
}

test.each(['[UNAVAILABLE] Not now.', 'Not now.'])(
  'mailboxes that a server lets nobody open are waited for, and after eight runs told: NO %s',
  { timeout: 60_000 },
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
      await using _worker = await world.work({ clock: HASTY_CLOCK });
      const reasons = await runsOf(world, ordered, passes ? 3 : 30);
      isWell = passes;
      expect(reasons).toEqual(Array.from({ length: passes ? 3 : 7 }, () => 'busy'));
      const { status, done } = await whenEnded(world, ordered);
      expect({ status, done }).toEqual(passes ? { status: 'completed', done: 2 } : { status: 'review', done: 0 });
    }
  },
);
