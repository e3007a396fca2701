import * as v from 'valibot';

export const EMAIL_FORMATS = ['eml', 'mbox', 'pst'] as const;
export const EmailFormat = v.picklist(EMAIL_FORMATS);
export type EmailFormat = v.InferOutput<typeof EmailFormat>;

export const CONTACTS_FORMATS = ['csv', 'vcf', 'pst'] as const;
export const ContactsFormat = v.picklist(CONTACTS_FORMATS);
export type ContactsFormat = v.InferOutput<typeof ContactsFormat>;
