import type { ReactNode } from 'react';
import { destinationOf } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { Side } from '../../../contract/calls/resume.ts';
import { isOauthProvider, OAUTH_PROVIDERS } from '../../../contract/provider-name.ts';
import { Button } from '../../parts/button.tsx';
import type { Note } from '../../parts/field-note.tsx';
import { MessagePlace } from '../../parts/message.tsx';
import { Modal } from '../../parts/modal.tsx';
import { PasswordField } from '../../parts/password-field.tsx';
import { ProviderButton, Providers } from '../../parts/provider-button.tsx';
import { useSend } from '../../wizard-context.tsx';
import { shared } from '../../wording.ts';
import { acts as words } from '../../wording/acts.ts';
import { fieldErrors } from '../../wording/field-errors.ts';
import { wordsBesideTransfers } from '../../wording/message.ts';
import { providerName } from '../../wording/provider-name.ts';
import { SlowNote, WordedMessage } from '../banner.tsx';
import { Mailbox, mailboxIn, refusedSideOf } from './mailboxes.tsx';

type Props = { readonly snapshot: WizardSnapshot };

type ActDialogProps = {
  readonly title: string;
  /** What is said above its first field. */
  readonly lead?: ReactNode;
  readonly children: ReactNode;
};

/** The dialog of one act. Escape and the background close it as its button does. */
export function ActDialog({ title, lead, children }: ActDialogProps) {
  const send = useSend();
  return (
    <Modal title={title} lead={lead} closeLabel={shared.close} onClose={() => send({ type: 'modal.close' })}>
      {children}
    </Modal>
  );
}

/** Why the act was refused, or that it takes longer than usual; otherwise who can help. */
export function ActOutcome({ snapshot }: Props) {
  return (
    <MessagePlace size="large">
      <Outcome snapshot={snapshot} />
    </MessagePlace>
  );
}

function Outcome({ snapshot }: Props) {
  const { message, settings } = snapshot.context;
  if (message !== null && snapshot.matches({ status: { banner: 'hidden' } })) {
    const side = refusedSideOf(snapshot.context, message);
    return (
      <WordedMessage words={wordsBesideTransfers(message, settings.legacyName)}>
        {side !== undefined && <Mailbox snapshot={snapshot} side={side} />}
      </WordedMessage>
    );
  }
  if (snapshot.hasTag('slow')) return <SlowNote />;
  return <p className="soft">{words.help(settings.supportPhone)}</p>;
}

const MISSING: Note = { kind: 'error', text: fieldErrors.password };

type PasswordProps = Props & {
  readonly label: string;
  readonly isMissing: boolean;
  /** Whose password it is. */
  readonly side: Side;
  /** The second password of a form that asks for two. */
  readonly of?: 'destination';
};

export function Password({ snapshot, label, isMissing, side, of }: PasswordProps) {
  const send = useSend();
  const { typed } = snapshot.context;
  const help = mailboxIn(snapshot, side);
  const type = of === undefined ? 'password.type' : 'destination-password.type';
  return (
    <PasswordField
      label={label}
      words={shared.password}
      {...(help === undefined ? {} : { help })}
      value={of === undefined ? typed.password : typed.destinationPassword}
      note={isMissing ? MISSING : undefined}
      // The browser knows the San Bruno password from the sign-in. It is not the one of another mailbox.
      autoComplete={side === 'source' ? 'current-password' : 'off'}
      readOnly={!snapshot.can({ type, password: '' })}
      onType={(password) => send({ type, password })}
    />
  );
}

/** Leads to the sign-in at the new mailbox's provider or, if that isn't known, at the one that the visitor chooses. */
export function SignInElsewhere({ snapshot }: Props) {
  const send = useSend();
  const provider = destinationOf(snapshot.context);
  const { legacyName } = snapshot.context.settings;
  if (isOauthProvider(provider))
    return (
      <>
        <Mailbox snapshot={snapshot} side="destination" />
        <div className="actions">
          <Button rank="primary" onPress={() => send({ type: 'consent.seek', provider })}>
            {words.signInAt(providerName(provider, legacyName))}
          </Button>
        </div>
      </>
    );
  return (
    <div className="stack" data-gap="small">
      <Mailbox snapshot={snapshot} side="destination" />
      <p>{words.signInSomewhere}</p>
      <Providers>
        {OAUTH_PROVIDERS.map((each) => (
          <ProviderButton
            key={each}
            provider={each}
            name={providerName(each, legacyName)}
            onChoose={() => send({ type: 'consent.seek', provider: each })}
          />
        ))}
      </Providers>
    </div>
  );
}

type SubmitProps = { readonly busy: boolean; readonly label: string; readonly busyLabel: string };

/** The submit button of the form around it. */
export function Submit({ busy, label, busyLabel }: SubmitProps) {
  return (
    <div className="actions">
      <Button rank="primary" type="submit" busy={busy} busyLabel={busyLabel}>
        {label}
      </Button>
    </div>
  );
}

type AskProps = {
  readonly keep: string;
  readonly confirm: string;
  readonly busyLabel: string;
  readonly busy: boolean;
};

/** The two buttons of a question: keep everything as it is, or go ahead. */
export function Ask({ keep, confirm, busyLabel, busy }: AskProps) {
  const send = useSend();
  return (
    <div className="actions">
      <Button onPress={() => send({ type: 'modal.close' })}>{keep}</Button>
      <Button rank="primary" busy={busy} busyLabel={busyLabel} onPress={() => send({ type: 'act.submit' })}>
        {confirm}
      </Button>
    </div>
  );
}
