import type { StoredMail } from '../account.ts';
import { dateTimeOf, dayOf, itemsOf, membersOf, setOf, textOf, type Word } from './imap-words.ts';
import { type Answer, AT_TIMES, DAY, flagsOf, openIn, Refusal, type Session } from './session.ts';

const SIZE_UNIT = 1024;

/** FETCH and SEARCH. `tellOfGone`: says which messages others have removed. */
export function readingCommands(session: Session, tellOfGone: () => void) {
  const { account, load, chance, send, hangUp, cutOff, does } = session;
  const { quirks } = account;

  const fetch = (words: readonly Word[], byNumber: boolean): Answer | null => {
    const { view, folder, stale } = openIn(session);
    if (folder.stale !== stale) return { status: 'NO', text: '[SERVERBUG] The mailbox has changed', thenBye: true };
    const items = itemsOf(words[1]);
    const there = new Set(folder.messages);
    let uids = membersOf(
      textOf(words[0]),
      view.map((message, index) => (byNumber ? index + 1 : message.uid)),
    );
    if (byNumber) uids = uids.map((number) => view[number - 1]?.uid ?? 0);
    const listing = !items.some((item) => item.startsWith('BODY'));
    const isByUid = !byNumber && !textOf(words[0]).includes('*');
    if (listing && uids.length > 1 && load.shortListings < quirks.shortListings) {
      load.shortListings += 1;
      uids = uids.filter((_, index) => index % 2 === 0);
    }
    const wanted = new Set(uids);
    if (does('warnings')) send('* NO [ALERT] The disk is nearly full\r\n', '* OK Still here\r\n');
    const broken = listing
      ? -1
      : view.findIndex((message) => wanted.has(message.uid) && quirks.breaking.has(message.digest));
    const given = view.filter(
      (message, index) => wanted.has(message.uid) && there.has(message) && (broken < 0 || index < broken),
    );
    const unasked = view.find((message) => !wanted.has(message.uid) && there.has(message));
    if (does('rows that nobody asked for') && unasked !== undefined) given.unshift(unasked);
    if (does('rows turned round')) given.reverse();
    for (const message of given) {
      if (does('counts again and again')) send(`* ${view.length} EXISTS\r\n* 0 RECENT\r\n`);
      if (does('messages go within an answer')) tellOfGone();
      const number = view.indexOf(message) + 1;
      if (number === 0) continue;
      const isListed = listing && !quirks.hidesWithheld && !(quirks.losesWithheld && isByUid);
      if (!isListed && quirks.withheld.has(message.digest)) {
        if (!listing && does('NIL for what is withheld')) send(`* ${number} FETCH (UID ${message.uid} BODY[] NIL)\r\n`);
        continue;
      }
      if (!listing && quirks.leavesOut > 0 && chance.happens(quirks.leavesOut)) continue;
      if (does('flags without UIDs') && chance.happens(AT_TIMES))
        send(`* ${number} FETCH (FLAGS (${flagsOf(message)}))\r\n`);
      const times = does('bodies twice') && chance.happens(AT_TIMES) ? 2 : 1;
      for (let time = 1; time <= times; time += 1)
        for (const some of answersFor(items)) send(`* ${number} FETCH (`, ...fetched(message, some), ')\r\n');
    }
    const culprit = view[broken];
    const breaks = quirks.breaking.get(culprit?.digest ?? '');
    if (culprit !== undefined && breaks === 'breaks off within') {
      const row = Buffer.concat(
        [`* ${broken + 1} FETCH (`, ...fetched(culprit, items)].map((each) => Buffer.from(each)),
      );
      const part = row.subarray(0, row.length - Math.ceil(culprit.octets.length / 2));
      // One of few octets has been handed out, where something comes after them.
      culprit.wasRead = part.includes(culprit.octets);
      send(part);
      cutOff();
      return null;
    }
    if (breaks === 'says goodbye') {
      hangUp('Connection is closed. 14');
      return null;
    }
    if (breaks === 'hangs up') return { status: 'NO', text: 'Internal error occurred', thenBye: true };
    if (breaks !== undefined) throw new Refusal('NO', `[${breaks}] Internal error occurred`);
    const first = view.findIndex((message) => wanted.has(message.uid) && there.has(message));
    const again = listing && quirks.repeatsRows ? view[first] : undefined;
    if (again !== undefined) send(`* ${first + 1} FETCH (`, ...fetched(again, items), ')\r\n');
    return { status: 'OK', text: 'Done' };
  };

  const answersFor = (items: readonly string[]): (readonly string[])[] => {
    if (!does('two answers for a message') || chance.happens(AT_TIMES)) return [items];
    const half = items.length >> 1;
    return [items.slice(0, half), items.slice(half)];
  };

  const fetched = (message: StoredMail, items: readonly string[]): (string | Buffer)[] => {
    const pieces: (string | Buffer)[] = [];
    const named = items.some((item) => item === 'UID') ? items : ['UID', ...items];
    const all = does('items turned round') ? named.toReversed() : named;
    all.forEach((item, index) => {
      if (index > 0) pieces.push(' ');
      const upper = item.toUpperCase();
      if (upper === 'UID') pieces.push(`UID ${message.uid}`);
      else if (upper === 'FLAGS') pieces.push(`FLAGS (${flagsOf(message)})`);
      else if (upper === 'INTERNALDATE')
        pieces.push(
          `INTERNALDATE ${isOdd(message) ? '"00-Jan-0000 00:00:00 +0000"' : dateTimeOf(message.internalDate, does('dates of another zone'))}`,
        );
      else if (upper === 'RFC822.SIZE') pieces.push(`RFC822.SIZE ${sizeOf(message)}`);
      else if (upper.startsWith('BODY')) {
        const octets = section(message.octets, upper);
        if (upper.startsWith('BODY[]') || upper.startsWith('BODY.PEEK[]')) message.wasRead = true;
        const name = item.replace(/\.PEEK/i, '').replace(/<(\d+)\.\d+>$/, '<$1>');
        pieces.push(`${name} ${does('bodies as literal8') ? '~' : ''}{${octets.length}}\r\n`, octets);
      } else throw new Refusal('BAD', `${upper.slice(0, 40)} is not known`);
    });
    return pieces;
  };

  const isOdd = ({ digest }: StoredMail) => Number.parseInt(digest.slice(0, 4), 16) / 65536 < quirks.oddDates;

  const sizeOf = ({ octets }: StoredMail) => {
    if (does('no sizes')) return 0;
    if (does('sizes without CR')) return octets.filter((octet) => octet !== 13).length;
    return quirks.roundsSize ? Math.ceil(octets.length / SIZE_UNIT) * SIZE_UNIT : octets.length;
  };

  const search = (words: readonly Word[]): Answer => {
    const { view, folder } = openIn(session);
    const there = new Set(folder.messages);
    let found = view.filter((message) => there.has(message));
    for (let at = 0; at < words.length; at += 1) {
      const key = textOf(words[at]).toUpperCase();
      if (key === 'ALL') continue;
      else if (key === 'RETURN') at += 1;
      else if (key === 'SINCE') {
        at += 1;
        const day = dayOf(textOf(words[at]));
        found = found.filter((message) => message.internalDate / DAY >= day);
      } else if (key === 'UID') {
        at += 1;
        const members = new Set(
          membersOf(
            textOf(words[at]),
            view.map((message) => message.uid),
          ),
        );
        found = found.filter((message) => members.has(message.uid));
      } else if (key === 'HEADER') {
        const header = `\n${textOf(words[at + 1])}: `.toLowerCase();
        const value = textOf(words[at + 2]).toLowerCase();
        at += 2;
        found = found.filter(({ octets }) => {
          const head = `\n${headerOf(octets).toString('latin1')}`.toLowerCase();
          const from = head.indexOf(header);
          return from >= 0 && head.slice(from).split('\r\n')[0]?.includes(value) === true;
        });
      } else throw new Refusal('BAD', `The search key ${key.slice(0, 40)} is not known`);
    }
    if (quirks.losesWithheld) found = found.filter(({ digest }) => !quirks.withheld.has(digest));
    if (!Number.isFinite(quirks.shortListings) && found.length > 1) found = found.filter((_, index) => index % 2 === 0);
    if (does('searches turned round')) found = found.toReversed();
    const uids = found.map(({ uid }) => uid);
    const all = uids.length === 0 ? '' : ` ALL ${does('searches turned round') ? uids.join(',') : setOf(uids)}`;
    if (does('searches by ranges')) send(`* ESEARCH (TAG "A") UID${all}\r\n`);
    else send(`* SEARCH${uids.map((uid) => ` ${uid}`).join('')}\r\n`);
    return { status: 'OK', text: 'Done' };
  };

  return { fetch, search };
}

function headerOf(octets: Buffer): Buffer {
  const end = octets.indexOf('\r\n\r\n');
  return end < 0 ? octets : octets.subarray(0, end + 4);
}

/** `BODY[]`, `BODY[HEADER]`, `BODY[HEADER.FIELDS (…)]`, each with `<from.size>` if wanted. */
function section(octets: Buffer, item: string): Buffer {
  const name = /\[(.*)\]/.exec(item)?.[1] ?? '';
  let part = octets;
  if (name === 'HEADER') part = headerOf(octets);
  else if (name.startsWith('HEADER.FIELDS')) {
    const fields = new Set((/\((.*)\)/.exec(name)?.[1] ?? '').split(' '));
    const lines = headerOf(octets).toString('latin1').split('\r\n');
    const kept = lines.filter((line) => fields.has((line.split(':')[0] ?? '').toUpperCase()));
    part = Buffer.from([...kept, '', ''].join('\r\n'), 'latin1');
  } else if (name !== '') throw new Refusal('BAD', 'That section is not known');
  const range = /<(\d+)\.(\d+)>$/.exec(item);
  return range === null ? part : part.subarray(Number(range[1]), Number(range[1]) + Number(range[2]));
}
