import { useLayoutEffect, useRef } from 'react';
import { domainOf } from '../../contract/email-address.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/card.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import type { Note } from '../parts/field-note.tsx';
import { Form } from '../parts/form.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { PasswordField } from '../parts/password-field.tsx';
import { shared } from '../wording.ts';
import { providerName } from '../wording/provider-name.ts';
import { fieldErrors } from '../wording/field-errors.ts';
import { destination } from '../wording/destination.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { Banner, SlowNote } from './banner.tsx';
import { WizardPage } from './wizard-page.tsx';

const words = destination.other;

/**
 * The form for any other provider. It replaces the page; Back returns to the ways to choose from. A provider with OAuth
 * needs no password here.
 */
export function OtherPage() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { typed, typedAccount, settings } = snapshot.context;
  const usesHost = snapshot.matches({ destination: { options: { other: { host: 'used' } } } });
  const signingIn =
    snapshot.matches({ destination: { options: { other: { credentials: 'asking' } } } }) ||
    snapshot.matches({ destination: { options: { other: { credentials: 'verifying' } } } });
  const isChecking =
    [emailNote(snapshot), hostNote(snapshot)].some((note) => note?.kind === 'waiting') ||
    snapshot.matches({ destination: { options: { other: { email: 'typing' } } } }) ||
    snapshot.matches({ destination: { options: { other: { host: { used: 'typing' } } } } }) ||
    // Tab may have just left that field for the button.
    hostNote(snapshot)?.kind === 'error';
  const byOauth = snapshot.matches({ destination: { options: { other: { password: 'notAsked' } } } });
  return (
    <WizardPage heading={words.heading} lead={words.intro(settings)} view="other">
      <Form label={words.heading} onSubmit={() => send({ type: 'credentials.submit' })}>
        <div>
          <Field
            label={words.email}
            name="email"
            autoComplete="email"
            inputMode="email"
            value={typed.email}
            note={emailNote(snapshot)}
            readOnly={signingIn}
            onType={(email) => send({ type: 'email.type', email })}
          />
          {byOauth ? (
            <InPlaceOfPassword>
              {words.byOauth(providerName(typedAccount?.provider ?? 'other', settings.legacyName))}
            </InPlaceOfPassword>
          ) : (
            <PasswordField
              label={words.password}
              words={shared.password}
              help={words.passwordHelp}
              autoComplete="off"
              value={typed.password}
              note={passwordNote(snapshot)}
              readOnly={signingIn}
              onType={(password) => send({ type: 'password.type', password })}
            />
          )}
          <Checkbox label={words.customHost} checked={usesHost} onToggle={() => send({ type: 'host.toggle' })} />
          {usesHost && (
            <Field
              label={words.host}
              name="imap-host"
              autoComplete="off"
              inputMode="url"
              help={words.hostHelp}
              value={typed.host}
              note={hostNote(snapshot)}
              readOnly={signingIn}
              onType={(host) => send({ type: 'host.type', host })}
              onLeave={() => send({ type: 'host.leave' })}
            />
          )}
        </div>
        <div className="actions">
          <Button
            rank="primary"
            type="submit"
            busy={signingIn}
            disabled={!signingIn && !snapshot.can({ type: 'credentials.submit' })}
            checking={isChecking}
            busyLabel={words.busy}
          >
            {words.submit}
          </Button>
          <Button onPress={() => send({ type: 'page.back' })}>{shared.back}</Button>
        </div>
        <MessagePlace size="large">
          <Below snapshot={snapshot} byOauth={byOauth} />
        </MessagePlace>
      </Form>
    </WizardPage>
  );
}

/** Replaces the password field at a provider with OAuth, and takes over the focus if the field had it. */
function InPlaceOfPassword({ children }: { readonly children: string }) {
  const place = useRef<HTMLParagraphElement>(null);
  useLayoutEffect(() => {
    if (document.activeElement === document.body) place.current?.focus();
  }, []);
  return (
    <p ref={place} className="soft" tabIndex={-1}>
      {children}
    </p>
  );
}

function Below({ snapshot, byOauth }: { readonly snapshot: WizardSnapshot; readonly byOauth: boolean }) {
  const { message } = snapshot.context;
  if (message?.about === 'sign-in refused') return <Banner message={message} />;
  if (snapshot.hasTag('slow')) return <SlowNote />;
  return <Facts facts={[{ icon: 'shield', text: byOauth ? words.safeByOauth : words.safe }]} />;
}

function emailNote(snapshot: WizardSnapshot): Note | undefined {
  const { typed, typedAccount, settings } = snapshot.context;
  const at = (email: 'malformed' | 'legacyAddress' | 'unsupported' | 'serverless' | 'checking' | 'good') =>
    snapshot.matches({ destination: { options: { other: { email } } } });
  if (at('malformed')) return { kind: 'error', text: fieldErrors.email };
  if (at('legacyAddress')) return { kind: 'error', text: words.legacyAddress(settings.legacyName) };
  if (at('serverless')) return { kind: 'error', text: words.serverless(domainOf(typed.email), words.customHost) };
  if (at('unsupported')) return { kind: 'error', text: words.unsupported };
  if (at('checking')) return { kind: 'waiting', text: shared.checking };
  if (at('good') && typedAccount !== null && typedAccount.provider !== 'other')
    return { kind: 'good', text: words.found(providerName(typedAccount.provider, settings.legacyName)) };
  return undefined;
}

function passwordNote(snapshot: WizardSnapshot): Note | undefined {
  return snapshot.matches({ destination: { options: { other: { password: { asked: 'refused' } } } } })
    ? { kind: 'error', text: words.refused, isSaid: true }
    : undefined;
}

function hostNote(snapshot: WizardSnapshot): Note | undefined {
  const at = (used: 'malformed' | 'unresolved' | { unresolved: 'unchecked' } | 'checking' | 'good') =>
    snapshot.matches({ destination: { options: { other: { host: { used } } } } });
  if (at('malformed')) return { kind: 'error', text: words.invalidHost };
  if (at({ unresolved: 'unchecked' })) return { kind: 'error', text: `${words.unresolvedHost} ${words.uncheckedHost}` };
  if (at('unresolved')) return { kind: 'error', text: words.unresolvedHost };
  if (at('checking')) return { kind: 'waiting', text: shared.checking };
  if (at('good')) return { kind: 'good', text: words.hostGood };
  return undefined;
}
