import type { ReactNode } from 'react';
import type { Progress } from '../../contract/calls/status.ts';
import {
  comparisonOf,
  copiedBy,
  isOfFolder,
  isTakenBack,
  leavesSomeOut,
  presentOf,
  standingOf,
} from '../../contract/transfer-status.ts';
import { DRAWINGS } from '../parts/drawings.ts';
import { Icon } from '../parts/icon.tsx';
import { formatNumber } from '../wording/number.ts';
import { cancelled, takenBack } from '../wording/status-life.ts';
import { isAboutToBegin, standingWords } from '../wording/status-standing.ts';
import { status as words } from '../wording/status.ts';
import { Folders, HowFar } from './status-progress.tsx';

type Props = {
  readonly kind: 'email' | 'contacts';
  readonly title: string;
  readonly progress: Progress;
  /** Whether the operation belongs to an export. */
  readonly ofExport: boolean;
  /** Of an export that was stopped, or has failed, nothing is kept. */
  readonly hasNoFiles: boolean;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Whether its owner hears of the end. */
  readonly isTold: boolean;
  /** The other operation of the same transfer. */
  readonly beside: Progress | undefined;
  /** When new mail is looked for next, once a day (ISO 8601). */
  readonly looksAgain: string | undefined;
  /** What only this operation has to tell. */
  readonly children?: ReactNode;
};

const ICONS = {
  running: DRAWINGS.running,
  success: 'success',
  failed: 'error',
  stopped: 'info',
  waiting: 'clock',
} as const;

/** One operation: how it stands, how far it is, what was done, what is being done, and when it will be done. */
export function OperationCard({
  kind,
  title,
  progress,
  ofExport,
  hasNoFiles,
  at,
  isTold,
  beside,
  looksAgain,
  children,
}: Props) {
  const { total, bytes, started, finished, skipped = [] } = progress;
  const copied = copiedBy(progress);
  const { looks, label, texts, now, when } = standingWords(progress, ofExport, kind, at, isTold, beside, looksAgain);
  const isDone = standingOf(progress) === 'success';
  // It is not there any more.
  const isUndone = isDone && isTakenBack(progress);
  return (
    <section className="status-card" aria-labelledby={kind}>
      {/* With the heading, so that what is said tells of which transfer. */}
      <div className="stack" data-gap="small" role={looks === 'failed' ? 'alert' : 'status'}>
        <h2 id={kind}>{title}</h2>
        <div>
          <p className="status-state" data-kind={looks}>
            <Icon name={ICONS[looks]} size={32} />
            <span>{label}</span>
          </p>
          {texts.map((text, index) => (
            <p key={text} className={index === 0 ? undefined : 'strong'}>
              {text}
            </p>
          ))}
        </div>
      </div>
      {total === undefined && looks === 'running' && !isAboutToBegin(progress, ofExport) && (
        <p className="soft">{words.counting}</p>
      )}
      {!isUndone && !hasNoFiles && <HowFar kind={kind} progress={progress} />}
      <dl className="answers">
        <div>
          <dt>{words.questions.done}</dt>
          {hasNoFiles ? (
            <dd>{cancelled.noFiles}</dd>
          ) : (
            <dd>
              {finished !== undefined && copied === 0 ? nothingCopied(kind, progress) : words.done(kind, copied, bytes)}
            </dd>
          )}
          {kind === 'email' && presentOf(progress) > 0 && <dd>{words.present(kind, presentOf(progress))}</dd>}
          {started !== undefined && <dd>{words.startedAt(started)}</dd>}
          {finished !== undefined && <dd>{(isDone ? words.finishedAt : words.stoppedAt)(finished)}</dd>}
          {!isUndone && !hasNoFiles && <Proof kind={kind} progress={progress} />}
          {isDone && !isUndone && (progress.kept ?? 0) > 0 && <dd>{words.kept(progress.kept ?? 0)}</dd>}
          {progress.taken_back !== undefined && (progress.taken_back > 0 || progress.taking_back !== true) && (
            <dd>{takenBack(progress.taken_back)}</dd>
          )}
        </div>
        {!isDone && (
          <>
            <div>
              <dt>{words.questions.now}</dt>
              <dd>{now}</dd>
            </div>
            {when !== undefined && (
              <div>
                <dt>{words.questions.when}</dt>
                <dd>{when}</dd>
              </div>
            )}
          </>
        )}
      </dl>
      {!hasNoFiles && children}
      {!hasNoFiles && <Folders progress={progress} />}
      {!hasNoFiles && <LeftOut kind={kind} items={skipped} ofExport={ofExport} />}
    </section>
  );
}

function nothingCopied(kind: Props['kind'], progress: Progress): string {
  if (standingOf(progress) !== 'success' || leavesSomeOut(progress)) return words.notCopied;
  return presentOf(progress) > 0 ? words.nothing : words.empty[kind];
}

/** Whole folders, and messages or contacts, that are not there; who may not see their names reads the reasons alone. */
function LeftOut({
  kind,
  items,
  ofExport,
}: Pick<Props, 'kind' | 'ofExport'> & { readonly items: NonNullable<Progress['skipped']> }) {
  const folders = items.filter(isOfFolder);
  const others = items.filter((item) => !isOfFolder(item));
  return (
    <>
      {folders.length > 0 && (
        <details>
          <summary>{words.foldersLeft(folders.length)}</summary>
          <p>{words.foldersLeftHelp}</p>
          <ul>
            {folders.map((item, index) => (
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index}>
                {'mailbox' in item && (
                  <>
                    <bdi className="strong">{item.mailbox}</bdi>:{' '}
                  </>
                )}
                {item.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
      {others.length > 0 && (
        <details>
          <summary>{words.skipped(kind, others.length, ofExport)}</summary>
          <p>{words.skippedHelp(kind, others.length)}</p>
          <ul>
            {others.map((item, index) => (
              // The list only ever grows at its end.
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index}>
                {'mailbox' in item && (
                  <>
                    <bdi className="strong">{item.subject ?? words.unnamed[kind]}</bdi> (<bdi>{item.mailbox}</bdi>
                    ):{' '}
                  </>
                )}
                {item.reason}
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

/** The engine's final comparison, once it has been made. */
function Proof({ kind, progress }: { readonly kind: 'email' | 'contacts'; readonly progress: Progress }) {
  const found = comparisonOf(progress);
  if (found === null) return null;
  if (found.isClean) return <dd>{(leavesSomeOut(progress) ? words.provenBesides : words.proven)[kind]}</dd>;
  return (
    <dd>{words.unproven(formatNumber(found.lost), formatNumber(found.duplicated), formatNumber(found.changed))}</dd>
  );
}
