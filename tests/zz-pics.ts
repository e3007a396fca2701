import { mkdir } from 'node:fs/promises';
import { openBrowser } from '/work/wt/plain/tests/support/browser.ts';
import {
  enter,
  scriptWire,
  servePortalAlone,
  SUBSCRIBER,
  TRANSFER_ID,
} from '/work/wt/plain/tests/support/portal-alone.ts';
await mkdir('/tmp/plain-pics', { recursive: true });
const portal = await servePortalAlone();
const browser = await openBrowser();
for (const width of [360, 768, 1280]) {
  const page = await (
    await browser.newContext({ viewport: { width, height: 800 }, reducedMotion: 'reduce' })
  ).newPage();
  const wire = await scriptWire(page);
  const shot = (name: string) =>
    page.screenshot({ path: `/tmp/plain-pics/${name}-${width}.png`, fullPage: !name.startsWith('dialog') });
  const b = (name: string) => page.getByRole('button', { name, exact: true });
  await enter(page, portal.url, '/', 'nobody');
  await b('Start').click();
  await page.getByRole('dialog').waitFor();
  await shot('dialog-signin');
  await enter(page, portal.url, '/destination-account', 'signedIn');
  await b('Go to Yahoo Mail').click();
  await shot('dialog-notice');
  await b('Close').click();
  await page.getByRole('link', { name: 'Home', exact: true }).click();
  await page.getByRole('dialog').waitFor();
  await shot('dialog-leave');
  await enter(page, portal.url, '/destination-account?way=other', 'signedIn');
  await shot('other');
  await enter(page, portal.url, '/destination-account?way=download', 'signedIn');
  await shot('download');
  await enter(page, portal.url, '/support-form');
  await page.getByLabel('San Bruno email').fill(SUBSCRIBER.email);
  await page.getByLabel('Transfer ID').fill(TRANSFER_ID);
  await page.getByLabel('Describe your issue').fill('Where is my folder "Recipes"?\n\nThe others are there.');
  await b('Send').click();
  await page.getByText('What you sent').waitFor();
  await shot('sent');
  wire.answer('/api/load/', { status: 409, json: { error: 'MIGRATION_IN_PROGRESS', jobid: TRANSFER_ID } });
  await enter(page, portal.url, '/start-migration', 'gmail');
  await page.getByLabel('Notification email').fill('maria@mail.example');
  await b('Transfer').click();
  await page.getByRole('link', { name: 'Check progress' }).waitFor();
  await shot('progress');
  wire.reset();
  await enter(
    page,
    portal.url,
    `/oauth-callback-for-status?token_id=${TRANSFER_ID}&email=maria@gmail.com&provider=google&hash=abc`,
  );
  await page.getByText('In progress').waitFor();
  await shot('list');
  wire.answer('/api/v2/status/', {
    json: {
      emailmigration: {
        status: 'completed',
        done: 12,
        total: 12,
        lost: 0,
        duplicated: 0,
        changed: 0,
        started: '2025-11-01T09:00:00.000Z',
        finished: '2025-11-01T10:00:00.000Z',
      },
    },
  });
  await enter(page, portal.url, `/status?migration_id=${TRANSFER_ID}`, 'gmail');
  await page.emulateMedia({ media: 'print' });
  await shot('printed');
  await page.emulateMedia({ media: 'screen' });
  await enter(page, portal.url, '/destination-account', 'signedIn');
  await b('Go to Yahoo Mail').click();
  await page.waitForTimeout(300);
  wire.answer('/api/v2/san-bruno-create-account/', 'drop');
  await page.context().setOffline(true);
  await b('Continue').click();
  await page.getByRole('heading', { level: 1, name: 'You are offline' }).waitFor();
  await shot('offline');
  await page.context().close();
}
await browser.close();
await portal[Symbol.asyncDispose]();
