import type { MailFolder, SimulatedAccount, StoredMail, Way } from '../account.ts';
import type { Chance } from '../chance.ts';
import { EPOCH, type Scheduler } from '../scheduler.ts';
import type { ServerLoad } from './server-load.ts';

export const DAY = 86_400_000;
/** How often a server does what it does at times. */
export const AT_TIMES = 0.3;

/** One connection, as the commands that come over it see it. */
export type Session = {
  readonly client: string;
  readonly account: SimulatedAccount;
  readonly load: ServerLoad;
  readonly scheduler: Scheduler;
  readonly chance: Chance;
  selected: Selected | null;
  readonly does: (way: Way) => boolean;
  readonly send: (...data: readonly (string | Buffer)[]) => void;
  /** Says BYE first. */
  readonly hangUp: (text: string) => void;
  readonly cutOff: () => void;
  /** Counts octets against those of a day. */
  readonly count: (octets: number) => void;
};

/** An open mailbox. */
export type Selected = {
  readonly folder: MailFolder;
  readonly stale: number;
  readonly view: StoredMail[];
  readonly readOnly: boolean;
  /** As they were when the mailbox was opened, or told since. */
  readonly told: Map<StoredMail, string>;
};

export type Answer = { readonly status: 'OK' | 'NO' | 'BAD'; readonly text: string; readonly thenBye?: boolean };

/** Thrown by a command that is not done. */
export class Refusal extends Error {
  readonly status: 'NO' | 'BAD';
  constructor(status: 'NO' | 'BAD', text: string) {
    super(text);
    this.status = status;
  }
}

/** @throws {Refusal} if none is open */
export function openIn({ selected }: Session): Selected {
  if (selected === null) throw new Refusal('BAD', 'Select a mailbox first');
  return selected;
}

/** Whether a mailbox that was made some time ago can be seen by now. */
export function hasAppeared({ madeAt }: MailFolder, { account: { quirks }, scheduler }: Session): boolean {
  return madeAt === EPOCH || madeAt + quirks.appearsAfter <= EPOCH + scheduler.now();
}

export function flagsOf({ flags }: StoredMail): string {
  return [...flags].join(' ');
}
