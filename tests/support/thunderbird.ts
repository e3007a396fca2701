import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from './free-port.ts';
import { installed } from './installed.ts';

const THUNDERBIRD = installed('thunderbird');

const READY_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

type Answer = {
  readonly error?: string;
  /** The messages of each folder, in base64. */
  readonly folders?: Readonly<Record<string, readonly string[]>>;
};

/** One account, "Local Folders", with no prompts and no telemetry. */
const PREFERENCES = {
  'mail.accountmanager.accounts': 'account1',
  'mail.accountmanager.localfoldersserver': 'server1',
  'mail.account.account1.server': 'server1',
  'mail.server.server1.type': 'none',
  'mail.server.server1.hostname': 'Local Folders',
  'mail.server.server1.name': 'Local Folders',
  'mail.server.server1.userName': 'nobody',
  'mail.server.server1.directory-rel': '[ProfD]Mail/Local Folders',
  'mail.server.server1.storeContractID': '@mozilla.org/msgstore/berkeleystore;1',
  'mail.provider.suppress_dialog_on_startup': true,
  'mailnews.start_page.enabled': false,
  'mailnews.database.global.indexer.enabled': false,
  'app.update.enabled': false,
  'app.normandy.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false,
  'network.captive-portal-service.enabled': false,
};

/** Builds the index of each folder, as opening it would, and reads all of its messages from the mbox. */
const READ_ALL = `
const done = arguments[arguments.length - 1];
(async () => {
  const { MailServices } = ChromeUtils.importESModule('resource:///modules/MailServices.sys.mjs');
  const folders = {};
  for (const folder of MailServices.accounts.localFoldersServer.rootFolder.subFolders) {
    const local = folder.QueryInterface(Ci.nsIMsgLocalMailFolder);
    await new Promise((resolve) => local.parseFolder(null, { OnStartRunningUrl() {}, OnStopRunningUrl: resolve }));
    folders[folder.name] = [...folder.msgDatabase.enumerateMessages()].map((header) => {
      const stream = Cc['@mozilla.org/binaryinputstream;1'].createInstance(Ci.nsIBinaryInputStream);
      stream.setInputStream(folder.getMsgInputStream(header, {}));
      let bytes = '';
      for (let length = stream.available(); length > 0; length = stream.available()) bytes += stream.readBytes(length);
      return btoa(bytes);
    });
  }
  return { folders };
})().then(done, (error) => done({ error: String(error) }));`;

/**
 * Opens mbox files as the local folders of a new profile, under the given names.
 * @returns the messages of each, as Thunderbird returns them: without the `From_` line, with quoted lines unchanged
 */
export async function openedInThunderbird(files: ReadonlyMap<string, string>): Promise<Map<string, Buffer[]>> {
  if (THUNDERBIRD === null) throw new Error('Thunderbird is not installed.');
  const profile = await mkdtemp(join(tmpdir(), 'thunderbird-'));
  const port = await freePort();
  const folder = join(profile, 'Mail/Local Folders');
  await mkdir(folder, { recursive: true });
  for (const [name, file] of files) await copyFile(file, join(folder, name));
  const preferences = Object.entries({ ...PREFERENCES, 'marionette.port': port });
  await writeFile(
    join(profile, 'user.js'),
    preferences.map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''),
  );
  const child = spawn(
    THUNDERBIRD,
    ['--headless', '--no-remote', '--profile', profile, '--marionette', '--remote-allow-system-access'],
    // Debian's is a script that starts the program: in a process group of their own, they end together.
    { stdio: 'ignore', env: { ...process.env, HOME: profile }, detached: true },
  );
  const ended = once(child, 'exit');
  try {
    const { error, folders = {} } = (await inThunderbird(await reached(port, () => child.exitCode !== null))) as Answer;
    if (error !== undefined) throw new Error(`Thunderbird: ${error}`);
    return new Map(
      Object.entries(folders).map(([name, messages]) => [
        name,
        messages.map((message) => Buffer.from(message, 'base64')),
      ]),
    );
  } finally {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function reached(port: number, isOver: () => boolean): Promise<Socket> {
  for (const late = Date.now() + READY_WITHIN_MS; Date.now() < late && !isOver(); await wait(LOOK_EVERY_MS)) {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return socket;
    } catch {
      socket.destroy();
    }
  }
  throw new Error('Thunderbird did not start.');
}

/** Runs the script over Marionette, whose messages are `length:json`; the first one is a greeting. */
async function inThunderbird(socket: Socket): Promise<unknown> {
  const answers = answersOf(socket);
  const next = async () => (await answers.next()).value as [number, number, { message: string } | null, unknown];
  await next();
  let number = 0;
  const command = async (name: string, parameters: object) => {
    number += 1;
    const text = JSON.stringify([0, number, name, parameters]);
    socket.write(`${Buffer.byteLength(text)}:${text}`);
    const [, , error, result] = await next();
    if (error !== null) throw new Error(`Thunderbird: ${error.message}`);
    return result as { value: unknown };
  };
  try {
    await command('WebDriver:NewSession', {});
    await command('Marionette:SetContext', { value: 'chrome' });
    await command('WebDriver:SetTimeouts', { script: READY_WITHIN_MS });
    const script = { script: READ_ALL, args: [], sandbox: 'system', newSandbox: true };
    return (await command('WebDriver:ExecuteAsyncScript', script)).value;
  } finally {
    socket.destroy();
  }
}

async function* answersOf(socket: Socket): AsyncGenerator {
  const pieces: Buffer[] = [];
  let length = 0;
  let wanted = 0;
  for await (const piece of socket as AsyncIterable<Buffer>) {
    pieces.push(piece);
    length += piece.length;
    while (length >= wanted) {
      const all = Buffer.concat(pieces);
      const colon = all.indexOf(':');
      if (colon < 0) break;
      wanted = colon + 1 + Number(all.toString('latin1', 0, colon));
      if (length < wanted) {
        pieces.splice(0, pieces.length, all);
        break;
      }
      yield JSON.parse(all.toString('utf8', colon + 1, wanted));
      pieces.splice(0, pieces.length, all.subarray(wanted));
      length -= wanted;
      wanted = 0;
      if (length === 0) break;
    }
  }
}
