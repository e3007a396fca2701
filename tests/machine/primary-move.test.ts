import { expect, test } from 'vitest';
import { addressOf } from '../../machines/wizard.routes.ts';
import { sessionOf } from '../../machines/wizard.context.ts';
import { settle, startWizard } from '../support/wizard.ts';

const CAPABLE = { allowedOperations: ['emailmigration', 'contactsmigration'], provider: 'sanbruno', auth: 'other' };
const SCRIPT = {
  'ask for capabilities': () => CAPABLE,
  'validate the account': () => ({ ok: true, token: 'a-jwt' }),
  'create the account': () => ({ ok: true }),
  'check the domain': () => ({ valid: true }),
  'announce the migration': () => ({ ok: true }),
  'start the transfer': () => ({ jobid: '0123456789abcdef0123456789abcdef' }),
};

test('a subscriber moves from Home to the transfer ID, with each pause of the specification', async () => {
  const before = startWizard(SCRIPT);
  const { actor, clock } = before;
  actor.send({ type: 'home.visit', error: '' });
  actor.send({ type: 'start.press' });
  actor.send({ type: 'email.type', email: 'Pat@SanBrunoCable.example' });
  actor.send({ type: 'password.type', password: 'secret' });
  clock.increment(1_000);
  await settle();
  actor.send({ type: 'credentials.submit' });
  await settle();
  clock.increment(999);
  expect(addressOf(actor.getSnapshot())).toEqual({ path: '/', query: {} });
  clock.increment(1);
  expect(addressOf(actor.getSnapshot())).toEqual({ path: '/destination-account', query: {} });

  actor.send({ type: 'move.press' });
  actor.send({ type: 'move.continue' });
  await settle();
  expect(before.left).toEqual([]);
  clock.increment(2_000);
  expect(before.left).toEqual(['/api/oauth/?provider=yahoo']);

  const after = startWizard(SCRIPT, sessionOf(actor.getSnapshot().context));
  after.actor.send({
    type: 'oauth-callback.visit',
    error: '',
    tokenId: 'ffffffffffffffffffffffffffffffff',
    email: 'PAT@sanbrunocable.example',
    provider: '',
    hash: '',
    contacts: '',
  });
  expect(addressOf(after.actor.getSnapshot())).toEqual({ path: '/start-migration', query: {} });
  after.actor.send({ type: 'contact.type', contact: 'pat@mail.example' });
  after.actor.send({ type: 'transfer.submit' });
  after.clock.increment(1_000);
  await settle();
  after.actor.send({ type: 'transfer.submit' });
  after.actor.send({ type: 'transfer.submit' });
  await settle();
  expect(addressOf(after.actor.getSnapshot())).toEqual({
    path: '/complete',
    query: { migration_id: '0123456789abcdef0123456789abcdef' },
  });
  expect(after.calls.filter((call) => call.name === 'start the transfer')).toEqual([
    {
      name: 'start the transfer',
      input: {
        sourceAccount: { email: 'pat@sanbrunocable.example', password: 'secret', provider: 'sanbruno' },
        destinationAccount: {
          email: 'pat@sanbrunocable.example',
          provider: 'yahoo',
          tokenId: 'ffffffffffffffffffffffffffffffff',
        },
        operations: ['emailmigration', 'contactsmigration'],
        parameters: { notificationEmail: 'pat@mail.example', inQa: false },
        fileExportParameters: {},
      },
    },
  ]);
});

test('a sign-in at Yahoo with another address returns to the destination page with the invalid email error', async () => {
  const session = {
    source: { email: 'pat@sanbrunocable.example', password: 'secret', provider: 'sanbruno' as const },
    destination: { email: '', provider: 'yahoo' as const },
    operations: ['emailmigration'],
    allowContactsMigration: true,
    googleTermsAccepted: false,
    checkSanBrunoOnOauthCallback: true,
    jwt: null,
    notificationContact: '',
    emailHash: null,
    awaitedConsent: null,
    emailExportType: null,
    contactsExportType: null,
    draft: null,
    letter: null,
  };
  const { actor, clock } = startWizard({}, session);
  actor.send({
    type: 'oauth-callback.visit',
    error: '',
    tokenId: 'ffffffffffffffffffffffffffffffff',
    email: 'sam@yahoo.example',
    provider: 'yahoo',
    hash: '',
    contacts: '',
  });
  expect(addressOf(actor.getSnapshot())).toEqual({ path: '/destination-account', query: { error: 'INVALID_EMAIL' } });
  clock.increment(7_000);
  expect(addressOf(actor.getSnapshot())).toEqual({ path: '/destination-account', query: {} });
});
