import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  writePst,
  type PstContact,
  type PstFile,
  type PstFolder,
  type PstItem,
} from '../../../src/server/export/pst/write-pst.ts';

export type Person = { readonly name: string; readonly email: string };
export type SampleFile = {
  readonly name: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly cid?: string;
};

/** A message as it was meant, for comparison with what readers report; `raw` is the message as it arrived. */
export type Sample = {
  readonly subject: string;
  readonly from: Person;
  readonly to: readonly Person[];
  readonly cc: readonly Person[];
  readonly bcc: readonly Person[];
  /** Milliseconds, in whole seconds. */
  readonly sent: number;
  readonly received: number;
  readonly flags: readonly string[];
  readonly text: string;
  readonly html?: string;
  readonly files: readonly SampleFile[];
  readonly inner?: Sample;
};

export type SampleBox = PstFolder & { readonly samples: readonly Sample[] };

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** Encoded words (RFC 2047) of a dozen characters each. */
function words(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text) && !text.includes('=?')) return text;
  const chars = Array.from(text);
  const pieces: string[] = [];
  for (let at = 0; at < chars.length; at += 10)
    pieces.push(`=?utf-8?B?${Buffer.from(chars.slice(at, at + 10).join('')).toString('base64')}?=`);
  return pieces.join('\r\n ');
}

const addressed = (people: readonly Person[]) =>
  people.map(({ name, email }) => (name === '' ? email : `${words(name)} <${email}>`)).join(',\r\n ');

const wrapped = (bytes: Buffer) => bytes.toString('base64').replaceAll(/.{76}/g, '$&\r\n');

function entity(type: string, bytes: Buffer, more: readonly string[] = []): string {
  return [`Content-Type: ${type}`, 'Content-Transfer-Encoding: base64', ...more, '', wrapped(bytes), ''].join('\r\n');
}

let boundaries = 0;

function multipart(kind: string, parts: readonly string[]): string {
  boundaries += 1;
  const edge = `=_${kind}-${boundaries}`;
  return [
    `Content-Type: multipart/${kind}; boundary="${edge}"`,
    '',
    ...parts.map((part) => `--${edge}\r\n${part}`),
    `--${edge}--`,
    '',
  ].join('\r\n');
}

export function rawOf(sample: Sample): Buffer {
  const { from, to, cc, bcc, text, html, files, inner } = sample;
  const header = [
    `Date: ${new Date(sample.sent).toUTCString().replace('GMT', '+0000')}`,
    `From: ${addressed([from])}`,
    ...(to.length === 0 ? [] : [`To: ${addressed(to)}`]),
    ...(cc.length === 0 ? [] : [`Cc: ${addressed(cc)}`]),
    ...(bcc.length === 0 ? [] : [`Bcc: ${addressed(bcc)}`]),
    `Subject: ${words(sample.subject)}`,
    `Message-ID: <${sha256(Buffer.from(sample.subject + String(sample.sent))).slice(0, 20)}@sample.example>`,
    'MIME-Version: 1.0',
  ];
  const plain = entity('text/plain; charset=utf-8', Buffer.from(text));
  const inline = files.filter(({ cid }) => cid !== undefined);
  const page = html === undefined ? undefined : entity('text/html; charset=utf-8', Buffer.from(html));
  const related =
    page === undefined || inline.length === 0
      ? page
      : multipart('related', [
          page,
          ...inline.map(({ name, type, bytes, cid }) =>
            entity(`${type}; name="${name}"`, bytes, [`Content-ID: <${cid}>`, 'Content-Disposition: inline']),
          ),
        ]);
  const body = related === undefined ? plain : multipart('alternative', [plain, related]);
  const attached = files
    .filter(({ cid }) => cid === undefined || html === undefined)
    .map(({ name, type, bytes }) =>
      entity(type, bytes, [
        `Content-Disposition: attachment; filename*=utf-8''${encodeURIComponent(name).replaceAll("'", '%27')}`,
      ]),
    );
  const letters = inner === undefined ? [] : [`Content-Type: message/rfc822\r\n\r\n${rawOf(inner).toString('latin1')}`];
  const all = [...attached, ...letters];
  const whole = all.length === 0 ? body : multipart('mixed', [body, ...all]);
  return Buffer.from(`${header.join('\r\n')}\r\n${whole}`, 'latin1');
}

export async function* itemsOf(boxes: readonly SampleBox[]): AsyncGenerator<PstItem> {
  for (const [folder, { samples }] of boxes.entries())
    for (const sample of samples) yield rawItem(folder, rawOf(sample), sample);
}

/** An item in pieces of odd sizes, as a disk might return them. */
export function rawItem(
  folder: number,
  raw: Buffer,
  { received = 0, flags = [], piece = 60_001 }: { received?: number; flags?: readonly string[]; piece?: number } = {},
): PstItem {
  return {
    folder,
    size: raw.length,
    received,
    flags,
    source: async function* () {
      for (let at = 0; at < raw.length; at += piece) yield raw.subarray(at, at + piece);
    },
  };
}

export type PstWorld = AsyncDisposable & {
  readonly directory: string;
  write(
    folders: readonly PstFolder[],
    items: AsyncIterable<PstItem> | readonly PstItem[],
    options?: { name?: string; id?: string; maxOctets?: number; signal?: AbortSignal },
  ): Promise<PstFile[]>;
};

export async function openPstWorld(): Promise<PstWorld> {
  const directory = await mkdtemp(join(tmpdir(), 'pst-'));
  let files = 0;
  return {
    directory,
    write: async (folders, items, { name, id = 'sample', ...more } = {}) => {
      files += 1;
      const written: PstFile[] = [];
      const all = (async function* () {
        yield* items;
      })();
      const options = { directory, name: name ?? `Mail-${files}`, id, folders, items: all, ...more };
      for await (const file of writePst(options)) written.push(file);
      return written;
    },
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Text in many scripts, some of it outside the BMP. */
const SCRIPTS = [
  'Grüße aus Köln',
  'Żółć i gęś',
  'Протокол встречи',
  'Ελληνικά γράμματα',
  'שלום עולם',
  'مرحبا بالعالم',
  'नमस्ते दुनिया',
  'สวัสดีชาวโลก',
  '会議の議事録',
  '안녕하세요 세계',
  'Привіт, ґанок і їжак',
  'ქართული ანბანი',
  'Tiếng Việt có dấu',
  'Emoji 🎂🐟 and 𝒎𝒂𝒕𝒉',
  'Plain words only',
] as const;

/** Octets that are determined by `seed`. */
function noise(seed: number, length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, index) => (index * seed + (index >> 7)) & 0xff));
}

const SUNDAY = Date.UTC(2004, 1, 29, 12);

/** Realistic mailboxes: nested folders, every script, everything that a message can have. */
export function sampleBoxes(): SampleBox[] {
  const me: Person = { name: 'Ann Lee', email: 'ann@sanbruno.example' };
  const make = (number: number, change: Partial<Sample> = {}): Sample => {
    const script = SCRIPTS[number % SCRIPTS.length] ?? '';
    const from = { name: `${script} Sender`, email: `sender${number}@example.org` };
    return {
      subject: `${number % 4 === 1 ? 'RE: ' : ''}${script} ${number}`,
      from,
      to: [me],
      cc: number % 3 === 0 ? [{ name: script, email: `cc${number}@example.com` }] : [],
      bcc: number % 5 === 0 ? [{ name: '', email: `bcc${number}@example.com` }] : [],
      sent: SUNDAY + number * 86_400_000,
      received: SUNDAY + number * 86_400_000 + 61_000,
      flags: number % 2 === 0 ? ['\\Seen'] : [],
      text: `${script}\r\nLine two of ${number}.\r\n`,
      files: [],
      ...change,
    };
  };
  const each = SCRIPTS.map((_, index) => make(index));
  const pages = SCRIPTS.map((script, index) =>
    make(100 + index, { html: `<html><body><p>${script}</p></body></html>` }),
  );
  const files = [0, 1, 3579, 3580, 3581, 8175, 8176, 8177, 70_000].map((length, index) =>
    make(200 + index, {
      files: [
        { name: `${SCRIPTS[index] ?? ''}.bin`, type: 'application/octet-stream', bytes: noise(index + 3, length) },
        { name: 'second.pdf', type: 'application/pdf', bytes: noise(index + 5, 20) },
      ],
    }),
  );
  return [
    { path: ['INBOX'], role: 'inbox', samples: each },
    { path: ['Sent'], role: 'sent', samples: pages },
    { path: ['Drafts'], role: 'drafts', samples: [make(300, { flags: ['\\Draft', '\\Seen'] })] },
    { path: ['Trash'], role: 'trash', samples: [make(301, { flags: ['\\Deleted', '\\Flagged'] })] },
    { path: ['Family', 'Ünïcode, more', '旅行'], samples: files },
    {
      path: ['Family', 'Letters'],
      samples: [
        make(400, { inner: make(401, { text: 'Inside.\r\n' }) }),
        make(402, {
          html: '<p>A picture: <img src="cid:pic@1"></p>',
          files: [{ name: 'pic.png', type: 'image/png', bytes: noise(9, 5000), cid: 'pic@1' }],
        }),
        make(403, {
          to: Array.from({ length: 40 }, (_, index) => ({ name: `Reader ${index}`, email: `r${index}@example.net` })),
        }),
        make(404, { text: 'long '.repeat(20_000), subject: 'x'.repeat(3000) }),
      ],
    },
    { path: ['Empty'], samples: [] },
  ];
}

export function samplePerson(change: Partial<PstContact> = {}): PstContact {
  return {
    name: {
      formatted: 'Dr. Zoë Ann Müller Jr.',
      prefix: 'Dr.',
      given: 'Zoë',
      middle: 'Ann',
      family: 'Müller',
      suffix: 'Jr.',
    },
    phonetic: { given: '', middle: '', family: '' },
    nickname: 'Zo',
    otherOrganizations: [],
    role: '',
    dates: [],
    messengers: [],
    relations: [],
    gender: '',
    more: [],
    emails: [
      { label: 'home', value: 'zoe@example.com' },
      { label: 'work', value: 'z.mueller@example.org' },
      { label: 'other', value: 'zm@example.net' },
    ],
    phones: [
      { label: 'mobile', value: '+1 650 555 0101' },
      { label: 'home', value: '+1 650 555 0102' },
      { label: 'work', value: '+1 650 555 0103' },
      { label: 'work fax', value: '+1 650 555 0104' },
    ],
    addresses: [
      {
        label: 'home',
        value: {
          poBox: '',
          extended: '',
          street: '1 Main St',
          city: 'San Bruno',
          region: 'CA',
          postalCode: '94066',
          country: 'USA',
        },
      },
      {
        label: 'work',
        value: {
          poBox: 'PO 7',
          extended: 'Floor 2',
          street: 'Ring 5',
          city: 'Köln',
          region: 'NRW',
          postalCode: '50667',
          country: 'Germany',
        },
      },
    ],
    websites: [{ label: 'home', value: 'https://zoe.example.com/' }],
    organization: { name: 'ACME 会社', department: 'R&D', title: 'Engineer' },
    birthday: '1950-03-04',
    notes: 'Met at the lake.\nLikes fish.',
    photo: { mediaType: 'image/jpeg', bytes: Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2, 3]) },
    groups: ['Friends'],
    ...change,
  };
}
