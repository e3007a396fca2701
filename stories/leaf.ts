import { storyNameFromExport, toId } from 'storybook/internal/csf';
import type { StateValue } from 'xstate';

/** One value that is in all of these leaves at once; the regions that none of them names stand where they begin. */
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

/** `{a: {b: {}}}` as XState writes it: `{a: 'b'}`. */
function simplified(value: Record<string, unknown>): unknown {
  const entries = Object.entries(value).map(([key, inner]) => [key, inner as Record<string, unknown>] as const);
  const [only] = entries;
  if (entries.length === 1 && only !== undefined && Object.keys(only[1]).length === 0) return only[0];
  return Object.fromEntries(entries.map(([key, inner]) => [key, simplified(inner)]));
}

/** The pages that have a file of stories of their own; the short ones share one. */
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

/** The id of the story that shows a leaf: `at.tsx` holds each story to it, so the chart can link to it. */
export function storyIdOf(leaf: string): string {
  const [page = '', ...rest] = leaf.split('.');
  const group = GROUPS[page];
  const words = group === undefined ? [page, ...rest] : rest;
  const exportName = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return toId(group ?? SHORT, storyNameFromExport(exportName));
}

/** Of the leaves that a story shows, the one that it is of; the first, of a story outside of the states. */
export function leafOf(story: string | undefined, shown: readonly string[]): string | undefined {
  return shown.find((leaf) => storyIdOf(leaf) === story) ?? shown[0];
}
