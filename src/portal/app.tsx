import { Outlet, useRouterState } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { isBetweenPages, PATHS, visitOf } from '../../machines/wizard.routes.ts';
import { laterPart } from './later-part.ts';
import { LateLoader } from './pages/late-loader.tsx';
import { OfflineBanner } from './pages/offline-banner.tsx';
import { UnavailablePage } from './pages/unavailable.tsx';
import { BarsLoader } from './parts/bars-loader.tsx';
import { Footer } from './parts/footer.tsx';
import { Header } from './parts/header.tsx';
import { Link } from './parts/link.tsx';
import { forgetReloads } from './script.ts';
import { settings } from './settings.ts';
import { useSend, useWizard } from './wizard-context.tsx';
import { shared } from './wording.ts';

const fetchLeaveWizard = () => import('./pages/leave-wizard.tsx');
const LeaveWizard = laterPart(fetchLeaveWizard, 'LeaveWizard');

/**
 * Moves the focus past the header. A link to `#main` would do, but add an entry to the history, and Back would seem to
 * do nothing.
 */
function skip(): void {
  document.querySelector<HTMLElement>('#main h1')?.focus();
}

/** The frame around every page: header, footer, and whatever replaces the page while it can't be shown. */
export function App() {
  const send = useSend();
  const unavailable = useWizard((snapshot) => snapshot.hasTag('unavailable'));
  const between = useWizard(isBetweenPages);
  const asksFirst = useWizard((snapshot) => snapshot.can({ type: 'home.press' }));
  const leaving = useWizard((snapshot) => snapshot.hasTag('leaving'));
  const parting = useWizard((snapshot) => snapshot.hasTag('parting'));
  const signedIn = useWizard((snapshot) => snapshot.can({ type: 'sign-out.press' }));
  const fetchesPage = useRouterState({ select: ({ isLoading }) => isLoading });
  const slow = useWizard((snapshot) => snapshot.hasTag('slow'));
  useEffect(() => {
    // Fetched beforehand: if it failed at the press, the error page would replace this one, and what was typed would be
    // lost.
    if (asksFirst) fetchLeaveWizard().catch(() => {});
  }, [asksFirst]);
  const retry = () => {
    forgetReloads();
    send({ type: 'call.retry' });
  };
  const visit = (path: string) => () => send(visitOf(path, new URLSearchParams()));
  return (
    <>
      <Link className="skip" href="#main" onFollow={skip}>
        {shared.skip}
      </Link>
      <Header
        name={settings.legacyName}
        homeLabel={shared.home}
        faqLabel={shared.faq}
        faqUrl={settings.faqUrl}
        onHome={asksFirst ? () => send({ type: 'home.press' }) : visit(PATHS.home)}
        {...(signedIn ? { signOut: { label: shared.signOut, onPress: () => send({ type: 'sign-out.press' }) } } : {})}
      />
      <OfflineBanner />
      {unavailable ? <UnavailablePage onRetry={retry} /> : <Outlet />}
      <Suspense fallback={<LateLoader />}>{(leaving || parting) && <LeaveWizard signOut={parting} />}</Suspense>
      {between ? (
        <BarsLoader label={shared.loading} text={slow ? shared.slow : shared.oneMoment} />
      ) : (
        fetchesPage && <LateLoader />
      )}
      <Footer
        owner={shared.owner(settings.legacyName, settings.supportPhone)}
        links={[
          { href: PATHS.privacyPolicy, text: shared.privacy, onFollow: visit(PATHS.privacyPolicy) },
          { href: PATHS.termsOfService, text: shared.terms, onFollow: visit(PATHS.termsOfService) },
          { href: PATHS.support, text: shared.support, onFollow: visit(PATHS.support) },
        ]}
        {...(settings.footerUrl === undefined ? {} : { frame: { url: settings.footerUrl, title: shared.legalFooter } })}
      />
    </>
  );
}
