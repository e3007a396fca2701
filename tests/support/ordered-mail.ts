import type { Sql } from '../../src/server/store/database.ts';
import { insertTransfer } from '../../src/server/transfers/transfer.ts';

/** Puts a transfer of mail into the database, as if it had just been ordered. @returns its ID, made of the number */
export async function orderedMail(
  database: Sql,
  number: number,
  sourceEmail = `a${number}@b.example`,
): Promise<string> {
  const id = `${number}`.padStart(32, '0');
  await insertTransfer(
    database,
    {
      id,
      sourceEmail,
      sourceProvider: 'sanbruno',
      destinationEmail: 'c@d.example',
      destinationProvider: 'yahoo',
      operations: ['emailmigration'],
      inQa: false,
    },
    'key',
  );
  return id;
}
