import * as v from 'valibot';

const OPERATIONS = ['emailmigration', 'contactsmigration', 'emailforwarding'] as const;
export const Operation = v.picklist(OPERATIONS);
export type Operation = v.InferOutput<typeof Operation>;

/** Forwarding only makes sense along with moving the mail, so it implies `emailmigration`. */
export function impliedOperations(operations: readonly Operation[]): Operation[] {
  const wanted = new Set(operations);
  if (wanted.has('emailforwarding')) wanted.add('emailmigration');
  return OPERATIONS.filter((operation) => wanted.has(operation));
}
