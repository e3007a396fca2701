/** What all connections of one account share besides the account. */
export type ServerLoad = {
  connections: number;
  readonly traffic: { day: number; bytes: number };
  /** Messages that were stored. */
  readonly appended: { day: number; messages: number };
  /** When each message of the last minute came. */
  appends: number[];
  /** How often the mailbox that closes was opened. */
  opened: number;
  listings: number;
  shortListings: number;
  commands: number;
  /** The pauses that it has asked for. */
  readonly hints: { readonly client: string; readonly from: number; readonly until: number }[];
  /** Told who has asked for something within a pause, well after having heard of it. */
  onImpatience?: (client: string) => void;
  /** Told of every command, before it is done. */
  onCommand?: (count: number) => void;
};

export function emptyLoad(): ServerLoad {
  return {
    connections: 0,
    traffic: { day: 0, bytes: 0 },
    appended: { day: 0, messages: 0 },
    appends: [],
    opened: 0,
    listings: 0,
    shortListings: 0,
    commands: 0,
    hints: [],
  };
}
