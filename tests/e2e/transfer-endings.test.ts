import { describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { needs } from '../support/needs.ts';
import { TRANSFER_ID } from '../support/portal-alone.ts';
import { DAILY, DAILY_ON, FAILED, movedTo, STOPPED, TAKEN_BACK } from './owned-transfer.ts';
import { type Owner, ownerAt } from './owner.ts';
import { portalInChromium } from './portal-in-chromium.ts';

describe(
  'what can be done with a transfer by how it has ended, in Chromium (needs chromium)',
  needs('chromium'),
  () => {
    let owner: Owner;
    const { portal } = portalInChromium({ reducedMotion: 'reduce' }, (opened) => {
      owner = ownerAt(opened.page, portal.url, opened.wire);
    });

    test.each<[string, TransferStatus, string]>([
      ['was stopped', STOPPED, 'To go on where it stopped'],
      ['has failed', FAILED, 'To go on where it stopped'],
      ['was taken back', TAKEN_BACK, 'To copy them again'],
      ['brought nothing, and an earlier one was taken back', { ...DAILY, brings_back: true }, 'To copy them again'],
    ])('a transfer that %s leads to the button by which it is copied again', async (_, status, lead) => {
      await owner.show(status);
      await owner.page.getByText(`${lead}, press “Copy what is new”.`).waitFor();
      expect(await owner.button('Bring new mail once a day').count()).toBe(0);
      expect(await owner.page.getByRole('heading', { level: 1 }).innerText()).toBe('Your transfer');
      await owner.button('Copy what is new').click();
      const text = await owner.dialog.innerText();
      expect(text.includes('We copy again what was taken back')).toBe(status.brings_back === true);
      expect(text.includes('We go on where it stopped')).toBe(status.brings_back !== true);
    });

    test('a completed transfer is not told to go on', async () => {
      await owner.show(movedTo('other'));
      await owner.button('Copy what is new').waitFor();
      expect(await owner.page.getByText('press “Copy what is new”').count()).toBe(0);
    });

    test('a transfer leads to the one before it that can be taken back, and Back leads here again', async () => {
      const earlier = 'e'.repeat(32);
      await owner.show({ ...movedTo('other'), earlier });
      await owner.page.getByRole('link', { name: 'open the transfer before this one' }).click();
      await owner.page.getByText(earlier).waitFor();
      expect(owner.page.url()).toContain(`/status?migration_id=${earlier}`);
      await owner.page.goBack();
      await owner.page.getByText(TRANSFER_ID).waitFor();
    });

    test('a failed download leads to a new one', async () => {
      await owner.show({ ...FAILED, emailmigration: { ...FAILED.emailmigration, status: 'error' }, files: 'coming' });
      await owner.page.getByText('Your export was interrupted').waitFor();
      expect(await owner.page.getByText('copied twice').count()).toBe(0);
      await owner.page.getByRole('link', { name: 'Start a new download' }).click();
      await owner.page.getByRole('heading', { level: 1, name: 'San Bruno Email Data Transfer Tool' }).waitFor();
    });

    test('the take back says that new mail is not brought any more, where it is', async () => {
      await owner.open('Take back what was copied', DAILY_ON);
      await owner.dialog.getByText('We also stop bringing new mail once a day.').waitFor();
      await owner.open('Take back what was copied', DAILY);
      expect(await owner.dialog.getByText('once a day').count()).toBe(0);
    });

    test('of a transfer that is about to begin nothing is said to go on', async () => {
      await owner.show({ emailmigration: { status: 'started', done: 0 }, destination: 'other' });
      await owner.page.getByText('Nothing yet. We begin in a moment.').waitFor();
      expect(await owner.page.getByText(/Counting|We are copying/).count()).toBe(0);
    });
  },
);
