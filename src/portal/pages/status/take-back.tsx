import { destinationOf, isOffered } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import { Form } from '../../parts/form.tsx';
import { useSend } from '../../wizard-context.tsx';
import { acts as words } from '../../wording/acts.ts';
import { ActDialog, ActOutcome, Ask, Password, SignInElsewhere, Submit } from './act-dialog.tsx';

type Props = { readonly snapshot: WizardSnapshot };

const { title, text, signIn, signedIn, keep, confirm, busy } = words.takeBack;

export function TakeBack({ snapshot }: Props) {
  const { settings, status, tokenId, typed } = snapshot.context;
  const at = (takingBack: 'calling' | 'signingIn') => snapshot.matches({ status: { acts: { open: { takingBack } } } });
  // The form stays visible while its password is being tried.
  const signingIn = at('signingIn') || (at('calling') && typed.password !== '');
  return (
    // The key makes each step a dialog of its own, so that the focus moves to what is new in it.
    <ActDialog key={String(signingIn)} title={title} lead={signingIn && <p>{signIn}</p>}>
      {signingIn ? (
        <SigningIn snapshot={snapshot} busy={at('calling')} />
      ) : (
        <>
          {text(settings.legacyName, isOffered(status, 'daily off')).map((each) => (
            <p key={each}>{each}</p>
          ))}
          {tokenId !== null && <p>{signedIn}</p>}
          <Ask keep={keep} confirm={confirm} busyLabel={busy} busy={at('calling')} />
          <ActOutcome snapshot={snapshot} />
        </>
      )}
    </ActDialog>
  );
}

function SigningIn({ snapshot, busy: calling }: Props & { readonly busy: boolean }) {
  const send = useSend();
  const isMissing = snapshot.matches({ status: { acts: { open: { takingBack: { signingIn: 'passwordMissing' } } } } });
  if (isOauthProvider(destinationOf(snapshot.context)))
    return (
      <>
        <SignInElsewhere snapshot={snapshot} />
        <ActOutcome snapshot={snapshot} />
      </>
    );
  return (
    <Form onSubmit={() => send({ type: 'act.submit' })}>
      <Password snapshot={snapshot} side="destination" label={words.destinationPassword} isMissing={isMissing} />
      <Submit busy={calling} label={confirm} busyLabel={busy} />
      <ActOutcome snapshot={snapshot} />
    </Form>
  );
}
