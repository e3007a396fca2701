import type { Operation } from '../src/contract/operation.ts';
import type { Context } from './wizard.types.ts';

/** What the visitor is doing: the primary move to Yahoo, a transfer to another provider, or a download as files. */
export type Mode = 'move' | 'transfer' | 'download';

export function modeOf(context: Pick<Context, 'destination' | 'checkSanBrunoOnOauthCallback'>): Mode {
  if (context.destination?.provider === 'file_export') return 'download';
  return context.checkSanBrunoOnOauthCallback ? 'move' : 'transfer';
}

/**
 * The operations of the order: mail, and contacts unless one of the ends is known not to support them; an export always
 * asks for both.
 */
export function operationsOf(context: Context): Operation[] {
  if (modeOf(context) === 'download') return ['emailmigration', 'contactsmigration'];
  const contacts = context.allowContactsMigration && (context.operations?.includes('contactsmigration') ?? true);
  return contacts ? ['emailmigration', 'contactsmigration'] : ['emailmigration'];
}

/** Contacts were not permitted at the provider's sign-in, and a new sign-in could permit them. */
export function contactsWereLeftOut(context: Context): boolean {
  const { destination, allowContactsMigration, operations } = context;
  return (
    destination?.tokenId !== undefined && !allowContactsMigration && (operations?.includes('contactsmigration') ?? true)
  );
}
