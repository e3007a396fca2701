import type { Operation } from '../src/contract/operation.ts';
import type { Context } from './wizard.types.ts';

/** What the visitor is doing: the primary move to Yahoo, a transfer to another provider, or a download as files. */
export type Mode = 'move' | 'transfer' | 'download';

export function modeOf(context: Pick<Context, 'destination' | 'checkSanBrunoOnOauthCallback'>): Mode {
  if (context.destination?.provider === 'file_export') return 'download';
  return context.checkSanBrunoOnOauthCallback ? 'move' : 'transfer';
}

/** What the job is asked for: mail, and contacts where both ends can; an export always asks for both. */
export function operationsOf(context: Context): Operation[] {
  if (modeOf(context) === 'download') return ['emailmigration', 'contactsmigration'];
  const contacts = context.allowContactsMigration && (context.operations?.includes('contactsmigration') ?? false);
  return contacts ? ['emailmigration', 'contactsmigration'] : ['emailmigration'];
}

/** The person did not permit contacts at the provider's sign-in, and could do so there after all. */
export function contactsWereLeftOut(context: Context): boolean {
  const { destination, allowContactsMigration, operations } = context;
  return (
    destination?.tokenId !== undefined &&
    !allowContactsMigration &&
    (operations?.includes('contactsmigration') ?? false)
  );
}
