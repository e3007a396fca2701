import { widerNetwork } from './client-address.ts';

type Most = { readonly ofNetwork: number; readonly ofWiderNetwork: number; readonly inAll: number };

type SharesOptions<Holder> = {
  readonly most: Most;
  /** Called when a holder has lost its place to another one. */
  readonly end: (holder: Holder) => void;
  /** Whether a newcomer is refused if no network has more places than it would have; otherwise the oldest is evicted. */
  readonly waits?: boolean;
};

/**
 * A limited number of places, shared so that no network can hold them all. When all are taken, a newcomer evicts the
 * oldest holder in the network that has the most.
 */
export class Shares<Holder> {
  readonly #most: Most;
  readonly #end: (holder: Holder) => void;
  readonly #waits: boolean;
  /** By wider network, then by network, oldest first. */
  readonly #held = new Map<string, Map<string, Set<Holder>>>();
  #total = 0;

  constructor({ most, end, waits = false }: SharesOptions<Holder>) {
    this.#most = most;
    this.#end = end;
    this.#waits = waits;
  }

  /** @returns a function that gives the place back, and may be called repeatedly; `null` if there is no place */
  take(network: string, holder: Holder): (() => void) | null {
    const wider = widerNetwork(network);
    const networks = this.#held.get(wider) ?? new Map<string, Set<Holder>>();
    const holders = networks.get(network) ?? new Set();
    if (holders.size >= this.#most.ofNetwork || countOf(networks) >= this.#most.ofWiderNetwork) return null;
    if (this.#total >= this.#most.inAll && !this.#endOneOfTheMost(countOf(networks), holders.size)) return null;
    this.#held.set(wider, networks.set(network, holders.add(holder)));
    this.#total += 1;
    return () => this.#drop(wider, network, holder);
  }

  #drop(wider: string, network: string, holder: Holder): void {
    const networks = this.#held.get(wider);
    const holders = networks?.get(network);
    if (networks === undefined || holders?.delete(holder) !== true) return;
    this.#total -= 1;
    if (holders.size === 0) networks.delete(network);
    if (networks.size === 0) this.#held.delete(wider);
  }

  #endOneOfTheMost(ofWiderNetwork: number, ofNetwork: number): boolean {
    const [wider, networks] = largest(this.#held, countOf) ?? [];
    const [network, holders] = networks === undefined ? [] : (largest(networks, (each) => each.size) ?? []);
    const [oldest] = holders ?? [];
    if (wider === undefined || networks === undefined || network === undefined || holders === undefined) return false;
    const hasMore = countOf(networks) > ofWiderNetwork + 1 || holders.size > ofNetwork + 1;
    if (oldest === undefined || (this.#waits && !hasMore)) return false;
    this.#drop(wider, network, oldest);
    this.#end(oldest);
    return true;
  }
}

function countOf(networks: ReadonlyMap<string, ReadonlySet<unknown>>): number {
  let count = 0;
  for (const { size } of networks.values()) count += size;
  return count;
}

function largest<Value>(map: ReadonlyMap<string, Value>, sizeOf: (value: Value) => number): [string, Value] | null {
  let most: [string, Value] | null = null;
  for (const entry of map) if (most === null || sizeOf(entry[1]) > sizeOf(most[1])) most = entry;
  return most;
}
