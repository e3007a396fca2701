import { attentionOf, isAtItsEnd } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { Form } from '../../parts/form.tsx';
import { useSend } from '../../wizard-context.tsx';
import { acts as words } from '../../wording/acts.ts';
import { ActDialog, ActOutcome, Password, SignInElsewhere, Submit } from './act-dialog.tsx';
import { Mailbox } from './mailboxes.tsx';
import { needIn } from './need.ts';

type Props = { readonly snapshot: WizardSnapshot };

/** What happened, that the mail is safe, and the one thing to do. */
export function Mend({ snapshot }: Props) {
  const { title, done, ended } = words.mend;
  const need = needIn(snapshot);
  const { status, tokenId } = snapshot.context;
  const { side, reason } = attentionOf(status) ?? {};
  const isSignInWanted = reason === 'consent' && tokenId === null;
  if (need === null && status !== null && isAtItsEnd(status))
    return (
      // The key makes it a dialog of its own, as it may follow the other one.
      <ActDialog key="ended" title={ended.title}>
        <p>{ended.text}</p>
        <ActOutcome snapshot={snapshot} />
      </ActDialog>
    );
  if (need === null)
    return (
      <ActDialog title={title}>
        <p>{done}</p>
        <ActOutcome snapshot={snapshot} />
      </ActDialog>
    );
  return (
    // The key makes each step a dialog of its own, so that the focus moves to what is new in it.
    <ActDialog
      key={`${side} ${reason} ${isSignInWanted}`}
      title={need.dialog}
      lead={
        <div className="stack" data-gap="small">
          <p>{need.happened}</p>
          <p>{need.safe}</p>
          <p className="strong">{need.signIn}</p>
          {need.closed !== undefined && <p>{need.closed}</p>}
        </div>
      }
    >
      {isSignInWanted ? (
        <>
          <SignInElsewhere snapshot={snapshot} />
          <ActOutcome snapshot={snapshot} />
        </>
      ) : (
        <Trying snapshot={snapshot} />
      )}
    </ActDialog>
  );
}

function Trying({ snapshot }: Props) {
  const send = useSend();
  const { status, settings } = snapshot.context;
  const { tryAgain, carryOn, busy: busyLabel } = words.mend;
  const attention = attentionOf(status);
  const at = (mending: 'calling' | { readonly asking: 'passwordMissing' }) =>
    snapshot.matches({ status: { acts: { open: { mending } } } });
  const isPassword = attention?.reason === 'password';
  return (
    <Form onSubmit={() => send({ type: 'act.submit' })}>
      {isPassword ? (
        <Password
          snapshot={snapshot}
          side={attention.side}
          label={attention.side === 'source' ? words.sourcePassword(settings.legacyName) : words.destinationPassword}
          isMissing={at({ asking: 'passwordMissing' })}
        />
      ) : (
        attention !== undefined && <Mailbox snapshot={snapshot} side={attention.side} />
      )}
      <Submit busy={at('calling')} label={isPassword ? carryOn : tryAgain} busyLabel={busyLabel} />
      <ActOutcome snapshot={snapshot} />
    </Form>
  );
}
