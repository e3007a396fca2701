import { isOver, timeLeft } from '../../../../machines/countdown.ts';
import { GUIDES, guideOf, type Guide } from '../../../../machines/mail-guide.ts';
import { destinationOf } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { ContactsProgress, Forwarding, Progress } from '../../../contract/calls/status.ts';
import { isOauthProvider } from '../../../contract/provider-name.ts';
import {
  comparisonOf,
  copiedBy,
  foldersLeftBy,
  isExport,
  isTakenBack,
  lacksSome,
  leavesMoreFolders,
  leavesSomeOut,
  presentOf,
  refusedBy,
  refusesMore,
  standingOf,
} from '../../../contract/transfer-status.ts';
import { Button } from '../../parts/button.tsx';
import { Facts } from '../../parts/card.tsx';
import { DRAWINGS } from '../../parts/drawings.ts';
import type { IconName } from '../../parts/icon.tsx';
import { ProviderButton, Providers } from '../../parts/provider-button.tsx';
import { routeOf } from '../../route.ts';
import { useSend } from '../../wizard-context.tsx';
import { finished as words, MAIL_SITES } from '../../wording/status-finished.ts';
import { status as standing } from '../../wording/status.ts';

type Props = { readonly snapshot: WizardSnapshot };
type Fact = { readonly icon: IconName; readonly text: string };

/** Whether everything that was asked for has been done, and nothing of it, or of what was there before, was taken back. */
export function isDone({ context: { status } }: Pick<WizardSnapshot, 'context'>): boolean {
  const operations = [status?.emailmigration, status?.contactsmigration].filter((each) => each !== undefined);
  if (isTakenBack(status?.emailmigration ?? {}) || status?.brings_back === true) return false;
  return operations.length > 0 && operations.every((each) => standingOf(each) === 'success');
}

/** Whether all is done but the contacts, which could have come and still can. */
export function lacksContacts(snapshot: WizardSnapshot): boolean {
  const status = snapshot.context.status ?? {};
  const isMissing = status.contactsmigration === undefined && !isExport(status);
  const { bringsNoContacts } = snapshot.context.settings;
  return isDone(snapshot) && isMissing && bringsNoContacts !== true && isOauthProvider(destinationOf(snapshot.context));
}

/** Whether new mail is forwarded, as far as this visitor may know. */
function forwards(forwarding: Forwarding | undefined): boolean {
  return forwarding !== undefined && standingOf(forwarding) === 'success' && forwarding.ended === undefined;
}

/** The summary of a finished transfer: the result, and what to do next. */
export function Finished({ snapshot }: Props) {
  const { status, settings } = snapshot.context;
  const { emailmigration, contactsmigration } = status ?? {};
  const isClosed = isOver(timeLeft(settings.accessEnd, snapshot.context.now));
  const ofExport = isExport(status ?? {});
  const isDeleted = status?.files === 'deleted';
  return (
    <>
      <section className="stack together" data-gap="small" aria-labelledby="arrived">
        <h2 id="arrived">{words.arrivedTitle(ofExport, isDeleted)}</h2>
        <Facts
          facts={[
            ...arrived('email', emailmigration, ofExport),
            ...arrived('contacts', contactsmigration, ofExport),
            ...proof([emailmigration, contactsmigration], ofExport),
          ]}
        />
      </section>
      <section className="stack together" data-gap="small" aria-labelledby="left">
        <h2 id="left">{words.leftTitle(ofExport, isDeleted)}</h2>
        <Facts
          facts={[
            ...refused('email', emailmigration, ofExport),
            ...refused('contacts', contactsmigration, ofExport),
            ...foldersLeft(emailmigration),
            ...(contactsmigration === undefined ? [{ icon: 'info', text: noContacts(snapshot) } as const] : []),
            ...(ofExport ? [{ icon: 'info', text: words.later(settings.legacyName, isClosed) } as const] : []),
            { icon: 'info', text: words.left },
            { icon: 'shield', text: words.nothingDeleted(settings.legacyName, forwards(status?.emailforwarding)) },
          ]}
        />
      </section>
      {ofExport ? <AfterExport snapshot={snapshot} /> : <Next snapshot={snapshot} />}
    </>
  );
}

function Next({ snapshot }: Props) {
  const send = useSend();
  const { context } = snapshot;
  const { legacyName, accessEnd } = context.settings;
  const { from, to, isKnown } = routeOf(snapshot);
  const guide = guideOf(destinationOf(context));
  // The primary move keeps the address.
  const moved = guide === 'yahoo' && from !== undefined && from === to;
  const { emailforwarding: forwarding, daily, limited } = context.status ?? {};
  const isForwarded = forwarding?.since !== undefined && forwarding.ended === undefined;
  const isClosed = isOver(timeLeft(accessEnd, context.now));
  const elsewhere =
    isForwarded && !isClosed
      ? words.follows('sent on', legacyName, accessEnd)
      : daily?.next !== undefined
        ? words.follows('brought', legacyName, daily.until)
        : [
            ...(isForwarded || limited === true ? [] : words.stays(legacyName)),
            ...words.elsewhere(legacyName, accessEnd, isClosed),
          ];
  return (
    <section className="stack together" data-gap="medium" aria-labelledby="after">
      <h2 id="after">{words.nextTitle}</h2>
      {/* Who may not see where it went is told of both. */}
      {!isKnown && <p>{words.ifYahoo(legacyName)}</p>}
      {!isKnown && <p>{words.ifElsewhere}</p>}
      {moved ? <Facts facts={words.atYahoo} /> : <Facts facts={[...words.look(guide), ...elsewhere]} />}
      {!isKnown && <WhichGuide />}
      <div className="actions">
        {isKnown ? <OpenMail guide={guide} snapshot={snapshot} /> : <OpenMail guide="yahoo" snapshot={snapshot} />}
        {isKnown && <Button onPress={() => send({ type: 'guide.open', guide })}>{words.setUp}</Button>}
        <Button onPress={() => window.print()}>{words.print}</Button>
      </div>
      <p className="soft small on-screen">{words.save}</p>
    </section>
  );
}

function AfterExport({ snapshot }: Props) {
  const { legacyName, accessEnd } = snapshot.context.settings;
  const isClosed = isOver(timeLeft(accessEnd, snapshot.context.now));
  return (
    <section className="stack together" data-gap="medium" aria-labelledby="after">
      <h2 id="after">{words.nextTitle}</h2>
      <Facts facts={[...words.stays(legacyName), ...words.elsewhere(legacyName, accessEnd, isClosed)]} />
      <div className="actions">
        <Button onPress={() => window.print()}>{words.print}</Button>
      </div>
      <p className="soft small on-screen">{words.save}</p>
    </section>
  );
}

/** Lets the visitor choose the guide if the new mailbox's provider isn't known. */
function WhichGuide() {
  const send = useSend();
  return (
    <div className="stack on-screen" data-gap="small">
      <h3>{words.setUpWhich}</h3>
      <Providers>
        {GUIDES.map((guide) => (
          <ProviderButton
            key={guide}
            provider={guide}
            name={words.guides(guide)}
            onChoose={() => send({ type: 'guide.open', guide })}
          />
        ))}
      </Providers>
    </div>
  );
}

function OpenMail({ guide, snapshot }: Props & { readonly guide: Guide }) {
  const { destinationMailUrl } = snapshot.context.settings;
  if (guide === 'other') return null;
  return (
    <a
      className="button"
      data-rank={routeOf(snapshot).isKnown ? 'primary' : 'secondary'}
      href={guide === 'yahoo' ? destinationMailUrl : MAIL_SITES[guide]}
    >
      {words.open(guide)}
    </a>
  );
}

function arrived(kind: 'email' | 'contacts', progress: ContactsProgress | undefined, ofExport: boolean): Fact[] {
  if (progress?.done === undefined) return [];
  const copied = copiedBy(progress);
  const present = presentOf(progress);
  const { moved = 0 } = progress;
  if (copied + present + moved === 0)
    return [{ icon: 'info', text: leavesSomeOut(progress) ? words.arrived(kind, 0, ofExport) : standing.empty[kind] }];
  const there = [
    ...(copied > 0 ? [words.arrived(kind, copied, ofExport)] : []),
    ...(present > 0 ? [standing.present(kind, present)] : []),
  ].map((text) => ({ icon: 'success', text }) as const);
  return moved > 0 ? [...there, { icon: 'info', text: standing.moved(moved) }] : there;
}

function refused(kind: 'email' | 'contacts', progress: Progress | undefined, ofExport: boolean): Fact[] {
  const count = progress === undefined ? 0 : refusedBy(progress);
  if (progress === undefined || count === 0) return [];
  return [{ icon: 'warning', text: words.refused(kind, count, ofExport, refusesMore(progress)) }];
}

function foldersLeft(progress: Progress = { status: '' }): Fact[] {
  const count = foldersLeftBy(progress);
  return count === 0 ? [] : [{ icon: 'warning', text: words.foldersLeft(count, leavesMoreFolders(progress)) }];
}

/**
 * How the contacts can still be copied. There is no way if the old mailbox has no address book, which is also the only
 * reason why an export lacks them.
 */
function noContacts({ context }: WizardSnapshot): string {
  const { permitted, typed, unread } = words.noContacts;
  if (context.settings.bringsNoContacts === true || isExport(context.status ?? {})) return unread;
  return isOauthProvider(destinationOf(context)) ? permitted : typed;
}

/** What the comparison at the end has shown, once both kinds were compared. */
function proof(operations: readonly (Progress | undefined)[], ofExport: boolean): Fact[] {
  const all = operations.filter((each) => each !== undefined);
  if (!all.every((each) => comparisonOf(each)?.isClean === true)) return [];
  return [{ icon: DRAWINGS.ticked, text: words.proven(ofExport, all.some(lacksSome)) }];
}
