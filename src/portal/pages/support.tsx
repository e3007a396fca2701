import { useId, useState } from 'react';
import { isAtDomain } from '../../contract/email-address.ts';
import { SUPPORT_ISSUE_LENGTH } from '../../contract/support-issue.ts';
import { TRANSFER_ID_PASTED } from '../../contract/transfer-status.ts';
import { supportReference } from '../../contract/support-reference.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import { Address } from '../parts/address.tsx';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import type { Note } from '../parts/field-note.tsx';
import { Form } from '../parts/form.tsx';
import { MessagePlace } from '../parts/message.tsx';
import { TextArea } from '../parts/text-area.tsx';
import { support as words } from '../wording/support.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { Banner, SlowNote } from './banner.tsx';
import { WizardPage } from './wizard-page.tsx';

export function SupportPage() {
  const snapshot = useWizard((whole) => whole);
  if (snapshot.matches({ support: { sending: 'sent' } })) return <Sent snapshot={snapshot} />;
  return <Letter snapshot={snapshot} />;
}

function Letter({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const { typed, message, settings } = snapshot.context;
  const { legacyName, legacyDomains } = settings;
  const busy = snapshot.hasTag('busy');
  const complete = snapshot.can({ type: 'support.submit' });
  const cableDomain = legacyDomains[0] ?? '';
  const needs = useId();
  const [wasTried, setTried] = useState(false);
  if (busy && !wasTried) setTried(true);
  return (
    <WizardPage heading={words.heading} lead={words.lead(settings.supportPhone)} view="form">
      <Form onSubmit={() => send({ type: 'support.submit' })}>
        <div>
          <Field
            label={words.legacyEmail(legacyName)}
            name="legacy-email"
            autoComplete="email"
            inputMode="email"
            help={words.legacyHelp(legacyName)}
            placeholder={words.legacyPlaceholder(legacyDomains)}
            value={typed.legacyEmail}
            note={
              snapshot.matches({ support: { legacyEmail: 'wrong' } })
                ? wrong(words.errors.legacyEmail(cableDomain))
                : undefined
            }
            reserve={words.errors.legacyEmail(cableDomain)}
            readOnly={busy}
            onType={(email) => send({ type: 'legacy-email.type', email })}
          />
          <Field
            label={words.contactEmail}
            name="contact-email"
            autoComplete="email"
            inputMode="email"
            help={words.contactHelp}
            value={typed.contactEmail}
            note={
              snapshot.matches({ support: { contactEmail: 'wrong' } }) ? wrong(words.errors.contactEmail) : undefined
            }
            readOnly={busy}
            onType={(email) => send({ type: 'contact-email.type', email })}
          />
          <Field
            label={words.transferId}
            name="transfer-id"
            autoComplete="off"
            help={words.transferHelp(settings)}
            value={typed.supportId}
            note={snapshot.matches({ support: { transferId: 'wrong' } }) ? wrong(words.errors.transferId) : undefined}
            readOnly={busy}
            code
            maxLength={TRANSFER_ID_PASTED}
            onType={(id) => send({ type: 'support-id.type', id })}
          />
          <TextArea
            label={words.issue}
            help={words.issueHelp}
            maxLength={SUPPORT_ISSUE_LENGTH.atMost}
            value={typed.issue}
            readOnly={busy}
            onType={(issue) => send({ type: 'issue.type', issue })}
          />
        </div>
        <div className="stack" data-gap="small">
          <p className="soft small" aria-live="polite" id={needs}>
            {needsOf(snapshot, complete, wasTried && !busy)}
          </p>
          <div className="actions">
            <Button
              rank="primary"
              type="submit"
              busy={busy}
              disabled={!busy && !complete}
              describedBy={needs}
              busyLabel={words.busy}
            >
              {words.submit}
            </Button>
          </div>
        </div>
        <MessagePlace>
          {message !== null && <Banner message={message} />}
          {snapshot.hasTag('slow') && <SlowNote />}
        </MessagePlace>
      </Form>
    </WizardPage>
  );
}

/** What the form still needs. After a failed try, it says so even when the page's message has cleared. */
function needsOf(snapshot: WizardSnapshot, complete: boolean, wasTried: boolean): string {
  const { settings, typed } = snapshot.context;
  const [cableDomain = '', ...others] = settings.legacyDomains;
  if (isAtDomain(typed.legacyEmail, others)) return words.otherDomain(cableDomain, settings.supportPhone);
  if (!complete) return words.incomplete(cableDomain);
  const isWrong = (['contactEmail', 'transferId'] as const).some((field) =>
    snapshot.matches({ support: { [field]: 'wrong' } }),
  );
  if (isWrong) return words.wrong;
  return wasTried ? words.tried : words.complete;
}

/** What was sent, what it is called on the telephone, and where the answer goes. */
function Sent({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const { letter, message, settings } = snapshot.context;
  if (letter === null) return null;
  const { emailAddress, destinationEmail = emailAddress, migrationId, issue } = letter;
  return (
    <WizardPage
      heading={words.sent.heading}
      view="sent"
      lead={
        <MessagePlace>
          {message === null ? <p className="lead">{words.sent.lead}</p> : <Banner message={message} />}
        </MessagePlace>
      }
    >
      <section className="stack" data-gap="small" aria-labelledby="reference">
        <h2 id="reference">{words.sent.reference}</h2>
        <p className="code reference">{supportReference(letter)}</p>
        <p>{words.sent.referenceHelp(settings.supportPhone)}</p>
        <p>
          {words.sent.copy} <Address>{destinationEmail}</Address>
        </p>
      </section>
      <section className="stack" data-gap="small" aria-labelledby="what-was-sent">
        <h2 id="what-was-sent">{words.sent.what}</h2>
        <dl className="answers">
          <div>
            <dt>{words.legacyEmail(settings.legacyName)}</dt>
            <dd>
              <Address>{emailAddress}</Address>
            </dd>
          </div>
          {migrationId !== undefined && (
            <div>
              <dt>{words.transferId}</dt>
              <dd className="code">{migrationId}</dd>
            </div>
          )}
          <div>
            <dt>{words.sent.issue}</dt>
            <dd className="as-written" dir="auto">
              {issue}
            </dd>
          </div>
        </dl>
      </section>
      <div className="actions">
        <Button onPress={() => window.print()}>{words.sent.print}</Button>
        <Button onPress={() => send({ type: 'support.again' })}>{words.sent.again}</Button>
      </div>
    </WizardPage>
  );
}

function wrong(text: string): Note {
  return { kind: 'error', text };
}
