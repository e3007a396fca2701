import { isOver, timeLeft } from '../../../../machines/countdown.ts';
import { attentionOf, isCancelled } from '../../../../machines/owner-acts.ts';
import { PATHS, type WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { ExportFile } from '../../../contract/calls/status.ts';
import { standingOf } from '../../../contract/transfer-status.ts';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { MessagePlace } from '../../parts/message.tsx';
import { Modal } from '../../parts/modal.tsx';
import { useSend } from '../../wizard-context.tsx';
import { shared } from '../../wording.ts';
import { attention } from '../../wording/acts.ts';
import { cancelled } from '../../wording/status-life.ts';
import { exportBadge, status } from '../../wording/status.ts';
import { Banner, SlowNote } from '../banner.tsx';
import { FileLink } from './file-link.tsx';
import { WithoutCookies } from './without-cookies.tsx';

const words = status.exports;

type Props = { readonly snapshot: WizardSnapshot; readonly files: readonly ExportFile[] };

/** How an export stands, and its files as long as they can be downloaded. */
export function Exports({ snapshot, files }: Props) {
  const send = useSend();
  const { status: known, settings, now } = snapshot.context;
  const isClosed = isOver(timeLeft(settings.accessEnd, now));
  const operation = known?.emailmigration ?? known?.contactsmigration;
  // A waiting operation continues by itself, so it is shown as running and not as failed.
  const isWaiting = operation?.waiting !== undefined && operation.finished === undefined;
  const badge = exportBadge(operation === undefined || isWaiting ? 'running' : standingOf(operation));
  // Stopped by its owner: not a failure of the export.
  const isStopped = known !== null && isCancelled(known) && known.files !== 'there';
  // Nothing is running any more, and there are no files.
  const hasEnded =
    isStopped || known?.files === 'deleted' || (badge.kind === 'failed' && operation?.finished !== undefined);
  const isOwners = isStopped || attentionOf(known) !== undefined;
  return (
    <section className="status-card" aria-labelledby="exports">
      <h2 id="exports">{words.title}</h2>
      {isOwners ? (
        <p>{isStopped ? cancelled.ofExport : attention.now}</p>
      ) : (
        <>
          <p className="badge" data-kind={badge.kind}>
            <span>{badge.label}</span>
          </p>
          <p>{known?.files === 'deleted' ? words.deleted(isClosed) : badge.text}</p>
        </>
      )}
      {hasEnded && (
        <div className="actions on-screen">
          <Link className="button" href={PATHS.home} onFollow={() => send({ type: 'home.visit', error: '' })}>
            {words.anew}
          </Link>
        </div>
      )}
      {files.length > 1 && <p>{words.parts(files.length)}</p>}
      {files[0] !== undefined && <p>{words.until(files[0].expires)}</p>}
      {files.length > 0 && <p>{words.extract(files.length)}</p>}
      {files.length > 0 && <WithoutCookies />}
      {files.length > 0 && (
        <ul className="rows">
          {files.map((file, index) => (
            <li key={file.url}>
              <div className="stack" data-gap="small">
                <FileLink href={file.url} isButton>
                  {words.download(file.name, index + 1, files.length)}
                </FileLink>
                <p className="soft small">{words.size(file.name, file.size, files.length)}</p>
                <details className="small">
                  <summary>{words.check}</summary>
                  <span className="code">{file.sha256}</span>
                </details>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

/** The last thing on the page, so that nobody presses it on the way to the files. */
export function DeleteExport({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const { message } = snapshot.context;
  const confirming = snapshot.matches({ status: { page: { settled: 'confirming' } } });
  const deleting = snapshot.matches({ status: { page: { settled: 'deleting' } } });
  return (
    <section className="stack on-screen" data-gap="small" aria-labelledby="delete">
      <h2 id="delete">{words.deleteTitle}</h2>
      <p>{words.deleteHelp}</p>
      {snapshot.matches({ status: { page: 'settled' } }) && (
        <div className="actions">
          <Button busy={deleting} onPress={() => send({ type: 'export.delete' })}>
            {words.delete}
          </Button>
        </div>
      )}
      <MessagePlace>
        {message?.about === 'export deletion failed' && <Banner message={message} />}
        {deleting && snapshot.hasTag('slow') && <SlowNote />}
      </MessagePlace>
      {confirming && (
        <Modal title={words.confirmTitle} closeLabel={shared.close} onClose={() => send({ type: 'modal.close' })}>
          <p>{words.confirmText}</p>
          <div className="actions">
            <Button onPress={() => send({ type: 'export.keep' })}>{words.keep}</Button>
            <Button rank="primary" onPress={() => send({ type: 'export.confirm' })}>
              {words.confirm}
            </Button>
          </div>
        </Modal>
      )}
    </section>
  );
}
