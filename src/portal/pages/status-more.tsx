import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import type { Note } from '../parts/field-note.tsx';
import { Form } from '../parts/form.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { Modal } from '../parts/modal.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { shared } from '../wording.ts';
import { fieldErrors } from '../wording/field-errors.ts';
import { signIn } from '../wording/home-modals.ts';
import { messageWords } from '../wording/message.ts';
import { status } from '../wording/status.ts';
import { useSend } from '../wizard-context.tsx';
import { SlowNote, WordedMessage } from './banner.tsx';

const words = status.more;

type Props = { readonly snapshot: WizardSnapshot };

/** For who has shown nothing: the way to all of the transfer. */
export function ShowMore({ snapshot }: Props) {
  const send = useSend();
  return (
    <section className="stack" data-gap="small">
      <p>{words.lead}</p>
      <div className="actions">
        <Button onPress={() => send({ type: 'more.show' })}>{words.button}</Button>
      </div>
      {snapshot.matches({ status: { more: 'signingIn' } }) && <SignIn snapshot={snapshot} />}
    </section>
  );
}

function SignIn({ snapshot }: Props) {
  const send = useSend();
  const { typed, settings } = snapshot.context;
  const missing = snapshot.matches({ status: { more: { signingIn: 'passwordMissing' } } });
  const fixed = !snapshot.can({ type: 'password.type', password: '' });
  return (
    <Modal title={words.title} closeLabel={shared.close} onClose={() => send({ type: 'modal.close' })}>
      <p>{words.help(settings.legacyName)}</p>
      <Form onSubmit={() => send({ type: 'credentials.submit' })}>
        <div>
          <Field
            label={signIn.email}
            name="username"
            autoComplete="username"
            inputMode="email"
            value={typed.email}
            note={emailNote(snapshot)}
            readOnly={fixed}
            onType={(email) => send({ type: 'email.type', email })}
          />
          <PasswordField
            label={signIn.password}
            words={shared.password}
            value={typed.password}
            note={missing ? { kind: 'error', text: fieldErrors.password } : undefined}
            readOnly={fixed}
            onType={(password) => send({ type: 'password.type', password })}
          />
        </div>
        <div className="actions">
          <Button rank="primary" type="submit" busy={fixed} reserve={signIn.busy}>
            {fixed ? signIn.busy : signIn.submit}
          </Button>
        </div>
        <MessagePlace size="large">
          <Outcome snapshot={snapshot} />
        </MessagePlace>
      </Form>
    </Modal>
  );
}

function emailNote(snapshot: WizardSnapshot): Note | undefined {
  const at = (state: 'malformed' | 'notLegacy') => snapshot.matches({ status: { more: { signingIn: state } } });
  if (at('malformed')) return { kind: 'error', text: fieldErrors.email };
  if (at('notLegacy')) return { kind: 'error', text: fieldErrors.legacyEmail(snapshot.context.settings.legacyName) };
  return undefined;
}

function Outcome({ snapshot }: Props) {
  const { message, settings } = snapshot.context;
  if (snapshot.matches({ status: { more: { signingIn: 'refused' } } }) && message !== null)
    return <WordedMessage words={messageWords(message, settings.legacyName)} />;
  if (snapshot.hasTag('slow')) return <SlowNote />;
  return <p className="soft">{signIn.forgot(settings.supportPhone)}</p>;
}
