import { describe, expect, test } from 'vitest';
import { receiptAddress } from '../../src/contract/calls/receipt.ts';
import { statusSources } from '../../src/server/main.ts';
import type { TakeBackStep } from '../../src/server/mail/copy/take-back.ts';
import { newsOf } from '../../src/server/transfers/transfer-news.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';
import {
  again,
  call,
  NEW_ANN,
  openWorldOfTest,
  PASSWORD,
  statusOf,
  type LifeWorld,
  type Ordered,
  sentOn,
  whenEnded,
} from '../support/life-world.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';
import type { Letter } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { fromBrowser } from '../support/web-world.ts';

const some = (from: number, count: number) => Array.from({ length: count }, (_, number) => letter(from + number));
/** Else what is there already would not be copied. */
const ofAnotherDate = (letters: readonly Letter[]) => letters.map((each) => ({ ...each, date: letter(99).date }));
const MAIL = { INBOX: some(0, 8), Family: some(20, 4), 'Family/Old': some(30, 2), Kept: some(40, 3) };

/** All that is at the destination: `mailbox: sha256 flags`, without UIDs. */
async function everything({ destinationMail }: LifeWorld): Promise<string[]> {
  await using client = await destinationMail();
  const all: string[] = [];
  for (const mailbox of await client.mailboxes()) {
    all.push(mailbox);
    for (const { sha256, flags } of await client.read(mailbox)) all.push(`${mailbox}: ${sha256} ${flags.join(' ')}`);
  }
  return all.toSorted();
}

async function takenBack(world: LifeWorld, ordered: Ordered): Promise<void> {
  expect((await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
  await expect
    .poll(() => world.web.database.query('select 1 from take_backs where finished is null'), { timeout: 30_000 })
    .toEqual([]);
  expect(await world.web.database.query('select 1 from credentials')).toEqual([]);
}

/** Its server does not always let messages be removed one by one. `review`: a folder can't be made, so that the transfer ends with a sentence. */
async function openFickle(review: boolean) {
  const server = { hides: false };
  const world = await openWorldOfTest({
    mail: { INBOX: some(0, 4), ...(review ? { Fresh: some(20, 3) } : {}) },
    change: (direction, part) => {
      const text = part.toString('latin1');
      if (direction === 'to client')
        return server.hides ? Buffer.from(text.replaceAll(' UIDPLUS', ''), 'latin1') : part;
      return review ? Buffer.from(text.replaceAll(/^(\S+) CREATE /gm, '$1 XREATE '), 'latin1') : part;
    },
  });
  return { world, server };
}

test(
  'a message that its server can not read stays, and keeps none of the others there',
  { ...needs('dovecot'), tags: 'proof' },
  async () => {
    const letters = Array.from({ length: 12 }, (_, number) => letter(number, 60_000));
    const destinationOptions = { maildir: true } as const;
    const world = await openWorldOfTest({ dovecots: true, destinationOptions, mail: { INBOX: letters } });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    await world.damageAtDestination(NEW_ANN, [4, 5], 40_000);
    await takenBack(world, ordered);
    await using client = await world.destinationMail();
    await client.command('EXAMINE INBOX');
    expect(await client.command('UID SEARCH ALL')).toContain('* SEARCH 5 6');
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
      taken_back: 10,
      failure: SENTENCES.takenBackLeft({ left: 2, absent: 0, unsure: 0, archives: false }),
    });
  },
);

test('a full disk of the database is waited for, however often a take-back has been broken off', async () => {
  const world = await openWorldOfTest({ mail: { INBOX: some(0, 3) } });
  let isFull = true;
  let tries = 0;
  await using _worker = await world.work({
    onTakeBackStep: () => {
      if (!isFull) return;
      tries += 1;
      throw Object.assign(new Error('could not extend file'), { code: '53100' });
    },
  });
  const ordered = await world.order();
  await whenEnded(world, ordered);
  const { database, queue } = world.web;
  expect((await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
  await expect.poll(() => tries, { timeout: 30_000 }).toBe(1);
  await database.query('update take_backs set idle_runs = 1000');
  await queue.sendTakeBack(ordered.id);
  await expect.poll(() => tries, { timeout: 30_000 }).toBeGreaterThan(1);
  const later = "select 1 from pgboss.job where name = 'take-backs' and start_after > now() + interval '4 minutes'";
  await expect.poll(() => database.query(later), { timeout: 30_000 }).toHaveLength(1);
  expect(await database.query('select 1 from take_backs where finished is null')).toHaveLength(1);
  isFull = false;
  await queue.sendTakeBack(ordered.id);
  await expect
    .poll(() => database.query('select 1 from take_backs where finished is null'), { timeout: 30_000 })
    .toEqual([]);
  expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 3 });
});

test('a server that asks for a pause while it is taken back from is left alone until that is over', async () => {
  const PAUSE_SECONDS = 90;
  let passed = 0;
  const clock = { ...HASTY_CLOCK, elapsed: () => HASTY_CLOCK.elapsed() + passed };
  const opening = new Set<string>();
  let isBusy = false;
  let commands = 0;
  const world = await openWorldOfTest({
    mail: { INBOX: some(0, 4) },
    change: (direction, part) => {
      const text = part.toString('latin1');
      if (direction !== 'to client') {
        commands += 1;
        if (isBusy) for (const [, tag = ''] of text.matchAll(/^(\w+) (?:EXAMINE|SELECT) /gim)) opening.add(tag);
        return part;
      }
      const busy = `NO [THROTTLED] Suggested Backoff Time: ${PAUSE_SECONDS * 1000} milliseconds\r`;
      return Buffer.from(
        text.replaceAll(/^(\w+) OK .*$/gm, (line, tag: string) => (opening.delete(tag) ? `${tag} ${busy}` : line)),
        'latin1',
      );
    },
  });
  const { database, queue } = world.web;
  /** In how many seconds it goes on, of each try that waits. */
  const waits = async () =>
    (
      await database.query<{ seconds: number }>(
        `select extract(epoch from start_after - created_on)::float8 as seconds from pgboss.job
         where name = 'take-backs' and state = 'created' order by created_on`,
      )
    ).map(({ seconds }) => Math.round(seconds));
  await using _worker = await world.work({ clock });
  const ordered = await world.order();
  await whenEnded(world, ordered);
  isBusy = true;
  expect((await call(world, 'take-back', ordered, { password: PASSWORD })).status).toBe(200);
  await expect.poll(waits).toEqual([PAUSE_SECONDS]);
  // Sooner than that it asks for nothing.
  const asked = commands;
  await queue.sendTakeBack(ordered.id);
  await expect
    .poll(() => database.query(`select 1 from pgboss.job where name = 'take-backs' and state = 'completed'`))
    .toHaveLength(2);
  expect(await waits()).toEqual([PAUSE_SECONDS]);
  expect(commands).toBe(asked);
  isBusy = false;
  passed = PAUSE_SECONDS * 1000;
  await queue.sendTakeBack(ordered.id);
  await expect.poll(() => database.query('select 1 from take_backs where finished is null')).toEqual([]);
  expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 4 });
});

test(
  'what a worker stored too late, and died before it took that back, is taken back by the next',
  needs('dovecot'),
  async () => {
    const world = await openWorldOfTest({ dovecots: true, mail: { INBOX: some(0, 4) } });
    const { database } = world.web;
    await using client = await world.destinationMail();
    await client.append('INBOX', [letter(0), letter(99)]);
    const uidValidity = /UIDVALIDITY (\d+)/.exec((await client.command('STATUS INBOX (UIDVALIDITY)')).join(' '))?.[1];
    await using _worker = await world.work({
      onStep: async (step) => {
        if (step === 'listed')
          await database.query(
            "insert into ledger_disowned select id, 'INBOX', $1, 1 from transfers on conflict do nothing",
            [uidValidity],
          );
      },
    });
    const ordered = await world.order();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 4, duplicated: 0 });
    expect((await client.read('INBOX')).map(({ uid }) => uid)).toEqual([2, 3, 4, 5, 6]);
  },
);

describe('in a mailbox whose name no column can hold', () => {
  const HALF = '&3CY-';

  /** The destination has it for what was sent. */
  async function openHalf(mail: Record<string, readonly Letter[]>) {
    const listed = /\(([^)]*)(?=\) \S+ "?&3CY-)/g;
    const world = await openWorldOfTest({
      mail,
      change: (direction, part) =>
        direction === 'to client' && part.includes(HALF)
          ? Buffer.from(part.toString('latin1').replaceAll(listed, '($1 \\Sent'), 'latin1')
          : part,
    });
    await using client = await world.destinationMail();
    await client.create(HALF);
    return world;
  }

  test('everything is taken back', async () => {
    const world = await openHalf({ INBOX: some(0, 1), Sent: some(20, 3) });
    const before = await everything(world);
    await using _worker = await world.work();
    const ordered = await world.order();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', copied: 4 });
    await using client = await world.destinationMail();
    expect(await client.read(HALF)).toHaveLength(3);
    await takenBack(world, ordered);
    expect(await everything(world)).toEqual(before);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 4 });
  });

  test('what a worker stored too late is taken back by the next', async () => {
    const world = await openHalf({ Sent: some(20, 3) });
    const { database } = world.web;
    await using client = await world.destinationMail();
    await client.append(HALF, [letter(20), letter(99)]);
    const uidValidity = /UIDVALIDITY (\d+)/.exec((await client.command(`STATUS ${HALF} (UIDVALIDITY)`)).join(' '))?.[1];
    await using _worker = await world.work({
      onStep: async (step) => {
        if (step === 'listed')
          await database.query(
            `insert into ledger_disowned select transfer_id, destination_path, $1, 1 from ledger_mailboxes
             where source_path = 'Sent' on conflict do nothing`,
            [uidValidity],
          );
      },
    });
    const ordered = await world.order();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 3, duplicated: 0 });
    expect((await client.read(HALF)).map(({ uid }) => uid)).toEqual([2, 3, 4, 5]);
  });
});

test(
  'what its owner touches just when it is to be marked is not taken back, on Dovecot',
  needs('dovecot'),
  async () => {
    let touch: (() => Promise<void>) | undefined;
    const world: LifeWorld = await openWorldOfTest({
      dovecots: true,
      mail: { INBOX: some(0, 4) },
      change: async (direction, part) => {
        if (direction !== 'to server' || !/ UID STORE .*\\Deleted/.test(part.toString('latin1'))) return part;
        const now = touch;
        touch = undefined;
        await now?.();
        return part;
      },
    });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    await using client = await world.destinationMail();
    touch = async () => {
      await client.command('SELECT INBOX');
      await client.command('UID STORE 2 +FLAGS (\\Flagged)');
    };
    await takenBack(world, ordered);
    expect(touch).toBeUndefined();
    const [kept, ...others] = await client.read('INBOX');
    expect([kept?.uid, others]).toEqual([2, []]);
    expect(kept?.flags.join()).not.toMatch(/deleted/i);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 3 });
  },
);

// Beside it the world's own mail server, by `npm run proofs`.
for (const dovecots of [true, false])
  describe(`taking back, on Dovecot: ${dovecots}`, dovecots ? {} : { tags: 'proof' }, () => {
    const options = { dovecots };
    const needed = options.dovecots ? needs('dovecot') : needs();

    test('keeps what was read, flagged, moved or put there since', needed, async () => {
      const world = await openWorldOfTest({ ...options, mail: MAIL });
      const before = await everything(world);
      await using _worker = await world.work();
      const ordered = await world.order();
      await whenEnded(world, ordered);
      {
        await using client = await world.destinationMail();
        await client.create('Mine');
        await client.command('SELECT INBOX');
        await client.command('UID STORE 2 +FLAGS (\\Seen)');
        await client.command('UID STORE 3 +FLAGS (\\Flagged)');
        await client.command('UID STORE 1 -FLAGS (\\Seen)');
        await client.command('UID STORE 5 +FLAGS (\\Deleted)');
        await client.command('UID MOVE 4 Mine');
        await client.append('Family', [letter(99)]);
      }
      await takenBack(world, ordered);
      await using client = await world.destinationMail();
      expect((await client.read('INBOX')).map(({ uid }) => uid)).toEqual([1, 2, 3, 5]);
      expect(await client.read('Mine')).toHaveLength(1);
      expect(await client.read('Family')).toHaveLength(1);
      expect(await client.mailboxes()).not.toContain('Family/Old');
      expect(await client.mailboxes()).not.toContain('Kept');
      expect((await everything(world)).length).toBe(before.length + 4 + 2 + 2);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
        taken_back: 12,
        failure: SENTENCES.takenBackLeft({ left: 4, absent: 1, unsure: 0, archives: false }),
      });
    });

    test('touches nothing in a folder whose UIDVALIDITY has changed', { tags: 'proof', ...needed }, async () => {
      const world = await openWorldOfTest({ ...options, mail: { INBOX: some(0, 2), Family: some(20, 4) } });
      await using _worker = await world.work();
      const ordered = await world.order();
      await whenEnded(world, ordered);
      {
        await using client = await world.destinationMail();
        await client.command('DELETE Family');
        await client.create('Family');
        await client.append('Family', some(20, 4));
      }
      await takenBack(world, ordered);
      await using client = await world.destinationMail();
      expect(await client.read('Family')).toHaveLength(4);
      expect(await client.read('INBOX')).toHaveLength(0);
    });

    test('removes nothing where messages can not be removed one by one', { tags: 'proof', ...needed }, async () => {
      let hides = false;
      const world = await openWorldOfTest({
        ...options,
        mail: { INBOX: some(0, 4) },
        change: (direction, part) =>
          hides && direction === 'to client'
            ? Buffer.from(part.toString('latin1').replaceAll(' UIDPLUS', ''), 'latin1')
            : part,
      });
      await using _worker = await world.work();
      const ordered = await world.order();
      await whenEnded(world, ordered);
      const before = await everything(world);
      hides = true;
      await takenBack(world, ordered);
      expect(await everything(world)).toEqual(before);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
        taken_back: 0,
        failure: SENTENCES.takenBackNot,
      });
    });

    test('goes on after a death at each of its steps', { tags: 'proof', ...needed, timeout: 90_000 }, async () => {
      const world = await openWorldOfTest({ ...options, mail: MAIL });
      {
        await using client = await world.destinationMail();
        await client.append('INBOX', ofAnotherDate(some(0, 8)));
      }
      const before = await everything(world);
      const deaths = new Set<TakeBackStep>();
      await using _worker = await world.work({
        onTakeBackStep: (step) => {
          if (deaths.has(step)) return;
          deaths.add(step);
          throw new Error(`It died when it had ${step}.`);
        },
      });
      const ordered = await world.order();
      await whenEnded(world, ordered);
      await takenBack(world, ordered);
      expect(deaths).toEqual(new Set<TakeBackStep>(['intended', 'expunged', 'noted', 'folder removed']));
      expect(await everything(world)).toEqual(before);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 17 });
    });

    test('leaves a mailbox full of look-alikes as it was', { tags: 'proof', ...needed }, async () => {
      const world = await openWorldOfTest({ ...options, mail: MAIL });
      {
        await using client = await world.destinationMail();
        // Equal to what comes, octet for octet, flags included.
        await client.append('INBOX', ofAnotherDate(some(0, 8)));
        await client.create('Kept');
        await client.append('Kept', ofAnotherDate(some(40, 3)));
      }
      const { length } = await everything(world);
      await using _worker = await world.work();
      const ordered = await world.order();
      expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 17 });
      expect((await everything(world)).length).toBe(length + 17 + 2);
      {
        await using client = await world.destinationMail();
        await client.append('INBOX', some(0, 8));
        await client.append('Kept', some(40, 3));
      }
      const copied = await everything(world);
      await takenBack(world, ordered);
      const left = await everything(world);
      expect(left).toHaveLength(length + 11);
      expect(copied).toEqual(expect.arrayContaining(left));
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 17 });
      // A second time there is nothing.
      await takenBack(world, ordered);
      expect(await everything(world)).toEqual(left);
      // And the same can be copied again, but for what is there by now.
      const again = await world.order();
      expect(again.id).not.toBe(ordered.id);
      expect(await whenEnded(world, again)).toMatchObject({ status: 'completed', done: 17, present: 11, copied: 6 });
      const after = await everything(world);
      // And the two mailboxes that were taken back.
      expect(after).toHaveLength(left.length + 6 + 2);
      expect(after).toEqual(expect.arrayContaining(left));
    });
  });

describe('taking back', () => {
  test('leaves what was there before it', async () => {
    const world = await openWorldOfTest({ mail: MAIL });
    {
      await using client = await world.destinationMail();
      await client.append('INBOX', some(0, 8));
      await client.create('Kept');
      await client.append('Kept', some(40, 3));
    }
    const before = await everything(world);
    await using _worker = await world.work();
    const ordered = await world.order();
    expect(await whenEnded(world, ordered)).toMatchObject({ status: 'completed', done: 17, present: 11, copied: 6 });
    await takenBack(world, ordered);
    expect(await everything(world)).toEqual(before);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 6 });
  });

  test('does not say that what its owner has deleted since stays', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5), Family: some(20, 4) } });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    {
      await using client = await world.destinationMail();
      await client.command('SELECT INBOX');
      await client.command('UID STORE 2:3 +FLAGS (\\Deleted)');
      await client.command('EXPUNGE');
      await client.command('UID STORE 4 +FLAGS (\\Answered)');
      await client.command('DELETE Family');
    }
    await takenBack(world, ordered);
    const { emailmigration: mail } = await statusOf(world, ordered);
    expect(mail).toMatchObject({ taken_back: 2 });
    expect(mail?.failure).toMatch(
      /^1 message stays in your new mailbox\. 6 messages are no longer where we put them\. Somebody has moved or deleted them\./,
    );
  });

  test('leaves a folder in which nothing may be removed, and takes back the rest', async () => {
    const refused = new Set<string>();
    let selected = '';
    let isReadOnly = false;
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 3), Family: some(20, 2) },
      change: (direction, part) => {
        const text = part.toString('latin1');
        if (direction === 'to client')
          return Buffer.from(
            text.replaceAll(/^(\w+) OK .*$/gm, (line, tag: string) =>
              refused.delete(tag) ? `${tag} NO [NOPERM] Not here\r` : line,
            ),
            'latin1',
          );
        selected = /^\w+ SELECT "?(\w+)/m.exec(text)?.[1] ?? selected;
        if (isReadOnly && selected === 'Family')
          for (const [, tag = ''] of text.matchAll(/^(\w+) UID STORE /gm)) refused.add(tag);
        return part;
      },
    });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    isReadOnly = true;
    await takenBack(world, ordered);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
      taken_back: 3,
      failure: expect.stringMatching(/^2 messages stay in your new mailbox\. We remove/),
    });
  });

  test('leaves nothing marked as deleted that stays, whether the server refuses to remove it or its owner has touched it', async () => {
    const refused = new Set<string>();
    let answer: (() => Promise<void>) | undefined;
    const world: LifeWorld = await openWorldOfTest({
      mail: { INBOX: some(0, 3), Family: some(20, 2) },
      change: async (direction, part) => {
        const text = part.toString('latin1');
        if (direction === 'to client')
          return Buffer.from(
            text.replaceAll(/^(\w+) OK .*$/gm, (line, tag: string) =>
              refused.delete(tag) ? `${tag} NO [NOPERM] Not here\r` : line,
            ),
            'latin1',
          );
        const expunge = /^(\w+) UID EXPUNGE (.*)$/m.exec(text);
        if (expunge === null) return part;
        // What the first folder has is marked, and its owner labels one of them, when the worker loses the connection.
        await answer?.();
        if (answer !== undefined) world.proxy.resetAll();
        const isOver = answer !== undefined;
        answer = undefined;
        refused.add(expunge[1] ?? '');
        return Buffer.from(isOver ? '' : `${expunge[1]} NOOP\r\n`);
      },
    });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    const before = await everything(world);
    answer = async () => {
      await using client = await world.destinationMail();
      await client.command('SELECT Family');
      expect((await client.command('UID FETCH 1 (FLAGS)')).join()).toMatch(/\\Deleted/i);
      await client.command('UID STORE 1 +FLAGS (Mine)');
    };
    await takenBack(world, ordered);
    expect(answer).toBeUndefined();
    const after = await everything(world);
    expect(after.filter((line) => line.includes(' mine'))).toHaveLength(1);
    expect(after.map((line) => line.replace(/ ?\bmine\b/, '')).toSorted()).toEqual(before);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 0 });
  });

  test('tells that Gmail keeps in All Mail what is removed, also when it is asked for again', async () => {
    let isGmail = false;
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 3) },
      change: (direction, part) =>
        isGmail && direction === 'to client'
          ? Buffer.from(
              part
                .toString('latin1')
                .replace(/^(\* LIST .* "?INBOX"?)\r\n/m, '$1\r\n* LIST (\\All) "/" "[Gmail]/All Mail"\r\n'),
              'latin1',
            )
          : part,
    });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    isGmail = true;
    for (const _ of [1, 2]) {
      await takenBack(world, ordered);
      const { emailmigration: mail } = await statusOf(world, ordered);
      expect(mail).toMatchObject({ taken_back: 3, failure: expect.stringMatching(/^Gmail keeps .* “All Mail”/) });
    }
  });

  test('takes what a stopped transfer had copied, and copying what is new then brings all of it', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    const { database } = world.web;
    const before = await everything(world);
    let isStopped = false;
    const leased = async () => (await database.query('select leased_until::text from transfers'))[0]?.['leased_until'];
    await using _worker = await world.work({
      onStep: async (step) => {
        if (step !== 'outcome committed' || isStopped) return;
        isStopped = true;
        await database.query('update transfers set stop_asked = now()');
        // The worker hears of it when it next confirms its lease.
        const until = await leased();
        await expect.poll(leased).not.toBe(until);
      },
    });
    const ordered = await world.order();
    const mail = await whenEnded(world, ordered);
    expect(mail).toMatchObject({ ended: 'cancelled' });
    await takenBack(world, ordered);
    expect(await everything(world)).toEqual(before);
    expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: mail.done });
    const { body } = await world.web.get(receiptAddress(ordered.id, 'json'), ordered.headers);
    expect(body).toMatchObject({ copied: mail.done, taken_back: mail.done });
    const { text } = await world.web.get(receiptAddress(ordered.id, 'html'), ordered.headers);
    expect(text).toContain(`<th scope="row">Of these, taken back</th><td>${mail.done}</td>`);
    const copied = await whenEnded(world, await again(world, ordered));
    expect(copied).toMatchObject({ status: 'completed', done: 5, copied: 5 });
    expect(copied.present).toBeUndefined();
  });

  test('removes a folder that a transfer before it had made and could not remove, as it was not empty then', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2), Family: some(20, 2) } });
    const before = await everything(world);
    await using _worker = await world.work();
    const bringMore = async (ordered: Ordered, ...letters: readonly Letter[]) => {
      {
        await using client = await world.sourceMail();
        await client.append('Family', letters);
      }
      const next = await again(world, ordered);
      await whenEnded(world, next);
      return next;
    };
    const first = await world.order();
    await whenEnded(world, first);
    const second = await bringMore(first, letter(50));
    const third = await bringMore(second, letter(51));
    await takenBack(world, second);
    await takenBack(world, first);
    expect((await everything(world)).filter((each) => each.startsWith('Family'))).toHaveLength(2);
    await takenBack(world, third);
    expect(await everything(world)).toEqual(before);
  });

  test('keeps an empty folder that its owner has made in place of one that was copied', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2), Family: some(20, 2), Kept: some(40, 1) } });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    {
      await using client = await world.destinationMail();
      await client.command('DELETE Family');
      await client.create('Family');
    }
    await takenBack(world, ordered);
    expect(await everything(world)).toEqual(['Family', 'INBOX']);
  });

  test('removes a folder that a transfer had to make anew', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2), Family: some(20, 2) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    {
      await using destination = await world.destinationMail();
      await destination.command('DELETE Family');
      await using source = await world.sourceMail();
      await source.append('Family', [letter(50)]);
    }
    const next = await again(world, first);
    await whenEnded(world, next);
    expect((await everything(world)).filter((each) => each.startsWith('Family'))).not.toEqual([]);
    await takenBack(world, next);
    expect((await everything(world)).filter((each) => each.startsWith('Family'))).toEqual([]);
  });

  test('keeps an empty folder of a transfer before it that is not taken back', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2), Family: some(20, 2) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    {
      await using client = await world.destinationMail();
      await client.command('SELECT Family');
      await client.command('STORE 1:* +FLAGS (\\Deleted)');
      await client.command('EXPUNGE');
    }
    const before = await everything(world);
    {
      await using client = await world.sourceMail();
      await client.append('Family', [letter(50)]);
    }
    const next = await again(world, first);
    await whenEnded(world, next);
    await takenBack(world, next);
    expect(await everything(world)).toEqual(before);
  });

  test('leaves nothing said of what stays, after a transfer whose owner had let two weeks pass', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    await using _worker = await world.work();
    const ordered = await world.order();
    await whenEnded(world, ordered);
    // As a worker ends one that has waited for so long.
    await world.web.database.query("update operations set status = 'authentication_error', failure = $1", [
      SENTENCES.unanswered,
    ]);
    await takenBack(world, ordered);
    const { emailmigration: mail } = await statusOf(world, ordered);
    expect(mail).toMatchObject({ taken_back: 5, failure: expect.stringContaining('two weeks') });
    expect(mail?.failure).not.toContain('stays');
    const { text } = await world.web.get(receiptAddress(ordered.id, 'html'), ordered.headers);
    expect(text).toContain('Of these, taken back');
    expect(text).not.toContain('stays');
  });

  test('is told by a later transfer that brought nothing, until what was taken back is copied again', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    const again = async ({ id, headers }: Ordered) => {
      const given = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD } };
      const { body } = await call(world, 'again', { id, headers }, given);
      const next = { id: (body as { jobid: string }).jobid, headers };
      await whenEnded(world, next);
      return next;
    };
    const nothing = await again(first);
    const told = async (...all: readonly Ordered[]) =>
      (await Promise.all(all.map((each) => statusOf(world, each)))).map(({ brings_back: brings }) => brings ?? false);
    expect(await told(first, nothing)).toEqual([false, false]);
    await takenBack(world, first);
    expect(await told(first, nothing)).toEqual([true, true]);
    expect(await told({ ...nothing, headers: {} })).toEqual([false]);
    const copied = await again(nothing);
    expect((await statusOf(world, copied)).emailmigration).toMatchObject({ copied: 5 });
    expect(await told(first, nothing, copied)).toEqual([false, false, false]);
    // As if it had not got to its end.
    await world.web.database.query("update operations set status = 'review' where transfer_id = $1", [copied.id]);
    expect(await told(first, nothing, copied)).toEqual([true, true, false]);
  });

  test('is told by a late letter about a later transfer that found everything there', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    {
      await using client = await world.sourceMail();
      await client.append('INBOX', [letter(50)]);
    }
    const next = await again(world, first);
    await whenEnded(world, next);
    const { services } = world.web;
    await services.database.query("update transfers set notification_contact = 'new@home.example'");
    const news = () => newsOf(services.database, statusSources(services), next.id);
    expect(await news()).toMatchObject({ messages: 1, messagesPresent: 5 });
    await takenBack(world, first);
    expect(await news()).toMatchObject({ messages: 1, messagesPresent: 0, messagesTakenBack: 5 });
  });

  test('is led to from a later transfer, as long as it was not asked for', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    const nothing = await again(world, first);
    await whenEnded(world, nothing);
    {
      await using client = await world.sourceMail();
      await client.append('INBOX', [letter(50)]);
    }
    const next = await again(world, nothing);
    await whenEnded(world, next);
    const last = await again(world, next);
    await whenEnded(world, last);
    const led = () =>
      Promise.all([first, nothing, next, last].map(async (each) => (await statusOf(world, each)).earlier));
    expect(await led()).toEqual([undefined, first.id, first.id, next.id]);
    expect((await statusOf(world, { ...last, headers: {} })).earlier).toBeUndefined();
    await takenBack(world, next);
    expect(await led()).toEqual([undefined, first.id, first.id, first.id]);
  });

  test('is led to also where a part of it was taken back, as what is left can be', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
    await using _worker = await world.work();
    const first = await world.order();
    await whenEnded(world, first);
    {
      await using client = await world.destinationMail();
      await client.command('SELECT INBOX');
      await client.command('UID STORE 2 +FLAGS (\\Seen)');
    }
    await takenBack(world, first);
    expect((await statusOf(world, first)).emailmigration).toMatchObject({ copied: 5, taken_back: 4 });
    const next = await again(world, first);
    await whenEnded(world, next);
    expect((await statusOf(world, next)).earlier).toBe(first.id);
    // As a page is told it for the last time: its operations have ended, and the transfer is about to.
    await world.web.database.query('update transfers set finished = null where id = $1', [next.id]);
    expect((await statusOf(world, next)).earlier).toBe(first.id);
    await world.web.database.query('update transfers set finished = now() where id = $1', [next.id]);
    await world.web.database.query('update take_backs set finished = null');
    expect((await statusOf(world, next)).earlier).toBeUndefined();
  });

  test(
    'says how much may be there besides, when the server never told what it had taken',
    { tags: 'proof' },
    async () => {
      const reached = Promise.withResolvers<void>();
      const world = await openWorldOfTest({
        mail: { INBOX: some(0, 3) },
        change: (direction, part) => {
          if (direction !== 'to client' || !part.toString('latin1').includes('APPENDUID')) return part;
          world.proxy.holdAll();
          reached.resolve();
          return Buffer.alloc(0);
        },
      });
      await using _worker = await world.work();
      const ordered = await world.order();
      await reached.promise;
      expect((await call(world, 'cancel', ordered)).status).toBe(200);
      world.proxy.resetAll();
      // The time runs out in which something may still arrive.
      await world.web.database.query('update transfers set leased_until = now()');
      await takenBack(world, ordered);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
        taken_back: 0,
        failure: SENTENCES.takenBackLeft({ left: 0, absent: 0, unsure: 3, archives: false }),
      });
    },
  );

  test('waits for an order between the same mailboxes, which would copy again what is taken back', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2) } });
    const first = await world.order();
    {
      await using _worker = await world.work();
      await whenEnded(world, first);
    }
    const given = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD } };
    const { body } = await call(world, 'again', first, given);
    const second = { ...first, id: (body as { jobid: string }).jobid };
    expect(await call(world, 'take-back', first, { password: PASSWORD })).toMatchObject({
      status: 409,
      body: { error: 'MIGRATION_IN_PROGRESS' },
    });
    expect((await call(world, 'cancel', second)).status).toBe(200);
    await using _worker = await world.work();
    await takenBack(world, first);
    expect(await everything(world)).toEqual(['INBOX']);
  });

  test('comes before an order between the same mailboxes that was given after it, which then brings everything', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 3) } });
    const first = await world.order();
    {
      await using _worker = await world.work();
      await whenEnded(world, first);
    }
    expect((await call(world, 'take-back', first, { password: PASSWORD })).status).toBe(200);
    const second = await world.order();
    expect(second.id).not.toBe(first.id);
    // Other take-backs of this worker are in line before it.
    const held = "update pgboss.job set start_after = $1 where name = 'take-backs' and state = 'created'";
    await world.web.database.query(held, [new Date(Date.now() + 3_600_000)]);
    await using _worker = await world.work();
    const looked = "select count(*)::integer as count from pgboss.job where name = 'transfers' and state = 'completed'";
    await expect.poll(async () => (await world.web.database.query(looked))[0]?.['count']).toBeGreaterThan(1);
    await world.web.database.query(held, [new Date()]);
    const mail = await whenEnded(world, second);
    expect(await everything(world)).toHaveLength(1 + 3);
    expect(mail).toMatchObject({ status: 'completed', copied: 3 });
    expect(mail.present).toBeUndefined();
    expect((await statusOf(world, first)).emailmigration).toMatchObject({ taken_back: 3 });
  });

  test('is ordered by who may manage the transfer, after its end, with what signs in', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2) } });
    const ordered = await world.order();
    const { id } = ordered;
    const given = { password: PASSWORD };
    expect((await call(world, 'take-back', ordered, given)).status).toBe(409);
    {
      await using _worker = await world.work();
      await whenEnded(world, ordered);
    }
    for (const headers of [{}, fromBrowser('d'.repeat(64))])
      expect((await call(world, 'take-back', { id, headers }, given)).body).toMatchObject({ error: 'INVALID_TOKEN' });
    expect((await call(world, 'take-back', { id: 'e'.repeat(32), headers: {} }, given)).status).toBe(404);
    for (const wrong of [{}, { password: 'wrong' }, { token_id: 'a'.repeat(32) }])
      expect((await call(world, 'take-back', ordered, wrong)).body).toMatchObject({ error: 'INVALID_CREDENTIALS' });
    expect(await world.web.database.query('select 1 from take_backs')).toEqual([]);
    const presses = await Promise.all([
      call(world, 'take-back', ordered, given),
      call(world, 'take-back', ordered, given),
    ]);
    expect(presses.map(({ status }) => status)).toEqual([200, 200]);
    await using _worker = await world.work();
    await expect
      .poll(async () => (await statusOf(world, ordered)).emailmigration, { timeout: 20_000 })
      .toMatchObject({ taken_back: 2 });
    expect(world.web.logLines.some((line) => line.includes('"security":"take-back ordered"'))).toBe(true);
  });

  test('can not be ordered so often that a stranger who was named as its contact gets letter after letter', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 1) } });
    const { database } = world.web;
    const ordered = await world.order({ parameters: { notification_email: 'stranger@elsewhere.example' } });
    await database.query('update transfers set finished = now()');
    const statuses: number[] = [];
    for (let tries = 0; tries < 22; tries += 1) {
      statuses.push((await call(world, 'take-back', ordered, { password: PASSWORD })).status);
      await database.query('update take_backs set finished = now()');
    }
    expect(statuses.filter((status) => status === 200).length).toBe(19);
    expect(new Set(statuses.slice(19))).toEqual(new Set([429]));
  });

  describe('by a server that does not always let messages be removed one by one', () => {
    test('leaves nothing of what a try that failed had said once all is taken back', async () => {
      const { world, server } = await openFickle(true);
      await using _worker = await world.work();
      const ordered = await world.order();
      await sentOn(world, ordered);
      const { failure } = await whenEnded(world, ordered);
      server.hides = true;
      await takenBack(world, ordered);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
        taken_back: 0,
        failure: SENTENCES.takenBackNot,
      });
      server.hides = false;
      await takenBack(world, ordered);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({ taken_back: 4, failure });
    });

    test('does not say that nothing was removed when an earlier try removed some', async () => {
      const { world, server } = await openFickle(false);
      await using _worker = await world.work();
      const ordered = await world.order();
      await whenEnded(world, ordered);
      {
        await using client = await world.destinationMail();
        await client.command('SELECT INBOX');
        await client.command('UID STORE 2 +FLAGS (\\Flagged)');
      }
      for (server.hides of [false, true]) await takenBack(world, ordered);
      expect((await statusOf(world, ordered)).emailmigration).toMatchObject({
        taken_back: 3,
        failure: SENTENCES.takenBackNoMore,
      });
      expect(SENTENCES.takenBackNoMore).not.toContain('Nothing was removed');
    });
  });
});
