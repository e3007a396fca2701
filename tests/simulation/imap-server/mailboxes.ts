import { HANGS_UP, SAYS_GOODBYE, type MailFolder, type StoredMail } from '../account.ts';
import { EPOCH } from '../scheduler.ts';
import { pathOf, quoted, quotedPath, textOf, type Word } from './imap-words.ts';
import { type Answer, flagsOf, hasAppeared, Refusal, type Session } from './session.ts';

/** LIST, CREATE, STATUS, SELECT, and what a server tells of an open mailbox by itself. */
export function mailboxCommands(session: Session) {
  const { account, load, scheduler, chance, send, does } = session;
  const { quirks } = account;

  const folderOf = (word: Word | undefined, code = 'NONEXISTENT'): MailFolder => {
    const folder = account.find(pathOf(word));
    if (folder === undefined || !hasAppeared(folder, session)) throw new Refusal('NO', `[${code}] No such mailbox`);
    return folder;
  };

  const isShown = ({ by, at }: StoredMail) => by === 'before' || at + quirks.showsAfter <= EPOCH + scheduler.now();
  const shown = (folder: MailFolder): StoredMail[] =>
    folder.messages.slice(-Math.min(quirks.window, 1e9)).filter(isShown);

  const nameOf = ({ name }: MailFolder) => {
    const path = quotedPath(name);
    if (!does('names as literals')) return path;
    const plain = path.slice(1, -1).replaceAll(/\\(.)/g, '$1');
    return `{${Buffer.byteLength(plain)}}\r\n${plain}`;
  };

  const list = (name: string, words: readonly Word[]): Answer => {
    const withStatus = quirks.listStatus && JSON.stringify(words).includes('STATUS');
    if (textOf(words[1]) === '') {
      send(`* LIST (\\Noselect) ${quoted(quirks.delimiter)} ""\r\n`);
      return { status: 'OK', text: 'Done' };
    }
    load.listings += 1;
    const folders = [...account.folders.values()].filter((folder) => hasAppeared(folder, session));
    if (load.listings === quirks.listingThatLies && folders.length > 1) folders.pop();
    for (const folder of folders) {
      if (name === 'LSUB' && !folder.subscribed) continue;
      const flags = ['\\HasNoChildren', folder.specialUse ?? '', folder.subscribed ? '\\Subscribed' : ''];
      const attributes = flags.filter((flag) => flag !== '').join(' ');
      const row = `* ${name} (${attributes}) ${quoted(quirks.delimiter)} ${nameOf(folder)}\r\n`;
      send(does('mailboxes twice') ? `${row}${row}` : row);
      if (!withStatus) continue;
      const { closing } = quirks;
      if (isSilent(folder) && [HANGS_UP, SAYS_GOODBYE].includes(closing?.code ?? ''))
        throw new Refusal('NO', closing?.code ?? '');
      send(statusLine(folder));
    }
    return { status: 'OK', text: 'Done' };
  };

  const create = (name: string): Answer => {
    if (account.find(name) !== undefined) throw new Refusal('NO', '[ALREADYEXISTS] It exists');
    if (quirks.refusesCreating > 0 && chance.happens(quirks.refusesCreating)) throw new Refusal('NO', 'Not now');
    if (quirks.prefix !== '' && !name.startsWith(quirks.prefix)) throw new Refusal('NO', 'Invalid mailbox name');
    if (name.length > quirks.longestName) throw new Refusal('NO', '[CANNOT] The name is too long');
    account.create(name);
    return { status: 'OK', text: 'Done' };
  };

  const statusLine = (folder: MailFolder) =>
    `* STATUS ${nameOf(folder)} (MESSAGES ${shown(folder).length}${quirks.saysUidNext && !does('no UIDNEXT with STATUS') ? ` UIDNEXT ${folder.uidNext}` : ''} UIDVALIDITY ${folder.uidValidity})\r\n`;

  const isClosing = ({ name }: MailFolder) => name === quirks.closing?.path || name === quirks.closing?.other;

  const isSilent = (folder: MailFolder) =>
    quirks.closing?.isSilent === true && isClosing(folder) && load.opened >= quirks.closing.opens;

  const status = (words: readonly Word[]): Answer => {
    const folder = folderOf(words[0]);
    if (isSilent(folder)) throw new Refusal('NO', `[${quirks.closing?.code ?? 'NOPERM'}] It can not be opened`);
    send(statusLine(folder));
    return { status: 'OK', text: 'Done' };
  };

  const select = (folder: MailFolder, readOnly: boolean): Answer => {
    session.selected = null;
    const { closing } = quirks;
    if (isClosing(folder)) load.opened += 1;
    const isClosed = closing !== null && load.opened > closing.opens && load.opened <= (closing.until ?? Infinity);
    if (isClosed && isClosing(folder)) throw new Refusal('NO', `[${closing.code ?? 'NOPERM'}] It can not be opened`);
    if (quirks.renumbers === folder.name) account.renumber(folder);
    if (quirks.shiftsUids === folder.name) account.shiftUids(folder);
    const told = new Map(folder.messages.map((message) => [message, flagsOf(message)]));
    session.selected = { folder, stale: folder.stale, view: shown(folder), readOnly, told };
    const flags = '\\Answered \\Flagged \\Deleted \\Seen \\Draft';
    send(
      `* FLAGS (${flags})\r\n`,
      `* ${session.selected.view.length} EXISTS\r\n`,
      '* 0 RECENT\r\n',
      `* OK [PERMANENTFLAGS (${flags}${quirks.dropsKeywords ? '' : ' \\*'})] Kept\r\n`,
      `* OK [UIDVALIDITY ${folder.uidValidity}] Valid\r\n`,
      quirks.saysUidNext ? `* OK [UIDNEXT ${folder.uidNext}] Next\r\n` : '',
    );
    return { status: 'OK', text: `[${readOnly ? 'READ-ONLY' : 'READ-WRITE'}] Done` };
  };

  const tellOfGone = () => {
    if (session.selected === null) return;
    const { folder, view } = session.selected;
    const there = new Set(folder.messages);
    for (let at = view.length - 1; at >= 0; at -= 1) {
      const message = view[at];
      if (message === undefined || there.has(message)) continue;
      view.splice(at, 1);
      send(`* ${at + 1} EXPUNGE\r\n`);
    }
  };

  /** Tells of what others did meanwhile; a mailbox that has gone or been renumbered ends the connection. */
  const update = () => {
    if (session.selected === null) return;
    const { folder, view, told } = session.selected;
    if (folder.stale !== session.selected.stale) return;
    tellOfGone();
    if (quirks.tellsFlags)
      view.forEach((message, index) => {
        const [before, now] = [told.get(message), flagsOf(message)];
        told.set(message, now);
        if (before !== undefined && before !== now)
          send(`* ${index + 1} FETCH (UID ${message.uid} FLAGS (${now}))\r\n`);
      });
    const seen = new Set(view);
    const newest = folder.messages.filter(
      (message) => !seen.has(message) && message.uid > (view.at(-1)?.uid ?? 0) && isShown(message),
    );
    if (newest.length === 0) return;
    view.push(...(Number.isFinite(quirks.window) ? newest.slice(-quirks.window) : newest));
    send(`* ${view.length} EXISTS\r\n`);
  };

  return { folderOf, list, create, status, select, tellOfGone, update };
}
