import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/card.tsx';
import { DRAWINGS } from '../parts/drawings.ts';
import { emailScopes as words } from '../wording/google.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

export function EmailScopesPage() {
  const send = useSend();
  const { destination, settings } = useWizard(({ context }) => context);
  const isBack = destination?.provider === 'google' && destination.email === '';
  return (
    <WizardPage heading={words.heading} lead={words.lead(isBack)}>
      <section className="stack" aria-labelledby="scopes">
        <h2 id="scopes">{words.title}</h2>
        <Facts facts={words.scopes.map((text) => ({ icon: DRAWINGS.ticked, text }))} />
        <p>{words.why(settings)}</p>
      </section>
      {isBack && <p>{words.todo}</p>}
      <div className="actions">
        {isBack && (
          <Button rank="primary" onPress={() => send({ type: 'google.retry' })}>
            {words.retry}
          </Button>
        )}
        <Button rank={isBack ? 'secondary' : 'primary'} onPress={() => send({ type: 'page.next' })}>
          {words.next}
        </Button>
      </div>
    </WizardPage>
  );
}
