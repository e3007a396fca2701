type Amount = { readonly messages: number; readonly octets: number };

/** How much of a copy goes together at most: round trips and commits against memory, and against what a fault repeats. */
export type Sizes = {
  /** A group: one intent and one append. A larger message is one by itself. */
  readonly group: Amount;
  /** What one FETCH asks for. */
  readonly fetch: Amount;
  /** What one FETCH reads back. */
  readonly readBack: Amount;
  /** Messages that are sent before more are asked for; where no UIDs are said they are looked for then. */
  readonly sent: { readonly said: number; readonly unsaid: number };
  /** A message of so many octets or more is read back by its MAC, where the process that sent it does that. */
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
