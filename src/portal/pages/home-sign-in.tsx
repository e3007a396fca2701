import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import type { Note } from '../parts/field-note.tsx';
import { Form } from '../parts/form.tsx';
import { Message, MessagePlace } from '../parts/message.tsx';
import { Modal } from '../parts/modal.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { shared } from '../wording.ts';
import { fieldErrors } from '../wording/field-errors.ts';
import { signIn as words } from '../wording/home-modals.ts';
import { homeSignInWords } from '../wording/message.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { SlowNote, WordedMessage } from './banner.tsx';

type Email = 'checking' | 'malformed' | 'notLegacy';
type Credentials = 'passwordMissing' | 'refused' | 'welcomed';

export function SignIn() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { typed, settings } = snapshot.context;
  const at = (credentials: Credentials) => snapshot.matches({ home: { page: { signingIn: { credentials } } } });
  const busy = snapshot.hasTag('busy');
  const fixed = !snapshot.can({ type: 'password.type', password: '' });
  return (
    <Modal title={words.title} closeLabel={shared.close} onClose={() => send({ type: 'modal.close' })}>
      <p>{words.help(settings.legacyName)}</p>
      <Form onSubmit={() => send({ type: 'credentials.submit' })}>
        <div>
          <Field
            label={words.email}
            name="username"
            autoComplete="username"
            inputMode="email"
            value={typed.email}
            note={emailNote(snapshot)}
            readOnly={fixed}
            onType={(email) => send({ type: 'email.type', email })}
          />
          <PasswordField
            label={words.password}
            words={shared.password}
            value={typed.password}
            note={at('passwordMissing') ? { kind: 'error', text: fieldErrors.password } : undefined}
            readOnly={fixed}
            onType={(password) => send({ type: 'password.type', password })}
          />
        </div>
        <div className="actions">
          <Button rank="primary" type="submit" busy={busy} disabled={at('welcomed')} reserve={words.busy}>
            {busy ? words.busy : words.submit}
          </Button>
        </div>
        <MessagePlace size="large">
          <Outcome snapshot={snapshot} welcomed={at('welcomed')} refused={at('refused')} />
        </MessagePlace>
      </Form>
    </Modal>
  );
}

function emailNote(snapshot: WizardSnapshot): Note | undefined {
  const at = (email: Email) => snapshot.matches({ home: { page: { signingIn: { email } } } });
  if (at('malformed')) return { kind: 'error', text: fieldErrors.email };
  if (at('notLegacy')) return { kind: 'error', text: fieldErrors.legacyEmail(snapshot.context.settings.legacyName) };
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
