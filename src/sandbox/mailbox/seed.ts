import type { SeedMailbox, SeedMessage } from '../mail-account.ts';
import { type Chance, chance } from './chance.ts';
import { type Attachment, type Letter, type Person, document, picture, writeLetter } from './letter.ts';
import { oddLetters } from './odd-letters.ts';
import { KINDS, type KindName } from './words.ts';

export type MailboxKind = 'twenty years' | 'a dozen' | 'empty';

type Plan = {
  readonly name: string;
  readonly use?: string;
  readonly kinds?: readonly KindName[];
  readonly letters?: number;
  readonly from?: number;
  readonly to?: number;
  readonly flags?: readonly string[];
  readonly own?: boolean;
  readonly odd?: boolean;
  readonly subscribed?: boolean;
};

const FIRST_YEAR = 2005;
const LAST_YEAR = 2025;
const FIRST_UID_VALIDITY = 1_104_537_600;
const MINUTE = 60_000;

const TWENTY_YEARS: readonly Plan[] = [
  { name: 'INBOX', kinds: ['family', 'news', 'bills', 'work'], letters: 110 },
  { name: 'Sent', use: '\\Sent', kinds: ['family', 'work'], letters: 70, own: true, flags: ['\\Seen'] },
  {
    name: 'Drafts',
    use: '\\Drafts',
    kinds: ['family'],
    letters: 4,
    own: true,
    flags: ['\\Seen', '\\Draft'],
    from: 2024,
  },
  { name: 'Trash', use: '\\Trash', kinds: ['news', 'junk'], letters: 14, from: 2023 },
  { name: 'Junk', use: '\\Junk', kinds: ['junk'], letters: 18, flags: ['$Junk'], from: 2024 },
  { name: 'Familie', kinds: ['family'], letters: 28 },
  { name: 'Familie/Müller', kinds: ['family'], letters: 24 },
  { name: '旅行/2019', kinds: ['travel'], letters: 20, from: 2019, to: 2019 },
  { name: 'Bills', letters: 0 },
  { name: 'Bills/2021 & taxes', kinds: ['bills'], letters: 18, from: 2021, to: 2021 },
  { name: 'Newsletters', kinds: ['news'], letters: 40, subscribed: false },
  { name: 'Work/Projects/Bridge 2012', kinds: ['work'], letters: 22, from: 2011, to: 2013 },
  { name: 'Aunt "Rosie" (1931–2018)', kinds: ['family'], letters: 9, to: 2018 },
  { name: 'Odd ones', odd: true },
];
const A_DOZEN: readonly Plan[] = [
  { name: 'INBOX', kinds: ['family', 'news', 'bills'], letters: 6, from: 2018 },
  { name: 'Sent', use: '\\Sent', kinds: ['family'], letters: 3, own: true, flags: ['\\Seen'], from: 2020 },
  { name: 'Trash', use: '\\Trash' },
  { name: 'Familie/Müller', kinds: ['family'], letters: 3, from: 2019 },
];
const EMPTY: readonly Plan[] = [{ name: 'INBOX' }, { name: 'Sent', use: '\\Sent' }, { name: 'Trash', use: '\\Trash' }];
const PLANS: Readonly<Record<MailboxKind, readonly Plan[]>> = {
  'twenty years': TWENTY_YEARS,
  'a dozen': A_DOZEN,
  empty: EMPTY,
};

/** A person's mailboxes, generated at each start and always identical, octet for octet and with the same UIDs. */
export function seedMailboxes(kind: MailboxKind, owner: Person): readonly SeedMailbox[] {
  return PLANS[kind].map((plan, index) => {
    const lots = chance(`${owner.email} ${plan.name}`);
    const messages = plan.odd === true ? numbered(oddLetters(owner), lots) : letters(plan, owner, lots, index);
    return {
      name: plan.name,
      uidValidity: FIRST_UID_VALIDITY + index * 1000,
      uidNext: (messages.at(-1)?.uid ?? 0) + 1 + lots.below(5),
      subscribed: plan.subscribed ?? true,
      messages,
      ...(plan.use === undefined ? {} : { use: plan.use }),
    };
  });
}

/** UIDs with gaps, as in a mailbox that messages have been deleted from. */
function numbered(messages: readonly Omit<SeedMessage, 'uid'>[], lots: Chance): readonly SeedMessage[] {
  let uid = 0;
  return messages.map((message) => {
    uid += lots.oneIn(4) ? 2 + lots.below(9) : 1;
    return { ...message, uid };
  });
}

function letters(plan: Plan, owner: Person, lots: Chance, index: number): readonly SeedMessage[] {
  const { letters: count = 0, from = FIRST_YEAR, to = LAST_YEAR, kinds = ['family'] } = plan;
  const start = Date.UTC(from, 0, 2);
  const step = (Date.UTC(to, 9, 30) - start) / Math.max(1, count);
  const messages = Array.from({ length: count }, (_, number) => {
    const time = Math.floor((start + step * number + lots.below(Math.max(1, Math.floor(step)))) / 1000) * 1000;
    const letter = writeOne(lots, lots.pick(kinds), owner, time, `${index}.${number}`, plan.own === true);
    return {
      // Most letters arrive within minutes of their date.
      internalDate: time + lots.below(20) * MINUTE,
      flags: plan.flags ?? flagsOf(lots, time),
      source: writeLetter(letter),
    };
  });
  return numbered(messages, lots);
}

function flagsOf(lots: Chance, time: number): readonly string[] {
  const read = time < Date.UTC(LAST_YEAR, 0) || lots.below(3) > 0;
  return [
    ...(read ? ['\\Seen'] : []),
    ...(read && lots.oneIn(5) ? ['\\Answered'] : []),
    ...(lots.oneIn(9) ? ['\\Flagged'] : []),
    ...(lots.oneIn(14) ? ['$Forwarded'] : []),
    ...(lots.oneIn(11) ? [lots.pick(['$Label1', 'Family', 'Tax-2021', 'NonJunk'])] : []),
  ];
}

function writeOne(lots: Chance, name: KindName, owner: Person, time: number, id: string, own: boolean): Letter {
  const kind = KINDS[name];
  const other = lots.pick(kind.people);
  const year = String(new Date(time).getUTCFullYear());
  const paragraphs = Array.from({ length: 2 + lots.below(4) }, () => lots.pick(kind.lines));
  const greeting = own ? `Dear ${other.name},` : `Dear ${owner.name},`;
  const text = [greeting, '', ...paragraphs.flatMap((line) => [line, '']), own ? owner.name : other.name].join('\n');
  const answered = lots.oneIn(6) ? [`In-Reply-To: <${id}-before@post.example>`] : [];
  const received = `Received: from mail.${other.email.split('@')[1]} by mx.sanbruno.example; ${new Date(time).toUTCString().replace('GMT', '+0000')}`;
  const subject = lots.pick(kind.subjects).replaceAll('{year}', year);
  return {
    id: `${year}.${id}`,
    from: own ? owner : other,
    to: own ? [other] : lots.oneIn(5) ? [owner, lots.pick(KINDS.family.people)] : [owner],
    subject,
    time,
    zone: lots.pick([-480, -420, 0, 60, 540]),
    text,
    headers: [...(own ? [] : [received]), ...answered],
    attachments: attachmentsOf(lots, name, subject),
    ...(name === 'news' || lots.oneIn(6) ? { html: page(subject, paragraphs) } : {}),
  };
}

function attachmentsOf(lots: Chance, name: KindName, title: string): readonly Attachment[] {
  const colour = () => [lots.below(256), lots.below(256), lots.below(256)];
  const paper = () => ({ name: `${title}.pdf`, type: 'application/pdf', bytes: document(title) });
  const photo = () => ({
    name: 'Sommerfoto 夏.png',
    type: 'image/png',
    bytes: picture(48 + lots.below(64), 48, colour(), colour()),
  });
  if (name === 'bills' && lots.below(3) > 0) return [paper()];
  if ((name === 'family' || name === 'travel') && lots.oneIn(4)) return lots.oneIn(3) ? [photo(), photo()] : [photo()];
  if (name === 'work' && lots.oneIn(5)) return [paper()];
  return [];
}

function page(title: string, paragraphs: readonly string[]): string {
  const body = paragraphs.map((line) => `<p style="margin:0 0 12px">${line}</p>`).join('\n');
  return `<!doctype html>\n<html><head><title>${title}</title></head>\n<body style="font-family:Georgia,serif">\n<h1>${title}</h1>\n${body}\n</body></html>`;
}
