import { expect, test } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { FRESH } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { mailUntil, NEW_ADDRESS, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

/** Of octets that shrink to a hundredth. */
const letters = Array.from({ length: 30 }, (_, number) => letter(number, 20_000));
const octets = letters.reduce((sum, { bytes }) => sum + bytes.length, 0);

test(
  'with COMPRESS_MAIL=on every octet of a transfer arrives, and few go over the line',
  needs('dovecot'),
  async () => {
    await using source = await startDovecot({ compress: true });
    await using destination = await startDovecot({ compress: true });
    await using near = await startTcpProxy(source.port);
    await using far = await startTcpProxy(destination.port);
    {
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      await mail.append('INBOX', letters);
    }
    {
      const environment = {
        LEGACY_IMAP_URL: `imap://127.0.0.1:${near.port}`,
        YAHOO_IMAP_URL: `imap://127.0.0.1:${far.port}`,
        COMPRESS_MAIL: 'on',
      };
      await using world = await openWorld(FRESH, environment);
      const { id } = await world.transfers.start(order());
      expect(await mailUntil(world.transfers, id)).toMatchObject({ status: 'completed', lost: 0 });
    }
    for (const passed of [near.passed['to client'], far.passed['to server'], far.passed['to client']])
      expect(passed).toBeLessThan(0.2 * octets);
    const difference = await differenceOf(
      { port: source.port, user: SUBSCRIBER, password: DOVECOT_PASSWORD },
      { port: destination.port, user: NEW_ADDRESS, password: DOVECOT_PASSWORD },
    );
    expect(difference).toEqual({ messages: letters.length, lost: [], duplicated: [], changed: [] });
  },
);
