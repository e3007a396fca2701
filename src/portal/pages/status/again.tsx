import { destinationOf } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import { Form } from '../../parts/form.tsx';
import { useSend } from '../../wizard-context.tsx';
import { acts as words } from '../../wording/acts.ts';
import { daily as dailyWords } from '../../wording/status-daily.ts';
import { ActDialog, ActOutcome, Password, SignInElsewhere, Submit } from './act-dialog.tsx';
import { endingOf } from './need.ts';

type Props = { readonly snapshot: WizardSnapshot };

const { title, text, first, signedIn, confirm, busy } = words.again;

export function Again({ snapshot }: Props) {
  const { settings, status } = snapshot.context;
  const said = text(settings.legacyName, endingOf(status ?? {}));
  return <Copying snapshot={snapshot} act="again" words={{ title, text: said, confirm, busy }} />;
}

export function Daily({ snapshot }: Props) {
  const { settings, status } = snapshot.context;
  const { text: tell, ...rest } = dailyWords.turnOn;
  const text = tell(settings.legacyName, status?.daily?.until ?? settings.accessEnd);
  return <Copying snapshot={snapshot} act="daily" words={{ ...rest, text }} />;
}

type CopyingProps = Props & {
  readonly act: 'again' | 'daily';
  readonly words: {
    readonly title: string;
    readonly text: readonly string[];
    readonly confirm: string;
    readonly busy: string;
  };
};

/** A sign-in at the new mailbox's provider comes first: the page unloads for it, and what was typed here would be lost. */
function Copying(props: CopyingProps) {
  const { snapshot, words } = props;
  const elsewhere = isOauthProvider(destinationOf(snapshot.context));
  const isSignInFirst = elsewhere && snapshot.context.tokenId === null;
  return (
    // The key makes each step a dialog of its own, so that the focus moves to what is new in it.
    <ActDialog
      key={String(isSignInFirst)}
      title={words.title}
      lead={[...words.text, ...(elsewhere && !isSignInFirst ? [signedIn] : [])].map((each) => (
        <p key={each}>{each}</p>
      ))}
    >
      {isSignInFirst ? (
        <>
          <p className="strong">{first}</p>
          <SignInElsewhere snapshot={snapshot} />
          <ActOutcome snapshot={snapshot} />
        </>
      ) : (
        <Passwords {...props} elsewhere={elsewhere} />
      )}
    </ActDialog>
  );
}

function Passwords({ snapshot, act, words: said, elsewhere }: CopyingProps & { readonly elsewhere: boolean }) {
  const send = useSend();
  const at = (state: 'calling' | { readonly asking: 'passwordMissing' | 'destinationPasswordMissing' }) =>
    snapshot.matches({ status: { acts: { open: act === 'again' ? { again: state } : { daily: state } } } });
  return (
    <Form onSubmit={() => send({ type: 'act.submit' })}>
      <div>
        <Password
          snapshot={snapshot}
          side="source"
          label={words.sourcePassword(snapshot.context.settings.legacyName)}
          isMissing={at({ asking: 'passwordMissing' })}
        />
        {!elsewhere && (
          <Password
            snapshot={snapshot}
            side="destination"
            of="destination"
            label={words.destinationPassword}
            isMissing={at({ asking: 'destinationPasswordMissing' })}
          />
        )}
      </div>
      <Submit busy={at('calling')} label={said.confirm} busyLabel={said.busy} />
      <ActOutcome snapshot={snapshot} />
    </Form>
  );
}
