import { createActor, fromCallback, fromPromise, SimulatedClock } from 'xstate';
import { FAILURE_CODES } from '../../src/contract/failure.ts';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { ACTORS } from '../../machines/wizard.actors.ts';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import type { WizardSnapshot } from '../../machines/wizard.routes.ts';
import { BLANK_SESSION } from '../../machines/wizard.context.ts';
import type { Event, Session } from '../../machines/wizard.types.ts';
import { watchTransitions } from './transitions.ts';
import { settle, SETTINGS } from './wizard.ts';

const ID = '0123456789abcdef0123456789abcdef';
export const SECRET = 'correct horse battery';
const LEGACY = 'pat@sanbrunocable.example';

type Random = <Item>(items: readonly Item[]) => Item;

/** A repeatable choice among items (mulberry32). */
function randomOf(seed: number): Random {
  let state = seed;
  return (items) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    const picked = items[((mixed ^ (mixed >>> 14)) >>> 0) % items.length];
    if (picked === undefined) throw new RangeError('Nothing to choose from.');
    return picked;
  };
}

const running: TransferStatus = { emailmigration: { status: 'inprogress', done: 1, total: 2 } };
const finished: TransferStatus = {
  emailmigration: { status: 'completed', finished: '2025-11-02T00:00:00Z' },
  exports: [{ url: `/api/exports/${ID}/a.zip`, name: 'a.zip', size: 1, sha256: 'a', expires: '2025-12-01T00:00:00Z' }],
};

const ANSWERS: Record<keyof typeof ACTORS, readonly unknown[]> = {
  'check the stored token': [{ ok: true }],
  'ask for capabilities': [
    { allowedOperations: ['emailmigration', 'contactsmigration'], provider: 'sanbruno', auth: 'other' },
    { allowedOperations: ['emailmigration'], provider: 'gmail', auth: 'oauth' },
    { allowedOperations: ['emailmigration'], provider: 'yahoo', auth: 'oauth' },
    { allowedOperations: ['emailmigration'], provider: 'somebody', auth: 'other' },
  ],
  'validate the account': [{ ok: true, token: 'jwt' }, { ok: true }],
  'resolve the host': [{ ok: true }],
  'create the account': [{ ok: true }],
  'announce the migration': [{ ok: true }],
  'start the transfer': [{ jobid: ID }],
  'ask for the status': [running, running, finished, {}],
  'list the transfers': [{ [ID]: '2025-11-01T00:00:00Z' }, {}],
  'check the domain': [{ valid: true }, { valid: false }],
  'check the phone number': [{ valid: true }, { valid: false }],
  'write to support': [{ ok: true }],
  'copy to the clipboard': [undefined],
  'delete the export': [{ ok: true }],
  'follow the transfer': [],
};

const FAILURES = [...FAILURE_CODES, 'UNEXPECTED_ANSWER', ...Array<'UNAVAILABLE'>(10).fill('UNAVAILABLE')].map(
  (error) => ({ error, message: '' }),
);

/** What a visitor, a browser or an address bar may send, right and wrong. */
const EVENTS: readonly Event[] = [
  { type: 'start.press' },
  { type: 'lookup.open' },
  { type: 'modal.close' },
  ...[LEGACY, LEGACY, 'sam@gmail.com', 'sam@gmail.com', 'sam@gmail.com', 'nonsense', ''].map((email) => ({
    type: 'email.type' as const,
    email,
  })),
  ...[SECRET, SECRET, SECRET, ''].map((password) => ({ type: 'password.type' as const, password })),
  { type: 'credentials.submit' },
  ...[ID, 'short'].map((id) => ({ type: 'transfer-id.type' as const, id })),
  { type: 'lookup.submit' },
  { type: 'lookup.sign-in', provider: 'yahoo' },
  { type: 'move.press' },
  { type: 'move.continue' },
  { type: 'options.toggle' },
  ...(['google', 'office365', 'aol', 'other', 'file_export'] as const).map((provider) => ({
    type: 'provider.choose' as const,
    provider,
  })),
  { type: 'host.toggle' },
  ...['imap.mail.example', 'bad host', ''].map((host) => ({ type: 'host.type' as const, host })),
  { type: 'host.leave' },
  { type: 'email-format.choose', format: 'mbox' },
  { type: 'contacts-format.choose', format: 'vcf' },
  { type: 'download.press' },
  { type: 'terms.accept' },
  { type: 'page.back' },
  { type: 'page.next' },
  ...['sam@mail.example', LEGACY, 'sam@', '650 555 0123', '123', ''].map((contact) => ({
    type: 'contact.type' as const,
    contact,
  })),
  { type: 'transfer.submit' },
  { type: 'id.copy' },
  { type: 'transfer.open', id: ID },
  { type: 'status.arrive', status: running },
  { type: 'status.arrive', status: finished },
  { type: 'status.lose' },
  { type: 'export.delete' },
  { type: 'export.keep' },
  { type: 'export.confirm' },
  ...[LEGACY, 'x'].map((email) => ({ type: 'legacy-email.type' as const, email })),
  ...['sam@mail.example', 'x', ''].map((email) => ({ type: 'contact-email.type' as const, email })),
  ...[ID, 'x', ''].map((id) => ({ type: 'support-id.type' as const, id })),
  ...['My folders are missing', 'short'].map((issue) => ({ type: 'issue.type' as const, issue })),
  { type: 'support.submit' },
  { type: 'call.retry' },
  { type: 'connection.return' },
  { type: 'page.return' },
  { type: 'message.hold' },
  { type: 'message.release' },
];

const consent = { tokenId: 'f'.repeat(32), email: LEGACY, error: '' };
const VISITS: readonly Event[] = [
  ...['', 'EXTERNAL_OAUTH_ERROR'].map((error) => ({ type: 'home.visit' as const, error })),
  ...['', 'MISSING_SCOPE', 'invalid_email'].map((error) => ({ type: 'destination.visit' as const, error })),
  { type: 'google-terms.visit' },
  { type: 'email-scopes.visit' },
  { type: 'start-migration.visit' },
  ...[ID, 'short'].map((migrationId) => ({ type: 'complete.visit' as const, migrationId })),
  ...[
    consent,
    { ...consent, email: 'Sam@Gmail.com' },
    { ...consent, error: 'MISSING_SCOPE' },
    { ...consent, error: 'EXTERNAL_OAUTH_ERROR' },
    { ...consent, tokenId: '' },
  ].flatMap((answer) =>
    ['google', ''].map((provider) => ({ type: 'oauth-callback.visit' as const, provider, ...answer })),
  ),
  ...[consent, { ...consent, error: 'x' }, { ...consent, email: '' }].flatMap((answer) =>
    ['hash', ''].map((hash) => ({ type: 'oauth-callback-for-status.visit' as const, hash, ...answer })),
  ),
  ...[ID, 'x'].flatMap((migrationId) =>
    ['', 'x'].map((error) => ({ type: 'status.visit' as const, migrationId, error })),
  ),
  { type: 'status-from-email.visit' },
  { type: 'support.visit' },
  { type: 'privacy-policy.visit' },
  { type: 'terms-of-service.visit' },
  { type: 'unknown.visit' },
];

/** Where a walk may begin: what an earlier page left behind. */
const source = { email: LEGACY, password: SECRET, provider: 'sanbruno' } as const;
const signedIn = { ...BLANK_SESSION, source, operations: ['emailmigration', 'contactsmigration'] };
const tokenId = 'f'.repeat(32);
const SESSIONS: readonly Session[] = [
  BLANK_SESSION,
  signedIn,
  signedIn,
  signedIn,
  { ...signedIn, googleTermsAccepted: true },
  { ...signedIn, checkSanBrunoOnOauthCallback: true, destination: { email: LEGACY, provider: 'yahoo', tokenId } },
  { ...signedIn, checkSanBrunoOnOauthCallback: true, destination: { email: LEGACY, provider: 'yahoo', tokenId } },
  { ...signedIn, destination: { email: 'sam@gmail.com', provider: 'google', tokenId } },
  {
    ...signedIn,
    destination: { email: 'sam@mail.example', provider: 'other', password: SECRET, imap: 'imap.mail.example' },
  },
  {
    ...signedIn,
    destination: { email: '', provider: 'file_export' },
    emailExportType: 'mbox',
    contactsExportType: 'vcf',
  },
  { ...BLANK_SESSION, emailHash: 'hash' },
];
/** A walk begins anew after so many steps, from another session. */
const STEPS_A_VISIT = 50;

export type Step = { readonly event: Event | string; readonly before: WizardSnapshot; readonly after: WizardSnapshot };
export type Visitor = { readonly left: string[]; readonly called: string[] };

/**
 * A random walk of `steps` through the real machine on a simulated clock, with answers of every kind and some that
 * never come; of two possible steps, the one less often taken. `seen` is told each step, `taken` collects transitions.
 */
export async function walk(
  seed: number,
  steps: number,
  taken: Set<string>,
  seen: (step: Step, visitor: Visitor) => void,
): Promise<void> {
  const random = randomOf(seed);
  const counts = new Map<string, number>();
  for (let done = 0; done < steps; done += STEPS_A_VISIT) {
    const visitor: Visitor = { left: [], called: [] };
    const { actor, clock } = arrive(random, taken, visitor);
    for (let step = 0; step < STEPS_A_VISIT; step += 1) {
      const before = actor.getSnapshot();
      const event = next(before, random, counts);
      if (typeof event === 'string') clock.increment(DELAYS[event as keyof typeof DELAYS]);
      else actor.send(event);
      // Now and then the next step comes before the answer.
      if (random([true, true, true, false])) await settle();
      const after = actor.getSnapshot();
      if (after.status !== 'active')
        throw new Error(`seed ${seed}, step ${done + step}: the machine is ${after.status}`);
      seen({ event, before, after }, visitor);
    }
    actor.stop();
  }
}

function arrive(random: Random, taken: Set<string>, visitor: Visitor) {
  const clock = new SimulatedClock();
  const actors = Object.fromEntries(
    Object.keys(ACTORS).map((name) => [
      name,
      name === 'follow the transfer'
        ? fromCallback(() => {})
        : fromPromise(() => {
            visitor.called.push(name);
            const outcome = random(['answer', 'answer', 'answer', 'answer', 'refuse', 'refuse', 'never'] as const);
            if (outcome === 'never') return new Promise(() => {});
            return outcome === 'answer'
              ? Promise.resolve(random(ANSWERS[name as keyof typeof ANSWERS]))
              : Promise.reject(random(FAILURES) as unknown as Error);
          }),
    ]),
  ) as unknown as typeof ACTORS;
  const machine = wizardMachine.provide({
    actors,
    actions: {
      'leave for': (_, { address }) => void visitor.left.push(address),
      'drop the stored token': () => {},
      'look at the clock': () => {},
    },
  });
  const actor = createActor(machine, {
    clock,
    inspect: watchTransitions(taken),
    input: { settings: SETTINGS, now: 0, storedToken: 'stored', session: random(SESSIONS) },
  });
  return { actor: actor.start(), clock };
}

/** Mostly what the page takes; now and then time passes or the address changes. */
function next(snapshot: WizardSnapshot, random: Random, counts: Map<string, number>): Event | string {
  const kind = random(KINDS);
  const possible = EVENTS.filter((event) => snapshot.can(event));
  if (snapshot.matches('arriving')) return random([...ENTRANCES, random(VISITS)]);
  if (kind === 'visit') return random(VISITS);
  const waits = snapshot._nodes.flatMap((node) => node.after.map((transition) => String(transition.delay)));
  if (kind === 'time' || possible.length === 0) return random([...waits, ...Object.keys(DELAYS).slice(0, 1)]);
  const leaves = snapshot._nodes.filter((node) => node.type === 'atomic').map((node) => node.id);
  const place = leaves.filter((leaf) => !leaf.includes('countdown')).join();
  const rare = [random(possible), random(possible)]
    .map((event) => ({ event, key: `${place} ${event.type}` }))
    .toSorted((one, other) => (counts.get(one.key) ?? 0) - (counts.get(other.key) ?? 0))[0];
  if (rare === undefined) throw new RangeError('Nothing to choose from.');
  counts.set(rare.key, (counts.get(rare.key) ?? 0) + 1);
  return rare.event;
}
const ENTRANCES: readonly Event[] = [
  { type: 'home.visit', error: '' },
  { type: 'destination.visit', error: '' },
  { type: 'destination.visit', error: '' },
  { type: 'start-migration.visit' },
];
const KINDS = [...Array<'event'>(40).fill('event'), ...Array<'time'>(12).fill('time'), 'visit'] as const;
