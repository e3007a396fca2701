import type { Page } from 'playwright';
import { describe, expect, test } from 'vitest';
import { pagesElsewhere, SUBSCRIBER, TRANSFER_ID, type Wire } from '../support/portal-alone.ts';
import { needs } from '../support/needs.ts';
import { eachOf } from './each-of.ts';
import { chooseOther, fillOther, fillSignIn, fillSupport, signIn } from './steps.ts';
import { stopTheClock } from './stop-the-clock.ts';
import { portalInChromium } from './portal-in-chromium.ts';

const UNKNOWN = 'Unknown error during the authentication process, please try again.';
const EXTERNAL = 'An external authentication error has happened. Please, try again.';
const SCOPES = 'Please, select all the requested permissions while authenticating.';
const FIRST_CLOCK = '2025-11-01T10:00:00Z';

describe('messages and times, in Chromium (needs chromium)', needs('chromium'), () => {
  let page: Page;
  let wire: Wire;
  const { arrive } = portalInChromium({ clock: FIRST_CLOCK }, (opened) => {
    ({ page, wire } = opened);
  });
  const pass = (seconds: number) => page.clock.runFor(Math.round(seconds * 1_000));
  const shown = (role: 'alert' | 'status', text: string) => page.getByRole(role).filter({ hasText: text });
  const lasts = async (role: 'alert' | 'status', text: string, seconds: number) => {
    await shown(role, text).waitFor();
    await pass(seconds - 0.1);
    expect(await shown(role, text).count()).toBe(1);
    await pass(0.2);
    await shown(role, text).waitFor({ state: 'detached' });
  };

  const leadsTo = async (label: string) => {
    const field = page.getByLabel(label, { exact: true });
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  };

  const note = async (text: string, afterSeconds: number) => {
    await pass(afterSeconds - 0.1);
    expect(await shown('alert', text).count()).toBe(0);
    await pass(0.2);
    await shown('alert', text).waitFor();
    await pass(60);
    expect(await shown('alert', text).count()).toBe(1);
  };

  test('an error in the address has its title and text, said for 7 s', async () => {
    await arrive('/destination-account', 'signedIn');
    await stopTheClock(page);
    const errors = [
      ['INVALID_EMAIL', 'Invalid email', 'Please, use your San Bruno credentials to login into Yahoo.'],
      ['external_oauth_error', 'Authentication error', EXTERNAL],
      ['UNSUPPORTED_PROVIDER', 'Provider not supported', 'This provider is not supported.'],
      ['provider_not_supported', 'Provider not supported', 'This provider is not supported.'],
      ['MISSING_SCOPE', 'Missing requested scope', SCOPES],
      ['anything', 'Unknown error', UNKNOWN],
    ] as const;
    await eachOf(errors, async ([code, title, text]) => {
      await page.evaluate((error) => {
        history.pushState(null, '', `/destination-account?error=${error}`);
        dispatchEvent(new PopStateEvent('popstate'));
      }, code);
      const message = shown('alert', title);
      await message.getByText(text).waitFor();
      await message.getByText('Your mail is safe: nothing was moved or deleted.').waitFor();
      await lasts('alert', title, 7);
      expect(new URL(page.url()).search).toBe('');
    });
  });

  test('a refusal at the making of the account is said for 7 s', async () => {
    const refusals = [
      [
        'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
        'status',
        'Transfer is already in progress',
        "You have already started a transfer to Yahoo. Please, wait until it's completed.",
      ],
      ['ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED', 'status', 'Transfer is already completed', 'Go to Yahoo mail'],
      [
        'GENERAL_ERROR',
        'alert',
        'An error has happened while setting up your Yahoo account',
        'Please, try again later or contact support.',
      ],
    ] as const;
    await arrive('/destination-account', 'signedIn');
    await stopTheClock(page);
    await eachOf(refusals, async ([code, role, title, text]) => {
      wire.answer('/api/v2/san-bruno-create-account/', { status: 409, json: { error: code } });
      await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
      await page.getByRole('button', { name: 'Continue' }).click();
      await shown(role, title).getByText(text).waitFor();
      await lasts(role, title, 7);
      expect(await page.getByRole('dialog').count()).toBe(0);
    });
  });

  test('a move that is completed leads to its status, and is nowhere said to run', async () => {
    wire.answer('/api/v2/san-bruno-create-account/', {
      status: 409,
      json: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED', jobid: 'e'.repeat(32) },
    });
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('the transfer that brought your mail to Yahoo Mail').waitFor();
    expect(await page.getByText('still running').count()).toBe(0);
    await page.getByRole('link', { name: 'See its status' }).click();
    await page.waitForURL(`**/status?migration_id=${'e'.repeat(32)}`);
  });

  test('an account that was made already leads to Yahoo after 2 s, and the button says what goes on', async () => {
    const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
    wire.answer('/api/v2/san-bruno-create-account/', async () => {
      await asked;
      return { status: 409, json: { error: 'ACCOUNT_ALREADY_CREATED' } };
    });
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    await stopTheClock(page);
    await page.getByRole('button', { name: 'Continue', exact: true }).click();
    // A screen reader is told as well.
    const said = page.getByRole('dialog').locator('[aria-live]');
    await page.getByRole('button', { name: 'Creating your Yahoo account' }).waitFor();
    expect(await said.innerText()).toBe('Creating your Yahoo account');
    answer();
    await page.getByRole('button', { name: 'Redirecting to Yahoo' }).waitFor();
    expect(await said.innerText()).toBe('Redirecting to Yahoo');
    await pass(1.9);
    expect(wire.askedFor('/api/oauth/')).toHaveLength(0);
    await pass(0.2);
    await page.waitForURL('**/api/oauth/?provider=yahoo');
    expect(wire.askedFor('/api/oauth/')).toHaveLength(1);
  });

  test('a refusal of the transfer is said for 5 s', async () => {
    await arrive('/start-migration', 'other');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await page.getByText('We will write to maria@mail.example.').waitFor();
    await stopTheClock(page);
    const refusals = [
      [400, 'OPERATION_NOT_ALLOWED', "Operation 'contactsmigration' not allowed."],
      [401, 'INVALID_CREDENTIALS', 'Incorrect email or password.'],
    ] as const;
    await eachOf(refusals, async ([status, error, text]) => {
      wire.answer('/api/load/', { status, json: { error } });
      await page.getByRole('button', { name: 'Transfer', exact: true }).click();
      await lasts('alert', text, 5);
      expect(await page.locator('h1').innerText()).toBe('Transfer your data');
    });
  });

  test('a sign-in at Gmail that has ended is said where the transfer does not start, for 5 s', async () => {
    await arrive('/start-migration', 'gmail');
    await page.getByLabel('Notification email').fill('maria@mail.example');
    await page.getByText('We will write to maria@mail.example.').waitFor();
    await stopTheClock(page);
    wire.answer('/api/load/', { status: 401, json: { error: 'INVALID_CREDENTIALS' } });
    await page.getByRole('button', { name: 'Transfer', exact: true }).click();
    await shown('alert', 'Unknown error, please try again.').waitFor();
    expect(await page.getByText('Incorrect email or password.').count()).toBe(0);
    const ended = 'Your sign-in at Gmail may have ended. Please go back and sign in at Gmail again.';
    await lasts('alert', ended, 5);
    await page.getByRole('button', { name: 'Back', exact: true }).click();
    await page.getByRole('button', { name: 'Gmail', exact: true }).waitFor();
  });

  test('what becomes of a message to support is said for 5 s', async () => {
    await arrive('/support-form');
    await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is it?' });
    await stopTheClock(page);
    const outcomes = [
      [
        { status: 502, json: { error: 'GENERAL_ERROR' } },
        'alert',
        'There was an error submitting your message, please try again later.',
        'Contact support',
      ],
      [{ json: { ok: true } }, 'status', 'Your message has been sent successfully.', 'We have your message'],
    ] as const;
    await eachOf(outcomes, async ([answer, role, text, heading]) => {
      wire.answer('/api/v2/support-form/', answer);
      await page.getByRole('button', { name: 'Send' }).click();
      await lasts(role, text, 5);
      expect(await page.locator('h1').innerText()).toBe(heading);
    });
  });

  test('a message that goes by itself leaves the page where it was scrolled to', async () => {
    await arrive('/destination-account?error=INVALID_EMAIL', 'signedIn');
    await stopTheClock(page);
    const other = page.getByRole('button', { name: 'Check other options to export your data' });
    await other.focus();
    const before = await other.boundingBox();
    expect(await page.evaluate(() => scrollY)).toBeGreaterThan(100);
    await pass(7.1);
    await shown('alert', 'Invalid email').waitFor({ state: 'detached' });
    await page.waitForURL((url) => url.search === '');
    await page.waitForFunction(() => document.getAnimations().length === 0);
    expect((await other.boundingBox())?.y).toBeCloseTo(before?.y ?? 0, -1);
  });

  test('a message stays while the pointer or the focus is on it, and goes after that', async () => {
    wire.answer('/api/v2/san-bruno-create-account/', {
      status: 409,
      json: { error: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED' },
    });
    await arrive('/destination-account', 'signedIn');
    await page.getByRole('button', { name: 'Go to Yahoo Mail' }).click();
    await stopTheClock(page);
    await page.getByRole('button', { name: 'Continue' }).click();
    const message = shown('status', 'Transfer is already completed');
    const link = message.getByRole('link');
    await message.hover();
    await pass(60);
    expect(await message.count()).toBe(1);
    // One of them goes while the other is still there.
    await link.focus();
    await page.mouse.move(0, 0);
    await pass(60);
    expect(await message.count()).toBe(1);
    await message.hover();
    await link.blur();
    await pass(60);
    expect(await message.count()).toBe(1);
    await page.mouse.move(0, 0);
    await pass(7.1);
    await message.waitFor({ state: 'detached' });
  });

  describe('at a field', () => {
    test('the sign-in judges an email 1 s after the typing, and keeps its word until it is mended', async () => {
      await arrive('/');
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      const field = page.getByLabel('Email', { exact: true });
      await field.waitFor();
      await stopTheClock(page);
      const emails = [
        ['maria@', 'Please enter a valid email address.'],
        ['MARIA@GMAIL.COM', 'Please, enter a San Bruno email address.'],
      ] as const;
      await eachOf(emails, async ([email, text]) => {
        await field.clear();
        await field.pressSequentially(email);
        expect(await field.inputValue()).toBe(email.toLowerCase());
        await note(text, 1);
        await field.fill(SUBSCRIBER.email);
        await shown('alert', text).waitFor({ state: 'detached' });
      });
    });

    test('the sign-in asks for what is empty', async () => {
      await arrive('/');
      await page.getByRole('button', { name: 'Start', exact: true }).click();
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await shown('alert', 'Please enter a valid email address.').waitFor();
      await shown('alert', 'Invalid password. Please try again.').waitFor();
      expect(wire.asked).toEqual([]);
    });

    test('an email at another provider is judged 1 s after the typing', async () => {
      await arrive('/destination-account', 'signedIn');
      await page.getByRole('button', { name: 'Check other options to export your data' }).click();
      await page.getByRole('button', { name: 'Other', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Another provider' }).waitFor();
      await stopTheClock(page);
      const emails = [
        ['maria@sanbruno.example', 'Please, do not use a San Bruno email address for the export.'],
        ['maria@', 'Please enter a valid email address.'],
      ] as const;
      await eachOf(emails, async ([email, text]) => {
        await page.getByLabel('Email', { exact: true }).fill(email);
        await note(text, 1);
        expect(wire.asked).toEqual([]);
      });
    });

    test('the IMAP host is judged when its field is left, or at Enter', async () => {
      await arrive('/destination-account', 'signedIn');
      await page.getByRole('button', { name: 'Check other options to export your data' }).click();
      await page.getByRole('button', { name: 'Other', exact: true }).click();
      await page.getByLabel('Use a custom IMAP host').check();
      const field = page.getByLabel('IMAP host', { exact: true });
      await field.fill('imap host');
      expect(await page.getByRole('alert').count()).toBe(0);
      await field.blur();
      await shown('alert', 'Invalid IMAP. Please enter a valid IMAP address.').waitFor();
      expect(wire.askedFor('/api/validate-imap/')).toEqual([]);
      await field.fill(' IMAP.Mail.example:1143 ');
      // The submit is off as yet, so that the browser does nothing by itself.
      await field.press('Enter');
      await page.getByText('We found this server.').waitFor();
      await field.blur();
      expect(wire.askedFor('/api/validate-imap/')).toHaveLength(1);
      expect(wire.askedFor('/api/validate-imap/')[0]?.body).toEqual({ imap: 'imap.mail.example:1143' });
    });

    test('a sign-in at another provider that is refused has the title of its code', async () => {
      await arrive('/destination-account', 'signedIn');
      const refusals = [
        ['INVALID_IMAP', 'Invalid IMAP Server'],
        ['UNSUPPORTED_PROVIDER', 'Unsupported Provider'],
      ] as const;
      await eachOf(refusals, async ([error, title], at) => {
        wire.answer('/api/validate/', { status: 400, json: { error } });
        const account = { email: 'maria@mail.example', password: 'sandbox' };
        if (at === 0) await chooseOther(page, account);
        else await fillOther(page, account);
        await shown('alert', title).waitFor();
        expect(await page.getByLabel('Password', { exact: true }).inputValue()).toBe(
          error === 'INVALID_IMAP' ? 'sandbox' : '',
        );
      });
    });

    test('an email whose mail server is not found is led to, and told what to do until it is mended', async () => {
      wire.answer('/api/validate/', { status: 400, json: { error: 'INVALID_IMAP' } });
      await arrive('/destination-account', 'signedIn');
      await chooseOther(page, { email: 'maria@mial.example', password: 'sandbox' });
      await shown('alert', 'Invalid IMAP Server').waitFor();
      await stopTheClock(page);
      await pass(8);
      expect(await shown('alert', 'Invalid IMAP Server').count()).toBe(0);
      await shown(
        'alert',
        "We couldn't reach a mail server for mial.example. Please check the part after @. If it is right, tick “Use a custom IMAP host”.",
      ).waitFor();
      const email = page.getByLabel('Email', { exact: true });
      expect(await email.evaluate((field) => field === document.activeElement)).toBe(true);
      await page.getByLabel('Use a custom IMAP host').check();
      expect(await page.getByRole('alert').count()).toBe(0);
    });

    test('a contact that could not be checked is not called wrong, and is checked again after 10 s', async () => {
      wire.answer('/api/v2/domain-validation/', { status: 502, json: { error: 'GENERAL_ERROR' } });
      await arrive('/start-migration', 'gmail');
      await stopTheClock(page);
      const field = page.getByLabel('Notification email');
      await field.fill('maria@mail.example');
      await pass(1.1);
      await shown('status', "We couldn't check this just now. Your mail is safe.").waitFor();
      expect(await field.getAttribute('aria-invalid')).toBeNull();
      expect(await page.getByRole('button', { name: 'Transfer', exact: true }).isDisabled()).toBe(true);
      wire.answer('/api/v2/domain-validation/', { json: { valid: true } });
      await pass(10);
      await page.getByText('We will write to maria@mail.example.').waitFor();
    });

    test.each([
      [
        'move',
        'Please, provide a valid email address or phone number.',
        [
          ['555 0123', 'Please, enter a valid phone number in the following format: XXX XXX XXXX'],
          ['maria@nowhere', 'Please, enter a valid email address.'],
          [SUBSCRIBER.email, 'Please, do not use a San Bruno email address for notification.'],
        ],
      ],
      ['gmail', 'Please, provide a valid email address.', [['650 253 0000', 'Please, enter a valid email address.']]],
      [
        'download',
        'Please, provide a valid email address.',
        [['maria@sbcable.example', 'Please, do not use a San Bruno email address for notification.']],
      ],
    ] as const)(
      'on the %s a contact that cannot be is told what it should be, and one that is missing is asked for after 3 s',
      async (session, missing, contacts) => {
        await arrive('/start-migration', session);
        await stopTheClock(page);
        const field = page.getByLabel(
          session === 'move' ? 'Notification email or phone number' : 'Notification email',
          { exact: true },
        );
        await field.fill('x');
        await field.fill('');
        await note(missing, 3);
        expect(await page.getByText('or phone number.').count()).toBe(session === 'move' ? 1 : 0);
        await eachOf<readonly [contact: string, text: string]>(contacts, async ([contact, text]) => {
          await field.fill(contact);
          await note(text, 1);
          expect(await page.getByRole('button', { name: /^(?:Move|Transfer|Download)$/ }).isDisabled()).toBe(true);
        });
        // Enter doesn't wait for the pause.
        await field.fill('');
        expect(await page.getByRole('alert').count()).toBe(0);
        await field.press('Enter');
        await shown('alert', missing).waitFor();
      },
    );

    test('a submit with a field that is wrong already leads to it, and Send does not promise to send', async () => {
      await page.setViewportSize({ width: 390, height: 500 });
      await arrive('/support-form');
      await fillSupport(page, { email: SUBSCRIBER.email, contact: 'maria', issue: 'Where is my mail?' });
      await shown('alert', 'Please, enter a valid email address.').waitFor();
      await page.getByText('Please correct what is marked above. Then you can send your message.').waitFor();
      expect(await page.getByText('You can send your message now.').count()).toBe(0);
      await page.getByRole('button', { name: 'Send' }).click();
      await leadsTo('Contact email');
      const top = await page.getByLabel('Contact email').evaluate((field) => field.getBoundingClientRect().top);
      expect(top).toBeGreaterThan(0);
      await page.getByLabel('Contact email').fill('');
      await page.getByText('You can send your message now.').waitFor();

      await arrive('/');
      const signInButton = await fillSignIn(page, { email: 'maria', password: 'garden-2005' });
      await shown('alert', 'Please enter a valid email address.').waitFor();
      await signInButton.click();
      await leadsTo('Email');
      expect(wire.askedFor('/api/v2/support-form/')).toEqual([]);
    });

    test('on the support form a field that is wrong is said, and nothing is sent', async () => {
      await arrive('/support-form');
      await stopTheClock(page);
      const fields = [
        [
          'San Bruno email',
          'maria@sanbruno.example',
          'Please, enter a valid sanbrunocable.example email address.',
          false,
        ],
        ['Contact email', 'maria', 'Please, enter a valid email address.', true],
        ['Transfer ID', 'A'.repeat(32), 'Please, enter a valid transfer ID.', true],
        ['Transfer ID', 'g'.repeat(32), 'Please, enter a valid transfer ID.', true],
      ] as const;
      await eachOf(fields, async ([label, value, text, isSendOn]) => {
        await fillSupport(page, { email: SUBSCRIBER.email, issue: 'Where is my mail?' });
        await expect.poll(() => page.getByRole('alert').count()).toBe(0);
        await page.getByLabel(label).fill(value);
        const send = page.getByRole('button', { name: 'Send' });
        expect(await send.isEnabled()).toBe(isSendOn);
        await note(text, 1);
        if (isSendOn) await send.click();
        else await page.getByLabel(label).press('Enter');
        await shown('alert', text).waitFor();
        expect(wire.asked).toEqual([]);
      });
    });

    test('Send is off until the legacy email and an issue of more than 5 characters are there, and it is said why', async () => {
      await arrive('/support-form');
      const send = page.getByRole('button', { name: 'Send' });
      const [email, issue] = [page.getByLabel('San Bruno email'), page.getByLabel('Describe your issue')];
      const why =
        'To send, fill in your sanbrunocable.example address and describe your issue in more than 5 characters.';
      await page.getByText(why).waitFor();
      expect(await send.isDisabled()).toBe(true);
      const described = () =>
        send.evaluate((button) => document.getElementById(button.getAttribute('aria-describedby') ?? '')?.innerText);
      expect(await described()).toBe(why);
      for (const [address, text] of [
        [SUBSCRIBER.email, ''],
        [SUBSCRIBER.email, '12345'],
        [SUBSCRIBER.email, ' '.repeat(40)],
        [SUBSCRIBER.email, '  12345  '],
        ['', 'Where is my mail?'],
        ['maria', 'Where is my mail?'],
        ['maria@sbcable.example', 'Where is my mail?'],
      ] as const) {
        await email.fill(address);
        await issue.fill(text);
        expect([address, text, await send.isDisabled()]).toEqual([address, text, true]);
        await email.press('Enter');
      }
      expect(wire.asked).toEqual([]);
      // The address of a subscriber whom this form does not take.
      const instead = /^This form only takes sanbrunocable\.example addresses\. Please call us at 650\s555\s0100\./;
      await expect.poll(described).toMatch(instead);

      await email.fill(SUBSCRIBER.email);
      await issue.fill('123456');
      await page.getByText('You can send your message now.').waitFor();
      await page.keyboard.press('Tab');
      expect(await send.evaluate((button) => button === document.activeElement)).toBe(true);
      await page.keyboard.press('Enter');
      await shown('status', 'Your message has been sent successfully.').waitFor();
      await page.getByRole('button', { name: 'Write another message' }).click();
      expect(wire.askedFor('/api/v2/support-form/').map(({ body }) => body)).toEqual([
        { email_address: SUBSCRIBER.email, issue: '123456' },
      ]);
      expect(await send.isDisabled()).toBe(true);
      expect(await shown('status', 'Your message has been sent successfully.').count()).toBe(0);
      // That the one before was sent says nothing of this one.
      await issue.fill('And one more thing');
      await page.getByText('You can send your message now.').waitFor();
    });

    test('the look-up says when an ID is malformed', async () => {
      await arrive('/');
      await eachOf(['', 'abc', 'g'.repeat(31), '!'.repeat(32)], async (id) => {
        await page.getByText('check your transfer status').click();
        await page.getByLabel('Transfer ID').fill(id);
        await page.getByRole('button', { name: 'Check status' }).click();
        await shown('alert', 'Invalid migration ID').waitFor();
        expect(wire.asked).toEqual([]);
        await page.keyboard.press('Escape');
        await page.getByRole('dialog').waitFor({ state: 'detached' });
        expect(await shown('alert', 'Invalid migration ID').count()).toBe(0);
      });
    });
  });

  describe('times', () => {
    test('a sign-in that succeeds says so, and goes on after 1 s', async () => {
      const { promise: asked, resolve: answer } = Promise.withResolvers<void>();
      wire.answer('/api/validate/', async () => {
        await asked;
        return { json: { ok: true } };
      });
      await arrive('/');
      await signIn(page, SUBSCRIBER);
      const button = page.getByRole('button', { name: 'Sign in', exact: true });
      await button.getByText('Sign in…').waitFor();
      expect(await button.getAttribute('aria-busy')).toBe('true');
      expect(await page.locator('[aria-live]', { hasText: 'Signing in…' }).count()).toBe(1);
      await stopTheClock(page);
      answer();
      await shown('status', 'You are signed in. Taking you to the next step…').waitFor();
      await pass(0.9);
      expect(new URL(page.url()).pathname).toBe('/');
      await pass(0.2);
      await page.waitForURL('**/destination-account');
      expect(await page.evaluate(() => sessionStorage.getItem('currentStep'))).toBe('2');
    });

    test.each([
      ['/privacy-policy', 'https://www.sanbrunocable.example/privacy'],
      ['/terms-of-service', 'https://www.sanbrunocable.example/terms'],
    ])('%s shows the overlay for half a second, then goes to its page', async (path, address) => {
      const elsewhere = await pagesElsewhere(page);
      await arrive('/support-form');
      await stopTheClock(page);
      await page.getByRole('contentinfo').locator(`a[href="${path}"]`).click();
      await pass(0.4);
      await page.getByRole('status', { name: 'Loading' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(path);
      expect(elsewhere).toEqual([]);
      await pass(0.2);
      await page.waitForURL(address);
      expect(elsewhere).toEqual([address]);
    });

    test('the copied ID is confirmed for 1.5 s', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await arrive(`/complete?migration_id=${TRANSFER_ID}`, 'gmail');
      await stopTheClock(page);
      await page.getByRole('button', { name: 'Copy transfer ID' }).click();
      const copied = page.getByRole('button', { name: 'Copied' });
      await copied.waitFor();
      await pass(1.4);
      expect(await copied.count()).toBe(1);
      await pass(0.2);
      await copied.waitFor({ state: 'detached' });
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(TRANSFER_ID);
    });

    test('the countdown goes by itself from days to hours, and to its end', async () => {
      const times = [
        ['2025-11-28T23:59:39-08:00', '2 days', '1 day', 30],
        ['2025-11-29T23:59:39-08:00', '1 day', '23 hours', 30],
        ['2025-11-30T21:59:39-08:00', '2 hours', '1 hour', 30],
        ['2025-11-30T23:59:39-08:00', '0 hours', '0 days', 30],
      ] as const;
      const countdown = page.getByRole('timer');
      await arrive('/support-form');
      await eachOf(times, async ([time, before, after, seconds]) => {
        await page.clock.setSystemTime(time);
        await page.getByRole('link', { name: 'Home', exact: true }).click();
        await countdown.getByText(before, { exact: true }).waitFor();
        await pass(seconds);
        await countdown.getByText(after, { exact: true }).waitFor();
        expect(await countdown.innerText()).toContain('November\u00a030, 2025');
        await page.getByRole('link', { name: 'Contact support' }).click();
        await countdown.waitFor({ state: 'detached' });
      });
    });

    test('a running transfer whose line is lost is asked for again every 10 s, and moves on', async () => {
      let done = 3;
      let lost = 0;
      page.on('requestfailed', (request) => {
        lost += request.url().includes('/api/v2/status/events/') ? 1 : 0;
      });
      /** The page waits from when it has seen that its line is lost. */
      const linesLost = async (times: number) => {
        await expect.poll(() => lost).toBe(times);
        await page.evaluate(() => {});
      };
      wire.answer('/api/v2/status/events/', 'drop');
      wire.answer('/api/v2/status/', () => ({ json: { emailmigration: { status: 'inprogress', done, total: 12 } } }));
      await arrive(`/status?migration_id=${TRANSFER_ID}`);
      await page.getByText('3 of 12 messages').waitFor();
      await linesLost(1);
      await stopTheClock(page);
      for (done = 4; done < 7; done += 1) {
        await pass(10.1);
        await page.getByText(`${done} of 12 messages`).waitFor();
        await linesLost(done - 2);
      }
      wire.answer('/api/v2/status/', 'drop');
      const failed = page.waitForEvent('requestfailed', (request) => request.url().includes('/api/v2/status/?'));
      await pass(10.1);
      await failed;
      await page.evaluate(() => {});
      wire.answer('/api/v2/status/', {
        json: { emailmigration: { status: 'completed', done: 12, total: 12, finished: FIRST_CLOCK } },
      });
      await pass(10.1);
      await page.getByText('12 of 12 messages').waitFor();
      const asked = wire.askedFor('/api/v2/status/').length;
      await pass(60);
      expect(wire.askedFor('/api/v2/status/')).toHaveLength(asked);
    });

    test('a call that takes long is said to after 10 s', async () => {
      wire.answer('/api/validate/', 'silence');
      await arrive('/');
      const submit = await fillSignIn(page, SUBSCRIBER);
      // Seconds that a busy machine needs would be the call's.
      await stopTheClock(page);
      await submit.click();
      await expect.poll(() => wire.askedFor('/api/validate/').length).toBe(1);
      await pass(10);
      await shown('status', 'This is taking longer than usual…').waitFor();
      await pass(20.1);
      await shown('alert', 'Unknown error, please try again.').waitFor();
      expect(await page.getByLabel('Email', { exact: true }).inputValue()).toBe(SUBSCRIBER.email);
    });
  });
});
