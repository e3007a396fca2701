import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { layFreshDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

const LETTERS = 60;
const OCTETS = 20_000;

describe('a transfer', { ...needs('dovecot'), timeout: 60_000 }, () => {
  test.each([
    { COMPRESS_MAIL: 'on', most: 0.2, least: 0 },
    { COMPRESS_MAIL: 'off', most: 2, least: 0.8 },
  ])(
    'with COMPRESS_MAIL=$COMPRESS_MAIL brings every octet over, and over the line as few as that means',
    async ({ COMPRESS_MAIL, most, least }) => {
      await using source = await startDovecot({ compress: true });
      await using destination = await startDovecot({ compress: true });
      const folder = await mkdtemp(join(tmpdir(), 'transfer-'));
      onTestFinished(() => rm(folder, { recursive: true, force: true }));
      await layFreshDatabase(folder);
      await using near = await startTcpProxy(source.port);
      await using far = await startTcpProxy(destination.port);
      {
        await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
        await mail.append(
          'INBOX',
          Array.from({ length: LETTERS }, (_, number) => letter(number, OCTETS)),
        );
      }
      {
        await using world = await openWorld(
          { folder: join(folder, 'database') },
          {
            LEGACY_IMAP_URL: `imap://127.0.0.1:${near.port}`,
            YAHOO_IMAP_URL: `imap://127.0.0.1:${far.port}`,
            COMPRESS_MAIL,
          },
        );
        const { id } = await world.transfers.start(order());
        expect(await mailUntil(world.transfers, id)).toMatchObject({ status: 'completed', lost: 0 });
      }
      const all = LETTERS * OCTETS;
      for (const octets of [near.passed['to client'], far.passed['to server'], far.passed['to client']]) {
        expect(octets).toBeLessThan(most * all);
        expect(octets).toBeGreaterThan(least * all);
      }
      const difference = await differenceOf(
        { port: source.port, user: SUBSCRIBER, password: DOVECOT_PASSWORD },
        { port: destination.port, user: NEW_ADDRESS, password: DOVECOT_PASSWORD },
      );
      expect(difference).toEqual({ messages: LETTERS, lost: [], duplicated: [], changed: [] });
    },
  );
});
