import { isOffered } from '../../../../machines/owner-acts.ts';
import type { ContactsProgress, Forwarding, TransferStatus } from '../../../contract/calls/status.ts';
import { SKIPPED_SHOWN } from '../../../contract/transfer-status.ts';
import { Address } from '../../parts/address.tsx';
import { Button } from '../../parts/button.tsx';
import { useSend } from '../../wizard-context.tsx';
import { acts } from '../../wording/acts.ts';
import { contactsOutcome, contactsRemarks, forwardingWords } from '../../wording/status-contacts.ts';
import { status as words } from '../../wording/status.ts';
import { ListEnd } from './card.tsx';

const OUTCOMES = ['copied', 'remarked', 'completed', 'present', 'refused'] as const;

/** How many contacts had which outcome; nothing if all were copied in full, as those are counted beside this. */
export function outcomesOf({ contacts }: ContactsProgress): readonly string[] {
  if (contacts === undefined) return [];
  const outcomes = OUTCOMES.filter((outcome) => contacts[outcome] > 0);
  const isMixed = outcomes.some((outcome) => outcome !== 'copied');
  return isMixed ? outcomes.map((outcome) => contactsOutcome[outcome](contacts[outcome])) : [];
}

/** What single contacts lack, or have in another place. */
export function ContactsRemarks({
  progress: { remarks = [] },
  ofExport,
}: {
  readonly progress: ContactsProgress;
  readonly ofExport: boolean;
}) {
  if (remarks.length === 0) return null;
  return (
    <details>
      <summary>{contactsRemarks.title(remarks.length, remarks.length >= SKIPPED_SHOWN)}</summary>
      <p>{contactsRemarks.help(remarks.length)}</p>
      <ul>
        {remarks.map(({ reason, subject }, index) => (
          // Two contacts may have one name and one remark.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index}>
            <bdi className="strong">{subject || words.unnamed.contacts}</bdi>: {reason}
          </li>
        ))}
      </ul>
      <ListEnd of={remarks} ofExport={ofExport} />
    </details>
  );
}

type ForwardingProps = {
  readonly status: TransferStatus;
  readonly forwarding: Forwarding;
  readonly legacyName: string;
};

/** Whether new mail is forwarded, where to and since when. */
export function ForwardingCard({ status, forwarding, legacyName }: ForwardingProps) {
  const send = useSend();
  const { finished, failure, since, to, ended, copies } = forwarding;
  return (
    <section className="status-card" aria-labelledby="forwarding">
      <h2 id="forwarding">{forwardingWords.title}</h2>
      {finished === undefined && <p>{forwardingWords.waiting}</p>}
      {since !== undefined && (
        <Naming address={to}>
          {ended === undefined ? forwardingWords.on(to, since) : forwardingWords.ended(to, ended)}
        </Naming>
      )}
      {since !== undefined && ended === undefined && copies !== undefined && (
        <p>{forwardingWords.copies(copies, legacyName)}</p>
      )}
      {finished !== undefined && since === undefined && (
        <div role="alert">
          <p className="strong">{failure ?? forwardingWords.off}</p>
        </div>
      )}
      {isOffered(status, 'forwarding') && (
        <div className="actions">
          <Button onPress={() => send({ type: 'act.open', act: 'forwarding' })}>{acts.forwarding.button}</Button>
        </div>
      )}
    </section>
  );
}

/** A sentence whose end, an address if it has one, breaks where addresses do. The full stop would have a line to itself. */
function Naming({ address, children }: { readonly address: string | undefined; readonly children: string }) {
  if (address === undefined) return <p>{children}</p>;
  const start = children.lastIndexOf(address);
  return (
    <p>
      {children.slice(0, start)}
      <Address>{children.slice(start)}</Address>
    </p>
  );
}
