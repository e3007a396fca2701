import type { Progress } from '../../../contract/calls/status.ts';
import { copiedBy, presentOf } from '../../../contract/transfer-status.ts';
import { ProgressBar } from '../../parts/progress-bar.tsx';
import { comparing, folders as folderWords, isComparing } from '../../wording/status-life.ts';
import { status as words } from '../../wording/status.ts';

type Props = { readonly progress: Progress };

/** How much of an operation is done; the comparison at the end is a step of its own. */
export function HowFar({ kind, progress }: Props & { readonly kind: 'email' | 'contacts' }) {
  const { total = 0, compared = 0 } = progress;
  if (total === 0) return null;
  // Only what has arrived, as for folders: `done` also counts what was refused.
  const far = thereBy(progress);
  if (isComparing(progress)) {
    const arrived = Math.max(far, compared);
    return (
      <div>
        <p className="status-count">
          <span className="strong">{comparing.count(compared, arrived)}</span>
        </p>
        <ProgressBar label={comparing.bar} done={compared} total={arrived} />
      </div>
    );
  }
  return (
    <div>
      <p className="status-count">
        <span className="strong">{words.count(kind, far, total)}</span>
        <span>{words.share(far, total)}</span>
      </p>
      <ProgressBar label={words.progress[kind]} done={far} total={total} />
    </div>
  );
}

/** How many were copied, or were there before. */
function thereBy(progress: Progress): number {
  return copiedBy(progress) + presentOf(progress) + (progress.moved ?? 0);
}

/** The folders in the order of work. Visitors who may not see their names see numbers instead. */
export function Folders({ progress: { folders = [] } }: Props) {
  if (folders.length === 0) return null;
  return (
    <details>
      <summary>{folderWords.title}</summary>
      <ul className="folders">
        {folders.map(({ name, done, total }, index) => (
          // The order of work does not change.
          // oxlint-disable-next-line react/no-array-index-key
          <li key={index}>
            <bdi>{name ?? folderWords.unnamed(index + 1)}</bdi>
            <span className="soft">{folderWords.count(done, total)}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}
