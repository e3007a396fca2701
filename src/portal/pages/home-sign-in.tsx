import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import type { Note } from '../parts/field-note.tsx';
import { Message } from '../parts/message.tsx';
import { shared } from '../wording.ts';
import { signIn as words } from '../wording/home-modals.ts';
import { homeSignInWords } from '../wording/message.ts';
import { useWizard } from '../wizard-context.tsx';
import { SlowNote, WordedMessage } from './banner.tsx';
import { legacyEmailNote, SignInDialog } from './sign-in-form.tsx';

type Email = 'checking' | 'malformed' | 'notLegacy';
type Credentials = 'passwordMissing' | 'refused' | 'welcomed';

export function SignIn() {
  const snapshot = useWizard((whole) => whole);
  const { settings } = snapshot.context;
  const at = (credentials: Credentials) => snapshot.matches({ home: { page: { signingIn: { credentials } } } });
  return (
    <SignInDialog
      title={words.title}
      help={words.help(settings.legacyName)}
      emailNote={emailNote(snapshot)}
      passwordMissing={at('passwordMissing')}
      busy={snapshot.hasTag('busy')}
      done={at('welcomed')}
    >
      <Outcome snapshot={snapshot} welcomed={at('welcomed')} refused={at('refused')} />
    </SignInDialog>
  );
}

function emailNote(snapshot: WizardSnapshot): Note | undefined {
  const at = (email: Email) => snapshot.matches({ home: { page: { signingIn: { email } } } });
  if (at('malformed')) return legacyEmailNote('malformed', snapshot.context.settings.legacyName);
  if (at('notLegacy')) return legacyEmailNote('notLegacy', snapshot.context.settings.legacyName);
  if (at('checking')) return { kind: 'waiting', text: shared.checking };
  return undefined;
}

type OutcomeProps = {
  readonly snapshot: WizardSnapshot;
  readonly welcomed: boolean;
  readonly refused: boolean;
};

function Outcome({ snapshot, welcomed, refused }: OutcomeProps) {
  const { message, settings } = snapshot.context;
  if (welcomed) return <Message kind="success" content={[words.done]} />;
  if (refused && message?.about === 'sign-in refused') return <WordedMessage words={homeSignInWords(message.code)} />;
  if (snapshot.hasTag('slow')) return <SlowNote />;
  return <p className="soft">{words.forgot(settings.supportPhone)}</p>;
}
