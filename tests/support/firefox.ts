import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import { FIREFOX } from './installed.ts';

const WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 100;

/** No prompts and no telemetry; downloads don't prompt either, or take the focus from the page. */
const preferencesOf = (downloads: string) => ({
  'browser.download.folderList': 2,
  'browser.download.dir': downloads,
  'browser.download.alwaysOpenPanel': false,
  'browser.shell.checkDefaultBrowser': false,
  'browser.startup.homepage_override.mstone': 'ignore',
  'app.update.enabled': false,
  'app.normandy.enabled': false,
  'datareporting.policy.dataSubmissionEnabled': false,
  'toolkit.telemetry.enabled': false,
  'network.captive-portal-service.enabled': false,
  'network.connectivity-service.enabled': false,
});

/** Finds an element by the name that people see: the field of a label, or something to press; in the dialog, if one is open. */
const FIND = `(kind, name) => {
  const place = document.querySelector('dialog[open]') ?? document;
  const nameOf = (element) => (element.getAttribute('aria-label') ?? element.textContent).trim();
  const isNamed = (element) =>
    name.endsWith('…') ? nameOf(element).startsWith(name.slice(0, -1)) : nameOf(element) === name;
  const found =
    kind === 'field'
      ? [...place.querySelectorAll('label')].find(isNamed)?.control
      : [...place.querySelectorAll('button:enabled:not([aria-disabled=true]), a, summary, label:has(input[type=checkbox])')].find(isNamed);
  found?.scrollIntoView({ block: 'center', behavior: 'instant' });
  if (found) {
    window.isPressed = false;
    found.addEventListener('click', () => (window.isPressed = true), { once: true, capture: true });
  }
  return found ?? null;
}`;

/**
 * Firefox drops clicks before a new page has been painted a few times, and the target may move in the meantime, for
 * example because the page scrolls to the top. A person would just click again.
 */
const IS_LOST = '() => window.isPressed === false';

type Value = { readonly sharedId?: string; readonly value?: unknown };
type Answer = {
  readonly id?: number;
  readonly error?: string;
  readonly message?: string;
  readonly method?: string;
  readonly params?: { readonly level?: string; readonly text?: string };
  readonly result?: { readonly result?: Value; readonly context?: string; readonly data?: string };
};

export type FirefoxPage = {
  readonly goto: (url: string) => Promise<void>;
  /** Waits until the page's address matches. */
  readonly at: (address: RegExp) => Promise<URL>;
  readonly says: (text: string) => Promise<void>;
  /** A name that ends with an ellipsis matches any that begins with it. */
  readonly press: (name: string) => Promise<void>;
  readonly fill: (label: string, text: string) => Promise<void>;
  readonly goBack: () => Promise<void>;
  /** The printed page, as a PDF. */
  readonly print: () => Promise<Buffer>;
};

export type Firefox = AsyncDisposable & {
  readonly newPage: () => Promise<FirefoxPage>;
  /** The folder of downloads. */
  readonly downloads: string;
  /** The errors in the console of any page. */
  readonly errors: readonly string[];
};

/** Opens Firefox with a new profile, driven by WebDriver BiDi. */
export async function openFirefox(): Promise<Firefox> {
  if (FIREFOX === null) throw new Error('Firefox is not installed.');
  const profile = await mkdtemp(join(tmpdir(), 'firefox-'));
  const downloads = join(profile, 'downloads');
  await mkdir(downloads);
  await writeFile(
    join(profile, 'user.js'),
    Object.entries(preferencesOf(downloads))
      .map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`)
      .join(''),
  );
  const child = spawn(
    FIREFOX,
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'],
    // Debian's is a script that starts the program: in a process group of their own, they end together.
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: profile }, detached: true },
  );
  const ended = once(child, 'exit');
  const close = async () => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid);
    await ended;
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    const errors: string[] = [];
    const ask = await spokenTo(await addressOf(child.stderr), errors);
    await ask('session.new', { capabilities: {} });
    await ask('session.subscribe', { events: ['log.entryAdded'] });
    const newPage = async () => {
      const { context = '' } = await ask('browsingContext.create', { type: 'tab' });
      return pageIn(context, ask);
    };
    return { newPage, downloads, errors, [Symbol.asyncDispose]: close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressOf(said: NodeJS.ReadableStream): Promise<string> {
  for await (const line of createInterface(said)) {
    const address = /^WebDriver BiDi listening on (\S+)$/.exec(line)?.[1];
    if (address === undefined) continue;
    // Drains its later output, so that the pipe doesn't fill up and block it.
    said.resume();
    return address;
  }
  throw new Error('Firefox did not start.');
}

type Ask = (method: string, params: object) => Promise<NonNullable<Answer['result']>>;

async function spokenTo(address: string, errors: string[]): Promise<Ask> {
  const socket = new WebSocket(`${address}/session`);
  await once(socket, 'open');
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    if (answer.id !== undefined) waiting.get(answer.id)?.(answer);
    else if (answer.params?.level === 'error') errors.push(answer.params.text ?? '');
  });
  return async (method, params) => {
    const id = (last += 1);
    const { promise, resolve } = Promise.withResolvers<Answer>();
    waiting.set(id, resolve);
    socket.send(JSON.stringify({ id, method, params }));
    const { error, message, result = {} } = await promise;
    waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error}, ${message}`);
    return result;
  };
}

function pageIn(context: string, ask: Ask): FirefoxPage {
  const call = async (functionDeclaration: string, ...texts: readonly string[]) => {
    const given = { functionDeclaration, arguments: texts.map((value) => ({ type: 'string', value })) };
    const { result } = await ask('script.callFunction', { ...given, target: { context }, awaitPromise: false });
    return result;
  };
  const until = async <Found>(what: string, look: () => Promise<Found | null | undefined>): Promise<Found> => {
    for (const late = Date.now() + WITHIN_MS; Date.now() < late; await wait(LOOK_EVERY_MS)) {
      // Calls fail while the page is being unloaded.
      const found = await look().catch(() => null);
      if (found !== null && found !== undefined) return found;
    }
    const shown = await call('() => location.href + " " + document.body.innerText');
    throw new Error(`${what} did not come in time: ${String(shown?.value)}`);
  };
  const press = async (kind: 'field' | 'button', name: string) =>
    until(name, async () => {
      const sharedId = (await call(FIND, kind, name))?.sharedId;
      if (sharedId === undefined) return null;
      const origin = { type: 'element', element: { sharedId } };
      const pressing = [
        { type: 'pointerMove', x: 0, y: 0, origin },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await ask('input.performActions', { context, actions: [{ type: 'pointer', id: 'mouse', actions: pressing }] });
      // If the click has left the page, its variables are gone.
      const isLost = await call(IS_LOST).catch(() => null);
      return isLost?.value === true ? null : name;
    });
  return {
    goto: async (url) => void (await ask('browsingContext.navigate', { context, url, wait: 'complete' })),
    at: (address) =>
      until(String(address), async () => {
        const href = String((await call('() => location.href'))?.value);
        return address.test(href) ? new URL(href) : null;
      }),
    says: async (text) => {
      await until(text, async () =>
        (await call('(text) => document.body.innerText.includes(text)', text))?.value === true ? text : null,
      );
    },
    press: async (name) => void (await press('button', name)),
    fill: async (label, text) => {
      await press('field', label);
      const keys = Array.from(text, (value) => ['keyDown', 'keyUp'].map((type) => ({ type, value }))).flat();
      await ask('input.performActions', { context, actions: [{ type: 'key', id: 'keys', actions: keys }] });
    },
    goBack: async () => void (await ask('browsingContext.traverseHistory', { context, delta: -1 })),
    print: async () => Buffer.from((await ask('browsingContext.print', { context })).data ?? '', 'base64'),
  };
}
