import { statusAddress } from '../../contract/page-address.ts';
import { Link } from '../parts/link.tsx';
import { transferInTheWay as words } from '../wording/message.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

/** The way to the transfer that runs already, or is completed. It stays when the message about it has gone. */
export function TransferInTheWay() {
  const transfer = useWizard((snapshot) => snapshot.context.transferInTheWay);
  const send = useSend();
  if (transfer === null) return null;
  const { id, isCompleted } = transfer;
  const { text, open } = isCompleted ? words.completed : words.running;
  return (
    <div className="card">
      <p>{text}</p>
      <div className="actions">
        <Link className="button" href={statusAddress(id)} onFollow={() => send({ type: 'transfer.open', id })}>
          {open}
        </Link>
      </div>
    </div>
  );
}
