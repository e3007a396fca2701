import type { Browser, Page } from 'playwright';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Facts } from '../../src/server/receipt/facts.ts';
import { receiptKey } from '../../src/server/receipt/signing.ts';
import { writeReceipt } from '../../src/server/receipt/write-receipt.ts';
import { openBrowser } from '../support/browser.ts';
import type { Statement } from '../../src/server/store/database.ts';
import { needs } from '../support/needs.ts';

const MESSAGE = {
  uid: 1,
  date: Date.UTC(2018, 1, 8) / 1000,
  subject: 'Das Rezept für den Apfelkuchen',
  size: 1_234_567,
  sha256: 'dc21c301'.repeat(8),
  fate: 'stored',
  earlier: false,
  removal: null,
  reason: null,
  verified: true,
};
/** Messages of one folder, and no contacts. */
const items = (messages: readonly object[], folder: string) => {
  const answer = (text: string): readonly object[] => {
    if (text.includes('from ledger_mailboxes')) return [{ id: 1, folder }];
    if (text.includes('from transfers')) return [{}];
    return text.includes('from ledger ') ? messages : [];
  };
  return {
    query: async <Row>(text: string) => answer(text) as Row[],
    commit: async (statements: readonly Statement[]) => statements.map(({ text }) => answer(text)),
  };
};
const SIGNING = { key: receiptKey(new Uint8Array(32)), keyAddress: 'https://transfer.example/key.pem' };
const FACTS: Facts = {
  transfer: '0123456789abcdef'.repeat(2),
  from: `${'m'.repeat(64)}@sanbrunocable.example (San Bruno)`,
  to: 'maria.keller@sanbrunocable.example (Yahoo)',
  ordered: '2025-11-01T09:00:00.000Z',
  ended: '2025-11-01T10:00:00.000Z',
  operations: [],
  compared: 12_000,
  copied: 12_000,
  octets: 4_902_118_007,
  taken_back: 11_000,
};

describe('the page of a receipt, in Chromium (needs chromium)', needs('chromium'), () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await openBrowser();
    page = await browser.newPage({ viewport: { width: 360, height: 640 } });
  });
  afterAll(() => browser?.close());

  test('says on a phone how many were taken back, and breaks no word of a label', async () => {
    await show();
    await page.getByRole('row', { name: 'Of these, taken back 11,000' }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await brokenWords('th[scope=row]')).toEqual([]);
    const address = page.getByRole('row', { name: 'To' }).getByRole('cell');
    expect((await address.innerHTML()).startsWith('maria.keller@<wbr>')).toBe(true);
  });

  test('breaks no address nor the transfer ID where it need not on a small phone', async () => {
    await page.setViewportSize({ width: 320, height: 640 });
    await show();
    expect(await brokenWords('tr:is(:nth-child(2), :nth-child(3)) td')).toEqual([]);
    await page.setViewportSize({ width: 360, height: 640 });
  });

  test.each([
    ['a phone', 'screen', 360],
    ['paper', 'print', 720],
  ] as const)('breaks no date, number or fate of its list on %s', async (_, media, width) => {
    await page.emulateMedia({ media });
    await page.setViewportSize({ width, height: 640 });
    await show();
    expect((await page.locator('.list td').allInnerTexts()).slice(3, 5)).toEqual(['1,234,567', 'Copied']);
    expect(await brokenWords('.list td:not(:has(bdi)), .list bdi')).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  test('of 400 messages that were not copied takes fourteen sheets', async () => {
    const skipped = { ...MESSAGE, fate: 'refused', reason: 'too large' };
    await show(Array.from({ length: 400 }, (_, uid) => ({ ...skipped, uid })));
    const paper = await page.pdf({ format: 'A4' });
    expect([...paper.toString('latin1').matchAll(/\/Type \/Page\b/g)].length).toBeLessThanOrEqual(14);
  });

  test('shows what is written from right to left so, and keeps its marks from what stands beside it', async () => {
    await show([{ ...MESSAGE, subject: 'invoice \u202Efdp.exe' }], 'משפחה (2019)');
    expect(await x('.list bdi', 7)).toBeLessThan(await x('.list bdi', 0));
    expect(await x('.list .digest', 0)).toBeLessThan(await x('.list .digest', 1));
  });

  test.each([648, 768, 1024])('breaks no word of a folder, nor a date, on a screen of %i px', async (width) => {
    await page.emulateMedia({ media: 'screen' });
    await page.setViewportSize({ width, height: 640 });
    const subject = 'Re: Fwd: What we said about the house, the garden, the bridge and all the rest of it in 2018';
    await show(
      [
        { ...MESSAGE, subject },
        { ...MESSAGE, uid: 2, fate: 'refused', reason: 'too large' },
      ],
      'Customers/Correspondence with the insurance',
    );
    expect(await brokenWords('.list td:first-child bdi', String.raw`[^\s/]+`)).toEqual([]);
    expect(await brokenWords('.list td:nth-child(2)', '.+')).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  });

  /** Where a letter of the first that fits begins. */
  function x(selector: string, at: number): Promise<number> {
    return page
      .locator(selector)
      .first()
      .evaluate((element, from) => {
        const letter = document.createRange();
        letter.setStart(element.firstChild as Text, from);
        letter.setEnd(element.firstChild as Text, from + 1);
        return letter.getBoundingClientRect().x;
      }, at);
  }

  async function show(messages: readonly object[] = [MESSAGE], folder = 'INBOX'): Promise<void> {
    let html = '';
    for await (const part of writeReceipt('html', items(messages, folder), FACTS, SIGNING)) html += part;
    await page.setContent(html);
  }

  const brokenWords = (selector: string, word = String.raw`\S+`): Promise<string[]> =>
    page.locator(selector).evaluateAll(
      (all, pattern) =>
        all
          .flatMap((each) => [...each.childNodes])
          .flatMap((text) =>
            [...(text.textContent ?? '').matchAll(new RegExp(pattern, 'g'))].filter(({ 0: found, index }) => {
              const range = document.createRange();
              range.setStart(text, index);
              range.setEnd(text, index + found.length);
              return range.getClientRects().length > 1;
            }),
          )
          .map(([text]) => text),
      word,
    );
});
