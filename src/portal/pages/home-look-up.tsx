import { OAUTH_PROVIDERS } from '../../contract/provider-name.ts';
import { TRANSFER_ID_PASTED } from '../../contract/transfer-status.ts';
import { Button } from '../parts/button.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Message, MessagePlace } from '../parts/message.tsx';
import { Modal } from '../parts/modal.tsx';
import { ProviderButton, Providers } from '../parts/provider-button.tsx';
import { shared } from '../wording.ts';
import { providerName } from '../wording/provider-name.ts';
import { lookUp as words } from '../wording/home-modals.ts';
import { useSend, useWizard } from '../wizard-context.tsx';
import { SlowNote } from './banner.tsx';

export function LookUp() {
  const snapshot = useWizard((whole) => whole);
  const send = useSend();
  const { typed, settings } = snapshot.context;
  const at = (state: 'notFound' | 'failed') => snapshot.matches({ home: { page: { lookingUp: state } } });
  const busy = snapshot.hasTag('busy');
  return (
    <Modal title={words.title} closeLabel={shared.close} onClose={() => send({ type: 'modal.close' })}>
      <Form onSubmit={() => send({ type: 'lookup.submit' })}>
        <Field
          label={words.field}
          name="transfer-id"
          autoComplete="off"
          help={words.help(settings)}
          value={typed.transferId}
          note={at('notFound') ? { kind: 'error', text: words.malformed } : undefined}
          readOnly={busy}
          code
          maxLength={TRANSFER_ID_PASTED}
          onType={(id) => send({ type: 'transfer-id.type', id })}
        />
        <div className="actions">
          <Button rank="primary" type="submit" busy={busy} busyLabel={words.busy}>
            {words.submit}
          </Button>
        </div>
        <MessagePlace size="small">
          {at('failed') && <Message kind="error" title={words.failed} content={[words.failedSafe]} />}
          {snapshot.hasTag('slow') && <SlowNote />}
        </MessagePlace>
      </Form>
      <div className="stack" data-gap="small">
        <p>{words.withoutId}</p>
        <Providers>
          {OAUTH_PROVIDERS.map((provider) => (
            <ProviderButton
              key={provider}
              provider={provider}
              name={providerName(provider, settings.legacyName)}
              onChoose={() => send({ type: 'lookup.sign-in', provider })}
            />
          ))}
        </Providers>
      </div>
    </Modal>
  );
}
