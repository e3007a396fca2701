import { isOver, timeLeft } from '../../../machines/countdown.ts';
import { modeOf } from '../../../machines/mode.ts';
import type { WizardSnapshot } from '../../../machines/wizard.routes.ts';
import type { Progress } from '../../contract/calls/status.ts';
import { comparisonOf, isExport, standingOf } from '../../contract/transfer-status.ts';
import { Button } from '../parts/button.tsx';
import { Facts } from '../parts/card.tsx';
import { finished as words } from '../wording/status-finished.ts';

type Props = { readonly snapshot: WizardSnapshot };

/** Whether everything that was asked for has been done. */
export function isDone({ context: { status } }: WizardSnapshot): boolean {
  const operations = [status?.emailmigration, status?.contactsmigration].filter((each) => each !== undefined);
  return operations.length > 0 && operations.every((each) => standingOf(each) === 'success');
}

/** What came of it, and what comes next. */
export function Finished({ snapshot }: Props) {
  const { status, settings } = snapshot.context;
  const ofExport = isExport(status ?? {});
  return (
    <>
      <section className="stack" data-gap="small" aria-labelledby="arrived">
        <h2 id="arrived">{words.arrivedTitle(ofExport)}</h2>
        <Facts
          facts={[
            ...arrived('email', status?.emailmigration, ofExport),
            ...arrived('contacts', status?.contactsmigration, ofExport),
            ...(isProven(snapshot) ? [{ icon: 'ticked', text: words.proven } as const] : []),
            { icon: 'info', text: words.left },
            { icon: 'shield', text: words.nothingDeleted(settings.legacyName) },
          ]}
        />
      </section>
      <Next snapshot={snapshot} ofExport={ofExport} />
    </>
  );
}

function Next({ snapshot, ofExport }: Props & { readonly ofExport: boolean }) {
  const { context } = snapshot;
  const { legacyName, accessEnd, destinationMailUrl } = context.settings;
  const moved = !ofExport && context.destination !== null && modeOf(context) === 'move';
  const mayHaveMoved = !ofExport && context.destination === null;
  return (
    <section className="stack" aria-labelledby="after">
      <h2 id="after">{words.nextTitle}</h2>
      {moved ? (
        <Facts facts={words.atYahoo} />
      ) : (
        <Facts facts={words.elsewhere(legacyName, accessEnd, isOver(timeLeft(accessEnd, context.now)))} />
      )}
      {mayHaveMoved && <p>{words.ifYahoo(legacyName)}</p>}
      <div className="actions">
        {(moved || mayHaveMoved) && (
          <a className="button" data-rank={moved ? 'primary' : 'secondary'} href={destinationMailUrl}>
            {words.openYahoo}
          </a>
        )}
        <Button onPress={() => window.print()}>{words.print}</Button>
      </div>
    </section>
  );
}

function arrived(kind: 'email' | 'contacts', progress: Progress | undefined, ofExport: boolean) {
  if (progress?.done === undefined) return [];
  const { done, skipped = [] } = progress;
  const text = skipped.length > 0 ? words.arrivedExcept[kind] : words.arrived(kind, done, ofExport);
  return [{ icon: 'success', text } as const];
}

function isProven({ context: { status } }: WizardSnapshot): boolean {
  const found = [status?.emailmigration, status?.contactsmigration]
    .filter((each) => each !== undefined)
    .map((each) => ({ comparison: comparisonOf(each), skipped: each.skipped ?? [] }));
  return found.every(({ comparison, skipped }) => comparison?.isClean === true && skipped.length === 0);
}
