import { useState, type ReactNode } from 'react';
import { isOnPrimaryPath, stepOf } from '../../../machines/wizard.routes.ts';
import { Page } from '../parts/page.tsx';
import { StepList } from '../parts/step-list.tsx';
import { routeOf } from '../route.ts';
import { useWizard } from '../wizard-context.tsx';
import { pageTitle, printed, steps, titleWithError, today, toolName } from '../wording.ts';

type Props = {
  readonly heading: string;
  /** How that stands, before the heading in the title of the browser's tab. */
  readonly state?: string | undefined;
  /** Under the heading: an introduction, or the place of a message that stands in for it. */
  readonly lead?: ReactNode;
  /** Names what the page shows of several things in turn. */
  readonly view?: string;
  /** All steps are done, including the last one. */
  readonly done?: boolean;
  /** The page says that nothing was found, so it is at no step. */
  readonly lost?: boolean;
  /** The page itself shows both mailboxes, so the printed line omits them. */
  readonly saysRoute?: boolean;
  readonly children?: ReactNode;
};

/** A page in its frame, beside the steps where it belongs to the wizard. */
export function WizardPage({
  heading,
  state,
  lead,
  view,
  done = false,
  lost = false,
  saysRoute = false,
  children,
}: Props) {
  const current = useWizard(stepOf);
  const primary = useWizard(isOnPrimaryPath);
  const legacyName = useWizard((snapshot) => snapshot.context.settings.legacyName);
  const names = steps.names(primary);
  const title = heading === toolName(legacyName) ? heading : pageTitle(heading, legacyName, state);
  return (
    <Page
      heading={heading}
      title={title}
      titleWithError={titleWithError(title)}
      lead={lead}
      {...(view === undefined ? {} : { view })}
      steps={
        current === null || lost ? undefined : (
          <StepList
            label={steps.label}
            steps={names}
            current={current}
            done={done}
            summary={done ? steps.allDone(names) : steps.summary(current, names)}
            doneLabel={steps.done}
          />
        )
      }
    >
      {children}
      <Printed withRoute={!saysRoute} />
    </Page>
  );
}

/** Only visible on paper: the date, and both mailboxes unless the page itself shows them. */
function Printed({ withRoute }: { readonly withRoute: boolean }) {
  const from = useWizard((snapshot) => routeOf(snapshot).from);
  const to = useWizard((snapshot) => routeOf(snapshot).to);
  const [day] = useState(() => today());
  const said = [
    ...(withRoute && from !== undefined ? [printed.from(from)] : []),
    ...(withRoute && to !== undefined ? [printed.to(to)] : []),
    printed.on(day),
  ];
  // Shown by CSS (`attr(data-said)`), so that neither a search in the page nor a screen reader finds it.
  return <div className="printed" data-said={said.join('\n')} aria-hidden="true" />;
}
