import { PLAIN, type Scenario } from './scenario.ts';

/** What readers of the engine have found by scenarios of their own, and it does since. */
export const FOUND_BY_READERS: readonly (readonly [string, Scenario])[] = [
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
];
