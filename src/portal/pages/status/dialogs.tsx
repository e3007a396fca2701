import { isAtItsEnd } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { receiptAddress } from '../../../contract/calls/receipt.ts';
import { isExport } from '../../../contract/transfer-status.ts';
import { Form } from '../../parts/form.tsx';
import { useSend } from '../../wizard-context.tsx';
import { acts as words } from '../../wording/acts.ts';
import { ActDialog, ActOutcome, Ask, Password, Submit } from './act-dialog.tsx';
import { FileLink } from './file-link.tsx';
import { WithoutCookies } from './without-cookies.tsx';

type Props = { readonly snapshot: WizardSnapshot };

export function Stop({ snapshot }: Props) {
  const { status, settings } = snapshot.context;
  const { title, text, ended, keep, confirm, busy } = words.stop;
  const calling = snapshot.matches({ status: { acts: { open: { stopping: 'calling' } } } });
  if (!calling && status !== null && isAtItsEnd(status))
    return (
      <ActDialog title={ended.title}>
        <p>{ended.text}</p>
        <ActOutcome snapshot={snapshot} />
      </ActDialog>
    );
  return (
    // The key makes it a dialog of its own, so that the focus moves to the text once there is nothing left to stop.
    <ActDialog key="asking" title={title}>
      {text(settings.legacyName, isExport(status ?? {})).map((each) => (
        <p key={each}>{each}</p>
      ))}
      <Ask keep={keep} confirm={confirm} busyLabel={busy} busy={calling} />
      <ActOutcome snapshot={snapshot} />
    </ActDialog>
  );
}

/**
 * The links are followed by the browser itself, whose cookie identifies the owner. They have no `download` attribute: a
 * browser that may no longer have the receipt is redirected to a page, which must not be saved as the file.
 */
export function Receipt({ snapshot }: Props) {
  const { title, text, links } = words.receipt;
  return (
    <ActDialog title={title}>
      <p>{text}</p>
      <WithoutCookies />
      <ul className="rows">
        {links.map(({ format, text }) => (
          <li key={format}>
            <FileLink href={receiptAddress(snapshot.context.transferId ?? '', format)}>{text}</FileLink>
          </li>
        ))}
      </ul>
    </ActDialog>
  );
}

export function ForwardingOff({ snapshot }: Props) {
  const send = useSend();
  const { legacyName } = snapshot.context.settings;
  const { title, text, confirm, busy } = words.forwarding;
  const at = (forwarding: 'calling' | { readonly asking: 'passwordMissing' }) =>
    snapshot.matches({ status: { acts: { open: { forwarding } } } });
  return (
    <ActDialog title={title} lead={<p>{text(legacyName)}</p>}>
      <Form onSubmit={() => send({ type: 'act.submit' })}>
        <Password
          snapshot={snapshot}
          side="source"
          label={words.sourcePassword(legacyName)}
          isMissing={at({ asking: 'passwordMissing' })}
        />
        <Submit busy={at('calling')} label={confirm} busyLabel={busy} />
        <ActOutcome snapshot={snapshot} />
      </Form>
    </ActDialog>
  );
}
