import { isOver, timeLeft } from '../../../../machines/countdown.ts';
import { openGuide } from '../../../../machines/mail-guide.ts';
import { attentionOf, isCancelled } from '../../../../machines/owner-acts.ts';
import { PATHS, visitOf, type WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { TransferStatus } from '../../../contract/calls/status.ts';
import { isExport, leavesSomeOut, standingOf } from '../../../contract/transfer-status.ts';
import { BarsLoader } from '../../parts/bars-loader.tsx';
import { Button } from '../../parts/button.tsx';
import { Link } from '../../parts/link.tsx';
import { useFocusThatIsLost } from '../../parts/lost-focus.ts';
import { Message, MessagePlace } from '../../parts/message.tsx';
import { useOnline } from '../../parts/online.ts';
import { isRouteShown } from '../../route.ts';
import { useSend, useWizard } from '../../wizard-context.tsx';
import { shared } from '../../wording.ts';
import { nextLook } from '../../wording/status-daily.ts';
import { finished } from '../../wording/status-finished.ts';
import { status as words } from '../../wording/status.ts';
import { Banner } from '../banner.tsx';
import { WizardPage } from '../wizard-page.tsx';
import { Acts, Attention } from './acts.tsx';
import { OperationCard } from './card.tsx';
import { ContactsRemarks, ForwardingCard, outcomesOf } from './contacts.tsx';
import { DailyCard } from './daily.tsx';
import { DeleteExport, Exports } from './exports.tsx';
import { Finished, isDone } from './finished.tsx';
import { GuidePage } from './guide.tsx';
import { Route } from './mailboxes.tsx';
import { ShowMore } from './more.tsx';
import { titleStateOf } from './title-state.ts';

export function StatusPage() {
  const snapshot = useWizard((whole) => whole);
  useFocusThatIsLost();
  const { transferId } = snapshot.context;
  if (snapshot.matches({ status: { page: 'asking' } }))
    return (
      <WizardPage heading={words.heading} view="asking">
        <BarsLoader label={shared.loading} text={snapshot.hasTag('slow') ? shared.slow : words.asking} />
      </WizardPage>
    );
  if (snapshot.matches({ status: { page: 'notFound' } }) || snapshot.matches({ status: { page: 'failed' } }))
    return <NotShown snapshot={snapshot} />;
  const guide = openGuide(snapshot.value);
  if (guide !== undefined) return <GuidePage snapshot={snapshot} guide={guide} />;
  const done = isDone(snapshot);
  return (
    <WizardPage
      heading={done ? finished.heading : words.heading}
      state={titleStateOf(snapshot)}
      done={done}
      saysRoute={isRouteShown(snapshot)}
      view={snapshot.context.status?.limited === true ? 'numbers' : 'everything'}
      lead={
        <>
          <Lead snapshot={snapshot} />
          <p className="soft small">
            {words.id}: <span className="code">{transferId}</span>
          </p>
        </>
      }
    >
      <Cards snapshot={snapshot} />
    </WizardPage>
  );
}

/** The introduction, which an act's result replaces for a while. */
function Lead({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const { message, now, status } = snapshot.context;
  // If the browser is offline, the top of the page already says so.
  const isStale = useOnline() && snapshot.hasTag('stale');
  const isShown = message !== null && message.about !== 'export deletion failed';
  return (
    <MessagePlace>
      {isShown && !snapshot.matches({ status: { banner: 'hidden' } }) ? (
        <Banner message={message} />
      ) : isStale ? (
        <Message
          kind="warning"
          content={[words.stale(new Date(now).toISOString(), attentionOf(status) !== undefined)]}
        />
      ) : (
        <p className="lead on-screen">{leadOf(snapshot)}</p>
      )}
    </MessagePlace>
  );
}

function leadOf(snapshot: WizardSnapshot): string {
  const { status } = snapshot.context;
  if (isDone(snapshot)) {
    if (status?.files === 'there') return finished.filesLead;
    const operations = [status?.emailmigration, status?.contactsmigration].filter((each) => each !== undefined);
    const isInPart = operations.some((each) => leavesSomeOut(each) || (each.lost ?? 0) > 0);
    if (isInPart) return finished.leadInPart;
    const { emailforwarding: forwarding } = status ?? {};
    return forwarding !== undefined && standingOf(forwarding) === 'failed' ? finished.leadUnforwarded : finished.lead;
  }
  if (!snapshot.matches({ status: { page: 'following' } })) return words.settled;
  const isAtRest = attentionOf(status) !== undefined || status?.emailmigration?.taking_back === true;
  return isAtRest ? words.follows : words.lead;
}

function Cards({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const { status, settings } = snapshot.context;
  const ofExport = isExport(status ?? {});
  const done = isDone(snapshot);
  const isLimited = status?.limited === true;
  const hasFiles = status?.files === 'there';
  const ending = {
    ofExport,
    hasNoFiles: endedWithoutFiles(status),
    at: snapshot.context.now,
    isTold: status?.untold !== true,
    legacyName: settings.legacyName,
    looksAgain: status?.daily && nextLook(status.daily),
  };
  const isClosed = isOver(timeLeft(settings.accessEnd, snapshot.context.now));
  return (
    <>
      <Attention snapshot={snapshot} />
      {ofExport && <Exports snapshot={snapshot} files={status?.exports ?? []} />}
      {isLimited && hasFiles && <ShowMore snapshot={snapshot} files />}
      {done && <Route snapshot={snapshot} />}
      {done && <Finished snapshot={snapshot} />}
      <DailyCard snapshot={snapshot} />
      {status?.emailmigration !== undefined && (
        <OperationCard
          kind="email"
          title={words.email}
          progress={status.emailmigration}
          beside={status.contactsmigration}
          {...ending}
        />
      )}
      {status?.contactsmigration !== undefined && (
        <OperationCard
          kind="contacts"
          title={words.contacts}
          progress={status.contactsmigration}
          beside={status.emailmigration}
          outcomes={outcomesOf(status.contactsmigration)}
          {...ending}
        >
          <ContactsRemarks progress={status.contactsmigration} ofExport={ofExport} />
        </OperationCard>
      )}
      {status?.emailforwarding !== undefined && !isLimited && (
        <ForwardingCard status={status} forwarding={status.emailforwarding} legacyName={settings.legacyName} />
      )}
      {/* Below how it stands, which comes first as long as that changes. */}
      {!done && <Route snapshot={snapshot} />}
      <Acts snapshot={snapshot} />
      {isLimited && !hasFiles && <ShowMore snapshot={snapshot} />}
      <section className="stack together" data-gap="small" aria-labelledby="wrong">
        <h2 id="wrong">{words.questions.wrong}</h2>
        <p>
          {words.wrong.before(settings.legacyName, isClosed)}
          <SupportLink>{words.wrong.link}</SupportLink>
          {words.wrong.after(settings.supportPhone)}
        </p>
      </section>
      {(status?.exports?.length ?? 0) > 0 && <DeleteExport snapshot={snapshot} />}
    </>
  );
}

/** Whether it is an export of which nothing is kept: it was stopped, or it has failed. */
function endedWithoutFiles(status: TransferStatus | null): boolean {
  if (status === null || !isExport(status) || status.files === 'there') return false;
  const hasEnded = (status.emailmigration ?? status.contactsmigration)?.finished !== undefined;
  return isCancelled(status) || (status.files === 'coming' && hasEnded);
}

function NotShown({ snapshot }: { readonly snapshot: WizardSnapshot }) {
  const send = useSend();
  const failed = snapshot.matches({ status: { page: 'failed' } });
  const { title, content } = failed
    ? words.failed
    : { ...words.notFound, content: words.notFound.content(snapshot.context.settings) };
  return (
    <WizardPage heading={words.heading} lost={!failed}>
      <Message kind="error" title={title} content={content} />
      <div className="actions">
        {failed && (
          <Button rank="primary" onPress={() => send({ type: 'call.retry' })}>
            {words.retry}
          </Button>
        )}
        <Link
          className="button"
          rank={failed ? 'secondary' : 'primary'}
          href={PATHS.home}
          onFollow={() => send({ type: 'home.visit', error: '' })}
        >
          {words.toHome}
        </Link>
        <SupportLink>{shared.support}</SupportLink>
      </div>
    </WizardPage>
  );
}

export function SupportLink({ children }: { readonly children: string }) {
  const send = useSend();
  return (
    <Link href={PATHS.support} onFollow={() => send(visitOf(PATHS.support, new URLSearchParams()))}>
      {children}
    </Link>
  );
}
