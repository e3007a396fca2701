import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, afterEach, describe, expect, test } from 'vitest';
import type { StepListener } from '../../src/server/mail/copy/run/mail-copy.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { layFreshDatabase } from '../support/fresh-database.ts';
import { openMailClient, type Letter } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const STOP_WITHIN_MS = 10_000;
const TWIN = letter(3);

describe('a transfer', { ...needs('dovecot'), timeout: 120_000 }, () => {
  let source: Dovecot;
  let destination: Dovecot;
  let folder: string;
  beforeEach(async () => {
    source = await startDovecot();
    destination = await startDovecot();
    folder = await mkdtemp(join(tmpdir(), 'transfer-'));
    await layFreshDatabase(folder);
  });
  afterEach(async () => {
    await source[Symbol.asyncDispose]();
    await destination[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const open = (onStep: StepListener = () => {}) =>
    openWorld(
      { folder: join(folder, 'database') },
      { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url },
      { onStep },
    );
  const sourceClient = () => openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  const difference = () =>
    differenceOf(
      { port: source.port, user: SUBSCRIBER, password: DOVECOT_PASSWORD },
      { port: destination.port, user: NEW_ADDRESS, password: DOVECOT_PASSWORD },
    );

  async function fill(mailbox: string, letters: readonly Letter[]): Promise<void> {
    await using mail = await sourceClient();
    if (mailbox !== 'INBOX') await mail.create(mailbox);
    await mail.append(mailbox, letters);
  }

  /** Starts the transfer, and stops the worker gently after so many groups. */
  async function stopAfter(groups: number): Promise<string> {
    let moved = 0;
    const { promise: enough, resolve } = Promise.withResolvers<void>();
    const world = await open((step) => {
      moved += step === 'outcome committed' ? 1 : 0;
      if (moved === groups) resolve();
    });
    const { id } = await world.transfers.start(order());
    await enough;
    const asked = Date.now();
    await world[Symbol.asyncDispose]();
    expect(Date.now() - asked).toBeLessThan(STOP_WITHIN_MS);
    return id;
  }

  test.for([
    ['the same dates', {}],
    ['the date of a day on which it was moved', { date: ' 2-Mar-2016 02:35:34 +0000' }],
  ] as const)(
    'knows messages again when the source gives them new UIDs under a new UIDVALIDITY, with %s',
    { tags: 'proof' },
    async ([, other]) => {
      const letters = [...Array.from({ length: 150 }, (_, index) => letter(index)), TWIN, TWIN];
      await fill('Work', letters);
      const id = await stopAfter(1);
      {
        await using mail = await sourceClient();
        await mail.command('DELETE Work');
      }
      await fill(
        'Work',
        letters.toReversed().map((each) => ({ ...each, ...other })),
      );
      await using world = await open();
      expect(await mailUntil(world.transfers, id)).toMatchObject({
        status: 'completed',
        lost: 0,
        duplicated: 0,
        changed: 0,
      });
      // What was copied before has the date that it had then.
      const { changed, ...rest } = await difference();
      expect(rest).toEqual({ messages: 152, lost: [], duplicated: [] });
      expect(changed.length > 0).toBe('date' in other);
    },
  );

  test('brings what arrives meanwhile, and counts as nothing lost what is deleted meanwhile', async () => {
    await fill(
      'INBOX',
      Array.from({ length: 250 }, (_, index) => letter(index)),
    );
    let changed = false;
    await using world = await open(async (step) => {
      if (changed || step !== 'appended') return;
      changed = true;
      await using mail = await sourceClient();
      await mail.append('INBOX', [letter(900), letter(901)]);
      await mail.command('SELECT INBOX');
      // The last chunk is waiting; the first message has long been copied.
      await mail.command('UID STORE 245:250 +FLAGS (\\Deleted)');
      await mail.command('UID EXPUNGE 245:250');
    });
    const { id } = await world.transfers.start(order());
    expect(await mailUntil(world.transfers, id)).toMatchObject({
      status: 'completed',
      lost: 0,
      duplicated: 0,
      changed: 0,
    });
    expect(changed).toBe(true);
    const { messages, lost, duplicated } = await difference();
    expect({ messages, lost, duplicated }).toEqual({ messages: 246, lost: [], duplicated: [] });
  });

  test(
    'leaves what the subscriber takes away at the destination, and measures what is there twice',
    { tags: 'proof' },
    async () => {
      await fill(
        'INBOX',
        Array.from({ length: 120 }, (_, index) => letter(index * 8)),
      );
      let isDone = false;
      await using world = await open(async (step) => {
        if (isDone || step !== 'verified') return;
        isDone = true;
        await using mail = await openMailClient(destination.port, NEW_ADDRESS, DOVECOT_PASSWORD);
        const [first] = await mail.read('INBOX');
        await mail.command('SELECT INBOX');
        await mail.command(`UID STORE ${first?.uid} +FLAGS (\\Deleted)`);
        await mail.command(`UID EXPUNGE ${first?.uid}`);
        await mail.command('UID COPY 5 INBOX');
      });
      const { id } = await world.transfers.start(order());
      expect(await mailUntil(world.transfers, id)).toMatchObject({
        status: 'review',
        done: 120,
        lost: 0,
        duplicated: 1,
        changed: 0,
      });
    },
  );

  test('stops gently when asked, and the next start goes on at once', { tags: 'proof' }, async () => {
    await fill('INBOX', [...Array.from({ length: 300 }, (_, index) => letter(index)), TWIN, TWIN]);
    const id = await stopAfter(1);
    const steps: string[] = [];
    await using world = await open((step) => {
      steps.push(step);
    });
    expect(await mailUntil(world.transfers, id)).toMatchObject({ status: 'completed', done: 302, total: 302 });
    expect(steps.filter((step) => step === 'appended').length).toBeLessThanOrEqual(3);
    expect(await difference()).toEqual({ messages: 302, lost: [], duplicated: [], changed: [] });
  });
});
