import { readFileSync } from 'node:fs';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import PostalMime from 'postal-mime';
import { PSTFile, type PSTAttachment, type PSTFolder, type PSTMessage } from 'pst-extractor';
import { run } from '../run.ts';
import { sha256 } from './pst-samples.ts';

/** A message as some program read it. Absent times are `null`; what a program doesn't report is left out. */
export type Read = {
  readonly subject: string;
  readonly sender: string;
  readonly recipients: readonly string[];
  readonly sent: number | null;
  readonly received?: number | null;
  readonly isRead?: boolean;
  readonly body: string;
  readonly html?: string;
  /** Digests, in any order, without embedded messages. */
  readonly attachments: readonly string[];
  readonly embedded: number;
};

/** By folder path, with `/` between names; includes folders without messages. */
export type ReadMailbox = ReadonlyMap<string, readonly Read[]>;

const TOP = 'Top of Personal Folders';

/** Normalizes line breaks, and removes trailing whitespace. */
export const plain = (text: string) => text.replaceAll('\r\n', '\n').trimEnd();

export function readByExtractor(path: string): ReadMailbox {
  const found = new Map<string, Read[]>();
  // From memory, because it reads octet by octet, and a system call for each would take a hundred times as long.
  const file = new PSTFile(readFileSync(path));
  const walk = (folder: PSTFolder, names: readonly string[]) => {
    const messages: Read[] = [];
    if (folder.contentCount > 0)
      for (
        let next = folder.getNextChild() as PSTMessage | null;
        next !== null;
        next = folder.getNextChild() as PSTMessage | null
      )
        messages.push(extracted(next));
    if (names.length > 0) found.set(names.join('/'), messages);
    for (const child of folder.getSubFolders()) walk(child, [...names, child.displayName]);
  };
  try {
    for (const child of topFolders(file)) if (child.displayName === TOP) walk(child, []);
  } finally {
    file.close();
  }
  return found;
}

/** Only asks for the root's subfolders: the library logs an error for search folders, which have no table of subfolders. */
function topFolders(file: PSTFile): PSTFolder[] {
  return file.getRootFolder().getSubFolders();
}

function extracted(message: PSTMessage): Read {
  const attachments: string[] = [];
  let embedded = 0;
  for (let index = 0; index < message.numberOfAttachments; index += 1) {
    const attachment = message.getAttachment(index);
    if (attachment.attachMethod === 5) embedded += 1;
    else attachments.push(sha256(contentOf(attachment)));
  }
  return {
    subject: message.subject,
    sender: message.senderEmailAddress,
    recipients: Array.from(
      { length: message.numberOfRecipients },
      (_, index) => message.getRecipient(index)?.emailAddress ?? '',
    ),
    sent: message.clientSubmitTime?.getTime() ?? null,
    received: message.messageDeliveryTime?.getTime() ?? null,
    isRead: message.isRead,
    body: plain(message.body),
    html: plain(message.bodyHTML),
    attachments,
    embedded,
  };
}

export function contentOf(attachment: PSTAttachment): Buffer {
  const stream = attachment.fileInputStream;
  if (stream === null || stream === undefined) return Buffer.alloc(0);
  const content = Buffer.alloc(stream.length.toNumber());
  if (content.length > 0) stream.readCompletely(content);
  return content;
}

/** `readpst` writes a file for each message; the result is read from these. */
export async function readByReadpst(path: string, directory: string): Promise<ReadMailbox> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await run('readpst', ['-e', '-D', '-q', '-j', '0', '-o', directory, path]);
  const found = new Map<string, Read[]>();
  const walk = async (folder: string, names: readonly string[]) => {
    const messages: { readonly number: number; readonly read: Read }[] = [];
    for (const entry of await readdir(folder, { withFileTypes: true }))
      if (entry.isDirectory()) await walk(join(folder, entry.name), [...names, entry.name]);
      else if (entry.name.endsWith('.eml'))
        messages.push({
          number: Number.parseInt(entry.name, 10),
          read: await parsed(await readFile(join(folder, entry.name))),
        });
    const sorted = messages.toSorted((one, other) => one.number - other.number).map(({ read }) => read);
    if (names.length > 0) found.set(names.join('/'), sorted);
  };
  const [root] = await readdir(directory);
  if (root !== undefined) await walk(join(directory, root), []);
  return found;
}

const octets = (content: string | ArrayBuffer | Uint8Array) =>
  typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);

async function parsed(bytes: Buffer): Promise<Read> {
  const mail = await PostalMime.parse(bytes, { forceRfc822Attachments: true });
  const files = mail.attachments.filter(({ mimeType }) => mimeType !== 'message/rfc822');
  const emails = [mail.to, mail.cc, mail.bcc].flatMap((list) => list ?? []).map(({ address }) => address ?? '');
  return {
    subject: mail.subject ?? '',
    sender: mail.from?.address ?? '',
    recipients: emails,
    sent: mail.date === undefined ? null : Date.parse(mail.date),
    body: plain(mail.text ?? ''),
    ...(mail.html === undefined ? {} : { html: plain(mail.html) }),
    attachments: files.map(({ content }) => sha256(octets(content))),
    embedded: mail.attachments.length - files.length,
  };
}

/** `pffexport` writes a folder for each message. */
export async function readByPffexport(path: string, directory: string): Promise<ReadMailbox> {
  await rm(`${directory}.export`, { recursive: true, force: true });
  await mkdir(dirname(directory), { recursive: true });
  await run('pffexport', ['-q', '-m', 'items', '-f', 'all', '-t', directory, path]);
  const found = new Map<string, Read[]>();
  const walk = async (folder: string, names: readonly string[]) => {
    const messages: Read[] = [];
    for (const entry of (await readdir(folder, { withFileTypes: true })).toSorted((one, other) =>
      one.name < other.name ? -1 : 1,
    ))
      if (/^Message\d{5}$/.test(entry.name)) messages.push(await exported(join(folder, entry.name)));
      else if (entry.isDirectory() && !/^Contact\d{5}$/.test(entry.name))
        await walk(join(folder, entry.name), [...names, entry.name]);
    if (names.length > 0) found.set(names.join('/'), messages);
  };
  await walk(join(`${directory}.export`, TOP), []);
  return found;
}

async function exported(folder: string): Promise<Read> {
  const names = new Set(await readdir(folder));
  const textOf = async (name: string) => (names.has(name) ? readFile(join(folder, name), 'utf8') : '');
  const headers = fieldsOf(await textOf('OutlookHeaders.txt'));
  const recipients = (await textOf('Recipients.txt')).split('\n\n').map(fieldsOf);
  const attachments: string[] = [];
  let embedded = 0;
  if (names.has('Attachments'))
    for (const entry of await readdir(join(folder, 'Attachments'), { withFileTypes: true }))
      if (entry.isDirectory()) embedded += 1;
      else attachments.push(sha256(await readFile(join(folder, 'Attachments', entry.name))));
  const time = (name: string) => {
    const said = headers.get(name);
    return said === undefined ? null : Date.parse(said.replace(/\.\d+ UTC$/, ' UTC'));
  };
  return {
    subject: headers.get('Subject') ?? '',
    sender: headers.get('Sender email address') ?? '',
    recipients: recipients.flatMap((each) => each.get('Email address') ?? []),
    sent: time('Client submit time'),
    received: time('Delivery time'),
    isRead: (headers.get('Flags') ?? '').includes('(Read'),
    body: plain(await textOf('Message.txt')),
    ...(names.has('Message.html') ? { html: plain(await textOf('Message.html')) } : {}),
    attachments,
    embedded,
  };
}

function fieldsOf(text: string): Map<string, string> {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, name, value] = /^([^:]+):\t+(.*)$/.exec(line) ?? [];
      return name === undefined ? [] : [[name, value ?? ''] as const];
    }),
  );
}

/** Extracts what `readpst` makes of contacts: vCards, by folder. */
export async function contactsByReadpst(path: string, directory: string): Promise<string[]> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  await run('readpst', ['-e', '-D', '-q', '-j', '0', '-t', 'c', '-o', directory, path]);
  const names = (await readdir(directory, { recursive: true })).filter((name) => name.endsWith('.vcf'));
  const cards = names
    .toSorted(
      (one, other) =>
        Number.parseInt(one.split('/').at(-1) ?? '', 10) - Number.parseInt(other.split('/').at(-1) ?? '', 10),
    )
    .map((name) => readFile(join(directory, name), 'utf8'));
  return Promise.all(cards);
}

/** `lspst` only lists: how many items each folder has, in the order of the folders. */
export async function listedByLspst(path: string): Promise<[folder: string, items: number][]> {
  const found: [string, number][] = [];
  for (const line of (await run('lspst', [path])).toString('utf8').split('\n')) {
    const folder = /^Folder "(.*)"$/.exec(line)?.[1];
    const last = found.at(-1);
    if (folder !== undefined) found.push([folder, 0]);
    else if (line !== '' && last !== undefined) last[1] += 1;
  }
  return found;
}
