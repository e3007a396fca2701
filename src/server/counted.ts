const PLURAL = new Intl.PluralRules('en-US');
const NUMBER = new Intl.NumberFormat('en-US');

/** `1 message is`, `1,200 messages are`: the words for one and for others, after the number. */
export function counted(count: number, one: string, others: string): string {
  return `${NUMBER.format(count)} ${PLURAL.select(count) === 'one' ? one : others}`;
}
