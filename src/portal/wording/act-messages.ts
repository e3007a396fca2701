import type { ActRefused } from '../../../machines/wizard.types.ts';
import type { CallFailureCode } from '../../contract/failure-code.ts';

type Words = readonly [title: string, ...content: string[]];

/** An act of the owner's that was refused. */
export function actRefusedWords(about: ActRefused, code: CallFailureCode): Words {
  if (code === 'TOO_MANY_ATTEMPTS')
    return ['Too many attempts', 'Your mail is safe. Please wait a few minutes and try again.'];
  // Whether it was done after all nobody can say: a line may break on the way back as well.
  if (code === 'UNEXPECTED_ANSWER' || code === 'UNAVAILABLE') return ['We have not heard back', SEE_FOR_YOURSELF];
  // Nor where something went wrong at our side, or took too long: it may have been done by then.
  if (code === 'GENERAL_ERROR' && about !== 'forwarding refused') return ['Something went wrong', SEE_FOR_YOURSELF];
  switch (about) {
    case 'stop refused':
    case 'daily-off refused':
      return UNKNOWN;
    case 'mend refused':
    case 'take-back refused':
    case 'again refused':
      if (code === 'INVALID_CREDENTIALS') return NOT_TAKEN;
      if (code === 'MIGRATION_IN_PROGRESS')
        return [
          'Transfer is already in progress',
          'A transfer of this mailbox is not finished yet, and your mail is safe.',
          'Please check its progress. It may be waiting for you.',
        ];
      return UNKNOWN;
    case 'forwarding refused':
      return code === 'INVALID_CREDENTIALS'
        ? ['Incorrect password', 'Forwarding is still on. Please check the password and try again.']
        : [
            'Forwarding may still be on',
            'Your mail is safe. Please try again in a few minutes. If it happens again, contact support.',
          ];
  }
}

const SEE_FOR_YOURSELF =
  'Your mail is safe. Please see on this page how your transfer stands. If nothing has changed, try again.';
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
    : [
        'Something has changed',
        'This was already done, or it is too late for it. Your mail is safe. Here is the status now.',
      ];
}

/** What an act has brought about. */
export const done = {
  'stop asked': ['Your transfer is stopped', 'What was copied stays where it is. Nothing was deleted.'],
  'download stop asked': ['Your download is stopped', 'There are no files. Your mail is in your mailbox as before.'],
  mended: ['We are trying again now', 'You can close this page, and your transfer will keep running.'],
  'take-back asked': ['We are taking your messages back', 'This can take a while. You can close this page.'],
  'daily started': [
    'New mail will come once a day',
    'We look for new mail now, and then once a day. You can turn this off here at any time.',
  ],
  'daily stopped': ['We no longer bring new mail', 'What was copied stays. You can turn it on again here.'],
  'forwarding stopped': ['Forwarding is off', 'New mail now stays in the mailbox that it is sent to.'],
} as const;
