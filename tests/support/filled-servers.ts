import { onTestFinished } from 'vitest';
import { DOVECOT_PASSWORD, startDovecot } from './dovecot.ts';
import { openMailClient } from './mail-client.ts';
import { letter } from './mail-letters.ts';
import { SUBSCRIBER } from './transfer-world.ts';

/** A mailbox with so many messages, a server for it to move to, and what else the test disposes of with both. */
export async function openFilledServers(messages: number) {
  const stack = new AsyncDisposableStack();
  onTestFinished(() => stack.disposeAsync());
  const source = stack.use(await startDovecot());
  const destination = stack.use(await startDovecot());
  await using mail = await openMailClient(source.port, SUBSCRIBER, DOVECOT_PASSWORD);
  await mail.append(
    'INBOX',
    Array.from({ length: messages }, (_, number) => letter(number)),
  );
  return { stack, source, destination, places: { LEGACY_IMAP_URL: source.url, YAHOO_IMAP_URL: destination.url } };
}
