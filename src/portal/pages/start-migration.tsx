import { contactsWereLeftOut, modeOf, operationsOf } from '../../../machines/mode.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import type { Context } from '../../../machines/wizard.types.ts';
import { Address } from '../parts/address.tsx';
import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/card.tsx';
import { Field } from '../parts/field.tsx';
import type { Note } from '../parts/field-note.tsx';
import { Form } from '../parts/form.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { shared } from '../wording.ts';
import { providerName } from '../wording/provider-name.ts';
import { startMigration as words } from '../wording/start-migration.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { Banner, SlowNote } from './banner.tsx';
import { TransferInTheWay } from './transfer-in-the-way.tsx';
import { WizardPage } from './wizard-page.tsx';

export function StartMigrationPage() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { context } = snapshot;
  const { legacyName } = context.settings;
  const mode = modeOf(context);
  const busy = snapshot.hasTag('busy');
  const note = contactNote(snapshot);
  return (
    <WizardPage heading={words.heading(mode)} lead={words.lead(context.settings)}>
      <Route context={context} />
      {contactsWereLeftOut(context) && <ContactsLeftOut snapshot={snapshot} />}
      <Form onSubmit={() => send({ type: 'transfer.submit' })}>
        <Field
          label={words.field(mode)}
          name="contact"
          autoComplete="email"
          inputMode={mode === 'move' ? 'text' : 'email'}
          help={words.help(mode, legacyName, context.settings)}
          value={words.contact(context.notificationContact)}
          note={note}
          reserve={mode === 'move' ? words.errors.phone : words.errors.legacy(legacyName)}
          readOnly={busy}
          onType={(contact) => send({ type: 'contact.type', contact })}
          onEnter={() => send({ type: 'contact.enter' })}
        />
        <div className="actions">
          <Button
            rank="primary"
            type="submit"
            busy={busy}
            disabled={!busy && !snapshot.can({ type: 'transfer.submit' })}
            checking={note?.kind === 'waiting' || snapshot.matches({ startMigration: { contact: 'typing' } })}
            busyLabel={words.busy}
          >
            {words.action[mode]}
          </Button>
          <Button onPress={() => send({ type: 'page.back' })} disabled={!snapshot.can({ type: 'page.back' })}>
            {shared.back}
          </Button>
        </div>
        <MessagePlace size="large">
          <Below snapshot={snapshot} />
        </MessagePlace>
      </Form>
      <TransferInTheWay />
    </WizardPage>
  );
}

/** From where to where, and what. */
function Route({ context }: { readonly context: Context }) {
  const { source, destination, settings, emailExportType, contactsExportType } = context;
  const mode = modeOf(context);
  const contacts = operationsOf(context).includes('contactsmigration');
  const provider = providerName(destination?.provider ?? 'other', settings.legacyName);
  return (
    <dl className="route">
      <div>
        <dt>{words.from}</dt>
        <dd>
          <Address like={destination?.email}>{source?.email ?? ''}</Address>
        </dd>
        <dd className="soft">{settings.legacyName}</dd>
      </div>
      <div>
        <dt>{words.to}</dt>
        <dd>
          {mode === 'download' ? (
            <span className="strong">{words.files}</span>
          ) : (
            <Address like={source?.email}>{destination?.email ?? ''}</Address>
          )}
        </dd>
        {mode !== 'download' && destination?.provider !== 'other' && <dd className="soft">{provider}</dd>}
      </div>
      <div>
        <dt>{words.what}</dt>
        <dd>
          {mode === 'download'
            ? words.formats(emailExportType ?? '', contactsExportType ?? '', settings)
            : words.content(contacts)}
        </dd>
      </div>
    </dl>
  );
}

/**
 * Says that contacts will not be copied, because the provider was not permitted to take them, and offers another
 * sign-in.
 */
function ContactsLeftOut({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const { destination, settings } = snapshot.context;
  const provider = providerName(destination?.provider ?? 'other', settings.legacyName);
  return (
    <div className="card">
      <p>{words.contactsLeftOut.text(provider)}</p>
      <div className="actions">
        <Button onPress={() => send({ type: 'contacts.allow' })} disabled={!snapshot.can({ type: 'contacts.allow' })}>
          {words.contactsLeftOut.allow}
        </Button>
      </div>
    </div>
  );
}

function contactNote(snapshot: WizardSnapshot): Note | undefined {
  const { context } = snapshot;
  const mode = modeOf(context);
  const at = (
    contact:
      | 'missing'
      | 'wrongEmail'
      | 'wrongPhoneNumber'
      | 'legacyAddress'
      | 'checkingPhoneNumber'
      | 'checkingDomain'
      | 'unchecked'
      | 'good',
  ) => snapshot.matches({ startMigration: { contact } });
  if (at('missing')) return { kind: 'error', text: words.errors.contact(mode) };
  if (at('wrongEmail')) return { kind: 'error', text: words.errors.email };
  if (at('wrongPhoneNumber')) return { kind: 'error', text: words.errors.phone };
  if (at('legacyAddress')) return { kind: 'error', text: words.errors.legacy(context.settings.legacyName) };
  if (at('checkingPhoneNumber') || at('checkingDomain')) return { kind: 'waiting', text: shared.checking };
  if (at('unchecked')) return { kind: 'waiting', text: words.unchecked };
  if (at('good')) return { kind: 'good', text: words.good(context.notificationContact, context.settings) };
  return undefined;
}

function Below({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const { message, settings } = snapshot.context;
  if (message !== null) return <Banner message={message} />;
  if (snapshot.hasTag('slow')) return <SlowNote />;
  return <Facts facts={words.facts(modeOf(snapshot.context), settings.legacyName)} />;
}
