import type { Message } from '../../../machines/wizard.types.ts';
import type { CallFailureCode, QueryError } from '../../contract/failure-code.ts';
import { providerName } from './provider-name.ts';
import { actRefusedWords, done, overtakenWords } from './act-messages.ts';
import { fieldErrors } from './field-errors.ts';

/** A message's kind and words, a paragraph for each string of `content`. */
export type MessageWords = {
  readonly kind: 'error' | 'success' | 'warning' | 'info';
  readonly title: string;
  readonly content: readonly string[];
  /** The message points to the destination's mail site. */
  readonly toMail?: string;
};

/** A transfer of the same mailbox that is there already. */
export const transferInTheWay = {
  running: {
    text: 'Your other transfer is not finished yet. You can see how far along it is, and if it needs you.',
    open: 'Check progress',
  },
  completed: { text: 'You can look at the transfer that brought your mail to Yahoo Mail.', open: 'See its status' },
} as const;

const SAFE = 'Your mail is safe: nothing was moved or deleted.';
/** In place of that where there are transfers already. */
const NOT_AFFECTED = 'Your mail is safe, and your transfer is not affected.';
const AGAIN = 'If it happens again, please contact support.';
/** Who is signed out has not given that up. */
const STILL_OPENS =
  'A browser can still open the transfers that were started in it. On a shared computer, clear its cookies.';

export function messageWords(message: Message, legacyName: string): MessageWords {
  switch (message.about) {
    case 'query':
      return error(...queryWords(message.error, legacyName));
    case 'sign-in refused':
      return error(...signInWords(message.code));
    case 'account creation':
      return accountWords(message.code);
    case 'load failed':
      return error(...loadWords(message.code));
    case 'too many downloads':
      return error(
        'Your download has not started',
        'There are too many downloads of this mailbox already.',
        `${SAFE} Please delete one of them on its status page, or wait until we delete it.`,
      );
    case 'sign-in elsewhere ended':
      return error(...signInEndedWords(providerName(message.provider, legacyName)));
    case 'source sign-in ended':
      return error(...sourceSignInEndedWords(legacyName));
    case 'support sent':
      return {
        kind: 'success',
        title: 'Your message has been sent successfully.',
        content: ["We'll reply by email."],
      };
    case 'support failed':
      return error(
        'There was an error submitting your message, please try again later.',
        'What you wrote is still here. Your mail is safe.',
      );
    case 'not the owner':
      return error(
        'This transfer belongs to another mailbox',
        `You are signed in, but not to the ${legacyName} mailbox that this transfer reads.`,
        'Please sign in with the address that your mail is moved from.',
      );
    case 'signed out':
      return {
        kind: 'success',
        title: 'You are signed out',
        content: ['Your mail is safe. A transfer that has already started keeps running.', STILL_OPENS],
      };
    case 'signed out everywhere':
      return {
        kind: 'success',
        title: 'You are signed out everywhere',
        content: [
          'Every browser has to sign in again. A transfer that has already started keeps running.',
          STILL_OPENS,
        ],
      };
    case 'signed out in another tab':
      return {
        kind: 'success',
        title: 'This page is signed out',
        content: [
          'You signed out in another tab. Your mail is safe. A transfer that has already started keeps running.',
          STILL_OPENS,
        ],
      };
    case 'sign-out unfinished':
      return {
        kind: 'warning',
        title: "We couldn't finish signing you out",
        content: [
          'This page has forgotten your sign-in, but we could not tell our server. There it ends by itself within a day.',
          'To end it sooner, sign in here again and press “Sign out”.',
        ],
      };
    case 'start unknown':
      return {
        kind: 'warning',
        title: 'Please start once more',
        content: [
          `This page does not know which ${legacyName} mailbox you began with. Your mail is safe.`,
          'If your first tab is still open, go on there. If not, press “Start”.',
          'If you end up here again, use another browser or ask support.',
        ],
      };
    case 'stop asked':
    case 'download stop asked':
    case 'mended':
    case 'take-back asked':
    case 'forwarding stopped':
    case 'daily started':
    case 'daily stopped': {
      const [title, ...content] = done[message.about];
      return { kind: 'success', title, content };
    }
    case 'stop refused':
    case 'mend refused':
    case 'take-back refused':
    case 'again refused':
    case 'forwarding refused':
    case 'daily-off refused':
      return error(...actRefusedWords(message.about, message.code));
    case 'source refused':
      return error(
        `Incorrect ${legacyName} password`,
        `Nothing was started, and your mail is safe. Please type your ${legacyName} password again.`,
      );
    case 'destination refused':
      return error(
        "We couldn't sign in to your new mailbox",
        'Nothing was started, and your mail is safe. Please sign in to your new mailbox again.',
      );
    case 'act overtaken': {
      const [title, ...content] = overtakenWords(message.code);
      // What came too late is no error.
      return { kind: message.code === 'INVALID_TOKEN' ? 'error' : 'info', title, content };
    }
    case 'export deletion failed':
      return error(
        'The files could not be deleted',
        'They may still be there. Your mail is safe. Please try again.',
        'If you do nothing, we delete them on the date shown.',
      );
  }
}

/** The words of a message beside transfers that were ordered before: something may well have been moved. */
export function wordsBesideTransfers(message: Message, legacyName: string): MessageWords {
  const words = messageWords(message, legacyName);
  return { ...words, content: words.content.map((text) => text.replace(SAFE, NOT_AFFECTED)) };
}

/** On Home a refused sign-in has one more reason: the account has moved already. */
export function homeSignInWords(code: CallFailureCode): MessageWords {
  const [title, ...content] = signInWords(code);
  const moved = "If you have already moved to Yahoo, you won't be able to sign in here. Please, go to Yahoo mail.";
  return code === 'INVALID_CREDENTIALS'
    ? { ...error(title, 'Incorrect email or password.', moved), toMail: 'Go to Yahoo mail' }
    : error(title, ...content);
}

function error(title: string, ...content: readonly string[]): MessageWords {
  return { kind: 'error', title, content };
}

type Words = readonly [title: string, ...content: string[]];

function queryWords(code: QueryError, legacyName: string): Words {
  switch (code) {
    case 'INVALID_EMAIL':
      return ['Invalid email', `Please, use your ${legacyName} credentials to login into Yahoo.`, SAFE];
    case 'EXTERNAL_OAUTH_ERROR':
      return [
        'Authentication error',
        'An external authentication error has happened. Please, try again.',
        `If you came back without agreeing, that is fine. ${SAFE}`,
      ];
    case 'UNSUPPORTED_PROVIDER':
    case 'PROVIDER_NOT_SUPPORTED':
      return ['Provider not supported', 'This provider is not supported.', `${SAFE} Please choose another one.`];
    case 'MISSING_SCOPE':
      return ['Missing requested scope', 'Please, select all the requested permissions while authenticating.', SAFE];
    case 'ADDRESS_NOT_VERIFIED':
      return [
        "We can't use this account",
        'Microsoft has not confirmed that its email address is yours.',
        `${SAFE} Some work and school accounts don't work here. Please choose a personal account or another provider.`,
      ];
    case 'OTHER':
      return ['Unknown error', 'Unknown error during the authentication process, please try again.', SAFE];
  }
}

function signInWords(code: CallFailureCode): Words {
  switch (code) {
    case 'INVALID_CREDENTIALS':
      return ['Incorrect credentials', 'Incorrect email or password.', `${SAFE} Please check both and try again.`];
    case 'INVALID_EMAIL':
      return ['Invalid email', fieldErrors.email, SAFE];
    case 'INVALID_IMAP':
      return ['Invalid IMAP Server', 'Invalid IMAP. Please enter a valid IMAP address.', SAFE];
    case 'PROVIDER_NOT_SUPPORTED':
    case 'UNSUPPORTED_PROVIDER':
      return ['Unsupported Provider', 'This provider is not supported.', `${SAFE} Please choose another one.`];
    case 'TOO_MANY_ATTEMPTS':
      return ['Too many attempts', `${SAFE} Please wait a few minutes and try again.`];
    case 'OPERATION_NOT_ALLOWED':
    case 'INVALID_TOKEN':
    case 'MIGRATION_IN_PROGRESS':
    case 'MIGRATION_ID_NOT_FOUND':
    case 'ACCOUNT_ALREADY_CREATED':
    case 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS':
    case 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED':
    case 'EXTERNAL_OAUTH_ERROR':
    case 'MISSING_SCOPE':
    case 'GENERAL_ERROR':
    case 'UNAVAILABLE':
    case 'UNEXPECTED_ANSWER':
      return ['We could not sign you in', 'Unknown error, please try again.', `${SAFE} ${AGAIN}`];
  }
}

const SETUP_FAILED = [
  'An error has happened while setting up your Yahoo account',
  'Please, try again later or contact support.',
] as const;
/** After a day, or a sign-out everywhere, no other try is of use. */
const SIGN_IN_AGAIN = 'Your sign-in may have ended. Please go to Home and sign in again.';

function accountWords(code: CallFailureCode): MessageWords {
  switch (code) {
    case 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS':
      return {
        kind: 'warning',
        title: 'Transfer is already in progress',
        content: ["You have already started a transfer to Yahoo. Please, wait until it's completed."],
      };
    case 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED':
      return {
        kind: 'info',
        title: 'Transfer is already completed',
        content: ['Your mail is at Yahoo Mail. Please sign in there.'],
        toMail: 'Go to Yahoo mail',
      };
    case 'ACCOUNT_ALREADY_CREATED':
    case 'INVALID_EMAIL':
    case 'INVALID_CREDENTIALS':
    case 'INVALID_IMAP':
    case 'PROVIDER_NOT_SUPPORTED':
    case 'UNSUPPORTED_PROVIDER':
    case 'OPERATION_NOT_ALLOWED':
    case 'MIGRATION_IN_PROGRESS':
    case 'MIGRATION_ID_NOT_FOUND':
    case 'TOO_MANY_ATTEMPTS':
    case 'EXTERNAL_OAUTH_ERROR':
    case 'MISSING_SCOPE':
    case 'GENERAL_ERROR':
    case 'UNAVAILABLE':
    case 'UNEXPECTED_ANSWER':
      return error(...SETUP_FAILED, SAFE);
    case 'INVALID_TOKEN':
      return error(...SETUP_FAILED, SIGN_IN_AGAIN, SAFE);
  }
}

function signInEndedWords(provider: string): Words {
  return [
    'Your transfer has not started',
    'Unknown error, please try again.',
    `Your sign-in at ${provider} may have ended. Please go back and sign in at ${provider} again.`,
    SAFE,
  ];
}

function sourceSignInEndedWords(legacyName: string): Words {
  return [
    'Your transfer has not started',
    'Unknown error, please try again.',
    `Your ${legacyName} mailbox stopped accepting our sign-in. Please go to Home and sign in again.`,
    SAFE,
  ];
}

/** The answer to this try or to one before it may have been lost. */
const PERHAPS_STARTED = [
  'Unknown error, please try again.',
  'Your mail is safe. If your transfer has started, trying again does no harm.',
];

function loadWords(code: CallFailureCode): Words {
  switch (code) {
    case 'OPERATION_NOT_ALLOWED':
      return [
        'Your transfer has not started',
        "Operation 'contactsmigration' not allowed.",
        `${SAFE} Please contact support.`,
      ];
    case 'MIGRATION_IN_PROGRESS':
      return [
        'Transfer is already in progress',
        'A transfer of this mailbox is not finished yet. We did not start a second one, and your mail is safe.',
        'Please check its progress. It may be waiting for you.',
      ];
    case 'INVALID_CREDENTIALS':
      return [
        'Your transfer has not started',
        'Incorrect email or password.',
        `${SAFE} Please go back and sign in again.`,
      ];
    // The announcement of the move: the session that it needs ends after a day, and trying again brings none.
    case 'INVALID_TOKEN':
      return ['Your transfer has not started', 'Unknown error, please try again.', SIGN_IN_AGAIN, SAFE];
    case 'TOO_MANY_ATTEMPTS':
      return [
        'Your transfer has not started',
        'Unknown error, please try again.',
        'There were too many attempts. Please wait a few minutes before you try again.',
        SAFE,
      ];
    case 'INVALID_EMAIL':
    case 'INVALID_IMAP':
    case 'PROVIDER_NOT_SUPPORTED':
    case 'UNSUPPORTED_PROVIDER':
    case 'MIGRATION_ID_NOT_FOUND':
    case 'ACCOUNT_ALREADY_CREATED':
    case 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS':
    case 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED':
    case 'EXTERNAL_OAUTH_ERROR':
    case 'MISSING_SCOPE':
      return ['Your transfer has not started', 'Unknown error, please try again.', `${SAFE} ${AGAIN}`];
    case 'GENERAL_ERROR':
    case 'UNAVAILABLE':
      return ['Something went wrong', ...PERHAPS_STARTED];
    case 'UNEXPECTED_ANSWER':
      return ['We have not heard back', ...PERHAPS_STARTED];
  }
}
