import { Message } from '../parts/message.tsx';
import { shared } from '../wording.ts';
import { WizardPage } from './wizard-page.tsx';

/** Stands in for a piece of the portal that did not arrive, most often because the line was lost. */
export function LoadFailed() {
  const words = shared.unavailable;
  return (
    <Message kind="error" title={words.text} content={[words.safe]}>
      <p>
        {/* The same address anew: what failed to load once is not asked for again by the page itself. */}
        <a href={location.href}>{words.retry}</a>
      </p>
    </Message>
  );
}

export function LoadFailedPage() {
  return (
    <WizardPage heading={shared.unavailable.heading}>
      <LoadFailed />
    </WizardPage>
  );
}
