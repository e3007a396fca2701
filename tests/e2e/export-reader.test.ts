import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtemp, readFile, rm, stat, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import axe from 'axe-core';
import type { Browser, Locator, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openBrowser } from '../support/browser.ts';
import { type ExportWorld, openExportWorld } from '../support/export-world.ts';
import { memoryAccount } from '../support/memory-mailbox.ts';
import { needs } from '../support/needs.ts';
import { run } from '../support/run.ts';

const day = (at: number) => new Date(Date.UTC(2020, 0, at, 12));
const letter = (uid: number, lines: readonly string[]) => ({
  uid,
  bytes: Buffer.from(lines.join('\r\n')),
  flags: [],
  internalDate: day(uid),
});
const WITHOUT_TEXT = 297;
/** With the line end of old programs. */
const plain = (uid: number) =>
  letter(uid, [
    `From: Ada <ada@mail.example>`,
    'To: me@mail.example',
    `Subject: Letter ${uid}`,
    '',
    uid === WITHOUT_TEXT ? '' : `Words of ${uid}.\rAnd more.`,
  ]);

/** `%TRACKER%` is a server that would notice. */
const HOSTILE = `<h1>Dear reader</h1>
<script>document.querySelector('h1').textContent = 'A script ran'; parent.document.title = 'taken';</script>
<img src="%TRACKER%/pixel.png" onerror="document.querySelector('h1').textContent = 'A handler ran'">
<link rel="stylesheet" href="%TRACKER%/style.css">
<link rel="preconnect" href="%TRACKER%"><LINK rel="dns-prefetch" href="//tracker.example">
<style>@import url(%TRACKER%/import.css); h1 { background: url(%TRACKER%/back.png) }</style>
<meta http-equiv="refresh" content="0; url=%TRACKER%/away">
<iframe src="%TRACKER%/frame"></iframe>
<form action="%TRACKER%/form"><button>Win a prize</button></form>
<a href="%TRACKER%/link">A link</a>
<pre>${'A paragraph in one line. '.repeat(40)}</pre>
<svg width="90" height="40"><a xlink:href="%TRACKER%/drawing" href="%TRACKER%/drawing"><text y="20">A drawing</text></a></svg>
<svg width="90" height="40"><a xlink:href="%TRACKER%/old"><text y="20">An old drawing</text></a></svg>
<svg width="90" height="40"><a><set attributeName="href" to="%TRACKER%/moved"/><text y="20">A moving drawing</text></a></svg>
<iframe srcdoc="&lt;link rel=preconnect href=%TRACKER%&gt;&lt;a href=%TRACKER%/inner&gt;An inner link&lt;/a&gt;"></iframe>
<div><template shadowrootmode="open"><a href="%TRACKER%/hidden">A hidden link</a></template></div>
<img name="documentElement"><img name="body"><img name="createElement">
</script><script>document.title = 'broken out'</script>`;

const accountOf = (tracker: string) =>
  memoryAccount([
    {
      path: 'INBOX',
      messages: [
        ...Array.from({ length: 299 }, (_, at) => plain(at + 1)),
        letter(300, [
          'From: "<b>Eve</b>" <eve@mail.example>',
          'Subject: <img src=x onerror="document.title=1">',
          'Content-Type: text/html',
          '',
          HOSTILE.replaceAll('%TRACKER%', tracker),
        ]),
      ],
    },
    { path: 'INBOX/Club', messages: [plain(1)] },
    {
      path: 'Recipes',
      messages: [
        letter(1, [
          'From: Grandmother <gran@mail.example>',
          // As a Mac spells it: a letter, and its accent.
          'To: =?utf-8?Q?Jose=CC=81?= <me@mail.example>',
          'Subject: =?utf-8?Q?Apple_cake_=F0=9F=8D=8E?=',
          'Content-Type: multipart/mixed; boundary=x',
          '',
          '--x',
          'Content-Type: text/plain',
          '',
          'Take four apples.',
          '--x',
          'Content-Type: application/pdf; name="cake.pdf"',
          'Content-Disposition: attachment; filename="cake.pdf"',
          '',
          'PDF',
          '--x--',
        ]),
        {
          ...letter(3, [
            'From: Tom Rivera <tom.rivera@sanbrunocable.example>',
            'To: Great-grandmother <great-grandmother@sanbrunocable.example>',
            'Subject: A long address',
            '',
            'Hello.',
          ]),
          internalDate: day(0),
        },
        {
          ...letter(4, [
            'From: Gran <gran@mail.example>',
            'Subject: One long word',
            'Content-Type: text/plain; charset=utf-8',
            '',
            '漢'.repeat(190_000),
            'Ask ada@mail.example.',
          ]),
          internalDate: day(-1),
        },
        letter(2, [
          'From: משה כהן (בית) <moshe@mail.example>',
          'Subject: דוח (2019), v1.2',
          'Content-Type: text/plain; charset=utf-8',
          '',
          'שלום,',
        ]),
      ],
    },
  ]);

/** A text in the lines that are seen of it. */
const seen = (text: Locator) =>
  text.evaluate((element) => {
    const lines = new Map<number, string>();
    const walk = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node !== null; node = walk.nextNode())
      for (const { index, 0: letter } of (node.textContent ?? '').matchAll(/\S/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + 1);
        const { top } = range.getBoundingClientRect();
        lines.set(top, (lines.get(top) ?? '') + letter);
      }
    return [...lines.values()];
  });

describe(
  'the page of an archive, in Chromium from the disk (needs chromium, bsdtar)',
  needs('chromium', 'bsdtar'),
  () => {
    let world: ExportWorld;
    let browser: Browser;
    let page: Page;
    let scratch: string;
    const asked: string[] = [];
    let tracker: Server;

    beforeAll(async () => {
      world = await openExportWorld();
      scratch = await mkdtemp(join(tmpdir(), 'reader-'));
      browser = await openBrowser();
      tracker = createServer((request, response) => {
        asked.push(request.url ?? '');
        response.end();
      }).listen(0, '127.0.0.1');
      await once(tracker, 'listening');
    });
    afterAll(async () => {
      await browser?.close();
      tracker?.close();
      await world?.[Symbol.asyncDispose]();
      await rm(scratch, { recursive: true, force: true });
    });

    const opened = async (format: 'eml' | 'mbox') => {
      const id = await world.newTransfer({ email: format });
      const at = `http://127.0.0.1:${(tracker.address() as AddressInfo).port}`;
      await world.exportMail(id, accountOf(at), { format });
      const folder = await mkdtemp(join(scratch, `${format}-`));
      await run('bsdtar', ['-xf', (await world.files(id))[0] ?? ''], { cwd: folder });
      page = await (await browser.newContext({ viewport: { width: 390, height: 844 } })).newPage();
      asked.length = 0;
      await page.goto(pathToFileURL(join(folder, 'index.html')).href);
      await page.getByText('305 messages').waitFor();
      return folder;
    };
    const messages = () => page.locator('button.message');

    test('lists, searches and shows what is in it, and leads to the message itself', async () => {
      const folder = await opened('eml');
      expect(await messages().first().innerText()).toContain('<img src=x onerror="document.title=1">');
      expect(await messages().count()).toBe(100);
      await page.getByRole('button', { name: 'Show more' }).click();
      expect(await messages().count()).toBe(200);
      await page.getByLabel('Search').fill('four APPLES');
      await page.getByText('1 message', { exact: true }).waitFor();
      expect(await messages().first().innerText()).toMatch(/ · Recipes$/);
      await messages().first().click();
      await page.getByRole('heading', { name: 'Apple cake 🍎' }).waitFor();
      for (const said of ['Grandmother <gran@mail.example>', 'cake.pdf', 'Take four apples.', 'Recipes'])
        await page.locator('#one').getByText(said, { exact: true }).waitFor();
      const link = await page.getByRole('link', { name: 'Open this message' }).getAttribute('href');
      expect(await readFile(join(folder, decodeURIComponent(link ?? '')), 'utf8')).toContain('Take four apples.');
      const nothing = page.getByText('No text of this message can be shown here.');
      expect(await nothing.isVisible()).toBe(false);
      await page.getByRole('button', { name: 'Back to the list' }).click();
      await page.getByLabel('Search').fill(`Letter ${WITHOUT_TEXT}`);
      await messages().first().click();
      await nothing.waitFor();
      await page.getByRole('button', { name: 'Back to the list' }).click();
      await page.getByLabel('Search').fill('four pears');
      await page.getByText('Nothing found. The search looks at names, subjects and the first lines').waitFor();
      await page.getByLabel('Search').fill('');
      expect(await page.getByText(/INBOX/).count()).toBe(0);
      expect(await page.locator('option').allInnerTexts()).toEqual(['All folders', 'Inbox', 'Inbox/Club', 'Recipes']);
      await page.getByLabel('Folder').selectOption({ label: 'Inbox' });
      await page.getByText('300 messages').waitFor();
      expect(await messages().first().innerText()).not.toContain('Inbox');
      expect(asked).toEqual([]);
      await page.context().close();
    });

    test('an address that does not fit on the line of a phone breaks after its "@" first', async () => {
      await opened('eml');
      await page.setViewportSize({ width: 360, height: 640 });
      await page.getByLabel('Search').fill('A long address');
      await page.getByText('1 message', { exact: true }).waitFor();
      const ends = 'sanbrunocable.example>';
      expect(await seen(messages().first().locator('span').first())).toEqual(['TomRivera', '<tom.rivera@', ends]);
      await messages().first().click();
      expect(await seen(page.locator('dd', { hasText: 'great-grandmother@' }))).toEqual([
        'Great-grandmother',
        '<great-grandmother@',
        ends,
      ]);
      await page.getByText('Great-grandmother <great-grandmother@sanbrunocable.example>', { exact: true }).waitFor();
      await page.context().close();
    });

    test('a message that is one long word opens as fast as others', async () => {
      await opened('eml');
      await page.getByLabel('Search').fill('One long word');
      await page.getByText('1 message', { exact: true }).waitFor();
      await messages().first().click();
      expect(await page.locator('#body bdi').innerText()).toBe('ada@mail.example.');
      await page.context().close();
    });

    test(
      'is without fault in the light and in the dark, nothing touches what is above it, and paper is white',
      { tags: 'proof' },
      async () => {
        await opened('eml');
        await page.evaluate(axe.source);
        const faults = async () => {
          const { violations } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run());
          return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
        };
        /** What begins less than 4 px below what has the same left edge. */
        const touching = () =>
          page.locator('label, input, select, button').evaluateAll((all) => {
            const boxes = all
              .filter((each) => each.checkVisibility())
              .map((each) => ({ html: each.outerHTML.slice(0, 60), box: each.getBoundingClientRect() }));
            return boxes
              .filter(({ box }, at) => {
                const above = boxes[at - 1]?.box;
                return above !== undefined && above.left === box.left && box.top - above.bottom < 4;
              })
              .map(({ html }) => html);
          });
        const both = async (look: () => Promise<readonly string[]>) => {
          for (const colorScheme of ['light', 'dark'] as const) {
            await page.emulateMedia({ colorScheme });
            expect({ colorScheme, found: await look() }).toEqual({ colorScheme, found: [] });
          }
          expect(await touching()).toEqual([]);
        };
        await both(faults);
        await messages().nth(1).click();
        await page.getByRole('button', { name: 'Print this message' }).waitFor();
        await both(faults);
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        const paper = page.evaluate(() => getComputedStyle(document.documentElement).colorScheme);
        expect(await paper).toBe('light');
        await page.context().close();
      },
    );

    test('finds a name however its accents are written, by somebody who writes them in another way', async () => {
      await opened('eml');
      for (const typed of ['JOS\u00c9', 'Jose\u0301', 'ｊｏｓé']) {
        await page.getByLabel('Search').fill(typed);
        await page.getByText('1 message', { exact: true }).waitFor();
        expect(await messages().innerText()).toContain('Apple cake');
      }
      await page.context().close();
    });

    test('says in the preview of a phone, which runs no script, that it takes a computer', async () => {
      const folder = await opened('eml');
      await page.context().close();
      const preview = await browser.newContext({ viewport: { width: 390, height: 844 }, javaScriptEnabled: false });
      page = await preview.newPage();
      await page.goto(pathToFileURL(join(folder, 'index.html')).href);
      await page.getByText('On a phone or tablet, the list stays empty').waitFor();
      const readme = (await readFile(join(folder, 'README.txt'), 'utf8')).replaceAll(/\s+/g, ' ');
      expect(readme).toContain('It takes a computer: on phones and tablets its list stays empty.');
      await preview.close();
    });

    test("the browser's Back leads from a message to where one was in the list, and Forward to the message", async () => {
      await opened('eml');
      await page.getByRole('button', { name: 'Show more' }).click();
      const focused = page.locator('button.message:focus');
      expect(await focused.innerText(), 'the first that was not there').toContain('Letter 200');
      await focused.dblclick();
      const heading = page.getByRole('heading', { name: 'Letter 200' });
      await heading.waitFor();
      await page.goBack();
      await page.getByText('305 messages').waitFor();
      expect(await focused.innerText()).toContain('Letter 200');
      await page.goForward();
      await page.reload();
      await heading.waitFor();
      expect(await page.locator('#body').innerText()).toBe('Words of 200.\nAnd more.');
      await page.getByRole('button', { name: 'Back to the list' }).click();
      await page.getByText('305 messages').waitFor();
      await page.goBack();
      expect(page.url()).toBe('about:blank');
      await page.context().close();
    });

    test('of two messages that are pressed while the first is not there yet, the second is shown', async () => {
      await opened('eml');
      const letGo = await page.evaluateHandle(() => {
        const append = document.head.append.bind(document.head);
        const held: HTMLScriptElement[] = [];
        document.head.append = (script) =>
          held.length === 0 ? void held.push(script as HTMLScriptElement) : append(script);
        return async () => {
          append(...held);
          await new Promise((resolve) => held[0]?.addEventListener('load', resolve));
        };
      });
      // The text of one long word is in a file of its own.
      await page.getByLabel('Folder').selectOption('Recipes');
      await messages().filter({ hasText: 'One long word' }).click();
      await page.getByLabel('Folder').selectOption('');
      await messages().first().click();
      const subject = page.locator('#subject');
      await subject.waitFor();
      const shown = await subject.innerText();
      await letGo.evaluate((go) => go());
      expect(await subject.innerText()).toBe(shown);
      await page.goBack();
      await page.getByText('305 messages').waitFor();
      await page.context().close();
    });

    test('what is written from right to left is shown so', async () => {
      await opened('mbox');
      await page.getByLabel('Folder').selectOption('Recipes');
      await messages().first().click();
      await page.getByText('שלום,').waitFor();
      const directions = await page
        .locator('#subject, dd:not(.screen)')
        .evaluateAll((all) => all.map((each) => getComputedStyle(each).direction));
      expect(directions, 'subject, sender, date and folder').toEqual(['rtl', 'rtl', 'ltr', 'ltr']);
      const [word = 0, comma = 0] = await page.locator('#body pre').evaluate(({ firstChild }) =>
        [0, 4].map((at) => {
          const letters = document.createRange();
          letters.setStart(firstChild as Text, at);
          letters.setEnd(firstChild as Text, at + 1);
          return letters.getBoundingClientRect().x;
        }),
      );
      expect(comma).toBeLessThan(word);
      await page.context().close();
    });

    const unpacked = {
      'not unpacked': (file: string) => rm(file),
      // As when the disk got full.
      'unpacked in part': async (file: string) => truncate(file, (await stat(file)).size - 1000),
    };
    test.each(Object.entries(unpacked))('a message whose text was %s says so', async (_, damage) => {
      const folder = await opened('mbox');
      for (const block of [1, 2]) await damage(join(folder, `reader/part-1/text-${block}.js`));
      await messages().nth(2).click();
      const body = page.locator('#body');
      await body.waitFor({ timeout: 5000 });
      expect(await body.innerText()).toContain('The text of this message is not here.');
      await page.context().close();
    });

    test("somebody else's HTML runs nothing, loads nothing and leads nowhere", async () => {
      await opened('mbox');
      await messages().first().click();
      const inside = page.frameLocator('iframe[title="The message"]');
      await inside.getByRole('heading', { name: 'Dear reader' }).waitFor();
      // No policy holds their hints back, and this Chromium takes none; Firefox does.
      expect(await inside.locator('link, iframe').count()).toBe(0);
      const beside = inside.locator('html').evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth);
      expect(await beside, 'to the right of what is shown').toBe(0);
      const links = ['A drawing', 'An old drawing', 'A moving drawing', 'A link', 'A hidden link'];
      for (const link of links) await inside.getByText(link).click({ force: true });
      await inside.getByRole('heading', { name: 'Dear reader' }).waitFor();
      await inside.getByRole('button', { name: 'Win a prize' }).click({ force: true });
      await page.emulateMedia({ media: 'print' });
      expect(await page.getByRole('button', { name: 'Print this message' }).isVisible()).toBe(false);
      await page.emulateMedia({ media: 'screen', colorScheme: 'dark' });
      const scheme = page.locator('iframe').evaluate((frame) => getComputedStyle(frame).colorScheme);
      expect(await scheme, 'or its letters are white on white').toBe('light');
      expect(await page.title()).toBe('San Bruno: your mail');
      expect(asked).toEqual([]);
      expect(await page.getByRole('link', { name: 'Open this message' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Back to the list' }).click();
      await page.getByText('305 messages').waitFor();
      await page.context().close();
    });

    test('a letter of many sheets is printed by itself, with its sender; by the menu nothing of it is missing', async () => {
      await opened('eml');
      await messages().first().click();
      const letter = page.frameLocator('iframe[title="The message"]').locator('html');
      await letter.getByRole('heading', { name: 'Dear reader' }).waitFor();
      await letter.evaluate((element) => element.querySelector('body')?.append('A long letter. '.repeat(3_000)));
      // Nothing runs in the frame itself, so that only the page can listen.
      await page.evaluate(() => {
        const { contentWindow } = document.querySelector('iframe') ?? {};
        contentWindow?.addEventListener('beforeprint', () => (document.title = 'printed'));
      });
      await page.getByRole('button', { name: 'Print this message' }).click();
      await expect.poll(() => page.title()).toBe('printed');
      await page.emulateMedia({ media: 'print' });
      const sender = letter.locator('.on-paper').getByText('@', { exact: false }).first();
      expect(await sender.isVisible()).toBe(true);
      await page.setViewportSize({ width: 690, height: 900 });
      await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
      const { missing, width } = await letter.evaluate(({ scrollHeight, clientHeight, clientWidth }) => ({
        missing: scrollHeight - clientHeight,
        width: clientWidth,
      }));
      expect({ missing, width }).toEqual({ missing: 0, width: 640 });
      expect(await sender.isVisible(), 'once is enough').toBe(false);
      await page.context().close();
    });
  },
);
