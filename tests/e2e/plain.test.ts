import type { Locator, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { sampleOf } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { enter, servePortalAlone, SUBSCRIBER, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import { eachOf } from './each-of.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { isInSight } from './sight.ts';
import { fillOther, fillSupport, lookUpTransfer, signIn } from './steps.ts';

const lookUp = (page: Page) => lookUpTransfer(page, TRANSFER_ID);

/** A form whose submit is refused: what is done, what is said then, and the field that is to be typed anew, which may be marked as wrong. */
const REFUSED = [
  {
    form: 'the sign-in on Home',
    wire: ['/api/validate/', 401, 'INVALID_CREDENTIALS'],
    at: '/',
    session: 'nobody',
    act: (page: Page) => signIn(page, SUBSCRIBER),
    said: 'Incorrect credentials',
    anew: 'Password',
    isMarked: false,
  },
  {
    form: 'the sign-in to see a transfer',
    wire: ['/api/validate/', 401, 'INVALID_CREDENTIALS'],
    at: `/status?migration_id=${TRANSFER_ID}`,
    session: 'nobody',
    act: async (page: Page) => {
      await page.getByRole('button', { name: 'Show more' }).click();
      await page.getByLabel('Email', { exact: true }).fill(SUBSCRIBER.email);
      await page.getByLabel('Password', { exact: true }).fill('wrong');
      await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    },
    said: 'Incorrect credentials',
    anew: 'Password',
    isMarked: false,
  },
  {
    form: 'the look-up of a transfer',
    wire: ['/api/v2/status/', 404, 'MIGRATION_ID_NOT_FOUND'],
    at: '/',
    session: 'nobody',
    act: lookUp,
    said: 'Invalid migration ID',
    anew: 'Transfer ID',
    isMarked: true,
  },
  {
    form: 'the look-up of a transfer that fails',
    wire: ['/api/v2/status/', 502, 'GENERAL_ERROR'],
    at: '/',
    session: 'nobody',
    act: lookUp,
    said: 'Unknown error, please try again later!',
    anew: null,
    isMarked: false,
  },
  {
    form: 'the sign-in at another provider',
    wire: ['/api/validate/', 401, 'INVALID_CREDENTIALS'],
    at: '/destination-account?way=other',
    session: 'signedIn',
    act: (page: Page) => fillOther(page, { email: 'maria@mail.example', password: 'wrong' }),
    said: 'Incorrect credentials',
    anew: 'Password',
    isMarked: true,
  },
  {
    form: 'the message to support',
    wire: ['/api/v2/support-form/', 502, 'GENERAL_ERROR'],
    at: '/support-form',
    session: 'nobody',
    act: async (page: Page) => {
      await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
      await page.getByRole('button', { name: 'Send' }).click();
    },
    said: 'There was an error submitting your message',
    anew: null,
    isMarked: false,
  },
] as const;

/** How wide a letter of an address is in Roboto and San Francisco. */
const EM_A_LETTER = 0.52;

/** How many of its em a text has in a line. */
const roomOf = (address: Locator) =>
  address.evaluate((element) => {
    let box = element;
    while (getComputedStyle(box).display.startsWith('inline') && box.parentElement !== null) box = box.parentElement;
    return box.getBoundingClientRect().width / Number.parseFloat(getComputedStyle(element).fontSize);
  });

async function topOf(place: Locator): Promise<number> {
  return (await place.boundingBox())?.y ?? 0;
}

async function bottomOf(place: Locator): Promise<number> {
  const { y = 0, height = 0 } = (await place.boundingBox()) ?? {};
  return y + height;
}

const coloursOf = (place: Locator) =>
  place.evaluate((element) => [getComputedStyle(element).color, getComputedStyle(element).borderColor]);

describe('what would get in the way, in Chromium (needs chromium)', needs('chromium'), () => {
  let page: Page;
  let wire: Wire;
  const { portal, arrive } = portalInChromium(
    { viewport: { width: 390, height: 844 }, reducedMotion: 'no-preference' },
    (opened) => {
      ({ page, wire } = opened);
    },
  );
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  test.each(['move', 'transfer'])('a %s that is already in progress is one press away', async (way) => {
    const refused = { status: 409, json: { error: 'MIGRATION_IN_PROGRESS', jobid: TRANSFER_ID } };
    if (way === 'move') {
      const error = 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS';
      wire.answer('/api/v2/san-bruno-create-account/', { ...refused, json: { ...refused.json, error } });
      await arrive('/destination-account', 'signedIn');
      await button('Go to Yahoo Mail').click();
      await button('Continue').click();
    } else {
      wire.answer('/api/load/', refused);
      await arrive('/start-migration', 'gmail');
      await page.getByLabel('Notification email').fill('maria@mail.example');
      await button('Transfer').click();
    }
    await page.getByText('Transfer is already in progress').waitFor();
    await page.getByRole('link', { name: 'Check progress' }).click();
    await page.waitForURL(`**/status?migration_id=${TRANSFER_ID}`);
    await page.getByText('3 of 12 messages').waitFor();
    expect(wire.askedFor('/api/v2/status/')[0]?.query.get('job_id')).toBe(TRANSFER_ID);
  });

  test.each([
    ['Other', 'Another provider', 'Email'],
    ['Download', 'Download as files', 'Email format'],
  ])('%s is a page of its own, whose form is in sight', async (name, heading, label) => {
    await arrive('/destination-account', 'signedIn');
    await button('Check other options to export your data').click();
    await button(name).click();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await expect.poll(() => page.evaluate(() => scrollY)).toBe(0);
    const field = await page.getByLabel(label, { exact: true }).boundingBox();
    expect((field?.y ?? 1_000) + (field?.height ?? 0)).toBeLessThan(844);
    expect(await button('Go to Yahoo Mail').count()).toBe(0);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await button('Back').click();
    await page.getByRole('heading', { level: 1, name: 'Move your mailbox to Yahoo Mail' }).waitFor();
    await button('Gmail').waitFor();
  });

  test(
    'who gave a telephone number where no text message can be sent is not promised one',
    { tags: 'proof' },
    async () => {
      const imap = 'imaps://imap.example.com:993';
      const letters = { SMTP_URL: 'smtps://smtp.example.com', MAIL_FROM: 'no-reply@example.com' };
      await using silent = await servePortalAlone({ SANDBOX: 'off', LEGACY_IMAP_URL: imap, ...letters });
      const promised = page.getByText("We'll let you know when it is finished.");
      for (const [contact, times] of [
        ['maria@mail.example', 1],
        ['+16502530000', 0],
      ] as const) {
        await page.addInitScript((told) => sessionStorage.setItem('notificationContact', told), contact);
        await enter(page, silent.url, `/complete?migration_id=${TRANSFER_ID}`, 'move');
        await page.getByText(/The status page tells you/).waitFor();
        expect([contact, await promised.count()]).toEqual([contact, times]);
      }
    },
  );

  test('where the old mailbox has no address book, no page promises contacts', { tags: 'proof' }, async () => {
    await using bookless = await servePortalAlone({
      SANDBOX: 'off',
      LEGACY_IMAP_URL: 'imaps://imap.example.com:993',
    });
    for (const [path, session] of [
      ['/', 'nobody'],
      ['/destination-account', 'signedIn'],
      ['/destination-account?way=other', 'signedIn'],
      ['/destination-account?way=download', 'signedIn'],
      ['/start-migration', 'download'],
    ] as const) {
      await enter(page, bookless.url, path, session);
      const options = button('Check other options to export your data');
      if ((await options.count()) > 0) await options.click();
      expect(await page.getByRole('main').innerText()).not.toMatch(
        /(?:and|and your|copy your) contacts|contacts as|download them/i,
      );
    }
    const done = { status: 'completed', done: 2, total: 2, finished: '2025-11-01T10:00:00.000Z' };
    for (const status of [
      { destination: 'google', emailmigration: done },
      { destination: 'other', emailmigration: done },
      { destination: 'file_export', files: 'deleted', emailmigration: done },
    ]) {
      bookless.wire.answer('/api/v2/status/', { json: status });
      await enter(page, bookless.url, `/status?migration_id=${TRANSFER_ID}`);
      await page.getByText('Your contacts.', { exact: true }).waitFor();
      expect(await button('Start a new transfer').count()).toBe(0);
    }
  });

  test('a press during the fade reaches the new page', async () => {
    await page.addInitScript(() => {
      addEventListener('DOMContentLoaded', () => document.documentElement.style.setProperty('--time-fade', '20s'));
    });
    await page.goto(`${portal.url}/support-form`);
    await page.getByRole('heading', { level: 1, name: 'Contact support' }).waitFor();
    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await button('Start').waitFor();
    const place = await button('Start').boundingBox();
    expect(await page.locator('html').getAttribute('data-fading')).toBe('');
    await page.mouse.click((place?.x ?? 0) + 20, (place?.y ?? 0) + 20);
    await page.getByRole('dialog', { name: 'Sign in to get started' }).waitFor();
    expect(await page.locator('html').getAttribute('data-fading')).toBe('');
  });

  test('a message to support that comes from a transfer names it, and what was sent stays in sight', async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    await page.getByRole('link', { name: 'contact support', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Contact support' }).waitFor();
    expect(await page.getByLabel('Transfer ID').inputValue()).toBe(TRANSFER_ID);
    await page.getByLabel('San Bruno email').fill(SUBSCRIBER.email);
    await page.getByLabel('Describe your issue').fill('Where is my folder "Recipes"?');
    await button('Send').click();
    await page.getByRole('status').getByText('Your message has been sent successfully.').waitFor();
    expect((await page.getByRole('heading', { level: 1 }).boundingBox())?.y).toBeGreaterThan(0);
    const sent = page.getByRole('region', { name: 'What you sent' });
    for (const said of [SUBSCRIBER.email, TRANSFER_ID, 'Where is my folder "Recipes"?'])
      await sent.getByText(said).waitFor();
    // What is to be written down is not the smallest print.
    const sizes = await page
      .getByRole('region', { name: 'Your reference number' })
      .locator('p')
      .evaluateAll((all) => all.map((each) => Number.parseFloat(getComputedStyle(each).fontSize)));
    expect(sizes.indexOf(Math.max(...sizes))).toBe(0);
    await page.getByText('Your message has been sent successfully.').waitFor({ state: 'detached' });
    await sent.waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('We have your message');
  });

  test('"Your transfers" tells where each one goes and how it stands', async () => {
    const older = 'f'.repeat(32);
    wire.answer('/api/jobs-by-email/', {
      json: { [TRANSFER_ID]: '2025-11-02T10:00:00.000Z', [older]: '2025-11-01T10:00:00.000Z' },
    });
    wire.answer('/api/v2/status/', ({ query }) =>
      query.get('job_id') === older
        ? { json: { emailmigration: { status: 'completed', finished: '2025-11-01T11:00:00.000Z' } } }
        : { json: { emailmigration: { status: 'inprogress' } } },
    );
    await arrive(`/oauth-callback-for-status?token_id=${TRANSFER_ID}&email=maria@gmail.com&provider=google&hash=abc`);
    await page.waitForURL('**/status-from-email');
    const rows = page.getByRole('main').getByRole('listitem');
    await rows.first().getByText('In progress').waitFor();
    expect(await rows.nth(0).innerText()).toContain('To Gmail: maria@gmail.com');
    expect(await rows.nth(1).innerText()).toContain('Completed');
    for (const [at, day] of ['November 2', 'November 1,'].entries())
      expect(
        await rows
          .nth(at)
          .getByRole('link', { name: `See its status Started on ${day}` })
          .count(),
      ).toBe(1);
    expect(wire.askedFor('/api/v2/status/')).toHaveLength(2);
  });

  test('"Your transfers" tells which one waits, which one waits for its owner, and which one was taken back', async () => {
    const attention = { side: 'destination', reason: 'full' };
    const done = { status: 'completed', done: 4, total: 4, finished: '2025-11-01T11:00:00.000Z' };
    const statuses = [
      { emailmigration: { status: 'review', attention }, contactsmigration: { status: 'inprogress' } },
      { emailmigration: { status: 'inprogress', waiting: { reason: 'provider_limit' } } },
      { emailmigration: { ...done, taken_back: 4 }, contactsmigration: done },
      { emailmigration: { ...done, taken_back: 0, taking_back: true } },
      { emailmigration: done },
    ];
    const ids = statuses.map((_, at) => String(at).repeat(32));
    wire.answer('/api/jobs-by-email/', {
      json: Object.fromEntries(ids.map((id, at) => [id, `2025-11-0${9 - at}T10:00:00.000Z`])),
    });
    wire.answer('/api/v2/status/', ({ query }) => ({ json: statuses[ids.indexOf(query.get('job_id') ?? '')] }));
    await arrive(`/oauth-callback-for-status?token_id=${TRANSFER_ID}&email=maria@gmail.com&provider=google&hash=abc`);
    await page.getByText('Completed').waitFor();
    expect(await page.getByRole('main').getByRole('listitem').locator('.strong:not(.address)').allInnerTexts()).toEqual(
      ['Waiting for you. Please see its status.', 'Waiting', 'Taken back', 'Taking back', 'Completed'],
    );
  });

  test('an export that waits says so, and nothing on its page says that it failed', async () => {
    const waiting = { status: 'error', done: 100, total: 400, waiting: { reason: 'disk' } };
    wire.answer('/api/v2/status/', { json: { emailmigration: waiting, files: 'coming' } });
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    await page.getByText('Your export is still in progress').waitFor();
    await page.getByText('We have no room on our side right now.').waitFor();
    expect(await page.getByRole('main').innerText()).not.toMatch(/Error|interrupted/);
  });

  test.each([
    ['a transfer', {}, ', or stop the transfer: what was copied stays.'],
    ['an export', { files: 'coming' }, '.'],
  ] as const)(
    'after the closing date, %s that waits for a San Bruno password names a way out for whom there is none any more',
    async (_, files, end) => {
      const said = `San Bruno email was due to close on November\u00a030, 2025. If your mailbox is closed, call us at 650\u00a0555\u00a00100${end}`;
      const waiting = { status: 'authentication_error', done: 100, total: 400 };
      const isSaid = async (side: 'source' | 'destination', when: string) => {
        const attention = { side, reason: 'password' };
        wire.answer('/api/v2/status/', { json: { emailmigration: { ...waiting, attention }, ...files } });
        await page.clock.setFixedTime(when);
        await arrive(`/status?migration_id=${TRANSFER_ID}`);
        await button('Put it right').click();
        const dialog = page.getByRole('dialog', { name: 'Put it right' });
        await dialog.getByText('Type the password of that mailbox').waitFor();
        const texts = [await page.getByRole('alert').first().innerText(), await dialog.innerText()];
        return texts.map((text) => text.split('\n').includes(said));
      };
      expect(await isSaid('source', '2025-12-01T09:00:00Z')).toEqual([true, true]);
      expect(await isSaid('destination', '2025-12-01T09:00:00Z')).toEqual([false, false]);
      expect(await isSaid('source', '2025-11-20T09:00:00Z')).toEqual([false, false]);
    },
  );

  test('a transfer whose mail was taken back is not said to have any that could be', async () => {
    const stopped = {
      status: 'review',
      ended: 'cancelled',
      done: 300,
      total: 1000,
      finished: '2025-11-01T10:00:00.000Z',
    };
    wire.answer('/api/v2/status/', { json: { emailmigration: { ...stopped, taken_back: 300 } } });
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    await page.getByText('You can start a new transfer to another mailbox.').waitFor();
    expect(await page.getByText('You can take back').count()).toBe(0);
    expect(await page.getByText('What was copied stays').count()).toBe(0);
  });

  test("Google's pages, which nobody sees on the way to Yahoo, do not name it as the step", async () => {
    for (const path of ['/accept-google-terms', '/check-email-scopes']) {
      await arrive(path, 'signedIn');
      await page.getByRole('heading', { level: 1 }).waitFor();
      expect(await page.getByText('Step 2 of 4').innerText()).toBe('Step 2 of 4: Destination');
    }
  });

  test('who has not been at Google is not asked to try it again', async () => {
    const retry = page.getByRole('button', { name: 'Try Gmail again' });
    for (const [session, times] of [
      ['signedIn', 0],
      ['choosingGmail', 1],
    ] as const) {
      await arrive('/check-email-scopes', session);
      await page.getByRole('button', { name: 'Next' }).waitFor();
      expect(await retry.count()).toBe(times);
    }
  });

  test('what was refused at another provider is said once, also where it stands at a field', async () => {
    await arrive('/destination-account?way=other', 'signedIn');
    wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await fillOther(page, { email: 'maria@mail.example', password: 'wrong' });
    const said = 'Incorrect email or password.';
    await page.getByRole('alert').getByText(said).waitFor();
    expect(await page.getByText(said).count()).toBe(2);
    expect(await page.getByRole('alert').getByText(said).count()).toBe(1);
  });

  test('nothing of the sentence about the status is on a line of its own', async () => {
    await arrive('/');
    const sentence = page.getByRole('paragraph').filter({ hasText: 'Already started?' });
    await eachOf([320, 768, 1024], async (width) => {
      await page.setViewportSize({ width, height: 900 });
      expect(await sentence.innerText()).toMatch(/status$/);
    });
  });

  test('on a small phone an address of usual length has one line, and an ID two of the same length', async () => {
    const lines = (text: string) =>
      page.getByText(text, { exact: true }).evaluate((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return [...range.getClientRects()].map(({ width }) => Math.round(width));
      });
    await page.setViewportSize({ width: 360, height: 780 });
    await arrive('/start-migration', 'gmail');
    // The fonts of phones; that of a bare Linux is a fifth wider.
    const line = SUBSCRIBER.email.length * EM_A_LETTER;
    expect(await roomOf(page.getByText(SUBSCRIBER.email, { exact: true }))).toBeGreaterThan(line);
    await page.setViewportSize({ width: 390, height: 780 });
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    const inDialog = page.getByRole('dialog').getByText(SUBSCRIBER.email, { exact: true });
    expect(await roomOf(inDialog)).toBeGreaterThan(line);
    await page.setViewportSize({ width: 360, height: 780 });
    await arrive(`/complete?migration_id=${TRANSFER_ID}`, 'gmail');
    const [first, second, ...more] = await lines(TRANSFER_ID);
    expect(more).toEqual([]);
    expect(first).toBe(second);
    // Where it has one line on other phones.
    wire.answer('/api/v2/status/', { json: { emailmigration: { status: 'completed' } } });
    await page.setViewportSize({ width: 320, height: 640 });
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    const [above, below] = await lines(TRANSFER_ID);
    expect(above).toBe(below);
  });

  test('an address that takes several lines breaks after its "@", and no line of a half is one of a few letters', async () => {
    await page.setViewportSize({ width: 360, height: 780 });
    for (const [name, most] of [
      ['maria.keller', 1],
      ['a'.repeat(30), 2],
      ['a-b'.repeat(15), 3],
    ] as const) {
      const email = `${name}@very.long.sanbrunocable.example`;
      const route = { from: email, to: 'maria@mail.example' };
      wire.answer('/api/v2/status/', { json: { emailmigration: { status: 'completed' }, route } });
      await arrive(`/status?migration_id=${TRANSFER_ID}`);
      const halves = await page.getByText(email, { exact: true }).evaluate((element) =>
        [...element.children].map(({ firstChild, textContent }) => {
          const range = document.createRange();
          if (firstChild !== null) range.selectNodeContents(firstChild);
          return { textContent, lines: [...range.getClientRects()].map(({ top, width }) => ({ top, width })) };
        }),
      );
      expect(halves.map(({ textContent }) => textContent)).toEqual([`${name}@`, 'very.long.sanbrunocable.example']);
      const [before = [], after = []] = halves.map(({ lines }) => lines);
      expect(after[0]?.top).toBeGreaterThan(before.at(-1)?.top ?? Infinity);
      expect(before.length).toBeLessThanOrEqual(most);
      for (const lines of [before, after]) {
        const widths = lines.map(({ width }) => width);
        expect(Math.min(...widths) / Math.max(...widths)).toBeGreaterThan(0.8);
      }
    }
  });

  test('a long dialog can be closed wherever it is scrolled to', async () => {
    await page.setViewportSize({ width: 360, height: 480 });
    await arrive('/');
    await button('Start').click();
    await page.getByRole('dialog').evaluate((element) => element.scrollTo(0, element.scrollHeight));
    expect(await page.getByRole('dialog').evaluate((element) => element.scrollTop)).toBeGreaterThan(0);
    const close = page.getByRole('button', { name: 'Close' });
    const [around, place] = [await page.getByRole('dialog').boundingBox(), await close.boundingBox()];
    expect(place?.y).toBeGreaterThanOrEqual(around?.y ?? 0);
    await close.click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('the answers to "Sign out?" are in sight of a phone with what to do about other browsers, and stay where they are when those are listed', async () => {
    const listed = Promise.withResolvers<void>();
    const others = Array.from({ length: 6 }, () => ({ began: '2025-11-01T09:00:00Z', used: '2025-11-01T09:30:00Z' }));
    wire.answer('/api/v2/sign-ins/', async () => {
      await listed.promise;
      return { json: { others } };
    });
    await page.setViewportSize({ width: 360, height: 640 });
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    const dialog = page.getByRole('dialog', { name: 'Sign out?' });
    const answers = ['Stay here', 'Sign out', 'Sign out everywhere'].map((name) =>
      dialog.getByRole('button', { name, exact: true }),
    );
    const places = () => Promise.all(answers.map((answer) => answer.boundingBox()));
    const before = await places();
    listed.resolve();
    const hint = dialog.getByText('You are signed in on 6 other browsers. If you');
    await hint.waitFor();
    expect(await places()).toEqual(before);
    for (const each of [...answers, hint]) expect(await isInSight(each)).toBe(true);
    await page.setViewportSize({ width: 320, height: 640 });
    for (const each of [...answers, hint]) expect(await isInSight(each)).toBe(true);
  });

  test('on a low screen the field to type anew is in sight after a refusal, and so is the beginning of that', async () => {
    // As at 200 % in a window of 1280 by 720.
    await page.setViewportSize({ width: 640, height: 360 });
    wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await arrive('/');
    await signIn(page, SUBSCRIBER);
    const dialog = page.getByRole('dialog');
    const refusal = dialog.getByRole('alert').getByText('Incorrect credentials');
    await refusal.waitFor();
    await expect.poll(() => bottomOf(refusal)).toBeLessThan(await bottomOf(dialog));
    const field = dialog.getByLabel('Password', { exact: true });
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await isInSight(field)).toBe(true);
  });

  test('where the domains that a form takes do not fit into its field, their list ends in dots', async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await arrive('/support-form');
    const field = page.getByLabel('San Bruno email');
    const overflow = () => field.evaluate((element) => getComputedStyle(element).textOverflow);
    expect(await overflow()).toBe('ellipsis');
    // Of what is typed, the end is to be seen.
    await field.fill(SUBSCRIBER.email);
    expect(await overflow()).toBe('clip');
  });

  test('who goes on by keys while an address is checked comes to the button, not past it to the way back', async () => {
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    await page.keyboard.press('Tab');
    expect([await focused(), await button('Transfer').isDisabled()]).toEqual(['Transfer', true]);
    await page.keyboard.press('Enter');
    await page.getByText('We will write to').waitFor();
    expect(wire.askedFor('/api/load/')).toEqual([]);
    expect(new URL(page.url()).pathname).toBe('/start-migration');
    expect(await focused()).toBe('Transfer');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/complete?*');
    expect(wire.askedFor('/api/load/')).toHaveLength(1);
  });

  test('in the colours of the system a button looks disabled while an address is checked, as it does before', async () => {
    await page.emulateMedia({ forcedColors: 'active', reducedMotion: 'reduce' });
    wire.answer('/api/v2/domain-validation/', 'silence');
    await arrive('/start-migration', 'gmail');
    const disabled = await coloursOf(button('Transfer'));
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await page.getByText('Checking…').waitFor();
    expect(await coloursOf(button('Transfer'))).toEqual(disabled);
    expect(await coloursOf(button('Back'))).not.toEqual(disabled);
  });

  test('a button that has the focus keeps it when what was checked is wrong, and takes no presses', async () => {
    wire.answer('/api/v2/domain-validation/', { json: { valid: false } });
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').fill('maria@nowhere.example');
    await page.keyboard.press('Tab');
    await page.getByText('Please, enter a valid email address.').waitFor();
    const focused = () => page.evaluate(() => document.activeElement?.textContent);
    expect([await focused(), await button('Transfer').isDisabled()]).toEqual(['Transfer', true]);
    await page.keyboard.press('Enter');
    await page.keyboard.press('Shift+Tab');
    expect(wire.askedFor('/api/load/')).toEqual([]);
    expect(await button('Transfer').evaluate((element: HTMLButtonElement) => element.disabled)).toBe(true);
  });

  test.each(sampleOf([320, 360, 768, 1280], 4))(
    'at %i px nothing moves when a longer error is said of the contact',
    { tags: 'sampled' },
    async (width) => {
      await page.setViewportSize({ width, height: 800 });
      for (const [session, label, submit, wrong] of [
        ['move', 'Notification email or phone number', 'Move', ['555 1', '', 'maria@sanbruno.example']],
        ['gmail', 'Notification email', 'Transfer', ['maria@sanbruno.example']],
      ] as const) {
        await arrive('/start-migration', session);
        const contact = page.getByLabel(label);
        await contact.waitFor();
        const below = async () => (await topOf(button(submit))) - (await topOf(contact));
        const before = await below();
        for (const typed of wrong) {
          await contact.fill(typed);
          await page.locator('.field-note [role=alert]').waitFor();
          expect([typed, await below()]).toEqual([typed, before]);
          await contact.fill('maria@mail.example');
          await page.getByText('We will write to').waitFor();
          expect(await below()).toBe(before);
        }
      }
    },
  );

  test.each(sampleOf([360, 768, 1280], 3))(
    'at %i px nothing moves when it is said what is wrong in a field',
    { tags: 'sampled' },
    async (width) => {
      await page.setViewportSize({ width, height: 800 });
      const below = async (field: Locator, name: string) => (await topOf(button(name).last())) - (await topOf(field));
      await arrive('/start-migration', 'gmail');
      const contact = page.getByLabel('Notification email');
      await contact.waitFor();
      const transfer = await below(contact, 'Transfer');
      await contact.fill('maria');
      await page.getByText('Please, enter a valid email address.').waitFor();
      expect(await below(contact, 'Transfer')).toBe(transfer);

      await arrive('/');
      await button('Start').click();
      const email = page.getByLabel('Email', { exact: true });
      const signsIn = await below(email, 'Sign in');
      await email.fill('maria@gmail.com');
      await page.getByText('Please, enter a San Bruno email address.').waitFor();
      expect(await below(email, 'Sign in')).toBe(signsIn);

      await arrive('/support-form');
      const legacy = page.getByLabel('San Bruno email');
      const sends = await below(legacy, 'Send');
      await legacy.fill('maria@gmail.com');
      await page.getByText('Please, enter a valid sanbrunocable.example email address.').waitFor();
      expect(await below(legacy, 'Send')).toBe(sends);
    },
  );

  test('the answer to the notice is in sight of a small phone, and what it does not do yet is said below', async () => {
    await page.setViewportSize({ width: 360, height: 640 });
    await arrive('/destination-account', 'signedIn');
    await button('Go to Yahoo Mail').click();
    const dialog = page.getByRole('dialog', { name: 'Important notice' });
    expect(await isInSight(dialog.getByRole('button', { name: 'Continue' }))).toBe(true);
    await dialog.getByText('Nothing moves yet.').waitFor();
  });

  test.each([
    ['gmail', ['New mail to your San Bruno address does not follow you to the new mailbox.']],
    ['download', ['Mail that comes to your San Bruno address later will not be in your files.']],
    ['move', []],
  ] as const)('the start (%s) says what becomes of the San Bruno address', async (session, said) => {
    await arrive('/start-migration', session);
    await page.getByText('Nothing is deleted from your San Bruno mailbox.').waitFor();
    const facts = await page.getByRole('main').innerText();
    expect(facts.match(/[^.\n]*to your San Bruno address[^.]*\./g) ?? []).toEqual(said);
  });

  test('a short address is one text, a longer one two, and paper says whose page it is and of which day', async () => {
    await arrive('/start-migration', 'gmail');
    const texts = (email: string) =>
      page
        .getByText(email, { exact: true })
        .evaluate(({ childNodes }) => [...childNodes].map((node) => node.textContent));
    expect(await texts('maria@gmail.com')).toEqual(['maria@gmail.com']);
    expect(await texts(SUBSCRIBER.email)).toEqual(['maria.keller@', 'sanbrunocable.example']);
    const printed = page.locator('.printed');
    expect(await printed.isVisible()).toBe(false);
    await page.emulateMedia({ media: 'print' });
    expect(await printed.isVisible()).toBe(true);
    const said = await printed.evaluate((element) => getComputedStyle(element, '::before').content);
    for (const part of [`From: ${SUBSCRIBER.email}`, 'To: maria@gmail.com', 'Date: ']) expect(said).toContain(part);
  });

  test('how an operation ended is said together with which it is', async () => {
    const done = { status: 'completed', done: 1, total: 1, finished: '2025-11-01T10:00:00.000Z' };
    wire.answer('/api/v2/status/', { json: { emailmigration: done, contactsmigration: done } });
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    for (const [title, what] of [
      ['Email transfer', 'messages'],
      ['Contacts transfer', 'contacts'],
    ] as const) {
      const said = page.getByRole('region', { name: title }).getByRole('status');
      const words = `^${title}\\s+Completed\\s+The transfer of your ${what} is finished.$`;
      expect(await said.innerText()).toMatch(new RegExp(words));
    }
  });

  const isToBeTypedAnew = async (label: string, isMarked: boolean) => {
    const field = page.getByLabel(label, { exact: true });
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(await isInSight(field)).toBe(true);
    // What is wrong with a field stays there, also where the message about it goes after a while.
    await expect.poll(() => field.getAttribute('aria-invalid')).toBe(isMarked ? 'true' : null);
  };

  test.each([...Map.groupBy(REFUSED, ({ at }) => at)])(
    'at %s a form that is refused says so in sight of a small phone',
    async (at, forms) => {
      await page.setViewportSize({ width: 360, height: 640 });
      if (at.startsWith('/status'))
        wire.answer('/api/v2/status/', { json: { emailmigration: { status: 'inprogress' }, limited: true } });
      await arrive(at, forms[0]?.session);
      await eachOf(forms, async ({ wire: [path, status, error], act, said, anew, isMarked }) => {
        wire.answer(path, { status, json: { error } });
        await act(page);
        const alert = page.getByRole('alert').filter({ hasText: said });
        await alert.waitFor();
        await expect.poll(() => isInSight(alert)).toBe(true);
        if (anew !== null) await isToBeTypedAnew(anew, isMarked);
        await page.keyboard.press('Escape');
      });
    },
  );

  test('on the smallest phones the password to type anew is in sight together with what was refused', async () => {
    await page.setViewportSize({ width: 320, height: 568 });
    wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await arrive('/');
    await signIn(page, SUBSCRIBER);
    await expect.poll(() => isInSight(page.getByRole('alert').filter({ hasText: 'Incorrect' }))).toBe(true);
    await isToBeTypedAnew('Password', false);
  });

  test('a short page on a tall phone has its heading right below its step', async () => {
    await page.setViewportSize({ width: 412, height: 1_400 });
    wire.answer('/api/v2/status/', { status: 500, json: { error: 'GENERAL_ERROR' } });
    await arrive(`/status?migration_id=${TRANSFER_ID}`);
    await page.getByText('Your status has not been found').waitFor();
    const [step, heading] = await Promise.all([
      page.getByText('Step 4 of 4').boundingBox(),
      page.getByRole('heading', { level: 1 }).boundingBox(),
    ]);
    expect((heading?.y ?? 0) - (step?.y ?? 0)).toBeLessThan(120);
  });

  test('while the next page of another way is loaded, nobody is told of Yahoo', async () => {
    const loading = Promise.withResolvers<void>();
    await page.route('**/assets/google-terms-*.js', async (route) => {
      await loading.promise;
      await route.continue();
    });
    await arrive('/destination-account', 'signedIn');
    await button('Check other options to export your data').click();
    await button('Gmail').click({ noWaitAfter: true });
    await page.waitForURL('**/accept-google-terms', { waitUntil: 'commit' });
    const isSaid = await page.getByRole('dialog').count();
    loading.resolve();
    await page.locator('#statement').waitFor();
    expect(isSaid).toBe(0);
  });

  test('a dialog has no empty place at its end, and nothing in it moves when a message comes', async () => {
    await arrive('/destination-account', 'signedIn');
    await button('Go to Yahoo Mail').click();
    const dialog = page.getByRole('dialog', { name: 'Important notice' });
    const last = dialog.getByText('Nothing moves yet.');
    expect((await bottomOf(dialog)) - (await bottomOf(last))).toBeLessThan(64);

    wire.answer('/api/validate/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await arrive('/');
    await button('Start').click();
    const email = page.getByLabel('Email', { exact: true });
    await email.fill(SUBSCRIBER.email);
    await page.getByLabel('Password', { exact: true }).fill('wrong');
    const before = await email.boundingBox();
    await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'Incorrect credentials' }).waitFor();
    const scrolled = await page.getByRole('dialog').evaluate((element) => element.scrollTop);
    expect(((await email.boundingBox())?.y ?? 0) + scrolled).toBe(before?.y);
  });
});
