import type { ReactNode } from 'react';
import type { Progress } from '../../contract/calls/status.ts';
import { comparisonOf, standingOf } from '../../contract/transfer-status.ts';
import { Icon } from '../parts/icon.tsx';
import { ProgressBar } from '../parts/progress-bar.tsx';
import { formatNumber } from '../wording.ts';
import { exportText, looksOf, status as words, statusText } from '../wording/status.ts';

type Props = {
  readonly kind: 'email' | 'contacts';
  readonly title: string;
  readonly progress: Progress;
  /** Whether the operation belongs to an export. */
  readonly ofExport: boolean;
  /** What only this operation has to tell. */
  readonly children?: ReactNode;
};

const ICONS = { running: 'running', success: 'success', failed: 'error' } as const;

/** One operation: how it stands, how far it is, what was done, what is being done, and when it will be done. */
export function OperationCard({ kind, title, progress, ofExport, children }: Props) {
  const { status, done = 0, total, bytes, started, finished, failure, skipped = [] } = progress;
  const standing = standingOf(progress);
  const looks = looksOf(standing);
  const { label, text } = ofExport ? exportText(standing) : statusText(status);
  return (
    <section className="status-card" aria-labelledby={kind}>
      {/* With the heading, so that what is said tells of which transfer. */}
      <div className="stack" data-gap="small" role={looks === 'failed' ? 'alert' : 'status'}>
        <h2 id={kind}>{title}</h2>
        <div>
          <p className="status-state" data-kind={looks}>
            <Icon name={ICONS[looks]} size={32} />
            {label}
          </p>
          <p>{text}</p>
          {failure !== undefined && <p className="strong">{failure}</p>}
        </div>
      </div>
      {total === undefined && looks === 'running' && <p className="soft">{words.counting}</p>}
      {total !== undefined && total > 0 && (
        <div>
          <p className="status-count">
            <span className="strong">{words.count(kind, done, total)}</span>
            <span>{words.share(done, total)}</span>
          </p>
          <ProgressBar label={words.progress[kind]} done={done} total={total} />
        </div>
      )}
      <dl className="answers">
        <div>
          <dt>{words.questions.done}</dt>
          <dd>{standing === 'success' && done === 0 ? words.nothing : words.done(kind, done, bytes)}</dd>
          {started !== undefined && <dd>{words.startedAt(started)}</dd>}
          <Proof kind={kind} progress={progress} />
        </div>
        <div>
          <dt>{words.questions.now}</dt>
          <dd>{words.now[standing]}</dd>
        </div>
        <div>
          <dt>{words.questions.when}</dt>
          {finished !== undefined && (
            <dd>{looks === 'failed' ? words.stoppedAt(finished) : words.finishedAt(finished)}</dd>
          )}
          {(finished === undefined || looks === 'failed') && <dd>{words.when[standing]}</dd>}
        </div>
      </dl>
      {children}
      {skipped.length > 0 && (
        <details>
          <summary>{words.skipped(kind, skipped.length)}</summary>
          <p>{words.skippedHelp}</p>
          <ul>
            {skipped.map((item, index) => (
              // The list only ever grows at its end.
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index}>
                {'mailbox' in item && (
                  <>
                    <span className="strong">{item.subject ?? words.noSubject}</span> ({item.mailbox}):{' '}
                  </>
                )}
                {item.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

/** The engine's final comparison, once it has been made. */
function Proof({ kind, progress }: { readonly kind: 'email' | 'contacts'; readonly progress: Progress }) {
  const found = comparisonOf(progress);
  if (found === null) return null;
  if (found.isClean)
    return <dd>{((progress.skipped ?? []).length === 0 ? words.proven : words.provenBesides)[kind]}</dd>;
  return (
    <dd>{words.unproven(formatNumber(found.lost), formatNumber(found.duplicated), formatNumber(found.changed))}</dd>
  );
}
