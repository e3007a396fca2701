import type { Skipped } from '../../src/contract/calls/status.ts';
import type { ContactFates, Fate, Settled } from '../../src/server/contacts/contact-fates.ts';
import { copyContacts } from '../../src/server/contacts/copy-contacts.ts';
import type { ContactCopy } from '../../src/server/contacts/copy-run.ts';

type Kept = Fate & { readonly name: string };

/** The fates of contacts, in memory, and their totals. */
export class MemoryFates implements ContactFates {
  readonly kept = new Map<string, Kept>();

  readonly all = async () => new Map(this.kept);
  readonly intend: ContactFates['intend'] = async (contacts) => {
    for (const { uid, destinationId } of contacts)
      this.kept.set(uid, { fate: 'intent', destinationId, stays: [], name: '', remarks: [], digest: '' });
  };
  readonly settle = async (settled: readonly Settled[]) => {
    for (const { uid, fate, name, remarks, destinationId = '', stays = [], digest = '' } of settled)
      this.kept.set(uid, { fate, destinationId, stays, name, remarks, digest });
  };
  readonly forget: ContactFates['forget'] = async (ids) => {
    for (const id of ids) this.kept.delete(id);
  };
  readonly remark: ContactFates['remark'] = async (remarks) => {
    for (const { uid, remark } of remarks) {
      const kept = this.kept.get(uid);
      if (kept !== undefined) this.kept.set(uid, { ...kept, remarks: [...kept.remarks, remark] });
    }
  };

  count(fate: Fate['fate']): number {
    return [...this.kept.values()].filter((one) => one.fate === fate).length;
  }

  get sum() {
    const all = [...this.kept.values()];
    const refused = all.filter(({ fate }) => fate === 'refused');
    const others = all.filter(({ fate }) => fate !== 'refused');
    return {
      total: all.filter(({ fate }) => fate !== 'group').length,
      written: this.count('copied'),
      present: this.count('present'),
      completed: this.count('completed'),
      skipped: refused.flatMap(({ name, remarks }): Skipped[] =>
        remarks.map((reason) => ({ mailbox: 'Contacts', reason, ...(name === '' ? {} : { subject: name }) })),
      ),
      notes: others.flatMap(({ name, remarks }) => remarks.map((note) => ({ contact: name, note }))),
    };
  }
}

/** Copies contacts without any waits, and returns what became of them. */
export async function copyInto(
  copy: Omit<ContactCopy, 'fates' | 'sleep'> & Partial<Pick<ContactCopy, 'sleep'>>,
  fates = new MemoryFates(),
) {
  const compared = await copyContacts({ sleep: async () => {}, ...copy, fates });
  return { ...fates.sum, ...compared };
}
