import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isOffered } from '../../machines/owner-acts.ts';
import { copiedBy } from '../../src/contract/transfer-status.ts';
import { comparisonOf, factsOf } from '../../src/server/receipt/facts.ts';
import { openVault } from '../../src/server/store/vault.ts';
import { stopTransfer } from '../../src/server/transfers/stopping.ts';
import { DOVECOT_PASSWORD, startDovecot } from '../support/dovecot.ts';
import { layFreshDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { letter } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { safeFor } from '../support/safe.ts';
import { NEW_ADDRESS, openWorld, SUBSCRIBER } from '../support/transfer-world.ts';

const PROCESS = join(import.meta.dirname, '../support/transfer-process.ts');

test(
  'what a killed worker had copied is reported after a stop, and can be taken back',
  { ...needs('dovecot'), tags: 'proof' },
  async () => {
    const stack = new AsyncDisposableStack();
    onTestFinished(() => stack.disposeAsync());
    const source = stack.use(await startDovecot());
    const destination = stack.use(await startDovecot());
    {
      await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
      const letters = Array.from({ length: 150 }, (_, number) => letter(number));
      await mail.append('INBOX', letters);
    }
    const folder = await mkdtemp(join(tmpdir(), 'killed-'));
    stack.defer(() => rm(folder, { recursive: true, force: true }));
    await layFreshDatabase(folder);
    const database = { folder: join(folder, 'database') };
    const environment = { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url };
    const killAt = { step: 'outcome committed', count: 1 };
    const child = spawn(process.execPath, [PROCESS, JSON.stringify({ database, environment, killAt })], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    expect(signal).toBe('SIGKILL');

    const world = stack.use(await openWorld(database, environment, {}, false));
    const [{ id } = { id: '' }] = await world.database.query<{ id: string }>('select id from transfers');
    const safe = await safeFor(database, openVault(Buffer.alloc(32, 7)));
    const services = {
      database: world.database,
      safe,
      queue: { announce: async () => {} },
      tokens: { expire: async () => {}, forget: async () => {} },
    };
    expect(await stopTransfer(services, id, async () => {})).toBe(true);

    await using mail = await openMailClient(destination.port, NEW_ADDRESS, DOVECOT_PASSWORD);
    const there = (await mail.read('INBOX')).length;
    const [ledger] = await world.database.query<{ stored: number }>(
      "select count(*)::integer as stored from ledger where fate = 'stored'",
    );
    const status = await world.transfers.status(id);
    const facts = await factsOf(world.database, id, 'San Bruno');
    if (status === null || facts === null || ledger === undefined) throw new Error('The transfer is gone.');
    expect(ledger.stored).toBeGreaterThan(0);
    expect(copiedBy(status.emailmigration ?? {})).toBe(ledger.stored);
    expect(isOffered(status, 'take back')).toBe(true);
    // Each message that is in the new mailbox, or may be, is told of.
    const { copied, unsure = 0 } = facts;
    expect(copied).toBe(ledger.stored);
    expect(there).toBeGreaterThanOrEqual(copied);
    expect(there).toBeLessThanOrEqual(copied + unsure);
    expect(comparisonOf(facts).includes('on their way')).toBe(unsure > 0);
  },
);
