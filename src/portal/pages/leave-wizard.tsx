import { Button } from '../parts/button.tsx';
import { Modal } from '../parts/modal.tsx';
import { shared } from '../wording.ts';
import { leaveWizard as words } from '../wording/leave-wizard.ts';
import { useSend } from '../wizard-context.tsx';

/** Asked in mid-wizard, before Home forgets everything. */
export function LeaveWizard() {
  const send = useSend();
  return (
    <Modal title={words.title} closeLabel={shared.close} onClose={() => send({ type: 'home.stay' })}>
      <p>{words.text}</p>
      <p className="soft">{words.safe}</p>
      <div className="actions">
        <Button rank="primary" onPress={() => send({ type: 'home.stay' })}>
          {words.stay}
        </Button>
        <Button onPress={() => send({ type: 'home.visit', error: '' })}>{words.leave}</Button>
      </div>
    </Modal>
  );
}
