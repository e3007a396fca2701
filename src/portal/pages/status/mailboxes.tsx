import type { ReactNode } from 'react';
import { attentionOf, destinationOf } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { Context, Message } from '../../../../machines/wizard.types.ts';
import type { Side } from '../../../contract/calls/resume.ts';
import { Address } from '../../parts/address.tsx';
import { isRouteShown, routeOf } from '../../route.ts';
import { providerName } from '../../wording/provider-name.ts';
import { route as words } from '../../wording/status-route.ts';

type Props = { readonly snapshot: WizardSnapshot };

/** Both mailboxes, as far as this visitor may see them. */
export function Route({ snapshot }: Props) {
  const { context } = snapshot;
  const { from, to } = routeOf(snapshot);
  const provider = destinationOf(context);
  if (from === undefined || !isRouteShown(snapshot)) return null;
  return (
    <dl className="route">
      <div>
        <dt>{words.from}</dt>
        <dd>
          <Address like={to}>{from}</Address>
        </dd>
        <dd className="soft">{context.settings.legacyName}</dd>
      </div>
      <div>
        <dt>{words.to}</dt>
        <dd>
          {to === undefined ? <span className="strong">{words.files}</span> : <Address like={from}>{to}</Address>}
        </dd>
        {to !== undefined && provider !== 'other' && (
          <dd className="soft">{providerName(provider, context.settings.legacyName)}</dd>
        )}
      </div>
    </dl>
  );
}

/** The address of the mailbox to sign in to; `undefined` if it isn't known. */
export function mailboxIn(snapshot: WizardSnapshot, side: Side): ReactNode {
  const { from, to } = routeOf(snapshot);
  const address = side === 'source' ? from : to;
  if (address === undefined) return undefined;
  return (
    <>
      {words.mailbox(side, snapshot.context.settings.legacyName)} <Address>{address}</Address>
    </>
  );
}

/** The same as a line of its own. */
export function Mailbox({ snapshot, side }: Props & { readonly side: Side }) {
  const mailbox = mailboxIn(snapshot, side);
  return mailbox === undefined ? null : <p>{mailbox}</p>;
}

/** The side whose sign-in was refused, by the message about it. */
export function refusedSideOf({ status }: Context, message: Message): Side | undefined {
  if (message.about === 'source refused') return 'source';
  if (message.about === 'destination refused') return 'destination';
  if (!('code' in message) || message.code !== 'INVALID_CREDENTIALS') return undefined;
  if (message.about === 'mend refused') return attentionOf(status)?.side;
  if (message.about === 'take-back refused') return 'destination';
  return message.about === 'forwarding refused' ? 'source' : undefined;
}
