import { describe, expect, test } from 'vitest';
import type { Message } from '../../machines/wizard.types.ts';
import { destination } from '../../src/portal/wording/destination.ts';
import { emailScopes, googleTerms } from '../../src/portal/wording/google.ts';
import { homeSignInWords, messageWords, wordsBesideTransfers } from '../../src/portal/wording/message.ts';
import { complete, startMigration } from '../../src/portal/wording/start-migration.ts';
import { exportBadge, exportText, status, statusFromEmail, statusText } from '../../src/portal/wording/status.ts';
import { support } from '../../src/portal/wording/support.ts';
import { fieldErrors } from '../../src/portal/wording/field-errors.ts';
import { lookUp, signIn } from '../../src/portal/wording/home-modals.ts';
import { countdown, home, shared, steps, toolName, unbroken } from '../../src/portal/wording.ts';
import { providerName } from '../../src/portal/wording/provider-name.ts';
import { standingOf } from '../../src/contract/transfer-status.ts';
import { portalSettings, readSettings, type Environment } from '../../src/contract/settings.ts';
import { QUERY_ERRORS } from '../../src/contract/failure-code.ts';
import { PROVIDERS } from '../../src/contract/provider-name.ts';
import { ourTexts } from '../support/our-texts.ts';
import { readingGrade, syllablesOf, wordCount } from '../support/reading-grade.ts';
import { RULES } from '../specification/all.ts';
import { EVERY_CODE, SETTINGS } from '../support/wizard.ts';

const NAME = 'San Bruno';
const SAFE = 'Your mail is safe: nothing was moved or deleted.';
const NOT_AFFECTED = 'Your mail is safe, and your transfer is not affected.';
const sent = (environment: Environment) => {
  const { sendsNoTexts, sendsNoLetters } = portalSettings(readSettings(environment));
  return { texts: sendsNoTexts !== true, letters: sendsNoLetters !== true };
};
const brings = (environment: Environment) => portalSettings(readSettings(environment)).bringsNoContacts !== true;
const exportTextOf = (status: string) => exportText(standingOf({ status }), false);
const said = (message: Message) => {
  const { kind, title, content } = messageWords(message, NAME);
  return [kind, title, ...content].join(' | ');
};
const beside = (message: Message) => wordsBesideTransfers(message, NAME).content.join(' ');

describe('the words of Home', () => {
  test('the title has the name of the legacy service', () => {
    expect(toolName(NAME)).toBe('San Bruno Email Data Transfer Tool');
  });

  test.each([
    ['day', 41, '41 days'],
    ['day', 1, '1 day'],
    ['day', 0, '0 days'],
    ['hour', 23, '23 hours'],
    ['hour', 1, '1 hour'],
    ['hour', 0, '0 hours'],
  ] as const)('the countdown of %s and %i reads "%s"', (unit, count, text) => {
    expect(countdown({ unit, count })).toBe(text);
  });

  test.each([
    ['2025-11-30T23:59:59-08:00', 'November 30, 2025', '11:59 PM'],
    // Midnight is the end of the day before.
    ['2025-12-01T00:00:00-08:00', 'November 30, 2025', '11:59 PM'],
    ['2025-12-01T20:00:00Z', 'December 1, 2025', '12:00 PM'],
    ['2025-12-01T17:00:00-08:00', 'December 1, 2025', '5:00 PM'],
    ['2025-07-01T00:00:00-07:00', 'June 30, 2025', '11:59 PM'],
  ])('that access ends at %s is said by its day, %s, and its time', (end, day, time) => {
    expect(home.countdownDate(end)).toBe(
      `It closes on ${day.replace(' ', '\u00a0')} at ${unbroken(time)} (Pacific time).`,
    );
    expect(home.countdownOver(end)).toContain(`on ${day.replace(' ', '\u00a0')}.`);
  });

  test('the two modals and what leads to them have the names of the specification', () => {
    expect(signIn.title).toBe('Sign in to get started');
    expect(home.lookup).toBe('check your transfer status');
    expect(lookUp.title).toBe('Check your transfer status');
    expect(home.start).toBe('Start');
  });

  test('the four steps are Start, Yahoo Mail or Destination, Transfer and Running', () => {
    expect(steps.names(true)).toEqual(['Start', 'Yahoo Mail', 'Transfer', 'Running']);
    expect(steps.names(false)).toEqual(['Start', 'Destination', 'Transfer', 'Running']);
  });
});

describe('the words of the fields', () => {
  test('an invalid email, one at no legacy domain and an invalid password have the words of the specification', () => {
    expect(fieldErrors.email).toBe('Please enter a valid email address.');
    expect(fieldErrors.legacyEmail(NAME)).toBe('Please, enter a San Bruno email address.');
    expect(fieldErrors.password).toBe('Invalid password. Please try again.');
  });

  test('an invalid and an unresolved host have the words of the specification', () => {
    expect(destination.other.invalidHost).toBe('Invalid IMAP. Please enter a valid IMAP address.');
    expect(destination.other.unresolvedHost).toBe('Could not resolve IMAP host.');
  });

  test('a destination that is no provider we know, or a legacy one, has the words of the specification', () => {
    expect(destination.other.unsupported).toBe('This provider is not supported.');
    expect(destination.other.legacyAddress(NAME)).toBe('Please, do not use a San Bruno email address for the export.');
  });

  test('the contact is told without the spaces around it', () => {
    expect(startMigration.good('  Kid@Mail.example ', {})).toBe('We will write to Kid@Mail.example.');
  });

  test('no text message and no letter is promised where none can be sent', () => {
    const [phone, address] = ['+16502530000', 'maria@mail.example'];
    const [noTexts, noLetters] = [{ sendsNoTexts: true }, { sendsNoLetters: true }] as const;
    const { good, help } = startMigration;
    expect(good(phone, {})).toBe('We will send a text message to 650\u00a0253\u00a00000.');
    expect(good(phone, noTexts)).toContain('We cannot send text messages right now. To hear from us, use an email');
    expect(good(phone, { ...noTexts, ...noLetters })).not.toContain('use an email');
    expect(good(address, noTexts)).toBe('We will write to maria@mail.example.');
    expect(good(address, noLetters)).toContain('We cannot send email right now.');
    const number = 'XXX XXX XXXX';
    expect(help('move', NAME, {})).toMatch(new RegExp(`^We'll let you know.*email address.*${number}`));
    expect(help('move', NAME, noTexts)).not.toContain(number);
    expect(help('move', NAME, noLetters)).toMatch(new RegExp(`^We'll let you know by text message.*${number}`));
    for (const mode of ['move', 'transfer', 'download'] as const) {
      expect(help(mode, NAME, { ...noTexts, ...noLetters })).not.toContain('let you know');
      expect(startMigration.lead({ ...noTexts, ...noLetters })).not.toContain('reach you');
    }
    expect(destination.download.intro(true, {})).toContain("We'll make the files and tell you when they are ready.");
    expect(destination.download.intro(false, {})).not.toContain('tell you');
    const nothing = { ...noTexts, ...noLetters };
    for (const told of [lookUp.help, support.transferHelp, status.notFound.content, statusFromEmail.none.content]) {
      for (const ways of [{}, noTexts, noLetters]) expect(String(told(ways))).toMatch(/our messages? to you/);
      expect(String(told(nothing))).toContain('that we gave you when the transfer started');
      expect(String(told(nothing))).not.toContain('message');
    }
    const real = { LEGACY_IMAP_URL: 'imaps://imap.example.com:993' };
    const smtp = { SMTP_URL: 'smtps://smtp.example.com', MAIL_FROM: 'no-reply@example.com' };
    expect(sent(real)).toEqual({ texts: false, letters: false });
    expect(sent({ ...real, SMS_URL: 'https://sms.example.com/send' })).toEqual({ texts: true, letters: false });
    expect(sent({ ...real, ...smtp })).toEqual({ texts: false, letters: true });
    expect(sent({})).toEqual({ texts: true, letters: true });
  });

  test('no contacts are promised where the old mailbox has no address book', () => {
    const without = { bringsNoContacts: true } as const;
    const textsWith = (ways: Partial<typeof without>) =>
      [
        home.lead(NAME, false, ways),
        ...home.facts(NAME, ways).map(({ text }) => text),
        ...destination.cards(NAME, ways).map(({ title, text }) => `${title}: ${text}`),
        destination.options.intro(ways),
        destination.other.intro(ways),
        destination.download.intro(true, ways),
        startMigration.formats('eml', 'csv', ways),
        googleTerms.statements(NAME, ways)[1][1],
        emailScopes.why(ways),
        destination.download.recommended(false, ways),
      ].filter((text) => /contact/i.test(text));
    expect(textsWith({})).toHaveLength(9);
    expect(textsWith(without)).toEqual([
      'We copy messages and folders. Contacts, mail rules, signatures and auto replies do not move.',
      "Keep your mail on your own computer. Your contacts will not be in the files. We'll make the files and tell you when they are ready.",
      'Not sure? Choose EML and CSV. Most mail programs can open EML. Please choose a contacts format as well, though there will be no contacts.',
    ]);
    expect(destination.cards(NAME, without)).toHaveLength(4);
    const real = { LEGACY_IMAP_URL: 'imaps://imap.example.com:993' };
    const book = { LEGACY_CARDDAV_URL: 'https://contacts.example.com/dav/{email}/' };
    expect([brings(real), brings({ ...real, ...book }), brings({})]).toEqual([false, true, true]);
  });

  test('the notification contact has its four errors, without "or phone number" off the primary move', () => {
    const { errors } = startMigration;
    expect(errors.email).toBe('Please, enter a valid email address.');
    expect(errors.phone).toBe('Please, enter a valid phone number in the following format: XXX XXX XXXX');
    expect(errors.contact('move')).toBe('Please, provide a valid email address or phone number.');
    for (const mode of ['transfer', 'download'] as const)
      expect(errors.contact(mode)).toBe('Please, provide a valid email address.');
    expect(errors.legacy(NAME)).toBe('Please, do not use a San Bruno email address for notification.');
  });

  test('the support form has its three errors, and names the legacy domains', () => {
    expect(support.heading).toBe('Contact support');
    expect(support.errors.legacyEmail('sanbrunocable.example')).toBe(
      'Please, enter a valid sanbrunocable.example email address.',
    );
    expect(support.errors.contactEmail).toBe('Please, enter a valid email address.');
    expect(support.errors.transferId).toBe('Please, enter a valid transfer ID.');
    for (const domain of SETTINGS.legacyDomains)
      expect(support.legacyPlaceholder(SETTINGS.legacyDomains)).toContain(domain);
  });

  test('the status modal tells an ID that is invalid from an unknown error', () => {
    expect(lookUp.malformed).toBe('Invalid migration ID');
    expect(lookUp.failed).toBe('Unknown error, please try again later!');
  });
});

describe('the names of the providers', () => {
  test('each provider has its name for people', () => {
    expect(PROVIDERS.map((provider) => [provider, providerName(provider, NAME)])).toEqual([
      ['google', 'Gmail'],
      ['yahoo', 'Yahoo'],
      ['office365', 'Outlook'],
      ['aol', 'AOL'],
      ['sanbruno', 'San Bruno'],
      ['file_export', 'File'],
      ['other', 'Other'],
    ]);
  });

  test('whoever cannot sign in, or finds the portal closed, is told the phone number', () => {
    expect(signIn.forgot(SETTINGS.supportPhone)).toContain(unbroken(SETTINGS.supportPhone));
    expect(shared.unavailable.todo(SETTINGS.supportPhone)).toContain(unbroken(SETTINGS.supportPhone));
    expect(support.lead(SETTINGS.supportPhone)).toContain(unbroken(SETTINGS.supportPhone));
  });
});

describe('the words of the pages', () => {
  test('the destination page has its four cards, with the time from the specification', () => {
    const cards = destination.cards(NAME, {});
    expect(cards).toHaveLength(4);
    expect(cards.map(({ text }) => text).join(' ')).toContain("90 days from first availability of Yahoo's terms");
    expect(cards.map(({ text }) => text).join(' ')).toContain('from minutes to a full day');
  });

  test('the button of the important notice goes from Continue to Creating to Redirecting', () => {
    expect(destination.go).toBe('Go to Yahoo Mail');
    expect(destination.notice.title).toBe('Important notice');
    expect(destination.notice.continue).toBe('Continue');
    expect(destination.notice.creating).toBe('Creating your Yahoo account');
    expect(destination.notice.redirecting).toBe('Redirecting to Yahoo');
  });

  test('the other options are Gmail, Outlook, AOL, Other and Download', () => {
    const { label, gmail, outlook, aol, other, download } = destination.options;
    expect(label).toBe('Check other options to export your data');
    expect([gmail, outlook, aol, other, download]).toEqual(['Gmail', 'Outlook', 'AOL', 'Other', 'Download']);
  });

  test('the start has its two titles and three actions', () => {
    expect(startMigration.heading('move')).toBe('Move your email account to Yahoo Mail');
    expect(startMigration.heading('transfer')).toBe('Transfer your data');
    expect(startMigration.heading('download')).toBe('Transfer your data');
    expect(startMigration.action).toEqual({ move: 'Move', transfer: 'Transfer', download: 'Download' });
    expect(startMigration.field('move')).toBe('Notification email or phone number');
    expect(startMigration.field('transfer')).toBe('Notification email');
  });

  test('the complete page says that the data is moving, and that the ID was copied', () => {
    expect(complete.heading).toBe("We're moving your email data!");
    expect(complete.copy).toBe('Copy transfer ID');
    expect(complete.copied).toBe('Copied');
  });

  test("Google's terms are accepted, and its scopes explained", () => {
    expect(googleTerms.accept).toBe('Accept');
    expect(emailScopes.scopes).toHaveLength(2);
    expect(emailScopes.retry).toBe('Try Gmail again');
    expect(emailScopes.next).toBe('Next');
  });

  test("Google's terms say how long the access is kept, also by who has new mail brought once a day", () => {
    const kept = googleTerms.statements(NAME, {}).find(([about]) => about === 'How long we keep it:')?.[1];
    expect(kept).toContain('erase it when your transfer ends');
    expect(kept).toContain('If you ask us later to bring new mail once a day, we keep it until that ends.');
  });

  test('what has not been found has the words of the specification', () => {
    expect(status.notFound.title).toBe('Your transfer ID has not been found');
    expect(status.failed.title).toBe('Your status has not been found');
    expect(statusFromEmail.none.title).toBe('Your transfers have not been found');
  });

  test('the list of transfers tells where older ones are', () => {
    expect(statusFromEmail.note).toBe(
      'For older transfers, please use the transfer ID provided in the notification email.',
    );
  });

  test('each status has its text, and an unknown one reads as an error', () => {
    const error = statusText('error', 'email');
    expect(statusText('anything else', 'email')).toEqual(error);
    expect(statusText('toString', 'email')).toEqual(error);
    expect(error.text).toContain('stays in your new mailbox');
    expect(statusText('error', 'contacts').text).toContain('stays in your new address book');
    expect(statusText('InProgress', 'email').label).toBe('In progress');
    expect(statusText('completed', 'email')).toEqual(statusText('SUCCESS', 'email'));
    for (const known of ['started', 'inprogress', 'completed', 'review', 'authentication_error'])
      expect(statusText(known, 'email')).not.toEqual(error);
  });

  test.each([
    ['completed', 'Completed', 'Your export is now complete'],
    ['error', 'Error', 'Your export was interrupted'],
    ['started', 'In progress', 'Your export is still in progress'],
  ])('the badge of an export that is %s reads "%s": "%s"', (value, label, text) => {
    expect(exportBadge(standingOf({ status: value }))).toMatchObject({ label, text });
  });

  test('an operation of an export is not about to begin until its end', () => {
    expect(exportTextOf('started')).toEqual(exportTextOf('inprogress'));
    expect(exportTextOf('started').label).toBe('In progress');
    expect(exportTextOf('review')).toEqual(exportTextOf('error'));
    expect(exportTextOf('SUCCESS').label).toBe('Completed');
  });

  test('an unavailable portal has the words of the specification', () => {
    expect(shared.unavailable.text).toBe(
      'The migration portal is unavailable at this time, we apologize for the inconvenience.',
    );
  });
});

describe('the words of the messages', () => {
  test.each([
    ['INVALID_EMAIL', 'Invalid email | Please, use your San Bruno credentials to login into Yahoo.'],
    [
      'EXTERNAL_OAUTH_ERROR',
      'Authentication error | An external authentication error has happened. Please, try again.',
    ],
    ['UNSUPPORTED_PROVIDER', 'Provider not supported | This provider is not supported.'],
    ['PROVIDER_NOT_SUPPORTED', 'Provider not supported | This provider is not supported.'],
    ['MISSING_SCOPE', 'Missing requested scope | Please, select all the requested permissions while authenticating.'],
    [
      'ADDRESS_NOT_VERIFIED',
      "We can't use this account | Microsoft has not confirmed that its email address is yours.",
    ],
    ['OTHER', 'Unknown error | Unknown error during the authentication process, please try again.'],
  ] as const)('the query error %s says: %s', (error, words) => {
    expect(said({ about: 'query', error })).toContain(`error | ${words}`);
    expect(said({ about: 'query', error })).toContain(SAFE);
  });

  test('an account whose migration is in progress is a warning', () => {
    expect(said({ about: 'account creation', code: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS' })).toBe(
      "warning | Transfer is already in progress | You have already started a transfer to Yahoo. Please, wait until it's completed.",
    );
  });

  test("an account whose migration is completed points to Yahoo's mail site", () => {
    const words = messageWords({ about: 'account creation', code: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED' }, NAME);
    expect(words).toMatchObject({ kind: 'info', title: 'Transfer is already completed', toMail: 'Go to Yahoo mail' });
  });

  test.each(EVERY_CODE.filter((code) => !code.startsWith('ACCOUNT_ALREADY_EXISTS')))(
    'any other end of an account creation, as %s, is the generic setup error',
    (code) => {
      const again =
        code === 'INVALID_TOKEN' ? 'Your sign-in may have ended. Please go to Home and sign in again. | ' : '';
      expect(said({ about: 'account creation', code })).toBe(
        `error | An error has happened while setting up your Yahoo account | Please, try again later or contact support. | ${again}${SAFE}`,
      );
    },
  );

  test.each(['signed out', 'signed out everywhere', 'signed out in another tab'] as const)(
    'who is %s is told what the browser that ordered a transfer can still do',
    (about) => {
      expect(said({ about })).toContain('A browser can still open the transfers that were started in it.');
    },
  );

  test('a refused sign-in on Home says who cannot sign in any more, and where to go', () => {
    const { title, content, toMail } = homeSignInWords('INVALID_CREDENTIALS');
    expect(title).toBe('Incorrect credentials');
    expect(content).toContain('Incorrect email or password.');
    expect(content).toContain(
      "If you have already moved to Yahoo, you won't be able to sign in here. Please, go to Yahoo mail.",
    );
    expect(toMail).toBe('Go to Yahoo mail');
  });

  test.each([
    ['INVALID_CREDENTIALS', 'Incorrect credentials | Incorrect email or password.'],
    ['INVALID_EMAIL', 'Invalid email | Please enter a valid email address.'],
    ['INVALID_IMAP', 'Invalid IMAP Server | Invalid IMAP. Please enter a valid IMAP address.'],
    ['PROVIDER_NOT_SUPPORTED', 'Unsupported Provider | This provider is not supported.'],
    ['UNSUPPORTED_PROVIDER', 'Unsupported Provider | This provider is not supported.'],
    ['GENERAL_ERROR', 'We could not sign you in | Unknown error, please try again.'],
    ['UNEXPECTED_ANSWER', 'We could not sign you in | Unknown error, please try again.'],
  ] as const)('a sign-in refused with %s says: %s', (code, words) => {
    expect(said({ about: 'sign-in refused', code })).toContain(`error | ${words}`);
    expect(said({ about: 'sign-in refused', code })).toContain(SAFE);
  });

  test('beside a transfer nothing says that nothing was moved', () => {
    for (const error of [...QUERY_ERRORS, 'OTHER'] as const)
      expect(beside({ about: 'query', error })).toContain(NOT_AFFECTED);
    for (const code of EVERY_CODE) {
      expect(beside({ about: 'sign-in refused', code })).toContain(NOT_AFFECTED);
      expect(beside({ about: 'sign-in refused', code })).not.toContain('moved');
    }
  });

  test.each(
    EVERY_CODE.filter(
      (code) =>
        ![
          'OPERATION_NOT_ALLOWED',
          'MIGRATION_IN_PROGRESS',
          'INVALID_CREDENTIALS',
          'UNEXPECTED_ANSWER',
          'GENERAL_ERROR',
          'UNAVAILABLE',
        ].includes(code),
    ),
  )('a transfer that does not start for %s is the unknown error', (code) => {
    expect(said({ about: 'load failed', code })).toContain(
      'error | Your transfer has not started | Unknown error, please try again.',
    );
  });

  test.each([
    ['UNEXPECTED_ANSWER', 'We have not heard back'],
    ['GENERAL_ERROR', 'Something went wrong'],
    ['UNAVAILABLE', 'Something went wrong'],
  ] as const)('of a transfer that ended in %s nobody says that it has not started', (code, title) => {
    expect(said({ about: 'load failed', code })).toBe(
      `error | ${title} | Unknown error, please try again. | Your mail is safe. If your transfer has started, trying again does no harm.`,
    );
  });

  test('of a call that was lost with the line nobody says that it did not arrive', () => {
    for (const text of [shared.offline.text, shared.offline.textBack])
      expect(text).toContain('We have not heard back.');
  });

  test('a sign-in at the provider that has ended is the unknown error too, and it is said where to sign in again', () => {
    expect(said({ about: 'sign-in elsewhere ended', provider: 'aol' })).toBe(
      `error | Your transfer has not started | Unknown error, please try again. | Your sign-in at AOL may have ended. Please go back and sign in at AOL again. | ${SAFE}`,
    );
  });

  test('who is to wait before another try is told so, and not to write to support', () => {
    expect(said({ about: 'load failed', code: 'TOO_MANY_ATTEMPTS' })).toBe(
      `error | Your transfer has not started | Unknown error, please try again. | There were too many attempts. Please wait a few minutes before you try again. | ${SAFE}`,
    );
  });

  test('of a San Bruno password that has changed it is said where it can be typed again', () => {
    expect(said({ about: 'source sign-in ended' })).toBe(
      `error | Your transfer has not started | Unknown error, please try again. | Your San Bruno mailbox stopped accepting our sign-in. Please go to Home and sign in again. | ${SAFE}`,
    );
  });

  test('of a sign-in that has ended in a day nobody says that trying again is of use', () => {
    expect(said({ about: 'load failed', code: 'INVALID_TOKEN' })).toBe(
      `error | Your transfer has not started | Unknown error, please try again. | Your sign-in may have ended. Please go to Home and sign in again. | ${SAFE}`,
    );
  });

  test('contacts that are not allowed are said by the name of the operation', () => {
    expect(said({ about: 'load failed', code: 'OPERATION_NOT_ALLOWED' })).toContain(
      "Operation 'contactsmigration' not allowed.",
    );
  });

  test('a download that is one too many is told with what to do', () => {
    expect(said({ about: 'too many downloads' })).toBe(
      `error | Your download has not started | There are too many downloads of this mailbox already. | ${SAFE} Please delete one of them on its status page, or wait until we delete it.`,
    );
  });

  test('a letter to support has its success and its failure', () => {
    expect(said({ about: 'support sent' })).toContain('success | Your message has been sent successfully.');
    for (const code of EVERY_CODE)
      expect(said({ about: 'support failed', code })).toContain(
        'error | There was an error submitting your message, please try again later.',
      );
  });
});

const isScope = (text: string) => emailScopes.scopes.some((scope) => scope === text);

describe('our own texts', () => {
  const specified = RULES.map(({ line }) => line)
    .join('\n')
    .replaceAll('{host}', 'San Bruno');
  /** What is not ours to word: the specification's sentences, and what Google prescribes. */
  const isGiven = (text: string) => specified.includes(text) || text === googleTerms.policy || isScope(text);
  const own = ourTexts().filter(({ text }) => !isGiven(text));

  test('are found wherever a subscriber reads them', () => {
    for (const file of [
      'src/portal/index.html',
      'src/portal/wording.ts',
      'src/portal/wording/status.ts',
      'src/server/notifications/wording.ts',
      'src/server/web/calls/load.ts',
      'src/server/worker/sentences.ts',
    ])
      expect(own.map((each) => each.file)).toContain(file);
  });

  test('ask for eight years of school at most, each of eight words or more and all of them together', () => {
    const hard = own
      .filter(({ text }) => wordCount(text) >= 8)
      .map(({ file, text }) => `${readingGrade(text).toFixed(1)} ${file}: ${text}`)
      .filter((line) => Number.parseFloat(line) > 8);
    expect(hard).toEqual([]);
    expect(readingGrade(own.map(({ text }) => text).join('. '))).toBeLessThan(6);
  });

  test('use one word for each thing, and none that sounds translated', () => {
    const stilted =
      /\b(?:anew|shall|doubled|meanwhile|from here on|if it lasts|let us in|goes? on by itself|by themselves|(?:old|current|legacy) mailbox|mailbox you (?:are moving|wanted to move)|and continues|again at any time|nothing has (?:been )?moved|we look into|looking into it)\b|please, /i;
    // `portal.md` §5: the sentence about the contact leaves out "or phone number" off the primary path.
    const derived = startMigration.errors.contact('transfer');
    const sentences = own
      .flatMap(({ file, text }) => text.split(/(?<=[.:;])\s/).map((sentence) => ({ file, sentence })))
      .filter(({ sentence }) => !specified.includes(sentence) && sentence !== derived);
    expect(sentences.filter(({ sentence }) => stilted.test(sentence))).toEqual([]);
  });
});

describe('the measure of reading', () => {
  test('counts the syllables that are heard', () => {
    const heard = { mailbox: 2, Yahoo: 2, started: 2, copied: 2, messages: 3, please: 1, table: 2, safe: 1, used: 1 };
    for (const [word, count] of Object.entries(heard)) expect([word, syllablesOf(word)]).toEqual([word, count]);
  });

  test('tells what a child reads from what a lawyer writes', () => {
    expect(readingGrade('The cat sat on the mat. It was warm.')).toBeLessThan(2);
    expect(
      readingGrade('Notwithstanding the aforementioned provisions, authorization necessitates documentation.'),
    ).toBeGreaterThan(15);
  });
});
