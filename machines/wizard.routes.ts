import type { SnapshotFrom } from 'xstate';
import { withoutEnd } from '../src/contract/without-end.ts';
import type { wizardMachine } from './wizard.machine.ts';
import { modeOf } from './mode.ts';
import type { Context, Visit } from './wizard.types.ts';

export type WizardSnapshot = SnapshotFrom<typeof wizardMachine>;

/** Every page with an address (`portal.md` §2), by its state; the two OAuth returns decide at once and are never shown. */
export const PATHS = {
  home: '/',
  destination: '/destination-account',
  startMigration: '/start-migration',
  complete: '/complete',
  returned: '/oauth-callback',
  returnedForStatus: '/oauth-callback-for-status',
  googleTerms: '/accept-google-terms',
  emailScopes: '/check-email-scopes',
  status: '/status',
  statusFromEmail: '/status-from-email',
  privacyPolicy: '/privacy-policy',
  termsOfService: '/terms-of-service',
  support: '/support-form',
} as const;
export type Page = keyof typeof PATHS;

/** The address of a snapshot: path and query. `null` while the machine is on its way, and the address stays as it is. */
export type Address = { readonly path: string; readonly query: Readonly<Record<string, string>> };

export function pageOf(snapshot: WizardSnapshot): Page | null {
  const key = topOf(snapshot);
  return key in PATHS ? (key as Page) : null;
}

/** The top-level state: the page, or where the machine is between pages. */
function topOf({ value }: WizardSnapshot): string {
  return typeof value === 'string' ? value : (Object.keys(value)[0] ?? '');
}

export function addressOf(snapshot: WizardSnapshot): Address | null {
  const page = pageOf(snapshot);
  return page === null ? null : { path: PATHS[page], query: queryOf(page, snapshot.context) };
}

function queryOf(page: Page, { message, transferId }: Context): Record<string, string> {
  if (page === 'home' || page === 'destination') return message?.about === 'query' ? { error: message.error } : {};
  if (page === 'complete' || page === 'status') return transferId === null ? {} : { migration_id: transferId };
  return {};
}

/** A slash at the end, or several, mean nothing. */
export function withoutSlash(path: string): string {
  return withoutEnd(path, '/') || path.slice(0, 1);
}

/** What the address bar asks for. Unknown paths ask for nothing that is there. */
export function visitOf(path: string, query: URLSearchParams): Visit {
  const ask = (name: string) => query.get(name) ?? '';
  const error = ask('error');
  const consent = { error, tokenId: ask('token_id'), email: ask('email') };
  switch (withoutSlash(path)) {
    case PATHS.home:
      return { type: 'home.visit', error };
    case PATHS.destination:
      return { type: 'destination.visit', error };
    case PATHS.startMigration:
      return { type: 'start-migration.visit' };
    case PATHS.complete:
      return { type: 'complete.visit', migrationId: ask('migration_id') };
    case PATHS.returned:
      return { type: 'oauth-callback.visit', ...consent, provider: ask('provider') };
    case PATHS.returnedForStatus:
      return { type: 'oauth-callback-for-status.visit', ...consent, hash: ask('hash') };
    case PATHS.googleTerms:
      return { type: 'google-terms.visit' };
    case PATHS.emailScopes:
      return { type: 'email-scopes.visit' };
    case PATHS.status:
      return { type: 'status.visit', migrationId: ask('migration_id'), error };
    case PATHS.statusFromEmail:
      return { type: 'status-from-email.visit' };
    case PATHS.privacyPolicy:
      return { type: 'privacy-policy.visit' };
    case PATHS.termsOfService:
      return { type: 'terms-of-service.visit' };
    case PATHS.support:
      return { type: 'support.visit' };
    default:
      return { type: 'unknown.visit' };
  }
}

/** The four steps of the wizard. The second is named for its provider while the visitor is on the primary path. */
export type Step = 1 | 2 | 3 | 4;
export const STEPS: readonly Step[] = [1, 2, 3, 4];

/** The step that a snapshot is at, or `null` on pages outside the wizard. */
export function stepOf(snapshot: WizardSnapshot): Step | null {
  switch (topOf(snapshot)) {
    case 'home':
      return 1;
    case 'destination':
    case 'googleTerms':
    case 'emailScopes':
    case 'leavingForMove':
    case 'leavingForTransfer':
    case 'unavailableForTransfer':
    case 'returned':
      return 2;
    case 'startMigration':
      return 3;
    case 'complete':
    case 'status':
    case 'statusFromEmail':
      return 4;
    default:
      return null;
  }
}

/** Whether the visitor is on the way to Yahoo, which the step list is named for until another way is chosen. */
export function isOnPrimaryPath(context: Context): boolean {
  return context.destination === null || modeOf(context) === 'move';
}
