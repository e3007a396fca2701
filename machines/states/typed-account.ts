import type { Context } from '../wizard.types.ts';

/** What was typed, without the marks that nobody sees: some programs put them around a number or an address that is copied. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, '');
}

/** A typed address or host, ready to be checked. */
export function asAddress(text: string): string {
  return withoutMarks(text).trim().toLowerCase();
}

/** Typing the email of an account, and the password. Beside a guard that holds still what is being verified. */
export const typeEmail = {
  type: 'type',
  params: ({ event }: { event: { readonly email: string } }) => ({ email: asAddress(event.email) }),
} as const;

export const typePassword = {
  type: 'type',
  params: ({ event }: { event: { readonly password: string } }) => ({ password: event.password }),
} as const;

/** The typed credentials of the legacy mailbox: the input of 'validate the account'. */
export function typedLegacyAccount({ context: { typed } }: { readonly context: Context }) {
  return { email: typed.email, password: typed.password, provider: 'sanbruno' } as const;
}
