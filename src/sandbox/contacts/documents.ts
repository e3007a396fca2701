import * as v from 'valibot';
import { Journal } from '../journal.ts';

const Stored = v.object({ owner: v.string(), kind: v.string(), id: v.string(), value: v.unknown() });

/** What a contacts service stores for each owner: values by kind and ID, in the order they arrived. */
export type Documents = Disposable & {
  readonly all: (owner: string, kind: string) => ReadonlyMap<string, unknown>;
  readonly put: (owner: string, kind: string, id: string, value: unknown) => void;
  readonly remove: (owner: string, kind: string, id: string) => void;
};

type Seed = (owner: string, kind: string) => Iterable<readonly [id: string, value: unknown]>;

/** Documents backed by a journal; each is in the file before `put` returns. `seed` is what an owner starts with. */
export function openDocuments(path: string, seed: Seed = () => []): Documents {
  const shelves = new Map<string, Map<string, unknown>>();
  const shelf = (owner: string, kind: string) => {
    const key = JSON.stringify([owner, kind]);
    const found = shelves.get(key);
    if (found !== undefined) return found;
    const fresh = new Map(seed(owner, kind));
    shelves.set(key, fresh);
    return fresh;
  };
  const apply = ({ owner, kind, id, value }: v.InferOutput<typeof Stored>) => {
    if (value === null) shelf(owner, kind).delete(id);
    else shelf(owner, kind).set(id, value);
  };
  const journal = Journal.open(path, (record) => apply(v.parse(Stored, record)));
  const commit = (record: v.InferOutput<typeof Stored>) => {
    journal.append(record);
    apply(record);
  };
  return {
    all: shelf,
    put: (owner, kind, id, value) => commit({ owner, kind, id, value }),
    remove: (owner, kind, id) => commit({ owner, kind, id, value: null }),
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  };
}
