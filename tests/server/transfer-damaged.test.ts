import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openHolds } from '../../src/server/mail/imap/hold.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { FRESH } from '../support/fresh-database.ts';
import { HASTY_CLOCK } from '../support/hasty-clock.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

/** What would wait for minutes is sent on, so that an account is signed in to as often within seconds. */
const HASTY = { clock: HASTY_CLOCK, holds: openHolds(HASTY_CLOCK, 0) };
const COUNT = 30;
const DAMAGED = [0, 7, 8, COUNT - 1];

const letters = Array.from({ length: COUNT }, (_, index) => letter(index, 60_000));
const whole = letters.filter((_, number) => !DAMAGED.includes(number));
const digests = whole.map(({ bytes }) => createHash('sha256').update(bytes).digest('hex')).toSorted();

describe(
  'a message that is damaged on the disk of its server is named, and keeps nothing back',
  { ...needs('dovecot'), tags: 'proof' },
  () => {
    let source: Dovecot;

    beforeAll(async () => {
      source = await startDovecot({ maildir: true });
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      await mail.append('INBOX', letters);
      await source.damage(SUBSCRIBER, DAMAGED, 40_000);
    });

    afterAll(async () => {
      expect(await source.log()).toContain('Cached message size larger than expected');
      await source[Symbol.asyncDispose]();
    });

    test('by a copy', async () => {
      await using destination = await startDovecot();
      const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url };
      await using world = await openWorld(FRESH, environment, HASTY);
      const { id } = await world.transfers.start(order());
      const { status, done, total, skipped } = await mailUntil(world.transfers, id, undefined, undefined, (each) =>
        world.sendOn(each),
      );
      expect({ status, done, total }).toEqual({ status: 'completed', done: COUNT, total: COUNT });
      const reason = 'The mail server lists this message but does not hand it out.';
      expect(skipped).toEqual(DAMAGED.map(() => ({ mailbox: 'INBOX', reason })));
      await using mail = await openMailClient(destination.port, NEW_ADDRESS, DOVECOT_PASSWORD);
      expect((await mail.read('INBOX')).map(({ sha256 }) => sha256).toSorted()).toEqual(digests);
    });

    test('by an export', needs('unzip'), async () => {
      const folder = await mkdtemp(join(tmpdir(), 'damaged-'));
      try {
        const environment = { LEGACY_IMAP_URL: source.url, DATA_DIR: folder };
        await using world = await openWorld(FRESH, environment, HASTY);
        const { id } = await world.transfers.start(
          order({ destination: { email: 'me@example.com', provider: 'file_export' }, emailFormat: 'eml' }),
        );
        const { status, skipped } = await mailUntil(world.transfers, id, undefined, undefined, (each) =>
          world.sendOn(each),
        );
        expect({ status, skipped: skipped?.length }).toEqual({ status: 'completed', skipped: DAMAGED.length });
        const [file] = (await world.transfers.status(id))?.exports ?? [];
        const [, place = '', name = ''] = /exports\/([^/]+)\/([^?]+)/.exec(file?.url ?? '') ?? [];
        const manifest = await run('unzip', ['-p', join(folder, 'exports', place, name), 'manifest.jsonl']);
        const items = manifest
          .toString()
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { readonly type: string; readonly sha256: string });
        const exported = items.flatMap(({ type, sha256 }) => (type === 'message' ? [sha256] : []));
        expect(exported.toSorted()).toEqual(digests);
      } finally {
        await rm(folder, { recursive: true });
      }
    });
  },
);
