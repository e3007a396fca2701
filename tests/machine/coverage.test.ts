import { beforeAll, expect, test } from 'vitest';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { wizardMachine } from '../../machines/wizard.machine.ts';
import type { Event, Session } from '../../machines/wizard.types.ts';
import { outcomesOf } from '../support/guards.ts';
import { ANSWERS, EVENTS, ID, LEGACY, type Move, PASSWORD, SESSIONS, VISITS } from '../support/moves.ts';
import { randomOf } from '../support/random.ts';
import { search } from '../support/search.ts';
import { leavesOf, nodesOf, transitionsOf } from '../support/transitions.ts';
import { openPortal } from '../support/visitor.ts';

/** A search that has not found everything begins anew with the next seed: most find it in half as many moves. */
const SEEDS = Array.from({ length: 15 }, (_, index) => index + 100);
const MOVES_A_SEARCH = 40_000;
const SEARCH_WITHIN_MS = 300_000;

const send = (event: Event): Move => ({ kind: 'send', event });
const FILLED = [
  send({ type: 'destination.visit', error: '', way: 'other' }),
  send({ type: 'email.type', email: 'sam@gmail.com' }),
  send({ type: 'password.type', password: PASSWORD }),
];
const WITH_HOST: readonly Move[] = [
  ...FILLED,
  send({ type: 'host.toggle' }),
  send({ type: 'host.type', host: 'imap.mail.example' }),
];
const [RUNNING_AS_OTHERS_SEE_IT, NEEDY, MOVED, DAILY_ON, TAKEN_BACK] = [3, 5, 9, 12, 13].map(
  (at) => ANSWERS['ask for the status'][at],
);
const CAME_BACK = send({
  type: 'oauth-callback.visit',
  tokenId: 'f'.repeat(32),
  email: 'pat@sanbrunocable.example',
  error: '',
  provider: 'google',
  hash: '',
  contacts: '',
});
const WAITING_TO_TAKE_BACK: Session = {
  ...SESSIONS.blank,
  awaitedConsent: { transferId: ID, purpose: 'take back', provider: 'google' },
};
const ORDERED: readonly Move[] = [
  send({ type: 'start-migration.visit' }),
  send({ type: 'contact.type', contact: 'sam@mail.example' }),
  { kind: 'wait', delay: 'typing pause' },
  { kind: 'answer', call: 'check the domain', answer: { valid: true } },
  send({ type: 'transfer.submit' }),
];
const DAILY_OFF_ENDS: readonly (readonly Move[])[] = [
  [send({ type: 'modal.close' })],
  [{ kind: 'answer', call: 'stop the daily copying', answer: { ok: true } }],
  [{ kind: 'refuse', call: 'stop the daily copying', code: 'MIGRATION_ID_NOT_FOUND' }],
  [{ kind: 'wait', delay: 'slow answer' }, { kind: 'wait', delay: 'answer limit' }, send({ type: 'act.submit' })],
];
const SIGNS_IN_ELSEWHERE = ANSWERS['ask for capabilities'][1];
/** Where a search seldom comes: forms that are filled in and nothing wrong in them. It begins with these. */
const WAYS: readonly (readonly [Session, readonly Move[]])[] = [
  [SESSIONS.signedIn, [...WITH_HOST, send({ type: 'host.type', host: '' }), send({ type: 'host.toggle' })]],
  [
    SESSIONS.signedIn,
    [
      ...WITH_HOST,
      send({ type: 'host.leave' }),
      { kind: 'answer', call: 'resolve the host', answer: { ok: true } },
      send({ type: 'credentials.submit' }),
      send({ type: 'host.type', host: '' }),
      send({ type: 'host.toggle' }),
      { kind: 'refuse', call: 'validate the account', code: 'INVALID_IMAP' },
    ],
  ],
  [
    SESSIONS.signedIn,
    [
      ...FILLED,
      send({ type: 'credentials.submit' }),
      { kind: 'refuse', call: 'ask for capabilities', code: 'UNAVAILABLE' },
      send({ type: 'host.toggle' }),
      send({ type: 'host.type', host: 'imap.mail.example' }),
      send({ type: 'call.retry' }),
      send({ type: 'host.type', host: '' }),
      send({ type: 'host.toggle' }),
    ],
  ],
  ...[SESSIONS.ordered, SESSIONS.moving].map(
    (session) =>
      [session, [send({ type: 'complete.visit', migrationId: ID }), send({ type: 'start-migration.visit' })]] as const,
  ),
  [
    SESSIONS.termsAccepted,
    [
      ...FILLED,
      send({ type: 'credentials.submit' }),
      { kind: 'answer', call: 'ask for capabilities', answer: ANSWERS['ask for capabilities'][1] },
    ],
  ],
  [
    SESSIONS.blank,
    [
      send({ type: 'status.visit', migrationId: ID, error: '', guide: '' }),
      { kind: 'answer', call: 'ask for the status', answer: MOVED },
      send({ type: 'act.open', act: 'take back' }),
      send({ type: 'act.submit' }),
      { kind: 'answer', call: 'take back what was copied', answer: { ok: true } },
      { kind: 'answer', call: 'ask for the status', answer: TAKEN_BACK },
    ],
  ],
  [
    SESSIONS.blank,
    [
      send({ type: 'status.visit', migrationId: ID, error: '', guide: '' }),
      { kind: 'answer', call: 'ask for the status', answer: RUNNING_AS_OTHERS_SEE_IT },
      send({ type: 'more.show' }),
      send({ type: 'email.type', email: LEGACY }),
      send({ type: 'password.type', password: PASSWORD }),
      send({ type: 'credentials.submit' }),
      { kind: 'refuse', call: 'validate the account', code: 'INVALID_CREDENTIALS' },
    ],
  ],
  [
    SESSIONS.blank,
    [
      send({ type: 'status.visit', migrationId: ID, error: '', guide: '' }),
      { kind: 'answer', call: 'ask for the status', answer: NEEDY },
      send({ type: 'act.open', act: 'mend' }),
      send({ type: 'connection.return' }),
      { kind: 'answer', call: 'ask for the status', answer: NEEDY },
    ],
  ],
  [
    SESSIONS.choosingGoogle,
    [
      send({ type: 'destination.visit', error: '', way: '' }),
      send({ type: 'move.press' }),
      send({ type: 'move.continue' }),
      { kind: 'refuse', call: 'create the account', code: 'MIGRATION_IN_PROGRESS' },
      send({ type: 'transfer.open', id: ID }),
    ],
  ],
  [
    WAITING_TO_TAKE_BACK,
    [
      CAME_BACK,
      { kind: 'answer', call: 'ask for the status', answer: RUNNING_AS_OTHERS_SEE_IT },
      send({ type: 'status.lose' }),
      { kind: 'wait', delay: 'answer limit' },
      send({ type: 'act.submit' }),
      { kind: 'answer', call: 'ask for the status', answer: TAKEN_BACK },
      { kind: 'answer', call: 'take back what was copied', answer: { ok: true } },
    ],
  ],
  ...DAILY_OFF_ENDS.map(
    (last) =>
      [
        SESSIONS.blank,
        [
          send({ type: 'status.visit', migrationId: ID, error: '', guide: '' }),
          { kind: 'answer', call: 'ask for the status', answer: DAILY_ON },
          send({ type: 'act.open', act: 'daily off' }),
          send({ type: 'act.submit' }),
          ...last,
        ],
      ] as const,
  ),
  ...[send({ type: 'email.type', email: LEGACY }), send({ type: 'host.toggle' })].map(
    (last) =>
      [
        SESSIONS.signedIn,
        [
          send({ type: 'destination.visit', error: '', way: 'other' }),
          send({ type: 'email.type', email: 'sam@gmail.com' }),
          { kind: 'wait', delay: 'typing pause' },
          { kind: 'answer', call: 'ask for capabilities', answer: SIGNS_IN_ELSEWHERE },
          last,
        ],
      ] as const,
  ),
  [
    SESSIONS.toOther,
    [
      ...ORDERED,
      { kind: 'refuse', call: 'start the transfer', code: 'MIGRATION_IN_PROGRESS' },
      send({ type: 'transfer.open', id: ID }),
    ],
  ],
  [
    SESSIONS.toOther,
    [...ORDERED, { kind: 'refuse', call: 'start the transfer', code: 'UNAVAILABLE' }, send({ type: 'call.retry' })],
  ],
  ...[SESSIONS.toOther, SESSIONS.toAolWithoutContacts].flatMap((session) =>
    (['source', 'destination'] as const).map(
      (side) =>
        [
          session,
          [...ORDERED, { kind: 'refuse', call: 'start the transfer', code: 'INVALID_CREDENTIALS', side }],
        ] as const,
    ),
  ),
];

const transitions = transitionsOf(wizardMachine.root);
const leaves = leavesOf(wizardMachine.root);
const outcomes = outcomesOf(wizardMachine);
const seen = { transitions: new Set<string>(), guards: new Set<string>(), leaves: new Set<string>() };

const missedOf = (all: ReadonlySet<string>, found: ReadonlySet<string>) => [...all].filter((name) => !found.has(name));

function report(what: string, all: ReadonlySet<string>, found: ReadonlySet<string>): string {
  const missed = missedOf(all, found);
  const share = ((100 * (all.size - missed.length)) / all.size).toFixed(1);
  const names = missed.map((name) => `  missed: ${name}\n`).join('');
  return `${what}: ${all.size - missed.length} of ${all.size} (${share} %)\n${names}`;
}

beforeAll(async () => {
  const visit = openPortal(seen);
  let moves = 0;
  for (const [session, way] of WAYS) {
    const visitor = visit(session);
    for (const move of way) await visitor.make(move);
    visitor.leave();
  }
  // A transition is tried until each part of its guard has let through and held back.
  const parts = new Map(
    [...transitions].map((name) => [name, [...outcomes].filter((outcome) => outcome.startsWith(`${name} `))]),
  );
  const isOpen = (name: string) =>
    !seen.transitions.has(name) || parts.get(name)?.some((outcome) => !seen.guards.has(outcome)) === true;
  for (const seed of SEEDS)
    if ([...transitions].some(isOpen))
      moves += await search(randomOf(seed), MOVES_A_SEARCH, transitions, seen.transitions, visit, isOpen);
  process.stdout.write(
    [
      `The wizard, searched with ${moves} moves\n`,
      report('Leaf states reached', leaves, seen.leaves),
      report('Transitions taken', transitions, seen.transitions),
      report("Guards' outcomes seen", outcomes, seen.guards),
    ].join(''),
  );
}, SEARCH_WITHIN_MS);

test('every leaf state of the wizard is reached', () => {
  expect(missedOf(leaves, seen.leaves), 'states that no search reached').toEqual([]);
});

test('every transition of the wizard is taken', () => {
  expect(missedOf(transitions, seen.transitions), 'transitions that no search took').toEqual([]);
});

test('every guard of the wizard lets through and holds back', () => {
  expect(missedOf(outcomes, seen.guards), 'outcomes of guards that no search saw').toEqual([]);
});

test('every event that the wizard takes is among those that the searches send, or is its own', () => {
  const sent: ReadonlySet<string> = new Set([...EVENTS, ...VISITS].map(({ type }) => type));
  const own = ['message.show', 'password.refuse', 'status.change'];
  const taken = wizardMachine.events.filter((type) => !type.startsWith('xstate.'));
  expect(
    taken.filter((type) => !sent.has(type)).toSorted(),
    'events that no search sends are missing in tests/support/moves.ts',
  ).toEqual(own);
});

test('every delay that a state waits for is declared, and every declared delay is waited for', () => {
  const waits = nodesOf(wizardMachine.root).flatMap((node) => node.after.map((transition) => transition.delay));
  expect(new Set(waits)).toEqual(new Set(Object.keys(DELAYS)));
});

test('no transition begins anew the regions beside it, or the call of the root', () => {
  const wide = nodesOf(wizardMachine.root).filter(
    (node) => node.parent === undefined || node.parent.type === 'parallel',
  );
  const reentering = wide.flatMap((node) => [...node.transitions.values()].flat().filter(({ reenter }) => reenter));
  expect(reentering.map(({ eventType, source }) => `${source.id} on ${eventType}`)).toEqual([]);
});
