import { describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { needs } from '../support/needs.ts';
import { COMPARING, FULL, movedTo, needing, RUNNING, STOPPED, WAITING } from './owned-transfer.ts';
import { type Owner, ownerAt } from './owner.ts';
import { portalInChromium } from './portal-in-chromium.ts';

const DONE = 'Your transfer is done';

describe('a status page that changes under its visitor, in Chromium (needs chromium)', needs('chromium'), () => {
  let owner: Owner;
  const { portal } = portalInChromium({ reducedMotion: 'reduce' }, (opened) => {
    owner = ownerAt(opened.page, portal.url, opened.wire);
  });

  /** The transfer stands in another way, and the page learns of it. */
  const becomes = async (status: TransferStatus) => {
    owner.wire.answer('/api/v2/status/', { json: status });
    await owner.page.evaluate(() => dispatchEvent(new Event('online')));
  };
  const heading = (name: string) => owner.page.getByRole('heading', { level: 1, name, exact: true });

  test('the focus goes to the heading when the button that had it is gone', async () => {
    await owner.show(RUNNING);
    await owner.button('Stop the transfer').focus();
    await becomes(movedTo('other'));
    await heading(DONE).waitFor();
    await expect.poll(owner.focused).toBe(DONE);
  });

  test('who has pressed beside the button is not moved by the focus when it is gone', async () => {
    await owner.show(RUNNING);
    await owner.button('Stop the transfer').focus();
    await owner.page.getByText('300 of 1,000 messages').click();
    await becomes(STOPPED);
    await owner.button('Copy what is new').waitFor();
    expect(await owner.page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
  });

  test('a password that was typed for one mailbox does not stay in the field for the other, which has the focus', async () => {
    await owner.open('Put it right', needing({ side: 'source', reason: 'password' }));
    await owner.field('San Bruno password').fill('garden-2006');
    await becomes(needing({ side: 'destination', reason: 'password' }));
    const field = owner.field('New mailbox password');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await field.inputValue()).toBe('');
  });

  test("a button that takes another's place takes no press meant for that one, and one that was there takes any", async () => {
    const animationOf = (name: string) =>
      owner.button(name).evaluate((element) => getComputedStyle(element).animationName);
    await owner.show(RUNNING);
    expect(await animationOf('Stop the transfer')).toBe('none');
    await becomes(STOPPED);
    await owner.button('Copy what is new').waitFor();
    expect(await animationOf('Copy what is new')).toBe('settle');
    await owner.button('Copy what is new').click();
    await owner.dialog.waitFor();
  });

  test('a dialog that is closed gives the focus to the heading when its opener is gone', async () => {
    await owner.open('Put it right', FULL);
    await becomes(RUNNING);
    await owner.dialog.getByText('This has been put right already.').waitFor();
    await owner.page.keyboard.press('Escape');
    await owner.dialog.waitFor({ state: 'detached' });
    await expect.poll(owner.focused).toBe('Your transfer');
  });

  test('what a transfer needs of its owner comes as an alert itself', async () => {
    await owner.show(RUNNING);
    const came = owner.page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          new MutationObserver((changes) => {
            const added = changes.flatMap(({ addedNodes }) => [...addedNodes]);
            const told = added.find((node) => node instanceof Element && node.role === 'alert');
            if (told !== undefined) resolve(told.textContent ?? '');
          }).observe(document, { childList: true, subtree: true });
        }),
    );
    await becomes(FULL);
    await owner.page.getByText('Make room there.').waitFor();
    expect(await came).toMatch(/^Your new mailbox is full.*Your mail is safe\..*Make room there\./);
  });

  /** The page has asked twice how the transfer stands, and was not told. */
  const becomesStale = async () => {
    owner.wire.answer('/api/v2/status/', { status: 502, json: { error: 'GENERAL_ERROR', message: '' } });
    const asked = () => owner.wire.askedFor('/api/v2/status/').length;
    const before = asked();
    for (const time of [1, 2]) {
      await owner.page.evaluate(() => dispatchEvent(new Event('online')));
      await expect.poll(asked).toBe(before + time);
    }
  };

  test('who looks at old numbers is told so in one line, until there are new ones', async () => {
    await owner.show(RUNNING);
    await becomesStale();
    const told = owner.page.getByRole('status').getByText(/^We can't update this page right now\. .* Last update: /);
    await told.waitFor();
    expect(await owner.page.getByText('This page updates by itself.').count()).toBe(0);
    await becomes({ ...RUNNING, emailmigration: { ...RUNNING.emailmigration, status: 'inprogress', done: 400 } });
    await owner.page.getByText('400 of 1,000 messages').waitFor();
    expect(await told.count()).toBe(0);
  });

  test('who looks at old news of what there is to do is not told that there is nothing to do', async () => {
    await owner.show(FULL);
    await becomesStale();
    await owner.page.getByText("We can't update this page right now.").waitFor();
    await owner.page.getByText('Make room there.').waitFor();
    expect(await owner.page.getByText("you don't have to do anything").count()).toBe(0);
  });

  test('a transfer that has ended meanwhile is not asked about any more whether to stop it', async () => {
    await owner.open('Stop the transfer', RUNNING);
    await becomes(movedTo('other'));
    await owner.page.getByRole('dialog', { name: 'This transfer has ended' }).waitFor();
    await owner.dialog.getByText('There is nothing left to stop. You can close this window.').waitFor();
    expect(await owner.inDialog('Stop it now').count()).toBe(0);
    await expect.poll(owner.focused).toBe('This transfer has ended');
    await owner.page.keyboard.press('Escape');
    await expect.poll(owner.focused).toBe(DONE);
  });

  test('what was stopped meanwhile is not said to have been put right', async () => {
    await owner.open('Put it right', FULL);
    await becomes(STOPPED);
    await owner.page.getByRole('dialog', { name: 'This transfer has ended' }).waitFor();
    await owner.dialog.getByText('There is nothing left to put right. You can close this window.').waitFor();
    await expect.poll(owner.focused).toBe('This transfer has ended');
  });

  test('nor is it said to have ended when only the permission to see all of it has', async () => {
    await owner.open('Stop the transfer', RUNNING);
    await becomes({ ...RUNNING, limited: true });
    await owner.button('Show more').waitFor({ state: 'attached' });
    expect(await owner.dialog.innerText()).not.toContain('ended');
    await owner.inDialog('Stop it now').waitFor();
  });

  test('what was refused for now is counted as done neither at the head nor in the folders', async () => {
    const refused = Array.from({ length: 8 }, () => ({ mailbox: 'Garden', reason: 'It was not accepted.' }));
    const folders = [
      { name: 'INBOX', done: 40, total: 40 },
      { name: 'Garden', done: 12, total: 20 },
    ];
    const counts = { done: 60, total: 60, copied: 52, bytes: 900, skipped: refused, folders };
    const head = owner.page.locator('.status-count');
    for (const { emailmigration: mail, ...rest } of [WAITING, FULL, RUNNING]) {
      await owner.show({ ...rest, emailmigration: { status: 'inprogress', ...mail, ...counts } });
      expect(await head.innerText()).toMatch(/^52 of 60 messages\s+86%$/);
    }
    const compared = { ...COMPARING.emailmigration, status: 'inprogress', ...counts, compared: 20 };
    await owner.show({ emailmigration: compared });
    expect(await head.innerText()).toBe('Checking what arrived: 20 of 52');
  });
});
