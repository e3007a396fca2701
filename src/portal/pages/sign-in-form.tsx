import type { ReactNode } from 'react';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import type { Note } from '../parts/field-note.tsx';
import { Form } from '../parts/form.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { Modal } from '../parts/modal.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { shared } from '../wording.ts';
import { fieldErrors } from '../wording/field-errors.ts';
import { signIn as words } from '../wording/home-modals.ts';
import { useSend, useWizard } from '../wizard-context.tsx';

type Props = {
  readonly title: string;
  readonly help: string;
  readonly emailNote: Note | undefined;
  readonly passwordMissing: boolean;
  readonly busy: boolean;
  /** The visitor has been signed in: the button can no longer be pressed. */
  readonly done?: boolean;
  /** The result, or help for those who can't sign in. */
  readonly children: ReactNode;
};

/** The dialog that signs in to the legacy mailbox. */
export function SignInDialog({ title, help, emailNote, passwordMissing, busy, done = false, children }: Props) {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { typed } = snapshot.context;
  const fixed = !snapshot.can({ type: 'password.type', password: '' });
  return (
    <Modal title={title} closeLabel={shared.close} lead={<p>{help}</p>} onClose={() => send({ type: 'modal.close' })}>
      <Form onSubmit={() => send({ type: 'credentials.submit' })}>
        <div>
          <Field
            label={words.email}
            name="username"
            autoComplete="username"
            inputMode="email"
            value={typed.email}
            note={emailNote}
            readOnly={fixed}
            onType={(email) => send({ type: 'email.type', email })}
          />
          <PasswordField
            label={words.password}
            words={shared.password}
            value={typed.password}
            note={passwordMissing ? { kind: 'error', text: fieldErrors.password } : undefined}
            readOnly={fixed}
            onType={(password) => send({ type: 'password.type', password })}
          />
        </div>
        <div className="actions">
          <Button rank="primary" type="submit" busy={busy} disabled={done} busyLabel={words.busy}>
            {words.submit}
          </Button>
        </div>
        <MessagePlace size="large">{children}</MessagePlace>
      </Form>
    </Modal>
  );
}

/** What is wrong with the email, in the words of every sign-in to the legacy mailbox. */
export function legacyEmailNote(wrong: 'malformed' | 'notLegacy', legacyName: string): Note {
  return { kind: 'error', text: wrong === 'malformed' ? fieldErrors.email : fieldErrors.legacyEmail(legacyName) };
}
