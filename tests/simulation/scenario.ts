import type { Sizes } from '../../src/server/mail/copy/run/sizes.ts';
import { GOOD, type Break, type Quirks } from './account.ts';
import { chanceOf, type Chance } from './chance.ts';
import type { DatabaseFault } from './database.ts';
import type { LinkFault, Weather } from './network.ts';
import type { OddMail } from './odd-mail.ts';
import type { Stop } from './process.ts';

export type Side = 'source' | 'destination';

/** What the subscriber, or the server itself, does to an account at its n-th command. */
export type Deed = {
  readonly side: Side;
  readonly atCommand: number;
  readonly does:
    | 'moves a message'
    | 'moves a message away and back'
    | 'deletes a message'
    | 'reads a message'
    | 'gets new mail'
    | 'deletes a mailbox'
    | 'makes a mailbox anew'
    | 'puts back what it had'
    | 'renames a mailbox'
    | 'renames a mailbox and makes it anew'
    | 'writes a mailbox in small letters'
    | 'renumbers a mailbox'
    | 'gives UIDs to other messages'
    | 'tells other dates'
    | 'tells other dates and numbers'
    | 'loses its disk'
    | 'has its disk again';
};

export type Folder = { readonly name: string; readonly letters: number; readonly specialUse?: string };

/** One of the source's messages, counted over all folders, that the destination never takes, the source never gives, or one of both breaks off at. */
export type Poison =
  | { readonly letter: number; readonly code: string }
  | { readonly letter: number; readonly withheld: true }
  | { readonly letter: number; readonly side: 'source' | 'destination'; readonly breaks: Break };

/** Everything that happens in one simulation; what it does not say follows from its seed. */
export type Scenario = {
  readonly seed: number;
  readonly folders: readonly Folder[];
  /** Of the destination before the transfer. */
  readonly own: readonly Folder[];
  readonly source: Partial<Quirks>;
  readonly destination: Partial<Quirks>;
  readonly poison: readonly Poison[];
  readonly mail: OddMail;
  readonly weather: Weather;
  /** How many connections the engine may open to each account. */
  readonly connections: number;
  /** How many octets it may append in any 24 hours. */
  readonly upADay?: number;
  /** How much goes together, where it is not as in production, and octets that may wait for their reader. */
  readonly sizes?: Sizes & { readonly readAhead: number };
  readonly deeds: readonly Deed[];
  /** The n-th worker process, from 1, is stopped. */
  readonly stops: readonly (Stop & { readonly worker: number })[];
  readonly links: readonly (LinkFault & { readonly side: Side })[];
  readonly database: readonly DatabaseFault[];
  /** The wall clock of all processes jumps, at so many milliseconds, by so many. */
  readonly clockJumps: readonly { readonly at: number; readonly by: number }[];
  /** A backup of the ledger is taken after so many milliseconds, and restored before another worker starts in place of one that has died since. */
  readonly backedUpAt?: number;
  /** Workers that start together. */
  readonly workers: number;
  /** The same is ordered again after it has ended, so often. */
  readonly orders: number;
};

/** Nothing happens, to nothing. */
export const PLAIN: Scenario = {
  seed: 1,
  folders: [],
  own: [],
  source: {},
  destination: {},
  poison: [],
  mail: {},
  weather: { latency: 2, jitter: 1, pieces: false },
  connections: 4,
  deeds: [],
  stops: [],
  links: [],
  database: [],
  clockJumps: [],
  workers: 1,
  orders: 1,
};

/** So little goes together that a folder of some letters has several of everything. */
export const SMALL = {
  group: { messages: 2, octets: 30_000 },
  fetch: { messages: 4, octets: 30_000 },
  readBack: { messages: 3, octets: 30_000 },
  sent: { said: 4, unsaid: 3 },
  mac: 0,
  newest: 3,
  listed: 2,
  readAhead: 5000,
};

const NAMES = ['Sent', 'Letters', 'Archive/2019', 'letters', 'A folder with a rather long name for a small server'];
/** That a column can't hold, that a command must not end in, and that two servers may write differently. */
const ODD_NAMES = [
  'Half \u{D800}',
  'Half \u{D801}',
  'Nul \0',
  'Gr\u00fc\u00dfe & more',
  '"a" \\ b',
  '  ',
  '%*',
  'inbox.x',
];
const DESTINATION_DEEDS = [
  'moves a message',
  'deletes a message',
  'reads a message',
  'gets new mail',
  'deletes a mailbox',
  'renumbers a mailbox',
] as const;
const SOURCE_DEEDS = ['deletes a message', 'gets new mail', 'reads a message', 'renumbers a mailbox'] as const;
const POISON_CODES = ['LIMIT', 'TOOBIG', 'CANNOT', ''];
const MINUTE = 60_000;
/** Less than a transfer waits for. */
const TROUBLE_AT_MOST = 2 * MINUTE;
/** A server's window is far larger than what is under way at a time: 10,000 to 100 messages. */
const LARGEST_FOLDER = 25;

/** What happens in the simulation of a seed. */
export function scenarioOf(seed: number): Scenario {
  const chance = chanceOf(seed);
  // A fifth is quiet, so that what fails in fair weather is seen as such.
  const rough = chance.happens(0.8) ? 1 : 0;
  const folders = foldersOf(chance);
  const letters = folders.reduce((total, folder) => total + folder.letters, 0);
  const some = <Item>(most: number, make: () => Item): Item[] =>
    Array.from({ length: Math.floor(chance.skewed(most + 0.9)) * rough }, make);
  const source = sourceQuirks(chance);
  const destination = destinationQuirks(chance);
  const scenario = {
    seed,
    folders,
    own: chance.happens(0.5)
      ? [{ name: 'INBOX', letters: chance.integer(1, chance.one([12, 2 * LARGEST_FOLDER])) }]
      : [],
    source,
    destination,
    poison: chance.happens(0.25)
      ? Array.from({ length: chance.integer(1, Math.min(12, letters)) }, () => poisonOf(chance, letters))
      : [],
    mail: {},
    weather: {
      latency: chance.one([0.1, 0.1, 2, 20]),
      jitter: chance.one([0, 1, 20]),
      pieces: chance.happens(0.3),
    },
    connections: chance.integer(1, 4),
    deeds: some(6, () => deedOf(chance)),
    stops: some(6, () => ({
      worker: chance.integer(1, 4),
      ...(chance.happens(0.5)
        ? { atEffect: chance.integer(1, chance.one([40, 200, 400])) }
        : { atWrite: chance.integer(1, chance.one([15, 40, 100])) }),
      ...(chance.happens(0.45) ? { freezeFor: chance.one([1000, 20_000, 5 * MINUTE, 60 * MINUTE]) } : {}),
    })),
    links: some(4, () => ({
      side: chance.one(['source', 'destination'] as const),
      connection: chance.integer(1, 8),
      direction: chance.one(['up', 'down'] as const),
      atOctet: chance.integer(0, chance.one([100, 1000, 30_000])),
      ...(chance.happens(0.4) ? { stallFor: chance.one([1000, 20_000, 4 * MINUTE, Infinity]) } : {}),
    })),
    database: some(2, () => databaseFaultOf(chance)),
    clockJumps: some(2, () => ({
      at: chance.skewed(20_000),
      by: chance.one([-3_600_000, -5000, 5000, 3_600_000, 86_400_000]),
    })),
    workers: rough === 1 && chance.happens(0.15) ? 2 : 1,
    orders: chance.happens(0.25) ? 2 : 1,
  };
  // Drawn last, so that what earlier seeds found is found again.
  const listed = chance.happens(0.5) ? { ...scenario, source: { ...source, listStatus: true } } : scenario;
  const sized = chance.happens(0.5) ? { ...listed, sizes: sizesOf(chance) } : listed;
  const side = chance.one(['source', 'destination'] as const);
  const closing = { path: chance.one(folders).name, opens: chance.integer(0, 8) };
  const closed = chance.happens(0.1) ? { ...sized, [side]: { ...sized[side], closing } } : sized;
  const lies = { listingThatLies: chance.integer(1, 5) };
  // A mailbox of which nothing came before, because it could not be made, is not known when it is left out.
  const isKnown = scenario.orders === 1 || destination.longestName === undefined;
  const lying = isKnown && chance.happens(0.1) ? { ...closed, source: { ...closed.source, ...lies } } : closed;
  const odd = withOddities(lying, chance);
  const documented = withDocumented(
    chance.happens(0.7) ? odd : { ...odd, source: { ...odd.source, unselect: false } },
    chance,
  );
  return withFalseAnswers(documented, chance);
}

/** The source has true duplicates; or the destination does not keep what it says it has stored, or keeps it twice. */
function withFalseAnswers(scenario: Scenario, chance: Chance): Scenario {
  const { mail, destination } = scenario;
  const part = chance.one([0.1, 0.5, 1]);
  if (chance.happens(0.04)) return { ...scenario, mail: { ...mail, equal: part } };
  if (chance.happens(0.03)) return { ...scenario, destination: { ...destination, drops: part } };
  return chance.happens(0.06) && isQuiet(scenario)
    ? { ...scenario, destination: { ...destination, doubles: part } }
    : scenario;
}

/**
 * Whether the outcome of each append is known, all of it can be read, and dates stay as they are: else one that is kept
 * twice may stand for an equal one, or can't be known.
 */
function isQuiet({
  stops,
  links,
  database,
  deeds,
  workers,
  poison,
  backedUpAt,
  source,
  destination,
}: Scenario): boolean {
  const faults = stops.length + links.length + database.length + deeds.length;
  const hangsUp = source.goodbyeAfterCommands ?? destination.goodbyeAfterCommands ?? backedUpAt;
  const { quota, closing, ignoresDate, wantsDates } = destination;
  const isOdd = (quota ?? closing ?? ignoresDate ?? wantsDates) !== undefined;
  return faults === 0 && workers === 1 && hangsUp === undefined && !isOdd && !poison.some((each) => 'breaks' in each);
}

/** What servers do by what others tell of them, and was thought of after all else. */
function withDocumented(scenario: Scenario, chance: Chance): Scenario {
  const one = <Value>(value: Value): Value | undefined => (chance.happens(0.02) ? value : undefined);
  const dates = one({ datesUidValidity: true });
  const refusesKeywords = one(chance.one(['BAD', 'NO'] as const));
  const keywords = refusesKeywords === undefined ? {} : { keywords: 0.3 };
  const letters = scenario.folders.reduce((sum, folder) => sum + folder.letters, 0);
  const drawn = letters === 0 ? undefined : one({ letter: chance.integer(0, letters - 1), withheld: true } as const);
  // One that is missing from most listings as well can't be known (README).
  const lost = scenario.source.shortListings === undefined ? drawn : undefined;
  return {
    ...scenario,
    mail: { ...scenario.mail, ...keywords },
    poison: lost === undefined ? scenario.poison : [...scenario.poison, lost],
    source: { ...scenario.source, ...dates, ...(lost === undefined ? {} : { losesWithheld: true }) },
    destination: {
      ...scenario.destination,
      ...dates,
      ...one({ skipsUids: true }),
      ...one({ appearsAfter: chance.one([50, 2000, 10_000]) }),
      ...(refusesKeywords === undefined ? {} : { refusesKeywords }),
    },
  };
}

/** What was thought of later. */
function withOddities(scenario: Scenario, chance: Chance): Scenario {
  const names = chance.happens(0.1) ? ODD_NAMES.filter(() => chance.happens(0.3)) : [];
  const odd = names.map((name) => ({ name, letters: chance.integer(0, 10) }));
  const talk = (quirks: Partial<Quirks>): Partial<Quirks> => ({
    ...quirks,
    ...(chance.happens(0.1) ? { repeatsRows: true } : {}),
    ...(chance.happens(0.1) ? { tellsFlags: true } : {}),
  });
  const lies = chance.happens(0.1) ? { listingThatLies: chance.integer(1, 5) } : {};
  const atCommand = chance.integer(3, chance.one([20, 60, 150]));
  const does = chance.one(['renames a mailbox', 'writes a mailbox in small letters'] as const);
  // One with another name and other numbers at once is another one.
  const isKnown = !scenario.deeds.some((deed) => deed.side === 'source' && deed.does === 'renumbers a mailbox');
  const oddly = {
    ...scenario,
    folders: [...scenario.folders, ...odd],
    source: talk(scenario.source),
    destination: { ...talk(scenario.destination), ...lies },
    deeds:
      chance.happens(0.1) && isKnown
        ? [...scenario.deeds, { side: 'source', atCommand, does } as const]
        : scenario.deeds,
  };
  const keeping = chance.happens(0.05)
    ? { ...oddly, destination: { ...oddly.destination, keepsOneOfAnId: true } }
    : oddly;
  const side = chance.one(['source', 'destination'] as const);
  const refusesReading = { part: chance.one([0.01, 0.05]), code: chance.one(['UNAVAILABLE', 'SERVERBUG', '']) };
  const quirk = chance.happens(0.5) ? { refusesReading } : { saysUidNext: false };
  const refusing = chance.happens(0.1) ? { ...keeping, [side]: { ...keeping[side], ...quirk } } : keeping;
  return withMore(refusing, chance);
}

/** What was thought of after that. */
function withMore(scenario: Scenario, chance: Chance): Scenario {
  const orders = scenario.orders > 1 && chance.happens(0.4) ? 3 : scenario.orders;
  const letters = scenario.folders.reduce((total, folder) => total + folder.letters, 0);
  const breaking = {
    letter: chance.integer(0, Math.max(0, letters - 1)),
    side: chance.one(['source', 'destination'] as const),
    breaks: chance.one(['hangs up', 'SERVERBUG', 'breaks off within'] as const),
  };
  // What is neither handed out nor has its date can't be known again.
  const isTold = breaking.side === 'source' || scenario.destination.ignoresDate !== true;
  const renaming = {
    side: 'destination',
    atCommand: chance.integer(3, chance.one([20, 60, 150])),
    does: 'renames a mailbox',
  } as const;
  const reusing = {
    side: 'source',
    atCommand: chance.integer(3, chance.one([20, 60, 150])),
    does: 'renames a mailbox and makes it anew',
  } as const;
  // One with another name and other numbers at once is another one.
  const deeds = [renaming, reusing].filter(
    ({ side }) =>
      chance.happens(0.05) && !scenario.deeds.some((deed) => deed.side === side && deed.does === 'renumbers a mailbox'),
  );
  const more = {
    ...scenario,
    orders,
    poison: chance.happens(0.05) && isTold ? [...scenario.poison, breaking] : scenario.poison,
    deeds: [...scenario.deeds, ...deeds],
  };
  return withOddMail(more, chance);
}

/** What the mail itself and names have about them, and was thought of last. */
function withOddMail(scenario: Scenario, chance: Chance): Scenario {
  const mail = chance.happens(0.1)
    ? chance.one<OddMail>([{ gaps: true }, { oneDate: true }, { empty: 0.1 }, { gaps: true, noIds: true }])
    : {};
  const below = chance.happens(0.03) ? { prefix: 'INBOX.', delimiter: '.' } : {};
  const oddDates = chance.happens(0.03) ? { oddDates: chance.one([0.1, 1]) } : {};
  const odd = {
    ...scenario,
    mail,
    source: { ...scenario.source, ...oddDates },
    destination: { ...scenario.destination, ...below },
  };
  return withTrouble(odd, chance);
}

/** Trouble that passes, and pauses that are asked for: nothing is left for either. */
function withTrouble(scenario: Scenario, chance: Chance): Scenario {
  const side = chance.one(['source', 'destination'] as const);
  if (!chance.happens(0.15) || scenario[side].refusesReading !== undefined) return withRefusals(scenario, chance);
  const from = chance.happens(0.5) ? 0 : Math.floor(chance.skewed(3000));
  const milliseconds = chance.one([2000, 30_000, 90_000]);
  const refusesReading = {
    part: chance.one([0.1, 1]),
    from,
    until: from + chance.integer(1000, TROUBLE_AT_MOST),
    ...(chance.happens(0.4)
      ? { code: 'THROTTLED', text: `Suggested Backoff Time: ${milliseconds} milliseconds` }
      : { code: chance.one(['UNAVAILABLE', 'INUSE', 'SERVERBUG', '']) }),
    ...(chance.happens(0.5)
      ? { only: chance.one(['EXAMINE', 'SELECT', 'UID FETCH', 'UID SEARCH', 'STATUS', 'LIST']) }
      : {}),
  };
  return withRefusals({ ...scenario, [side]: { ...scenario[side], refusesReading } }, chance);
}

/** Messages are refused for now, and some of those destinations have stored them. */
function withRefusals(scenario: Scenario, chance: Chance): Scenario {
  if (!chance.happens(0.06)) return withSomeThere(scenario, chance);
  const stores = chance.happens(0.7) && isFair(scenario);
  const refusals = { refusesNow: chance.one([0.05, 0.3]), ...(stores ? { storesRefused: true } : {}) };
  return withSomeThere({ ...scenario, destination: { ...scenario.destination, ...refusals } }, chance);
}

/** The destination has some of it before, such as from a transfer that has been forgotten. */
function withSomeThere(scenario: Scenario, chance: Chance): Scenario {
  // Without dates one that was there is not told from an equal one, once its mailbox is renumbered.
  if (!chance.happens(0.1) || scenario.source.oddDates !== undefined)
    return strictly(withBackup(scenario, chance), chance);
  const there = { ...scenario, mail: { ...scenario.mail, ownEqual: chance.one([0.1, 0.5, 1]) } };
  return strictly(withBackup(there, chance), chance);
}

/** The destination takes no message whose last line has no end, or of an odd date, of which there are some. */
function strictly(scenario: Scenario, chance: Chance): Scenario {
  const { destination } = scenario;
  if (chance.happens(0.03)) return { ...scenario, destination: { ...destination, wantsLineEnd: true } };
  // What was stored with another date and another size after a backup is not known again.
  const sizes = scenario.source.roundsSize ?? destination.roundsSize ?? destination.rewriting;
  const isKnown = scenario.source.oddDates === undefined && (scenario.backedUpAt === undefined || sizes === undefined);
  if (!chance.happens(0.03) || !isKnown) return scenario;
  const mail = { ...scenario.mail, dates: chance.one([0.05, 0.3, 1]) };
  return { ...scenario, mail, destination: { ...destination, wantsDates: true } };
}

/** The ledger is restored from a backup; all other workers have ended by then. */
function withBackup(scenario: Scenario, chance: Chance): Scenario {
  if (!chance.happens(0.06) || scenario.orders > 1) return scenario;
  const { source, destination, poison } = scenario;
  // What has been stored since is known by its date and octets, in the mailbox that it was stored in.
  const isKnown =
    (destination.ignoresDate ??
      source.oddDates ??
      source.refusesReading ??
      destination.foldsCase ??
      destination.refusesReading ??
      destination.storesRefused ??
      destination.shortListings) === undefined &&
    !scenario.deeds.some(({ does }) => does.startsWith('renames') || does.startsWith('writes')) &&
    !poison.some((each) => 'breaks' in each && each.side === 'destination');
  if (!isKnown) return scenario;
  const stops = scenario.stops.filter(({ freezeFor }) => freezeFor === undefined);
  return {
    ...scenario,
    workers: 1,
    stops: [...stops, { worker: 1, atEffect: chance.integer(1, 400) }],
    backedUpAt: Math.floor(chance.skewed(2000)),
  };
}

/** Whether nothing else keeps a run from looking for what was refused, nor from knowing it. */
function isFair({ stops, links, database, workers, deeds, poison, source, destination }: Scenario): boolean {
  const hasEnd = [source, destination].some(
    ({ goodbyeAfterCommands, refusesReading, closing, bytesADay, connections }) =>
      (goodbyeAfterCommands ?? refusesReading ?? closing ?? bytesADay ?? connections) !== undefined,
  );
  const { quota, appendsAMinute, ignoresDate, keepsOneOfAnId, twinsKeptOnce, shortListings } = destination;
  const isOdd =
    (quota ?? appendsAMinute ?? ignoresDate ?? keepsOneOfAnId ?? twinsKeptOnce ?? shortListings) !== undefined;
  const faults = stops.length + links.length + database.length + deeds.length;
  const isBroken = poison.some((each) => 'breaks' in each);
  return faults === 0 && workers === 1 && !hasEnd && !isOdd && !isBroken;
}

/** So small that a folder has several of everything. */
function sizesOf(chance: Chance): Sizes & { readonly readAhead: number } {
  const amount = (most: number) => ({ messages: chance.integer(1, most), octets: chance.one([3000, 30_000]) });
  return {
    group: amount(4),
    fetch: amount(8),
    readBack: amount(8),
    sent: { said: chance.integer(1, 12), unsaid: chance.integer(1, 6) },
    mac: 0,
    newest: chance.integer(0, 6),
    listed: chance.integer(1, 3),
    readAhead: chance.one([1000, 5000, 50_000]),
  };
}

function foldersOf(chance: Chance): Folder[] {
  const folders: Folder[] = [{ name: 'INBOX', letters: chance.integer(0, chance.one([3, 12, LARGEST_FOLDER])) }];
  for (const name of NAMES)
    if (chance.happens(0.3))
      folders.push({
        name,
        letters: chance.integer(0, chance.one([3, 10, 15])),
        ...(name === 'Sent' && chance.happens(0.5) ? { specialUse: '\\Sent' } : {}),
      });
  return folders;
}

function sourceQuirks(chance: Chance): Partial<Quirks> {
  return {
    ...both(chance),
    ...(chance.happens(0.1) ? { shortListings: chance.one([1, 3, Infinity]) } : {}),
  };
}

function destinationQuirks(chance: Chance): Partial<Quirks> {
  const limit = chance.integer(1000, 8000);
  return {
    ...both(chance),
    literals: chance.one(['plus', 'plus', 'minus', 'synchronising'] as const),
    uidPlus: chance.happens(0.75),
    multiAppend: chance.happens(0.5),
    ...(chance.happens(0.1) ? { window: chance.integer(LARGEST_FOLDER + 1, 2 * LARGEST_FOLDER) } : {}),
    ...(chance.happens(0.05) ? { shortListings: chance.one([1, 3]) } : {}),
    ...(chance.happens(0.2)
      ? { rewriting: chance.one(['adds headers', 'changes line ends', 'adds headers and size'] as const) }
      : {}),
    ...(chance.happens(0.1) ? { twinsKeptOnce: true } : {}),
    ...(chance.happens(0.1) ? { appendLimit: limit, saysAppendLimit: chance.happens(0.5) } : {}),
    ...(chance.happens(0.05) ? { quota: chance.integer(1000, 100_000) } : {}),
    ...(chance.happens(0.05) ? { appendsAMinute: chance.integer(3, 20) } : {}),
    ...(chance.happens(0.1) ? { longestName: 30 } : {}),
    ...(chance.happens(0.1) ? { foldsCase: true } : {}),
    ...(chance.happens(0.05) ? { dropsKeywords: true } : {}),
    ...(chance.happens(0.05) ? { ignoresDate: true } : {}),
  };
}

function both(chance: Chance): Partial<Quirks> {
  return {
    thinking: chance.one([0, 0.5, 30]),
    delimiter: chance.one(['/', '.']),
    ...(chance.happens(0.1) ? { goodbyeAfterCommands: chance.integer(6, 40) } : {}),
    ...(chance.happens(0.1) ? { connections: chance.integer(2, 6) } : {}),
    ...(chance.happens(0.05) ? { bytesADay: chance.integer(300_000, 600_000) } : {}),
    ...(chance.happens(0.1) ? { roundsSize: true } : {}),
  };
}

function poisonOf(chance: Chance, letters: number): Poison {
  const letter = chance.integer(0, Math.max(0, letters - 1));
  return chance.happens(0.2) ? { letter, withheld: true } : { letter, code: chance.one(POISON_CODES) };
}

function deedOf(chance: Chance): Deed {
  const atCommand = chance.integer(3, chance.one([20, 60, 150]));
  if (chance.happens(0.3)) return { side: 'source', atCommand, does: chance.one(SOURCE_DEEDS) };
  return { side: 'destination', atCommand, does: chance.one(DESTINATION_DEEDS) };
}

function databaseFaultOf(chance: Chance): DatabaseFault {
  const atQuestion = chance.integer(1, 60);
  const milliseconds = chance.one([50, 2000, 30_000]);
  return chance.happens(0.6)
    ? { kind: 'gone', atQuestion, milliseconds }
    : { kind: 'slow', atQuestion, milliseconds, delay: chance.one([20, 500, 5000]) };
}

/** The quirks of one side, whole. */
export function quirksOf(scenario: Scenario, side: Side, digests: readonly string[]): Quirks {
  const refused = new Map<string, string>();
  const withheld = new Set<string>();
  const breaking = new Map<string, Break>();
  for (const each of scenario.poison) {
    const digest = digests[each.letter];
    if (digest === undefined) continue;
    if ('withheld' in each) withheld.add(digest);
    else if ('breaks' in each) {
      if (each.side === side) breaking.set(digest, each.breaks);
    } else refused.set(digest, each.code);
  }
  const quirks = side === 'source' ? { ...scenario.source, withheld } : { ...scenario.destination, refused };
  return { ...GOOD, ...quirks, breaking };
}
