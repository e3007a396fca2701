import { describe, expect, test } from 'vitest';
import { needs } from '../support/needs.ts';
import { SUBSCRIBER, TRANSFER_ID } from '../support/portal-alone.ts';
import { movedTo, NEEDS_CONSENT, NEEDS_PERMISSION } from './owned-transfer.ts';
import { call, NEW_ID, OK, type Owner, ownerAt, STATUS } from './owner.ts';
import { portalInChromium } from './portal-in-chromium.ts';

const TOKEN = 'a'.repeat(43);
const BACK = `/oauth-callback?${new URLSearchParams({ token_id: TOKEN, email: 'maria@gmail.com', provider: 'google' }).toString()}`;

describe('a sign-in for a transfer that was ordered, in Chromium (needs chromium)', needs('chromium'), () => {
  let owner: Owner;
  const { portal } = portalInChromium({ reducedMotion: 'reduce' }, (opened) => {
    owner = ownerAt(opened.page, portal.url, opened.wire);
  });

  test('a new sign-in at the provider comes back to this transfer and puts it right', async () => {
    await owner.open('Put it right', NEEDS_CONSENT);
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    expect(owner.page.url()).toBe(`${portal.url}/api/oauth/?provider=google`);
    owner.wire.answer(call('resume'), OK);
    await owner.page.goto(`${portal.url}${BACK}`);
    await owner.page.getByText('We are trying again now').waitFor();
    expect(owner.page.url()).toBe(`${portal.url}${STATUS}`);
    expect(owner.wire.askedFor(call('resume')).map(({ body }) => body)).toEqual([
      { job_id: TRANSFER_ID, token_id: TOKEN },
    ]);
    expect(await owner.page.evaluate(() => JSON.stringify(sessionStorage))).not.toContain(TOKEN);
  });

  test('contacts that were not permitted are told as that, and are allowed by a button and a sign-in', async () => {
    await owner.show(NEEDS_PERMISSION);
    const need = owner.page.getByRole('alert').filter({ hasText: 'Your contacts need your permission' });
    await need.getByText('because AOL did not let us. Your mail is not affected.').waitFor();
    expect(await owner.button('Put it right').count()).toBe(0);
    await owner.button('Allow contacts').click();
    await owner.dialog.getByRole('heading', { name: 'Allow contacts' }).waitFor();
    await owner.inDialog('Sign in to AOL').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    owner.wire.answer(call('resume'), OK);
    await owner.page.goto(`${portal.url}${BACK.replace('google', 'aol')}`);
    await owner.page.getByText('We are trying again now').waitFor();
    expect(owner.wire.askedFor(call('resume')).map(({ body }) => body)).toEqual([
      { job_id: TRANSFER_ID, token_id: TOKEN },
    ]);
  });

  test('a sign-in to another mailbox is refused, and offered again in its dialog', async () => {
    await owner.open('Put it right', NEEDS_CONSENT);
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    owner.wire.answer(call('resume'), { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } });
    await owner.page.goto(`${portal.url}${BACK}`);
    await owner.dialog.getByRole('alert').getByText('check that it is the same mailbox').waitFor();
    await owner.inDialog('Sign in to Gmail').waitFor();
    expect(owner.wire.askedFor(call('resume'))).toHaveLength(1);
  });

  test('a sign-in that is refused when it is tried again leaves the focus in its dialog', async () => {
    await owner.open('Put it right', NEEDS_CONSENT);
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    owner.wire.answer(call('resume'), { status: 502, json: { error: 'GENERAL_ERROR', message: '' } });
    await owner.page.goto(`${portal.url}${BACK}`);
    await owner.dialog.getByRole('alert').waitFor();
    owner.wire.answer(call('resume'), { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } });
    await owner.inDialog('Try again now').click();
    await owner.inDialog('Sign in to Gmail').waitFor();
    const title = owner.dialog.getByRole('heading', { level: 2 });
    await expect.poll(() => title.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  test('a sign-in that was given up comes back to the dialog that it was begun in', async () => {
    await owner.open('Put it right', NEEDS_CONSENT);
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    await owner.page.goto(`${portal.url}/oauth-callback?error=EXTERNAL_OAUTH_ERROR&provider=google`);
    await owner.dialog.getByRole('alert').getByText('Authentication error', { exact: true }).waitFor();
    expect(owner.wire.askedFor(call('resume'))).toEqual([]);
  });

  test('Back from the provider shows the transfer, and its return is not taken any more', async () => {
    await owner.open('Put it right', NEEDS_CONSENT);
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    await owner.page.goBack();
    await owner.button('Put it right').waitFor();
    await owner.page.goto(`${portal.url}${BACK}`);
    await owner.page.getByRole('button', { name: 'Start', exact: true }).waitFor();
    expect(owner.wire.askedFor(call('resume'))).toEqual([]);
  });

  test('a San Bruno password that is refused is typed again, and the sign-in at the provider still stands', async () => {
    await owner.open('Copy what is new', movedTo('google'));
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    owner.wire.answer(call('again'), {
      status: 401,
      json: { error: 'INVALID_CREDENTIALS', message: '', side: 'source' },
    });
    await owner.page.goto(`${portal.url}${BACK}`);
    const field = owner.field('San Bruno password');
    await field.fill('wrong');
    await owner.inDialog('Start copying').click();
    await owner.dialog.getByRole('alert').getByText('Incorrect San Bruno password').waitFor();
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await field.inputValue()).toBe('');

    owner.wire.answer(call('again'), {
      status: 401,
      json: { error: 'INVALID_CREDENTIALS', message: '', side: 'destination' },
    });
    await field.fill(SUBSCRIBER.password);
    await owner.page.keyboard.press('Enter');
    await owner.inDialog('Sign in to Gmail').waitFor();
    const title = owner.dialog.getByRole('heading', { level: 2 });
    await expect.poll(() => title.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(owner.wire.askedFor(call('again')).map(({ body }) => body)).toMatchObject([
      { source_account: { password: 'wrong' }, destination_account: { token_id: TOKEN } },
      { source_account: { password: SUBSCRIBER.password }, destination_account: { token_id: TOKEN } },
    ]);
  });

  test('what is new is copied to Gmail after a sign-in there and the San Bruno password', async () => {
    await owner.open('Copy what is new', movedTo('google'));
    expect(await owner.dialog.getByLabel('San Bruno password').count()).toBe(0);
    await owner.inDialog('Sign in to Gmail').click();
    await owner.page.getByRole('heading', { name: 'A provider' }).waitFor();
    owner.wire.answer(call('again'), { json: { jobid: NEW_ID } });
    await owner.page.goto(`${portal.url}${BACK}`);
    await owner.field('San Bruno password').fill(SUBSCRIBER.password);
    await owner.inDialog('Start copying').click();
    await owner.page.waitForURL(`**/status?migration_id=${NEW_ID}`);
    expect(owner.wire.askedFor(call('again')).map(({ body }) => body)).toEqual([
      {
        job_id: TRANSFER_ID,
        source_account: { password: SUBSCRIBER.password },
        destination_account: { token_id: TOKEN },
      },
    ]);
  });
});
