import { Button } from '../parts/button.tsx';
import { shared } from '../wording.ts';
import { googleTerms as words } from '../wording/google.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

export function GoogleTermsPage() {
  const send = useSend();
  const settings = useWizard((snapshot) => snapshot.context.settings);
  return (
    <WizardPage heading={words.heading} lead={words.lead}>
      <section className="stack" data-gap="small" aria-labelledby="statement">
        <h2 id="statement">{words.title}</h2>
        {words.statements(settings.legacyName, settings).map(([about, statement]) => (
          <p key={about}>
            <span className="strong">{about}</span> {statement}
          </p>
        ))}
        <p>{words.policy}</p>
      </section>
      <div className="actions">
        <Button rank="primary" onPress={() => send({ type: 'terms.accept' })}>
          {words.accept}
        </Button>
        <Button onPress={() => send({ type: 'page.back' })}>{shared.back}</Button>
      </div>
    </WizardPage>
  );
}
