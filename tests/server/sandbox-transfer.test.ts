import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/main.ts';
import { openResolver } from '../../src/server/network/resolver.ts';
import { FRESH } from '../support/fresh-database.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { PUBLIC_URL, signInAt } from '../support/sandbox-person.ts';
import { mailUntil, openWorld } from '../support/transfer-world.ts';

/** Beside other tests a database takes its time. */
const PATIENCE = 120_000;

const port = (url: string | undefined) => Number(new URL(url ?? '').port);

let folder: string;
let sandbox: Sandbox;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandbox-transfer-'));
  sandbox = await startSandbox({
    folder: join(folder, 'sandbox'),
    webPort: 0,
    publicUrl: PUBLIC_URL,
    legacyDomains: ['sanbrunocable.example'],
  });
});

afterEach(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

test(
  'the move to Yahoo carries all 400 letters of the main subscriber, none lost, doubled or changed',
  async () => {
    const [maria] = sandbox.subscribers;
    if (maria === undefined) throw new Error('There is no subscriber.');
    const { email, password } = maria;
    const { provisioning, legacyImapUrl, providers } = readSettings({ ...sandbox.environment, SANDBOX: 'on' });
    await fetch(`${provisioning?.url}/accounts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${provisioning?.token}` },
      body: JSON.stringify({ email, password, in_qa: false }),
    });
    const { tokens } = await signInAt(sandbox, 'yahoo', { email, password });
    await using world = await openWorld(FRESH, sandbox.environment);
    const { id } = await world.transfers.start({
      source: { email, password, provider: 'sanbruno' },
      destination: { email, tokenId: tokens.access_token, provider: 'yahoo' },
      operations: ['emailmigration'],
      inQa: false,
    });
    const progress = await mailUntil(world.transfers, id, undefined, PATIENCE);
    expect(progress).toMatchObject({ status: 'completed', done: 400, total: 400, skipped: [] });
    const places: Readonly<Record<string, string>> = { Drafts: 'Draft', Junk: 'Bulk' };
    // Not every provider takes a quote in a name, so the engine writes another sign.
    const difference = await differenceOf(
      { port: port(legacyImapUrl), user: email, password },
      { port: port(providers.yahoo.imapUrl), user: email, password },
      (mailbox) => places[mailbox] ?? mailbox,
    );
    expect(difference).toEqual({ messages: 400, lost: [], duplicated: [], changed: [] });
  },
  PATIENCE,
);

test(
  'a transfer to another provider, found by name, puts nested mailboxes under its own delimiter',
  async () => {
    const tom = sandbox.subscribers[1];
    const host = sandbox.environment['TRUSTED_MAIL_HOSTS']
      ?.split(',')
      .find((entry) => entry.startsWith('imap.mail.example'));
    if (tom === undefined || host === undefined) throw new Error('There is no subscriber or no other provider.');
    const settings = readSettings({ ...sandbox.environment, SANDBOX: 'on' });
    await using world = await openWorld(FRESH, sandbox.environment, {
      resolver: openResolver(settings.dnsServers),
    });
    const { id } = await world.transfers.start({
      source: { email: tom.email, password: tom.password, provider: 'sanbruno' },
      destination: { email: 'tom@mail.example', password: 'sandbox', provider: 'other', imap: host },
      operations: ['emailmigration'],
      inQa: false,
    });
    expect(await mailUntil(world.transfers, id, undefined, PATIENCE)).toMatchObject({
      status: 'completed',
      done: 12,
      total: 12,
      skipped: [],
    });
    const difference = await differenceOf(
      { port: port(settings.legacyImapUrl), user: tom.email, password: tom.password },
      { port: Number(host.split(':')[1]), user: 'tom@mail.example', password: 'sandbox' },
      (mailbox) => mailbox.replaceAll('/', '.'),
    );
    expect(difference).toEqual({ messages: 12, lost: [], duplicated: [], changed: [] });
  },
  PATIENCE,
);
