import { describe, expect, test } from 'vitest';
import { letterOf, smsOf, type Notification } from '../../src/server/notifications/wording.ts';
import { SENTENCES } from '../../src/server/worker/sentences.ts';

const ID = 'b'.repeat(32);
const moved: Notification = {
  kind: 'finished',
  contact: 'pat@mail.example',
  isConfirmed: true,
  source: 'maria@sanbruno.example',
  destination: { provider: 'yahoo', email: 'maria@sanbruno.example' },
  messages: 1200,
  contacts: 1,
  messagesPresent: 0,
  messagesMoved: 0,
  contactsPresent: 0,
  contactsCompleted: 0,
  remarks: false,
  skipped: 0,
  outcomes: [],
  transferId: ID,
  statusUrl: `https://portal.example/status?migration_id=${ID}`,
  legacyName: 'San Bruno',
  supportPhone: '650 555 0100',
};
const elsewhere: Notification = { ...moved, destination: { provider: 'google', email: 'maria@gmail.com' } };
const KINDS = ['started', 'finished', 'attention', 'stopped', 'paused', 'waiting', 'taken back'] as const;

/** What a mail client shows of HTML, its entities read. */
function shown(html: string): string {
  return html
    .replaceAll('<wbr>', '')
    .replaceAll(/<[^<>]*>/g, ' ')
    .replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCodePoint(+code));
}

describe('a letter', () => {
  test('has addresses that break after their "@" where a phone is too narrow, and an ID that breaks in halves', () => {
    const { text, html } = letterOf(elsewhere);
    for (const part of [
      'maria@<wbr>sanbruno.example',
      'maria@<wbr>gmail.com',
      `${'b'.repeat(16)}<wbr>${'b'.repeat(16)}`,
    ])
      expect(html).toContain(`>${part}`);
    expect(text).toContain(`Transfer ID: ${ID}`);
  });

  test.each(KINDS)(
    'about a transfer that has %s says who writes, the account, the destination, one next step, the phone number and that no password is asked for',
    (kind) => {
      const { text, html } = letterOf({ ...moved, kind });
      for (const said of [text, shown(html)])
        for (const part of [
          'San Bruno Email Transfer',
          'maria@sanbruno.example',
          'Yahoo',
          'What to do next',
          '650\u00a0555\u00a00100',
          'We never ask for your password',
          ID,
        ])
          expect(said).toContain(part);
      expect(html).toContain(`href="${moved.statusUrl}"`);
    },
  );

  test('has no text that is smaller than the small text of the pages', () => {
    const sizes = [...letterOf(moved).html.matchAll(/font-size:(\d+)px/g)].map(([, size]) => Number(size));
    expect(Math.min(...sizes)).toBe(16);
  });

  test.each(KINDS)(
    'never holds the link to files when a transfer has %s, and leads to the status page only',
    (kind) => {
      for (const isConfirmed of [true, false]) {
        const news: Notification = { ...moved, kind, isConfirmed };
        const { text, html } = letterOf(news);
        for (const part of [text, html, smsOf(news)])
          expect(new Set(part.match(/https?:[^\s"<]+/g))).toEqual(new Set([moved.statusUrl]));
      }
    },
  );

  test('says that what was copied stays when a transfer was stopped that has copied something, and else not', () => {
    const stopped: Notification = { ...moved, kind: 'stopped' };
    const stays = 'What we copied stays in your new mailbox, and your San Bruno mailbox is as it was.';
    expect(letterOf(stopped).text).toContain(stays);
    for (const part of [{ messages: 1 }, { contacts: 1 }, { contactsCompleted: 1 }])
      expect(letterOf({ ...stopped, messages: 0, contacts: 0, ...part }).text).toContain(stays);
    const { text } = letterOf({ ...stopped, messages: 0, contacts: 0, messagesPresent: 3, contactsPresent: 3 });
    expect(text).toContain('What to do next: Nothing. Your San Bruno mailbox is as it was.');
    expect(text).not.toContain('copied stays');
  });

  test.each([
    ['source', 'password', 'type the password of your San Bruno mailbox. If you changed it, type the new one.'],
    ['destination', 'password', 'type the password of your new mailbox. If you changed it, type the new one.'],
    ['destination', 'consent', 'sign in to your new mailbox again'],
    ['destination', 'full', 'Make room in your new mailbox'],
    ['destination', 'refused', 'so that we try again'],
  ] as const)(
    'about a transfer whose %s needs its owner for "%s" says to %s, and until when',
    (side, reason, action) => {
      const until = new Date('2026-12-05T20:00:00Z');
      const { subject, text } = letterOf({
        ...moved,
        kind: 'paused',
        outcomes: ['It can not go on.'],
        attention: { operation: 'emailmigration', side, reason, until, resumed: 0 },
      });
      expect(subject).toBe('Your San Bruno email transfer to Yahoo is waiting for you');
      expect(text).toContain('It can not go on.');
      expect(text).toContain(action);
      expect(text).toContain('by December 5, 2026 at 12:00 PM PST.');
    },
  );

  test.each([
    [
      'provider_limit',
      new Date('2026-12-05T20:00:00Z'),
      'takes only so much mail',
      'We start again around December 5, 2026 at 12:00 PM PST.',
    ],
    ['disk', undefined, 'no room on our side', 'We start again as soon as we can.'],
    [null, undefined, 'is taking a break', 'We start again as soon as we can.'],
  ] as const)('about a long wait (%s) says why and until when', (reason, until, why, when) => {
    const { subject, text } = letterOf({
      ...moved,
      kind: 'waiting',
      waiting: { operation: 'emailmigration', reason, ...(until === undefined ? {} : { until }) },
    });
    expect(subject).toBe('Your San Bruno email transfer to Yahoo is taking a break');
    expect(text).toContain(why);
    expect(text).toContain('Your mail is safe, and nothing was deleted.');
    expect(text).toContain(when);
  });

  test.each(['unreachable', 'busy'] as const)(
    'about contacts that wait for long (%s) does not tell of the mail',
    (reason) => {
      const { text } = letterOf({ ...moved, kind: 'waiting', waiting: { operation: 'contactsmigration', reason } });
      expect(text).toContain('Your contacts have to wait, because');
      expect(text).not.toMatch(/mailboxes|mail server/);
    },
  );

  test.each([
    [1, null, '1 message was removed', 'was taken back'],
    [1200, '2 messages stay in your new mailbox.', '1,200 messages were removed', 'was taken back in part'],
    [0, '2 messages stay in your new mailbox.', 'Nothing was removed', 'could not be taken back'],
    // It had copied nothing.
    [0, null, 'There was nothing to take back', 'was taken back'],
  ])('about what was taken back (%i, %s) says how much, and what stays', (removed, remark, said, how) => {
    const { subject, text } = letterOf({ ...moved, kind: 'taken back', takenBack: { removed, remark } });
    expect(subject).toBe(`Your San Bruno email transfer to Yahoo ${how}`);
    expect(text).toContain(said);
    expect(text).toContain(remark ?? 'Everything else in your new mailbox is as it was');
    expect(text.includes('What to do next: Nothing.')).toBe(remark === null);
    expect(text).not.toContain('copied.');
  });

  test.each([
    ['stopped', {}],
    ['stopped', { messages: 0, contacts: 0 }],
    ['taken back', { takenBack: { removed: 2, remark: null } }],
    ['taken back', { takenBack: { removed: 2, remark: '2 messages stay in your new mailbox.' } }],
  ] as const)(
    'about what was %s does not say that nothing is to do while new mail goes elsewhere (%j)',
    (kind, told) => {
      const forwarding = { to: 'maria@gmail.com', since: new Date('2025-11-02T20:00:00Z') };
      const { text } = letterOf({ ...elsewhere, ...told, kind, forwarding });
      expect(text).toContain('Since November 2, 2025, new mail to your San Bruno address goes to maria@gmail.com.');
      expect(text).toContain('press “Stop forwarding”');
      expect(text).not.toContain('San Bruno mailbox is as it was');
      expect(text).not.toContain('What to do next: Nothing');
      expect(letterOf({ ...elsewhere, ...told, kind }).text).toContain('our San Bruno mailbox is as it was.');
    },
  );

  test.each([
    [1, '1 message was there before, and has been taken back since then.'],
    [1200, '1,200 messages were there before, and have been taken back since then.'],
  ])('about an end does not say that mail is there which was taken back since (%i)', (messagesTakenBack, said) => {
    const { text } = letterOf({ ...moved, messages: 0, contacts: 0, messagesTakenBack });
    expect(text).toContain(said);
    for (const untrue of ['Your mail is there', 'already there', 'nothing to copy']) expect(text).not.toContain(untrue);
    expect(letterOf({ ...moved, messagesTakenBack }).text).toContain('Your mail is there');
  });

  test('why forwarding is not on does not say what is in the new mailbox, where not all may be, nor stay', () => {
    const told = Object.entries(SENTENCES).filter(([name]) => name.startsWith('forwarding'));
    expect(told.length).toBeGreaterThan(0);
    for (const [, sentence] of told) expect(sentence).not.toMatch(/mail is in your new mailbox/);
  });

  test('about what was taken back in part does not say that it could not be, whatever was in the way of the rest', () => {
    const { takenBackNoSignIn, takenBackFailed, takenBackNoMore } = SENTENCES;
    for (const remark of [takenBackNoSignIn, takenBackFailed, takenBackNoMore]) {
      const { text } = letterOf({ ...moved, kind: 'taken back', takenBack: { removed: 2, remark } });
      expect(text).not.toContain('could not take back what');
    }
  });

  test('about a run of a daily that has gone off says so', () => {
    expect(letterOf({ ...moved, kind: 'paused', dailyIsOff: true }).text).toContain('stopped bringing new mail');
  });

  test.each([
    ['consent', 'press “Allow contacts”'],
    ['full', 'Make room in your new address book'],
  ] as const)('about contacts alone that wait for "%s" says to %s', (reason, action) => {
    const until = new Date('2026-12-05T20:00:00Z');
    const attention = { operation: 'contactsmigration', side: 'destination', reason, until, resumed: 0 } as const;
    const { text } = letterOf({ ...moved, kind: 'paused', attention });
    expect(text).toContain(action);
    // The mail may go on for longer.
    expect(text).toContain('After that, we stop bringing your contacts.');
    expect(text).not.toContain('the transfer ends');
  });

  test.each([
    ['password', 'Your new mailbox no longer takes the password that you gave us.'],
    ['consent', 'Your new mailbox does not let us sign in.'],
    ['full', 'Your new mailbox is full.'],
    ['refused', 'The mail server of your new mailbox said no to what we asked.'],
  ] as const)('about a transfer that waits for "%s" says what happened, and that the mail is safe', (reason, said) => {
    const until = new Date('2026-12-05T20:00:00Z');
    const attention = { operation: 'emailmigration', side: 'destination', reason, until, resumed: 0 } as const;
    const { text } = letterOf({ ...moved, kind: 'paused', attention });
    expect(text).toContain(`${said} Your mail is safe, and nothing was deleted.`);
  });

  test('about a finished transfer to another address says that new mail does not follow, unless it is forwarded', () => {
    const follows = 'does not follow you. Please tell people your new address.';
    expect(letterOf(elsewhere).text).toContain(follows);
    expect(letterOf(moved).text).not.toContain(follows);
    const forwarding = { to: 'maria@gmail.com', since: new Date('2025-11-02T20:00:00Z') };
    const { text } = letterOf({ ...elsewhere, forwarding });
    expect(text).toContain('Since November 2, 2025, new mail to your San Bruno address goes to maria@gmail.com.');
    expect(text).not.toContain(follows);
  });

  test('says one thing and many in the right number', () => {
    expect(letterOf(moved).text).toContain('1,200 messages and 1 contact were copied.');
    expect(letterOf({ ...moved, messages: 0 }).text).toContain('1 contact was copied.');
    expect(letterOf({ ...moved, skipped: 1 }).text).toContain('1 item is not in your new mailbox.');
    expect(letterOf({ ...moved, skipped: 2 }).text).toContain('2 items are not in your new mailbox.');
  });

  test('about a mailbox with nothing in it counts nothing, says so, and promises no mail', () => {
    const { text } = letterOf({ ...moved, messages: 0, contacts: 0 });
    expect(text).not.toMatch(/\b0\b|copied|Your mail is there/);
    expect(text).toContain('There was nothing to copy.');
  });

  test('about a transfer that goes on says how much was copied so far', () => {
    for (const kind of ['paused', 'waiting'] as const)
      expect(letterOf({ ...moved, kind }).text).toContain('1,200 messages and 1 contact were copied so far.');
  });

  test('about new mail that is brought once a day says until when, and not that it does not follow', () => {
    const { text } = letterOf({ ...elsewhere, dailyUntil: new Date('2025-12-01T07:59:59Z') });
    expect(text).toContain('We bring new mail from your San Bruno mailbox once a day, until November 30, 2025.');
    expect(text).not.toContain('does not follow');
  });

  test('about contacts that were there counts each once', () => {
    const { text } = letterOf({ ...moved, contactsPresent: 2, contactsCompleted: 1 });
    expect(text).toContain(
      '3 contacts were already there. We added what was missing to 1 of them and changed nothing else.',
    );
    expect(text.match(/already there/g)).toHaveLength(1);
  });

  test('to who may be a stranger names neither the mailboxes nor how much was copied', () => {
    for (const kind of KINDS)
      expect(letterOf({ ...moved, kind, isConfirmed: false }).text).not.toMatch(/Yahoo|maria|1,200|contact\b/);
    const { subject } = letterOf({ ...moved, isConfirmed: false });
    expect(subject).toBe('A San Bruno email transfer is complete');
  });

  test('to who may be a stranger about a transfer that goes on does not say how it went', () => {
    for (const kind of ['paused', 'waiting'] as const) {
      const { text } = letterOf({ ...moved, kind, isConfirmed: false });
      expect(text).not.toMatch(/went|files|Gmail|Yahoo|maria/);
    }
  });

  test('has a dark look of its own, and a background where its ink has a colour', () => {
    const { html } = letterOf(moved);
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
    expect(html).toContain('@media (prefers-color-scheme:dark)');
    expect(html).toMatch(/<body style="[^"]*background:#ffffff;color:#1b1b1f/);
  });

  test('about a run that found little new tells apart what was there', () => {
    const { text } = letterOf({ ...moved, messages: 1, messagesPresent: 12, contacts: 0 });
    expect(text).toContain('1 message was copied.');
    expect(text).toContain('12 messages were already there.');
  });

  test('shows foreign text as text', () => {
    const { html } = letterOf({ ...moved, outcomes: ['<img src=x onerror="alert(1)">'] });
    expect(html).not.toContain('<img');
    expect(shown(html)).toContain('<img src=x onerror="alert(1)">');
  });

  test('to a phone fits in two parts of an SMS', () => {
    for (const kind of KINDS) {
      const sms = smsOf({ ...moved, kind, destination: { provider: 'other', email: 'pat@rivera.example' } });
      expect(sms.length).toBeLessThanOrEqual(306);
      expect(sms).toMatch(/^[\x20-\x7e]+$/);
    }
  });
});
