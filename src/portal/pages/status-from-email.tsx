import { PATHS, type WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { statusAddress } from '../../contract/page-address.ts';
import { BarsLoader } from '../parts/bars-loader.tsx';
import { Link } from '../parts/link.tsx';
import { Message } from '../parts/message.tsx';
import { shared } from '../wording.ts';
import { statusFromEmail as words } from '../wording/status.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { SupportLink } from './status.tsx';
import { WizardPage } from './wizard-page.tsx';

export function StatusFromEmailPage() {
  const snapshot = useWizard((whole) => whole);
  if (snapshot.matches({ statusFromEmail: 'notFound' })) return <NoneFound />;
  if (snapshot.matches({ statusFromEmail: 'asking' }))
    return (
      <WizardPage heading={words.heading}>
        <BarsLoader label={shared.loading} text={snapshot.hasTag('slow') ? shared.slow : words.asking} />
      </WizardPage>
    );
  return <Transfers snapshot={snapshot} />;
}

function Transfers({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  return (
    <WizardPage heading={words.heading} lead={words.lead}>
      <ul className="rows">
        {snapshot.context.transfers.map(({ id, started }) => (
          <li key={id}>
            <div>
              <p className="strong">{words.started(started)}</p>
              <p className="code">{id}</p>
            </div>
            <Link className="button" href={statusAddress(id)} onFollow={() => send({ type: 'transfer.open', id })}>
              {words.open}
            </Link>
          </li>
        ))}
      </ul>
      <p className="soft">{words.note}</p>
    </WizardPage>
  );
}

function NoneFound() {
  const send = useSend();
  return (
    <WizardPage heading={words.heading}>
      <Message kind="error" title={words.none.title} content={words.none.content} />
      <p className="soft">{words.note}</p>
      <div className="actions">
        <Link
          className="button"
          rank="primary"
          href={PATHS.home}
          onFollow={() => send({ type: 'home.visit', error: '' })}
        >
          {words.toHome}
        </Link>
        <SupportLink>{shared.support}</SupportLink>
      </div>
    </WizardPage>
  );
}
