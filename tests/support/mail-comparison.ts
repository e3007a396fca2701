import { openMailClient, type FoundLetter } from './mail-client.ts';

export type Account = { readonly port: number; readonly user: string; readonly password: string };

export type Difference = {
  readonly messages: number;
  readonly lost: readonly string[];
  readonly duplicated: readonly string[];
  readonly changed: readonly string[];
};

/**
 * Compares two accounts message by message, without any of the engine's code. Messages are the same if their octets
 * are, and have `changed` if flags or internal date differ. Equal messages are counted, so a lost duplicate is noticed.
 * @param placeOf where a source mailbox should have gone, both in modified UTF-7
 */
export async function differenceOf(
  source: Account,
  destination: Account,
  placeOf: (mailbox: string) => string = (mailbox) => mailbox,
): Promise<Difference> {
  await using from = await openMailClient(source.port, source.user, source.password);
  await using to = await openMailClient(destination.port, destination.user, destination.password);
  const lost: string[] = [];
  const duplicated: string[] = [];
  const changed: string[] = [];
  let messages = 0;
  const there = new Set(await to.mailboxes());
  for (const mailbox of await from.mailboxes()) {
    const place = placeOf(mailbox);
    const sent = await from.read(mailbox);
    messages += sent.length;
    if (!there.has(place)) {
      lost.push(`the mailbox ${mailbox}`);
      continue;
    }
    const came = groupByDigest(await to.read(place));
    for (const [digest, wanted] of groupByDigest(sent)) {
      const found = came.get(digest) ?? [];
      came.delete(digest);
      for (let index = found.length; index < wanted.length; index += 1) lost.push(`${mailbox} ${digest}`);
      for (let index = wanted.length; index < found.length; index += 1) duplicated.push(`${mailbox} ${digest}`);
      const looks = found.map(look).toSorted();
      for (const [index, expected] of wanted.map(look).toSorted().entries())
        if (index < looks.length && looks[index] !== expected)
          changed.push(`${mailbox} ${digest}: ${expected} became ${looks[index]}`);
    }
    for (const [digest, strangers] of came)
      for (const _ of strangers) changed.push(`${place} ${digest} came from nowhere`);
  }
  return { messages, lost, duplicated, changed };
}

function groupByDigest(letters: readonly FoundLetter[]): Map<string, FoundLetter[]> {
  return Map.groupBy(letters, (letter) => letter.sha256);
}

function look(letter: FoundLetter): string {
  return `${letter.date} ${letter.flags.join(' ')}`;
}
