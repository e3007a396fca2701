import { digestOf, type GivenMail, HANGS_UP, SAYS_GOODBYE } from '../account.ts';
import { EPOCH } from '../scheduler.ts';
import { itemsOf, membersOf, pathOf, setOf, textOf, timeOf, type Word } from './imap-words.ts';
import { type Answer, AT_TIMES, DAY, hasAppeared, openIn, Refusal, type Session } from './session.ts';

/** APPEND, STORE and EXPUNGE. */
export function storingCommands(session: Session) {
  const { account, load, scheduler, chance, client, send, hangUp, cutOff, does, count } = session;
  const { quirks } = account;

  const store = (words: readonly Word[]): Answer => {
    const { view, folder, readOnly, stale } = openIn(session);
    if (readOnly) throw new Refusal('NO', '[NOPERM] It is open for reading only');
    if (folder.stale !== stale) return { status: 'NO', text: '[SERVERBUG] The mailbox has changed', thenBye: true };
    const uids = new Set(
      membersOf(
        textOf(words[0]),
        view.map((message) => message.uid),
      ),
    );
    const action = textOf(words[1]).toUpperCase();
    const flags = itemsOf(words[2]).filter((flag) => !quirks.dropsKeywords || flag.startsWith('\\'));
    const there = new Set(folder.messages);
    view.forEach((message, index) => {
      if (!uids.has(message.uid) || !there.has(message)) return;
      const before = action.startsWith('FLAGS') ? [] : [...message.flags];
      const lower = new Set(flags.map((flag) => flag.toLowerCase()));
      const kept = before.filter((flag) => !lower.has(flag.toLowerCase()));
      account.flag(folder, message, action.startsWith('-') ? kept : [...kept, ...flags], client);
      if (!action.endsWith('.SILENT'))
        send(`* ${index + 1} FETCH (UID ${message.uid} FLAGS (${[...message.flags].join(' ')}))\r\n`);
    });
    return { status: 'OK', text: 'Done' };
  };

  const expunge = (uids: readonly number[]): Answer => {
    const { folder, readOnly, stale } = openIn(session);
    if (readOnly) throw new Refusal('NO', '[NOPERM] It is open for reading only');
    if (folder.stale !== stale) return { status: 'NO', text: '[SERVERBUG] The mailbox has changed', thenBye: true };
    const wanted = new Set(uids);
    account.expunge(
      folder,
      new Set(folder.messages.filter((each) => wanted.has(each.uid) && each.flags.has('\\Deleted'))),
      client,
    );
    return { status: 'OK', text: 'Done' };
  };

  const dateOfNow = () => EPOCH + Math.floor(scheduler.now() / 1000) * 1000;

  const givenOf = (words: readonly Word[]): GivenMail[] => {
    const given: GivenMail[] = [];
    let flags: string[] = [];
    let internalDate = dateOfNow();
    for (const word of words.slice(1))
      if (Buffer.isBuffer(word)) {
        given.push({ octets: Buffer.from(word), flags, internalDate });
        flags = [];
        internalDate = dateOfNow();
      } else if (typeof word === 'string') internalDate = timeOf(word);
      else flags = itemsOf(word);
    if (given.length === 0) throw new Refusal('BAD', 'There is no message');
    if (given.length > 1 && !quirks.multiAppend) throw new Refusal('BAD', 'One message at a time');
    return given;
  };

  const timesKept = () => {
    if (quirks.drops > 0 && chance.happens(quirks.drops)) return 0;
    return quirks.doubles > 0 && chance.happens(quirks.doubles) ? 2 : 1;
  };

  const isWithinReason = (date: number) => date > 1000 && date < EPOCH + scheduler.now() + DAY;

  const refuseAppend = (words: readonly Word[], reason: string) =>
    account.refuse(pathOf(words[0]), givenOf(words), client, reason);

  const append = (words: readonly Word[]): Answer | null => {
    const name = pathOf(words[0]);
    const given = givenOf(words);
    const no = (code: string, culprits: readonly GivenMail[], text = 'Not stored'): Answer => {
      account.refuse(name, culprits, client, code);
      return { status: 'NO', text: code === '' ? text : `[${code}] ${text}` };
    };
    const folder = account.find(name);
    if (folder === undefined || !hasAppeared(folder, session)) return no('TRYCREATE', given);
    const odd = given.filter(
      ({ flags }) => quirks.refusesKeywords !== null && flags.some((flag) => flag.includes('.')),
    );
    if (odd.length > 0) {
      account.refuse(name, odd, client, 'keyword');
      return { status: quirks.refusesKeywords ?? 'NO', text: 'Invalid keyword name' };
    }
    /** Those before the one that it refuses have been stored, and stay (RFC 3502 forbids it). */
    const keepSome = (fits: (octets: Buffer) => boolean) => {
      const culprit = given.findIndex(({ octets }) => !fits(octets));
      if (quirks.keepsSome && culprit > 0) account.store(folder, given.slice(0, culprit), client);
    };
    const day = Math.floor(scheduler.now() / DAY);
    if (load.appended.day !== day) Object.assign(load.appended, { day, messages: 0 });
    if (load.appended.messages >= quirks.appendsADay) {
      hangUp('Session expired, please login again.');
      return null;
    }
    const minute = scheduler.now() - 60_000;
    load.appends = load.appends.filter((time) => time > minute);
    if (load.appends.length + given.length > quirks.appendsAMinute && load.appends.length > 0) {
      let left = quirks.appendsAMinute - load.appends.length;
      keepSome(() => (left -= 1) >= 0);
      return no('THROTTLED', given, 'Suggested Backoff Time: 30000 milliseconds');
    }
    const large = given.filter(({ octets }) => octets.length > quirks.appendLimit);
    if (large.length > 0) {
      keepSome(({ length }) => length <= quirks.appendLimit);
      return no('TOOBIG', large);
    }
    if (quirks.wantsLineEnd && account.misread(name, given, client))
      return { status: 'BAD', text: '[CLIENTBUG] Additional arguments found after last expected argument' };
    const undatable = given.filter(({ internalDate }) => quirks.wantsDates && !isWithinReason(internalDate));
    if (undatable.length > 0) return no('', undatable, 'Invalid date');
    const poison = given.filter((mail) => quirks.refused.has(digestOf(mail.octets)));
    const [first] = poison;
    if (first !== undefined) {
      keepSome((octets) => !quirks.refused.has(digestOf(octets)));
      const refusal = no(quirks.refused.get(digestOf(first.octets)) ?? '', [first]);
      if (refusal.text.includes(SAYS_GOODBYE)) {
        hangUp(refusal.text.includes('LIMIT') ? '[LIMIT] Resource limit exceeded' : 'Connection is closed. 14');
        return null;
      }
      if (!refusal.text.includes(HANGS_UP)) return refusal;
      cutOff();
      return null;
    }
    const octets = given.reduce((total, mail) => total + mail.octets.length, 0);
    if (account.size() + octets > quirks.quota) {
      let left = quirks.quota - account.size();
      keepSome(({ length }) => (left -= length) >= 0);
      return no('OVERQUOTA', given);
    }
    const isRefused = chance.happens(quirks.refusesNow);
    if (isRefused && !quirks.storesRefused) {
      keepSome((octets) => octets !== given.at(-1)?.octets);
      return no(quirks.refusalCode, given);
    }
    load.appends.push(...given.map(() => scheduler.now()));
    count(octets);
    load.appended.messages += given.length;
    const dated = given.map((mail) =>
      quirks.replacesDates && !isWithinReason(mail.internalDate) ? { ...mail, internalDate: dateOfNow() } : mail,
    );
    const uids = account.store(
      folder,
      dated.map((mail) => ({ ...mail, times: timesKept() })),
      client,
    );
    if (isRefused) return no(quirks.refusalCode, given);
    const saysUids = quirks.uidPlus && !(does('UIDs of appended messages at times') && chance.happens(AT_TIMES));
    const told = does('one UID for several appended') ? uids.slice(0, 1) : uids;
    const text = saysUids ? `[APPENDUID ${folder.uidValidity} ${appendedSet(told)}] Done` : 'Done';
    return { status: 'OK', text };
  };

  return { store, expunge, refuseAppend, append };
}

function appendedSet(uids: readonly number[]): string {
  // Twins that are kept once come with UIDs that don't rise.
  return uids.every((uid, index) => index === 0 || uid > (uids[index - 1] ?? 0)) ? setOf(uids) : uids.join(',');
}
