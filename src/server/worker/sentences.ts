import { counted } from '../counted.ts';
import type { Measured } from '../transfers/operations.ts';

const LIST = new Intl.ListFormat('en-US');

const NOTHING_DELETED =
  'Nothing was deleted from the mailbox that your mail comes from. Please contact support with your transfer ID.';

type NotTakenBack = {
  readonly left: number;
  readonly absent: number;
  readonly unsure: number;
  readonly archives: boolean;
};

/** What a subscriber is told when an operation did not end well: what happened, that the mail is safe, what to do. */
export const SENTENCES = {
  sourceCredentials:
    'Your mailbox no longer accepts the password you gave us. Nothing was deleted there. Please type the password on the status page. If you changed it, type the new one. The transfer then goes on where it stopped.',
  destinationCredentials:
    'Your new mailbox does not accept our sign-in. Nothing was deleted from the mailbox that your mail comes from. Please sign in to the new one again on the status page. The transfer then goes on where it stopped.',
  full: 'Your new mailbox is full. Nothing was deleted from the mailbox that your mail comes from. Please make room in the new one and press “Put it right” on the status page. The transfer then goes on where it stopped.',
  sourceUnreachable:
    'For a long time we could not reach the mailbox that your mail comes from. Nothing was deleted there. Please start the transfer again later.',
  destinationUnreachable:
    'We could not reach your new mailbox for a long time. Nothing was deleted from the mailbox that your mail comes from. Please start the transfer again later.',
  unreachable:
    'We could not reach the mail servers for a long time. Nothing was deleted from the mailbox that your mail comes from. Please start the transfer again later.',
  certificate:
    'The mail server could not prove that it is the right one, so we stopped. Nothing was deleted from the mailbox that your mail comes from. Please contact support.',
  refused:
    'A mail server refused to continue. Nothing was deleted from the mailbox that your mail comes from. Please press “Put it right” on the status page, so that we try again. If that does not help, contact support with your transfer ID.',
  // Does not say that what was copied stays: it may be taken back.
  unanswered:
    'We waited for you for two weeks, and the transfer has ended. Nothing was deleted from the mailbox that your mail comes from. You can start the transfer again. Nothing is copied twice.',
  unansweredExport:
    'We waited for you for two weeks, and the download has ended. There are no files. Nothing was deleted from your mailbox. You can start a new download.',
  unansweredContacts:
    'We waited for you for two weeks, so we stopped bringing your contacts. Those that were copied stay where they are. Nothing was deleted from the address book you are moving. You can start the transfer again. Nothing is copied twice.',
  setAside:
    'We stopped your transfer because it was too big a load for our computers. Nothing was deleted from the mailbox that your mail comes from. Please contact support with your transfer ID.',
  contactsUnreachable:
    'We could not reach the address book you are moving for a long time. Nothing was deleted there. Please start the transfer again later. Nothing is copied twice.',
  contactsUnreachableForFiles:
    'We could not reach your address book for a long time, so your files have no contacts. Nothing was deleted there. You can start a new download later.',
  newContactsUnreachable:
    'We could not reach your new address book for a long time. Nothing was deleted from the address book you are moving. Please start the transfer again later. Nothing is copied twice.',
  contactsNotRead:
    'We could not read the address book you are moving. Nothing was deleted there. Please contact support with your transfer ID.',
  contactsRefused:
    'Your new address book did not take your contacts. Nothing was deleted from the address book you are moving. Please contact support with your transfer ID.',
  contactsFull:
    'Your new address book is full. Nothing was deleted from the address book you are moving. Please make room in the new one and press “Put it right” on the status page. Nothing is copied twice.',
  contactsDiffer:
    'Some contacts are missing from your new address book, or are there twice. Nothing was deleted from the address book you are moving. Please contact support with your transfer ID.',
  contactsTooMany:
    'The address book you are moving is too large for us to bring. Nothing was deleted there. Please contact support with your transfer ID.',
  newContactsTooMany:
    'Your new address book has more contacts than we can compare with yours. Nothing was deleted from the address book you are moving. Please contact support with your transfer ID.',
  contactsTooManyForFiles:
    'Your address book is too large for us, so your files have no contacts. Nothing was deleted there. Please contact support with your transfer ID.',
  contactsUnreadable:
    'We could not read your address book, so your files have no contacts. Nothing was deleted there. Please contact support with your transfer ID.',
  exportWithoutMail:
    'We could not save your mail, so there are no files. Nothing was deleted from your mailbox. Please start a new download.',
  forwardingWithoutMail:
    'We did not set up forwarding, because some of your mail was not copied. Nothing was deleted from the mailbox that your mail comes from. Please start the transfer again.',
  // These do not say that the mail is in the new mailbox: some may not be, and all may be taken back.
  forwardingNotOffered:
    'We could not set up forwarding, because your mail provider does not offer it. Your mail is safe, but new mail does not go to your new mailbox yet. Please give people your new address.',
  forwardingBesideRules:
    'We did not set up forwarding, because it does not work together with your mail rules. Your rules are as they were, and your mail is safe. To forward new mail, please add a rule yourself.',
  forwardingNameTaken:
    'We did not set up forwarding, because you already have mail rules with the name we use. Your rules are as they were, and your mail is safe. Please rename them and start the transfer again. Nothing is copied twice.',
  forwardingCredentials:
    'We could not set up forwarding, because the mail server did not accept your password. Your mail is safe. Please contact support with your transfer ID.',
  forwardingRefused:
    'We could not set up forwarding, because the mail server refused it. Your mail is safe, but new mail does not go to your new mailbox yet. Please contact support with your transfer ID.',
  forwardingUnreachable:
    'We could not set up forwarding, because we could not reach the mail server. Your mail is safe, but new mail does not go to your new mailbox yet. Please start the transfer again later. Nothing is copied twice.',
  unexpected:
    'The transfer stopped because of a problem on our side. Nothing was deleted from the mailbox that your mail comes from. Please contact support with your transfer ID.',
  takenBackNoMore:
    'We could not take back the rest of what was copied, because your new mailbox does not let us remove messages one by one. You can delete the messages there yourself.',
  takenBackNot:
    'We could not take back what was copied, because your new mailbox does not let us remove messages one by one. Nothing was removed. You can delete the messages there yourself.',
  takenBackNoSignIn:
    'We could not take back all that was copied, because your new mailbox did not let us sign in. Please try again.',
  takenBackFailed:
    'We could not take back all that was copied, because your new mailbox did not answer as it should. Please try again later.',
  /** `absent`: so many were moved or deleted by others. `archives`: what is removed is in All Mail (Gmail). */
  takenBackLeft: ({ left, absent, unsure, archives }: NotTakenBack) =>
    [
      ...(left === 0 ? [] : [`${counted(left, 'message stays', 'messages stay')} in your new mailbox.`]),
      ...(absent === 0
        ? []
        : [
            `${counted(absent, 'message is', 'messages are')} no longer where we put ${absent === 1 ? 'it' : 'them'}. Somebody has moved or deleted ${absent === 1 ? 'it' : 'them'}.`,
          ]),
      ...(left + absent + unsure === 0
        ? []
        : [
            'We remove only what we are sure that we put there, and what nobody has read, moved or changed since then.',
          ]),
      ...(unsure === 0
        ? []
        : [
            `Up to ${counted(unsure, 'message was on its', 'messages were on their')} way when the transfer ended, and may be there as well.`,
          ]),
      ...(archives
        ? [
            'Gmail keeps the messages that we removed in “All Mail”, unless you have set it to delete them. You can delete them there yourself.',
          ]
        : []),
    ].join(' '),
  differs: ({ lost, duplicated, changed }: Measured, mailboxesLeft: number) =>
    [
      `We compared both mailboxes at the end. In the new one, ${LIST.format([
        ...(lost === 0 ? [] : [counted(lost, 'message is missing', 'messages are missing')]),
        ...(duplicated === 0 ? [] : [counted(duplicated, 'message is there twice', 'messages are there twice')]),
        ...(changed === 0 ? [] : [counted(changed, 'message is not the same', 'messages are not the same')]),
      ])}.`,
      ...leftOut(mailboxesLeft),
      NOTHING_DELETED,
    ].join(' '),
  /** `skipped`: messages that were left out individually; their number is shown beside this. */
  incomplete: ({ unlisted, mailboxesLeft, skipped }: Record<'unlisted' | 'mailboxesLeft' | 'skipped', number>) =>
    [
      ...leftOut(mailboxesLeft),
      ...(skipped > 0 ? [] : [`We copied all the ${mailboxesLeft === 0 ? '' : 'other '}mail that we were given.`]),
      ...(unlisted === 0
        ? []
        : [`The mail server counts ${counted(unlisted, 'more message', 'more messages')} than it gave us.`]),
      NOTHING_DELETED,
    ].join(' '),
} as const;

function leftOut(mailboxes: number): string[] {
  return mailboxes === 0 ? [] : [`We could not copy or check ${counted(mailboxes, 'folder', 'folders')}.`];
}
