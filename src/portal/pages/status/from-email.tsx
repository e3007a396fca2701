import { attentionOf, progressesOf } from '../../../../machines/owner-acts.ts';
import { PATHS, type WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { TransferStatus } from '../../../contract/calls/status.ts';
import { statusAddress } from '../../../contract/page-address.ts';
import { isTakenBack, standingOf } from '../../../contract/transfer-status.ts';
import { Address } from '../../parts/address.tsx';
import { BarsLoader } from '../../parts/bars-loader.tsx';
import { Link } from '../../parts/link.tsx';
import { Message } from '../../parts/message.tsx';
import { useSend, useWizard } from '../../wizard-context.tsx';
import { shared } from '../../wording.ts';
import { providerName } from '../../wording/provider-name.ts';
import { statusFromEmail as words } from '../../wording/status.ts';
import { WizardPage } from '../wizard-page.tsx';
import { SupportLink } from './status.tsx';

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
  const { transfers, statuses } = snapshot.context;
  const asking = snapshot.matches({ statusFromEmail: { showing: 'asking' } });
  return (
    <WizardPage heading={words.heading} lead={words.lead}>
      <ul className="rows">
        {transfers.map((transfer) => (
          <Transfer key={transfer.id} {...transfer} status={statuses[transfer.id]} asking={asking} />
        ))}
      </ul>
      <p className="soft">{words.note}</p>
    </WizardPage>
  );
}

type TransferProps = {
  readonly id: string;
  readonly started: string;
  readonly status: TransferStatus | undefined;
  readonly asking: boolean;
};

/** One transfer of the list: its status, its destination and its start. */
function Transfer({ id, started, status, asking }: TransferProps) {
  const send = useSend();
  const destination = useWizard((snapshot) => snapshot.context.destination);
  const legacyName = useWizard((snapshot) => snapshot.context.settings.legacyName);
  const standing = status === undefined ? null : wholeOf(status);
  return (
    <li>
      <div>
        {standing === null ? (
          <p className="soft">{asking ? words.standing.asking : words.standing.unknown}</p>
        ) : (
          <p className="strong">{words.standing[standing]}</p>
        )}
        {destination !== null && (
          <p>
            {words.to(providerName(destination.provider, legacyName))} <Address>{destination.email}</Address>
          </p>
        )}
        <p>{words.started(started)}</p>
        <p className="code small">{id}</p>
      </div>
      <Link className="button" href={statusAddress(id)} onFollow={() => send({ type: 'transfer.open', id })}>
        {words.open}
        {/* Tells it from the other links, where these are listed or tabbed through. */}
        <span className="hidden-visually"> {words.started(started)}</span>
      </Link>
    </li>
  );
}

/**
 * The status of a transfer as a whole: the first that applies to any operation of attention needed, running, failed and
 * done.
 */
function wholeOf(transfer: TransferStatus): keyof typeof words.standing | null {
  if (attentionOf(transfer) !== undefined) return 'attention';
  const standings = progressesOf(transfer).map((each) =>
    each.waiting !== undefined && each.finished === undefined ? 'interrupted' : standingOf(each),
  );
  const whole = (['running', 'interrupted', 'failed', 'success'] as const).find((each) => standings.includes(each));
  const mail = transfer.emailmigration;
  if (whole !== 'success' || mail === undefined || !isTakenBack(mail)) return whole ?? null;
  return mail.taking_back === true ? 'undoing' : 'undone';
}

function NoneFound() {
  const send = useSend();
  const settings = useWizard((snapshot) => snapshot.context.settings);
  return (
    <WizardPage heading={words.heading} lost>
      <Message kind="error" title={words.none.title} content={words.none.content(settings)} />
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
