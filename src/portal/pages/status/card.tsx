import type { ReactNode } from 'react';
import type { Progress } from '../../../contract/calls/status.ts';
import { folderName } from '../../../contract/folder-name.ts';
import {
  comparisonOf,
  copiedBy,
  isOfFolder,
  isTakenBack,
  lacksSome,
  leavesMoreFolders,
  leavesSomeOut,
  presentOf,
  refusedBy,
  refusesMore,
  SKIPPED_SHOWN,
  standingOf,
} from '../../../contract/transfer-status.ts';
import { DRAWINGS } from '../../parts/drawings.ts';
import { Icon } from '../../parts/icon.tsx';
import { formatNumber } from '../../wording/number.ts';
import { cancelled, takenBack } from '../../wording/status-life.ts';
import { isAboutToBegin, type Standpoint, standingWords } from '../../wording/status-standing.ts';
import { status } from '../../wording/status.ts';
import { Folders, HowFar } from './progress.tsx';

type Props = Standpoint & {
  readonly title: string;
  readonly progress: Progress;
  /** It belongs to an export that was stopped or has failed, so no files are kept. */
  readonly hasNoFiles: boolean;
  /** What became of contacts, a sentence each. */
  readonly outcomes?: readonly string[] | undefined;
  /** Notes that only this operation has. */
  readonly children?: ReactNode;
};

const ICONS = {
  running: DRAWINGS.running,
  success: 'success',
  failed: 'error',
  stopped: 'info',
  waiting: 'clock',
} as const;

/** The card of one operation: its status, its progress, what has been done, and when it will be done. */
export function OperationCard({ title, progress, hasNoFiles, outcomes, children, ...from }: Props) {
  const { kind, ofExport, legacyName } = from;
  const words = standingWords(progress, from);
  const isCounting = progress.total === undefined && words.looks === 'running' && !isAboutToBegin(progress, ofExport);
  const isDone = standingOf(progress) === 'success';
  return (
    <section className="status-card" aria-labelledby={kind}>
      <Standing kind={kind} title={title} words={words} />
      {isCounting && <p className="soft">{status.counting}</p>}
      {!isTakenBack(progress) && !hasNoFiles && <HowFar kind={kind} progress={progress} />}
      <dl className="answers">
        <Done kind={kind} progress={progress} ofExport={ofExport} hasNoFiles={hasNoFiles} outcomes={outcomes} />
        {!isDone && <Answer question={status.questions.now} answer={words.now} />}
        {!isDone && words.when !== undefined && <Answer question={status.questions.when} answer={words.when} />}
      </dl>
      {!hasNoFiles && (
        <>
          {children}
          <Folders progress={progress} />
          <LeftOut kind={kind} progress={progress} ofExport={ofExport} legacyName={legacyName} />
        </>
      )}
    </section>
  );
}

/** What was copied has been taken back, at least in part. */
function isUndone(progress: Progress): boolean {
  return standingOf(progress) === 'success' && isTakenBack(progress);
}

function Standing({
  kind,
  title,
  words: { looks, label, texts },
}: Pick<Props, 'kind' | 'title'> & { readonly words: ReturnType<typeof standingWords> }) {
  return (
    // The live region includes the heading, so that a screen reader says which operation it is about.
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
  );
}

/** What was done and when, and how it compares with the source. */
function Done({
  kind,
  progress,
  ofExport,
  hasNoFiles,
  outcomes = [],
}: Pick<Props, 'kind' | 'progress' | 'ofExport' | 'hasNoFiles' | 'outcomes'>) {
  const { started, finished, kept = 0, moved = 0, taken_back: removed, taking_back: goesOn = false } = progress;
  const present = presentOf(progress);
  const isDone = standingOf(progress) === 'success';
  return (
    <div>
      <dt>{status.questions.done}</dt>
      <dd>{hasNoFiles ? cancelled.noFiles : copiedWords(kind, progress, ofExport)}</dd>
      {!hasNoFiles && outcomes.map((outcome) => <dd key={outcome}>{outcome}</dd>)}
      {kind === 'email' && present > 0 && <dd>{status.present(kind, present)}</dd>}
      {moved > 0 && <dd>{status.moved(moved)}</dd>}
      {started !== undefined && <dd>{status.startedAt(started)}</dd>}
      {finished !== undefined && <dd>{(isDone ? status.finishedAt : status.stoppedAt)(finished)}</dd>}
      {!isUndone(progress) && !hasNoFiles && <Proof kind={kind} progress={progress} ofExport={ofExport} />}
      {finished !== undefined && !isTakenBack(progress) && kept > 0 && <dd>{status.kept(kept)}</dd>}
      {removed !== undefined && (removed > 0 || !goesOn) && <dd>{takenBack(removed)}</dd>}
    </div>
  );
}

function copiedWords(kind: Props['kind'], progress: Progress, ofExport: boolean): string {
  const copied = copiedBy(progress);
  // An export has saved nothing until there are files.
  const isSaved = ofExport && standingOf(progress) === 'success';
  if (progress.finished === undefined || copied > 0) return status.done(kind, copied, progress.bytes, isSaved);
  // Of what was on its way when its owner stopped it, nobody knows whether it arrived.
  if (kind === 'email' && !ofExport && progress.ended === 'cancelled' && progress.started !== undefined)
    return status.noneKnown;
  if (standingOf(progress) !== 'success' || leavesSomeOut(progress)) return status.notCopied;
  return presentOf(progress) + (progress.moved ?? 0) > 0 ? status.nothing : status.empty[kind];
}

function Answer({ question, answer }: { readonly question: string; readonly answer: string }) {
  return (
    <div>
      <dt>{question}</dt>
      <dd>{answer}</dd>
    </div>
  );
}

/** The folders, messages and contacts that were not copied. Visitors who may not see their names see only the reasons. */
function LeftOut({
  kind,
  progress,
  ofExport,
  legacyName,
}: Pick<Props, 'kind' | 'progress' | 'ofExport' | 'legacyName'>) {
  const items = progress.skipped ?? [];
  const folders = items.filter(isOfFolder);
  const others = items.filter((item) => !isOfFolder(item));
  const end = <ListEnd of={items} ofExport={ofExport} />;
  return (
    <>
      {folders.length > 0 && (
        <details>
          <summary>{status.foldersLeft(folders.length, leavesMoreFolders(progress))}</summary>
          <p>{status.skippedHelp.email(legacyName)}</p>
          <ul>
            {folders.map((item, index) => (
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index}>
                {'mailbox' in item && (
                  <>
                    <bdi className="strong">{folderName(item.mailbox)}</bdi>:{' '}
                  </>
                )}
                {item.reason}
              </li>
            ))}
          </ul>
          {leavesMoreFolders(progress) && end}
        </details>
      )}
      {others.length > 0 && (
        <details>
          <summary>{status.skipped(kind, refusedBy(progress), ofExport, refusesMore(progress))}</summary>
          <p>{status.skippedHelp[kind](legacyName)}</p>
          <ul>
            {others.map((item, index) => (
              // The list only ever grows at its end.
              // oxlint-disable-next-line react/no-array-index-key
              <li key={index}>
                {'mailbox' in item && (
                  <>
                    <bdi className="strong">{item.subject || status.unnamed[kind]}</bdi> (
                    <bdi>{folderName(item.mailbox)}</bdi>):{' '}
                  </>
                )}
                {item.reason}
              </li>
            ))}
          </ul>
          {end}
        </details>
      )}
    </>
  );
}

/** The note below a list that is too long to be shown in full. */
export function ListEnd({ of, ofExport }: { readonly of: readonly unknown[]; readonly ofExport: boolean }) {
  return of.length < SKIPPED_SHOWN ? null : <p className="soft">{status.listEnds(ofExport)}</p>;
}

/** The engine's final comparison, once it has been made. */
function Proof({ kind, progress, ofExport }: Pick<Props, 'kind' | 'progress' | 'ofExport'>) {
  const found = comparisonOf(progress);
  if (found === null) return null;
  if (found.isClean) return <dd>{status.proven(kind, ofExport, lacksSome(progress))}</dd>;
  return (
    <dd>{status.unproven(formatNumber(found.lost), formatNumber(found.duplicated), formatNumber(found.changed))}</dd>
  );
}
