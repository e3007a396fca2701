import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MACHINE_CLOCK } from '../../src/server/clock.ts';
import { copyAndCompare } from '../../src/server/mail/copy/copy-mail.ts';
import { openLedger } from '../../src/server/mail/copy/ledger/on-database.ts';
import type { StepListener } from '../../src/server/mail/copy/run/mail-copy.ts';
import { SIZES } from '../../src/server/mail/copy/run/sizes.ts';
import { MAIL_TIMES, type MailAccount, type MailTimes } from '../../src/server/mail/imap/connection.ts';
import { openControl } from '../../src/server/mail/imap/control.ts';
import { openDial } from '../../src/server/mail/imap/wire/dial.ts';
import { openStreamReader } from '../../src/server/mail/imap/wire/imap-stream-reader.ts';
import { openStreamWriter } from '../../src/server/mail/imap/wire/imap-stream-writer.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import type { Database } from '../../src/server/store/database.ts';
import { takeTransfer } from '../../src/server/transfers/lease.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { ALL_PROOFS, IS_PROOF } from '../folders.ts';
import { DOVECOT_PASSWORD, startDovecot, type Dovecot } from '../support/dovecot.ts';
import { FRESH, openTestDatabase } from '../support/fresh-database.ts';
import { openMailClient } from '../support/mail-client.ts';
import { differenceOf } from '../support/mail-comparison.ts';
import { letter, ODD_LETTERS } from '../support/mail-letters.ts';
import { needs } from '../support/needs.ts';
import { startTcpProxy, type Direction, type TcpProxy } from '../support/tcp-proxy.ts';
import { SUBSCRIBER } from '../support/transfer-world.ts';

/** Cuts in each direction of each side: few here, `RESET_CUTS=all` for each octet. */
const CUTS = process.env['RESET_CUTS'] ?? (ALL_PROOFS ? '100' : IS_PROOF ? '30' : '3');
/** So many octets a server says more or fewer from run to run, of times and of numbers: the last ones may not come. */
const MAY_VARY = 200;
const SIDES = ['source', 'destination'] as const;
type Side = (typeof SIDES)[number];
type How = { readonly times?: MailTimes; readonly onStep?: StepListener };
/** A dead connection is given up after it, instead of after minutes. */
const SILENCE_MS = 700;

describe('a transfer whose connection is reset', needs('dovecot'), () => {
  const lifetime = new AsyncDisposableStack();
  let database: Database;
  let source: Dovecot;
  let destination: Dovecot;
  let proxies: Record<Side, TcpProxy>;
  let messages = 0;

  beforeAll(async () => {
    database = lifetime.use(await openTestDatabase(FRESH));
    source = lifetime.use(await startDovecot());
    destination = lifetime.use(await startDovecot({ separator: '.' }));
    proxies = {
      source: lifetime.use(await startTcpProxy(source.port)),
      destination: lifetime.use(await startTcpProxy(destination.port)),
    };
    await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
    const twin = letter(1, 200);
    await mail.append('INBOX', [twin, letter(2, 2000), twin]);
    await mail.create('Archive');
    await mail.append('Archive', ODD_LETTERS.slice(0, 2));
    messages = 3 + 2;
  }, 60_000);
  afterAll(() => lifetime.disposeAsync());

  const account = (side: Side, email: string): MailAccount => ({
    email,
    place: { host: '127.0.0.1', port: proxies[side].port, security: 'open', named: 'by operator' },
    credentials: { kind: 'password', password: DOVECOT_PASSWORD },
  });

  /** Moves everything to a mailbox of its own, whose address it answers. */
  async function moveAll({ times = MAIL_TIMES, onStep = () => {} }: How = {}): Promise<string> {
    const id = randomBytes(16).toString('hex');
    const to = `${id}@yahoo.example`;
    await insertTransfer(
      database,
      {
        id,
        sourceEmail: `${id}@source.example`,
        sourceProvider: 'sanbruno',
        destinationEmail: to,
        destinationProvider: 'yahoo',
        operations: ['emailmigration'],
        inQa: false,
      },
      id,
    );
    const taken = await takeTransfer(database, id, 60);
    if (taken === null || !('lease' in taken)) throw new Error('The transfer is not to be had.');
    const { signal } = new AbortController();
    const options = { trusted: ['127.0.0.1'], times, signal };
    const clock = { ...MACHINE_CLOCK, after: (_: number, run: () => void) => MACHINE_CLOCK.after(0, run) };
    const sideOf = (side: Side, email: string) => {
      const place = account(side, email);
      // Only the engine's own pauses are cut short.
      const session = () => openSession(place, { ...options, dial: openDial(options), clock: MACHINE_CLOCK });
      return {
        limits: { connections: 1 },
        control: () => openControl(place, options),
        reader: async () => openStreamReader(await session()),
        writer: async () => openStreamWriter(await session()),
      };
    };
    const end = await copyAndCompare({
      source: sideOf('source', SUBSCRIBER),
      destination: sideOf('destination', to),
      ledger: openLedger(database, taken.lease),
      lease: { ...taken.lease, mayWrite: () => true },
      clock,
      signal,
      processEnds: signal,
      onStep,
      onProgress: () => {},
      onMade: async () => {},
      onOrphans: () => {},
      forwardedMark: '',
      refusalWaits: 0,
      troubleWaits: 0,
      sizes: SIZES,
    });
    expect(end).toEqual({ lost: 0, duplicated: 0, changed: 0, kept: 0, unlisted: 0, mailboxesLeft: 0 });
    return to;
  }

  const differenceAt = (user: string) =>
    differenceOf(
      { port: source.port, user: SUBSCRIBER, password: DOVECOT_PASSWORD },
      { port: destination.port, user, password: DOVECOT_PASSWORD },
    );

  test.each(
    SIDES.flatMap((side) =>
      (['intent committed', 'appended', 'outcome committed'] as const).map((step) => ({ side, step })),
    ),
  )('goes on when the line to the $side is dead after "$step", without a word', async ({ side, step }) => {
    let steps = 0;
    const to = await moveAll({
      times: { ...MAIL_TIMES, silence: SILENCE_MS },
      onStep: (now) => {
        if (now !== step) return;
        steps += 1;
        if (steps === 2) proxies[side].holdAll();
      },
    });
    expect(steps).toBeGreaterThanOrEqual(2);
    expect(await differenceAt(to)).toEqual({ messages, lost: [], duplicated: [], changed: [] });
  });

  const WAYS = SIDES.flatMap((side) => (['to server', 'to client'] as const).map((direction) => ({ side, direction })));

  test.each(WAYS)(
    'at any octet $direction at the $side loses, doubles and changes nothing',
    { tags: 'sampled', timeout: CUTS === 'all' ? 7_200_000 : 60_000 + Number(CUTS) * 5000 },
    async ({ side, direction }: { side: Side; direction: Direction }) => {
      const proxy = proxies[side];
      const before = proxy.passed[direction];
      await moveAll();
      const octets = proxy.passed[direction] - before - MAY_VARY;
      const cuts = CUTS === 'all' ? octets : Number(CUTS);
      const start = cuts === octets ? 0 : Math.random() * (octets / cuts);
      for (let cut = 0; cut < cuts; cut += 1) {
        const at = Math.floor(start + (cut * octets) / cuts);
        const resets = proxy.resets;
        proxy.resetAfter(direction, at);
        const to = await moveAll();
        const difference = await differenceAt(to);
        expect({ at, resets: proxy.resets - resets, ...difference }).toEqual({
          at,
          resets: 1,
          messages,
          lost: [],
          duplicated: [],
          changed: [],
        });
      }
      process.stdout.write(
        `Reset ${direction} at the ${side}: ${cuts} of ${octets} octets, 0 lost, doubled, changed\n`,
      );
    },
  );
});
