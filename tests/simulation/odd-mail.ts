import type { GivenMail, SimulatedAccount } from './account.ts';
import type { Chance } from './chance.ts';

/** What is odd about the mail itself. Numbers are parts of the source's messages. */
export type OddMail = {
  /** All of them have one internal date. */
  readonly oneDate?: boolean;
  /** The destination's INBOX has an equal one of the subscriber's own. */
  readonly ownEqual?: number;
  /** Their dates are those of the epoch's beginning, or far ahead. */
  readonly dates?: number;
  /** They have no octets. */
  readonly empty?: number;
  /** They have the mark of forwarding. */
  readonly marked?: number;
  /** They have a keyword that some servers refuse. */
  readonly keywords?: number;
  /** UIDs leave gaps. */
  readonly gaps?: boolean;
  /** None has a Message-ID. */
  readonly noIds?: boolean;
  /** They are equal to one before, of any folder; half of these have its date as well. */
  readonly equal?: number;
};

/** As the simulated servers keep it. */
const MARK = 'Forwarded-by-San-Bruno';
/** As the engine asks for it. */
export const FORWARDED_MARK = MARK.toLowerCase();
const ONE_DATE = 1_500_000_000_000;
const ODD_DATES = [0, 1000, 4_000_000_000_000];

export function oddly(letter: GivenMail, mail: OddMail, chance: Chance): GivenMail {
  const happens = (part = 0) => part > 0 && chance.happens(part);
  const { octets, flags, internalDate } = letter;
  const withoutId = () => Buffer.from(octets.toString('latin1').replace(/\r?\nMessage-ID: \S+/, ''), 'latin1');
  return {
    octets: happens(mail.empty) ? Buffer.alloc(0) : mail.noIds === true ? withoutId() : octets,
    flags: [...flags, ...(happens(mail.marked) ? [MARK] : []), ...(happens(mail.keywords) ? ['odd.word'] : [])],
    internalDate: happens(mail.dates) ? chance.one(ODD_DATES) : mail.oneDate === true ? ONE_DATE : internalDate,
  };
}

/** By folder. */
export function equalised(
  letters: ReadonlyMap<string, readonly GivenMail[]>,
  { equal = 0 }: OddMail,
  chance: Chance,
): ReadonlyMap<string, readonly GivenMail[]> {
  if (equal === 0) return letters;
  const before: GivenMail[] = [];
  return new Map(
    [...letters].map(([name, all]) => [
      name,
      all.map((letter) => {
        const { octets, internalDate } = before.length > 0 && chance.happens(equal) ? chance.one(before) : letter;
        const one = { ...letter, octets, ...(chance.happens(0.5) ? { internalDate } : {}) };
        before.push(one);
        return one;
      }),
    ]),
  );
}

/** What of the source's messages the destination has before. */
export function ownAmong(letters: readonly GivenMail[], { ownEqual = 0 }: OddMail, chance: Chance): GivenMail[] {
  return ownEqual === 0 ? [] : letters.filter(() => chance.happens(ownEqual));
}

export function leaveGaps({ folders }: SimulatedAccount, chance: Chance): void {
  for (const folder of folders.values()) {
    let uid = chance.integer(0, 1000);
    for (const message of folder.messages) {
      uid += chance.integer(1, 50);
      message.uid = uid;
    }
    folder.uidNext = uid + chance.integer(1, 50);
  }
}
