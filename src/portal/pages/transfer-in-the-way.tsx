import { statusAddress } from '../../contract/page-address.ts';
import { Link } from '../parts/link.tsx';
import { transferInTheWay as words } from '../wording/message.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

/** A link to the transfer that prevented a new one, running or completed. It outlasts the message about it. */
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
