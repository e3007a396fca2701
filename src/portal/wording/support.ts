import { SUPPORT_ISSUE_LENGTH } from '../../contract/support-issue.ts';
import { TRANSFER_ID_LENGTH } from '../../contract/transfer-status.ts';
import { unbroken } from '../wording.ts';
import { fromUs, type Ways } from './where-the-id-is.ts';

export const support = {
  heading: 'Contact support',
  lead: (phone: string) => `Write to us here, or call ${unbroken(phone)}. Your mail is safe while you wait.`,
  legacyEmail: (legacyName: string) => `${legacyName} email`,
  legacyHelp: (legacyName: string) => `The address of your ${legacyName} mailbox.`,
  legacyPlaceholder: (domains: readonly string[]) => domains.map((domain) => `@${domain}`).join(', '),
  contactEmail: 'Contact email',
  contactHelp: "Optional. Where should we reply? If you leave this empty, we'll use the address above.",
  transferId: 'Transfer ID',
  transferHelp: (ways: Ways) => `Optional. The ${TRANSFER_ID_LENGTH} letters and digits ${fromUs(ways)}.`,
  issue: 'Describe your issue',
  issueHelp: `What did you want to do, and what happened? Please use more than ${SUPPORT_ISSUE_LENGTH.longerThan} characters. Please do not send passwords.`,
  errors: {
    legacyEmail: (host: string) => `Please, enter a valid ${host} email address.`,
    contactEmail: 'Please, enter a valid email address.',
    transferId: 'Please, enter a valid transfer ID.',
  },
  incomplete: (host: string) =>
    `To send, fill in your ${host} address and describe your issue in more than ${SUPPORT_ISSUE_LENGTH.longerThan} characters.`,
  /** A subscriber whose address the form does not take. */
  otherDomain: (host: string, phone: string) =>
    `This form only takes ${host} addresses. Please call us at ${unbroken(phone)}. We'll be glad to help.`,
  wrong: 'Please correct what is marked above. Then you can send your message.',
  complete: 'You can send your message now.',
  tried: 'We have not heard that your message arrived. Please send it again, or call us.',
  sent: {
    heading: 'We have your message',
    lead: "We'll reply by email. Your mail is safe while you wait.",
    reference: 'Your reference number',
    referenceHelp: (phone: string) => `If you call us at ${unbroken(phone)}, please tell us this number.`,
    copy: "Please write it down. We'll also try to email it to",
    what: 'What you sent',
    issue: 'Your message',
    print: 'Print this page',
    again: 'Write another message',
  },
  submit: 'Send',
  busy: 'Sending…',
} as const;
