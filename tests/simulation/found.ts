import { PLAIN, SMALL, type Scenario, scenarioOf } from './scenario.ts';

const SLOW = { latency: 20, jitter: 1, pieces: false };
const FAST = { latency: 0.1, jitter: 1, pieces: false };

function boxes(count: number, letters: number) {
  return Array.from({ length: count }, (_, at) => ({ name: at === 0 ? 'INBOX' : `Box ${at}`, letters }));
}

const POISONED = scenarioOf(5_000_147);

/** What readers of the engine have found by scenarios of their own, and it does since. */
export const FOUND_BY_READERS: readonly (readonly [string, Scenario])[] = [
  [
    'a message that is too large is told once, though its mailbox gets other dates and other numbers',
    {
      ...PLAIN,
      folders: boxes(2, 6),
      poison: [{ letter: 3, code: 'TOOBIG' }],
      sizes: SMALL,
      deeds: [{ side: 'source', atCommand: 22, does: 'tells other dates and numbers' }],
    },
  ],
  [
    'a message that the destination does not hand out, in a mailbox that is renumbered, keeps none of the others back',
    {
      ...PLAIN,
      folders: [
        { name: 'INBOX', letters: 8 },
        { name: 'Box 1', letters: 4 },
      ],
      poison: [{ letter: 8, side: 'destination', breaks: 'hangs up' }],
      deeds: [{ side: 'destination', atCommand: 16, does: 'renumbers a mailbox' }],
    },
  ],
  [
    'the message at which a server hangs up is blamed, in whatever order messages were asked for',
    {
      ...PLAIN,
      connections: 1,
      stops: [{ worker: 1, atEffect: 31 }],
      sizes: {
        group: { messages: 2, octets: 30000 },
        fetch: { messages: 3, octets: 30000 },
        readBack: { messages: 3, octets: 3000 },
        sent: { said: 10, unsaid: 5 },
        mac: 0,
        newest: 6,
        listed: 3,
        readAhead: 5000,
      },
      folders: [{ name: 'INBOX', letters: 8 }],
      poison: [{ letter: 0, side: 'source', breaks: 'hangs up' }],
    },
  ],
  [
    'the faults of a message are not those of another one that gets its UID',
    {
      ...PLAIN,
      connections: 1,
      seed: 211,
      folders: [{ name: 'INBOX', letters: 10 }],
      poison: [{ letter: 5, side: 'source', breaks: 'SERVERBUG' }],
      deeds: [
        { side: 'source', atCommand: 49, does: 'deletes a message' },
        { side: 'source', atCommand: 60, does: 'renumbers a mailbox' },
      ],
    },
  ],
  [
    'what went with its mailbox is known though it can not be read and has another date',
    {
      ...PLAIN,
      seed: 741,
      folders: [
        { name: 'INBOX', letters: 9 },
        { name: 'Sent', letters: 7 },
      ],
      destination: { multiAppend: false, ignoresDate: true },
      poison: [{ letter: 15, side: 'destination', breaks: 'hangs up' }],
      weather: { latency: 20, jitter: 0, pieces: false },
      connections: 2,
      deeds: [{ side: 'destination', atCommand: 141, does: 'renames a mailbox' }],
      sizes: {
        group: { messages: 2, octets: 30000 },
        fetch: { messages: 2, octets: 3000 },
        readBack: { messages: 1, octets: 3000 },
        sent: { said: 2, unsaid: 4 },
        mac: 0,
        newest: 3,
        listed: 1,
        readAhead: 50000,
      },
    },
  ],
  [
    'a mailbox that gets another name between being selected and being looked into brings nothing twice',
    {
      ...PLAIN,
      seed: 10471,
      folders: [
        { name: 'Sent', letters: 1 },
        { name: 'Letters', letters: 1 },
      ],
      connections: 2,
      deeds: [{ side: 'destination', atCommand: 21, does: 'renames a mailbox and makes it anew' }],
      stops: [{ worker: 1, atEffect: 37 }],
    },
  ],
  [
    'what is one, at the destination, with a message that is being taken back is stored anew',
    {
      ...PLAIN,
      folders: [
        { name: 'INBOX', letters: 20 },
        { name: 'Box 1', letters: 10 },
      ],
      connections: 2,
      sizes: {
        group: { messages: 2, octets: 30000 },
        fetch: { messages: 4, octets: 30000 },
        readBack: { messages: 3, octets: 30000 },
        sent: { said: 4, unsaid: 3 },
        mac: 0,
        newest: 3,
        listed: 2,
        readAhead: 5000,
      },
      weather: { latency: 20, jitter: 1, pieces: false },
      destination: { thinking: 1000, multiAppend: false, twinsKeptOnce: true },
      stops: [{ worker: 1, atWrite: 18, freezeFor: 40_000 }],
    },
  ],
  [
    'of equal messages with different dates none is taken for another one that is not handed out for now',
    {
      ...PLAIN,
      seed: 1,
      folders: [
        { name: 'INBOX', letters: 25 },
        { name: 'Box 1', letters: 15 },
        { name: 'Box 2', letters: 15 },
      ],
      connections: 2,
      destination: { uidPlus: false, multiAppend: true, leavesOut: 0.4 },
    },
  ],
  [
    'for one thing that is asked no lane but one opens a connection',
    { ...PLAIN, folders: boxes(6, 20), connections: 4, source: { listStatus: false }, weather: SLOW, orders: 2 },
  ],
  [
    'what reads back needs no more connections to the source than are allowed',
    { ...PLAIN, folders: boxes(8, 20), connections: 4, destination: { rewriting: 'adds headers' }, weather: SLOW },
  ],
  [
    'what took over the connections of a round in which nothing was copied lets go of them',
    {
      ...PLAIN,
      folders: boxes(1, 20),
      connections: 4,
      source: { listStatus: true },
      weather: SLOW,
      orders: 2,
      deeds: [{ side: 'source', atCommand: 12, does: 'renumbers a mailbox' }],
    },
  ],
  [
    'what read back at a destination that does not say UIDs leaves its connection to the next copying',
    {
      ...PLAIN,
      folders: boxes(4, 2),
      connections: 4,
      source: { saysUidNext: false },
      destination: { uidPlus: false },
      poison: [{ letter: 5, side: 'destination', breaks: 'breaks off within' }],
    },
  ],
  [
    'a source that can not close a mailbox needs one connection more for the last look, and has room for it',
    {
      ...PLAIN,
      folders: boxes(8, 20),
      connections: 4,
      source: { unselect: false, listStatus: true },
      destination: { rewriting: 'adds headers' },
      weather: SLOW,
    },
  ],
  [
    'so it has where something is new at each look',
    {
      ...PLAIN,
      folders: boxes(4, 12),
      connections: 4,
      source: { saysUidNext: false, listStatus: true },
      destination: { literals: 'minus', appendsAMinute: 5 },
    },
  ],
  [
    'one connection is enough towards a destination that does not say UIDs',
    {
      ...PLAIN,
      folders: boxes(8, 12),
      connections: 1,
      destination: { connections: 1, uidPlus: false },
      weather: SLOW,
      orders: 2,
    },
  ],
  [
    'what a destination without UIDs has said to be stored is not stored again, though it hangs up when it is read',
    {
      ...PLAIN,
      folders: boxes(1, 5),
      destination: { uidPlus: false, ignoresDate: true },
      poison: [{ letter: 2, side: 'destination', breaks: 'hangs up' }],
    },
  ],
  [
    'so it is where the source says no dates',
    {
      ...PLAIN,
      folders: boxes(1, 5),
      source: { oddDates: 1 },
      destination: { uidPlus: false },
      poison: [{ letter: 2, side: 'destination', breaks: 'breaks off within' }],
    },
  ],
  [
    'what the subscriber had before is not told as duplicated where the destination says no UIDNEXT',
    { ...PLAIN, folders: boxes(1, 4), mail: { ownEqual: 1 }, destination: { saysUidNext: false } },
  ],
  [
    'a source that says no dates, and is renumbered, is copied once',
    {
      ...PLAIN,
      folders: boxes(1, 5),
      source: { oddDates: 1 },
      orders: 2,
      connections: 2,
      deeds: [{ side: 'source', atCommand: 16, does: 'renumbers a mailbox' }],
    },
  ],
  [
    'so is one that says no dates and renames a folder',
    {
      ...PLAIN,
      folders: [
        { name: 'INBOX', letters: 0 },
        { name: 'Letters', letters: 3 },
      ],
      source: { oddDates: 1 },
      connections: 3,
      weather: FAST,
      deeds: [{ side: 'source', atCommand: 18, does: 'renames a mailbox' }],
    },
  ],
  [
    'a folder that is renamed, and whose old name is made anew and renamed at once, is copied once',
    {
      ...PLAIN,
      seed: 2,
      folders: [
        { name: 'INBOX', letters: 1 },
        { name: 'letters', letters: 3 },
      ],
      connections: 3,
      weather: FAST,
      deeds: [
        { side: 'source', atCommand: 16, does: 'renames a mailbox and makes it anew' },
        { side: 'source', atCommand: 21, does: 'renames a mailbox' },
      ],
    },
  ],
  [
    'a mailbox of the destination that gets its name in small letters is known again',
    {
      ...PLAIN,
      folders: [{ name: 'A folder', letters: 11 }],
      destination: { uidPlus: false, multiAppend: false },
      connections: 3,
      deeds: [{ side: 'destination', atCommand: 25, does: 'writes a mailbox in small letters' }],
    },
  ],
  [
    'what was copied is known in a large mailbox that is renumbered, though sizes are rounded and dates ignored',
    {
      ...PLAIN,
      folders: boxes(1, 10),
      own: boxes(1, 300),
      destination: { roundsSize: true, ignoresDate: true },
      deeds: [{ side: 'destination', atCommand: 14, does: 'renumbers a mailbox' }],
    },
  ],
  [
    'what a short listing leaves out, after it could not be opened for a moment, is not taken for removed',
    {
      ...PLAIN,
      seed: 141,
      folders: [
        { name: 'INBOX', letters: 5 },
        { name: 'Letters', letters: 8 },
      ],
      connections: 2,
      destination: { shortListings: 3, rewriting: 'adds headers', refusesReading: { part: 0.05, code: '' } },
      orders: 2,
    },
  ],
  [
    'a message within which the source breaks off each time does not use up what may be appended in a day',
    {
      ...PLAIN,
      folders: boxes(1, 8),
      upADay: 20_000,
      poison: [{ letter: 3, side: 'source', breaks: 'breaks off within' }],
    },
  ],
  [
    'nor do messages that were refused, while the next ones wait for what they leave',
    {
      ...PLAIN,
      seed: 23_167,
      folders: [
        { name: 'INBOX', letters: 1 },
        { name: 'Sent', letters: 0 },
        { name: 'Letters', letters: 8 },
        { name: 'A folder with a rather long name for a small server', letters: 1 },
      ],
      upADay: 7058,
      destination: { literals: 'synchronising', multiAppend: false },
      poison: [
        { letter: 5, code: '' },
        { letter: 4, code: 'TOOBIG' },
      ],
      weather: { latency: 0.1, jitter: 20, pieces: true },
      sizes: {
        group: { messages: 3, octets: 3000 },
        fetch: { messages: 4, octets: 3000 },
        readBack: { messages: 2, octets: 3000 },
        sent: { said: 6, unsaid: 5 },
        mac: 0,
        newest: 6,
        listed: 3,
        readAhead: 50_000,
      },
    },
  ],
  [
    'a message that came without its UID, at which the destination says goodbye when it is looked for, keeps none back',
    {
      ...POISONED,
      orders: 1,
      poison: [...POISONED.poison, { letter: 5, side: 'destination', breaks: 'says goodbye' }],
    },
  ],
  [
    'a message that is refused keeps none back whose source says goodbye at the next one',
    {
      ...PLAIN,
      seed: 2,
      weather: { ...FAST, jitter: 0 },
      source: { thinking: 0 },
      folders: [{ name: 'Letters', letters: 4 }],
      connections: 1,
      destination: { multiAppend: false, thinking: 0.5 },
      poison: [
        { letter: 0, code: 'LIMIT' },
        { letter: 1, side: 'source', breaks: 'hangs up' },
      ],
      sizes: {
        group: { messages: 2, octets: 30_000 },
        fetch: { messages: 1, octets: 30_000 },
        readBack: { messages: 3, octets: 30_000 },
        sent: { said: 6, unsaid: 4 },
        mac: 0,
        newest: 6,
        listed: 1,
        readAhead: 1000,
      },
    },
  ],
  [
    "what is kept in the provider's own form is compared once, by a server that leaves out of each answer what it likes",
    {
      ...PLAIN,
      folders: [{ name: 'INBOX', letters: 24 }],
      destination: { rewriting: 'adds headers', leavesOut: 0.4 },
    },
  ],
  [
    'what went with its mailbox, and is not handed out the first time, is not told as read back',
    {
      ...PLAIN,
      folders: [
        { name: 'letters', letters: 7 },
        { name: 'Other', letters: 1 },
      ],
      destination: { uidPlus: false, multiAppend: false, leavesOut: 0.4 },
      deeds: [{ side: 'destination', atCommand: 34, does: 'renames a mailbox' }],
    },
  ],
  [
    'a message that is shown late is not taken for one that was kept once with an equal one',
    {
      ...PLAIN,
      seed: 1_031_747,
      folders: [
        { name: 'INBOX', letters: 9 },
        { name: 'Archive/2019', letters: 3 },
      ],
      destination: { appendsAMinute: 11, showsAfter: 2000 },
      weather: { latency: 0.1, jitter: 1, pieces: true },
      connections: 3,
      sizes: {
        group: { messages: 4, octets: 30_000 },
        fetch: { messages: 6, octets: 30_000 },
        readBack: { messages: 7, octets: 3000 },
        sent: { said: 3, unsaid: 1 },
        mac: 0,
        newest: 1,
        listed: 1,
        readAhead: 5000,
      },
    },
  ],
  [
    'a forwarded message within whose header the source breaks off keeps none of the others back',
    {
      ...PLAIN,
      seed: 1_048_644,
      folders: [
        { name: 'INBOX', letters: 2 },
        { name: 'Letters', letters: 15 },
      ],
      mail: { marked: 0.5 },
      poison: [{ letter: 16, side: 'source', breaks: 'breaks off within' }],
    },
  ],
  [
    'a message that is counted and found, and never listed, is not taken for deleted as a search is refused once',
    {
      ...PLAIN,
      seed: 1_048_712,
      folders: boxes(1, 14),
      source: { hidesWithheld: true, refusesReading: { part: 0.02, code: '' } },
      poison: [{ letter: 12, withheld: true }],
      weather: { latency: 0.1, jitter: 20, pieces: false },
    },
  ],
];
