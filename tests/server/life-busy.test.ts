import { expect, test } from 'vitest';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';
import { mailWhen, openWorldOfTest, statusOf, whenEnded } from '../support/life-world.ts';
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
