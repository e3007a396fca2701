import type { Contact } from '../contact.ts';
import { lineOf, paramOf, typesOf, unescapeText, type VcardLine, type VcardVersion } from './vcard-lines.ts';

/** The year that Apple writes for a birthday without one. */
const APPLE_NO_YEAR = '1604';
/** The largest photo that is read from a card, in octets. */
const PHOTO_OCTETS = 10 * 1024 * 1024;

const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `YYYY-MM-DD` or `--MM-DD`; `''` if the line holds no such date. */
export function birthdayOf(line: VcardLine): string {
  const match = /^(\d{4}|--)-?(\d{2})-?(\d{2})(?:[T ].*)?$/.exec(line.value.trim());
  const [, year = '', month = '', day = ''] = match ?? [];
  const last = DAYS[Number(month) - 1];
  if (last === undefined || Number(day) < 1 || Number(day) > last) return '';
  // Some programs write zeros if there is no year.
  if (['--', '0000', paramOf(line, 'X-APPLE-OMIT-YEAR')].includes(year)) return `--${month}-${day}`;
  const isDay = `${month}-${day}` !== '02-29' || isLeapYear(Number(year));
  return isDay ? `${year}-${month}-${day}` : '';
}

function isLeapYear(year: number): boolean {
  return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
}

export function birthdayLine(birthday: string, version: VcardVersion): VcardLine {
  if (version === '4.0') return lineOf('BDAY', birthday.replaceAll(/(?<=\d)-/g, ''));
  if (!birthday.startsWith('--')) return lineOf('BDAY', birthday);
  return lineOf('BDAY', `${APPLE_NO_YEAR}${birthday.slice(1)}`, [
    { name: 'X-APPLE-OMIT-YEAR', values: [APPLE_NO_YEAR] },
  ]);
}

export type Photo = NonNullable<Contact['photo']>;

/** Bytes inside a line: `ENCODING=b` or a `data:` URI (RFC 2397). `null` for a link, which is never fetched. */
export function bytesOf(line: VcardLine): Photo | null {
  // Some programs escape the comma, as in a text.
  const data = /^data:([^,]*?)\\?,/i.exec(line.value.slice(0, 256));
  if (data !== null) {
    const [mediaType = '', ...rest] = unescapeText(data[1] ?? '').split(';');
    const body = line.value.slice(data[0].length);
    const bytes = rest.some((part) => part.trim().toLowerCase() === 'base64')
      ? decodeBase64(body)
      : decodePercent(body);
    return bytes === null ? null : photoOf(bytes, mediaType);
  }
  const encoding = paramOf(line, 'ENCODING')?.toLowerCase();
  if (encoding !== 'b' && encoding !== 'base64') return null;
  const bytes = decodeBase64(line.value);
  return bytes === null ? null : photoOf(bytes, mediaTypeOf(typesOf(line).find((type) => type !== 'pref') ?? ''));
}

function decodeBase64(text: string): Uint8Array | null {
  const compact = text.replaceAll(/\s/g, '');
  return /^[A-Za-z0-9+/]+={0,2}$/.test(compact) ? Uint8Array.from(Buffer.from(compact, 'base64')) : null;
}

function decodePercent(text: string): Uint8Array | null {
  try {
    return new TextEncoder().encode(decodeURIComponent(text));
  } catch (error) {
    if (error instanceof URIError) return null;
    throw error;
  }
}

function photoOf(bytes: Uint8Array, declared: string): Photo | null {
  if (bytes.length === 0 || bytes.length > PHOTO_OCTETS) return null;
  const mediaType = declared.trim().toLowerCase();
  return { mediaType: /^[\w.+-]+\/[\w.+-]+$/.test(mediaType) ? mediaType : sniff(bytes), bytes };
}

function mediaTypeOf(type: string): string {
  if (type === '' || type.includes('/')) return type;
  return `image/${type === 'jpg' ? 'jpeg' : type}`;
}

/** The media type that an image's first octets show. */
function sniff(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.subarray(0, 12)).toString('latin1');
  if (head.startsWith('\u0089PNG')) return 'image/png';
  if (head.startsWith('GIF8')) return 'image/gif';
  if (head.startsWith('RIFF') && head.endsWith('WEBP')) return 'image/webp';
  return 'image/jpeg';
}

/** A line that holds bytes, in the version's form: PHOTO, LOGO, SOUND, KEY. */
export function bytesLine(name: string, { mediaType, bytes }: Photo, version: VcardVersion, group = ''): VcardLine {
  const base64 = Buffer.from(bytes).toString('base64');
  if (version === '4.0') return lineOf(name, `data:${mediaType};base64,${base64}`, [], group);
  const type = mediaType.startsWith('image/') ? mediaType.slice('image/'.length).toUpperCase() : mediaType;
  return lineOf(
    name,
    base64,
    [
      { name: 'ENCODING', values: ['b'] },
      { name: 'TYPE', values: [type] },
    ],
    group,
  );
}
