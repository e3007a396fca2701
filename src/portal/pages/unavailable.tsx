import { Button } from '../parts/button.tsx';
import { Message } from '../parts/message.tsx';
import { shared } from '../wording.ts';
import { useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

/** Stands in for any page while the server can't be reached, or says that it is closed. */
export function UnavailablePage({ onRetry }: { readonly onRetry: () => void }) {
  const phone = useWizard((snapshot) => snapshot.context.settings.supportPhone);
  const words = shared.unavailable;
  return (
    <WizardPage heading={words.heading}>
      <Message kind="error" title={words.text} content={[words.safe, words.todo(phone)]} />
      <div className="actions">
        <Button rank="primary" onPress={onRetry}>
          {words.retry}
        </Button>
      </div>
    </WizardPage>
  );
}
