import { expect, test } from 'vitest';
import { SIZES } from '../../src/server/mail/copy/run/sizes.ts';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { FRESH } from '../support/fresh-database.ts';
import { openMailClient, type Letter } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { mailUntil, openWorld, order, SUBSCRIBER } from '../support/transfer-world.ts';

/** Only in messages that are altered; the line turns one bit of it. */
const [GIVEN, TURNED] = [0xa4, 0xa5];

test(
  'a message in which one bit was flipped on its way is reported as changed, large or small',
  needs('dovecot'),
  async () => {
    await using source = await startDovecot();
    await using destination = await startDovecot();
    const sizes = [300, 20_000, SIZES.mac, 3 * SIZES.mac, 2_000_000];
    const letters = sizes.flatMap((size, at) => [letter(2 * at, size), spoilt(letter(2 * at + 1, size))]);
    {
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      await mail.append('INBOX', letters);
    }
    let turned = 0;
    await using line = await startTcpProxy(destination.port, {
      change: (direction, part) => {
        if (direction === 'to client') return part;
        const changed = Buffer.from(part);
        for (let at = changed.indexOf(GIVEN); at >= 0; at = changed.indexOf(GIVEN, at)) {
          changed[at] = TURNED;
          turned += 1;
        }
        return changed;
      },
    });
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: `imap://127.0.0.1:${line.port}` };
    await using world = await openWorld(FRESH, environment);
    const { id } = await world.transfers.start(order());
    expect(await mailUntil(world.transfers, id)).toMatchObject({
      done: letters.length,
      total: letters.length,
      changed: sizes.length,
      lost: 0,
      duplicated: 0,
    });
    expect(turned).toBe(sizes.length);
  },
);

/** The last octet before the end of its last line. */
function spoilt({ bytes, ...facts }: Letter): Letter {
  const other = Buffer.from(bytes);
  other[other.length - 3] = GIVEN;
  return { ...facts, bytes: other };
}
