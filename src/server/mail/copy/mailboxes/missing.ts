import { isRefusal, type MailError } from '../../imap/mail-error.ts';
import type { MailReader, Opened } from '../../imap/streams.ts';
import { notingHangUps, type Openings } from '../troubles/hang-ups.ts';
import { fold } from './mapping.ts';

/**
 * Whether a mailbox that can't be opened is missing: the server says so, or does not list it, and it does not answer
 * STATUS either. One that nobody may open (NOPERM) is there.
 * @param listed the paths that the account lists
 */
export async function isMissing(reader: MailReader, path: string, listed: readonly string[]): Promise<boolean> {
  const refusal = await refusalOf(reader.open(path));
  if (refusal === null || refusal.responseCode === 'NOPERM') return false;
  if (!isOfNone(refusal) && (path === 'INBOX' || listed.some((each) => fold(each) === fold(path)))) return false;
  return (await refusalOf(reader.status(path))) !== null;
}

/**
 * Opens a mailbox of the destination.
 * @param open how
 * @returns `null` if it is missing
 */
export function openUnlessMissing(
  path: string,
  reader: MailReader,
  run: Openings,
  open: () => Promise<Opened> = () => reader.open(path),
): Promise<Opened | null> {
  return notingHangUps('destination', path, reader, run, async () => {
    try {
      return await open();
    } catch (error) {
      if (isRefusal(error) && (await isMissing(reader, path, run.destinationPaths()))) return null;
      throw error;
    }
  });
}

function isOfNone({ responseCode }: MailError): boolean {
  return responseCode === 'NONEXISTENT' || responseCode === 'TRYCREATE';
}

async function refusalOf(asking: Promise<unknown>): Promise<MailError | null> {
  try {
    await asking;
    return null;
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return error;
  }
}
