import type { Context } from '../wizard.types.ts';

/** The text without invisible characters, which some programs put around a copied number or address. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, '');
}

/** A typed address or host, ready to be checked. */
export function asAddress(text: string): string {
  return withoutMarks(text).trim().toLowerCase();
}

/** Actions for typing an account's email and password. Use them with a guard against changes during verification. */
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
