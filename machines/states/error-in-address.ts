import { errorQuery } from '../../src/contract/page-address.ts';
import type { Context } from '../wizard.types.ts';

/** Puts the error that the page shows into the address, so that a reload shows it again. */
export function errorInAddress({ message }: Context): Record<string, string> {
  return message?.about === 'query' ? errorQuery(message.error) : {};
}
