import { timeLeft } from '../../../machines/countdown.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/card.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { countdown, home, toolName } from '../wording.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { Banner } from './banner.tsx';
import { LookUp } from './home-look-up.tsx';
import { SignIn } from './home-sign-in.tsx';
import { WizardPage } from './wizard-page.tsx';

export function HomePage() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { settings, message } = snapshot.context;
  const { legacyName } = settings;
  const lead = <p className="lead">{home.lead(legacyName)}</p>;
  return (
    <WizardPage
      heading={toolName(legacyName)}
      lead={<MessagePlace>{message?.about === 'query' ? <Banner message={message} /> : lead}</MessagePlace>}
    >
      <TimeLeft snapshot={snapshot} />
      <div className="stack">
        <div className="actions">
          <Button rank="primary" size="large" onPress={() => send({ type: 'start.press' })}>
            {home.start}
          </Button>
        </div>
        <p>
          {home.lookupBefore}
          <button className="link link-button" type="button" onClick={() => send({ type: 'lookup.open' })}>
            {home.lookup}
          </button>
          {home.lookupAfter}
        </p>
      </div>
      <section className="stack" aria-labelledby="before">
        <h2 id="before">{home.before}</h2>
        <Facts facts={home.facts(legacyName)} />
      </section>
      {snapshot.matches({ home: { page: 'signingIn' } }) && <SignIn />}
      {snapshot.matches({ home: { page: 'lookingUp' } }) && <LookUp />}
    </WizardPage>
  );
}

function TimeLeft({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const { settings, now } = snapshot.context;
  return (
    <Countdown figure={countdown(timeLeft(settings.accessEnd, now))}>
      <p className="strong">{home.countdownTitle(settings.legacyName)}</p>
      <p className="soft">{home.countdownDate(settings.accessEnd)}</p>
    </Countdown>
  );
}
