import { statusAddress } from '../../contract/page-address.ts';
import { Link } from '../parts/link.tsx';
import { runningTransfer as words } from '../wording/message.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

/** The way to the transfer that is already in progress. It stays when the message about it has gone. */
export function RunningTransfer() {
  const id = useWizard((snapshot) => snapshot.context.runningTransfer);
  const send = useSend();
  if (id === null) return null;
  return (
    <div className="card">
      <p>{words.text}</p>
      <div className="actions">
        <Link className="button" href={statusAddress(id)} onFollow={() => send({ type: 'transfer.open', id })}>
          {words.open}
        </Link>
      </div>
    </div>
  );
}
