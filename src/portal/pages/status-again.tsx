import { destinationOf } from '../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { isOauthProvider } from '../../contract/provider-name.ts';
import { Form } from '../parts/form.tsx';
import { acts as words } from '../wording/acts.ts';
import { useSend } from '../wizard-context.tsx';
import { ActDialog, ActOutcome, DestinationPassword, Password, SignInElsewhere, Submit } from './act-dialog.tsx';

type Props = { readonly snapshot: WizardSnapshot };

const { title, text, first, signedIn, confirm, busy } = words.again;

/** Where the new mailbox is signed in to elsewhere, that comes first: what is typed here doesn't outlive it. */
export function Again({ snapshot }: Props) {
  const { settings, tokenId } = snapshot.context;
  const elsewhere = isOauthProvider(destinationOf(snapshot.context));
  return (
    <ActDialog title={title}>
      {text(settings.legacyName).map((each) => (
        <p key={each}>{each}</p>
      ))}
      {elsewhere && tokenId === null ? (
        <>
          <p className="strong">{first}</p>
          <SignInElsewhere snapshot={snapshot} />
          <ActOutcome snapshot={snapshot} />
        </>
      ) : (
        <Passwords snapshot={snapshot} elsewhere={elsewhere} />
      )}
    </ActDialog>
  );
}

function Passwords({ snapshot, elsewhere }: Props & { readonly elsewhere: boolean }) {
  const send = useSend();
  const at = (again: 'calling' | { readonly asking: 'passwordMissing' | 'destinationPasswordMissing' }) =>
    snapshot.matches({ status: { acts: { open: { again } } } });
  return (
    <Form onSubmit={() => send({ type: 'act.submit' })}>
      {elsewhere && <p>{signedIn}</p>}
      <div>
        <Password
          snapshot={snapshot}
          label={words.sourcePassword(snapshot.context.settings.legacyName)}
          isMissing={at({ asking: 'passwordMissing' })}
        />
        {!elsewhere && (
          <DestinationPassword
            snapshot={snapshot}
            label={words.destinationPassword}
            isMissing={at({ asking: 'destinationPasswordMissing' })}
          />
        )}
      </div>
      <Submit busy={at('calling')} label={confirm} busyLabel={busy} />
      <ActOutcome snapshot={snapshot} />
    </Form>
  );
}
