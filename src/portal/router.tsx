import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
  type RouterHistory,
} from '@tanstack/react-router';
import type { FunctionComponent } from 'react';
import { type Address, addressOf, type Page, PATHS, visitOf, withoutSlash } from '../../machines/wizard.routes.ts';
import type { Visit } from '../../machines/wizard.types.ts';
import { errorQuery } from '../contract/page-address.ts';
import { App } from './app.tsx';
import { HomePage } from './pages/home.tsx';
import { LostScriptPage } from './pages/lost-script.tsx';
import { scriptOf } from './script.ts';
import { Standing, type WizardActor } from './wizard-context.tsx';

/** Asks the machine for every address. If it refuses, the browser is redirected to the page that the machine is on. */
const root = createRootRouteWithContext<{ actor: WizardActor; ask: (visit: Visit) => void }>()({
  beforeLoad: ({ location, context: { actor, ask }, preload }) => {
    if (preload) return;
    const query = new URLSearchParams(location.searchStr);
    if (isAt(addressOf(actor.getSnapshot()), location.pathname, query)) return;
    ask(visitOf(location.pathname, query));
    const address = addressOf(actor.getSnapshot());
    if (address !== null && !isAt(address, location.pathname, query))
      throw redirect({ to: address.path, search: address.query, replace: true });
  },
  component: App,
  notFoundComponent: () => null,
});

function standing(page: Page, Component: FunctionComponent): FunctionComponent {
  return () => (
    <Standing page={page}>
      <Component />
    </Standing>
  );
}

/** A page whose script is fetched when it is visited. */
function later<Name extends string>(page: Page, load: () => Promise<Record<Name, FunctionComponent>>, name: Name) {
  return lazyRouteComponent(async () => {
    const { [name]: Component } = await scriptOf(name, load);
    return { default: standing(page, Component) };
  });
}

const components = {
  home: standing('home', HomePage),
  destination: later('destination', () => import('./pages/destination.tsx'), 'DestinationPage'),
  startMigration: later('startMigration', () => import('./pages/start-migration.tsx'), 'StartMigrationPage'),
  complete: later('complete', () => import('./pages/complete.tsx'), 'CompletePage'),
  returned: () => null,
  returnedForStatus: () => null,
  googleTerms: later('googleTerms', () => import('./pages/google-terms.tsx'), 'GoogleTermsPage'),
  emailScopes: later('emailScopes', () => import('./pages/email-scopes.tsx'), 'EmailScopesPage'),
  status: later('status', () => import('./pages/status/status.tsx'), 'StatusPage'),
  statusFromEmail: later('statusFromEmail', () => import('./pages/status/from-email.tsx'), 'StatusFromEmailPage'),
  privacyPolicy: later('privacyPolicy', () => import('./pages/external-page.tsx'), 'ExternalPage'),
  termsOfService: later('termsOfService', () => import('./pages/external-page.tsx'), 'ExternalPage'),
  support: later('support', () => import('./pages/support.tsx'), 'SupportPage'),
} satisfies Record<Page, unknown>;

const routes = (Object.keys(PATHS) as Page[]).map((page) =>
  createRoute({ getParentRoute: () => root, path: PATHS[page], component: components[page] }),
);

function isAt(address: Address | null, path: string, query: URLSearchParams): boolean {
  if (address === null || address.path !== withoutSlash(path)) return false;
  return new URLSearchParams(address.query).toString() === query.toString();
}

/**
 * Whether two addresses show the same view. They may differ in the error, because a message has no history entry of its
 * own.
 */
function isSameView(query: Address['query'], searchStr: string): boolean {
  const [next, shown] = [new URLSearchParams(query), new URLSearchParams(searchStr)];
  for (const each of [next, shown]) for (const name of Object.keys(errorQuery(''))) each.delete(name);
  return next.toString() === shown.toString();
}

/** The events that close a dialog, or a page that stands in for another. One is open if the machine accepts either. */
const CLOSING = [{ type: 'modal.close' }, { type: 'home.stay' }] as const;

/** Fades to the next page. (The router's own view transitions leave the rejection of an interrupted one unhandled.) */
async function fade(update: () => Promise<void>): Promise<void> {
  if (!('startViewTransition' in document) || matchMedia('(prefers-reduced-motion: reduce)').matches) return update();
  const { dataset } = document.documentElement;
  const transition = document.startViewTransition(async () => {
    // By now the old page is a snapshot. CSS shows the new one live, because a snapshot can't be clicked while it fades in.
    dataset['fading'] = '';
    await update();
  });
  // Rejects if the animation was skipped (two pages in a row, a hidden tab). The update runs all the same.
  transition.ready.catch(() => {});
  transition.finished.then(
    () => delete dataset['fading'],
    () => delete dataset['fading'],
  );
  return transition.updateCallbackDone;
}

/** The router. The address follows the machine, and the machine is asked for every address that the visitor enters. */
export function createWizardRouter(actor: WizardActor, history?: RouterHistory) {
  let asking = false;
  /** On the first view, Back would leave the portal. So a dialog there pushes a second history entry, for Back to leave. */
  let onCopy = false;
  /** Makes Back close the open dialog instead of leaving the page. */
  const closeInstead = ({ action }: { readonly action: string }) => {
    const closing = CLOSING.find((event) => actor.getSnapshot().can(event));
    if (closing === undefined || !(onCopy || action === 'BACK')) return false;
    const stays = !onCopy;
    onCopy = false;
    const { href } = router.history.location;
    actor.send(closing);
    // Closing some dialogs leads to another page; Back has then left this one.
    return stays && router.history.location.href === href;
  };
  const router = createRouter({
    routeTree: root.addChildren(routes),
    context: {
      actor,
      ask: (visit) => {
        asking = true;
        actor.send(visit);
        asking = false;
      },
    },
    defaultPreload: false,
    // The browser's own restoration would scroll the page that is being left, and Back would show the other one's top.
    scrollRestoration: true,
    defaultErrorComponent: LostScriptPage,
    // Plain text: the default would read an ID of digits as a number.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const text = new URLSearchParams(search as Record<string, string>).toString();
      return text === '' ? '' : `?${text}`;
    },
    ...(history === undefined ? {} : { history }),
  });
  let fading = 0;
  // The same view does not fade, unless another fade is still under way: then this one has to follow it.
  router.startViewTransition = async (update) => {
    const [shown, next] = [router.state.resolvedLocation, router.latestLocation];
    const stays = shown?.pathname === next.pathname && isSameView(next.search, shown.searchStr);
    if (stays && fading === 0) return update();
    fading += 1;
    try {
      await fade(update);
    } finally {
      fading -= 1;
    }
  };
  let holdBack: (() => void) | null = null;
  actor.subscribe((snapshot) => {
    const isOpen = CLOSING.some((event) => snapshot.can(event));
    if (isOpen) holdBack ??= router.history.block({ blockerFn: closeInstead, enableBeforeUnload: false });
    else {
      holdBack?.();
      holdBack = null;
    }
    // While the router asks, it redirects by itself and replaces the address, so that Back does not lead there again.
    if (asking) return;
    const address = addressOf(snapshot);
    if (address === null) return;
    const leavesCopy = onCopy && !isOpen;
    if (leavesCopy) onCopy = false;
    const { pathname, searchStr } = router.latestLocation;
    if (isAt(address, pathname, new URLSearchParams(searchStr))) {
      if (leavesCopy) window.history.back();
      else if (isOpen && !onCopy && !router.history.canGoBack() && history === undefined) {
        onCopy = true;
        // The router's own would show the page anew.
        History.prototype.pushState.call(window.history, window.history.state, '');
      }
      return;
    }
    const stays = address.path === pathname && isSameView(address.query, searchStr);
    const replace = stays || leavesCopy;
    // The page itself scrolls to the other ways, for whoever comes back to choose another.
    const resetScroll = !stays && !snapshot.matches({ destination: { options: 'choosing' } });
    void router.navigate({ to: address.path, search: address.query, replace, resetScroll });
  });
  return router;
}
