import { describe, expect, test } from 'vitest';
import type { Progress, TransferStatus } from '../../src/contract/calls/status.ts';
import { folderName } from '../../src/contract/folder-name.ts';
import { standingOf } from '../../src/contract/transfer-status.ts';
import { endingOf } from '../../src/portal/pages/status/need.ts';
import { pacificDate, today } from '../../src/portal/wording.ts';
import { acts, contactsNeedOf, type Ending, needOf } from '../../src/portal/wording/acts.ts';
import { signOutFirst } from '../../src/portal/wording/leave-wizard.ts';
import { messageWords } from '../../src/portal/wording/message.ts';
import { formatMoment } from '../../src/portal/wording/moment.ts';
import { forwardingWords } from '../../src/portal/wording/status-contacts.ts';
import { daily, nextLook } from '../../src/portal/wording/status-daily.ts';
import { isComparing, timeLeftWords, waiting } from '../../src/portal/wording/status-life.ts';
import { type Standpoint, standingWords } from '../../src/portal/wording/status-standing.ts';
import { exportBadge, formatDay, formatLastDay, status } from '../../src/portal/wording/status.ts';
import { readerPage } from '../../src/server/export/page/reader-page.ts';
import { codesBut, EVERY_CODE } from '../support/wizard.ts';

const NAME = 'San Bruno';
const FINISHED = '2025-11-02T00:00:00Z';
/** Of an email transfer whose owner hears of its end, unless `from` says something else. */
const standing = (progress: Progress, from: Partial<Standpoint> = {}) =>
  standingWords(progress, { kind: 'email', ofExport: false, at: Date.now(), isTold: true, legacyName: NAME, ...from });
const running: Progress = { status: 'inprogress', done: 400, total: 400 };

test('the buttons of the status page have the names of the specification', () => {
  const { stop, mend, takeBack, again, receipt } = acts;
  expect([stop, mend, takeBack, again, receipt].map(({ button }) => button)).toEqual([
    'Stop the transfer',
    'Put it right',
    'Take back what was copied',
    'Copy what is new',
    'Download the receipt',
  ]);
  expect(acts.forwarding.button).toBe('Stop forwarding');
  expect(status.more).toMatchObject({ button: 'Show more', title: 'Sign in to see your transfer' });
});

test.each([
  ['INBOX', 'Inbox'],
  ['INBOX/Club', 'Inbox/Club'],
  ['INBOX.Club', 'Inbox.Club'],
  ['INBOX OLD', 'INBOX OLD'],
  ['Club/INBOX', 'Club/INBOX'],
])('the folder %s is called %s', (name, called) => {
  expect(folderName(name)).toBe(called);
});

test('forwarding that is over says what is true also where a later transfer forwards to another address', () => {
  expect(forwardingWords.ended('ann@mail.example', FINISHED)).toBe(
    `Forwarding ended on ${formatDay(FINISHED)}. New mail no longer goes to ann@mail.example.`,
  );
});

test('that a copy of forwarded mail stays is not said where none does', () => {
  expect(forwardingWords.on('ann@mail.example', FINISHED)).not.toContain('copy');
  expect(forwardingWords.copies(true, 'San Bruno')).toBe('A copy stays in your San Bruno mailbox.');
  expect(forwardingWords.copies(false, 'San Bruno')).toBe('No copy stays in your San Bruno mailbox.');
});

test('a daily that has brought new mail for the last time says so, and promises no time to look again', () => {
  const until = '2025-11-30T23:59:59-08:00';
  const said = (next: string) => daily.on(nextLook({ next, until }), until, NAME, until).join(' ');
  expect(said('2025-12-01T04:59:59.000Z')).toContain('We look for new mail again on');
  expect(said('2025-12-01T07:59:59.000Z')).toBe(
    `This is on. We will not look for new mail again. It ends by itself on ${formatLastDay(until)}.`,
  );
});

test('a daily that ends before the mailbox closes says what to do in between', () => {
  const [until, accessEnd] = ['2025-12-31T00:00:00Z', '2026-01-31T23:59:59-08:00'];
  const on = daily.on('2025-11-02T00:00:00Z', until, NAME, accessEnd).join(' ');
  const [end, close] = [formatLastDay(until), formatLastDay(accessEnd)];
  expect(on).toContain(
    `It ends by itself on ${end}. Your San Bruno mailbox closes on ${close}. For mail that comes in between, start a new transfer before that day.`,
  );
});

test('of a mailbox that closes before a daily ends, nothing is said of mail that comes after the daily', () => {
  const on = daily.on('2025-11-02T00:00:00Z', '2025-12-31T00:00:00Z', NAME, '2025-11-30T23:59:59-08:00').join(' ');
  expect(on).not.toContain('in between');
});

test('month and day stay on one line, and so does a time', () => {
  const at = '2025-11-30T20:05:00Z';
  const moment = formatMoment(at).split(' at ');
  expect(moment).toHaveLength(2);
  expect(moment[1]).toMatch(/^\d+:05\u00a0[AP]M$/);
  for (const each of [moment[0], today(), pacificDate(at)]) expect(each).toMatch(/^\w+\u00a0\d+, \d{4}$/);
  expect(formatDay(at)).toMatch(/^\w+\u00a0\d+, \d{4}/);
  expect(signOutFirst.other(at, at)).toMatch(/^Signed in on [^ ]+ at [^ ]+, last used on [^ ]+ at [^ ]+$/);
});

test('a size stays on one line', () => {
  for (const [bytes, size] of [
    [67_000, '67\u00a0kB'],
    [4_000_000, '4\u00a0MB'],
    [1_900_000_000, '1.9\u00a0GB'],
  ] as const)
    expect(status.done('email', 2, bytes)).toBe(`2 messages copied (${size}).`);
});

test.each([
  [0, 'Less than a minute left.'],
  [59, 'Less than a minute left.'],
  [60, 'About 1 minute left.'],
  [61, 'About 2 minutes left.'],
  [600, 'About 10 minutes left.'],
  [601, 'About 15 minutes left.'],
  [1_100, 'About 20 minutes left.'],
  [3_300, 'About 55 minutes left.'],
  [3_301, 'About 1 hour left.'],
  [3_601, 'About 2 hours left.'],
  [48 * 3_600, 'About 48 hours left.'],
  [48 * 3_600 + 1, 'About 3 days left.'],
  [1_000_000, 'About 12 days left.'],
])('%i s left read "%s"', (left, words) => {
  expect(timeLeftWords(left)).toBe(words);
});

describe('an export whose messages are all copied', () => {
  const mail: Progress = { status: 'started', done: 400, total: 400 };
  const until = '2025-11-02T00:00:00Z';
  const said = (beside?: Progress) => standing(mail, { ofExport: true, at: 0, beside });

  test.each<[string, Progress]>([
    ['wait', { status: 'started', done: 3, total: 60, waiting: { reason: 'unreachable', until } }],
    ['wait for their owner', { status: 'started', attention: { side: 'source', reason: 'password' } }],
    ['are being copied', { status: 'started', done: 3, total: 60 }],
    ['are not counted yet', { status: 'started', done: 0 }],
  ])('says that the files come once the contacts are there, which %s', (_, contacts) => {
    expect(said(contacts)).toMatchObject({
      label: 'In progress',
      now: status.files.wait.email,
      when: standing(contacts, { ofExport: true, kind: 'contacts', at: 0 }).when,
    });
    // And of contacts that are ahead of the mail.
    expect(standing(mail, { ofExport: true, kind: 'contacts', at: 0, beside: contacts }).now).toBe(
      status.files.wait.contacts,
    );
  });

  test.each<[string, Progress | undefined]>([
    ['are copied too', mail],
    ['could not be read', { status: 'error', done: 0, finished: FINISHED }],
    ['are not asked for', undefined],
  ])('says that the files are made, when its contacts %s', (_, contacts) => {
    expect(said(contacts)).toMatchObject({
      now: status.files.made(false),
      when: expect.stringContaining(status.when.running),
    });
  });

  test('says why it waits itself', () => {
    const waits = standing({ ...mail, waiting: { reason: 'disk' } }, { ofExport: true, at: 0, beside: mail });
    expect(waits.now).toBe(status.now(NAME).interrupted);
  });
});

test.each<[keyof ReturnType<typeof status.now>, Progress]>([
  ['counting', { status: 'inprogress', done: 0 }],
  ['running', { status: 'inprogress', done: 3 }],
  ['running', { status: 'inprogress', done: 0, total: 400 }],
  ['started', { status: 'started' }],
])('what is being done is said as "%s" of %o', (now, progress) => {
  expect(standing(progress).now).toBe(status.now(NAME)[now]);
});

test.each(['provider_limit', 'unreachable', 'busy', 'queue', 'disk'] as const)(
  'why a transfer waits is said for %s, with the moment when it is known',
  (reason) => {
    const others = (['provider_limit', 'unreachable', 'busy', 'queue', 'disk'] as const).filter(
      (one) => one !== reason,
    );
    const said = standing({ status: 'error', waiting: { reason } });
    expect(said).toMatchObject({ looks: 'waiting', label: 'Waiting', texts: [waiting.why({ reason }, 'email')] });
    expect(others.map((other) => waiting.why({ reason: other }, 'email'))).not.toContain(said.texts[0]);
    expect(said.when).toContain("You don't need to do anything.");
    const until = '2025-11-02T03:00:00Z';
    expect(standing({ status: 'error', waiting: { reason, until } }).when).toContain(formatMoment(until));
  },
);

test('mail that has failed is not said to be left alone where new mail is looked for once a day', () => {
  const failed = { status: 'review', finished: FINISHED };
  const next = '2025-11-02T03:00:00Z';
  const said = (kind: 'email' | 'contacts', looksAgain?: string) => standing(failed, { kind, at: 0, looksAgain }).when;
  expect(said('email', next)).toBe(status.when.daily(next));
  expect(said('email')).toBe(status.when.failed);
  // Contacts are brought by nobody.
  expect(said('contacts', next)).toBe(status.when.failed);
});

test.each(['unreachable', 'busy'] as const)('contacts that wait (%s) are not told as mail that does', (reason) => {
  const until = '2025-11-02T03:00:00Z';
  const said = standing({ ...running, waiting: { reason, until } }, { kind: 'contacts' });
  expect(said).toMatchObject({ looks: 'waiting', label: 'Waiting', now: expect.stringContaining('contacts') });
  expect(said.texts[0]).toContain('address book');
  expect(said.when).toContain(formatMoment(until));
});

describe('what contacts need', () => {
  test('a permission that is missing is told as what it is, with the button that gives it', () => {
    const need = contactsNeedOf({ side: 'destination', reason: 'consent' }, 'AOL');
    expect(need?.happened).toBe(
      'We could not add your contacts, because AOL did not let us. Your mail is not affected.',
    );
    expect(need?.todo).toContain(acts.mend.allowContacts.button);
    expect(acts.mend.allowContacts.button).toBe('Allow contacts');
  });

  test('room is wanted in the address book, and all else is as for the mail', () => {
    expect(contactsNeedOf({ side: 'destination', reason: 'full' }, 'AOL')?.title).toBe('Your new address book is full');
    expect(contactsNeedOf({ side: 'destination', reason: 'refused' }, 'AOL')).toBeNull();
    expect(contactsNeedOf({ side: 'destination', reason: 'password' }, 'AOL')).toBeNull();
    expect(contactsNeedOf({ side: 'source', reason: 'consent' }, 'AOL')).toBeNull();
  });
});

test('who has extracted an export is told which of its files shows the mail', () => {
  expect(status.exports.extract(1)).toContain(`“${readerPage(1)}”`);
  // Each of several has a page of its own.
  const begin = /begins with “(?<begin>[^”]+)”/.exec(status.exports.extract(2))?.groups?.['begin'];
  for (const part of [1, 2, 12]) expect(readerPage(part).startsWith(begin ?? '?')).toBe(true);
});

describe('an export that waits for room', () => {
  const paused = { status: 'started', done: 8, total: 20, waiting: { reason: 'disk' } } as const;

  test('is in progress by its badge, waits by its card, and nowhere is an error, interrupted or stopped', () => {
    const { kind, ...badge } = exportBadge(standingOf(paused));
    expect([kind, badge]).toEqual(['running', { label: 'In progress', text: 'Your export is still in progress' }]);
    const { label, texts, now, when = '' } = standing(paused, { ofExport: true });
    expect([label, ...texts, when]).toEqual([
      'Waiting',
      'We have no room on our side right now.',
      "We'll carry on as soon as we can. You don't need to do anything.",
    ]);
    expect([label, ...texts, now, when].join(' ')).not.toMatch(/error|interrupted|stopped/i);
  });
});

describe('what a transfer needs', () => {
  const needs = (['source', 'destination'] as const).flatMap((side) =>
    (['password', 'consent', 'full', 'refused'] as const).map((reason) => ({ side, reason })),
  );

  test.each(needs)('what the $side mailbox needs for $reason is said with the one thing to do', ({ side, reason }) => {
    const { title, happened, todo } = needOf({ side, reason }, NAME);
    expect(happened).toContain(side === 'source' ? 'San Bruno mailbox' : 'new mailbox');
    const verb = { password: 'Type', consent: 'Sign in', full: 'Make room', refused: 'Try again' }[reason];
    expect(todo.startsWith(verb)).toBe(true);
    expect(title).not.toBe('');
    const { looks, label, texts } = standing({
      status: 'review',
      failure: 'The server said no.',
      attention: { side, reason },
    });
    expect({ looks, label, texts }).toEqual({ looks: 'waiting', label: 'Waiting for you', texts: [] });
  });

  test('that a mailbox takes a password no longer is not said to be a new one: it may be closed, or locked', () => {
    const { title, todo } = needOf({ side: 'source', reason: 'password' }, NAME);
    expect(title).toBe("We can't sign in to your San Bruno mailbox");
    expect(todo).toContain('If you changed it, type the new one.');
  });
});

describe('copying once more', () => {
  const done = { status: 'completed', done: 2, total: 2, finished: FINISHED } as const;
  const failed = { status: 'review', done: 1, total: 2, finished: FINISHED } as const;
  const stopped = { ...failed, ended: 'cancelled' } as const;

  test.each<[string, Ending, TransferStatus]>([
    ['is completed', 'completed', { emailmigration: done, contactsmigration: done }],
    ['has failed', 'unfinished', { emailmigration: failed }],
    ['has failed with its contacts', 'unfinished', { emailmigration: done, contactsmigration: failed }],
    ['was stopped', 'unfinished', { emailmigration: stopped }],
    [
      'is completed and was taken back',
      'taken back',
      { emailmigration: { ...done, taken_back: 1 }, brings_back: true },
    ],
    ['was stopped and taken back', 'taken back', { emailmigration: { ...stopped, taken_back: 1 }, brings_back: true }],
    ['brought nothing, and an earlier one was taken back', 'taken back', { emailmigration: done, brings_back: true }],
    ['was taken back, and copied again since', 'completed', { emailmigration: { ...done, taken_back: 2 } }],
  ])('is told by what a transfer that %s has left behind', (_, ending, status) => {
    expect(endingOf(status)).toBe(ending);
  });

  test('says what is copied in each of the three, and leads to the button where there is more than what is new', () => {
    const [completed, unfinished, takenBack] = (['completed', 'unfinished', 'taken back'] as const).map((ending) =>
      acts.again.text(NAME, ending).join(' '),
    );
    expect(completed).toContain('what came to your San Bruno mailbox since the last time. Nothing is copied twice.');
    expect(completed).not.toContain('not there yet');
    expect(unfinished).toContain('where it stopped: we copy what is not there yet');
    expect(takenBack).toContain('We copy again what was taken back');
    for (const text of [completed, unfinished, takenBack]) expect(text).not.toContain('only');
    for (const lead of Object.values(acts.again.lead)) expect(lead).toContain(`“${acts.again.button}”`);
  });
});

describe('taking back', () => {
  test('says before what stays, and that new mail is not brought once a day any more where it is', () => {
    const [plain, ofDaily] = [false, true].map((isDaily) => acts.takeBack.text(NAME, isDaily).join(' '));
    expect(plain).toContain('Those that you have read, moved or changed since then stay.');
    expect(plain).not.toContain('once a day');
    expect(ofDaily).toContain('We also stop bringing new mail once a day.');
  });
});

describe('how an operation stands', () => {
  test('nothing is done of what is about to begin', () => {
    const about = standing({ status: 'started', done: 0 });
    expect([...about.texts, about.now]).toEqual([
      'Your transfer is about to begin.',
      'Nothing yet. We begin in a moment.',
    ]);
    expect(standing({ status: 'started', done: 0 }, { ofExport: true }).now).toBe(status.now(NAME).counting);
  });

  test('a failed download is not said to go on where it stopped', () => {
    const failed: Progress = { status: 'error', finished: FINISHED };
    expect(standing(failed, { ofExport: true }).when).toBe(
      'It will not start again by itself. You can start a new download.',
    );
    expect(standing(failed).when).toContain('nothing is copied twice');
  });

  test('nothing says that everything was saved of a download that leaves something out', () => {
    const saved: Progress = { status: 'completed', finished: FINISHED, done: 10, total: 12 };
    const reason = 'The mail server does not let us read this folder.';
    const texts = (skipped: Progress['skipped']) => standing({ ...saved, skipped }, { ofExport: true }).texts;
    expect(texts([])).toEqual(['Everything was saved to your files.']);
    for (const skipped of [[{ reason }], [{ reason: 'It was not handed out.' }]])
      expect(texts(skipped)).toEqual(['Some of it could not be saved. Everything else was saved to your files.']);
  });

  test('until when its owner has time is said by the minute, as the day would promise all of it', () => {
    const attention = { side: 'destination', reason: 'full' } as const;
    const when = (until?: string, kind: 'email' | 'contacts' = 'email') =>
      standing({ status: 'review', attention: { ...attention, ...(until && { until }) } }, { kind }).when;
    expect(when()).toBe("We'll carry on as soon as you have done this.");
    expect(when('2025-11-15T12:00:00Z')).toBe(
      `We'll carry on as soon as you have done this. If it is not done by ${formatMoment('2025-11-15T12:00:00Z')}, your transfer ends.`,
    );
    // The mail goes on, for weeks if its provider takes only so much a day.
    expect(when('2025-11-15T12:00:00Z', 'contacts')).toContain(', we stop bringing your contacts.');
  });

  test('of a transfer that has run for more than a day nobody says that it may take up to one', () => {
    const started = '2025-11-01T10:00:00Z';
    const after = (hours: number, more: Partial<Progress> = {}) =>
      standing({ ...running, started, ...more }, { at: Date.parse(started) + hours * 3_600_000 }).when;
    expect(after(23)).toBe("It can take a few minutes or up to a day. We'll let you know when it is finished.");
    expect(after(25)).toBe("It takes longer than a day this time. We'll let you know when it is finished.");
    expect(after(25, { compared: 3 })).toBe(after(25));
    expect(after(25, { left: 90 })).toBe('About 2 minutes left.');
  });

  test('of what stays behind it is said that nothing was deleted, as nobody has looked whether it is still there', () => {
    expect(status.skippedHelp.email(NAME)).toBe('Nothing was deleted from your San Bruno mailbox.');
    expect(status.skippedHelp.contacts(NAME)).toBe('Nothing was deleted from your San Bruno address book.');
  });

  test('nobody is told that they will hear of an end of which they will not', () => {
    for (const progress of [running, { ...running, compared: 3 }, { ...running, status: 'error' }]) {
      const when = (isTold: boolean) => standing(progress, { at: 0, isTold }).when;
      expect(when(true)).toContain("We'll let you know when it is finished.");
      expect(when(false)).toContain('This page tells you when it is finished.');
      expect(when(false)).not.toContain('let you know');
    }
  });

  test('until when files can be downloaded is said by the minute too', () => {
    const iso = '2025-12-03T20:02:00Z';
    expect(status.exports.until(iso)).toBe(`Download your files by ${formatMoment(iso)}. Then we delete them.`);
    expect(formatMoment(iso)).toMatch(/December\s\d,\s2025 at \d+:\d\d/);
  });

  test('how files are unpacked is said of one file and of each', () => {
    expect(status.exports.extract(1)).toMatch(
      /^Extract all first\. On Windows, right-click the file .+ open “index\.html”/,
    );
    expect(status.exports.extract(2)).toMatch(
      /^Extract all first\. On Windows, right-click each file .+ that begins with “index”/,
    );
  });

  test('a comparison is told as a step of its own, until it has been made', () => {
    expect(isComparing({ ...running, compared: 0 })).toBe(true);
    expect(isComparing(running)).toBe(false);
    expect(isComparing({ ...running, done: 251, total: 400, compared: 109 })).toBe(false);
    expect(isComparing({ ...running, compared: 400, lost: 0, duplicated: 0, changed: 0 })).toBe(false);
    expect(isComparing({ ...running, compared: 400, finished: FINISHED })).toBe(false);
    // All was refused, and is tried again.
    expect(isComparing({ ...running, compared: 0, bytes: 0 })).toBe(false);
    expect(isComparing({ ...running, compared: 0, waiting: { reason: 'busy' } })).toBe(false);
    expect(standing({ ...running, compared: 3 }).now).toContain('read it back');
    expect(standing({ ...running, compared: 3, left: 30 }).when).toBe('Less than a minute left.');
  });

  test('nobody who reads what was left out is told beside it that everything is copied', () => {
    const refusing = { ...running, skipped: [{ reason: 'The message is too large for the new mailbox.' }] };
    for (const [progress, copied] of [
      [running, 'Everything is copied.'],
      [refusing, 'We copied what we could.'],
    ] as const) {
      const compared = standing({ ...progress, compared: 3 });
      expect(compared.now).toBe(`${copied} Now we read it back and check that it all arrived.`);
      const files = standing({ ...progress, status: 'started' }, { ofExport: true });
      expect(files.now).toBe(`${copied} Now we make your files.`);
    }
  });

  test('of what is finished it is said which of the two that is: the other one may still run', () => {
    const completed: Progress = { status: 'completed', finished: FINISHED };
    expect(standing(completed).texts[0]).toContain('messages');
    expect(standing(completed, { kind: 'contacts' }).texts[0]).toContain('contacts');
  });

  test('a finish is promised only when it can be', () => {
    expect(standing(running).when).toContain(status.when.running);
    expect(standing({ ...running, left: 90 }).when).toBe('About 2 minutes left.');
  });

  test.each([true, false])('a transfer that its owner stopped is no failure (export: %s)', (ofExport) => {
    const cancelled: Progress = { status: 'review', ended: 'cancelled', finished: FINISHED };
    expect(standing(cancelled, { ofExport })).toMatchObject({ looks: 'stopped', label: 'Stopped' });
    expect(standing(cancelled, { ofExport }).texts[0]).toContain('You stopped this');
    expect(standing(cancelled, { ofExport, kind: 'contacts' }).texts.join(' ')).not.toContain('Messages');
    const left = 'Up to 138 messages were on their way.';
    expect(standing({ ...cancelled, failure: left }, { ofExport }).texts).toContain(left);
    expect(standing({ status: 'review', finished: FINISHED }, { ofExport }).looks).toBe('failed');
  });

  test.each(['review', 'authentication_error'])('of what was taken back nobody reads that it stays (%s)', (state) => {
    const ended: Progress = { status: state, done: 4, copied: 4, finished: FINISHED };
    expect(standing(ended).texts.join(' ')).toContain('What was copied stays');
    expect(standing({ ...ended, taken_back: 4 }).texts.join(' ')).not.toContain('What was copied stays');
  });
});

describe('an act that is refused', () => {
  const abouts = [
    'stop refused',
    'mend refused',
    'take-back refused',
    'again refused',
    'forwarding refused',
    'daily-off refused',
  ] as const;
  const said = (about: (typeof abouts)[number] | 'act overtaken', code: (typeof EVERY_CODE)[number]) =>
    messageWords({ about, code }, NAME);

  test.each(abouts)('says for every code what happened and what to do: %s', (about) => {
    for (const code of EVERY_CODE) {
      const { kind, title, content } = said(about, code);
      expect(kind).toBe('error');
      expect(title).not.toBe('');
      expect(content.join(' ')).toMatch(/Please|wait/);
    }
  });

  test.each(abouts)('tells too many attempts from all else: %s', (about) => {
    expect(said(about, 'TOO_MANY_ATTEMPTS').title).toBe('Too many attempts');
    for (const code of codesBut('TOO_MANY_ATTEMPTS')) expect(said(about, code).title).not.toBe('Too many attempts');
  });

  test.each(abouts)('that was not answered may have been done after all: %s', (about) => {
    for (const code of ['UNEXPECTED_ANSWER', 'UNAVAILABLE'] as const)
      expect(said(about, code).title).toBe('We have not heard back');
    expect(said(about, 'GENERAL_ERROR').title).not.toBe('We have not heard back');
  });

  test('whoever is not known any more is led to the sign-in', () => {
    expect(said('act overtaken', 'INVALID_TOKEN').content.join(' ')).toContain(`“${status.more.button}”`);
    expect(said('act overtaken', 'OPERATION_NOT_ALLOWED').title).toBe('Something has changed');
  });

  test('that came too late is told, and is no error', () => {
    expect(said('act overtaken', 'OPERATION_NOT_ALLOWED').kind).toBe('info');
    expect(said('act overtaken', 'INVALID_TOKEN').kind).toBe('error');
  });

  test.each(['INVALID_TOKEN', 'OPERATION_NOT_ALLOWED'] as const)(
    'that came too late leaves the mail safe: %s',
    (code) => {
      expect(said('act overtaken', code).content.join(' ')).toContain('Your mail is safe');
    },
  );
});
