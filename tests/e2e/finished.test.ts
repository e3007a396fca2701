import type { Browser, Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { IS_PROOF, sampleOf } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { enter, FINISHED_EXPORT, SUBSCRIBER, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import { eachOf } from './each-of.ts';
import { FAILED, STOPPED } from './owned-transfer.ts';
import { portalInChromium } from './portal-in-chromium.ts';

const DONE = { status: 'completed', lost: 0, duplicated: 0, changed: 0, finished: '2025-11-01T10:00:00.000Z' };
const MOVED = { emailmigration: { ...DONE, done: 12, total: 12 }, contactsmigration: { ...DONE, done: 1, total: 1 } };
const MARIA = SUBSCRIBER.email;
const AT_YAHOO = { ...MOVED, destination: 'yahoo', route: { from: MARIA, to: MARIA } };
const AT_GMAIL = { ...MOVED, destination: 'google', route: { from: MARIA, to: 'maria@gmail.com' } };
const FINISHED_AT = '2025-11-01T10:00:00.000Z';
const many = <Item>(count: number, item: Item) => Array.from({ length: count }, () => item);

describe('the portal, in Chromium (needs chromium)', needs('chromium'), () => {
  let browser: Browser;
  let page: Page;
  let wire: Wire;
  const { portal } = portalInChromium({}, (opened) => {
    ({ browser, page, wire } = opened);
  });

  async function open(status: unknown): Promise<void> {
    wire.answer('/api/v2/status/', { json: status });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    await page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
  }

  const textOf = (region: string) => page.getByRole('region', { name: region }).innerText();

  test('a transfer that is done says so in title and steps, what arrived, that nothing is missing, and what is next', async () => {
    await open(MOVED);
    await expect.poll(() => page.title()).toMatch(/^Your transfer is done/);
    const steps = page.getByRole('navigation', { name: 'Progress' });
    expect(await steps.getByText('Running').count()).toBe(1);
    expect(await steps.getByLabel('Done').count()).toBe(4);
    await page.getByText('Everything is done. You can close this page.').waitFor();
    await page.getByText('12 messages arrived.').waitFor();
    await page.getByText('1 contact arrived.').waitFor();
    await page.getByText('Nothing is missing, and nothing is there twice.').waitFor();
    await page.getByText('does not follow you to a new mailbox').waitFor();
    expect(await page.getByRole('link', { name: 'Open Yahoo Mail' }).getAttribute('href')).toMatch(/^https:/);
    await page.getByRole('button', { name: 'Print this page' }).waitFor();
  });

  test('the owner of a move to Yahoo sees from and to, keeps the address, and opens Yahoo Mail or the guide to it', async () => {
    await open(AT_YAHOO);
    const main = page.getByRole('main');
    expect(await main.locator('.route dd').allInnerTexts()).toEqual([MARIA, 'San Bruno', MARIA, 'Yahoo']);
    await main.getByText('You keep your email address.').waitFor();
    expect(await main.getByText('does not follow you').count()).toBe(0);
    await main.getByRole('link', { name: 'Open Yahoo Mail' }).waitFor();
    await main.getByRole('button', { name: 'Set up your phone and computer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Set up Yahoo Mail on your phone and computer' }).waitFor();
  });

  test('the owner of a transfer to Gmail is told that mail does not follow, whom to tell, and finds Gmail', async () => {
    await open({
      ...AT_GMAIL,
      emailmigration: {
        ...AT_GMAIL.emailmigration,
        skipped: [{ mailbox: 'Archive', reason: 'It is too large.', subject: 'Photos' }],
      },
    });
    const main = page.getByRole('main');
    await main.getByText('11 messages arrived.').waitFor();
    expect(await main.getByText('Everything is done').count()).toBe(0);
    await main.getByText('We copied what we could. Please see below what did not move.').waitFor();
    await main.getByText('1 message is not in your new mailbox. See the list below.').waitFor();
    await main.getByText('Nothing else is missing, and nothing is there twice.').waitFor();
    await main.getByText('does not follow you to a new mailbox').waitFor();
    await main.getByText('Tell people your new address').waitFor();
    expect(await main.getByRole('link', { name: 'Open Gmail' }).getAttribute('href')).toBe('https://mail.google.com/');
    expect(await page.getByRole('navigation', { name: 'Progress' }).innerText()).toContain('Destination');
  });

  test('new mail that is forwarded is not said to stay behind', async () => {
    await page.clock.setFixedTime('2025-11-02T10:00:00Z');
    await open({
      ...AT_GMAIL,
      emailforwarding: { status: 'completed', since: FINISHED_AT, finished: FINISHED_AT, to: 'maria@gmail.com' },
    });
    await page.getByText('is sent on to your new mailbox, but only until November 30, 2025').waitFor();
    expect(await page.getByText('does not follow you').count()).toBe(0);
  });

  test.each([
    ['is on', { status: 'completed', since: FINISHED_AT, finished: FINISHED_AT, to: 'maria@gmail.com' }, 0],
    ['was turned off', { status: 'completed', since: FINISHED_AT, finished: FINISHED_AT, ended: FINISHED_AT }, 1],
    ['was never ordered', undefined, 1],
  ])('the mailbox is said to be as it was unless forwarding, which %s, has changed it', async (_, forwarding, said) => {
    await open({ ...AT_GMAIL, ...(forwarding === undefined ? {} : { emailforwarding: forwarding }) });
    await page.getByText('Nothing was deleted').first().waitFor();
    expect(await page.getByText('Your San Bruno mailbox is as it was.').count()).toBe(said);
  });

  test('not everything is said to be done when forwarding could not be set up', async () => {
    await open({
      ...AT_GMAIL,
      emailforwarding: { status: 'review', finished: FINISHED_AT, failure: 'It did not work.' },
    });
    await page.getByText('We did not set up forwarding. Everything else is done.').waitFor();
    await page.getByText('It did not work.').waitFor();
    expect(await page.getByText('Everything is done.').count()).toBe(0);
  });

  test('who may not see whether it is forwarded, or brought once a day, is not told that it stays behind', async () => {
    await open({ ...MOVED, emailforwarding: { status: 'completed' }, limited: true });
    await page.getByText('Tell people your new address').waitFor();
    expect(await page.getByText('does not follow you').count()).toBe(0);
  });

  test('nor is it after the closing date, when it is still forwarded', async () => {
    await page.clock.setFixedTime('2025-12-02T10:00:00Z');
    await open({
      ...AT_GMAIL,
      emailforwarding: { status: 'completed', since: FINISHED_AT, finished: FINISHED_AT, to: 'maria@gmail.com' },
    });
    await page.getByText('email was due to close on November 30, 2025').waitFor();
    await page.getByText('new mail goes to maria@gmail.com').waitFor();
    expect(await page.getByText('does not follow you').count()).toBe(0);
    await open(AT_GMAIL);
    await page.getByText('does not follow you').waitFor();
  });

  test('new mail that is brought once a day is not said to stay behind', async () => {
    await open({ ...AT_GMAIL, daily: { until: '2025-11-21T08:00:00.000Z', next: '2025-11-02T10:00:00.000Z' } });
    await page.getByText('is brought to your new mailbox once a day, but only until November 20, 2025').waitFor();
    expect(await page.getByText('does not follow you').count()).toBe(0);
  });

  test('what the provider keeps in a form of its own is not passed over where nothing is said to be changed', async () => {
    await open({ ...AT_GMAIL, emailmigration: { ...AT_GMAIL.emailmigration, kept: 3 } });
    const card = page.getByRole('region', { name: 'Email transfer' });
    await card.getByText('no message is missing, duplicated or changed').waitFor();
    await card.getByText('keeps 3 messages in a form of its own. Nothing in them is missing.').waitFor();
    await open({ ...AT_GMAIL, emailmigration: { ...AT_GMAIL.emailmigration, kept: 0 } });
    expect(await card.getByText('in a form of its own').count()).toBe(0);
    const changed = { ...AT_GMAIL.emailmigration, status: 'review', changed: 2, kept: 3 };
    wire.answer('/api/v2/status/', { json: { ...AT_GMAIL, emailmigration: changed } });
    await page.reload();
    await card.getByText('keeps 3 messages in a form of its own. Nothing in them is missing.').waitFor();
  });

  test('what an earlier transfer had brought is not said to have been copied', async () => {
    const mail = { ...AT_GMAIL.emailmigration, done: 13, total: 13, bytes: 500 };
    await open({ ...AT_GMAIL, emailmigration: { ...mail, present: 12 } });
    const card = page.getByRole('region', { name: 'Email transfer' });
    await page.getByRole('region', { name: 'What arrived' }).getByText('1 message arrived.').waitFor();
    await card.getByText('1 message copied (1 kB).').waitFor();
    await card.getByText('12 messages were already there.').waitFor();
    await page.getByRole('button', { name: 'Take back what was copied' }).waitFor();
    await open({ ...AT_GMAIL, emailmigration: { ...mail, bytes: 0, present: 13 } });
    await card.getByText('There was nothing new to copy.').waitFor();
    expect(await page.getByText(/messages? (?:arrived|copied)/).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Take back what was copied' }).count()).toBe(0);
  });

  test('contacts that were copied are told by one number only', async () => {
    const contacts = { copied: 180, remarked: 5, present: 0, completed: 0, refused: 0 };
    await open({ ...AT_GMAIL, contactsmigration: { ...DONE, done: 185, total: 185, contacts } });
    const card = page.getByRole('region', { name: 'Contacts transfer' });
    const said = card.getByRole('definition');
    await said.getByText('180 contacts copied in full.').waitFor();
    expect(await card.getByText('contacts copied.').allInnerTexts()).toEqual(['185 contacts copied.']);
    // As of messages: one that stands alone is no list.
    const there = { ...contacts, copied: 0, remarked: 0, present: 185 };
    await open({ ...AT_GMAIL, contactsmigration: { ...DONE, done: 185, total: 185, contacts: there } });
    await said.getByText('185 contacts were already there.').waitFor();
    expect(await card.getByRole('listitem').count()).toBe(0);
  });

  test('what its owner has moved or deleted there since is not said to be there', async () => {
    const mail = { ...AT_GMAIL.emailmigration, done: 13, total: 13, bytes: 0, copied: 0, moved: 13 };
    await open({ ...AT_GMAIL, emailmigration: mail });
    const told = "13 messages were there before, and have been moved or deleted since. We don't copy them again.";
    await page.getByRole('region', { name: 'What arrived' }).getByText(told).waitFor();
    await page.getByText('Nothing else is missing').waitFor();
    const card = page.getByRole('region', { name: 'Email transfer' });
    for (const text of ['There was nothing new to copy.', told, 'no other message is missing'])
      await card.getByText(text).waitFor();
    expect(await page.getByText(/already there|no messages to copy|messages? (?:arrived|copied)/).count()).toBe(0);
  });

  test('nobody says of a message that was not read that it has no subject, nor of a contact', async () => {
    const [unread, refused] = ['The server does not hand it out.', 'The address book refused it.'];
    const contacts = { ...DONE, skipped: [{ mailbox: 'Friends', reason: refused }] };
    const empty = { mailbox: 'Drafts', reason: unread, subject: '' };
    const mail = { ...DONE, skipped: [{ mailbox: 'Archive', reason: unread }, empty] };
    await open({ ...AT_GMAIL, emailmigration: mail, contactsmigration: contacts });
    for (const summary of await page.locator('summary').all()) await summary.click();
    for (const folder of ['Archive', 'Drafts']) await page.getByText(`A message (${folder}): ${unread}`).waitFor();
    await page.getByText(`A contact (Friends): ${refused}`).waitFor();
    expect(await page.getByText('No subject').count()).toBe(0);
  });

  test('a transfer that was taken back is not said to have arrived', async () => {
    wire.answer('/api/v2/status/', {
      json: { ...AT_GMAIL, emailmigration: { ...AT_GMAIL.emailmigration, taken_back: 12 } },
    });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    await page.getByText('12 messages taken back from your new mailbox.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Your transfer', exact: true }).waitFor();
    expect(await page.getByText(/arrived|Nothing is missing/).count()).toBe(0);
  });

  test('who comes to finished files from a letter is led to them by the first button of the page', async () => {
    await open({ emailmigration: { ...DONE, done: 3, total: 3 }, files: 'there', limited: true });
    const first = page.getByRole('main').getByRole('button').first();
    expect(await first.innerText()).toBe('Show more');
    expect(await page.getByRole('button', { name: 'Show more' }).count()).toBe(1);
    await page.getByText('To download them, press “Show more” and sign in.').waitFor();
    await first.click();
    await page.getByRole('dialog', { name: 'Sign in to see your transfer' }).waitFor();
    await page.getByText('as long as your files are here').waitFor();
  });

  test('who has shown nothing of a transfer without files is not told of files', async () => {
    await open({ emailmigration: { ...DONE, done: 3, total: 3 }, limited: true });
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByText('mailbox that your mail comes from.').waitFor();
    expect(await page.getByText('your files').count()).toBe(0);
  });

  test('finished files are an export, also where nothing else in the status says so', async () => {
    const { emailmigration, exports } = FINISHED_EXPORT.json;
    await open({ emailmigration, exports });
    await page.getByText('Your export is now complete').waitFor();
    expect(await page.getByText(/Open your new mailbox|Did you move to Yahoo/).count()).toBe(0);
  });

  test('several files are told apart by their numbers, and have their names below', async () => {
    const [file] = FINISHED_EXPORT.json.exports;
    const exports = [1, 2].map((part) => ({
      ...file,
      url: `/api/exports/${TRANSFER_ID}/${part}`,
      name: `${part}.zip`,
    }));
    await open({ ...FINISHED_EXPORT.json, exports });
    const second = page.getByRole('link', { name: 'Download file 2 of 2' });
    expect(await second.getAttribute('href')).toBe(`/api/exports/${TRANSFER_ID}/2`);
    await page.getByText('2.zip, 5 kB').waitFor();
  });

  test('of a finished download its card says, as all of the page, that it was saved', async () => {
    const { emailmigration: mail } = FINISHED_EXPORT.json;
    const contacts = { status: 'completed', done: 2, total: 2, finished: FINISHED_AT };
    await open({ ...FINISHED_EXPORT.json, emailmigration: { ...mail, bytes: 4000 }, contactsmigration: contacts });
    expect(await textOf('Email transfer')).toMatch(/3 messages saved \(4\skB\)\./);
    expect(await textOf('Contacts transfer')).toContain('2 contacts saved.');
  });

  test.each([
    ['all of it', 0, 'no message is missing or changed.', 'Nothing is missing, and nothing is changed.'],
    [
      'the rest',
      1,
      'no other message is missing, and none is changed.',
      'Nothing else is missing, and nothing is changed.',
    ],
  ])('a download that was checked, %s, is not said to hold nothing twice', async (_, lost, inCard, above) => {
    const skipped = Array.from({ length: lost }, () => ({ mailbox: 'INBOX', reason: 'It could not be read.' }));
    const { emailmigration: mail } = FINISHED_EXPORT.json;
    const checked = { ...mail, skipped, lost: 0, duplicated: 0, changed: 0 };
    await open({ ...FINISHED_EXPORT.json, emailmigration: checked });
    await page.getByText(`We checked your files. ${above}`).waitFor();
    expect(await textOf('Email transfer')).toContain(`We checked your files: ${inCard}`);
  });

  test('on paper, files have their names, and what can be opened is open', async () => {
    await open(FINISHED_EXPORT.json);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText('Download mail.zip').isVisible()).toBe(true);
    expect(await page.getByText('f'.repeat(64)).isVisible()).toBe(true);
    expect(await page.getByText('Print this page', { exact: true }).isVisible()).toBe(false);
    // A box could begin with an empty one at the end of a sheet.
    const card = page.getByRole('region', { name: 'Email transfer' });
    expect(await card.evaluate((element) => getComputedStyle(element).borderTopWidth)).toBe('0px');
  });

  test('mail alone that arrived says how the contacts could come too', async () => {
    const { contactsmigration: _, ...mail } = AT_GMAIL;
    await open(mail);
    expect(await page.getByText('start a new transfer and allow contacts').count()).toBe(1);
    const anew = page.getByRole('link', { name: 'Start a new transfer' });
    await anew.waitFor();
    await open({ ...mail, destination: 'other' });
    expect(await page.getByText('You can download them as files').count()).toBe(1);
    expect(await anew.count()).toBe(0);
    await open(AT_GMAIL);
    expect(await anew.count()).toBe(0);
  });

  const GUIDES = [
    ['yahoo', 'Yahoo Mail', 'imap.mail.yahoo.com', 'smtp.mail.yahoo.com'],
    ['google', 'Gmail', 'imap.gmail.com', 'smtp.gmail.com'],
    ['office365', 'Outlook', 'outlook.office365.com', 'smtp-mail.outlook.com'],
    ['aol', 'AOL Mail', 'imap.aol.com', 'smtp.aol.com'],
    ['other', 'your new mailbox', 'starts with “imap.”', 'starts with “smtp.”'],
  ] as const;
  const guideHas = async (said: readonly string[]) => {
    const settings = page.getByRole('region', { name: 'The settings, if you are asked for them' });
    for (const text of [...said, 'Port 993', 'maria@gmail.com']) await settings.getByText(text).waitFor();
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('main').locator('button, a').filter({ visible: true }).count()).toBe(0);
    expect(await page.getByRole('region').filter({ visible: true }).count()).toBeGreaterThanOrEqual(6);
    await page.emulateMedia({ media: 'screen' });
  };

  test(
    'each guide is a page of its own, has its servers, and prints without buttons',
    { tags: 'sampled' },
    async () => {
      await eachOf(sampleOf(GUIDES, 4), async ([guide, name, ...said], at) => {
        await open({ ...AT_GMAIL, destination: guide });
        await page.getByRole('button', { name: 'Set up your phone and computer' }).click();
        const heading = page.getByRole('heading', { level: 1, name: `Set up ${name} on your phone and computer` });
        await heading.waitFor();
        expect(new URL(page.url()).searchParams.get('guide')).toBe(guide);
        await expect.poll(() => heading.evaluate((element) => element === document.activeElement)).toBe(true);
        if (IS_PROOF || at === 0) await page.reload();
        await heading.waitFor();
        await guideHas(said);
        await page.goBack();
        await page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
      });
    },
  );

  test('an address too long for its place in the guide goes to the next line whole', async () => {
    await page.setViewportSize({ width: 1280, height: 900 });
    const to = 'maria.keller.the.second@sanbrunocable.example';
    await open({ ...AT_GMAIL, route: { from: MARIA, to } });
    await page.getByRole('button', { name: 'Set up your phone and computer' }).click();
    const address = page.getByRole('region', { name: 'The settings, if you are asked for them' }).getByText(to);
    const lines = await address.evaluate(
      ({ children }) => new Set([...children].map((half) => half.getBoundingClientRect().top)).size,
    );
    expect(lines).toBe(1);
  });

  test.each(['move', 'gmail', 'download'] as const)(
    'where the transfer of somebody else went is not taken from what this tab has begun: %s',
    async (session) => {
      const status = { ...MOVED, limited: true };
      await open(status);
      const main = page.getByRole('main');
      const said = await main.innerText();
      expect(said).toContain('your new mailbox');
      wire.answer('/api/v2/status/', { json: status });
      await enter(page, portal.url, `/status?migration_id=${TRANSFER_ID}`, session);
      await page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
      expect(await main.innerText()).toBe(said);
    },
  );

  test('whose new mailbox is not known chooses the guide', async () => {
    await open({ ...MOVED, limited: true });
    expect(await page.getByRole('main').locator('.route').count()).toBe(0);
    await page.getByRole('button', { name: 'Outlook' }).click();
    await page.getByRole('heading', { level: 1, name: 'Set up Outlook' }).waitFor();
    await page.getByText('Your full email address').waitFor();
    await page.getByRole('button', { name: 'Back to your transfer' }).click();
    await page.getByRole('heading', { level: 1, name: 'Your transfer is done' }).waitFor();
  });

  test('on paper the finished page has its addresses and its day, and no buttons', async () => {
    await open({
      ...AT_GMAIL,
      emailmigration: {
        ...AT_GMAIL.emailmigration,
        skipped: [{ mailbox: 'Archive', reason: 'It is too large.', subject: 'Photos' }],
      },
    });
    await page.emulateMedia({ media: 'print' });
    const main = page.getByRole('main');
    expect(await main.getByText('It is too large.').isVisible()).toBe(true);
    expect(await main.getByRole('heading', { name: 'What you can do' }).count()).toBe(0);
    expect(await main.locator('button, a.button').filter({ visible: true }).count()).toBe(0);
    const said = await main.locator('.printed').getAttribute('data-said');
    expect(said).toMatch(/^Date: /);
    expect(await main.getByText('maria@gmail.com').isVisible()).toBe(true);
  });

  test('on paper nothing is offered that only a button could do, and what is on is told', async () => {
    const until = '2025-11-21T08:00:00.000Z';
    const card = page.getByRole('heading', { name: 'New mail, once a day' });
    const isPrinted = async (daily: object) => {
      await page.emulateMedia({ media: 'screen' });
      await open({ ...AT_GMAIL, daily: { until, ...daily } });
      await card.waitFor();
      await page.emulateMedia({ media: 'print' });
      return [await card.isVisible(), await page.getByText('If you like').isVisible()];
    };
    expect(await isPrinted({})).toEqual([false, false]);
    expect(await isPrinted({ next: '2025-11-02T10:00:00.000Z' })).toEqual([true, false]);
    expect(await isPrinted({ ended: 'failed' })).toEqual([true, false]);
  });

  test('on paper a list of 400 messages is small, and no heading stands alone at the end of a sheet', async () => {
    const skipped = Array.from({ length: 400 }, (_, at) => ({
      mailbox: 'Archive/2019',
      reason: 'The message is too large for the new mailbox.',
      subject: `The photos of our trip, part ${at}`,
    }));
    await open({ ...AT_GMAIL, emailmigration: { ...AT_GMAIL.emailmigration, done: 412, total: 412, skipped } });
    const paper = await page.pdf({
      format: 'Letter',
      margin: { top: '10mm', bottom: '10mm', left: '10mm', right: '10mm' },
    });
    expect([...paper.toString('latin1').matchAll(/\/Type \/Page\b/g)].length).toBeLessThanOrEqual(11);
    await page.emulateMedia({ media: 'print' });
    const breaks = await page.locator('h2').evaluateAll((all) => all.map((each) => getComputedStyle(each).breakAfter));
    expect(new Set(breaks)).toEqual(new Set(['avoid']));
    // Chromium does not heed that within a grid.
    const wrong = page.getByRole('region', { name: 'If something is wrong' });
    expect(await wrong.evaluate((each) => getComputedStyle(each).breakInside)).toBe('avoid');
    const breaksIn = (selector: string) =>
      page.locator(selector).evaluateAll((all) => all.map((each) => getComputedStyle(each).breakInside));
    // A card with a list begins where there is room, rather than on a sheet of its own.
    expect(await breaksIn('.status-card')).toEqual(['auto', 'avoid']);
    expect(new Set(await breaksIn('.status-card > :not(details)'))).toEqual(new Set(['avoid']));
    expect(await page.getByRole('progressbar').count()).toBe(0);
  });

  test('on paper a finished transfer with its folders takes three sheets', async () => {
    const folders = Array.from({ length: 14 }, (_, at) => ({ name: `Folder ${at}`, done: 30, total: 30 }));
    const route = { from: MARIA, to: 'maria@gmail.com' };
    await open({ ...AT_GMAIL, emailmigration: { ...AT_GMAIL.emailmigration, folders }, route });
    const margin = { top: '10mm', bottom: '10mm', left: '10mm', right: '10mm' };
    for (const format of ['Letter', 'A4']) {
      const paper = await page.pdf({ format, margin });
      expect([...paper.toString('latin1').matchAll(/\/Type \/Page\b/g)].length).toBeLessThanOrEqual(3);
    }
    // There may be thousands of them: Chromium needs half the time so.
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('.folders').evaluate((each) => getComputedStyle(each).display)).toBe('block');
    const line = page.locator('.folders li').first();
    expect(await line.evaluate((each) => getComputedStyle(each).breakInside)).toBe('auto');
  });

  test('how far it came counts nothing that is not there, nor what was taken back', async () => {
    const skipped = many(3, { mailbox: 'Archive', reason: 'It is too large.' });
    const contacts = { copied: 3, remarked: 0, present: 0, completed: 0, refused: 1 };
    await open({
      emailmigration: { ...DONE, done: 12, total: 12, skipped },
      contactsmigration: { ...DONE, done: 4, total: 4, contacts, skipped: [{ reason: 'It is too large.' }] },
    });
    const card = (name: string) => page.getByRole('region', { name });
    const bar = (name: string) =>
      card(name)
        .getByRole('progressbar')
        .evaluate((each: HTMLProgressElement) => each.value);
    await card('Email transfer').getByText('9 of 12 messages').waitFor();
    await card('Email transfer').getByText('75%').waitFor();
    expect(await bar('Email transfer')).toBe(9);
    await card('Contacts transfer').getByText('3 of 4 contacts').waitFor();
    expect(await bar('Contacts transfer')).toBe(3);

    const { emailmigration: stopped } = STOPPED;
    wire.answer('/api/v2/status/', { json: { ...STOPPED, emailmigration: { ...stopped, taken_back: 300 } } });
    await page.reload();
    await card('Email transfer').getByText('300 messages taken back').waitFor();
    expect(await page.getByRole('progressbar').count()).toBe(0);
  });

  test.each([
    ['on a telephone', 'screen', 360, MARIA],
    ['on paper', 'print', 595, `${'maria.'.repeat(5)}${MARIA}`],
  ] as const)(
    '%s, the full stop after an address that is forwarded to is not alone on its line',
    async (_, media, width, to) => {
      await page.setViewportSize({ width, height: 800 });
      await open({
        ...AT_GMAIL,
        emailforwarding: { status: 'completed', since: FINISHED_AT, finished: FINISHED_AT, to },
      });
      await page.emulateMedia({ media });
      const sentence = page.getByText('Since November 1, 2025, new mail goes to');
      const [last, stop] = await sentence.evaluate((element) => {
        const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
        const letters = [];
        for (let node = texts.nextNode(); node !== null; node = texts.nextNode())
          for (let at = 0; at < (node.nodeValue ?? '').length; at += 1) letters.push([node, at] as const);
        return letters.slice(-2).map(([node, at]) => {
          const range = document.createRange();
          range.setStart(node, at);
          range.setEnd(node, at + 1);
          return { text: range.toString(), bottom: range.getBoundingClientRect().bottom };
        });
      });
      expect([last?.text, stop?.text]).toEqual(['e', '.']);
      expect(stop?.bottom).toBe(last?.bottom);
    },
  );

  test('on paper, an export of many files begins on the first sheet, and no file, address or list is cut by its end', async () => {
    const [file] = FINISHED_EXPORT.json.exports;
    await open({
      ...FINISHED_EXPORT.json,
      exports: many(6, file).map((each, at) => ({ ...each, url: `${each?.url}?${at}` })),
      route: { from: MARIA, to: 'maria@gmail.com' },
    });
    const paper = await page.pdf({ format: 'Letter' });
    expect([...paper.toString('latin1').matchAll(/\/Type \/Page\b/g)].length).toBeLessThanOrEqual(3);
    await page.emulateMedia({ media: 'print' });
    const breaksIn = (selector: string) =>
      page.locator(selector).evaluateAll((all) => [...new Set(all.map((each) => getComputedStyle(each).breakInside))]);
    expect(await breaksIn('.status-card:has(.rows)')).toEqual(['auto']);
    expect(await breaksIn('.rows > li')).toEqual(['avoid']);
    expect(await breaksIn('.route')).toEqual(['avoid']);
    for (const title of ['arrived', 'left', 'after'])
      expect(await breaksIn(`[aria-labelledby='${title}']`)).toEqual(['avoid']);
  });

  test('of more messages than are listed, and more contacts, no smaller number is told', async () => {
    const folder = { mailbox: 'Drafts', reason: 'We could not open this folder.' };
    const message = { mailbox: 'Archive', reason: 'It is too large.' };
    const skipped = [folder, folder, ...Array.from({ length: 998 }, () => message)];
    const contacts = { copied: 9, remarked: 0, present: 0, completed: 0, refused: 1500 };
    await open({
      emailmigration: { ...DONE, done: 5000, total: 5000, copied: 9, skipped },
      contactsmigration: { ...DONE, contacts, skipped: Array.from({ length: 1000 }, () => message) },
    });
    const left = page.getByRole('region', { name: 'What did not move' });
    await left.getByText('At least 998 messages are not in your new mailbox.').waitFor();
    await left.getByText('1,500 contacts could not be copied.').waitFor();
    const titles = await page.locator('summary').allInnerTexts();
    expect(titles).toContain('At least 998 messages are not in your new mailbox');
    expect(titles).toContain('1,500 contacts could not be copied');
  });

  test('a list that ends before all is told says so, and where the rest is', async () => {
    const folder = { mailbox: 'Drafts', reason: 'The mail server does not let us read this folder.' };
    const message = { mailbox: 'Archive', reason: 'The message is too large for the new mailbox.' };
    const note = { mailbox: 'Contacts', reason: 'The photo was left out.' };
    const contacts = { copied: 0, remarked: 1200, present: 0, completed: 0, refused: 1500 };
    await open({
      emailmigration: {
        ...DONE,
        done: 5000,
        total: 5000,
        copied: 9,
        skipped: [...many(500, folder), ...many(500, message)],
      },
      contactsmigration: { ...DONE, contacts, skipped: many(1000, message), remarks: many(1000, note) },
    });
    const ends = 'This list ends here. It has room for 1,000 lines. The receipt at the end lists everything.';
    const titles = await page.locator('summary').allInnerTexts();
    for (const title of [
      'At least 500 folders could not be copied or checked',
      'At least 500 messages are not in your new mailbox',
      'At least 1,000 notes on your contacts',
      '1,500 contacts could not be copied',
    ]) {
      expect(titles).toContain(title);
      expect(await page.locator('details', { hasText: title }).getByText(ends).count()).toBe(1);
    }
    await page.getByText('At least 500 folders could not be copied or checked. See the list below.').waitFor();
    await open({
      emailmigration: { ...DONE, done: 5000, total: 5000, copied: 9, skipped: [folder, ...many(998, message)] },
      contactsmigration: { ...DONE, contacts: { ...contacts, remarked: 2 }, remarks: many(2, note) },
    });
    expect(await page.getByText('This list ends here').count()).toBe(0);
    expect(await page.getByText('At least').count()).toBe(0);
  });

  test('an empty mailbox that is done has nothing to count', async () => {
    await open({ emailmigration: { ...DONE, done: 0, total: 0 } });
    const card = page.getByRole('region', { name: 'Email transfer' });
    await page.getByRole('region', { name: 'What arrived' }).getByText('There were no messages to copy.').waitFor();
    await card.getByText('There were no messages to copy.').waitFor();
    expect(await page.getByText(/0 of 0|0\s?%|nothing new/).count()).toBe(0);
    const skipped = [{ mailbox: 'Archive', reason: 'It is too large.' }];
    await open({ emailmigration: { ...DONE, done: 1, total: 1, skipped } });
    await card.getByText('Nothing was copied.').waitFor();
    await page.getByRole('region', { name: 'What arrived' }).getByText('0 messages arrived.').waitFor();
    expect(await page.getByText(/nothing new|no messages/).count()).toBe(0);
  });

  test('after the closing date no mail is said to be safe in a mailbox that may be closed', async () => {
    const safe = 'Your mail is safe in your';
    const deleted = { ...FINISHED_EXPORT.json, files: 'deleted', exports: undefined };
    for (const [time, times] of [
      ['2025-11-02T10:00:00Z', 2],
      ['2025-12-02T10:00:00Z', 0],
    ] as const) {
      await page.clock.setFixedTime(time);
      await open(deleted);
      await page.getByText('The files have been deleted.').waitFor();
      expect(await page.getByText(safe).count()).toBe(times);
    }
    await page.getByText('If you can still sign in to your mailbox').waitFor();
  });

  test('when a transfer stopped is among what was done, not an answer to when it will be done', async () => {
    wire.answer('/api/v2/status/', { json: FAILED });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    const answer = (question: string) => page.locator('.answers > div').filter({ hasText: question });
    await answer('What was done').getByText('Stopped on').waitFor();
    await answer('When it will be done').getByText('It will not start again by itself.').waitFor();
    expect(await answer('When it will be done').getByText('Stopped on').count()).toBe(0);
  });

  test('of a download that has failed nothing is said to be there', async () => {
    const failure = 'For a long time we could not reach the mailbox that your mail comes from.';
    const failed = { status: 'error', done: 12, total: 30, bytes: 5000, copied: 0, failure, finished: FINISHED_AT };
    wire.answer('/api/v2/status/', { json: { emailmigration: failed, files: 'coming' } });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    const card = page.getByRole('region', { name: 'Email transfer' });
    await card.getByText('There are no files.').waitFor();
    expect(await card.innerText()).not.toMatch(/copied|12/);
    // Contacts that could not be read keep no mail out.
    const contacts = { status: 'error', done: 0, failure, finished: FINISHED_AT };
    const mail = { status: 'started', done: 12, total: 30, bytes: 5000 };
    wire.answer('/api/v2/status/', {
      json: { emailmigration: mail, contactsmigration: contacts, files: 'coming' },
    });
    await page.reload();
    await card.getByText('12 of 30 messages').waitFor();
    expect(await page.getByText('There are no files.').count()).toBe(0);
  });

  test('what was stopped before anything was copied is not said to be still to come', async () => {
    const stopped = { status: 'review', ended: 'cancelled', done: 0, total: 400, finished: FINISHED_AT };
    wire.answer('/api/v2/status/', { json: { emailmigration: stopped, destination: 'google' } });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    const card = page.getByRole('region', { name: 'Email transfer' });
    await card.getByText('Nothing was copied.').waitFor();
    expect(await card.getByText('yet').count()).toBe(0);
  });

  test('of what was on its way when a transfer was stopped nobody says that it was not copied', async () => {
    const stopped = {
      status: 'review',
      ended: 'cancelled',
      done: 0,
      total: 400,
      started: FINISHED_AT,
      finished: FINISHED_AT,
    };
    wire.answer('/api/v2/status/', { json: { emailmigration: stopped, destination: 'google' } });
    await page.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    const card = page.getByRole('region', { name: 'Email transfer' });
    await card.getByText('Messages that were on their way then may be there as well.').waitFor();
    await card.getByText('We know of no message that was copied.').waitFor();
    expect(await card.getByText('Nothing was copied.').count()).toBe(0);
  });

  test('a folder that could not be read is told as a folder, and as no message', async () => {
    const skipped = [
      { mailbox: 'משפחה (2019)', reason: 'The mail server does not let us read this folder.' },
      { mailbox: 'INBOX', reason: 'It is too large.', subject: 'תמונות!' },
    ];
    await open({ ...FINISHED_EXPORT.json, emailmigration: { ...DONE, done: 12, total: 12, skipped } });
    const left = page.getByRole('region', { name: 'What is not in your files' });
    await left.getByText('1 folder could not be copied or checked. See the list below.').waitFor();
    await left.getByText('1 message is not in your files. See the list below.').waitFor();
    const card = page.getByRole('region', { name: 'Email transfer' });
    await card.getByText('1 folder could not be copied or checked').click();
    await card.getByText('1 message is not in your files').click();
    expect(await card.locator('li').allInnerTexts()).toEqual([
      'משפחה (2019): The mail server does not let us read this folder.',
      'תמונות! (Inbox): It is too large.',
    ]);
    const directions = await card
      .locator('li bdi')
      .evaluateAll((all) => all.map((each) => getComputedStyle(each).direction));
    expect(directions).toEqual(['rtl', 'rtl', 'ltr']);
  });

  test('files that were deleted are told as what was there', async () => {
    await open({ ...MOVED, files: 'deleted' });
    await page.getByRole('heading', { name: 'What was in your files' }).waitFor();
    expect(await page.getByText('is in your files').count()).toBe(0);
  });

  test.each([
    ['2025-11-02T10:00:00Z', ' To have it too, start a new download.'],
    ['2025-12-02T10:00:00Z', ''],
  ])('who has downloaded is told on %s that later mail is not in the files', async (time, todo) => {
    await page.clock.setFixedTime(time);
    await open(FINISHED_EXPORT.json);
    const left = page.getByRole('region', { name: 'What is not in your files' });
    const facts = await left.getByRole('listitem').allInnerTexts();
    expect(facts).toContain(`Mail that came to your San Bruno mailbox later.${todo}`);
  });

  test('an export offers its download first and its deletion last, and does not send anybody away before', async () => {
    await open(FINISHED_EXPORT.json);
    const main = page.getByRole('main');
    await main.getByText('Your files are ready. Please download them to your computer.').waitFor();
    expect(await main.getByText('You can close this page').count()).toBe(0);
    const names = await main.locator('a.button, button').allInnerTexts();
    expect(names.at(0)).toMatch(/^Download /);
    expect(names.at(-1)).toBe('Delete my export now');
  });

  test.each([
    ['is lost', {}, '.first-paint-late'],
    ['is turned off', { javaScriptEnabled: false }, 'noscript h2'],
  ] as const)('a page whose script %s has its title, the phone number and what to do', async (_how, options, place) => {
    await using context = await browser.newContext(options);
    await using other = await context.newPage();
    await other.route('**/*.js', (route) => route.abort());
    await other.goto(portal.url);
    await other.getByRole('heading', { level: 1, name: 'San Bruno Email Data Transfer Tool' }).waitFor();
    await other.locator(place).waitFor();
    expect(await other.getByText('650 555 0100').isVisible()).toBe(true);
  });

  const inZone = async (timezoneId: string, status: unknown, said: string) => {
    await using context = await browser.newContext({ timezoneId });
    await using there = await context.newPage();
    wire.answer('/api/v2/status/', { json: status });
    await there.goto(`${portal.url}/status?migration_id=${TRANSFER_ID}`);
    return await there.getByText(said).first().innerText();
  };

  const SET_BACK = [
    ['America/New_York', '2025-11-02T05:30:00Z', '1:30 AM EDT'],
    ['America/New_York', '2025-11-02T04:59:00Z', '12:59 AM'],
    ['America/New_York', '2025-11-02T06:30:00Z', '1:30 AM EST'],
    ['America/New_York', '2025-11-02T07:00:00Z', '2:00 AM'],
    ['Australia/Lord_Howe', '2026-04-04T14:40:00Z', '1:40 AM GMT+11'],
    ['Australia/Lord_Howe', '2026-04-04T15:10:00Z', '1:40 AM GMT+10:30'],
    ['Antarctica/Troll', '2026-10-25T00:30:00Z', '2:30 AM GMT+2'],
    ['Antarctica/Troll', '2026-10-25T02:30:00Z', '2:30 AM GMT'],
  ] as const;

  test.each(sampleOf(SET_BACK, 4))(
    'where clocks are set back, in %s, it is said which %s is meant: %s',
    { tags: 'sampled' },
    async (zone, until, time) => {
      const waiting = { status: 'inprogress', done: 3, total: 12, waiting: { reason: 'provider_limit', until } };
      const said = await inZone(zone, { emailmigration: waiting }, "We'll carry on around");
      expect(said.replaceAll(/\s/g, ' ')).toContain(` at ${time}.`);
    },
  );

  test.each([
    ['America/Los_Angeles', 'November 30, 2025 at 10:30 PM', 'November 30, 2025.'],
    ['America/New_York', 'December 1, 2025 at 1:30 AM', 'November 30, 2025 (Pacific time).'],
    ['Pacific/Kiritimati', 'December 1, 2025 at 8:30 PM', 'November 30, 2025 (Pacific time).'],
  ])('in %s new mail that is brought on %s is not said to come after the end, %s', async (zone, next, end) => {
    const daily = { until: '2025-12-01T07:59:59Z', next: '2025-12-01T06:30:00Z' };
    const status = { ...AT_GMAIL, daily };
    const told = [await inZone(zone, status, 'This is on.'), await inZone(zone, status, 'It ends by itself')];
    const [looks, ends] = told.map((text) => text.replaceAll(/\s/g, ' '));
    expect(looks).toContain(` on ${next}.`);
    expect(ends).toBe(`It ends by itself on ${end}`);
  });

  test.each([
    ['America/Los_Angeles', 'Since November 1, 2025, new mail'],
    ['America/New_York', 'Since November 1, 2025 (Pacific time), new mail'],
  ])('in %s forwarding began on the day that its letter tells', async (zone, said) => {
    const emailforwarding = { status: 'completed', since: '2025-11-02T05:30:00Z', finished: FINISHED_AT, to: MARIA };
    const told = await inZone(zone, { ...AT_GMAIL, emailforwarding }, 'new mail goes to');
    expect(told.replaceAll(/\s/g, ' ')).toContain(said);
  });

  test('a sign-in of another browser comes with its zone where clocks are set back', async () => {
    const context = await browser.newContext({ timezoneId: 'America/New_York' });
    await using there = await context.newPage();
    const others = [{ began: '2025-11-02T05:30:00Z', used: '2025-11-02T06:30:00Z' }];
    wire.answer('/api/v2/sign-ins/', { json: { others } });
    await enter(there, portal.url, '/destination-account', 'signedIn');
    await there.getByRole('banner').getByRole('button', { name: 'Sign out' }).click();
    const said = await there.getByRole('dialog').getByRole('listitem').innerText();
    expect(said.replaceAll(/\s/g, ' ')).toBe(
      'Signed in on November 2 at 1:30 AM EDT, last used on November 2 at 1:30 AM EST',
    );
    await context.close();
  });

  test('an empty sign-in leads the focus to the email and puts "Error:" into the title until it is mended', async () => {
    await page.goto(portal.url);
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await expect.poll(() => page.title()).toBe('Error: San Bruno Email Data Transfer Tool');
    expect(await page.getByLabel('Email').evaluate((field) => field === document.activeElement)).toBe(true);
    await page.getByRole('button', { name: 'Close' }).click();
    await expect.poll(() => page.title()).toBe('San Bruno Email Data Transfer Tool');
  });
});
