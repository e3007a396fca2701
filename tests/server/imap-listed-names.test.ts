import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { storedPath } from '../../src/server/mail/copy/ledger/rows.ts';
import { mapMailboxes } from '../../src/server/mail/copy/mailboxes/mapping.ts';
import { openControl } from '../../src/server/mail/imap/control.ts';
import { mailboxName, pathListedAs, readablePath } from '../../src/server/mail/imap/wire/mailbox-name.ts';
import { readerOf } from '../support/imap-session.ts';

const CAPABILITIES = 'IMAP4rev1 NAMESPACE LIST-STATUS LIST-EXTENDED SPECIAL-USE';

/**
 * A server that knows its mailboxes by these names, octet for octet, and writes down which ones are opened.
 * @param options.namespace what it says its personal ones are
 * @param options.attributes of some of them
 * @param options.apart what only a list of its own namespace shows
 * @param options.refuses lines that it answers BAD
 * @param options.unlisted what it has besides, as they are asked for, and never lists
 */
async function serverWith(
  names: readonly string[],
  {
    namespace = '(("" "/"))',
    attributes = {},
    apart = /(?!)/,
    refuses = /(?!)/,
    fails = /(?!)/,
    unlisted = new Set<string>(),
  }: {
    namespace?: string;
    attributes?: Record<string, string>;
    apart?: RegExp;
    refuses?: RegExp;
    fails?: RegExp;
    unlisted?: ReadonlySet<string>;
  } = {},
) {
  const opened: string[] = [];
  const answer = (verb: string, rest: string): readonly string[] => {
    if (verb === 'CAPABILITY') return [`* CAPABILITY ${CAPABILITIES}`];
    if (verb === 'NAMESPACE') return [`* NAMESPACE ${namespace} NIL NIL`];
    const pattern = /^"(.*?)" "(.*?)"/.exec(rest)?.slice(1).join('') ?? '';
    const isListed = (name: string) => {
      const plain = name.replaceAll('"', '');
      if (pattern === '*' && apart.test(plain)) return false;
      return pattern.endsWith('*') ? plain.startsWith(pattern.slice(0, -1)) : plain === pattern;
    };
    if (verb === 'LIST')
      return names.flatMap((name, at) =>
        isListed(name)
          ? [
              `* LIST (${attributes[name] ?? ''}) "/" ${name}`,
              ...(rest.includes('STATUS') ? [`* STATUS ${name} (MESSAGES 0 UIDNEXT 1 UIDVALIDITY ${at + 1})`] : []),
            ]
          : [],
      );
    if (verb === 'STATUS' && unlisted.has(rest.split(' ')[0] ?? '')) return ['* STATUS INBOX (UIDVALIDITY 7)'];
    if (verb !== 'EXAMINE') return [];
    opened.push(rest);
    return ['* 0 EXISTS', `* OK [UIDVALIDITY ${names.indexOf(rest) + 1}]`];
  };
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.write(`* OK [CAPABILITY ${CAPABILITIES}] ready\r\n`);
    socket.on('data', (part) => {
      for (const line of part.toString('latin1').split('\r\n')) {
        const [tag = '', verb = '', ...rest] = line.split(' ');
        if (refuses.test(line)) socket.write(`${tag} BAD not known\r\n`);
        else if (fails.test(line)) socket.write(`${tag} NO [SERVERBUG] Internal error occurred.\r\n`);
        else if (verb !== '')
          socket.write(Buffer.from([...answer(verb, rest.join(' ')), `${tag} OK done\r\n`].join('\r\n'), 'latin1'));
      }
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const place = { host: '127.0.0.1', port, security: 'open', named: 'by operator' } as const;
  const account = { email: 'anna', place, credentials: { kind: 'password', password: 'any' } } as const;
  return { opened, port, account, [Symbol.dispose]: () => void server.close() };
}

const NAMES = ['"INBOX"', '"Q"', '"Q&A"', '"Tom & Jerry"', '"Caf\u00c3\u00a9"', '"a"', '"&AGE-"', '"&AOk-&AOk-"'];

test('a mailbox whose name is no modified UTF-7 is listed, told from others, and opened by its octets', async () => {
  using server = await serverWith(NAMES);
  await using control = await openControl(server.account, { trusted: [] });
  const mailboxes = await control.mailboxes({ withStatus: true });
  expect(new Set(mailboxes.map(({ path }) => path)).size).toBe(NAMES.length);
  await using reader = await readerOf({ port: server.port });
  for (const { path, status } of mailboxes) {
    const { uidValidity } = await reader.open(path);
    expect(status?.uidValidity ?? uidValidity).toBe(uidValidity);
  }
  expect(server.opened.toSorted()).toEqual(NAMES.toSorted());
});

test('such a name is readable at the destination and in what is reported', async () => {
  using server = await serverWith(NAMES);
  await using control = await openControl(server.account, { trusted: [] });
  const mailboxes = await control.mailboxes();
  const inbox = { path: 'INBOX', delimiter: '.' };
  const mapped = mapMailboxes(mailboxes, [inbox], { prefix: '', delimiter: '.' });
  const places = mapped.mailboxes.map(({ destination }) => destination).toSorted();
  expect(places).toEqual(['INBOX', 'Q', 'Q&A', 'Tom & Jerry', 'Café', 'a', '&AGE-', '&AOk-&AOk-'].toSorted());
  const told = mailboxes.map(({ path }) => storedPath(path));
  expect(told.find((name) => name.startsWith('Q&'))).toMatch(/^Q&A [0-9a-f]{12}$/);
});

test.each([
  ['(("Old." ".")("INBOX." "."))', { prefix: 'INBOX.', delimiter: '.' }],
  ['(("INBOX." ".")("Old." "."))', { prefix: 'INBOX.', delimiter: '.' }],
  ['(("Old." ".")("Older." "."))', { prefix: 'Old.', delimiter: '.' }],
  ['(("Old." ".")("" "."))', { prefix: '', delimiter: '.' }],
])(
  'the mailboxes of all personal namespaces %s are listed, and new ones are made beside the inbox',
  async (personal, home) => {
    const names = ['INBOX', ...[...personal.matchAll(/"(\w+\.)"/g)].map(([, prefix]) => `${prefix}Work`)];
    using server = await serverWith(
      names.map((name) => `"${name}"`),
      { namespace: personal },
    );
    await using control = await openControl(server.account, { trusted: [] });
    expect(await control.namespace()).toEqual(home);
    for (let times = 0; times < 2; times += 1)
      expect((await control.mailboxes()).map(({ path }) => path).toSorted()).toEqual(names.toSorted());
  },
);

test('so are those of one that the server leaves out of the list of all, as Dovecot does where it is told to; one that it refuses to list keeps none of them back', async () => {
  const names = ['INBOX', 'Work', 'Old.1998', 'Old.1999', 'Older.1980'];
  using server = await serverWith(
    names.map((name) => `"${name}"`),
    {
      namespace: '(("" ".")("Old." ".")("Older." ".")("Empty." ".")("#mh/" "/"))',
      apart: /^Old\./,
      refuses: /LIST "#mh/,
    },
  );
  await using control = await openControl(server.account, { trusted: [] });
  for (let times = 0; times < 2; times += 1)
    expect((await control.mailboxes()).map(({ path }) => path).toSorted()).toEqual(names.toSorted());
});

test('what others share, however much, takes nothing from an account whose own mailboxes have a prefix', async () => {
  const own = ['"INBOX"', '"INBOX.Work"'];
  const shared = Array.from({ length: 20_001 }, (_, at) => `"shared.${at}"`);
  using server = await serverWith([...shared, ...own], { namespace: '(("INBOX." "."))' });
  await using control = await openControl(server.account, { trusted: [] });
  for (let times = 0; times < 2; times += 1)
    expect((await control.mailboxes()).map(({ path }) => path).toSorted()).toEqual(['INBOX', 'INBOX.Work']);
});

test('containers and deleted mailboxes are not listed, but what is below them is, each one once', async () => {
  const attributes = { '"Archive"': String.raw`\Noselect`, '"Gone"': String.raw`\NonExistent \Subscribed` };
  const names = ['Inbox', 'INBOX', '"Archive"', '"Archive/2004"', '"Gone"', '"Gone/1"', '2004', '"Twice"', '"Twice"'];
  using server = await serverWith(names, { attributes });
  await using control = await openControl(server.account, { trusted: [] });
  const paths = (await control.mailboxes()).map(({ path }) => path).toSorted();
  expect(paths).toEqual(['2004', 'Archive/2004', 'Gone/1', 'INBOX', 'Twice']);
});

test('a mailbox that is listed as none to open, and that the server fails at, is listed; one that it refuses is not', async () => {
  const none = String.raw`\NoSelect`;
  const attributes = { '"Broken"': none, '"Name"': `${none} \\HasNoChildren`, '"Above"': `${none} \\HasChildren` };
  using server = await serverWith(['INBOX', ...Object.keys(attributes)], {
    attributes,
    refuses: /STATUS "Name"/,
    fails: /STATUS "(?:Broken|Above)"/,
  });
  await using control = await openControl(server.account, { trusted: [] });
  expect((await control.mailboxes()).map(({ path }) => path)).toEqual(['INBOX', 'Broken']);
});

test.each([
  ['&2D3cTQ-', '👍'],
  ['&3E3YPQ-', '&3E3YPQ-'],
  ['&3CY-', '&3CY-'],
  ['&AOk', '&AOk'],
  ['Work/Q&A', 'Work/Q&A'],
  ['&-', '&'],
  ['tab\tulator', 'tab\tulator'],
  ['&-&-AOk-', '&&AOk-'],
  ['say "hi" \\o/', 'say "hi" \\o/'],
  ['Caf\u00c3\u00a9', 'Café'],
  ['Caf\u00e9', 'Caf\ufffd'],
])('%j is sent as it was listed, and read as %j', (listed, readable) => {
  const path = pathListedAs(listed);
  expect(mailboxName(path)).toBe(`"${listed.replaceAll(/["\\]/g, '\\$&')}"`);
  expect(readablePath(path)).toBe(readable);
});

test('an inbox that no list shows is there if the server says how it stands', async () => {
  for (const names of [[], ['"Work"']]) {
    using server = await serverWith(names, { unlisted: new Set(['"INBOX"']) });
    await using control = await openControl(server.account, { trusted: [] });
    expect((await control.mailboxes()).map(({ path }) => path).toSorted()).toEqual([
      'INBOX',
      ...names.map((name) => name.replaceAll('"', '')),
    ]);
    using empty = await serverWith(names, { refuses: /STATUS "INBOX"/ });
    await using other = await openControl(empty.account, { trusted: [] });
    expect((await other.mailboxes()).map(({ path }) => path)).toEqual(names.map((name) => name.replaceAll('"', '')));
  }
});

test('the inbox has one name, and what can not be quoted is sent encoded', () => {
  expect(pathListedAs('inbox')).toBe('INBOX');
  expect(mailboxName(pathListedAs('a\r\nA1 DELETE x & y'))).toBe('"a&AA0ACg-A1 DELETE x &- y"');
});

test('a role is the one that the server says, or that a name tells, each once', async () => {
  const sent = ['"Sent"', '"Sent Messages"', '"Archive/Sent"', '"Gesendet"'];
  const names = ['INBOX', ...sent, '"Papierkorb"', '"Wichtig"', '"Alle"', '"&BB4EQgQ,BEAEMAQyBDsENQQ9BD0ESwQ1-"'];
  const attributes = { '"Wichtig"': String.raw`\important`, '"Gesendet"': String.raw`\HasNoChildren \Sent` };
  using server = await serverWith(names, { attributes });
  await using control = await openControl(server.account, { trusted: [] });
  const roles = (await control.mailboxes()).flatMap(({ path, specialUse }) => (specialUse ? [[path, specialUse]] : []));
  expect(roles).toEqual([
    ['INBOX', String.raw`\Inbox`],
    ['Gesendet', String.raw`\Sent`],
    ['Papierkorb', String.raw`\Trash`],
    ['Wichtig', String.raw`\Important`],
  ]);
});

test('a server that announces more of LIST than it takes is asked for less', async () => {
  using server = await serverWith(['INBOX', '"Sent"'], { refuses: /RETURN|NAMESPACE/ });
  await using control = await openControl(server.account, { trusted: [] });
  expect(await control.namespace()).toEqual({ prefix: '', delimiter: '/' });
  const mailboxes = await control.mailboxes({ withStatus: true });
  expect(mailboxes).toEqual([
    { path: 'INBOX', delimiter: '/', specialUse: String.raw`\Inbox` },
    { path: 'Sent', delimiter: '/', specialUse: String.raw`\Sent` },
  ]);
});

test('no name that a server lists breaks the line of a command, whatever it is made of', () => {
  // Halves of surrogate pairs that would stand for CR and LF, beside a raw control character.
  for (const control of ['\r', '\n', '\0', '\x01', ''])
    for (const hidden of ['&3A3cCg-', '&3AA-'])
      expect(mailboxName(pathListedAs(`${control}${hidden}A1 DELETE INBOX`))).not.toMatch(/[\0\r\n]/);
});
