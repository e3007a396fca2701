import { describe, expect, test } from 'vitest';
import type { TransferStatus } from '../../src/contract/calls/status.ts';
import { call, NEW_ID, OK, type Owner, ownerAt, STATUS } from './owner.ts';
import { sampleOf } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { enter, SUBSCRIBER, TRANSFER_ID } from '../support/portal-alone.ts';
import {
  COMPARING,
  DAILY,
  DAILY_ON,
  FORWARDED,
  FULL,
  movedTo,
  NEEDS_PASSWORD,
  needing,
  RUNNING,
  STOPPED,
  WAITING,
} from './owned-transfer.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { isInSight } from './sight.ts';

const MOVED = movedTo('other');
const PHONE = { width: 360, height: 640 };
const DESK = { width: 1280, height: 720 };

/** A button of the status page, what its dialog asks, and what is sent in the end. */
type Walk = {
  readonly button: string;
  readonly status: TransferStatus;
  /** The fields of the dialog, each with what is typed there. */
  readonly fields: Readonly<Record<string, string>>;
  readonly confirm: string;
  readonly path: string;
  readonly sent: object;
  /** What the page says when it is done. */
  readonly said: string;
  readonly refused: string;
};

/** Every second one: each kind of dialog, and each refusal. */
const WALKS: readonly Walk[] = [
  {
    button: 'Stop the transfer',
    status: RUNNING,
    fields: {},
    confirm: 'Stop it now',
    path: call('cancel'),
    sent: {},
    said: 'Your transfer is stopped',
    refused: 'Something went wrong',
  },
  {
    button: 'Put it right',
    status: FULL,
    fields: {},
    confirm: 'Try again now',
    path: call('resume'),
    sent: { side: 'destination' },
    said: 'We are trying again now',
    refused: 'Something went wrong',
  },
  {
    button: 'Put it right',
    status: NEEDS_PASSWORD,
    fields: { 'San Bruno password': 'new-secret' },
    confirm: 'Carry on',
    path: call('resume'),
    sent: { side: 'source', password: 'new-secret' },
    said: 'We are trying again now',
    refused: 'Something went wrong',
  },
  {
    button: 'Stop bringing new mail',
    status: DAILY_ON,
    fields: {},
    confirm: 'Turn it off',
    path: call('daily-off'),
    sent: {},
    said: 'We no longer bring new mail',
    refused: 'Something went wrong',
  },
  {
    button: 'Take back what was copied',
    status: STOPPED,
    fields: {},
    confirm: 'Take it back',
    path: call('take-back'),
    sent: {},
    said: 'We are taking your messages back',
    refused: 'Something went wrong',
  },
  {
    button: 'Copy what is new',
    status: MOVED,
    fields: { 'San Bruno password': SUBSCRIBER.password, 'New mailbox password': 'sandbox' },
    confirm: 'Start copying',
    path: call('again'),
    sent: { source_account: { password: SUBSCRIBER.password }, destination_account: { password: 'sandbox' } },
    said: NEW_ID,
    refused: 'Something went wrong',
  },
  {
    button: 'Stop forwarding',
    status: FORWARDED,
    fields: { 'San Bruno password': SUBSCRIBER.password },
    confirm: 'Turn it off',
    path: call('forwarding-off'),
    sent: { password: SUBSCRIBER.password },
    said: 'Forwarding is off',
    refused: 'Forwarding may still be on',
  },
  {
    button: 'Bring new mail once a day',
    status: DAILY,
    fields: { 'San Bruno password': SUBSCRIBER.password, 'New mailbox password': 'sandbox' },
    confirm: 'Turn it on',
    path: call('again'),
    sent: {
      source_account: { password: SUBSCRIBER.password },
      destination_account: { password: 'sandbox' },
      daily: true,
    },
    said: NEW_ID,
    refused: 'Something went wrong',
  },
];

describe('the life of a transfer, in Chromium (needs chromium)', needs('chromium'), () => {
  let owner: Owner;
  const { portal } = portalInChromium({ reducedMotion: 'reduce' }, (opened) => {
    owner = ownerAt(opened.page, portal.url, opened.wire);
  });

  const fill = async ({ fields }: Walk) => {
    for (const [label, text] of Object.entries(fields)) await owner.field(label).fill(text);
  };

  test.each(sampleOf(WALKS, 2))(
    '"$button" ("$confirm") asks, is given up by Escape, and is done once by its button',
    { tags: 'sampled' },
    async (walk) => {
      owner.wire.answer(walk.path, walk.said === NEW_ID ? { json: { jobid: NEW_ID } } : OK);
      await owner.open(walk.button, walk.status);
      const [first] = Object.keys(walk.fields);
      const goal = first === undefined ? owner.dialog.getByRole('heading', { level: 2 }) : owner.field(first);
      await expect.poll(() => goal.evaluate((element) => element === document.activeElement)).toBe(true);
      await owner.page.keyboard.press('Escape');
      await owner.dialog.waitFor({ state: 'detached' });
      await expect.poll(owner.focused).toBe(walk.button);

      await owner.page.keyboard.press('Enter');
      await owner.dialog.waitFor();
      await fill(walk);
      expect(owner.wire.askedFor(walk.path)).toEqual([]);
      await owner.inDialog(walk.confirm).click();
      await owner.page.getByText(walk.said).first().waitFor();
      await owner.dialog.waitFor({ state: 'detached' });
      expect(owner.wire.askedFor(walk.path).map(({ body }) => body)).toEqual([{ job_id: TRANSFER_ID, ...walk.sent }]);
      await expect.poll(owner.focused).toMatch(/^Your transfer/);
    },
  );

  /** Presses a dialog's button twice, on a small phone; each refusal and what is to be typed anew are seen. */
  const isRefusedTwice = async ({ path, confirm }: Walk, fields: Walk['fields']) => {
    const [first] = Object.keys(fields);
    const goal = first === undefined ? owner.inDialog(confirm) : owner.field(first);
    const before = owner.wire.askedFor(path).length;
    for (const time of [1, 2]) {
      for (const [label, text] of Object.entries(fields)) await owner.field(label).fill(text);
      await owner.inDialog(confirm).click();
      await expect.poll(() => owner.wire.askedFor(path).length).toBe(before + time);
      await expect.poll(() => isInSight(owner.dialog.getByRole('alert'))).toBe(true);
      await expect.poll(() => goal.evaluate((element) => element === document.activeElement)).toBe(true);
      expect(await isInSight(goal)).toBe(true);
    }
  };
  const withoutPassword = async (walk: Walk) => {
    const [first] = Object.keys(walk.fields);
    if (first === undefined) return;
    await owner.inDialog(walk.confirm).click();
    await owner.dialog.getByText('Invalid password. Please try again.').waitFor();
    const field = owner.field(first);
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await expect.poll(() => owner.page.title()).toMatch(/^Error: /);
    expect(await isInSight(owner.dialog.getByText('Invalid password. Please try again.'))).toBe(true);
    expect(owner.wire.askedFor(walk.path)).toEqual([]);
  };

  test('what was refused is not under the button that closes, with letters twice as large', async () => {
    await owner.page.setViewportSize({ width: 360, height: 740 });
    await owner.open('Stop the transfer', RUNNING);
    await owner.page.evaluate(() => (document.documentElement.style.fontSize = '225%'));
    owner.wire.answer(call('cancel'), { status: 502, json: { error: 'GENERAL_ERROR', message: '' } });
    await owner.inDialog('Stop it now').click();
    await owner.dialog.getByText('Please see on this page how your transfer stands.').waitFor();
    const [refusal, close] = [owner.dialog.getByRole('alert'), owner.inDialog('Close')];
    const below = async () => ((await refusal.boundingBox())?.y ?? 0) - ((await close.boundingBox())?.y ?? 0);
    const { height = Infinity } = (await close.boundingBox()) ?? {};
    await expect.poll(below).toBeGreaterThanOrEqual(height);
  });

  test.each(sampleOf(WALKS, 3))(
    '"$button" ("$confirm") that is refused says so in its dialog in sight of a small phone, with the focus on what is to be typed anew, until another tab was quicker',
    { tags: 'sampled' },
    async (walk) => {
      await owner.page.setViewportSize(PHONE);
      await owner.open(walk.button, walk.status);
      await withoutPassword(walk);

      await owner.page.setViewportSize(DESK);
      owner.wire.answer(walk.path, { status: 502, json: { error: 'GENERAL_ERROR', message: '' } });
      await fill(walk);
      await owner.inDialog(walk.confirm).click();
      await owner.dialog.getByRole('alert').getByText(walk.refused).waitFor();
      expect(await owner.dialog.evaluate((element) => element.contains(document.activeElement))).toBe(true);
      for (const label of Object.keys(walk.fields)) expect(await owner.field(label).inputValue()).toBe('');
      expect(owner.wire.askedFor(walk.path)).toHaveLength(1);

      owner.wire.answer(walk.path, { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } });
      await owner.page.setViewportSize(PHONE);
      // To take back, a password is asked for once the server has refused to do it without.
      const isAskedLater = walk.button === 'Take back what was copied';
      if (isAskedLater) {
        await owner.inDialog(walk.confirm).click();
        await owner.field('New mailbox password').waitFor();
      }
      const fields = isAskedLater ? { 'New mailbox password': 'wrong' } : walk.fields;
      await isRefusedTwice(walk, fields);
      const refused = isAskedLater ? 4 : 3;
      expect(owner.wire.askedFor(walk.path)).toHaveLength(refused);

      await fill({ ...walk, fields });
      owner.wire.answer(walk.path, { status: 409, json: { error: 'OPERATION_NOT_ALLOWED', message: '' } });
      owner.wire.answer('/api/v2/status/', { json: movedTo('google') });
      await owner.inDialog(walk.confirm).click();
      await owner.page.getByRole('status').getByText('Something has changed').waitFor();
      await owner.dialog.waitFor({ state: 'detached' });
      await owner.page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
      expect(owner.wire.askedFor(walk.path)).toHaveLength(refused + 1);
    },
  );

  test('a dialog is left by Back, and a reload shows the page without it', async () => {
    await owner.show(MOVED);
    await owner.button('Copy what is new').click();
    await owner.field('San Bruno password').fill('secret');
    await owner.page.evaluate(() => history.back());
    await owner.dialog.waitFor({ state: 'detached' });
    await owner.button('Copy what is new').click();
    expect(await owner.field('San Bruno password').inputValue()).toBe('');
    await owner.page.reload();
    await owner.button('Copy what is new').waitFor();
    expect(await owner.dialog.count()).toBe(0);
  });

  test('what was copied is taken back with the password that the server wants', async () => {
    owner.wire.answer(call('take-back'), ({ body }) =>
      'password' in (body as object) ? OK : { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } },
    );
    await owner.open('Take back what was copied', STOPPED);
    await owner.inDialog('Take it back').click();
    const field = owner.field('New mailbox password');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await field.fill('sandbox');
    await owner.page.keyboard.press('Enter');
    await owner.page.getByText('We are taking your messages back').waitFor();
    expect(owner.wire.askedFor(call('take-back')).map(({ body }) => body)).toEqual([
      { job_id: TRANSFER_ID },
      { job_id: TRANSFER_ID, password: 'sandbox' },
    ]);
  });

  // The focus is in the field, and a screen reader says only what belongs to the dialog or to the field.
  test.each<[string, TransferStatus, string]>([
    ['Put it right', NEEDS_PASSWORD, 'no longer takes the password that you gave us'],
    ['Copy what is new', MOVED, 'Nothing is copied twice'],
    ['Bring new mail once a day', DAILY, 'we keep the sign-in for both mailboxes, encrypted'],
    ['Stop forwarding', FORWARDED, 'New mail'],
    ['Show more', { ...MOVED, limited: true }, 'Use the email address and password of the San Bruno mailbox'],
  ])('what "%s" says above its first field belongs to its dialog', async (button, status, said) => {
    await owner.open(button, status);
    expect(await owner.dialog.evaluate(() => document.activeElement?.tagName)).toBe('INPUT');
    const description = await owner.dialog.evaluate(
      (dialog) => document.getElementById(dialog.getAttribute('aria-describedby') ?? '')?.textContent ?? '',
    );
    expect(description).toContain(said);
  });

  test.each<[string, TransferStatus, Readonly<Record<string, string>>]>([
    ['Put it right', NEEDS_PASSWORD, { 'San Bruno password': 'current-password' }],
    ['Put it right', needing({ side: 'destination', reason: 'password' }), { 'New mailbox password': 'off' }],
    ['Copy what is new', MOVED, { 'San Bruno password': 'current-password', 'New mailbox password': 'off' }],
    ['Stop forwarding', FORWARDED, { 'San Bruno password': 'current-password' }],
  ])('"%s" lets the browser fill in the San Bruno password, and no other', async (button, status, wanted) => {
    await owner.open(button, status);
    for (const [label, autocomplete] of Object.entries(wanted))
      expect(await owner.field(label).getAttribute('autocomplete')).toBe(autocomplete);
  });

  test('the receipt is there to read, and as two files', async () => {
    await owner.open('Download the receipt', MOVED);
    const links = await owner.dialog
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href')));
    expect(links).toEqual(
      ['html', 'csv', 'json'].map((format) => `/api/v2/transfers/receipt/?job_id=${TRANSFER_ID}&format=${format}`),
    );
  });

  test('who has shown nothing is offered nothing, and all of it after a sign-in', async () => {
    owner.wire.answer('/api/v2/status/', ({ headers }) => ({
      json: headers['authorization'] === 'Bearer jwt' ? NEEDS_PASSWORD : { ...NEEDS_PASSWORD, limited: true },
    }));
    owner.wire.answer('/api/validate/', { json: { ok: true, token: 'jwt' } });
    await enter(owner.page, portal.url, STATUS);
    await owner.button('Show more').waitFor();
    for (const name of ['Stop the transfer', 'Put it right']) expect(await owner.button(name).count()).toBe(0);
    await owner.button('Show more').click();
    await owner.field('Email').fill(SUBSCRIBER.email);
    await owner.field('Password').fill(SUBSCRIBER.password);
    await owner.inDialog('Sign in').click();
    for (const name of ['Stop the transfer', 'Put it right']) await owner.button(name).waitFor();
  });

  test('after a sign-in for all of a finished transfer the focus is on its heading, in sight', async () => {
    owner.wire.answer('/api/v2/status/', ({ headers }) => ({
      json: headers['authorization'] === 'Bearer jwt' ? MOVED : { ...MOVED, limited: true },
    }));
    owner.wire.answer('/api/validate/', { json: { ok: true, token: 'jwt' } });
    await owner.page.setViewportSize(PHONE);
    await enter(owner.page, portal.url, STATUS);
    await owner.button('Show more').focus();
    await owner.page.keyboard.press('Enter');
    await owner.field('Email').fill(SUBSCRIBER.email);
    await owner.field('Password').fill(SUBSCRIBER.password);
    await owner.page.keyboard.press('Enter');
    await owner.button('Copy what is new').waitFor();
    await expect.poll(owner.focused).toBe('Your transfer is done');
    expect(await isInSight(owner.page.getByRole('heading', { level: 1 }))).toBe(true);
    await owner.page.setViewportSize(DESK);
  });

  test('a sign-in for all of a finished transfer that is refused does not say that nothing was moved', async () => {
    owner.wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS', message: '' } });
    await owner.open('Show more', { ...MOVED, limited: true });
    await owner.field('Email').fill(SUBSCRIBER.email);
    await owner.field('Password').fill('wrong');
    await owner.inDialog('Sign in').click();
    const alert = owner.dialog.getByRole('alert');
    await alert.getByText('Your mail is safe, and your transfer is not affected.').waitFor();
    expect(await alert.innerText()).not.toContain('nothing was moved');
  });

  test('a sign-in to look transfers up that failed does not say on Home that nothing was moved', async () => {
    await enter(owner.page, portal.url, '/oauth-callback-for-status?error=EXTERNAL_OAUTH_ERROR');
    const alert = owner.page.getByRole('alert');
    await alert.getByText('Your mail is safe, and your transfer is not affected.').waitFor();
    expect(await alert.innerText()).not.toContain('nothing was moved');
  });

  test('a transfer that runs says how far it is, folder by folder, and how long it still takes', async () => {
    await owner.show(RUNNING);
    await owner.page.getByText('300 of 1,000 messages').waitFor();
    await owner.page.getByText('300 messages copied (4 MB).').waitFor();
    await owner.page.getByText('About 20 minutes left.').waitFor();
    await owner.page.getByText('Folder by folder').click();
    expect(await owner.page.locator('.folders li').allInnerTexts()).toEqual([
      expect.stringMatching(/^Inbox\s+200 of 200$/),
      expect.stringMatching(/^Garden\s+100 of 800$/),
    ]);
  });

  test('the counts of folders are in one column, also below a name that leaves no room for its own', async () => {
    const folders = ['INBOX', 'Minutes and correspondence of '.repeat(4)].map((name) => ({ name, done: 1, total: 1 }));
    await owner.show({ ...RUNNING, emailmigration: { ...RUNNING.emailmigration, status: 'inprogress', folders } });
    await owner.page.getByText('Folder by folder').click();
    const counts = owner.page.locator('.folders').getByText('1 of 1');
    const ends = await counts.evaluateAll((all) => all.map((each) => Math.round(each.getBoundingClientRect().right)));
    expect(ends).toEqual([ends[0], ends[0]]);
  });

  test('the comparison is a step of its own rather than 100 %', async () => {
    await owner.show(COMPARING);
    await owner.page.getByText('Checking what arrived: 300 of 400').waitFor();
    expect(await owner.page.getByText(/100\s?%/).count()).toBe(0);
    const bar = owner.page.getByRole('progressbar', { name: 'Messages checked' });
    expect(await bar.evaluate((element) => (element as HTMLProgressElement).position)).toBe(0.75);
  });

  test('a download that was stopped has no files, tells of nothing that was copied, and leads to a new one', async () => {
    const running: TransferStatus = {
      emailmigration: { ...RUNNING.emailmigration, status: 'inprogress' },
      contactsmigration: { status: 'inprogress', done: 60, total: 60 },
      files: 'coming',
    };
    const ended = { status: 'review', ended: 'cancelled', finished: '2025-11-01T10:00:00.000Z' } as const;
    const stopped: TransferStatus = {
      emailmigration: { ...running.emailmigration, ...ended },
      contactsmigration: { ...running.contactsmigration, ...ended },
      files: 'coming',
    };
    owner.wire.answer(call('cancel'), () => {
      owner.wire.answer('/api/v2/status/', { json: stopped });
      return OK;
    });
    await owner.open('Stop the transfer', running);
    await owner.inDialog('Stop it now').click();
    await owner.page.getByText('There are no files. Your mail is in your mailbox as before.').waitFor();
    const isTold = async () => {
      await owner.page.getByText('You stopped this download.').first().waitFor();
      const main = await owner.page.getByRole('main').innerText();
      expect(main).not.toMatch(/copied|stays|100\s?%|of 1,000|60 contacts/);
      expect(await owner.page.getByRole('progressbar').count()).toBe(0);
      await owner.page.getByRole('link', { name: 'Start a new download' }).waitFor();
    };
    await isTold();
    await owner.show(stopped);
    await isTold();
    await owner.show({ ...stopped, limited: true });
    await isTold();
    await owner.page.getByRole('link', { name: 'Start a new download' }).click();
    await owner.page.getByRole('heading', { level: 1, name: 'San Bruno Email Data Transfer Tool' }).waitFor();
  });

  test('a transfer that waits says why, and one that was stopped what to do next', async () => {
    await owner.show(WAITING);
    await owner.page.getByText('The mail server does not let us go on right now.').waitFor();
    await owner.page.getByText("We'll carry on as soon as we can. You don't need to do anything.").waitFor();
    await owner.show(STOPPED);
    await owner.page.getByText('You stopped this transfer.').waitFor();
    await owner.page.getByRole('link', { name: 'Start a new transfer' }).click();
    await owner.page.getByRole('heading', { level: 1, name: 'San Bruno Email Data Transfer Tool' }).waitFor();
    expect(owner.page.url()).toBe(`${portal.url}/`);
  });
});
