import type { Element } from './xml.ts';

/** Whether a card passes the filter of an addressbook-query (RFC 6352 §10.5): property names and text matches. */
export function fits(card: string, filter: Element): boolean {
  const tests = filter.children.filter(({ name }) => name === 'prop-filter');
  const results = tests.map((test) => {
    const property = (test.attributes.get('name') ?? '').toUpperCase();
    const values = unfolded(card).flatMap((line) => {
      const match = /^(?:[\w-]+\.)?([\w-]+)[;:]/.exec(line);
      return match?.[1]?.toUpperCase() === property ? [line.slice(line.indexOf(':') + 1)] : [];
    });
    if (test.children.some(({ name }) => name === 'is-not-defined')) return values.length === 0;
    const matches = test.children.filter(({ name }) => name === 'text-match');
    if (matches.length === 0) return values.length > 0;
    const found = matches.map((match) => values.some((value) => textMatches(value, match)));
    return test.attributes.get('test') === 'allof' ? found.every(Boolean) : found.some(Boolean);
  });
  if (results.length === 0) return true;
  return filter.attributes.get('test') === 'allof' ? results.every(Boolean) : results.some(Boolean);
}

function textMatches(value: string, { attributes, text }: Element): boolean {
  const here = value.toLowerCase();
  const wanted = text.toLowerCase();
  const found = {
    equals: here === wanted,
    contains: here.includes(wanted),
    'starts-with': here.startsWith(wanted),
    'ends-with': here.endsWith(wanted),
  }[attributes.get('match-type') ?? 'contains'];
  return (found ?? false) !== (attributes.get('negate-condition') === 'yes');
}

/** The UID of a vCard, if it has one. */
export function uidOf(card: string): string | undefined {
  return unfolded(card)
    .map((line) => /^UID(?:;[^:]*)?:(.+)$/i.exec(line)?.[1]?.trim())
    .find((uid) => uid !== undefined);
}

function unfolded(card: string): readonly string[] {
  return card.replace(/\r?\n[ \t]/g, '').split(/\r?\n/);
}
