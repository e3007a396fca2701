import { Suspense } from 'react';
import { isOver, timeLeft } from '../../../machines/countdown.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/card.tsx';
import { Countdown } from '../parts/countdown.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { countdown, home, toolName } from '../wording.ts';
import { laterPart } from '../later-part.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { LateLoader } from './late-loader.tsx';
import { WizardPage } from './wizard-page.tsx';

// The first load goes without what no visitor sees before a press.
const Banner = laterPart(() => import('./banner.tsx'), 'Banner');
const SignIn = laterPart(() => import('./home-sign-in.tsx'), 'SignIn');
const LookUp = laterPart(() => import('./home-look-up.tsx'), 'LookUp');

export function HomePage() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { settings, message, now } = snapshot.context;
  const { legacyName, accessEnd } = settings;
  const lead = <p className="lead">{home.lead(legacyName, isOver(timeLeft(accessEnd, now)), settings)}</p>;
  return (
    <WizardPage
      heading={toolName(legacyName)}
      lead={
        <MessagePlace>
          <Suspense fallback={lead}>
            {message !== null && message.about !== 'sign-in refused' ? <Banner message={message} /> : lead}
          </Suspense>
        </MessagePlace>
      }
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
        </p>
      </div>
      <section className="stack" aria-labelledby="before">
        <h2 id="before">{home.before}</h2>
        <Facts facts={home.facts(legacyName, settings)} />
      </section>
      <Suspense fallback={<LateLoader />}>
        {snapshot.matches({ home: { page: 'signingIn' } }) && <SignIn />}
        {snapshot.matches({ home: { page: 'lookingUp' } }) && <LookUp />}
      </Suspense>
    </WizardPage>
  );
}

function TimeLeft({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const { settings, now } = snapshot.context;
  const left = timeLeft(settings.accessEnd, now);
  return (
    <Countdown figure={countdown(left)}>
      <p className="strong">{home.countdownTitle(settings.legacyName, isOver(left))}</p>
      <p className="soft">{(isOver(left) ? home.countdownOver : home.countdownDate)(settings.accessEnd)}</p>
    </Countdown>
  );
}
