import { getEventListeners } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { isSpent, MailError } from '../../src/server/mail/imap/mail-error.ts';
import { openSession } from '../../src/server/mail/imap/wire/session.ts';
import { scriptedServer, scriptedSession, type Script, type Stage } from '../support/scripted-imap.ts';

const signingIn = (script: Script, capabilities: string, secret: 'password' | 'token' = 'token') => {
  const server = scriptedServer(script, { capabilities: `IMAP4rev1 ${capabilities}` });
  let tokens = 0;
  const signedIn = openSession(
    {
      email: 'anna@mail.example',
      place: { host: 'mail.example', port: 993, security: 'tls', named: 'by operator' },
      credentials:
        secret === 'token'
          ? { kind: 'token', accessToken: async () => `token-${++tokens}` }
          : { kind: 'password', password: 'pass "word"' },
    },
    server,
  );
  return { signedIn, ...server };
};

const decoded = (base64 = '') => Buffer.from(base64, 'base64').toString();

describe('Signing in to odd servers', () => {
  test.each([
    ['AUTH=XOAUTH2 SASL-IR', 'XOAUTH2', 'user=anna@mail.example\x01auth=Bearer token-2\x01\x01', ''],
    [
      'AUTH=XOAUTH2 AUTH=OAUTHBEARER SASL-IR',
      'OAUTHBEARER',
      'n,a=anna@mail.example,\x01host=mail.example\x01port=993\x01auth=Bearer token-2\x01\x01',
      'AQ==',
    ],
  ])('with %s a refused token is renewed once', async (capabilities, mechanism, response, afterRefusal) => {
    let tries = 0;
    let tag = '';
    const { signedIn, lines } = signingIn((line, stage) => {
      if (line.includes('AUTHENTICATE')) {
        ({ tag } = stage);
        if (++tries === 1) stage.say('+ eyJzdGF0dXMiOiI0MDAifQ==');
        else return false;
      } else if (line === afterRefusal) stage.say(`${tag} NO [AUTHENTICATIONFAILED] bad token`);
      else return false;
    }, capabilities);
    await signedIn;
    const last = lines.findLast((line) => line.includes('AUTHENTICATE'))?.split(' ') ?? [];
    expect([last[2], decoded(last[3])]).toEqual([mechanism, response]);
  });

  test('without SASL-IR the response follows the server’s word', async () => {
    const { signedIn, lines } = signingIn(
      (line, { say }) => {
        if (line.includes('AUTHENTICATE')) say('+');
        else if (line.startsWith('AGFu')) say('A2 OK [CAPABILITY IMAP4rev1 UIDPLUS] in');
        else return false;
      },
      'AUTH=PLAIN',
      'password',
    );
    expect([...(await signedIn).capabilities]).toEqual(['IMAP4REV1', 'UIDPLUS']);
    expect(decoded(lines.at(-1))).toBe('\0anna@mail.example\0pass "word"');
  });

  test('without any other mechanism the password is sent by LOGIN', async () => {
    const { signedIn, lines } = signingIn(() => false, 'ID', 'password');
    await (await signedIn).logout();
    expect(lines).toContain('A2 LOGIN "anna@mail.example" "pass \\"word\\""');
    expect(lines).toContain('A4 ID ("name" "email-data-transfer")');
  });

  test.each<[string, string, string, string]>([
    ['no way for passwords', 'LOGINDISABLED', '', 'credentials'],
    ['a refusal', 'AUTH=PLAIN SASL-IR', 'NO [AUTHENTICATIONFAILED] no', 'credentials'],
    ['a refusal without a code', 'AUTH=PLAIN SASL-IR', 'NO no', 'credentials'],
    ['a pause', 'AUTH=PLAIN SASL-IR', 'NO [UNAVAILABLE] later', 'busy'],
    ['too many connections', 'AUTH=PLAIN SASL-IR', 'NO Too many simultaneous connections. (Failure)', 'busy'],
    ['one connection too many', 'AUTH=PLAIN SASL-IR', 'NO [ALERT] Too many open connections', 'busy'],
    ['a day’s limit', 'AUTH=PLAIN SASL-IR', 'NO [ALERT] Account exceeded command or bandwidth limits.', 'busy'],
    ['a fault that passes', 'AUTH=PLAIN SASL-IR', 'NO Temporary problem, please try again later', 'busy'],
    ['a wrong password', 'AUTH=PLAIN SASL-IR', 'NO Invalid password, try again later', 'credentials'],
    ['a wrong name', 'AUTH=PLAIN SASL-IR', 'NO Unknown user, try again later', 'credentials'],
    ['a wrong one', 'AUTH=PLAIN SASL-IR', 'NO Username or password is incorrect. Try again later', 'credentials'],
    ['a fault of Gmail’s', 'AUTH=PLAIN SASL-IR', 'NO System Error (Failure)', 'busy'],
    ['a lock that Gmail opens again', 'AUTH=PLAIN SASL-IR', 'NO [ALERT] Lockdown in Sector 4 (Failure)', 'busy'],
    ['an internal fault', 'AUTH=PLAIN SASL-IR', 'NO Internal error occurred. Refer to server log', 'busy'],
    [
      'a pause in its words',
      'AUTH=PLAIN SASL-IR',
      'NO [ALERT] Too many login attempts, please try again later',
      'busy',
    ],
    ['too many at once', 'AUTH=PLAIN SASL-IR', 'NO Too many concurrent IMAP connections for this user', 'busy'],
    ['a limit of connections', 'AUTH=PLAIN SASL-IR', 'NO Connection limit exceeded', 'busy'],
    [
      'a wrong password that is to be typed anew',
      'AUTH=PLAIN SASL-IR',
      'NO Login failed, please try again',
      'credentials',
    ],
    [
      'IMAP that its owner has switched off',
      'AUTH=PLAIN SASL-IR',
      'NO [ALERT] Your account is not enabled for IMAP use. Please visit your Gmail settings page. (Failure)',
      'refused',
    ],
    [
      'IMAP that an administrator has switched off',
      'AUTH=PLAIN SASL-IR',
      'NO [AUTHENTICATIONFAILED] IMAP access is disabled for your domain. Please contact your domain administrator.',
      'refused',
    ],
    [
      'IMAP that was never switched on',
      'AUTH=PLAIN SASL-IR',
      'NO You are yet to enable IMAP for your account.',
      'refused',
    ],
    [
      'IMAP that is not for this account',
      'AUTH=PLAIN SASL-IR',
      'NO [CONTACTADMIN] Full IMAP support is NOT enabled for this account',
      'refused',
    ],
    [
      'either of two',
      'AUTH=PLAIN SASL-IR',
      'NO [AUTHENTICATIONFAILED] Invalid credentials or IMAP is disabled',
      'credentials',
    ],
    [
      'IMAP that is away for a while',
      'AUTH=PLAIN SASL-IR',
      'NO [UNAVAILABLE] IMAP is temporarily disabled for maintenance',
      'busy',
    ],
    [
      'the same with the code of a wrong password',
      'AUTH=PLAIN SASL-IR',
      'NO [AUTHENTICATIONFAILED] IMAP access is temporarily disabled',
      'busy',
    ],
    ['the same without a code', 'AUTH=PLAIN SASL-IR', 'NO IMAP access temporarily disabled, try again later', 'busy'],
    ['a full mailbox', 'AUTH=PLAIN SASL-IR', 'NO Mailbox is full, IMAP blocked', 'full'],
    ['too many, in such words', 'AUTH=PLAIN SASL-IR', 'NO IMAP service blocked due to too many connections', 'busy'],
    ['no connection to the mailbox', 'AUTH=PLAIN SASL-IR', 'BAD User is authenticated but not connected.', 'busy'],
  ])('%s is told apart', async (_what, capabilities, said, fault) => {
    const { signedIn } = signingIn(
      (line, { tag, say }) => {
        if (!line.includes('AUTHENTICATE')) return false;
        say(`${tag} ${said}`);
      },
      capabilities,
      'password',
    );
    await expect(signedIn).rejects.toMatchObject({ fault });
  });

  test.each([
    ['Account exceeded command or bandwidth limits. (Failure)', true],
    ['Too many simultaneous connections', false],
  ])('whether an account has had all for now is told by “%s”', async (words, isIt) => {
    const { signedIn } = signingIn((line, { tag, say }) => {
      if (!line.includes('AUTHENTICATE')) return false;
      say(`${tag} NO [OVERQUOTA] ${words}`);
    }, 'AUTH=XOAUTH2 SASL-IR');
    const error = await signedIn.catch((refused: unknown) => refused);
    expect(error).toMatchObject({ fault: 'busy' });
    expect(isSpent(error)).toBe(isIt);
  });

  test.each([
    ['* BYE [UNAVAILABLE] too busy', 'busy'],
    ['* BYE go away', 'lost'],
    ['* BYE [ALERT] go away', 'lost'],
    ['* BYE [ALERT] Too many simultaneous connections', 'busy'],
    ['* PREAUTH you are in', 'refused'],
    ['HTTP/1.1 400 Bad Request', 'lost'],
    ['* NO', 'lost'],
  ])('the greeting %j lets nobody in', async (greeting, fault) => {
    const server = scriptedServer(() => false, { greeting });
    await expect(scriptedSession(server)).rejects.toMatchObject({ fault });
  });

  test('a server that never greets is given up', async () => {
    const server = scriptedServer(() => false, { greeting: '* OK' });
    const { duplexPair } = await import('node:stream');
    const [client] = duplexPair();
    const signedIn = scriptedSession({ clock: server.clock, dial: async () => ({ socket: client }) });
    signedIn.catch(() => {});
    await new Promise(setImmediate);
    server.clock.pass(14_999);
    expect(client.destroyed).toBe(false);
    server.clock.pass(1);
    await expect(signedIn).rejects.toMatchObject({ fault: 'slow' });
    expect(client.destroyed).toBe(true);
  });

  test('one that goes on saying that it will answer is given up, too', async () => {
    const asked = Promise.withResolvers<Stage>();
    const { signedIn, clock } = signingIn(
      (line, stage) => {
        if (!line.includes('AUTHENTICATE')) return false;
        asked.resolve(stage);
      },
      'AUTH=PLAIN SASL-IR',
      'password',
    );
    signedIn.catch(() => {});
    const { say } = await asked.promise;
    for (let second = 0; second < 180; second++) {
      say('* OK Please wait');
      await new Promise(setImmediate);
      clock.pass(1000);
    }
    await expect(signedIn).rejects.toMatchObject({ fault: 'slow' });
  });

  test('a server that says too much before anybody is signed in is left', async () => {
    const { signedIn } = signingIn(
      (line, { say }) => {
        if (!line.includes('AUTHENTICATE')) return false;
        say(Buffer.from('* OK Please wait\r\n'.repeat(20_000)));
      },
      'AUTH=PLAIN SASL-IR',
      'password',
    );
    await expect(signedIn).rejects.toThrow('without end');
  });

  test.each([
    ['is refused', 'NO no', 'credentials'],
    ['stands', 'OK in', 'signed in'],
  ])('of a sign-in that %s nothing is left behind', async (_, answer, outcome) => {
    const server = scriptedServer((line, { tag, say }) => {
      if (!line.includes('AUTHENTICATE')) return false;
      say(`${tag} ${answer}`);
    });
    const sockets: Duplex[] = [];
    const dial: typeof server.dial = async (place, signal) => {
      const line = await server.dial(place, signal);
      sockets.push(line.socket);
      return line;
    };
    const { signal } = new AbortController();
    const session = scriptedSession({ clock: server.clock, dial }, { signal });
    const ended = session.then(
      async (connection) => {
        await connection.logout();
        return 'signed in';
      },
      (error: unknown) => error instanceof MailError && error.fault,
    );
    expect(await ended).toBe(outcome);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('anything that is sent between STARTTLS and TLS ends the connection', async () => {
    const offer = 'IMAP4rev1 STARTTLS AUTH=PLAIN SASL-IR';
    const server = scriptedServer(
      (line, { tag, say }) => {
        if (!line.includes('STARTTLS')) return false;
        say(Buffer.from(`${tag} OK go\r\n* CAPABILITY IMAP4rev1 EVIL\r\n`));
      },
      { capabilities: offer },
    );
    let encrypted = 0;
    const dial: typeof server.dial = async (place, signal) => ({
      ...(await server.dial(place, signal)),
      startTls: () => Promise.reject(new Error(`${++encrypted}`)),
    });
    await expect(scriptedSession({ clock: server.clock, dial })).rejects.toMatchObject({ fault: 'certificate' });
    expect(encrypted).toBe(0);
    expect(server.lines.some((line) => line.includes('AUTHENTICATE'))).toBe(false);
  });
});
