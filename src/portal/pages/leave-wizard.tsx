import { Button } from '../parts/button.tsx';
import { Modal } from '../parts/modal.tsx';
import { shared } from '../wording.ts';
import { leaveWizard, signOutFirst } from '../wording/leave-wizard.ts';
import { useSend } from '../wizard-context.tsx';

type Props = { readonly signOut: boolean };

/** Asked in mid-wizard, before Home or the end of the sign-in forgets everything. */
export function LeaveWizard({ signOut }: Props) {
  const send = useSend();
  const words = signOut ? signOutFirst : leaveWizard;
  return (
    <Modal title={words.title} closeLabel={shared.close} onClose={() => send({ type: 'home.stay' })}>
      <p>{words.text}</p>
      <p className="soft">{words.safe}</p>
      <div className="actions">
        <Button rank="primary" onPress={() => send({ type: 'home.stay' })}>
          {words.stay}
        </Button>
        <Button onPress={() => send(signOut ? { type: 'sign-out.confirm' } : { type: 'home.visit', error: '' })}>
          {words.leave}
        </Button>
      </div>
    </Modal>
  );
}
