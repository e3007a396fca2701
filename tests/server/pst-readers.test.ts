import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { checkPst } from '../support/pst/pst-checker.ts';
import {
  plain,
  readByExtractor,
  readByPffexport,
  readByReadpst,
  type Read,
  type ReadMailbox,
} from '../support/pst/pst-readers.ts';
import { itemsOf, openPstWorld, sampleBoxes, sha256, type PstWorld, type Sample } from '../support/pst/pst-samples.ts';

let world: PstWorld;
let path: string;
const boxes = sampleBoxes();

beforeAll(async () => {
  world = await openPstWorld();
  const files = await world.write(boxes, itemsOf(boxes));
  expect(files).toHaveLength(1);
  path = files[0]?.path ?? '';
});

afterAll(() => world[Symbol.asyncDispose]());

function meant({ from, to, cc, bcc, ...sample }: Sample): Required<Read> {
  return {
    subject: sample.subject,
    sender: from.email,
    recipients: [...to, ...cc, ...bcc].map(({ email }) => email),
    sent: sample.sent,
    received: sample.received,
    isRead: sample.flags.includes('\\Seen'),
    body: plain(sample.text),
    html: plain(sample.html ?? ''),
    attachments: sample.files.map(({ bytes }) => sha256(bytes)),
    embedded: sample.inner === undefined ? 0 : 1,
  };
}

/** What the mailbox was, as far as this reader tells of it; `said` changes what it is known to say otherwise. */
function expected(read: ReadMailbox, said: (text: string) => string = (text) => text): ReadMailbox {
  return new Map(
    boxes.map(({ path: names, samples }) => {
      const folder = names.join('/');
      const told = read.get(folder) ?? [];
      return [
        folder,
        samples.map((sample, index) => {
          const whole = meant(sample);
          const keys = new Set(Object.keys(told[index] ?? whole));
          const kept = Object.fromEntries(Object.entries(whole).filter(([key]) => keys.has(key))) as Read;
          return { ...kept, subject: said(kept.subject), body: said(kept.body) };
        }),
      ];
    }),
  );
}

/** Only folders that hold something, by name; attachments sorted. */
function comparable(
  mailbox: ReadMailbox,
  said: (text: string) => string = (text) => text,
): [string, readonly Read[]][] {
  return [...mailbox]
    .filter(([, messages]) => messages.length > 0)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([folder, messages]) => [
      folder,
      messages.map((message) => ({
        ...message,
        subject: said(message.subject),
        body: said(message.body),
        attachments: message.attachments.toSorted(),
      })),
    ]);
}

test('the checker finds nothing in a mailbox with everything in it', () => {
  expect(checkPst(path)).toEqual([]);
});

test('pst-extractor reads the same folders, messages and attachments as went in', () => {
  const read = readByExtractor(path);
  expect([...read.keys()].toSorted()).toEqual(
    [...boxes.map((box) => box.path.join('/')), 'Family', 'Family/Ünïcode, more'].toSorted(),
  );
  expect(comparable(read)).toEqual(comparable(expected(read)));
});

describe('readpst (needs itself)', needs('readpst'), () => {
  // It leaves empty attachments out.
  const NOTHING = sha256(Buffer.alloc(0));
  test('reads the same folders, messages and attachments as went in', async () => {
    const read = await readByReadpst(path, `${world.directory}/readpst`);
    const all = comparable(expected(read)).map(([folder, messages]): [string, readonly Read[]] => [
      folder,
      messages.map((message) => ({
        ...message,
        attachments: message.attachments.filter((digest) => digest !== NOTHING),
      })),
    ]);
    expect(comparable(read)).toEqual(all);
  });
});

// Its libuna writes characters beyond the first plane as others: they are compared as one sign.
const said = (text: string) => text.replaceAll(/[\u{10000}-\u{10ffff}]/gu, '?');

describe('pffexport (needs itself)', needs('pffexport'), () => {
  test('reads the same folders, messages and attachments as went in', async () => {
    const read = await readByPffexport(path, `${world.directory}/pff`);
    expect(comparable(read, said)).toEqual(comparable(expected(read, said), said));
  });
});
