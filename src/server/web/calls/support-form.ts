import { supportForm } from '../../../contract/calls/support-form.ts';
import { isAtDomain, isEmail } from '../../../contract/email-address.ts';
import { supportReference } from '../../../contract/support-reference.ts';
import { openLetters } from '../../notifications/letters.ts';
import { supportCopyOf } from '../../notifications/support-copy.ts';
import { senderOf } from '../../notifications/wording.ts';
import { widerNetwork } from '../client-address.ts';
import { likenessOf } from '../likeness.ts';
import { tooMany } from '../limits.ts';
import { hasProven } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import type { Visit } from '../visit.ts';
import { route } from './route.ts';

const SILENCE_MS = 10_000;
const LETTER_WITHIN_MS = 20_000;
/** How long both letters may take together: less than the page waits before it says that sending failed. */
const BOTH_WITHIN_MS = 25_000;
/** The same text within an hour gets the same Message-ID, so that mail servers and support desks drop duplicates. */
const SAME_MESSAGE_MS = 3_600_000;

type Writing = Pick<Web, 'settings' | 'limits' | 'log' | 'owners' | 'sessions' | 'now'>;

/**
 * Sends a letter to the operator and a copy to the writer, which omits their text if the address may be a stranger's.
 * The visitor's input goes into the text and, validated as an address, into Reply-To; the envelope is the operator's
 * own.
 */
export const answerSupportForm = route(
  supportForm,
  'calls by a client',
  async ({ body }, { settings, limits, log, now, ...guard }: Writing, visit) => {
    const { smtpUrl, mailFrom, supportEmail, supportPhone, legacyName, legacyDomains, publicUrl } = settings;
    const [cableDomain = ''] = legacyDomains;
    if (!isAtDomain(body.emailAddress, [cableDomain]))
      throw new Refusal(400, 'INVALID_EMAIL', `Please, enter a valid ${cableDomain} email address.`);
    if (smtpUrl === undefined || mailFrom === undefined || supportEmail === undefined) throw notSent();
    // Only what could be sent counts as a message.
    await limits.take('support messages by a client', visit.client);
    const isOwner = await hasProven(guard, visit, { mailbox: body.emailAddress, transferId: body.migrationId });
    if (isOwner) await limits.take('support messages about a mailbox by its owner', likenessOf(body.emailAddress));
    else await limitStranger(limits, body.emailAddress, visit);
    const replyTo = body.destinationEmail ?? body.emailAddress;
    const reference = supportReference(body);
    const over = AbortSignal.timeout(BOTH_WITHIN_MS);
    using letters = openLetters({
      url: smtpUrl,
      inClear: settings.smtpInClear,
      silence: SILENCE_MS,
      letterWithin: LETTER_WITHIN_MS,
      timeout: (milliseconds) => AbortSignal.any([AbortSignal.timeout(milliseconds), over]),
    });
    try {
      await letters.send({
        from: senderOf(mailFrom, legacyName),
        to: supportEmail,
        ...(isEmail(replyTo) ? { replyTo: { name: '', address: replyTo } } : {}),
        subject: `${legacyName} transfer: a subscriber asks for help (${reference})`,
        text: [
          `Reference number: ${reference}`,
          `${legacyName} email: ${body.emailAddress}`,
          `Contact email: ${body.destinationEmail ?? 'not given'}`,
          `Transfer ID: ${body.migrationId ?? 'not given'}`,
          '',
          body.issue,
          '',
        ].join('\n'),
        // If the answer was lost, the visitor was told that it was not sent, and will send it again.
        messageId: `<support.${reference}.${Math.floor(now() / SAME_MESSAGE_MS)}@${new URL(publicUrl).hostname}>`,
      });
    } catch (error) {
      log.error({ err: error }, 'a support message could not be sent: can SMTP_URL be used?');
      throw notSent(error);
    }
    try {
      // The address may be somebody else's.
      await limits.take(
        isOwner ? 'copies of support messages to an address' : 'answers to support messages of strangers to an address',
        likenessOf(replyTo),
      );
      await letters.send({
        from: senderOf(mailFrom, legacyName),
        to: { name: '', address: replyTo },
        ...supportCopyOf({ request: isOwner ? body : null, reference, legacyName, supportPhone }),
        headers: { 'Auto-Submitted': 'auto-replied' },
      });
    } catch (error) {
      // Support has the message, so its writer must not be told that sending failed.
      log.warn({ err: error }, 'the copy of a support message was not sent');
    }
    return { ok: true };
  },
);

/** All or none: whoever is refused must not use up what others need. @throws {Refusal} 429 */
async function limitStranger(limits: Writing['limits'], mailbox: string, { client }: Visit): Promise<void> {
  const ahead = await limits.takeAll([
    ['support messages of strangers from a neighbourhood', widerNetwork(client)],
    ['support messages about a mailbox', likenessOf(mailbox)],
    ['support messages', 'all'],
  ]);
  if (ahead > 0) throw tooMany(ahead);
}

function notSent(cause?: unknown): Refusal {
  return new Refusal(502, 'GENERAL_ERROR', 'There was an error submitting your message, please try again later.', {
    cause,
  });
}
