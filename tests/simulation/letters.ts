import type { GivenMail } from './account.ts';
import type { Chance } from './chance.ts';

const FLAGS = ['\\Seen', '\\Answered', '\\Flagged', '\\Draft', 'Blue', '$Forwarded'];
const YEAR = 365 * 86_400;
/** Milliseconds since the epoch. */
export const EARLIEST_LETTER = 25 * YEAR * 1000;
export const LATEST_LETTER = 56 * YEAR * 1000;

/** Mail as people have it: mostly small, some of it odd, some of it twice. */
export function lettersOf(chance: Chance, count: number, name: string): GivenMail[] {
  const letters: GivenMail[] = [];
  for (let number = 1; number <= count; number += 1) {
    const flags = FLAGS.filter(() => chance.happens(0.2));
    const internalDate = (chance.integer(25, 55) * YEAR + chance.integer(0, YEAR)) * 1000;
    const earlier = letters.length > 0 && chance.happens(0.08) ? chance.one(letters) : undefined;
    if (earlier === undefined) letters.push({ octets: letterOf(chance, `${name}.${number}`), flags, internalDate });
    else letters.push({ ...earlier, flags, ...(chance.happens(0.5) ? { internalDate } : {}) });
  }
  return letters;
}

function letterOf(chance: Chance, name: string): Buffer {
  const end = chance.happens(0.1) ? '\n' : '\r\n';
  const header = [`From: Anna <anna@example.org>`, `Subject: Letter ${name}`, 'Date: Mon, 3 Feb 2020 04:05:06 +0000'];
  if (chance.happens(0.85)) header.push(`Message-ID: <${chance.happens(0.05) ? 'same' : name}@example.org>`);
  if (chance.happens(0.2)) header.push(`Received: from a by b; ${name}`);
  if (chance.happens(0.05)) return Buffer.from(`${header.join(end)}${end}${end}`);
  const octets = Math.ceil(chance.happens(0.08) ? chance.skewed(60_000) : chance.skewed(6000));
  const line = `${name} äöü ${'x'.repeat(chance.integer(0, 70))}${chance.happens(0.05) ? '\0' : ''}${end}`;
  const body = line.repeat(Math.ceil(octets / line.length));
  return Buffer.from(`${header.join(end)}${end}${end}${body}${chance.happens(0.1) ? 'no line end' : ''}`);
}
