import { memo, useDeferredValue } from 'react';
import type { Folder, Progress } from '../../../contract/calls/status.ts';
import { folderName } from '../../../contract/folder-name.ts';
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
export function thereBy(progress: Progress): number {
  return copiedBy(progress) + presentOf(progress) + (progress.moved ?? 0);
}

/**
 * The folders in the order of work. Visitors who may not see their names see numbers instead. They are drawn when there
 * is time for it, after everything else: an account may have thousands, and their counts change all the while.
 */
export function Folders({ progress }: Props) {
  const folders: readonly Folder[] = progress.folders ?? NONE;
  const drawn = useDeferredValue(folders, NONE);
  if (folders.length === 0) return null;
  return (
    <details>
      <summary>{folderWords.title}</summary>
      <FolderList folders={drawn} />
    </details>
  );
}

const NONE: readonly Folder[] = [];

const FolderList = memo(function FolderList({ folders }: { readonly folders: readonly Folder[] }) {
  return (
    <ul className="folders">
      {folders.map(({ name, done, total }, index) => (
        // The order of work does not change.
        // oxlint-disable-next-line react/no-array-index-key
        <FolderLine
          key={index}
          name={name === undefined ? folderWords.unnamed(index + 1) : folderName(name)}
          done={done}
          total={total}
        />
      ))}
    </ul>
  );
});

const FolderLine = memo(function FolderLine({ name, done, total }: Required<Folder>) {
  return (
    <li>
      <bdi>{name}</bdi>
      <span className="soft">{folderWords.count(done, total)}</span>
    </li>
  );
});
