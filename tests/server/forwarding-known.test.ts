import { describe, expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { FORWARDING_SCRIPT } from '../../src/server/forwarding/set-up-forwarding.ts';
import { openSieveSession, sievePlaceOf } from '../../src/server/forwarding/sieve-session.ts';
import { letterOf } from '../../src/server/notifications/wording.ts';
import { factsOf, notMoved } from '../../src/server/receipt/facts.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { forwardingOf, noteForwardingOff } from '../../src/server/transfers/forwardings.ts';
import { stopTransfer } from '../../src/server/transfers/stopping.ts';
import type { WorkerServices } from '../../src/server/worker/worker.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { FRESH } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { safeFor } from '../support/safe.ts';
import { NEW_ADDRESS, openWorld, order, SUBSCRIBER, type World } from '../support/transfer-world.ts';

const OTHER_ADDRESS = 'bea@yahoo.example';
const WITHIN_MS = 20_000;

async function isForwarding(dovecot: Dovecot): Promise<boolean> {
  const place = sievePlaceOf(
    readSettings({ SANDBOX: 'on', LEGACY_SIEVE_URL: dovecot.sieveUrl, TRUSTED_MAIL_HOSTS: '127.0.0.1' }),
  );
  if (place === null) throw new Error('The setting is not read.');
  const account = { email: SUBSCRIBER, password: DOVECOT_PASSWORD, place };
  await using session = await openSieveSession(account, AbortSignal.timeout(WITHIN_MS));
  return (await session.scripts()).some(({ name, active }) => name === FORWARDING_SCRIPT && active);
}

async function open(pause: NonNullable<WorkerServices['pause']>) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const source = stack.use(await startDovecot({ sieve: {} }));
  const destination = stack.use(await startDovecot());
  {
    await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
    await mail.append('INBOX', [letter(1), letter(2)]);
  }
  const environment = {
    LEGACY_IMAP_URL: source.url,
    YAHOO_IMAP_URL: destination.url,
    LEGACY_SIEVE_URL: source.sieveUrl,
  };
  return { source, world: stack.use(await openWorld(FRESH, environment, { pause })) };
}

/** A transfer to an address, with forwarding. */
async function start({ transfers }: World, email: string): Promise<string> {
  const destination = { email, password: DOVECOT_PASSWORD, provider: 'yahoo' } as const;
  return (
    await transfers.start(
      order({ operations: ['emailmigration', 'emailforwarding'], destination, notificationContact: email }),
    )
  ).id;
}

async function whenAllEnded({ database }: World): Promise<void> {
  await expect.poll(() => database.query('select 1 from transfers where finished is null')).toEqual([]);
}

/** What a letter about the transfer says. */
async function letterAbout({ transfers }: World, id: string): Promise<string> {
  const news = await transfers.news(id);
  if (news === null) throw new Error('There is no such transfer.');
  const facts = {
    kind: 'finished',
    transferId: id,
    statusUrl: 'x',
    legacyName: 'San Bruno',
    supportPhone: '1',
  } as const;
  return letterOf({ ...news, ...facts }).text;
}

describe('what is known of a forwarding', needs('dovecot', 'sievec', 'managesieve', 'dovecot-lda'), () => {
  test('is that it is on, where a stop came just after it was set up', async () => {
    const stands = Promise.withResolvers<void>();
    const thaw = Promise.withResolvers<void>();
    // The worker stands still in the pause that follows.
    const { source, world } = await open(async () => {
      stands.resolve();
      await thaw.promise;
    });
    const id = await start(world, NEW_ADDRESS);
    await stands.promise;
    const { database } = world;
    const safe = await safeFor(FRESH, openVault(Buffer.alloc(32, 7)));
    const services = {
      database,
      safe,
      queue: { announce: async () => {} },
      tokens: { expire: async () => {}, forget: async () => {} },
    };
    await stopTransfer(services, id, async () => {});
    thaw.resolve();
    await whenAllEnded(world);
    expect(await isForwarding(source)).toBe(true);
    expect(await forwardingOf(database, id)).toMatchObject({ to: NEW_ADDRESS, isOn: true });
  });

  test('is that it is over, once a later transfer forwards to another address or its owner ends it', async () => {
    const { world } = await open(async () => {});
    const { database } = world;
    const first = await start(world, NEW_ADDRESS);
    await whenAllEnded(world);
    expect(await letterAbout(world, first)).toContain(`goes to ${NEW_ADDRESS}`);

    const second = await start(world, OTHER_ADDRESS);
    await whenAllEnded(world);
    expect(await forwardingOf(database, first)).toMatchObject({ isOn: false });
    expect(await letterAbout(world, first)).not.toContain(`goes to ${NEW_ADDRESS}`);
    expect(await forwardingOf(database, second)).toMatchObject({ isOn: true });
    expect(await letterAbout(world, second)).toContain(`goes to ${OTHER_ADDRESS}`);

    await noteForwardingOff(database, second);
    expect(await letterAbout(world, second)).not.toContain(`goes to ${OTHER_ADDRESS}`);
  });

  test('is that it is on for a later order that brings only what is new, which can end it as well', async () => {
    const { source, world } = await open(async () => {});
    await start(world, NEW_ADDRESS);
    await whenAllEnded(world);
    const destination = { email: NEW_ADDRESS, password: DOVECOT_PASSWORD, provider: 'yahoo' } as const;
    const { id } = await world.transfers.start(
      order({ operations: ['emailmigration'], destination, notificationContact: NEW_ADDRESS }),
      { anew: true },
    );
    await whenAllEnded(world);
    expect(await letterAbout(world, id)).toContain(`goes to ${NEW_ADDRESS}`);
    expect(await letterAbout(world, id)).not.toContain('does not follow you');
    expect(await forwardingOf(world.database, id)).toMatchObject({ to: NEW_ADDRESS, isOn: true });
    expect(await isForwarding(source)).toBe(true);
    // One that was ordered to set it up and could not says what is.
    await world.database.query(
      `insert into operations (transfer_id, operation, status, failure, started, finished)
         values ($1, 'emailforwarding', 'error', 'We could not set up forwarding.', now(), now())`,
      [id],
    );
    expect(await letterAbout(world, id)).not.toContain('could not set up');
    const status = await world.transfers.status(id);
    expect(status?.emailforwarding).toMatchObject({ status: 'completed', to: NEW_ADDRESS });
    const facts = await factsOf(world.database, id, 'San Bruno');
    expect(facts === null ? [] : notMoved(facts).join()).not.toContain('from now on');
    await world.database.query("delete from operations where transfer_id = $1 and operation = 'emailforwarding'", [id]);
    await noteForwardingOff(world.database, id);
    expect(await forwardingOf(world.database, id)).toBeNull();
    expect(await letterAbout(world, id)).toContain('does not follow you');
  });
});
