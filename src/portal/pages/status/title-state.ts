import { attentionOf, progressesOf } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import { isExport, standingOf } from '../../../contract/transfer-status.ts';
import { attention } from '../../wording/acts.ts';
import { isComparing } from '../../wording/status-life.ts';
import { standingWords } from '../../wording/status-standing.ts';
import { status as words } from '../../wording/status.ts';
import { isDone } from './finished.tsx';
import { thereBy } from './progress.tsx';

/**
 * How the transfer stands, for the title of a tab that is not in front: `30%`, `Waiting for you`. Nothing where the
 * heading says it, or while the page is not up to date.
 */
export function titleStateOf(snapshot: Pick<WizardSnapshot, 'context' | 'hasTag'>): string | undefined {
  const { status, settings, now } = snapshot.context;
  if (status === null || isDone(snapshot) || snapshot.hasTag('stale')) return undefined;
  if (attentionOf(status) !== undefined) return attention.label;
  const operations = progressesOf(status);
  // The first that is not complete, or else the mail, which may have been taken back.
  const progress = operations.find((each) => standingOf(each) !== 'success') ?? operations[0];
  if (progress === undefined) return undefined;
  const kind = progress === status.emailmigration ? 'email' : 'contacts';
  const ofExport = isExport(status);
  const { looks, label } = standingWords(progress, {
    kind,
    ofExport,
    at: now,
    isTold: true,
    legacyName: settings.legacyName,
  });
  const { total = 0 } = progress;
  const far = thereBy(progress);
  const isCopying = looks === 'running' && kind === 'email' && far < total && !isComparing(progress);
  return isCopying ? words.share(far, total) : label;
}
