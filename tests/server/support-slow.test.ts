import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test, vi } from 'vitest';
import { DELAYS } from '../../machines/wizard.delays.ts';
import { manualClock } from '../support/scripted-imap.ts';
import { openWebWorld } from '../support/web-world.ts';

const SLOW_MS = 15_000;

test('someone who writes to support is answered while the page waits, however slow the letters are', async () => {
  const clock = manualClock();
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    const giveUp = new AbortController();
    clock.after(milliseconds, () => giveUp.abort());
    return giveUp.signal;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let connections = 0;
  // The first letter is taken late, and to the second one nothing is said.
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const isSecond = (connections += 1) > 1;
    if (isSecond) second.resolve();
    else socket.write('220 mail.example ESMTP\r\n');
    createInterface(socket).on('line', (line) => {
      const take = () => void socket.write('250 Taken\r\n');
      if (line === '.') {
        clock.after(SLOW_MS, take);
        first.resolve();
      } else if (line === 'DATA') socket.write('354 Go on\r\n');
      else if (/^(?:EHLO|MAIL|RCPT)/.test(line)) take();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using _server = { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  const SMTP_URL = `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await using world = await openWebWorld({ environment: { SMTP_URL } });
  const email = { email_address: 'ann@sanbrunocable.example', issue: 'My mail is not here.' };
  let answer: unknown;
  const asked = world.post('/api/v2/support-form/', email).then((given) => (answer = given));
  await first.promise;
  clock.pass(SLOW_MS);
  await second.promise;
  clock.pass(DELAYS['answer limit'] - SLOW_MS - 1);
  await expect.poll(() => answer).toMatchObject({ status: 200, body: { ok: true } });
  await asked;
});
