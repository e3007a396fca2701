/** Which TYPE values represent a label, by kind of value. A label that is not here is written as `X-ABLabel`. */
const PHONE_LABELS = {
  mobile: ['cell'],
  'work mobile': ['cell', 'work'],
  home: ['home'],
  work: ['work'],
  'home fax': ['fax', 'home'],
  'work fax': ['fax', 'work'],
  fax: ['fax'],
  pager: ['pager'],
  main: ['main'],
  car: ['car'],
  other: ['other'],
} as const;
const PLACE_LABELS = { home: ['home'], work: ['work'], other: ['other'] } as const;

const LABELS = {
  phone: new Map<string, readonly string[]>(Object.entries(PHONE_LABELS)),
  place: new Map<string, readonly string[]>(Object.entries(PLACE_LABELS)),
};
export type LabelKind = keyof typeof LABELS;

/** TYPE values that say nothing about the place: what every phone or address has, or its rank. */
const SILENT: ReadonlySet<string> = new Set([
  'voice',
  'internet',
  'pref',
  'text',
  'msg',
  'postal',
  'parcel',
  'dom',
  'intl',
  'x-internet',
]);
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['mobile', 'cell'],
  ['iphone', 'cell'],
  ['business', 'work'],
]);

/** The label for a line's TYPE values; a set of them without a name here is spelled out. */
export function labelOfTypes(kind: LabelKind, types: readonly string[]): string {
  const telling = [...new Set(types.map((type) => nameOf(kind, type)))].filter((type) => !SILENT.has(type)).toSorted();
  if (telling.length === 0) return '';
  const key = telling.join(' ');
  for (const [label, known] of LABELS[kind]) if (known.join(' ') === key) return label;
  return key;
}

/** Outlook's company number is the main one. */
function nameOf(kind: LabelKind, type: string): string {
  return kind === 'phone' && type === 'company' ? 'main' : (OTHER_NAMES.get(type) ?? type);
}

/** The TYPE values for a label, or `null` when it has to be written as `X-ABLabel`. */
export function typesOfLabel(kind: LabelKind, label: string): readonly string[] | null {
  return LABELS[kind].get(label) ?? null;
}

/** Apple marks its own labels, as in `_$!<HomePage>!$_`; those are put into lower case, a person's own are kept. */
export function labelOfApple(text: string): string {
  const own = /^_\$!<(.*)>!\$_$/s.exec(text.trim());
  return own === null ? text : (own[1] ?? '').toLowerCase();
}
