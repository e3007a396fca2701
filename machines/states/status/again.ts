import type { Side } from '../../../src/contract/calls/resume.ts';
import { refusedBy } from '../../failure.ts';
import { wizard } from '../../wizard.setup.ts';
import { waiting } from '../waiting.ts';
import { closedWhileCalling, LOOKING, passwordForm, refusedAt, seekingConsent, typing } from './act.ts';

/** A message, because the new transfer's page looks like the one before. */
const sayDaily = { type: 'show the message', params: { message: { about: 'daily started' } } } as const;

/**
 * A new transfer between the same mailboxes, once for what came since, or from now on once a day. Both mailboxes have
 * to be signed in to again.
 */
function copying<const Purpose extends 'again' | 'daily'>(purpose: Purpose) {
  const refused = `status-${purpose}-refused` as const;
  const { failed, failures, unproven } = refusedAt(`#${refused}`, 'again refused', LOOKING);
  /** One mailbox refused its sign-in. Only that one is forgotten; the other sign-in is still valid. */
  const refusedAtSide = <const Wanted extends Side, const Forget extends string>(side: Wanted, forget: Forget) =>
    ({
      guard: refusedBy(side),
      target: `#${refused}`,
      actions: [{ type: 'remember the message', params: { message: { about: `${side} refused` } } }, forget],
    }) as const;
  return wizard.createStateConfig({
    initial: 'asking',
    states: {
      asking: {
        id: `status-${purpose}`,
        initial: 'editing',
        on: {
          ...typing,
          ...seekingConsent(purpose, 'the sign-in elsewhere comes first'),
          'destination-password.type': {
            target: '.editing',
            actions: { type: 'type', params: ({ event }) => ({ destinationPassword: event.password }) },
          },
          'act.submit': [
            { guard: 'the sign-in elsewhere comes first' },
            { guard: 'the password is empty', target: '.passwordMissing' },
            { guard: 'the destination password is missing', target: '.destinationPasswordMissing' },
            { target: 'calling' },
          ],
        },
        states: { ...passwordForm(refused), destinationPasswordMissing: {} },
      },
      calling: {
        ...waiting(failed),
        on: closedWhileCalling,
        invoke: {
          src: 'copy what is new',
          input: ({ context: { transferId, typed, tokenId } }) => ({
            id: transferId ?? '',
            password: typed.password,
            ...(typed.destinationPassword === '' ? {} : { destinationPassword: typed.destinationPassword }),
            ...(tokenId === null ? {} : { tokenId }),
            ...(purpose === 'daily' ? { daily: true } : {}),
          }),
          onDone: {
            target: '#status',
            actions: [
              'forget the sign-in',
              { type: 'remember the next transfer', params: ({ event }) => ({ id: event.output.jobid }) },
              ...(purpose === 'daily' ? [sayDaily] : []),
            ],
          },
          onError: [
            refusedAtSide('source', 'forget the typed password'),
            refusedAtSide('destination', 'forget the sign-in at the destination'),
            unproven,
            ...failures,
          ],
        },
      },
    },
  });
}

export const again = copying('again');
export const daily = copying('daily');
