import { errorQuery } from '../../src/contract/page-address.ts';
import type { Context } from '../wizard.types.ts';

/** The address names the error that the page shows, so that a reload shows it again. */
export function errorInAddress({ message }: Context): Record<string, string> {
  return message?.about === 'query' ? errorQuery(message.error) : {};
}
