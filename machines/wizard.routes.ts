import type { SnapshotFrom } from 'xstate';
import { isExport } from '../src/contract/transfer-status.ts';
import { withoutEnd } from '../src/contract/without-end.ts';
import { modeOf } from './mode.ts';
import { isToOwnDestination } from './owner-acts.ts';
import { type States, wizardMachine } from './wizard.machine.ts';
import type { Context, Meta, Page as PageMeta, Step, Visit } from './wizard.types.ts';

// Pages, addresses and steps, derived from the `meta` of the machine's top-level states.

export type WizardSnapshot = SnapshotFrom<typeof wizardMachine>;

/** Every page with an address (`portal.md` §2), by its state; the two OAuth returns decide at once and are never shown. */
export type Page = {
  [Name in keyof States]: States[Name] extends { readonly meta: { readonly page: object } } ? Name : never;
}[keyof States];

const PAGES = new Map<Page, PageMeta>(
  Object.entries(wizardMachine.root.states).flatMap(([name, { meta }]) =>
    meta?.page === undefined ? [] : [[name as Page, meta.page]],
  ),
);

export const PATHS = Object.fromEntries([...PAGES].map(([name, { path }]) => [name, path])) as Readonly<
  Record<Page, string>
>;

/** The address of a snapshot: path and query. `null` between pages, when the address stays unchanged. */
export type Address = { readonly path: string; readonly query: Readonly<Record<string, string>> };

/** The page that a snapshot shows, or `null` between pages. */
export function pageOf(snapshot: WizardSnapshot): Page | null {
  const name = topOf(snapshot);
  return PAGES.has(name as Page) ? (name as Page) : null;
}

/** The top-level state: the page, or a state between pages. */
function topOf({ value }: WizardSnapshot): string {
  return typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
}

function metaOf(snapshot: WizardSnapshot): Partial<Meta> {
  return wizardMachine.root.states[topOf(snapshot)]?.meta ?? {};
}

export function addressOf(snapshot: WizardSnapshot): Address | null {
  const { page } = metaOf(snapshot);
  return page === undefined ? null : { path: page.path, query: page.query?.(snapshot.context, snapshot.value) ?? {} };
}

/** The step of a snapshot, or `null` on pages outside the wizard. */
export function stepOf(snapshot: WizardSnapshot): Step | null {
  return metaOf(snapshot).step ?? null;
}

/** Whether a page is being entered and there is none to show in the meantime. */
export function isBetweenPages(snapshot: WizardSnapshot): boolean {
  return pageOf(snapshot) === null && !snapshot.hasTag('unavailable');
}

/** Trailing slashes are ignored. */
export function withoutSlash(path: string): string {
  return withoutEnd(path, '/') || path.slice(0, 1);
}

/** The visit that an address asks for; `unknown.visit` for unknown paths. */
export function visitOf(path: string, query: URLSearchParams): Visit {
  const asked = withoutSlash(path);
  const page = [...PAGES.values()].find((each) => each.path === asked);
  return page?.visit((name) => query.get(name) ?? '') ?? { type: 'unknown.visit' };
}

/**
 * The context as it applies to the page. The status page may show another transfer than the one that was ordered in
 * this tab: then `source` and `destination`, which belong to that one, are left out.
 */
export function contextOfPage(snapshot: WizardSnapshot): Context {
  const { context } = snapshot;
  if (topOf(snapshot) !== 'status' || isToOwnDestination(context)) return context;
  return { ...context, source: null, destination: null };
}

/** Where the visitor is on another way than to Yahoo, though no destination has been chosen yet. */
const OTHER_WAYS = [
  { destination: { options: 'other' } },
  { destination: { options: 'download' } },
  'googleTerms',
  'emailScopes',
] as const;

/** Whether the visitor is moving to Yahoo, which the step list assumes until another way is chosen. */
export function isOnPrimaryPath(snapshot: WizardSnapshot): boolean {
  if (OTHER_WAYS.some((way) => snapshot.matches(way))) return false;
  const context = contextOfPage(snapshot);
  const { status, destination } = context;
  if (status?.destination !== undefined) return status.destination === 'yahoo';
  if (status !== null && isExport(status)) return false;
  return destination === null || modeOf(context) === 'move';
}
