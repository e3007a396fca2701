import type { MailFolder, SimulatedAccount, StoredMail } from './account.ts';
import type { Chance } from './chance.ts';
import { lettersOf } from './letters.ts';
import type { Deed } from './scenario.ts';

const WHO = 'subscriber';
/** Messages of mailboxes that have been made anew, by account, which are put back some at a time. */
const KEPT = new WeakMap<SimulatedAccount, { readonly name: string; readonly messages: StoredMail[] }>();
const PUT_BACK_AT_ONCE = 3;
/** Of accounts whose disk is away. */
const AWAY = new WeakMap<SimulatedAccount, readonly MailFolder[]>();

/** Does to an account what somebody else does meanwhile; nothing when there is nothing to do it to. */
export function perform(deed: Deed, account: SimulatedAccount, chance: Chance): void {
  const folders = [...account.folders.values()];
  const full = folders.filter((folder) => folder.messages.length > 0);
  const folder = full.length === 0 ? undefined : chance.one(full);
  // What has just been brought is what the engine could take for its own to mend.
  const message = folder === undefined ? undefined : pick(folder, chance);
  switch (deed.does) {
    case 'moves a message':
      if (folder === undefined || message === undefined) return;
      account.move(folder, message, account.find('Kept by hand') ?? account.create('Kept by hand'), WHO);
      return;
    case 'moves a message away and back':
      if (folder !== undefined && message !== undefined) account.move(folder, message, folder, WHO);
      return;
    case 'deletes a message':
      if (folder !== undefined && message !== undefined) account.expunge(folder, new Set([message]), WHO);
      return;
    case 'reads a message':
      if (folder !== undefined && message !== undefined)
        account.flag(folder, message, [...new Set([...message.flags, '\\Seen'])], WHO);
      return;
    case 'gets new mail':
      account.store(
        account.find('INBOX') ?? chance.one(folders),
        lettersOf(chance, 1, `new.${chance.integer(0, 1e9)}`),
        WHO,
      );
      return;
    case 'deletes a mailbox':
    case 'makes a mailbox anew': {
      // At the destination one that only has what was brought; at the source any.
      const others = folders.filter(
        ({ name, messages }) =>
          name !== 'INBOX' && (deed.side === 'source' || messages.every(({ by }) => by !== 'before' && by !== WHO)),
      );
      if (others.length === 0) return;
      const { name, messages } = chance.one(others);
      account.delete(name, WHO);
      if (deed.does === 'deletes a mailbox') return;
      account.create(name);
      KEPT.set(account, { name, messages: [...messages] });
      return;
    }
    case 'puts back what it had': {
      const { name, messages } = KEPT.get(account) ?? { name: '', messages: [] };
      const made = account.find(name);
      const some = messages.splice(0, PUT_BACK_AT_ONCE);
      if (made !== undefined)
        account.store(
          made,
          some.map(({ octets, flags, internalDate }) => ({ octets, flags: [...flags], internalDate })),
          WHO,
        );
      return;
    }
    case 'writes a mailbox in small letters': {
      const named = folders.find(({ name }) => name !== 'INBOX' && !account.folders.has(name.toLowerCase()));
      if (named !== undefined) account.rename(named, named.name.toLowerCase());
      return;
    }
    case 'renames a mailbox':
    case 'renames a mailbox and makes it anew': {
      const others = folders.filter(({ name }) => name !== 'INBOX');
      if (others.length === 0) return;
      const renamed = chance.one(others);
      const { name } = renamed;
      let old = `${name} of old`;
      while (account.find(old) !== undefined) old += ' and older';
      account.rename(renamed, old);
      if (deed.does !== 'renames a mailbox') account.create(name);
      return;
    }
    case 'renumbers a mailbox':
      account.renumber(chance.one(folders));
      return;
    case 'gives UIDs to other messages': {
      // As after a backup was restored that did not have the newest ones yet, some of which are brought back.
      if (folder === undefined) return;
      const newest = folder.messages.slice(-chance.integer(1, 6));
      account.expunge(folder, new Set(newest), WHO);
      folder.uidNext = newest[0]?.uid ?? folder.uidNext;
      account.store(folder, lettersOf(chance, chance.integer(1, 4), `of the same UID ${chance.integer(0, 1e9)}`), WHO);
      const back = newest.filter(() => chance.happens(0.4));
      account.store(
        folder,
        back.map(({ octets, flags, internalDate }) => ({ octets, flags: [...flags], internalDate })),
        WHO,
      );
      return;
    }
    case 'tells other dates':
    case 'tells other dates and numbers':
      if (folder === undefined) return;
      for (const each of folder.messages) account.redate(folder, each, chance.integer(1, 90_000), WHO);
      if (deed.does === 'tells other dates and numbers') account.renumber(folder);
      return;
    case 'loses its disk':
      AWAY.set(account, folders);
      for (const each of folders) each.stale += 1;
      account.folders.clear();
      account.create('INBOX');
      return;
    case 'has its disk again':
      for (const each of AWAY.get(account) ?? []) account.folders.set(each.name, each);
  }
}

function pick(folder: MailFolder, chance: Chance): StoredMail {
  const newest = folder.messages.at(-1);
  return newest !== undefined && chance.happens(0.5) ? newest : chance.one(folder.messages);
}
