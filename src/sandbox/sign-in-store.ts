import { existsSync } from 'node:fs';
import type { Adapter, AdapterPayload } from 'oidc-provider';
import * as v from 'valibot';
import { type Entry, Journal } from './journal.ts';

type Kept = { readonly payload: AdapterPayload; readonly expires: number };

const Stored = v.object({
  key: v.string(),
  kept: v.nullable(
    v.object({ payload: v.custom<AdapterPayload>((value) => v.is(v.looseObject({}), value)), expires: v.number() }),
  ),
});

/** Consent and tokens survive the process; unfinished sign-ins don't. */
const LASTING = new Set(['Grant', 'RefreshToken', 'AccessToken']);
/** In seconds, for entries that oidc-provider gives no expiry. */
const LONGEST_LIFE = 90 * 24 * 3600;
const MOST_ENTRIES = 20_000;

export type SignInStore = Disposable & {
  /** oidc-provider's storage for one provider. */
  readonly adapter: (provider: string) => (model: string) => Adapter;
};

export function openSignInStore(path: string): SignInStore {
  const all = new Map<string, Kept>();
  const replay = (record: unknown) => {
    const { key, kept } = v.parse(Stored, record);
    if (kept === null || kept.expires < Date.now()) all.delete(key);
    else all.set(key, kept);
  };
  if (existsSync(path)) {
    Journal.open(path, replay)[Symbol.dispose]();
    Journal.rewrite(
      path,
      [...all].map(([key, kept]): Entry => ({ record: { key, kept } })),
    );
  }
  const journal = Journal.open(path, replay);

  const put = (model: string, key: string, kept: Kept | null) => {
    if (LASTING.has(model)) journal.append({ key, kept });
    if (kept === null) all.delete(key);
    else all.set(key, kept);
    if (all.size > MOST_ENTRIES) for (const [old, { expires }] of all) if (expires < Date.now()) all.delete(old);
  };
  const get = (key: string) => {
    const kept = all.get(key);
    return kept === undefined || kept.expires < Date.now() ? undefined : kept.payload;
  };
  const adapter =
    (provider: string) =>
    (model: string): Adapter => {
      const prefix = `${provider}/${model}/`;
      const find = (wanted: (payload: AdapterPayload) => boolean) => {
        const found = [...all].find(([key, { payload }]) => key.startsWith(prefix) && wanted(payload));
        return found === undefined ? undefined : get(found[0]);
      };
      return {
        upsert: async (id, payload, expiresIn) =>
          put(model, prefix + id, { payload, expires: Date.now() + (expiresIn ?? LONGEST_LIFE) * 1000 }),
        find: async (id) => get(prefix + id),
        findByUid: async (uid) => find((payload) => payload.uid === uid),
        findByUserCode: async (userCode) => find((payload) => payload.userCode === userCode),
        destroy: async (id) => put(model, prefix + id, null),
        consume: async (id) => {
          const kept = all.get(prefix + id);
          if (kept === undefined) return;
          put(model, prefix + id, { ...kept, payload: { ...kept.payload, consumed: Math.floor(Date.now() / 1000) } });
        },
        revokeByGrantId: async (grantId) => {
          for (const [key, { payload }] of all)
            if (key.startsWith(prefix) && payload.grantId === grantId) put(model, key, null);
        },
      };
    };
  return { adapter, [Symbol.dispose]: () => journal[Symbol.dispose]() };
}
