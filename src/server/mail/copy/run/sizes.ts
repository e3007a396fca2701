type Amount = { readonly messages: number; readonly octets: number };

/**
 * How much goes together at most: larger amounts save round trips and commits, but take memory, and a fault repeats
 * more.
 */
export type Sizes = {
  /** A group: one intent and one append. A larger message is one by itself. */
  readonly group: Amount;
  /** What one FETCH asks for. */
  readonly fetch: Amount;
  /** What one FETCH reads back. */
  readonly readBack: Amount;
  /**
   * Messages that are requested and sent as one part. If the server reports no UIDs, they are looked for after each
   * part.
   */
  readonly sent: { readonly said: number; readonly unsaid: number };
  /** A message of so many octets or more is read back by its MAC, if the same process has sent it. */
  readonly mac: number;
  /** The newest messages of the inbox come before all others, so that recent mail is there within minutes. */
  readonly newest: number;
  /** Mailboxes that are listed at once over one connection. */
  readonly listed: number;
};

export const SIZES: Sizes = {
  group: { messages: 100, octets: 4_000_000 },
  fetch: { messages: 500, octets: 32_000_000 },
  readBack: { messages: 400, octets: 32_000_000 },
  sent: { said: 10_000, unsaid: 1000 },
  mac: 64 * 1024,
  newest: 1000,
  listed: 8,
};
