import { Button } from '../parts/button.tsx';
import { Modal } from '../parts/modal.tsx';
import { shared } from '../wording.ts';
import { leaveWizard, signOutFirst } from '../wording/leave-wizard.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

type Props = { readonly signOut: boolean };

/** The question in the middle of the wizard, before going Home or signing out discards everything. */
export function LeaveWizard({ signOut }: Props) {
  const send = useSend();
  const words = signOut ? signOutFirst : leaveWizard;
  const leaveBy = (everywhere: boolean) => () =>
    send(signOut ? { type: 'sign-out.confirm', everywhere } : { type: 'home.visit', error: '' });
  return (
    <Modal title={words.title} closeLabel={shared.close} onClose={() => send({ type: 'home.stay' })}>
      <p>{words.text}</p>
      <p className="soft">{words.safe}</p>
      <div className="actions">
        <Button rank="primary" onPress={() => send({ type: 'home.stay' })}>
          {words.stay}
        </Button>
        <Button onPress={leaveBy(false)}>{words.leave}</Button>
        {signOut && <Button onPress={leaveBy(true)}>{signOutFirst.everywhere}</Button>}
      </div>
      {signOut && <OtherBrowsers />}
    </Modal>
  );
}

/** Stands below the buttons, because it arrives later and may be long: above them, it would move them under a finger. */
function OtherBrowsers() {
  const others = useWizard(({ context }) => context.signIns) ?? [];
  return (
    <div className="stack" data-gap="small" aria-live="polite">
      {others.length > 0 && (
        <>
          <p>
            {signOutFirst.others(others.length)} {signOutFirst.doubt(others.length)}
          </p>
          <ul>
            {others.map(({ began, used }, at) => (
              <li key={at}>{signOutFirst.other(began, used)}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
