import type { ActRefused } from '../../../machines/wizard.types.ts';
import type { CallFailureCode } from '../../contract/failure-code.ts';

type Words = readonly [title: string, ...content: string[]];

/** An act of the owner's that was refused. */
export function actRefusedWords(about: ActRefused, code: CallFailureCode): Words {
  if (code === 'TOO_MANY_ATTEMPTS')
    return ['Too many attempts', 'Your mail is safe. Please wait a few minutes and try again.'];
  // Whether it was done after all nobody can say: a line may break on the way back as well.
  if (code === 'UNEXPECTED_ANSWER' || code === 'UNAVAILABLE')
    return [
      'We have not heard back',
      'Your mail is safe. Please see on this page how your transfer stands. If nothing has changed, try again.',
    ];
  switch (about) {
    case 'stop refused':
      return ['Your transfer was not stopped', 'It is still running, and your mail is safe. Please try again.'];
    case 'mend refused':
      return code === 'INVALID_CREDENTIALS' ? NOT_TAKEN : UNKNOWN;
    case 'take-back refused':
      return code === 'INVALID_CREDENTIALS'
        ? NOT_TAKEN
        : ['Nothing was taken back', 'What was copied is still in your new mailbox. Please try again.'];
    case 'again refused':
      if (code === 'INVALID_CREDENTIALS') return NOT_TAKEN;
      if (code === 'MIGRATION_IN_PROGRESS')
        return [
          'Transfer is already in progress',
          'A transfer of this mailbox is not finished yet, and your mail is safe.',
          'Please check its progress. It may be waiting for you.',
        ];
      return UNKNOWN;
    case 'daily-off refused':
      return ['That did not work', 'We still bring new mail once a day. Please try again.'];
    case 'forwarding refused':
      return code === 'INVALID_CREDENTIALS'
        ? ['Incorrect password', 'Forwarding is still on. Please check the password and try again.']
        : ['Forwarding is still on', 'Your mail is safe. Please try again in a few minutes.'];
  }
}

const NOT_TAKEN: Words = [
  'That did not work',
  'Your mail is safe. Please check that it is the same mailbox and the right password. Then try again.',
];
const UNKNOWN: Words = [
  'That did not work',
  'Your mail is safe. Please try again. If it happens again, contact support.',
];

/** What the page took for so was not so any more. */
export function overtakenWords(code: CallFailureCode): Words {
  return code === 'INVALID_TOKEN'
    ? [
        'Please sign in again',
        'We can no longer tell that this transfer is yours. Press “Show more” below and sign in. Your mail is safe.',
      ]
    : ['Something has changed', 'This was already done, or it is too late for it. Here is the status now.'];
}

/** What an act has brought about. */
export const done = {
  'stop asked': ['Your transfer is stopped', 'What was copied stays where it is. Nothing was deleted.'],
  'download stop asked': ['Your download is stopped', 'There are no files. Your mail is in your mailbox as before.'],
  mended: [
    'We are trying again now',
    "You can close this page. We'll let you know when it is finished, or if we need you.",
  ],
  'take-back asked': ['We are taking your messages back', 'This can take a while. You can close this page.'],
  'daily started': [
    'New mail will come once a day',
    'We look for new mail now, and then once a day. You can turn this off here at any time.',
  ],
  'daily stopped': ['We no longer bring new mail', 'What was copied stays. You can turn it on again at any time.'],
  'forwarding stopped': ['Forwarding is off', 'New mail now stays in the mailbox that it is sent to.'],
} as const;
