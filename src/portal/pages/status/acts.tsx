import { useState } from 'react';
import { type Act, isCancelled, isOffered } from '../../../../machines/owner-acts.ts';
import { PATHS, visitOf, type WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { statusAddress, statusQuery } from '../../../contract/page-address.ts';
import { isExport } from '../../../contract/transfer-status.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { useSend } from '../../wizard-context.tsx';
import { acts as words, attention as attentionWords } from '../../wording/acts.ts';
import { cancelled as cancelledWords } from '../../wording/status-life.ts';
import { Again, Daily } from './again.tsx';
import { DailyOff } from './daily.tsx';
import { ForwardingOff, Receipt, Stop } from './dialogs.tsx';
import { lacksContacts } from './finished.tsx';
import { Mend } from './mend.tsx';
import { endingOf, needIn } from './need.ts';
import { TakeBack } from './take-back.tsx';

type Props = { readonly snapshot: WizardSnapshot };

/** What the transfer needs of its owner, before all else. */
export function Attention({ snapshot }: Props) {
  const send = useSend();
  const { status } = snapshot.context;
  const need = needIn(snapshot);
  if (need === null) return null;
  return (
    // The alert has to be the inserted element itself: Orca announces none that is nested in what is inserted.
    <div role="alert">
      <section className="status-card" data-kind="attention" aria-labelledby="need">
        <div className="stack" data-gap="small">
          <h2 id="need">{need.title}</h2>
          <p>{need.happened}</p>
          <p>{need.safe}</p>
          <p className="strong">{need.todo}</p>
          {need.closed !== undefined && <p>{need.closed}</p>}
        </div>
        {status?.limited === true && <p>{attentionWords.signInFirst}</p>}
        {isOffered(status, 'mend') && (
          <div className="actions">
            <Button rank="primary" onPress={() => send({ type: 'act.open', act: 'mend' })}>
              {need.button}
            </Button>
          </div>
        )}
      </section>
    </div>
  );
}

const LISTED = [
  ['again', words.again.button],
  ['take back', words.takeBack.button],
  ['receipt', words.receipt.button],
  ['stop', words.stop.button],
] as const satisfies readonly (readonly [Act, string])[];

/** What its owner can do with the transfer as it stands, and the dialogs that ask before it is done. */
export function Acts({ snapshot }: Props) {
  const send = useSend();
  const { status } = snapshot.context;
  const offered = LISTED.filter(([act]) => isOffered(status, act));
  const names = offered.join();
  const [atFirst] = useState(names);
  const wasStopped = status !== null && isCancelled(status) && !isExport(status);
  const ending = status === null || !isOffered(status, 'again') ? 'completed' : endingOf(status);
  const todo = [
    ...(ending === 'completed' ? [] : [words.again.lead[ending]]),
    ...(wasStopped ? cancelledWords.todo(isOffered(status, 'take back')) : []),
  ];
  const beginsAnew = wasStopped || lacksContacts(snapshot);
  return (
    <>
      {offered.length > 0 && (
        <section className="stack on-screen" data-gap="small" aria-labelledby="acts">
          <h2 id="acts">{words.title}</h2>
          {todo.length > 0 && <p>{todo.join(' ')}</p>}
          <div className="actions" data-changed={names !== atFirst}>
            {offered.map(([act, name]) => (
              <Button key={act} onPress={() => send({ type: 'act.open', act })}>
                {name}
              </Button>
            ))}
            {beginsAnew && (
              <Link className="button" href={PATHS.home} onFollow={() => send({ type: 'home.visit', error: '' })}>
                {words.startOver}
              </Link>
            )}
          </div>
          {status?.earlier !== undefined && <Earlier id={status.earlier} />}
        </section>
      )}
      <Dialog snapshot={snapshot} />
    </>
  );
}

function Earlier({ id }: { readonly id: string }) {
  const send = useSend();
  const { before, link, after } = words.earlier;
  return (
    <p>
      {before}
      <Link href={statusAddress(id)} onFollow={() => send(visitOf(PATHS.status, new URLSearchParams(statusQuery(id))))}>
        {link}
      </Link>
      {after}
    </p>
  );
}

function Dialog({ snapshot }: Props) {
  const isOpen = (
    open: 'stopping' | 'mending' | 'takingBack' | 'again' | 'receipt' | 'forwarding' | 'daily' | 'dailyOff',
  ) => snapshot.matches({ status: { acts: { open } } });
  if (isOpen('stopping')) return <Stop snapshot={snapshot} />;
  if (isOpen('mending')) return <Mend snapshot={snapshot} />;
  if (isOpen('takingBack')) return <TakeBack snapshot={snapshot} />;
  if (isOpen('again')) return <Again snapshot={snapshot} />;
  if (isOpen('receipt')) return <Receipt snapshot={snapshot} />;
  if (isOpen('forwarding')) return <ForwardingOff snapshot={snapshot} />;
  if (isOpen('daily')) return <Daily snapshot={snapshot} />;
  if (isOpen('dailyOff')) return <DailyOff snapshot={snapshot} />;
  return null;
}
