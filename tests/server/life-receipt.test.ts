import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { receiptAddress, RECEIPT_KEY, type ReceiptFormat } from '../../src/contract/calls/receipt.ts';
import { checkReceipt, ReceiptError } from '../../src/server/receipt/check-receipt.ts';
import { writeReceipt } from '../../src/server/receipt/write-receipt.ts';
import { comparisonOf, notMoved, type Facts } from '../../src/server/receipt/facts.ts';
import { RECEIPTS_AT_ONCE } from '../../src/server/web/receipts.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';
import { noteForwardingOff } from '../../src/server/transfers/forwardings.ts';
import {
  call,
  NEW_ANN,
  openLifeWorld,
  PASSWORD,
  sentOn,
  statusOf,
  type LifeWorld,
  type Ordered,
  whenEnded,
} from '../support/life-world.ts';
import { followLink } from '../support/followed-link.ts';
import type { Letter } from '../support/mail-client.ts';
import { letter, ODD_LETTERS } from '../support/mail-letters.ts';
import { fromBrowser } from '../support/web-world.ts';

const COMMAND = join(import.meta.dirname, '../../src/verify-receipt.ts');
const FORMATS: readonly ReceiptFormat[] = ['csv', 'json', 'html'];
const sly = (subject: string): Letter => ({
  bytes: Buffer.from(`Subject: ${subject}\r\n\r\nText.\r\n`),
  flags: ['\\Seen'],
  date: '17-Jul-2004 02:44:25 -0700',
});
const FORMULA = sly('=HYPERLINK("http://evil.example","press, please")');
const MARKUP = sly('<script>alert("&")</script>, "quoted"');
const LETTERS = [...Array.from({ length: 5 }, (_, number) => letter(number)), FORMULA, MARKUP, ...ODD_LETTERS];

let world: LifeWorld;
let ordered: Ordered;
let pem: string;
beforeAll(async () => {
  world = await openLifeWorld({ mail: { INBOX: LETTERS, 'A, "folder"': [letter(9)] } });
  ordered = await world.order();
  const early = await world.web.get(receiptAddress(ordered.id, 'csv'), ordered.headers);
  expect(early).toMatchObject({ status: 409, body: { error: 'OPERATION_NOT_ALLOWED' } });
  const worker = await world.work();
  await whenEnded(world, ordered);
  await worker[Symbol.asyncDispose]();
  const key = await world.web.get(RECEIPT_KEY);
  expect(key.status).toBe(200);
  pem = key.text;
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

const receipt = async (format: ReceiptFormat) => {
  const answer = await world.web.get(receiptAddress(ordered.id, format), ordered.headers);
  expect(answer.status).toBe(200);
  return answer;
};

/** What one says of how it was compared, and vouches for. */
const comparedNow = async () => {
  const { text, body } = await receipt('json');
  expect(checkReceipt(text, pem).isListChecked).toBe(true);
  return (body as { how_compared: string }).how_compared;
};

/** As a link of the portal leads there. */
const link = (id: string, format: ReceiptFormat) => `${world.web.url}${receiptAddress(id, format)}`;

describe('a receipt', () => {
  test('names each message with its folder, date, subject, size, digest and fate', async () => {
    const { body } = await receipt('json');
    const { items, sums, from, to, not_moved, how_compared } = body as {
      items: Record<string, unknown>[];
      sums: Record<string, number>;
      from: string;
      to: string;
      not_moved: string[];
      how_compared: string;
    };
    expect(items).toHaveLength(LETTERS.length + 1);
    expect(sums).toEqual({ 'message copied': LETTERS.length + 1 });
    // The folders are in the order in which they were begun.
    const inbox = items.filter(({ folder }) => folder === 'INBOX');
    expect(inbox[5]).toEqual({
      kind: 'message',
      folder: 'INBOX',
      date: '2004-07-17T09:44:25.000Z',
      subject: '=HYPERLINK("http://evil.example","press, please")',
      size: FORMULA.bytes.length,
      sha256: createHash('sha256').update(FORMULA.bytes).digest('hex'),
      fate: 'copied',
      note: '',
    });
    expect(items.filter((item) => !inbox.includes(item))).toMatchObject([{ folder: 'A, "folder"' }]);
    expect({ from, to }).toEqual({ from: 'ann@sanbrunocable.example (San Bruno)', to: 'ann@mail.example' });
    expect(not_moved).toContain('Contacts');
    expect(not_moved).toContain('Mail that comes to ann@sanbrunocable.example from now on');
    expect(how_compared).toContain(`${LETTERS.length + 1} of ${LETTERS.length + 1} copied messages`);
    // Large ones are compared by another digest.
    expect(how_compared).not.toContain('SHA-256');
  });

  test.each(FORMATS)('as %s has a signature that fits, and that fits nothing else', async (format) => {
    const { text } = await receipt(format);
    const checked = checkReceipt(text, pem);
    expect(checked).toMatchObject({
      isListChecked: format !== 'html',
      statement: { transfer: ordered.id, lines: LETTERS.length + 1 },
    });
    const other = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(() => checkReceipt(text, other)).toThrow(ReceiptError);
    const statementAt = text.lastIndexOf('ann@mail.example');
    const forged = `${text.slice(0, statementAt)}eve${text.slice(statementAt + 3)}`;
    expect(() => checkReceipt(forged, pem)).toThrow(ReceiptError);
    expect(() => checkReceipt(text.slice(0, text.length / 2), pem)).toThrow(ReceiptError);
  });

  test('as JSON shows nothing else than was signed', async () => {
    const { text } = await receipt('json');
    for (const [told, forged] of [
      ['ann@mail.example', 'eve@mail.example'],
      ['"copied":', '"copied":1'],
      ['"lost":0', '"lost":7'],
      ['"status":"completed"', '"status":"review"'],
      ['"items":', '"unsure":3,"items":'],
      ['"message copied":', '"message copied":1'],
      ['We read', 'We never read'],
      ['"not_moved":[', '"not_moved":["Nothing",'],
    ] as const) {
      expect(text).toContain(told);
      expect(() => checkReceipt(text.replace(told, forged), pem)).toThrow('What is shown was changed');
    }
  });

  test('as JSON holds nothing that nobody has signed, whatever it is', async () => {
    const { text } = await receipt('json');
    for (const forged of [
      text.replace('"items":[', '"remark":"All is well.","items":['),
      text.replace('"kind":', '"remark":"All is well.","kind":'),
      text.replace('"items":[', '"items":[null,'),
      text.replace('"items":[', '"items":["Letter",'),
      text.replace('"size":', '"size":"1","was":'),
      text.replace('"items":', '"items":[],"items":'),
      text.replace('"subject":', '"subject":"Another","subject":'),
      text.replace('"items":', '"delivered":"all","items":'),
      text.replace('"subject":', '"from":"eve@mail.example","subject":'),
    ]) {
      expect(forged).not.toBe(text);
      expect(() => checkReceipt(forged, pem)).toThrow(ReceiptError);
    }
    expect(checkReceipt(JSON.stringify(JSON.parse(text), null, 2), pem).isListChecked).toBe(true);
  });

  test('from before its words were signed is still known, and a key of another kind is told', async () => {
    const { text } = await receipt('json');
    const { statement, ...shown } = JSON.parse(text) as { statement: string };
    const { how_compared: _, not_moved: __, ...signed } = JSON.parse(statement) as Record<string, unknown>;
    const older = JSON.stringify(signed);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    const signature = sign(null, Buffer.from(older), privateKey).toString('base64');
    const its = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const file = JSON.stringify({ ...shown, statement: older, signature });
    expect(checkReceipt(file, its).isListChecked).toBe(true);
    const strange = generateKeyPairSync('x25519').publicKey.export({ type: 'spki', format: 'pem' }).toString();
    expect(() => checkReceipt(file, strange)).toThrow(ReceiptError);
  });

  test.each(['csv', 'json'] as const)('as %s has a signature over each of its lines', async (format) => {
    const { text } = await receipt(format);
    expect(() => checkReceipt(text.replace('Letter 3', 'Letter 4'), pem)).toThrow('A line was changed');
    const line = text.split('\n').find((each) => each.includes('Letter 3')) ?? '';
    expect(() => checkReceipt(text.replace(`${line}\n`, ''), pem)).toThrow('A line was changed');
  });

  test('as CSV has no line after the signature, and none but its own at the top', async () => {
    const { text } = await receipt('csv');
    const [first = ''] = text.split('\r\n');
    const line = text.split('\n').find((each) => each.includes('Letter 3')) ?? '';
    for (const forged of [`${text}${line}\n`, text.replace(first, line), text.replace(first, `${first}2`)])
      expect(() => checkReceipt(forged, pem)).toThrow(ReceiptError);
  });

  test('as CSV has nothing in it that a spreadsheet shows and the signature does not cover', async () => {
    const { text } = await receipt('csv');
    const statement = text.indexOf('\r\nstatement,,') + '\r\nstatement,'.length;
    const row = text.lastIndexOf('\r\nmessage,', statement) + 2;
    for (const forged of [
      // In the line of the statement.
      `${text.slice(0, statement)}All of it was lost${text.slice(statement)}`,
      // A line that is none to Excel, which puts it into the last cell of the one before.
      `${text.slice(0, row - 2)}""${text.slice(row)}`,
      `${text.slice(0, row - 2)}\r${text.slice(row)}`,
    ])
      expect(() => checkReceipt(forged, pem)).toThrow('This file is no receipt');
    expect(checkReceipt(text.replaceAll('\r\n', '\n'), pem).isListChecked).toBe(true);
  });

  test('as CSV runs nothing in a spreadsheet, and as HTML nothing in a browser', async () => {
    const csv = await receipt('csv');
    expect(csv.headers.get('content-disposition')).toContain('attachment');
    expect(csv.text).toContain(`"'=HYPERLINK(""http://evil.example"",""press, please"")"`);
    const html = await receipt('html');
    expect(html.headers.get('content-security-policy')).toMatch(
      /^sandbox [^;]*; default-src 'none'; style-src 'sha256-[^;]*; frame-ancestors 'none'$/,
    );
    expect(html.text).not.toContain('<script>');
    expect(html.text).toContain('&#60;script&#62;');
    for (const part of ['What did not move', 'What was compared', 'Calendars, tasks and notes', '<bdi>Inbox</bdi>'])
      expect(html.text).toContain(part);
  });

  test('as HTML says that what is below the signature is proven, and no more of its page', async () => {
    const { text } = await receipt('html');
    const forged = text.replace('Messages copied</th><td>', '$&9');
    expect(forged).not.toBe(text);
    expect(checkReceipt(forged, pem).isListChecked).toBe(false);
    expect(text).toContain('proves that what stands here came from us');
  });

  test('is for who may manage the transfer', async () => {
    for (const headers of [{}, fromBrowser('d'.repeat(64))])
      for (const format of FORMATS)
        expect(await world.web.get(receiptAddress(ordered.id, format), headers)).toMatchObject({
          status: 401,
          body: { error: 'INVALID_TOKEN' },
        });
    for (const address of [receiptAddress('e'.repeat(32), 'csv'), receiptAddress('nonsense', 'csv')])
      expect((await world.web.get(address, ordered.headers)).status).toBe(404);
    const asPdf = receiptAddress(ordered.id, 'csv').replace('csv', 'pdf');
    expect(await world.web.get(asPdf, ordered.headers)).toMatchObject({
      status: 400,
      body: { error: 'GENERAL_ERROR' },
    });
    expect(world.web.logLines.some((line) => line.includes('"security":"receipt handed out"'))).toBe(true);
  });

  test('that a browser may not have any more leads to the page of its transfer, and to no text of a program', async () => {
    const strange = fromBrowser('d'.repeat(64));
    for (const format of FORMATS)
      expect(await followLink(link(ordered.id, format), strange)).toEqual({
        status: 303,
        leadsTo: `/status?migration_id=${ordered.id}`,
      });
    const unknown = 'e'.repeat(32);
    expect((await followLink(link(unknown, 'html'), strange)).leadsTo).toBe(`/status?migration_id=${unknown}`);
    expect((await followLink(link('nonsense', 'html'), strange)).leadsTo).toBeUndefined();
    expect((await followLink(link(ordered.id, 'html'), ordered.headers)).status).toBe(200);
    // A script of a page is no visitor.
    const script = { ...strange, 'sec-fetch-mode': 'cors', 'sec-fetch-dest': 'empty' };
    expect((await followLink(link(ordered.id, 'html'), script)).status).toBe(401);
  });

  test('is checked by a command, with nothing but the key', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'receipt-'));
    try {
      const [file, key] = [join(folder, 'receipt.csv'), join(folder, 'key.pem')];
      const { text } = await receipt('csv');
      await writeFile(file, text);
      await writeFile(key, pem);
      const { stdout } = await promisify(execFile)(process.execPath, [COMMAND, file, key]);
      expect(stdout).toContain(`Genuine: the sums and every line. Transfer ${ordered.id}`);
      const page = (await receipt('html')).text;
      const another = '$&<pre>{"copied":999}</pre><div hidden>';
      await writeFile(file, page.replace('<h2>Signature</h2>', another));
      const ofPage = await promisify(execFile)(process.execPath, [COMMAND, file, key]);
      expect(ofPage.stdout).toContain('Genuine: what is printed here, whatever the page shows.');
      expect(ofPage.stdout).toContain(`\n${checkReceipt(page, pem).signed}\n`);
      await writeFile(file, text.replace('copied', 'lost'));
      await expect(promisify(execFile)(process.execPath, [COMMAND, file, key])).rejects.toMatchObject({ code: 1 });
      for (const [first, second, said] of [
        [file, COMMAND, 'The file of the key holds no public key in PEM.'],
        [folder, key, `${folder} can't be read (EISDIR).`],
        [file, `${key}.other`, `${key}.other can't be read (ENOENT).`],
      ] as const)
        await expect(promisify(execFile)(process.execPath, [COMMAND, first, second])).rejects.toMatchObject({
          code: 1,
          stderr: `${said}\n`,
        });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});

describe('a receipt says', () => {
  test('that nothing else is missing where messages were refused, and never that nothing is', async () => {
    const large = Buffer.from(`Subject: Large\r\n\r\n${'long '.repeat(800)}\r\n`);
    await using refusing = await openLifeWorld({
      mail: { INBOX: [FORMULA, { ...FORMULA, bytes: large }, MARKUP] },
      change: (direction, part) =>
        direction === 'to client'
          ? Buffer.from(part.toString('latin1').replaceAll(/APPENDLIMIT=\d+/g, 'APPENDLIMIT=2000'), 'latin1')
          : part,
    });
    const order = await refusing.order();
    await using _worker = await refusing.work();
    await sentOn(refusing, order);
    expect(await whenEnded(refusing, order)).toMatchObject({ status: 'completed', lost: 0 });
    const { text } = await refusing.web.get(receiptAddress(order.id, 'html'), order.headers);
    expect(text).toContain(
      'Email: complete. 1 message is not there: see why in the list. 0 others missing, 0 there twice, 0 changed.',
    );
    const json = await refusing.web.get(receiptAddress(order.id, 'json'), order.headers);
    expect(json.body).toMatchObject({ operations: [{ operation: 'emailmigration', lost: 0, left_out: 1 }] });
    const key = await refusing.web.get(RECEIPT_KEY);
    for (const receiptText of [text, json.text]) expect(() => checkReceipt(receiptText, key.text)).not.toThrow();
  });

  const operation = { stopped: false, lost: null, duplicated: null, changed: null, failure: null };
  const facts: Facts = {
    transfer: 'b'.repeat(32),
    from: 'ann@old.example (San Bruno)',
    to: 'ann@new.example (Gmail)',
    ordered: '2025-11-01T09:00:00.000Z',
    ended: '2025-11-01T10:00:00.000Z',
    compared: 3,
    copied: 3,
    octets: 900,
    operations: [{ ...operation, operation: 'emailmigration', status: 'completed' }],
  };
  const forwarding = (status: string) => ({
    ...facts,
    operations: [...facts.operations, { ...operation, operation: 'emailforwarding', status }],
  });

  test('that new mail does not move where forwarding was ordered and not set up', () => {
    const newMail = 'Mail that comes to ann@old.example from now on';
    expect(notMoved(forwarding('review'))).toContain(newMail);
    expect(notMoved(forwarding('completed'))).not.toContain(newMail);
  });

  test('the same once forwarding is off', async () => {
    const { database } = world.web;
    await database.query(
      `insert into operations (transfer_id, operation, status, started, finished)
       values ($1, 'emailforwarding', 'completed', now(), now())`,
      [ordered.id],
    );
    const newMail = 'Mail that comes to ann@sanbrunocable.example from now on';
    const notMovedNow = async () => ((await receipt('json')).body as { not_moved: string[] }).not_moved;
    expect(await notMovedNow()).not.toContain(newMail);
    await noteForwardingOff(database, ordered.id);
    expect(await notMovedNow()).toContain(newMail);
    expect(checkReceipt((await receipt('json')).text, pem).isListChecked).toBe(true);
    await database.query("delete from operations where operation = 'emailforwarding'");
  });

  test('not that new mail stays behind where an earlier transfer forwards it, until that is off', async () => {
    const { database } = world.web;
    const given = { source_account: { password: PASSWORD }, destination_account: { password: PASSWORD } };
    const { body } = await call(world, 'again', ordered, given);
    const later = { id: (body as { jobid: string }).jobid, headers: ordered.headers };
    {
      await using _worker = await world.work();
      await whenEnded(world, later);
    }
    await database.query(
      `insert into operations (transfer_id, operation, status, started, finished)
       values ($1, 'emailforwarding', 'completed', now(), now())`,
      [ordered.id],
    );
    const newMail = 'Mail that comes to ann@sanbrunocable.example from now on';
    const receiptNow = () => world.web.get(receiptAddress(later.id, 'json'), later.headers);
    const forwarded = await receiptNow();
    expect((forwarded.body as { not_moved: string[] }).not_moved).not.toContain(newMail);
    expect(checkReceipt(forwarded.text, pem).isListChecked).toBe(true);
    expect(await statusOf(world, later)).toMatchObject({
      emailforwarding: { status: 'completed', to: NEW_ANN, since: expect.any(String) },
    });
    expect(await statusOf(world, later), 'and nothing is to be brought once a day').not.toHaveProperty('daily');
    await noteForwardingOff(database, later.id);
    expect(((await receiptNow()).body as { not_moved: string[] }).not_moved).toContain(newMail);
    expect(await statusOf(world, later)).not.toHaveProperty('emailforwarding');
    await database.query("delete from operations where operation = 'emailforwarding'");
    await database.query('delete from transfers where id = $1', [later.id]);
  });

  test('that it is of different moments as long as something is being taken back', async () => {
    const { database } = world.web;
    const meanwhile = 'We were taking messages back while we wrote this receipt.';
    expect(await comparedNow()).not.toContain(meanwhile);
    await database.query('insert into take_backs (transfer_id) values ($1)', [ordered.id]);
    expect(await comparedNow()).toContain(meanwhile);
    await database.query('update take_backs set finished = now()');
    expect(await comparedNow()).not.toContain(meanwhile);
    await database.query('delete from take_backs');
  });

  test('nothing under a heading of its own where it lists nothing, and nothing at all once it is erased', async () => {
    const { database } = world.web;
    const [sourceProvider, destinationProvider] = ['sanbruno', 'google'] as const;
    const accounts = { sourceEmail: 'b', sourceProvider, destinationEmail: 'b', destinationProvider };
    await insertTransfer(database, { ...accounts, id: facts.transfer, operations: [], inQa: false }, 'key');
    const { privateKey: key } = generateKeyPairSync('ed25519');
    const written = async (of = facts) => {
      let page = '';
      for await (const part of writeReceipt('html', database, of, { key, keyAddress: RECEIPT_KEY })) page += part;
      return page;
    };
    const page = await written();
    // Contacts that are lost are no part of those that were left out, as messages are.
    const counts = { ...operation, status: 'review', lost: 2, duplicated: 0, changed: 0, left_out: 3 };
    const both = ['emailmigration', 'contactsmigration'].map((name) => ({ ...counts, operation: name }));
    const told = await written({ ...facts, operations: both });
    for (const said of [
      '1 message is not there: see why in the list. 2 others missing',
      '3 contacts are not there: see why in the list. 2 others missing',
    ])
      expect(told).toContain(said);
    await database.query('delete from transfers where id = $1', [facts.transfer]);
    await expect(written()).rejects.toThrow('erased');
    expect(page.match(/(?<=<h2>)[^<]+/g)).toEqual(['What was compared', 'What did not move', 'Signature']);
    expect(page).not.toContain('class="list"');
    expect((await receipt('html')).text.match(/(?<=<h2>)[^<]+/g)).toEqual([
      'What was compared',
      'What did not move',
      'Messages and contacts',
      'Totals',
      'Signature',
    ]);
  });

  test('of an export where its lists are, and no digest of contacts, which have none there', () => {
    expect(comparisonOf({ ...facts, to: 'Files for download' })).toBe(
      'Your files have the list of every message, with its SHA-256, and of every contact: see manifest.csv in each of them.',
    );
  });

  test('how many messages may be there besides those that it lists', () => {
    expect(comparisonOf(facts)).not.toContain('on their way');
    expect(comparisonOf({ ...facts, unsure: 2 })).toContain('Up to 2 more messages were on their way');
    expect(comparisonOf({ ...facts, copied: 0, compared: 0, unsure: 2 })).toContain('Up to 2 more messages');
  });
});

test('so many receipts of a transfer at once are enough, and the place of one that ends is free again', async () => {
  const { database, url } = world.web;
  // More than lies in the buffers of a line whose other end does not read.
  await database.query(
    `insert into ledger (mailbox_id, uid, fate, size, sha256, subject, destination_uid_validity, destination_uid)
     select (select max(id) from ledger_mailboxes where transfer_id = $1), n, 'stored', 1, sha256('x'), repeat('long ', 40), 1, n
     from generate_series(1000001, 1080000) n`,
    [ordered.id],
  );
  const ask = async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    const fields = `Host: localhost\r\nCookie: ${ordered.headers['cookie'] ?? ''}\r\n`;
    socket.write(`GET ${receiptAddress(ordered.id, 'csv')} HTTP/1.1\r\n${fields}\r\n`);
    const [head] = (await once(socket, 'data')) as [Buffer];
    socket.pause();
    return { socket, status: head.subarray(9, 12).toString() };
  };
  const held = [];
  for (let at = 0; at <= RECEIPTS_AT_ONCE; at += 1) held.push(await ask());
  expect(held.map(({ status }) => status)).toEqual([...Array.from({ length: RECEIPTS_AT_ONCE }, () => '200'), '429']);
  held[0]?.socket.destroy();
  await expect
    .poll(async () => {
      const { socket, status } = await ask();
      socket.destroy();
      return status;
    })
    .toBe('200');
  for (const { socket } of held) socket.destroy();
});
