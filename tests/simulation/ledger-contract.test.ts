import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  type Disowned,
  type Fate,
  type Group,
  type Ledger,
  type LedgerMailbox,
  type NewRow,
} from '../../src/server/mail/copy/ledger/ledger.ts';
import { openLedger } from '../../src/server/mail/copy/ledger/on-database.ts';
import type { Database } from '../../src/server/store/database.ts';
import { LeaseLost, takeTransfer } from '../../src/server/transfers/lease.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { chanceOf, type Chance } from './chance.ts';
import { openDatabase as openSimulated } from './database.ts';
import { LedgerTables } from './ledger-tables.ts';
import { openProcess } from './process.ts';
import { openScheduler } from './scheduler.ts';
import { openSimulatedLedger } from './simulated-ledger.ts';

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase(FRESH);
});
afterAll(() => database[Symbol.asyncDispose]());

/** The last one has a name that no column can hold. */
const PATHS = ['INBOX', 'Sent', 'Letters', 'Lone \u{D800}'];
const FATES: readonly Fate[] = ['stored', 'kept', 'changed', 'twin', 'refused', 'gone', 'taken', 'lost'];
const DIGESTS = ['0'.repeat(64), 'ab'.repeat(32)];

/** One of the two ledgers, and what it calls the mailboxes. */
type Side = { ledger: Ledger; mailboxes: readonly LedgerMailbox[]; groups: readonly Group[] };

/** A transfer of its own, whose worker is replaced now and then; what each question answers, in order. */
type Place = {
  begin(transfer: string): Promise<void>;
  take(transfer: string): Promise<Ledger>;
  finish(transfer: string): Promise<void>;
};

function placeOnDatabase(accounts: string): Place {
  return {
    begin: (id) =>
      insertTransfer(
        database,
        {
          id,
          sourceEmail: `${accounts}@old.example`,
          sourceProvider: 'sanbruno',
          destinationEmail: `${accounts}@new.example`,
          destinationProvider: 'other',
          operations: ['emailmigration'],
          inQa: false,
        },
        id,
      ),
    take: async (id) => {
      await database.query('update transfers set leased_until = null where id = $1', [id]);
      const taken = await takeTransfer(database, id, 0);
      if (taken === null || !('lease' in taken)) throw new Error('The transfer has ended.');
      return openLedger(database, taken.lease);
    },
    finish: async (id) => {
      await database.query('update transfers set finished = now() where id = $1', [id]);
    },
  };
}

function simulatedPlace(): Place {
  const scheduler = openScheduler();
  const tables = new LedgerTables(() => scheduler.now());
  const simulated = openSimulated(scheduler, chanceOf(1));
  const worker = openProcess(scheduler, 'worker');
  return {
    begin: async (id) => tables.begin(id),
    take: async (transfer) => {
      const held = tables.transfers.get(transfer);
      if (held === undefined) throw new Error('There is no such transfer.');
      held.epoch += 1;
      return asked(openSimulatedLedger(tables, { transfer, epoch: held.epoch }, simulated, worker));
    },
    finish: async (id) => {
      const held = tables.transfers.get(id);
      if (held !== undefined) held.finished = true;
    },
  };

  /** Runs the simulation whenever it is asked something. */
  function asked(ledger: Ledger): Ledger {
    return new Proxy(ledger, {
      get: (target, name: keyof Ledger) => {
        if (name === 'rows')
          return async function* rows(mailboxId: number) {
            yield* await settle(pagesOf(target, mailboxId));
          };
        // A promise asks everything whether it is one as well.
        if (typeof target[name] !== 'function') return undefined;
        return (...parameters: never[]) =>
          settle((target[name] as (...given: never[]) => Promise<unknown>)(...parameters));
      },
    });
  }
  async function settle<Answer>(answer: Promise<Answer>): Promise<Answer> {
    answer.catch(() => {});
    await scheduler.run(() => false, 1000);
    return answer;
  }
}

async function pagesOf(ledger: Ledger, mailboxId: number) {
  const pages = [];
  for await (const page of ledger.rows(mailboxId)) pages.push(page);
  return pages;
}

/** What is asked of both, with everything random drawn before. */
type Question = (side: Side) => Promise<unknown>;

function questionOf(chance: Chance): Question {
  const at = chance.fraction();
  const mailboxOf = ({ mailboxes }: Side) => mailboxes[Math.floor(at * mailboxes.length)];
  const uids = Array.from({ length: chance.integer(1, 4) }, () => chance.integer(1, 8));
  const uid = chance.integer(1, 6);
  const uidValidity = BigInt(chance.integer(7, 8));
  const rows = [...new Set(uids)].map((uid): Omit<NewRow, 'mailboxId'> => ({
    uid,
    fate: chance.one(FATES),
    size: chance.integer(0, 5_000_000_000),
    date: chance.happens(0.2) ? null : chance.integer(-5_000_000_000, 5_000_000_000),
    verified: chance.happens(0.5),
    ...(chance.happens(0.2) ? { earlier: true } : {}),
    ...(chance.happens(0.2) ? { isKnown: true } : {}),
    ...(chance.happens(0.7) ? { sha256: chance.one(DIGESTS) } : {}),
    ...(chance.happens(0.7) ? { destinationUidValidity: uidValidity, destinationUid: chance.integer(1, 6) } : {}),
    ...(chance.happens(0.3) ? { reason: chance.one(['not accepted', 'unreadable', 'too large']) } : {}),
    ...(chance.happens(0.3) ? { subject: `Letter ${chance.integer(1, 3)}` } : {}),
  }));
  const path = chance.one(PATHS);
  const total = chance.integer(0, 9);
  const closes = chance.integer(0, 1);
  const questions: Record<string, Question> = {
    addMailboxes: async (side) => {
      const added = await side.ledger.addMailboxes([
        { sourcePath: path, sourceUidValidity: uidValidity, destinationPath: path, total },
      ]);
      side.mailboxes = await mailboxesOf(side);
      return added.map(namelessOf);
    },
    noteMailbox: (side) => {
      const mailbox = mailboxOf(side);
      return mailbox === undefined ? Promise.resolve() : side.ledger.noteMailbox(mailbox.id, 'mailbox closed');
    },
    countMailbox: (side) => {
      const mailbox = mailboxOf(side);
      return mailbox === undefined ? Promise.resolve() : side.ledger.countMailbox(mailbox.id, total);
    },
    open: async (side) => {
      const mailbox = mailboxOf(side);
      if (mailbox === undefined) return null;
      const messages = rows.map(({ uid, size, date }) => ({ uid, size, date }));
      const opened = await side.ledger.open([{ mailboxId: mailbox.id, messages, uidValidity, uidNext: uid }]);
      side.groups = await side.ledger.groups();
      return opened.length;
    },
    settle: async (side) => {
      const mailbox = mailboxOf(side);
      if (mailbox === undefined) return null;
      const left = await side.ledger.settle(
        rows.map((row) => ({ ...row, mailboxId: mailbox.id })),
        side.groups.slice(0, closes).map(({ id }) => id),
      );
      return left.map((row) => row.uid);
    },
    move: async (side) => {
      const [from, to] = [mailboxOf(side), side.mailboxes[0]];
      if (from === undefined || to === undefined) return;
      const moves = [...new Set(uids)].map((each) => ({ mailboxId: from.id, uid: each }));
      // Nothing takes the place of what is moved by the same.
      await side.ledger.move(moves.map((each, at) => ({ from: each, to: { mailboxId: to.id, uid: uid + 100 + at } })));
    },
    redate: (side) => {
      const mailbox = mailboxOf(side);
      const dates = [...new Set(uids)].map((each) => ({ uid: each, date: total }));
      return mailbox === undefined ? Promise.resolve() : side.ledger.redate(mailbox.id, dates);
    },
    forget: (side) => {
      const mailbox = mailboxOf(side);
      return mailbox === undefined ? Promise.resolve() : side.ledger.forget(mailbox.id, uids);
    },
    forgetRefused: (side) => side.ledger.forgetRefused(),
    verified: (side) => {
      const mailbox = mailboxOf(side);
      const read = uids.map((each) => ({ uid: each, destinationUid: uid }));
      return mailbox === undefined ? Promise.resolve() : side.ledger.verified(mailbox.id, read);
    },
    claimed: async (side) => [...(await side.ledger.claimed(path, uidValidity))].toSorted((a, b) => a - b),
    disown: (side) => side.ledger.disown(path, uidValidity, uid),
    disowned: async (side) =>
      (await side.ledger.disowned()).toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1)),
    adopt: async (side) => {
      await side.ledger.adopt();
      side.mailboxes = await mailboxesOf(side);
    },
    tally: (side) => side.ledger.tally(),
    traffic: (side) => side.ledger.traffic(-1),
  };
  return questions[chance.one(Object.keys(questions))] ?? (async () => null);
}

function placeOf({ destinationPath, uidValidity, uid }: Disowned): string {
  return `${destinationPath} ${uidValidity} ${uid}`;
}

/** In an order of their own: the one in which a statement adds them is the database's business. */
async function mailboxesOf({ ledger }: Pick<Side, 'ledger'>): Promise<readonly LedgerMailbox[]> {
  return (await ledger.mailboxes()).toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function keyOf({ sourcePath, sourceUidValidity }: LedgerMailbox): string {
  return `${sourcePath} ${sourceUidValidity}`;
}

function namelessOf({ id: _id, ...mailbox }: LedgerMailbox) {
  return mailbox;
}

/** Everything that a transfer remembers, without the numbers that differ by nature. */
async function memoryOf({ ledger }: Side) {
  const mailboxes = await mailboxesOf({ ledger });
  const rows = [];
  for (const { id } of mailboxes) rows.push((await pagesOf(ledger, id)).flat());
  const groups = (await ledger.groups()).map(({ id: _id, mailboxId, ...group }) => ({
    ...group,
    mailbox: mailboxes.findIndex((mailbox) => mailbox.id === mailboxId),
  }));
  return { mailboxes: mailboxes.map(namelessOf), rows, groups };
}

async function begun(place: Place, transfer: string): Promise<Side> {
  await place.begin(transfer);
  return { ledger: await place.take(transfer), mailboxes: [], groups: [] };
}

async function answerOf(question: Question, side: Side): Promise<unknown> {
  try {
    return await question(side);
  } catch (error) {
    if (error instanceof LeaseLost) return 'lease lost';
    throw error;
  }
}

test('the simulated ledger answers as the one on the database does, whatever is asked', async () => {
  for (let seed = 1; seed <= 12; seed += 1) {
    const chance = chanceOf(seed);
    const places = [placeOnDatabase(`anna${seed}`), simulatedPlace()] as const;
    for (let order = 1; order <= 3; order += 1) {
      const transfer = `${seed}`.padStart(16, '0') + `${order}`.padStart(16, '0');
      const [real, simulated] = await Promise.all(places.map((place) => begun(place, transfer)));
      if (real === undefined || simulated === undefined) throw new Error('Both ledgers are there.');
      // Those of before ask as well, now and then: their writes must not count.
      const before: readonly [Side, Side] = [{ ...real }, { ...simulated }];
      for (let count = 1; count <= 25; count += 1) {
        if (count === 18) {
          real.ledger = await places[0].take(transfer);
          simulated.ledger = await places[1].take(transfer);
        }
        const question = questionOf(chance);
        const isLate = count > 18 && chance.happens(0.3);
        before[0].mailboxes = real.mailboxes;
        before[1].mailboxes = simulated.mailboxes;
        const answer = await answerOf(question, isLate ? before[0] : real);
        const simulatedAnswer = await answerOf(question, isLate ? before[1] : simulated);
        const when = `question ${count} of order ${order}, seed ${seed}`;
        expect({ when, answer: simulatedAnswer }).toEqual({ when, answer });
        expect({ after: when, memory: await memoryOf(simulated) }).toEqual({
          after: when,
          memory: await memoryOf(real),
        });
      }
      for (const place of places) await place.finish(transfer);
    }
  }
});
