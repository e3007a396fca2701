import type { Page } from 'playwright';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { builtPortal, SUBSCRIBER, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { chooseOther, lookUpTransfer, signIn, startTransfer } from './steps.ts';

/** What a script can't find in Safari 15.4, the first with `<dialog>` and `@layer`: the last one of iPads that get no newer system is little younger. */
const LACKING: Readonly<Record<string, readonly string[]>> = {
  AbortSignal: ['any', 'timeout'],
  'Array.prototype': ['toSorted', 'toReversed', 'toSpliced', 'with', 'findLast', 'findLastIndex'],
  Array: ['fromAsync'],
  'Document.prototype': ['startViewTransition'],
  'Iterator.prototype': ['map', 'filter', 'find', 'some', 'every', 'toArray', 'reduce', 'forEach', 'take', 'drop'],
  Map: ['groupBy'],
  Object: ['groupBy'],
  Promise: ['try', 'withResolvers'],
  'Response.prototype': ['bytes'],
  'Set.prototype': ['union', 'intersection', 'difference', 'isSubsetOf', 'isSupersetOf', 'isDisjointFrom'],
  'String.prototype': ['isWellFormed', 'toWellFormed'],
  URL: ['canParse', 'parse'],
};

/** The older ones would not read a script with these at all: blocks of a class, and a look behind in an expression. */
const UNREADABLE = /\bstatic\s*\{|\(\?<[=!]/;

describe('in a browser of 2022, by what it lacks, in Chromium (needs chromium)', needs('chromium'), () => {
  let page: Page;
  let wire: Wire;
  let failed: string[];
  const { portal, arrive } = portalInChromium({}, async (opened) => {
    ({ page, wire } = opened);
    failed = [];
    page.on('pageerror', ({ message }) => failed.push(message));
    await page.addInitScript((lacking) => {
      for (const [path, names] of Object.entries(lacking)) {
        const holder: unknown = path
          .split('.')
          .reduce<unknown>((in_, name) => Reflect.get(Object(in_), name), globalThis);
        for (const name of names) Reflect.deleteProperty(Object(holder), name);
      }
    }, LACKING);
  });

  test('a transfer is begun', async () => {
    await page.goto(portal.url);
    await signIn(page, SUBSCRIBER);
    await page.waitForURL('**/destination-account');
    await chooseOther(page, { email: 'walter@mail.example', password: 'sandbox' });
    expect(await startTransfer(page, 'maria@mail.example', 'Transfer')).toBe(TRANSFER_ID);
    expect(failed).toEqual([]);
  });

  test('a transfer is looked up', async () => {
    await arrive('/');
    await lookUpTransfer(page, TRANSFER_ID);
    await page.getByText('3 of 12 messages').waitFor();
    expect(failed).toEqual([]);
  });

  test('"Your transfers" are listed, the newest first', async () => {
    wire.answer('/api/jobs-by-email/', {
      json: { ['f'.repeat(32)]: '2025-11-01T10:00:00.000Z', [TRANSFER_ID]: '2025-11-02T10:00:00.000Z' },
    });
    await arrive(`/oauth-callback-for-status?token_id=${TRANSFER_ID}&email=maria@gmail.com&provider=google&hash=abc`);
    await page.waitForURL('**/status-from-email');
    await page.getByRole('main').getByRole('listitem').first().getByText('November 2, 2025').first().waitFor();
    expect(failed).toEqual([]);
  });

  test('no script is written so that it could not be read', async () => {
    const folder = join(await builtPortal(), 'assets');
    const scripts = (await readdir(folder)).filter((name) => name.endsWith('.js'));
    const texts = await Promise.all(scripts.map((name) => readFile(join(folder, name), 'utf8')));
    expect(scripts.filter((_, at) => UNREADABLE.test(texts[at] ?? ''))).toEqual([]);
  });
});
