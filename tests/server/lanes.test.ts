import { describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { openStream, workOf } from '../../src/server/mail/copy/lanes/lane-work.ts';
import { type LaneSession, openLanes } from '../../src/server/mail/copy/lanes/lanes.ts';
import { LONGEST_PAUSE_MS } from '../../src/server/mail/imap/hold.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';

/** A clock whose waits are over at once. */
const CLOCK = {
  ...MACHINE_CLOCK,
  after: (_: number, run: () => void) => {
    queueMicrotask(run);
    return () => {};
  },
};

function late(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Opens sessions, and counts those that stand. */
function opening() {
  const counts = { opened: 0, standing: 0, most: 0 };
  const open = async () => {
    counts.opened += 1;
    counts.standing += 1;
    counts.most = Math.max(counts.most, counts.standing);
    return {
      [Symbol.asyncDispose]: async () => {
        counts.standing -= 1;
      },
    };
  };
  return { counts, open };
}

test('what a lane gave back before it was closed for want of connections is worked on by another one', async () => {
  let allowed = 2;
  const done: string[] = [];
  const session = { [Symbol.asyncDispose]: async () => {} };
  await using lanes = openLanes({
    size: 2,
    open: () => late().then(() => session),
    clock: CLOCK,
    signal: new AbortController().signal,
    moved: () => done.length,
  });
  await lanes.work(
    workOf(['short', 'refused']),
    async (item) => {
      if (item === 'refused' && allowed === 2) {
        allowed = 1;
        throw new MailError('busy', 'Too many simultaneous connections');
      }
      done.push(item);
    },
    () => allowed,
  );
  expect(done).toEqual(['short', 'refused']);
});

describe('lanes', () => {
  const options = { clock: CLOCK, signal: new AbortController().signal, moved: () => 0 };

  test('join in once more of them are allowed', async () => {
    let allowed = 1;
    const { counts, open } = opening();
    const grows = Promise.withResolvers<void>();
    const both = Promise.withResolvers<void>();
    await using lanes = openLanes({ ...options, size: 2, open });
    let working = 0;
    await lanes.work(
      workOf([1, 2]),
      async () => {
        working += 1;
        if (working === 2) both.resolve();
        allowed = 2;
        grows.resolve();
        // Neither ends before the other one has begun.
        await both.promise;
      },
      () => allowed,
      grows.promise,
    );
    expect([working, counts.most]).toEqual([2, 2]);
  });

  test('that wait for more to be allowed end with the work', async () => {
    const { counts, open } = opening();
    await using lanes = openLanes({ ...options, size: 3, open });
    const done: number[] = [];
    await lanes.work(
      workOf([1, 2]),
      async (item) => void done.push(item),
      () => 1,
      new Promise(() => {}),
    );
    expect([done, counts.most]).toEqual([[1, 2], 1]);
  });

  test('work over the sessions that were made ready, and close each of them', async () => {
    const { counts, open } = opening();
    {
      await using lanes = openLanes({ ...options, size: 2, open });
      lanes.warm(2);
      await lanes.work(workOf([1, 2, 3]), async () => {});
      lanes.warm(2);
    }
    expect(counts).toEqual({ opened: 2, standing: 0, most: 2 });
  });

  test('leave what waits to those whose session is open, and wait for no other', async () => {
    const { open } = opening();
    const first = Promise.withResolvers<void>();
    let opened = 0;
    await using lanes = openLanes({
      ...options,
      size: 2,
      open: async () => {
        opened += 1;
        if (opened === 1) await first.promise;
        return open();
      },
    });
    const done: number[] = [];
    await lanes.work(workOf([1, 2, 3]), async (item) => void done.push(item));
    first.resolve();
    expect(done).toEqual([1, 2, 3]);
  });

  test('retry what failed while nothing else was waiting', async () => {
    const { open } = opening();
    await using lanes = openLanes({ ...options, size: 2, open: () => late().then(open) });
    const tries: number[] = [];
    await lanes.work(workOf([1]), async (item) => {
      tries.push(item);
      // The other lane comes, and finds nothing.
      await late().then(late);
      if (tries.length === 1) throw new MailError('lost', 'The connection is gone.');
    });
    expect(tries).toEqual([1, 1]);
  });

  test('give their open sessions to others, except ended ones, and close the rest', async () => {
    const { counts, open } = opening();
    let opened = 0;
    await using lanes = openLanes({
      ...options,
      size: 3,
      open: async () => ({ ...(await open()), isOver: (opened += 1) === 1 }),
    });
    lanes.warm(3);
    await late();
    const given = await lanes.giveAway(1);
    expect([given.length, given[0]?.isOver, counts.standing]).toEqual([1, false, 1]);
    await using others = openLanes({
      ...options,
      size: 2,
      open: async (): Promise<(typeof given)[number]> => {
        throw new Error('None is needed.');
      },
    });
    await others.takeOver(given);
    const done: number[] = [];
    await others.work(
      workOf([1, 2]),
      async (item) => void done.push(item),
      () => 1,
    );
    expect([done, counts]).toEqual([[1, 2], { opened: 3, standing: 1, most: 3 }]);
  });

  test('replace a session that has ended during its work, without counting a failed try', async () => {
    const { counts, open } = opening();
    const pauses: number[] = [];
    const session = async () => {
      const state: LaneSession & { isOver: boolean } = { ...(await open()), isOver: false };
      return state;
    };
    const clock = { ...CLOCK, after: (wait: number, run: () => void) => (pauses.push(wait), CLOCK.after(wait, run)) };
    await using lanes = openLanes({
      ...options,
      clock,
      size: 1,
      open: session,
    });
    const done: number[] = [];
    await lanes.work(workOf([1, 2]), async (item, session) => {
      if (session.isOver) throw new MailError('lost', 'The connection is gone.');
      done.push(item);
      session.isOver = true;
    });
    expect([done, counts.opened, counts.most, pauses]).toEqual([[1, 2], 2, 1, []]);
  });

  test('try again to open a session that could not be made ready', async () => {
    const { counts, open } = opening();
    let refusals = 1;
    await using lanes = openLanes({
      ...options,
      size: 1,
      open: async () => {
        refusals -= 1;
        if (refusals >= 0) throw new MailError('busy', 'Too many simultaneous connections');
        return open();
      },
    });
    lanes.warm(1);
    const done: number[] = [];
    await lanes.work(workOf([1]), async (item) => void done.push(item));
    expect([done, counts.opened]).toEqual([[1], 1]);
  });
});

test('items that can be joined wait as one, with their combined weight', async () => {
  const stream = openStream<readonly number[]>({
    weightOf: (items) => items.length,
    areAlike: () => true,
    join: (waiting, items) => (waiting.length + items.length > 3 ? null : [...waiting, ...items]),
  });
  for (const items of [[1, 2], [3], [4, 5, 6], [7]]) stream.push(items);
  expect(stream.length()).toBe(3);
  let shrunk = false;
  const shrinking = (async () => {
    await stream.shrunk(4);
    shrunk = true;
  })();
  const first = await stream.next();
  expect(first).toEqual([1, 2, 3]);
  await shrinking;
  expect(shrunk).toBe(true);
  if (first !== null) stream.giveBack(first);
  stream.end();
  const all = [];
  for (let next = await stream.next(); next !== null; next = await stream.next()) all.push(next);
  expect(all).toEqual([[1, 2, 3], [4, 5, 6], [7]]);
});

test('what waits can be cut, and is taken in parts', async () => {
  const stream = openStream<readonly number[]>({
    weightOf: (items) => items.length,
    areAlike: () => true,
    join: (waiting, items) => [...waiting, ...items],
  });
  for (const items of [[1, 2], [3]]) stream.push(items);
  stream.replace((waiting) => waiting.flatMap((items) => items.map((item) => [item])));
  stream.end();
  const all = [];
  for (let next = await stream.next(); next !== null; next = await stream.next()) all.push(next);
  expect(all).toEqual([[1], [2], [3]]);
  await stream.shrunk(0);
});

test('an item is joined to the last one of its kind, and held against no other, however many wait', async () => {
  let tries = 0;
  const stream = openStream<{ readonly kind: number; readonly size: number }>({
    weightOf: ({ size }) => size,
    areAlike: (waiting, item) => waiting.kind === item.kind,
    join: (waiting, item) => {
      tries += 1;
      return waiting.size + item.size > 3 ? null : { ...waiting, size: waiting.size + item.size };
    },
  });
  for (let count = 0; count < 1000; count += 1) stream.push({ kind: count % 2, size: 1 });
  expect([stream.length(), tries]).toEqual([2 * Math.ceil(500 / 3), 998]);
});

/** @param moves octets that each try moves. @returns the waits in between, in milliseconds */
async function waitsOf(failures: number, moves: number, error: () => MailError): Promise<number[]> {
  const waits: number[] = [];
  const { open } = opening();
  let [tries, moved] = [0, 0];
  const after = (milliseconds: number, run: () => void) => {
    waits.push(milliseconds);
    return CLOCK.after(milliseconds, run);
  };
  const clock = { ...CLOCK, after };
  const { signal } = new AbortController();
  await using lanes = openLanes({ size: 1, open, clock, signal, moved: () => moved });
  await lanes
    .work(workOf([1]), async () => {
      moved += moves;
      tries += 1;
      if (tries <= failures) throw error();
    })
    .catch((reason: unknown) => waits.push(reason instanceof MailError ? -1 : -2));
  return waits;
}

const lost = () => new MailError('lost', 'The connection was lost.');
const busy = (milliseconds: number) => () => new MailError('busy', 'Backoff.', { pause: milliseconds });

describe('a lane that fails again and again', () => {
  test('waits twice as long each time, and gives up the fourth time that nothing has moved', async () => {
    expect(await waitsOf(3, 0, lost)).toEqual([1000, 2000, 4000]);
    expect(await waitsOf(4, 0, lost)).toEqual([1000, 2000, 4000, -1]);
  });

  test('starts over after each try that has moved something', async () => {
    expect(await waitsOf(6, 1, lost)).toEqual([1000, 1000, 1000, 1000, 1000, 1000]);
  });

  test('waits as long as the server asks for, and gives up at once where that is too long', async () => {
    expect(await waitsOf(1, 0, busy(30_000))).toEqual([30_000]);
    expect(await waitsOf(1, 0, busy(LONGEST_PAUSE_MS + 1))).toEqual([-1]);
  });
});
