import type { Guide } from '../../../../machines/mail-guide.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { Address } from '../../parts/address.tsx';
import { Button } from '../../parts/button.tsx';
import { routeOf } from '../../route.ts';
import { useSend } from '../../wizard-context.tsx';
import { MAIL_FACTS, mailGuide as words } from '../../wording/mail-guide.ts';
import { WizardPage } from '../wizard-page.tsx';
import { isDone } from './finished.tsx';

type Props = { readonly snapshot: WizardSnapshot; readonly guide: Guide };

/** How a phone and a mail program are set up for the new mailbox, to follow on the screen or on paper. */
export function GuidePage({ snapshot, guide }: Props) {
  const send = useSend();
  const { legacyName, supportPhone } = snapshot.context.settings;
  const { first, password } = MAIL_FACTS[guide];
  return (
    <WizardPage heading={words.heading(guide)} lead={words.lead} done={isDone(snapshot)} view={`guide ${guide}`}>
      <div className="actions">
        <Button rank="primary" onPress={() => window.print()}>
          {words.print}
        </Button>
        <Button onPress={() => send({ type: 'guide.close' })}>{words.back}</Button>
      </div>
      <Steps id="phone" title={words.phone.title} steps={words.phone.steps(guide)} />
      <Steps id="android" title={words.android.title} steps={words.android.steps(guide)} />
      <Steps
        id="computer"
        title={words.computer.title}
        steps={[...(first === undefined ? [] : [first]), ...words.computer.steps]}
      />
      <Settings snapshot={snapshot} guide={guide} />
      <section className="stack together" data-gap="small" aria-labelledby="password">
        <h2 id="password">{words.password}</h2>
        {password.map((each) => (
          <p key={each}>{each}</p>
        ))}
      </section>
      <section className="stack together" data-gap="small" aria-labelledby="keep">
        <h2 id="keep">{words.keep.title(legacyName)}</h2>
        <p>{words.keep.text(legacyName)}</p>
        <p className="strong">{words.help(supportPhone)}</p>
      </section>
    </WizardPage>
  );
}

type StepsProps = { readonly id: string; readonly title: string; readonly steps: readonly string[] };

function Steps({ id, title, steps }: StepsProps) {
  return (
    <section className="stack together" data-gap="small" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      <ol className="instructions">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </section>
  );
}

function Settings({ snapshot, guide }: Props) {
  const { incoming, outgoing } = MAIL_FACTS[guide];
  const { title, address, anAddress, kind, imap, how, askIncoming, askOutgoing } = words.settings;
  const { to } = routeOf(snapshot);
  return (
    <section className="stack together" data-gap="small" aria-labelledby="settings">
      <h2 id="settings">{title}</h2>
      <dl className="route" data-names="long">
        <div>
          <dt>{address}</dt>
          <dd>{to === undefined ? anAddress : <Address>{to}</Address>}</dd>
        </div>
        <div>
          <dt>{kind}</dt>
          <dd>{imap}</dd>
        </div>
        {(
          [
            [words.settings.incoming, incoming, askIncoming],
            [words.settings.outgoing, outgoing, askOutgoing],
          ] as const
        ).map(([name, place, ask]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{place.server === '' ? ask : <span className="code">{place.server}</span>}</dd>
            <dd>{how(place)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
