import { failedWith, failureOf } from '../../failure.ts';
import type { OauthProvider } from '../../../src/contract/provider.ts';
import { typePassword } from '../typed-account.ts';
import type { ActRefused, AwaitedConsent } from '../../wizard.types.ts';

/** How the transfer stands, or who asks, is not what the page took it for: it asks, and shows what there is. */
const overtaken = {
  guard: failedWith('OPERATION_NOT_ALLOWED', 'INVALID_TOKEN', 'MIGRATION_ID_NOT_FOUND'),
  target: '#status-asking',
} as const;
const sayOvertaken = { type: 'show the message', params: failureOf('act overtaken') } as const;

/** Nobody knows what became of a call whose dialog is closed: the page asks. */
export const closedWhileCalling = {
  'modal.close': { target: '#status-asking', actions: 'forget the sign-in' },
} as const;

/** Whether a call that failed was done all the same may not be known: a page that follows nothing any more looks. */
export const LOOKING = ['look at the page'] as const;
type Looking = typeof LOOKING | readonly [];

/** What becomes of a call that takes no sign-in and fails. */
export function refusedPlainly<const About extends ActRefused, const Looks extends Looking>(
  about: About,
  looks: Looks,
) {
  const said = { type: 'remember the message', params: failureOf(about) } as const;
  const failed = { target: 'refused', actions: [said, ...looks] } as const;
  return { failed, failures: [{ ...overtaken, actions: sayOvertaken }, failed] } as const;
}

/** What becomes of a call that fails with what was typed for it. */
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

/** Typing into a form; the substate that says what is wrong is left. */
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
