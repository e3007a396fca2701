import { describe, expect, test } from 'vitest';
import { receiptAddress } from '../../src/contract/calls/receipt.ts';
import { copiedBy } from '../../src/contract/transfer-status.ts';
import { MailError } from '../../src/server/mail/imap/mail-error.ts';
import {
  again,
  call,
  mailWhen,
  NEW_ANN,
  openWorldOfTest,
  PASSWORD,
  sentOn,
  whenEnded,
  type LifeWorld,
  type Ordered,
} from '../support/life-world.ts';
import { letter } from '../support/mail-letters.ts';

const TOLD = { parameters: { notification_email: NEW_ANN } };
const some = (from: number, count: number) => Array.from({ length: count }, (_, number) => letter(from + number));

async function receiptOf({ web }: LifeWorld, { id, headers }: Ordered) {
  const { body } = await web.get(receiptAddress(id, 'json'), headers);
  return body as { copied: number; sums: Record<string, number>; items: { subject: string; fate: string }[] };
}

const completions = ({ web }: LifeWorld) => web.outbox.filter(({ raw }) => raw.includes('is complete'));

describe('what is reported as copied', () => {
  test('is everything that was copied, beside a folder that could not be created', async () => {
    const world = await openWorldOfTest({
      mail: { INBOX: some(0, 3), Fresh: some(20, 4) },
      change: (direction, part) =>
        direction === 'to server'
          ? Buffer.from(part.toString('latin1').replaceAll(/^(\S+) CREATE /gm, '$1 XREATE '), 'latin1')
          : part,
    });
    await using _worker = await world.work();
    const ordered = await world.order(TOLD);
    await sentOn(world, ordered);
    const mail = await whenEnded(world, ordered);
    expect(mail.status).toBe('review');
    expect(copiedBy(mail)).toBe(3);
    expect(mail).toMatchObject({ done: 3, total: 7 });
    // Two lanes come to them at once.
    expect(mail.folders?.toSorted((one, other) => one.done - other.done)).toEqual([
      { name: 'Fresh', done: 0, total: 4 },
      { name: 'INBOX', done: 3, total: 3 },
    ]);
    const told = 'The new mailbox did not let us make this folder.';
    const receipt = await receiptOf(world, ordered);
    expect(receipt).toMatchObject({ copied: 3, folders_left: [{ folder: 'Fresh', reason: told }] });
    const { text } = await world.web.get(receiptAddress(ordered.id, 'html'), ordered.headers);
    expect(text).toContain(`<li><bdi>Fresh</bdi>: ${told}</li>`);
  });

  test(
    'is the same everywhere for what its owner moves and deletes meanwhile, and nothing is reported as lost',
    { tags: 'proof' },
    async () => {
      const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
      const [held, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      await using _worker = await world.work({
        onStep: async (step) => {
          if (step !== 'outcome committed') return;
          held.resolve();
          await gate.promise;
        },
      });
      const ordered = await world.order(TOLD);
      await held.promise;
      {
        await using client = await world.destinationMail();
        await client.create('Mine');
        for (const command of ['SELECT INBOX', 'UID COPY 1 Mine', 'UID STORE 1:2 +FLAGS (\\Deleted)', 'EXPUNGE'])
          await client.command(command);
      }
      gate.resolve();
      const mail = await whenEnded(world, ordered);
      const { copied, sums } = await receiptOf(world, ordered);
      expect({ status: mail.status, copied: copiedBy(mail), left: mail.skipped?.length }).toEqual({
        status: 'completed',
        copied: 4,
        left: 1,
      });
      expect({ copied, sums }).toEqual({ copied: 4, sums: { 'message copied': 3, 'message moved': 2 } });
      await expect.poll(() => completions(world)).toHaveLength(1);
      expect(completions(world)[0]?.raw).toContain('4 messages were copied.');
      expect(completions(world)[0]?.raw).toContain('1 item is not in your new mailbox.');
    },
  );

  test(
    'is everything that was copied, beside a folder that an earlier order copied and that has gone since',
    { tags: 'proof' },
    async () => {
      const world = await openWorldOfTest({ mail: { INBOX: some(0, 2), Old: some(20, 6) } });
      await using _worker = await world.work();
      const first = await world.order(TOLD);
      await whenEnded(world, first);
      {
        await using client = await world.sourceMail();
        await client.command('DELETE Old');
        await client.append('INBOX', some(50, 3));
      }
      const second = await again(world, first);
      const mail = await whenEnded(world, second);
      expect(copiedBy(mail)).toBe(3);
      expect(mail.present).toBe(2);
      expect((await receiptOf(world, second)).copied).toBe(3);
      await expect.poll(() => completions(world)).toHaveLength(2);
      expect(completions(world).at(-1)?.raw).toContain('3 messages were copied');
    },
  );

  test(
    'does not count as present any message that an earlier order stored and that is missing now',
    { tags: 'proof' },
    async () => {
      const world = await openWorldOfTest({ mail: { INBOX: some(0, 5) } });
      const { database } = world.web;
      const first = await world.order(TOLD);
      {
        // Its owner stops it before it has read anything back.
        await using _worker = await world.work({
          onStep: async (step) => {
            if (step === 'outcome committed') await call(world, 'cancel', first);
          },
        });
        await whenEnded(world, first);
      }
      // The time runs out in which something may still arrive.
      await database.query('update transfers set leased_until = now()');
      {
        await using client = await world.destinationMail();
        expect(await client.read('INBOX')).toHaveLength(5);
        await client.command('SELECT INBOX');
        await client.command('UID STORE 2 +FLAGS (\\Deleted)');
        await client.command('UID EXPUNGE 2');
        await using source = await world.sourceMail();
        await source.append('INBOX', some(50, 3));
      }
      await using _worker = await world.work();
      const second = await again(world, first);
      const mail = await whenEnded(world, second);
      const { copied, sums } = await receiptOf(world, second);
      expect({ copied: copiedBy(mail), present: mail.present }).toEqual({ copied: 3, present: 4 });
      expect({ copied, present: sums['message present'] }).toEqual({ copied: 3, present: 4 });
    },
  );

  test('does not count as there what its owner has deleted there since an earlier order, and tells so', async () => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 3) } });
    await using _worker = await world.work();
    const first = await world.order(TOLD);
    await whenEnded(world, first);
    const remove = async (uids: string) => {
      await using client = await world.destinationMail();
      await client.command('SELECT INBOX');
      await client.command(`UID STORE ${uids} +FLAGS (\\Deleted)`);
      await client.command(`UID EXPUNGE ${uids}`);
    };
    await remove('2');
    const second = await again(world, first);
    expect(await whenEnded(world, second)).toMatchObject({ status: 'completed', copied: 0, present: 2, moved: 1 });
    expect((await receiptOf(world, second)).sums).toEqual({ 'message present': 2, 'message moved': 1 });
    await remove('1,3');
    const third = await again(world, second);
    const mail = await whenEnded(world, third);
    expect(mail).toMatchObject({ status: 'completed', copied: 0, moved: 3 });
    expect(mail.present).toBeUndefined();
    expect((await receiptOf(world, third)).sums).toEqual({ 'message moved': 3 });
    await expect.poll(() => completions(world)).toHaveLength(3);
    const [, inPart = '', none = ''] = completions(world).map(({ raw }) => raw.replaceAll(/=\r\n/g, ''));
    expect(inPart).toContain('2 messages were already there.');
    expect(inPart).toContain('1 message was there before, and has been moved or deleted since then.');
    expect(none).toContain('3 messages were there before, and have been moved or deleted since then.');
    for (const untrue of ['already there', 'Your mail is there', 'nothing to copy']) expect(none).not.toContain(untrue);
  });

  test(
    'names what is changed of what an earlier order stored, until its owner takes that away',
    { tags: 'proof' },
    async () => {
      const spoilt = { is: false };
      const world = await openWorldOfTest({
        mail: { INBOX: some(0, 5) },
        change: (direction, part) =>
          direction === 'to client' && spoilt.is
            ? Buffer.from(part.toString('latin1').replaceAll('Letter 3', 'Letter X'), 'latin1')
            : part,
      });
      const first = await world.order(TOLD);
      {
        // Its owner stops it before it has read anything back.
        await using _worker = await world.work({
          onStep: async (step) => {
            if (step === 'outcome committed') await call(world, 'cancel', first);
          },
        });
        await whenEnded(world, first);
      }
      await world.web.database.query('update transfers set leased_until = now()');
      spoilt.is = true;
      await using _worker = await world.work();
      const second = await again(world, first);
      expect(await whenEnded(world, second)).toMatchObject({ status: 'review', changed: 1 });
      const { sums, items } = await receiptOf(world, second);
      expect(sums).toEqual({ 'message present': 4, 'message changed': 1 });
      expect(items.find(({ fate }) => fate === 'changed')?.subject).toBe('Letter 3');
      {
        await using client = await world.destinationMail();
        await client.command('SELECT INBOX');
        await client.command('UID STORE 4 +FLAGS (\\Deleted)');
        await client.command('UID EXPUNGE 4');
      }
      const third = await again(world, second);
      expect(await whenEnded(world, third)).toMatchObject({ status: 'completed', changed: 0 });
      expect((await receiptOf(world, third)).sums).toEqual({ 'message present': 4, 'message moved': 1 });
    },
  );
});

test.each([
  ['messages', ['UID STORE 30:40 +FLAGS (\\Deleted)', 'EXPUNGE', 'CLOSE', 'DELETE Other']],
  ['a folder', ['CLOSE', 'DELETE Long']],
])(
  'of a mailbox from which its owner deletes %s while its transfer waits, all that there was is done',
  async (_, commands) => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 3), Long: some(10, 40), Other: some(600, 4) } });
    const ordered = await world.order();
    let hasWaited = false;
    await using _worker = await world.work({
      onStep: async (step, folder) => {
        if (hasWaited || step !== 'listed' || folder !== 'Long') return;
        await mailWhen(world, ordered, ({ total }) => total === 47);
        throw new MailError('busy', 'The server asks for a pause.', { pause: 600_000 });
      },
    });
    const before = await mailWhen(world, ordered, ({ waiting }) => waiting !== undefined);
    expect(before.done).toBeLessThan(47);
    hasWaited = true;
    {
      await using client = await world.sourceMail();
      for (const command of ['SELECT Long', ...commands]) await client.command(command);
    }
    await sentOn(world, ordered);
    const mail = await whenEnded(world, ordered);
    expect(mail).toMatchObject({ status: 'completed', lost: 0, done: copiedBy(mail), total: copiedBy(mail) });
    for (const { done, total } of mail.folders ?? []) expect(total).toBe(done);
  },
);

test('what the new mailbox keeps in a form of its own is told of a folder too that has gone at the source since, beside what it has changed', async () => {
  const world = await openWorldOfTest({
    mail: { INBOX: some(0, 3), Work: some(10, 6), Other: some(30, 4) },
    change: (direction, part) =>
      direction === 'to client'
        ? Buffer.from(
            part
              .toString('latin1')
              .replaceAll(/^Subject: /gm, 'Subject:\t')
              .replaceAll('Line of message 33.', 'Lime of message 33.'),
            'latin1',
          )
        : part,
  });
  const ordered = await world.order();
  let hasWaited = false;
  await using _worker = await world.work({
    onStep: async (step, folder) => {
      if (hasWaited || step !== 'listed' || folder !== 'Other') return;
      await mailWhen(world, ordered, ({ kept }) => kept === 9);
      throw new MailError('busy', 'The server asks for a pause.', { pause: 600_000 });
    },
  });
  await mailWhen(world, ordered, ({ waiting }) => waiting !== undefined);
  hasWaited = true;
  {
    await using client = await world.sourceMail();
    await client.command('DELETE Work');
  }
  await sentOn(world, ordered);
  const mail = await whenEnded(world, ordered);
  const { sums } = await receiptOf(world, ordered);
  expect({ ...mail, sums }).toMatchObject({ status: 'review', changed: 1, kept: 12, sums: { 'message kept': 12 } });
}, 60_000);

const HOUR_LATER = "now() + interval '1 hour'";

test.each([true, false])(
  'with a clock that is set back meanwhile nothing ends before it began, stopped (%s) and taken back',
  async (isStopped) => {
    const world = await openWorldOfTest({ mail: { INBOX: some(0, 2) } });
    const { database } = world.web;
    const ordered = await world.order();
    await database.query(`update transfers set created = ${HOUR_LATER}`);
    await database.query(`update operations set started = ${HOUR_LATER}`);
    if (isStopped) await call(world, 'cancel', ordered);
    {
      await using _worker = await world.work();
      const { started, finished } = await whenEnded(world, ordered);
      expect(finished).toBe(started);
    }
    const { body } = await world.web.get(receiptAddress(ordered.id, 'json'), ordered.headers);
    expect(body).toHaveProperty('ended', (body as { ordered: string }).ordered);
    await call(world, 'take-back', ordered, { password: PASSWORD });
    await database.query(`update take_backs set asked = ${HOUR_LATER}`);
    await using _worker = await world.work();
    const over = 'select finished >= asked as follows from take_backs where finished is not null';
    await expect.poll(() => database.query(over), { timeout: 20_000 }).toEqual([{ follows: true }]);
  },
);
