import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { expect, onTestFinished, test } from 'vitest';
import { openLetters, Unanswered } from '../../src/server/notifications/letters.ts';
import { senderOf } from '../../src/server/notifications/wording.ts';
import { manualClock } from '../support/scripted-imap.ts';

test.each([
  ['no-reply@cable.example', 'Câble & Söhne, "日本" <x@y.example>'],
  ['San Bruno, Inc. <no-reply@cable.example>', 'San Bruno'],
  ['"Bücher (Post); @all" <no-reply@cable.example>', 'San Bruno'],
  ['no-reply@cable.example', 'San Bruno\r\nBcc: evil@x.example'],
  ['no-reply@cable.example', 'W'.repeat(64)],
])('whatever %s and %j hold, a letter has one sender, one reader and whole headers', async (mailFrom, legacyName) => {
  const arrived: { readonly from: string; readonly to: readonly string[]; readonly raw: string }[] = [];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope: { mailFrom: sender, rcptTo } }, done) => {
      const parts: Buffer[] = [];
      stream.on('data', (part: Buffer) => parts.push(part));
      stream.on('end', () => {
        const from = sender === false ? '' : sender.address;
        arrived.push({ from, to: rcptTo.map(({ address }) => address), raw: Buffer.concat(parts).toString('latin1') });
        done();
      });
    },
  });
  await new Promise<void>((listening) => smtp.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => smtp.close(closed)));
  {
    using letters = openLetters({
      url: `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`,
      inClear: true,
      silence: 30_000,
      letterWithin: 60_000,
    });
    await letters.send({
      from: senderOf(mailFrom, legacyName),
      to: 'maria@mail.example',
      subject: `Your ${legacyName} email transfer is complete`,
      text: 'Hello',
    });
  }
  const [{ from, to, raw } = { from: '', to: [], raw: '' }] = arrived;
  expect([from, to, arrived.length]).toEqual(['no-reply@cable.example', ['maria@mail.example'], 1]);
  const head = raw
    .slice(0, raw.indexOf('\r\n\r\n'))
    .replaceAll(/\r\n[ \t]/g, ' ')
    .split('\r\n');
  expect(head.map((line) => line.slice(0, line.indexOf(':'))).toSorted()).toEqual(
    [
      'Content-Transfer-Encoding',
      'Content-Type',
      'Date',
      'From',
      'MIME-Version',
      'Message-ID',
      'Subject',
      'To',
    ].toSorted(),
  );
  const sender = head.find((line) => line.startsWith('From:'));
  expect(sender).toMatch(/^From: (?:"[^"]*"|[^",<>]+) <no-reply@cable\.example>$/);
  expect(raw).toMatch(/^[\t\r\n -~]*$/);
});

test('a server that answers by the octet has so long for a letter, and no longer', async () => {
  const greeted = Promise.withResolvers<Socket>();
  const server = createServer((socket) => {
    socket.on('error', () => {}).resume();
    socket.write('220 mail.example ESMTP\r\n250-');
    greeted.resolve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  await using _server = { [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())) };
  const clock = manualClock();
  const timeout = (milliseconds: number) => {
    const giveUp = new AbortController();
    clock.after(milliseconds, () => giveUp.abort());
    return giveUp.signal;
  };
  using letters = openLetters({
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    inClear: true,
    silence: 30_000,
    letterWithin: 60_000,
    timeout,
  });
  const sending = letters.send({ from: 'portal@cable.example', to: 'maria@mail.example', text: 'Hello' });
  let ended = false;
  const over = sending.catch(() => {}).finally(() => (ended = true));
  const socket = await greeted.promise;
  const closed = once(socket, 'close');
  for (let second = 0; second < 59; second++) {
    socket.write('x');
    clock.pass(1000);
    await new Promise(setImmediate);
  }
  expect(ended).toBe(false);
  clock.pass(1000);
  await over;
  await expect(sending).rejects.toThrow(/abort/i);
  await closed;
});

test('a server that is asked for its answer to a letter has longer than it may be silent before', async () => {
  const [silence, late] = [1000, 1500];
  const smtp = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, _session, done) => void stream.resume().on('end', () => setTimeout(done, late)),
  });
  await new Promise<void>((listening) => smtp.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => smtp.close(closed)));
  const url = `smtp://127.0.0.1:${(smtp.server.address() as AddressInfo).port}`;
  const letter = { from: 'portal@cable.example', to: 'maria@mail.example', text: 'Hello' };
  using patient = openLetters({ url, inClear: true, silence, answerWithin: 60_000, letterWithin: 60_000 });
  await patient.send(letter);
  using hasty = openLetters({ url, inClear: true, silence, letterWithin: 60_000 });
  await expect(hasty.send(letter)).rejects.toBeInstanceOf(Unanswered);
});
