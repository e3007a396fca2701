import type { Locator } from 'playwright';
import { describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { needs } from '../support/needs.ts';
import {
  DAILY,
  FORWARDED,
  FULL,
  movedTo,
  NEEDS_CONSENT,
  NEEDS_PASSWORD,
  needing,
  RUNNING,
  STOPPED,
} from './owned-transfer.ts';
import { call, type Owner, ownerAt } from './owner.ts';
import { portalInChromium } from './portal-in-chromium.ts';

const FROM = 'maria.keller@sanbrunocable.example';
const TO = 'maria@mail.example';
/** As long as a mailbox's name may be, and without a place to break. */
const LONG = `${'m'.repeat(64)}@${'mail'.repeat(12)}.example`;
const OWN = { from: FROM, to: TO };
const REFUSED = { error: 'INVALID_CREDENTIALS', message: '' };
const TAKEN_BACK: TransferStatus = {
  ...movedTo('other'),
  emailmigration: { ...movedTo('other').emailmigration, status: 'completed', taken_back: 12 },
};

/** The parts of the address that is shown there, and how many lines each takes. */
const halves = (place: Locator) =>
  place.locator('.address').evaluate((address) => {
    const texts = document.createTreeWalker(address, NodeFilter.SHOW_TEXT);
    const found: { text: string; lines: number }[] = [];
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      const range = document.createRange();
      range.selectNodeContents(text);
      found.push({ text: text.textContent ?? '', lines: range.getClientRects().length });
    }
    return found;
  });

describe('which mailboxes are meant, in Chromium (needs chromium)', needs('chromium'), () => {
  let owner: Owner;
  const { portal } = portalInChromium({ reducedMotion: 'reduce' }, (opened) => {
    owner = ownerAt(opened.page, portal.url, opened.wire);
  });
  const main = () => owner.page.getByRole('main');
  const isWide = () => owner.page.evaluate(() => document.documentElement.scrollWidth > innerWidth);
  const isDialogWide = () => owner.dialog.evaluate((element) => element.scrollWidth > element.clientWidth);

  test.each<[string, TransferStatus]>([
    ['runs', RUNNING],
    ['rests', FULL],
    ['was stopped', STOPPED],
    ['is done', movedTo('other')],
    ['was taken back', TAKEN_BACK],
  ])('the owner of a transfer that %s is shown from where to where it goes', async (_, status) => {
    await owner.show({ ...status, route: OWN });
    expect(await main().locator('.route dd').allInnerTexts()).toEqual([FROM, 'San Bruno', TO]);
  });

  test('the owner of a download that runs is shown whose it is', async () => {
    await owner.show({ ...RUNNING, files: 'coming', route: { from: FROM } });
    expect(await main().locator('.route dd').allInnerTexts()).toEqual([FROM, 'San Bruno', 'Files for download']);
  });

  test('who has shown nothing is shown no address', async () => {
    await owner.show({ ...RUNNING, limited: true });
    expect(await main().locator('.route').count()).toBe(0);
  });

  test.each<[string, TransferStatus, readonly string[]]>([
    ['Put it right', NEEDS_PASSWORD, [`Your San Bruno mailbox: ${FROM}`]],
    ['Put it right', needing({ side: 'destination', reason: 'password' }), [`Your new mailbox: ${TO}`]],
    ['Put it right', NEEDS_CONSENT, [`Your new mailbox: ${TO}`]],
    ['Put it right', FULL, [`Your new mailbox: ${TO}`]],
    ['Copy what is new', STOPPED, [`Your San Bruno mailbox: ${FROM}`, `Your new mailbox: ${TO}`]],
    ['Copy what is new', movedTo('google'), [`Your new mailbox: ${TO}`]],
    ['Bring new mail once a day', DAILY, [`Your San Bruno mailbox: ${FROM}`, `Your new mailbox: ${TO}`]],
    ['Stop forwarding', FORWARDED, [`Your San Bruno mailbox: ${FROM}`]],
  ])('"%s" names the mailbox that is to be signed in to', async (button, status, named) => {
    await owner.open(button, { ...status, route: OWN });
    expect(await owner.dialog.getByText(/^Your (?:San Bruno|new) mailbox: /).allInnerTexts()).toEqual(named);
  });

  test.each<[string, TransferStatus, string, string | undefined, string]>([
    ['Put it right', NEEDS_PASSWORD, 'resume', undefined, `Your San Bruno mailbox: ${FROM}`],
    ['Copy what is new', STOPPED, 'again', 'destination', `Your new mailbox: ${TO}`],
    ['Copy what is new', STOPPED, 'again', 'source', `Your San Bruno mailbox: ${FROM}`],
  ])('"%s" says after a refused sign-in which mailbox it has to be', async (button, status, name, side, named) => {
    owner.wire.answer(call(name), { status: 401, json: { ...REFUSED, ...(side === undefined ? {} : { side }) } });
    await owner.open(button, { ...status, route: OWN });
    for (const field of await owner.dialog.locator('input').all()) await field.fill('wrong');
    await owner.page.keyboard.press('Enter');
    await expect.poll(() => owner.dialog.getByRole('alert').innerText()).toContain(named);
  });

  test.each([320, 360])('addresses of any length stay on a page of %i px', async (width) => {
    await owner.page.setViewportSize({ width, height: 740 });
    const route = { from: LONG, to: LONG };
    await owner.show({ ...FULL, route });
    expect(await isWide()).toBe(false);
    await owner.open('Copy what is new', { ...STOPPED, route });
    owner.wire.answer(call('again'), { status: 401, json: { ...REFUSED, side: 'destination' } });
    for (const field of await owner.dialog.locator('input').all()) await field.fill('wrong');
    await owner.page.keyboard.press('Enter');
    await owner.dialog.getByRole('alert').getByText(LONG).waitFor();
    expect(await isDialogWide()).toBe(false);
    expect(await isWide()).toBe(false);
  });

  test('on a phone the mailbox that a password is asked of breaks after its "@", and in no other place', async () => {
    const wanted = FROM.split(/(?<=@)/).map((text) => ({ text, lines: 1 }));
    await owner.page.setViewportSize({ width: 360, height: 740 });
    owner.wire.answer(call('resume'), { status: 401, json: REFUSED });
    await owner.open('Put it right', { ...NEEDS_PASSWORD, route: OWN });
    expect(await halves(owner.dialog.locator('.field-help'))).toEqual(wanted);
    await owner.dialog.locator('input').fill('wrong');
    await owner.page.keyboard.press('Enter');
    expect(await halves(owner.dialog.getByRole('alert'))).toEqual(wanted);

    const short = 'maria@sanbruno.example';
    await owner.open('Put it right', { ...NEEDS_PASSWORD, route: { from: short, to: TO } });
    await owner.dialog.locator('input').fill('wrong');
    await owner.page.keyboard.press('Enter');
    expect(await halves(owner.dialog.getByRole('alert'))).toEqual([{ text: short, lines: 1 }]);
  });

  test('on paper a page that is done has its addresses once', async () => {
    await owner.show({ ...movedTo('other'), route: OWN });
    await owner.page.emulateMedia({ media: 'print' });
    expect(await main().getByText(TO).count()).toBe(1);
    expect(await main().locator('.printed').getAttribute('data-said')).toMatch(/^Date: /);
  });

  test('on paper the guide has its addresses as well', async () => {
    await owner.show({ ...movedTo('yahoo'), route: OWN });
    await owner.button('Set up your phone and computer').click();
    await owner.page.getByRole('heading', { level: 1, name: 'Set up Yahoo Mail on your phone and computer' }).waitFor();
    expect(await main().locator('.printed').getAttribute('data-said')).toMatch(/^From: .*\nTo: .*\nDate: /);
  });
});
