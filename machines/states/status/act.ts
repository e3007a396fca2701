import { failedWith, failureOf } from '../../failure.ts';
import type { OauthProvider } from '../../../src/contract/provider.ts';
import { typePassword } from '../typed-account.ts';
import type { ActRefused, AwaitedConsent } from '../../wizard.types.ts';

/** The transfer's status, or the visitor's permission, is not what the page assumed: it is requested again and shown. */
const overtaken = {
  guard: failedWith('OPERATION_NOT_ALLOWED', 'INVALID_TOKEN', 'MIGRATION_ID_NOT_FOUND'),
  target: '#status-asking',
} as const;
const sayOvertaken = { type: 'show the message', params: failureOf('act overtaken') } as const;

/** The outcome of a call is unknown once its dialog is closed, so the status is requested. */
export const closedWhileCalling = {
  'modal.close': { target: '#status-asking', actions: 'forget the sign-in' },
} as const;

/** A call that failed may have been executed all the same: a page that no longer follows the status requests it. */
export const LOOKING = ['look at the page'] as const;
type Looking = typeof LOOKING | readonly [];

/** Handles the failure of a call without a sign-in. */
export function refusedPlainly<const About extends ActRefused, const Looks extends Looking>(
  about: About,
  looks: Looks,
) {
  const said = { type: 'remember the message', params: failureOf(about) } as const;
  const failed = { target: 'refused', actions: [said, ...looks] } as const;
  return { failed, failures: [{ ...overtaken, actions: sayOvertaken }, failed] } as const;
}

/** Handles the failure of a call with typed credentials. */
export function refusedAt<const Target extends string, const About extends ActRefused, const Looks extends Looking>(
  target: Target,
  about: About,
  looks: Looks,
) {
  const said = { type: 'remember the message', params: failureOf(about) } as const;
  const failed = { target, actions: [said, 'forget the typed passwords', ...looks] } as const;
  return {
    failed,
    failures: [{ ...overtaken, actions: ['forget the sign-in', sayOvertaken] }, failed],
    /** Before those, where its owner may have signed in elsewhere: what was refused is not tried twice. */
    unproven: { guard: failedWith('INVALID_CREDENTIALS'), target, actions: [said, 'forget the sign-in'] },
  } as const;
}

/** Typing into a form leaves the substate that shows an error. */
export const typing = {
  'password.type': {
    target: '.editing',
    actions: typePassword,
  },
} as const;

/** The substates of a form that asks for a password. */
export function passwordForm<const Id extends string>(refused: Id) {
  return { editing: {}, passwordMissing: {}, refused: { id: refused, exit: 'forget the message' } } as const;
}

/** Leaves for a sign-in at the destination's provider, which leads back to this act of this transfer. */
export function seekingConsent<const Purpose extends AwaitedConsent['purpose'], const Guard extends string>(
  purpose: Purpose,
  guard: Guard,
) {
  return {
    'consent.seek': {
      guard,
      target: '#leaving-for-act',
      actions: {
        type: 'remember what the consent is for',
        params: ({ event: { provider } }: { event: { readonly provider: OauthProvider } }) => ({ purpose, provider }),
      },
    },
  } as const;
}
