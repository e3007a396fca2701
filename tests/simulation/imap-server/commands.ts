import { membersOf, pathOf, quoted, textOf, type Word } from './imap-words.ts';
import { mailboxCommands } from './mailboxes.ts';
import { readingCommands } from './reading.ts';
import { type Answer, DAY, openIn, Refusal, type Session } from './session.ts';
import { storingCommands } from './storing.ts';

const READING = new Set(['LIST', 'STATUS', 'SELECT', 'EXAMINE', 'FETCH', 'UID FETCH', 'UID SEARCH']);

/** What each command does. `later`: answers once the client has said another line. */
export function commandsOf(session: Session, later: (tag: string, answer: () => Answer) => void) {
  const { account, load, scheduler, chance, client, send, cutOff, does } = session;
  const { quirks } = account;
  const { folderOf, list, create, status, select, tellOfGone, update } = mailboxCommands(session);
  const { fetch, search } = readingCommands(session, tellOfGone);
  const { store, expunge, refuseAppend, append } = storingCommands(session);
  let signedIn = false;

  const obey = (name: string, words: readonly Word[], tag: string): Answer | null => {
    if (!signedIn && !['CAPABILITY', 'NOOP', 'LOGOUT', 'AUTHENTICATE', 'LOGIN', 'ID'].includes(name))
      throw new Refusal('BAD', 'Sign in first');
    if (signedIn && load.traffic.bytes > quirks.bytesADay && Math.floor(scheduler.now() / DAY) === load.traffic.day)
      if (/^(?:UID FETCH|APPEND|FETCH)$/.test(name)) {
        if (name === 'APPEND') refuseAppend(words, 'OVERQUOTA');
        return {
          status: 'NO',
          text: '[OVERQUOTA] Account exceeded command or bandwidth limits. (Failure)',
          thenBye: true,
        };
      }
    const { refusesReading } = quirks;
    const isRefused =
      (refusesReading?.only === undefined ? READING.has(name) : refusesReading.only === name) &&
      scheduler.now() >= (refusesReading?.from ?? 0) &&
      scheduler.now() < (refusesReading?.until ?? Infinity);
    if (refusesReading !== null && isRefused && chance.happens(refusesReading.part))
      throw new Refusal(
        'NO',
        `${refusesReading.code === '' ? '' : `[${refusesReading.code}] `}${refusesReading.text ?? 'Something went wrong'}`,
      );
    switch (name) {
      case 'CAPABILITY':
        send(`* CAPABILITY ${capabilities()}\r\n`);
        return { status: 'OK', text: 'Done' };
      case 'NOOP':
      case 'ENABLE':
        return { status: 'OK', text: 'Done' };
      case 'ID':
        send('* ID NIL\r\n');
        return { status: 'OK', text: 'Done' };
      case 'LOGOUT':
        if (quirks.goodbyeTakes === 0) return goodbye(tag);
        scheduler.after(quirks.goodbyeTakes, `${client}'s goodbye`, () => goodbye(tag));
        return null;
      case 'LOGIN':
        return signIn();
      case 'AUTHENTICATE':
        if (words.length > 1) return signIn();
        send('+ \r\n');
        later(tag, signIn);
        return null;
      case 'NAMESPACE':
        send(`* NAMESPACE ((${quoted(quirks.prefix)} ${quoted(quirks.delimiter)})) NIL NIL\r\n`);
        return { status: 'OK', text: 'Done' };
      case 'LIST':
      case 'LSUB':
        return list(name, words);
      case 'CREATE':
        return create(pathOf(words[0]));
      case 'SUBSCRIBE':
        folderOf(words[0]).subscribed = true;
        return { status: 'OK', text: 'Done' };
      case 'STATUS':
        return status(words);
      case 'SELECT':
      case 'EXAMINE':
        return select(folderOf(words[0]), name === 'EXAMINE');
      case 'CLOSE':
      case 'UNSELECT':
        session.selected = null;
        return { status: 'OK', text: 'Done' };
      case 'FETCH':
        return fetch(words, true);
      case 'UID FETCH':
        return fetch(words, false);
      case 'UID SEARCH':
        return search(words);
      case 'UID STORE':
        return store(words);
      case 'UID EXPUNGE':
        if (!quirks.uidPlus) throw new Refusal('BAD', 'UID EXPUNGE is not known');
        return expunge(
          membersOf(
            textOf(words[0]),
            openIn(session).view.map((message) => message.uid),
          ),
        );
      case 'EXPUNGE':
        return expunge(openIn(session).view.map((message) => message.uid));
      case 'APPEND':
        return append(words);
      default:
        throw new Refusal('BAD', `${name.slice(0, 40)} is not known`);
    }
  };

  const capabilities = () =>
    [
      'IMAP4rev1 SASL-IR AUTH=PLAIN AUTH=XOAUTH2 NAMESPACE SPECIAL-USE LIST-EXTENDED ENABLE ID',
      { synchronising: '', minus: 'LITERAL-', plus: 'LITERAL+' }[quirks.literals],
      quirks.uidPlus ? 'UIDPLUS' : '',
      quirks.listStatus ? 'LIST-STATUS' : '',
      quirks.unselect ? 'UNSELECT' : '',
      quirks.multiAppend ? 'MULTIAPPEND' : '',
      does('searches by ranges') ? 'ESEARCH' : '',
      does('a limit of messages a command') ? 'MESSAGELIMIT=3' : '',
      quirks.saysAppendLimit ? `APPENDLIMIT=${quirks.appendLimit}` : '',
    ]
      .filter((name) => name !== '')
      .join(' ');

  const signIn = (): Answer => {
    if (load.connections > quirks.connections)
      return { status: 'NO', text: '[LIMIT] Too many simultaneous connections', thenBye: true };
    signedIn = true;
    return { status: 'OK', text: `[CAPABILITY ${capabilities()}] Welcome` };
  };

  const goodbye = (tag: string): null => {
    send('* BYE Goodbye\r\n', `${tag} OK Done\r\n`);
    cutOff();
    return null;
  };

  return { obey, capabilities, update };
}
