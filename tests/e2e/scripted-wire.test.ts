import type { Page } from 'playwright';
import { afterEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  FINISHED_EXPORT,
  type SessionName,
  SUBSCRIBER,
  TRANSFER_ID,
  type Wire,
} from '../support/portal-alone.ts';
import { IS_PROOF } from '../folders.ts';
import { needs } from '../support/needs.ts';
import { portalInChromium } from './portal-in-chromium.ts';
import { chooseOther, fillSupport, signIn } from './steps.ts';

const UNAVAILABLE = 'The migration portal is unavailable at this time, we apologize for the inconvenience.';
const SAFE = 'Your mail is safe: nothing was moved or deleted.';
const ANSWER_LIMIT_MS = 30_000;

/** A call from a page: how it comes about, and what the visitor is told when it goes wrong. */
type Place = {
  readonly name: string;
  readonly call: string;
  readonly session?: SessionName;
  readonly at: string;
  readonly act?: (page: Page) => Promise<void>;
  /** A refusal of the catalogue, and what is said about it. */
  readonly refusal: { readonly status: number; readonly code: string; readonly said: readonly string[] };
  /** What is said when no sense can be made of the answer. */
  readonly failed: readonly string[];
  /** Whether the page makes way when the server can't be reached; else `failed` is said. */
  readonly makesWay: boolean;
};

const credentials = { ...SUBSCRIBER };
const signInNow = (page: Page) => signIn(page, credentials);
const NOT_SIGNED_IN = ['We could not sign you in', 'Unknown error, please try again.', SAFE];
const NOT_STARTED = ['Your transfer has not started', 'Unknown error, please try again.', SAFE];
const NOT_CHECKED = ["We couldn't check this just now. Your mail is safe. We'll try again in a few seconds."];
const SUPPORT_FAILED = [
  'There was an error submitting your message, please try again later.',
  'What you wrote is still here. Your mail is safe.',
];
const ACCOUNT_FAILED = [
  'An error has happened while setting up your Yahoo account',
  'Please, try again later or contact support.',
  SAFE,
];
const giveContact = (contact: string) => async (page: Page) => {
  await page.getByLabel('Notification email').fill(contact);
  await page.clock.runFor(1_100);
};
const press = (name: string) => async (page: Page) => {
  await giveContact('maria@mail.example')(page);
  await page.getByRole('button', { name, exact: true }).click();
};

const PLACES: readonly Place[] = [
  {
    name: 'the sign-in, asking what the address can',
    call: '/api/capabilities/',
    at: '/',
    act: signInNow,
    refusal: { status: 404, code: 'PROVIDER_NOT_SUPPORTED', said: ['Please, enter a San Bruno email address.'] },
    failed: NOT_SIGNED_IN,
    makesWay: true,
  },
  {
    name: 'the sign-in, asking whether the password is right',
    call: '/api/validate/',
    at: '/',
    act: signInNow,
    refusal: { status: 429, code: 'TOO_MANY_ATTEMPTS', said: ['Too many attempts', SAFE] },
    failed: NOT_SIGNED_IN,
    makesWay: true,
  },
  {
    name: 'the look-up of a transfer',
    call: '/api/v2/status/',
    at: '/',
    act: async (page) => {
      await page.getByText('check your transfer status').click();
      await page.getByLabel('Transfer ID').fill(TRANSFER_ID);
      await page.getByRole('button', { name: 'Check status' }).click();
    },
    refusal: { status: 404, code: 'MIGRATION_ID_NOT_FOUND', said: ['Invalid migration ID'] },
    failed: ['Unknown error, please try again later!', 'Your transfer is not affected.'],
    makesWay: true,
  },
  {
    name: 'the making of the Yahoo account',
    call: '/api/v2/san-bruno-create-account/',
    session: 'signedIn',
    at: '/destination-account',
    act: async (page) => {
      await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
    },
    refusal: { status: 400, code: 'GENERAL_ERROR', said: ACCOUNT_FAILED },
    failed: ACCOUNT_FAILED,
    makesWay: true,
  },
  {
    name: 'the sign-in at another provider, asking what the address can',
    call: '/api/capabilities/',
    session: 'signedIn',
    at: '/destination-account',
    act: (page) => chooseOther(page, { email: 'maria@mail.example', password: 'sandbox' }),
    refusal: { status: 404, code: 'PROVIDER_NOT_SUPPORTED', said: ['This provider is not supported.'] },
    failed: NOT_SIGNED_IN,
    makesWay: true,
  },
  {
    name: 'the sign-in at another provider, asking whether the password is right',
    call: '/api/validate/',
    session: 'signedIn',
    at: '/destination-account',
    act: (page) => chooseOther(page, { email: 'maria@mail.example', password: 'sandbox' }),
    refusal: {
      status: 401,
      code: 'INVALID_CREDENTIALS',
      said: ['Incorrect credentials', 'Incorrect email or password.', SAFE],
    },
    failed: NOT_SIGNED_IN,
    makesWay: true,
  },
  {
    name: 'the check of a custom IMAP host',
    call: '/api/validate-imap/',
    session: 'signedIn',
    at: '/destination-account',
    act: async (page) => {
      await page.getByRole('button', { name: 'Check other options to export your data' }).click();
      await page.getByRole('button', { name: 'Other', exact: true }).click();
      await page.getByLabel('Use a custom IMAP host').check();
      await page.getByLabel('IMAP host', { exact: true }).fill('imap.mail.example');
      await page.getByLabel('IMAP host', { exact: true }).blur();
    },
    refusal: { status: 400, code: 'INVALID_IMAP', said: ['Could not resolve IMAP host.'] },
    failed: ['Could not resolve IMAP host.'],
    makesWay: true,
  },
  {
    name: 'the check of a notification address',
    call: '/api/v2/domain-validation/',
    session: 'gmail',
    at: '/start-migration',
    act: giveContact('maria@mail.example'),
    refusal: { status: 400, code: 'INVALID_EMAIL', said: ['Please, enter a valid email address.'] },
    failed: NOT_CHECKED,
    makesWay: true,
  },
  {
    name: 'the check of a notification phone number',
    call: '/api/v2/phone-number-validation/',
    session: 'move',
    at: '/start-migration',
    act: giveContact('650 253 0000'),
    refusal: {
      status: 400,
      code: 'GENERAL_ERROR',
      said: ['Please, enter a valid phone number in the following format: XXX XXX XXXX'],
    },
    failed: NOT_CHECKED,
    makesWay: true,
  },
  {
    name: 'the pre-move call',
    call: '/api/v2/san-bruno-set-migration-started/',
    session: 'move',
    at: '/start-migration',
    act: press('Move'),
    refusal: { status: 400, code: 'INVALID_EMAIL', said: NOT_STARTED },
    // Whether it has started is known after some faults only.
    failed: ['Unknown error, please try again.', 'Your mail is safe'],
    makesWay: true,
  },
  {
    name: 'the start of the transfer',
    call: '/api/load/',
    session: 'gmail',
    at: '/start-migration',
    act: press('Transfer'),
    refusal: {
      status: 409,
      code: 'MIGRATION_IN_PROGRESS',
      said: ['A transfer of this mailbox is not finished yet. We did not start a second one, and your mail is safe.'],
    },
    // Whether it has started is known after some faults only.
    failed: ['Unknown error, please try again.', 'Your mail is safe'],
    makesWay: true,
  },
  {
    name: 'the status page',
    call: '/api/v2/status/',
    at: `/status?migration_id=${TRANSFER_ID}`,
    refusal: {
      status: 404,
      code: 'MIGRATION_ID_NOT_FOUND',
      said: ['Your transfer ID has not been found', 'Your mail is safe.'],
    },
    failed: ['Your status has not been found', 'Your transfer is not affected.'],
    makesWay: true,
  },
  {
    name: 'the list of an address',
    call: '/api/jobs-by-email/',
    session: 'status',
    at: '/status-from-email',
    refusal: { status: 404, code: 'MIGRATION_ID_NOT_FOUND', said: ['Your transfers have not been found'] },
    failed: ['Your transfers have not been found', 'Your mail is safe.'],
    makesWay: true,
  },
  {
    name: 'the letter to support',
    call: '/api/v2/support-form/',
    at: '/support-form',
    act: async (page) => {
      await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
      await page.getByRole('button', { name: 'Send' }).click();
    },
    refusal: { status: 400, code: 'INVALID_EMAIL', said: SUPPORT_FAILED },
    failed: SUPPORT_FAILED,
    makesWay: true,
  },
  {
    name: 'the deletion of an export',
    call: `/api/exports/${TRANSFER_ID}/delete/`,
    at: `/status?migration_id=${TRANSFER_ID}`,
    act: async (page) => {
      await page.getByRole('button', { name: 'Delete my export now' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Delete', exact: true }).click();
    },
    refusal: { status: 404, code: 'MIGRATION_ID_NOT_FOUND', said: ['The files could not be deleted'] },
    failed: ['The files could not be deleted', 'They may still be there. Your mail is safe. Please try again.'],
    makesWay: false,
  },
];

const FAULTS: readonly (readonly [name: string, answer: Answer | 'refusal', outcome: 'refused' | 'failed' | 'away'])[] =
  [
    ['a refusal of the catalogue', 'refusal', 'refused'],
    ['a code that nobody knows', { status: 418, json: { error: 'TEAPOT', message: 'short and stout' } }, 'failed'],
    ['500', { status: 500, json: { error: 'GENERAL_ERROR', message: '' } }, 'failed'],
    ['HTML', { text: '<!doctype html><title>Captive portal</title>', type: 'text/html' }, 'failed'],
    ['JSON of another shape', { json: 'surprise' }, 'failed'],
    ['nothing for 30 s', 'silence', 'failed'],
    ['503', { status: 503, text: 'closed', type: 'text/plain' }, 'away'],
    ['a dropped connection', 'drop', 'away'],
  ];

/** One at each place, and every fault at some place; `npm run proofs` has the others. */
function faultsOf(place: number): typeof FAULTS {
  return FAULTS.filter((_, at) => (at === place % FAULTS.length) !== IS_PROOF);
}

describe('a call that goes wrong, in Chromium (needs chromium)', needs('chromium'), () => {
  let page: Page;
  let wire: Wire;
  const crashes: string[] = [];
  const { portal, arrive } = portalInChromium({ clock: '2025-11-01T10:00:00Z' }, (opened) => {
    ({ page, wire } = opened);
    page.on('pageerror', (error) => crashes.push(String(error)));
    wire.answer('/api/v2/status/', FINISHED_EXPORT);
  });
  afterEach(() => {
    expect(crashes.splice(0)).toEqual([]);
  });

  const isSaid = async (text: string) => {
    await page.locator('[role=alert], [role=status]').filter({ hasText: text }).first().waitFor();
  };
  const nothingWaits = async () => {
    const waiting = page.locator('[aria-busy=true], [aria-label=Loading]:visible, :text("Checking…")');
    await expect.poll(() => waiting.count()).toBe(0);
    expect((await page.locator('h1').innerText()).trim()).not.toBe('');
  };

  describe.each(PLACES.map((place, at) => ({ ...place, faults: faultsOf(at) })))(
    '$name',
    ({ faults, call, session, at, act, refusal, failed, makesWay }) => {
      test.each(faults)('says what to do when the answer is %s', { tags: 'sampled' }, async (_, fault, outcome) => {
        wire.answer(call, fault === 'refusal' ? { status: refusal.status, json: { error: refusal.code } } : fault);
        await arrive(at, session);
        await act?.(page);
        await expect.poll(() => wire.askedFor(call).length).toBeGreaterThan(0);
        if (fault === 'silence') await page.clock.runFor(ANSWER_LIMIT_MS);
        const said = outcome === 'refused' ? refusal.said : outcome === 'away' && makesWay ? [UNAVAILABLE] : failed;
        for (const text of said) await isSaid(text);
        await nothingWaits();
        expect(new URL(page.url()).pathname).toBe(new URL(at, portal.url).pathname);

        if (outcome !== 'away' || !makesWay) return;
        await isSaid('Your mail is safe. A transfer that has already started keeps running.');
        wire.reset();
        wire.answer('/api/v2/status/', FINISHED_EXPORT);
        await page.getByRole('button', { name: 'Try again' }).click();
        await page.getByText(UNAVAILABLE).waitFor({ state: 'detached' });
        // The longest pause that may follow is the one before Yahoo.
        await page.clock.runFor(2_100);
        await expect.poll(() => wire.asked.length).toBeGreaterThan(0);
        await nothingWaits();
      });
    },
  );
});
