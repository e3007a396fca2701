import type { Measured } from '../transfers/operations.ts';

/** What a subscriber is told when an operation did not end well: what happened, that the mail is safe, what to do. */
export const SENTENCES = {
  sourceCredentials:
    'Your current mailbox no longer accepts the password that you gave. Nothing was deleted there. Please start the transfer again with the right password; what has been copied is not copied twice.',
  destinationCredentials:
    'Your new mailbox no longer accepts the sign-in that you gave. Nothing was deleted in your current mailbox. Please start the transfer again and sign in anew.',
  full: 'Your new mailbox is full. Nothing was deleted in your current mailbox. Please make room in the new one and start the transfer again.',
  sourceUnreachable:
    'Your current mailbox could not be reached for a long time. Nothing was deleted there. Please start the transfer again later.',
  destinationUnreachable:
    'Your new mailbox could not be reached for a long time. Nothing was deleted in your current mailbox. Please start the transfer again later.',
  unreachable:
    'The mail servers could not be reached for a long time. Nothing was deleted in your current mailbox. Please start the transfer again later.',
  certificate:
    'The mail server could not prove that it is the right one, so nothing more was sent to it. Nothing was deleted in your current mailbox. Please contact support.',
  refused:
    'A mail server refused to go on. Nothing was deleted in your current mailbox. Please contact support with your transfer ID.',
  setAside:
    'The transfer was stopped, because it needs more of our machine than any other. Nothing was deleted in your current mailbox. We look into it; please contact support with your transfer ID.',
  contactsRefused:
    'The new address book refused to take your contacts. Nothing was deleted in your current one. Please contact support with your transfer ID.',
  contactsFull:
    'Your new address book is full. Nothing was deleted in your San Bruno mailbox. Please make room in the new one and start the transfer again; what has been copied is not copied twice.',
  contactsDiffer:
    'Some contacts are missing from your new address book, or are there twice. Nothing was deleted in your San Bruno mailbox. Please contact support with your transfer ID.',
  contactsUnreadable:
    'Your address book could not be read, so the export has no contacts. Nothing was deleted there. Please contact support with your transfer ID.',
  exportWithoutMail:
    'Your mail could not be exported, so there is no file. Nothing was deleted in your mailbox. Please start the export again.',
  forwardingWithoutMail:
    'Forwarding was not set up, because your mail has not been copied completely. Nothing was deleted in your current mailbox. Please start the transfer again.',
  forwardingNotOffered:
    'Forwarding was not set up: your current mailbox does not offer it. The mail that you had is in your new mailbox; new mail still comes to the current one. Please give your new address to those who write to you.',
  forwardingBesideRules:
    'Forwarding was not set up: your current mailbox has mail rules, and its server can not keep them beside the forwarding. The rules are as they were, and the mail that you had is in your new mailbox. Please add a rule that forwards your mail there.',
  forwardingNameTaken:
    'Forwarding was not set up: your current mailbox has mail rules of the name that we would use. They are as they were, and the mail that you had is in your new mailbox. Please give them another name and start the transfer again; what has been copied is not copied twice.',
  forwardingCredentials:
    'Forwarding was not set up: your current mailbox did not accept your password for it. The mail that you had is in your new mailbox. Please contact support with your transfer ID.',
  forwardingRefused:
    'Forwarding was not set up: the server of your current mailbox refused it. The mail that you had is in your new mailbox; new mail still comes to the current one. Please contact support with your transfer ID.',
  forwardingUnreachable:
    'Forwarding was not set up: the server of your current mailbox could not be reached for it. The mail that you had is in your new mailbox; new mail still comes to the current one. Please start the transfer again later; what has been copied is not copied twice.',
  exportPaused:
    'The export is paused: there is no room for it on our side at the moment. Your mail is safe in your mailbox. You need not do anything; the export goes on by itself.',
  unexpected:
    'The transfer stopped because of a fault on our side. Nothing was deleted in your current mailbox. Please contact support with your transfer ID.',
  differs: ({ lost, duplicated, changed }: Measured) =>
    `The final comparison of both mailboxes found ${lost} messages missing, ${duplicated} there twice and ${changed} that differ. Nothing was deleted in your current mailbox. Please contact support with your transfer ID.`,
  incomplete: ({ unlisted, mailboxesLeft }: { readonly unlisted: number; readonly mailboxesLeft: number }) =>
    `All that your current mailbox gives out has been copied. It counts ${unlisted} more messages that it does not give out, and ${mailboxesLeft} folders could not be copied. Nothing was deleted there. Please contact support with your transfer ID.`,
} as const;
