import type { Context } from '../wizard.types.ts';

/** Typing the email of an account, and the password. Beside a guard that holds still what is being verified. */
export const typeEmail = {
  type: 'type',
  params: ({ event }: { event: { readonly email: string } }) => ({ email: event.email.trim().toLowerCase() }),
} as const;

export const typePassword = {
  type: 'type',
  params: ({ event }: { event: { readonly password: string } }) => ({ password: event.password }),
} as const;

/** What signs in to the legacy mailbox, as typed: the input of 'validate the account'. */
export function typedLegacyAccount({ context: { typed } }: { readonly context: Context }) {
  return { email: typed.email, password: typed.password, provider: 'sanbruno' } as const;
}
