import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, expect, test, vi } from 'vitest';
import { openFirefox } from '../support/firefox.ts';
import { needs } from '../support/needs.ts';

const PAGE = join(import.meta.dirname, '../../src/server/export/page/reader.html');
/** Links, and hints within a frame, which no look at the message finds. */
const MESSAGE = `<iframe srcdoc="&lt;link rel='dns-prefetch' href='http://hint.attacker.example/'&gt;
&lt;link rel='preconnect' href='http://inner.attacker.example/'&gt;"></iframe>
<a href="http://sender.attacker.example/read">A link</a>
<meta http-equiv="x-dns-prefetch-control" content="on"><a href="http://later.attacker.example/read">Another</a>`;

afterEach(() => vi.unstubAllEnvs());

test(
  'no host of a message that is read is looked up by Firefox (needs firefox)',
  needs('firefox'),
  async ({ onTestFinished }) => {
    const folder = await mkdtemp(join(tmpdir(), 'reader-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await mkdir(join(folder, 'reader'));
    const values = { PROVIDER: 'San Bruno', PLACE: 'reader', BLOCKS: '1' };
    const filled = Object.entries(values).reduce(
      (text, [name, value]) => text.replaceAll(`%${name}%`, value),
      await readFile(PAGE, 'utf8'),
    );
    // Taken away at once they would hardly be looked up, whatever else forbids it.
    const withLinks = filled.replace('Element.prototype.removeAttribute.call(link, name);', ';');
    expect(withLinks).not.toBe(filled);
    const row = { from: 'Eve', to: '', subject: 'Hello', folder: 'INBOX', date: '2020-01-01', start: '', file: '' };
    const files = {
      'index.html': withLinks,
      'reader/list-1.js': `archive.list(1,${JSON.stringify([row])})`,
      'reader/text-1.js': `archive.text(1,${JSON.stringify([{ text: '', html: MESSAGE, attached: [] }])})`,
      'any.html': '<a href="http://control.attacker.example/">A page that does not forbid it</a>',
    };
    for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
    const log = join(folder, 'names');
    vi.stubEnv('MOZ_LOG', 'sync,nsHostResolver:5');
    vi.stubEnv('MOZ_LOG_FILE', log);
    await using firefox = await openFirefox();
    const page = await firefox.newPage();
    await page.goto(pathToFileURL(join(folder, 'index.html')).href);
    await page.press('Hello…');
    await page.says('Back to the list');
    await page.goto(pathToFileURL(join(folder, 'any.html')).href);
    const lookedUp = async () => {
      const names = (await readFile(`${log}.moz_log`, 'latin1')).match(/\w+\.attacker\.example/g);
      return [...new Set(names)];
    };
    await expect.poll(lookedUp, { timeout: 60_000 }).toContain('control.attacker.example');
    expect(await lookedUp()).toEqual(['control.attacker.example']);
  },
);
