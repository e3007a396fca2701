import type { SupportRequest } from '../../contract/calls/support-form.ts';
import { senderName } from './wording.ts';

type Copied = {
  /** `null` if the writer has not proven the address: it may be a stranger's, who must not get the text. */
  readonly request: SupportRequest | null;
  readonly reference: string;
  readonly legacyName: string;
  readonly supportPhone: string;
};

/** The confirmation of a support message: that it arrived, its number, and, for proven addresses, the text. */
export function supportCopyOf({ request, reference, legacyName, supportPhone }: Copied): {
  readonly subject: string;
  readonly text: string;
} {
  const phone = supportPhone.replaceAll(' ', '\u00a0');
  return {
    subject: `We got your message to ${legacyName} support (${reference})`,
    text: [
      `We got your message. We'll reply by email. Your mail is safe while you wait.`,
      [
        `Reference number: ${reference}`,
        ...(request === null ? [] : [`${legacyName} email: ${request.emailAddress}`]),
        ...(request?.migrationId === undefined ? [] : [`Transfer ID: ${request.migrationId}`]),
      ].join('\n'),
      ...(request === null ? [] : ['This is what you wrote:', quoted(request.issue)]),
      `Do you need us sooner? Call us at ${phone} and tell us the reference number.`,
      'We never ask for your password by email, text message or phone.',
      `${senderName(legacyName)}\nYou're getting this because someone gave this address when they wrote to us. If it was not you, you can ignore this email.`,
      '',
    ].join('\n\n'),
  };
}

/** Quoted in the way of mail programs. */
function quoted(text: string): string {
  return text
    .split(/\r\n|[\n\r]/)
    .map((line) => `> ${line}`)
    .join('\n');
}
