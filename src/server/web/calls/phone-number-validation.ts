import { parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { phoneNumberValidation } from '../../../contract/calls/phone-number-validation.ts';
import { route } from './route.ts';

const TYPES: ReadonlySet<string | undefined> = new Set(['FIXED_LINE', 'MOBILE', 'FIXED_LINE_OR_MOBILE']);

export const answerPhoneNumberValidation = route(phoneNumberValidation, 'calls by a client', async ({ query }) => ({
  valid: isUsPhone(query.number),
}));

/** Whether this is a US number that can reach a person: not a toll-free, premium-rate or extension number. */
export function isUsPhone(text: string): boolean {
  const number = parsePhoneNumberFromString(text, { defaultCountry: 'US', extract: false });
  return (
    number !== undefined &&
    number.country === 'US' &&
    number.ext === undefined &&
    number.isValid() &&
    TYPES.has(number.getType())
  );
}
