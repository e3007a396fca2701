import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { match } from '../../src/server/mail/copy/looking/matching.ts';
import type { Wanted } from '../../src/server/mail/copy/looking/wanted.ts';
import { portraits } from '../../src/server/mail/copy/message/digest.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';
import { destinationPlace, openFaults, sourcePlace } from '../../src/server/mail/copy/troubles/breaks.ts';
import type { Listed, MailReader } from '../../src/server/mail/imap/streams.ts';
import { Stopped } from '../../src/server/stopped.ts';

type Stored = { readonly text: string; readonly date: number };
type Scene = {
  readonly source: (uid: number) => Stored;
  readonly destination: (uid: number) => Stored;
  /** Whether the destination gives the octets of its messages. */
  readonly handsOut: boolean;
};

const MANY = 1000;
const TEXT = 'Subject: a\r\n\r\nx\r\n';
const UIDS = Array.from({ length: MANY }, (_, at) => at + 1);

/** A date that tells when it is looked at. */
function watched(seconds: number, look: () => void): Date {
  const date = new Date(seconds * 1000);
  date.getTime = () => {
    look();
    return seconds * 1000;
  };
  return date;
}

async function* octetsOf(text: string) {
  yield Buffer.from(text);
}

function readerOf(message: (uid: number) => Stored, handsOut: boolean, look: () => void): MailReader {
  const fetch = async function* (_path: string, uids: readonly number[]) {
    for (const uid of handsOut ? uids : []) {
      const { text, date } = message(uid);
      yield { uid, size: text.length, flags: [], internalDate: watched(date, look), octets: octetsOf(text) };
    }
  };
  return { fetch } as unknown as MailReader;
}

/** Matches as many messages of both sides, and counts how often the date of one is looked at. */
async function matched({ source, destination, handsOut }: Scene, signal = new AbortController().signal) {
  let looks = 0;
  const look = () => {
    looks += 1;
  };
  const wanted = UIDS.map((uid): Wanted => ({ uid, size: source(uid).text.length, date: source(uid).date }));
  const listed = UIDS.map((uid): Listed => {
    const { text, date } = destination(uid);
    return { uid, size: text.length, flags: [], internalDate: watched(date, look) };
  });
  const run = { ...openFaults(), looked: () => {}, copy: { signal } } as unknown as Run;
  const { found } = await match(wanted, listed, {
    source: sourcePlace(readerOf(source, true, look), 'INBOX', 1n),
    destination: destinationPlace(readerOf(destination, handsOut, look), 'INBOX', 1n),
    run,
  });
  return { found, looks };
}

test.each<[string, Scene]>([
  [
    'that the destination does not hand out, and has in another size',
    {
      source: () => ({ text: TEXT, date: 1000 }),
      destination: () => ({ text: `${TEXT}x`, date: 1000 }),
      handsOut: false,
    },
  ],
  [
    'that are the same, and to each of which the destination gave a date of its own',
    {
      source: (uid) => ({ text: TEXT, date: uid }),
      destination: (uid) => ({ text: TEXT, date: 1_000_000 + uid }),
      handsOut: true,
    },
  ],
  [
    'that have one Message-ID, and another text at the destination',
    {
      source: (uid) => ({ text: `Message-ID: <a@b>\r\n\r\n${uid}\r\n`, date: MANY - uid }),
      destination: (uid) => ({ text: `Message-ID: <a@b>\r\n\r\nnot ${uid}\r\n`, date: uid - 1 }),
      handsOut: true,
    },
  ],
])('thousands of messages %s, are told apart by looking at each a few times', async (_what, scene) => {
  const { found, looks } = await matched(scene);
  expect(found.size).toBe(MANY);
  expect(new Set([...found.values()].map(({ destinationUid }) => destinationUid)).size).toBe(MANY);
  expect(looks).toBeLessThan(20 * MANY);
});

const FORMS: Scene = {
  source: (uid) => ({ text: `X-Sent: ${uid}\r\n\r\nx\r\n`, date: 1000 }),
  destination: (uid) => ({ text: `X-Stored: ${uid}\r\n\r\nx\r\n`, date: 1000 }),
  handsOut: true,
};

test('where thousands have one text and other headers, everybody else has their turn while they are compared', async () => {
  const others = { turns: 0, isOver: false };
  const having = (async () => {
    for (; !others.isOver; others.turns += 1) await turn();
  })();
  const { found } = await matched(FORMS);
  others.isOver = true;
  await having;
  expect(found.size).toBe(0);
  expect(others.turns).toBeGreaterThan((MANY * MANY) / 10_000);
});

test('and who stops the transfer meanwhile does not wait for the rest', async () => {
  await expect(matched(FORMS, AbortSignal.abort())).rejects.toThrow(Stopped);
});

test('what is remembered of a message to compare it by is none of its octets', async () => {
  const reader = readerOf(
    () => ({ text: `Subject: ${'a'.repeat(10_000)}\r\n\r\nx\r\n`, date: 1000 }),
    true,
    () => {},
  );
  for await (const portrait of portraits(reader.fetch('INBOX', [1])))
    expect(JSON.stringify(portrait).length).toBeLessThan(1000);
});
