import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Message } from '../parts/message.tsx';
import { useOnline } from '../parts/online.ts';
import { shared } from '../wording.ts';
import { useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

type Props = { readonly onRetry: () => void };

/** Stands in for any page while the visitor is offline, or the server can't be reached or says that it is closed. */
export function UnavailablePage({ onRetry }: Props) {
  const online = useOnline();
  const [line, setLine] = useState<'there' | 'lost'>('there');
  if (!online && line === 'there') setLine('lost');
  const words = shared.unavailable;
  const phone = useWizard((snapshot) => snapshot.context.settings.supportPhone);
  if (line === 'lost') return <Offline online={online} onRetry={onRetry} />;
  return (
    <WizardPage heading={words.heading}>
      <Message kind="error" title={words.text} content={[words.safe, words.todo(phone)]} />
      <Retry onRetry={onRetry} />
    </WizardPage>
  );
}

/** The browser is, or was, offline. The button repeats what failed; the machine repeats mere reads by itself. */
function Offline({ online, onRetry }: Props & { readonly online: boolean }) {
  const words = shared.offline;
  return (
    <WizardPage heading={online ? words.headingBack : words.heading}>
      <Message kind={online ? 'info' : 'warning'} content={[online ? words.textBack : words.text]} />
      <Retry onRetry={onRetry} />
    </WizardPage>
  );
}

function Retry({ onRetry }: Props) {
  return (
    <div className="actions">
      <Button rank="primary" onPress={onRetry}>
        {shared.unavailable.retry}
      </Button>
    </div>
  );
}
