import { storyNameFromExport, toId } from 'storybook/internal/csf';
import type { StateValue } from 'xstate';

/** A state value that is in all of these leaves at once. Regions that none of them names are in their initial state. */
export function valueOf(leaves: readonly string[]): StateValue {
  const value: Record<string, unknown> = {};
  for (const leaf of leaves) {
    const keys = leaf.split('.');
    const last = keys.pop() ?? '';
    let place = value;
    for (const key of keys) place = (place[key] ??= {}) as Record<string, unknown>;
    place[last] = {};
  }
  return simplified(value) as StateValue;
}

/** Converts `{a: {b: {}}}` to XState's form, `{a: 'b'}`. */
function simplified(value: Record<string, unknown>): unknown {
  const entries = Object.entries(value).map(([key, inner]) => [key, inner as Record<string, unknown>] as const);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && Object.keys(only[1]).length === 0) return only[0];
  return Object.fromEntries(entries.map(([key, inner]) => [key, simplified(inner)]));
}

/** The pages that have their own file of stories; the short ones share one. */
const GROUPS: Readonly<Record<string, string>> = {
  home: 'States/Home',
  destination: 'States/Destination',
  startMigration: 'States/Start migration',
  complete: 'States/Complete',
  status: 'States/Status',
  statusFromEmail: 'States/Status from email',
  support: 'States/Support',
};
const SHORT = 'States/Short pages';

/** The ID of the story that shows a leaf. `at.tsx` enforces it, so that the chart can link to the story. */
export function storyIdOf(leaf: string): string {
  const [page = '', ...rest] = leaf.split('.');
  const group = GROUPS[page];
  const words = group === undefined ? [page, ...rest] : rest;
  const exportName = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return toId(group ?? SHORT, storyNameFromExport(exportName));
}

/** The leaf that a story is about, out of those that it shows; for stories outside "States", the first one. */
export function leafOf(story: string | undefined, shown: readonly string[]): string | undefined {
  return shown.find((leaf) => storyIdOf(leaf) === story) ?? shown[0];
}
