import { useState } from 'react';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Address } from '../parts/address.tsx';
import { Button } from '../parts/button.tsx';
import { Card, Facts } from '../parts/card.tsx';
import { Disclosure } from '../parts/disclosure.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { Modal } from '../parts/modal.tsx';
import { ProviderButton, Providers } from '../parts/provider-button.tsx';
import { shared } from '../wording.ts';
import { destination as words } from '../wording/destination.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { Banner, SlowNote } from './banner.tsx';
import { DownloadPage } from './destination-download.tsx';
import { OtherPage } from './destination-other.tsx';
import { TransferInTheWay } from './transfer-in-the-way.tsx';
import { WizardPage } from './wizard-page.tsx';

const CHOICES = [
  { provider: 'google', name: words.options.gmail },
  { provider: 'office365', name: words.options.outlook },
  { provider: 'aol', name: words.options.aol },
  { provider: 'other', name: words.options.other },
  { provider: 'file_export', name: words.options.download },
] as const;

export function DestinationPage() {
  const snapshot = useWizard((whole) => whole);
  if (snapshot.matches({ destination: { options: 'other' } })) return <OtherPage />;
  if (snapshot.matches({ destination: { options: 'download' } })) return <DownloadPage />;
  return <Ways snapshot={snapshot} />;
}

function Ways({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const { message, settings, source } = snapshot.context;
  const { legacyName } = settings;
  const open = useOpen(snapshot);
  // Whoever comes back to choose another way need not look for them below the move. A message is at the top.
  const [comesBack, setComesBack] = useState(open && message === null);
  return (
    <WizardPage
      heading={words.heading}
      view="ways"
      lead={
        <MessagePlace size="large">
          {message?.about === 'query' ? (
            <Banner message={message} />
          ) : (
            <div className="stack" data-gap="small">
              <p className="lead">{words.intro(legacyName)}</p>
              <p className="soft">
                {words.signedIn} <Address>{source?.email ?? ''}</Address>
              </p>
            </div>
          )}
        </MessagePlace>
      }
    >
      <div className="columns">
        {words.cards(legacyName, settings).map((card) => (
          <Card key={card.title} icon={card.icon} title={card.title}>
            <p>{card.text}</p>
          </Card>
        ))}
      </div>
      <div className="stack">
        <div className="actions">
          <Button rank="primary" size="large" onPress={() => send({ type: 'move.press' })}>
            {words.go}
          </Button>
        </div>
        <MessagePlace size="large">
          {message?.about === 'account creation' ? (
            <Banner message={message} />
          ) : (
            <Facts facts={words.goFacts(legacyName)} />
          )}
        </MessagePlace>
        <TransferInTheWay />
      </div>
      <Disclosure
        label={words.options.label}
        open={open}
        isWanted={comesBack}
        onToggle={() => {
          setComesBack(false);
          send({ type: 'options.toggle' });
        }}
      >
        <Options snapshot={snapshot} />
      </Disclosure>
      {isNoticed(snapshot) && <Notice snapshot={snapshot} />}
    </WizardPage>
  );
}

/** Whether the other ways are open. They stay as they were while the machine has left this page and the next one loads. */
function useOpen(snapshot: WizardSnapshot): boolean {
  const open = snapshot.matches('destination') ? !snapshot.matches({ destination: { options: 'closed' } }) : null;
  const [shown, setShown] = useState(open ?? false);
  if (open !== null && open !== shown) setShown(open);
  return open ?? shown;
}

/** The ways besides Yahoo. */
function Options({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  return (
    <div className="stack">
      <p>{words.options.intro(snapshot.context.settings)}</p>
      <Providers>
        {CHOICES.map(({ provider, name }) => (
          <ProviderButton
            key={provider}
            provider={provider}
            name={name}
            onChoose={() => send({ type: 'provider.choose', provider })}
          />
        ))}
      </Providers>
    </div>
  );
}

/** Whether the dialog of the move is open. The machine may already be in `leavingForMove` while this page is still shown. */
function isNoticed(snapshot: WizardSnapshot): boolean {
  const steps = ['warned', 'creatingAccount', 'redirecting', 'unavailable'] as const;
  return snapshot.matches('leavingForMove') || steps.some((move) => snapshot.matches({ destination: { move } }));
}

function Notice({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const { settings, source } = snapshot.context;
  const notice = words.notice;
  const creating = snapshot.matches({ destination: { move: 'creatingAccount' } });
  const redirecting = snapshot.matches({ destination: { move: 'redirecting' } }) || snapshot.matches('leavingForMove');
  return (
    <Modal title={notice.title} closeLabel={shared.close} onClose={() => send({ type: 'modal.close' })}>
      <p>{notice.what}</p>
      <div className="card">
        <p className="soft">{notice.email}</p>
        <p>
          <Address>{source?.email ?? ''}</Address>
        </p>
        <p>{notice.password(settings.legacyName)}</p>
      </div>
      <p>{notice.agree}</p>
      <div className="actions">
        <Button
          rank="primary"
          busy={creating || redirecting}
          reserve={notice.creating}
          onPress={() => send({ type: 'move.continue' })}
        >
          {continueLabel(creating, redirecting)}
        </Button>
        {/* Few screen readers say that the name of the focused button has changed. */}
        <span className="hidden-visually" aria-live="polite">
          {(creating || redirecting) && continueLabel(creating, redirecting)}
        </span>
      </div>
      {/* Below the answer, which is in sight of a small phone so. */}
      <p className="soft">{notice.safe}</p>
      <MessagePlace size="small">{snapshot.hasTag('slow') && <SlowNote />}</MessagePlace>
    </Modal>
  );
}

function continueLabel(creating: boolean, redirecting: boolean): string {
  if (redirecting) return words.notice.redirecting;
  return creating ? words.notice.creating : words.notice.continue;
}
