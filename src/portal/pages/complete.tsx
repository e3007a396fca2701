import { attentionOf, isAtItsEnd } from '../../../machines/owner-acts.ts';
import type { TransferStatus } from '../../contract/calls/status.ts';
import { statusAddress } from '../../contract/page-address.ts';
import { Facts } from '../parts/card.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { Link } from '../parts/link.tsx';
import { Message, MessagePlace } from '../parts/message.tsx';
import { complete as words, isTold } from '../wording/start-migration.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { WizardPage } from './wizard-page.tsx';

export function CompletePage() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { settings, transferId, notificationContact, status } = snapshot.context;
  const id = transferId ?? '';
  const stands = standing(status);
  return (
    <WizardPage heading={words.heading} lead={words.lead[stands]}>
      <section className="stack" data-gap="small" aria-labelledby="transfer-id">
        <h2 id="transfer-id">{words.idTitle}</h2>
        <p>{words.idHelp}</p>
        <div className="transfer-id">
          <p className="code">{id}</p>
          <CopyButton
            label={words.copy}
            copiedLabel={words.copied}
            copied={snapshot.matches({ complete: 'copied' })}
            onCopy={() => send({ type: 'id.copy' })}
          />
        </div>
        <MessagePlace>
          {snapshot.matches({ complete: 'notCopied' }) && <Message kind="warning" content={[words.notCopied]} />}
        </MessagePlace>
      </section>
      <section className="stack" aria-labelledby="next">
        <h2 id="next">{words.next}</h2>
        <Facts
          facts={[
            ...words.facts[stands](isTold(notificationContact, settings)),
            { icon: 'shield', text: words.safe(settings.legacyName) },
          ]}
        />
        <div className="actions">
          <Link
            className="button"
            rank="primary"
            href={statusAddress(id)}
            onFollow={() => send({ type: 'transfer.open', id })}
          >
            {words.status}
          </Link>
        </div>
      </section>
    </WizardPage>
  );
}

/** Until its status is known, the transfer counts as running, because it was ordered a moment ago. */
function standing(status: TransferStatus | null): 'running' | 'waiting' | 'ended' {
  if (attentionOf(status) !== undefined) return 'waiting';
  return status !== null && isAtItsEnd(status) ? 'ended' : 'running';
}
