import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readSettings } from '../../src/contract/settings.ts';
import { openDocuments } from '../../src/sandbox/contacts/documents.ts';
import { startScriptServer } from '../../src/sandbox/script-server.ts';
import {
  FORWARDING_SCRIPT,
  setUpForwarding,
  switchOffForwarding,
} from '../../src/server/forwarding/set-up-forwarding.ts';
import { openSieveSession, sievePlaceOf } from '../../src/server/forwarding/sieve-session.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { fromBrowser, openWebWorld } from '../support/web-world.ts';

const BROWSER = 'b'.repeat(64);
const ANNA = 'anna@sanbrunocable.example';

const accepts = (email: string, password: string) => email === ANNA && password === 'right';

async function open() {
  const folder = await mkdtemp(join(tmpdir(), 'scripts-'));
  const documents = openDocuments(join(folder, 'scripts.journal'));
  const server = await startScriptServer({ port: 0, documents, accepts });
  onTestFinished(async () => {
    await server[Symbol.asyncDispose]();
    documents[Symbol.dispose]();
    await rm(folder, { recursive: true });
  });
  const place = sievePlaceOf(
    readSettings({
      SANDBOX: 'on',
      LEGACY_SIEVE_URL: `sieve://127.0.0.1:${server.port}`,
      TRUSTED_MAIL_HOSTS: '127.0.0.1',
    }),
  );
  if (place === null) throw new Error('The setting is not read.');
  return {
    port: server.port,
    signIn: (password = 'right') => openSieveSession({ email: ANNA, password, place }, new AbortController().signal),
  };
}

test('the sandbox offers forwarding: a script beside the one that was there, over ManageSieve', async () => {
  const { signIn } = await open();
  await using session = await signIn();
  await session.put('my "rules"', 'require ["fileinto"];\r\nkeep;\r\n');
  await session.activate('my "rules"');
  expect(await setUpForwarding(session, 'anna@yahoo.example')).toBe('set');
  expect(await setUpForwarding(session, 'anna@yahoo.example')).toBe('set');
  expect(await session.scripts()).toEqual([
    { name: 'my "rules"', active: false },
    { name: FORWARDING_SCRIPT, active: true },
  ]);
  const script = await session.read(FORWARDING_SCRIPT);
  expect(script).toContain('redirect :copy "anna@yahoo.example";');
  expect(script).toContain('include :personal :optional "my \\"rules\\"";');

  await switchOffForwarding(session, 'somebody@else.example');
  expect((await session.scripts()).find(({ active }) => active)?.name).toBe(FORWARDING_SCRIPT);
  await switchOffForwarding(session, 'anna@yahoo.example');
  await switchOffForwarding(session, 'anna@yahoo.example');
  expect(await session.scripts()).toEqual([{ name: 'my "rules"', active: true }]);
});

test('the sandbox refuses scripts from people without the password, and scripts that it could not run', async () => {
  const { signIn } = await open();
  await expect(signIn('wrong')).rejects.toMatchObject({ fault: 'credentials' });
  await using session = await signIn();
  await expect(session.put('x', 'require "vacation";\r\n')).rejects.toMatchObject({ fault: 'refused' });
  await expect(session.put('x', 'x'.repeat(70_000))).rejects.toMatchObject({ fault: 'full' });
  await expect(session.activate('x')).rejects.toMatchObject({ fault: 'refused' });
});

test('forwarding is switched off only by someone who has the password of the mailbox', async () => {
  const { signIn, port } = await open();
  await using world = await openWebWorld({
    environment: {
      LEGACY_SIEVE_URL: `sieve://127.0.0.1:${port}`,
      TRUSTED_MAIL_HOSTS: '127.0.0.1',
    },
  });
  world.passwords.set(ANNA, 'right');
  const id = 'c'.repeat(32);
  await world.database.query(
    `insert into transfers (id, submit_key, source_email, source_provider, destination_email, destination_provider, operations)
     values ($1, 'k', $2, 'sanbruno', 'anna@yahoo.example', 'yahoo', '{emailmigration,emailforwarding}')`,
    [id, ANNA],
  );
  await world.database.query(
    `insert into operations (transfer_id, operation, status, finished) values ($1, 'emailforwarding', 'completed', now())`,
    [id],
  );
  await using session = await signIn();
  await setUpForwarding(session, 'anna@yahoo.example');
  const off = (password: string, job = id) =>
    world.post('/api/v2/transfers/forwarding-off/', { job_id: job, password });
  expect(await off('right', 'd'.repeat(32))).toMatchObject({ status: 404, body: { error: 'MIGRATION_ID_NOT_FOUND' } });
  expect(await off('wrong')).toMatchObject({ status: 401, body: { error: 'INVALID_CREDENTIALS' } });
  expect((await session.scripts()).length).toBe(1);
  expect(await off('right')).toMatchObject({ status: 200, body: { ok: true } });
  expect(await session.scripts()).toEqual([]);
  await openWeb(world.services).owners.add(id, BROWSER);
  expect((await world.get(`/api/v2/status/?job_id=${id}`, fromBrowser(BROWSER))).body).toMatchObject({
    emailforwarding: { status: 'completed', ended: expect.any(String) as string },
  });
  expect(await off('right')).toMatchObject({ status: 409, body: { error: 'OPERATION_NOT_ALLOWED' } });
});
