import { isOver, timeLeft } from '../../../../machines/countdown.ts';
import { attentionOf, destinationOf, isOfContacts, progressesOf } from '../../../../machines/owner-acts.ts';
import type { WizardSnapshot } from '../../../../machines/wizard.routes.ts';
import type { TransferStatus } from '../../../contract/calls/status.ts';
import { isExport, standingOf } from '../../../contract/transfer-status.ts';
import { acts, attention as words, contactsNeedOf, type Ending, needOf, type Need } from '../../wording/acts.ts';
import { providerName } from '../../wording/provider-name.ts';

/** What a transfer needs of its owner, with the names of the button and the dialog that lead to it. */
type Shown = Need & {
  readonly safe: string;
  readonly button: string;
  readonly dialog: string;
  readonly signIn: string;
  /** What else can be done if the mailbox may have been closed. */
  readonly closed?: string;
};

/** `null` when it needs nothing. */
export function needIn({ context }: Pick<WizardSnapshot, 'context'>): Shown | null {
  const { status, settings, now } = context;
  const attention = attentionOf(status);
  if (attention === undefined) return null;
  const provider = destinationOf(context);
  const name = provider === 'other' ? words.newMailbox : providerName(provider, settings.legacyName);
  const ofContacts = isOfContacts(status) ? contactsNeedOf(attention, name) : null;
  const { mend } = acts;
  if (ofContacts !== null && attention.reason === 'consent')
    return {
      ...ofContacts,
      safe: words.safeContacts,
      button: mend.allowContacts.button,
      dialog: mend.allowContacts.title,
      signIn: mend.allowContacts.text(name),
    };
  const need = ofContacts ?? needOf(attention, settings.legacyName);
  const ofExport = isExport(status ?? {});
  return {
    ...need,
    safe: ofExport ? words.safeFiles : words.safe,
    button: mend.button,
    dialog: mend.title,
    signIn: need.todo,
    ...(attention.side === 'source' && isOver(timeLeft(settings.accessEnd, now))
      ? { closed: words.closed(settings.legacyName, settings.accessEnd, settings.supportPhone, ofExport) }
      : {}),
  };
}

/** How a transfer has ended, which decides what running it again copies. */
export function endingOf(status: TransferStatus): Ending {
  if (status.brings_back === true) return 'taken back';
  return progressesOf(status).every((operation) => standingOf(operation) === 'success') ? 'completed' : 'unfinished';
}
