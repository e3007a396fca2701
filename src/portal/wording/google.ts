export const googleTerms = {
  heading: 'Before you go to Google',
  lead: 'Google asks us to tell you what we do with the access that you give us.',
  title: "Our privacy statement for Google's services",
  statements: (legacyName: string) => [
    `We ask Google for two permissions: to add email to your Gmail mailbox, and to add contacts to your Google Contacts. We use them only to put your ${legacyName} mail and contacts there.`,
    'We do not read, change or delete what you already have in your Google account.',
    'We keep the access encrypted while your transfer runs, and erase it when the transfer ends. You can take it back at any time in your Google account, under "Security".',
    'Our use of information received from Google APIs adheres to the Google API Services User Data Policy, including the Limited Use requirements. We do not sell it, use it for advertising, or give it to anyone else.',
  ],
  accept: 'Accept',
} as const;

export const emailScopes = {
  heading: 'We need both permissions',
  lead: 'Google let you sign in, but not all the boxes were ticked. Nothing has moved yet, and your mail is safe.',
  title: "On Google's page, please tick both boxes",
  scopes: ['Add emails to your Gmail mailbox', 'See, edit, download, and delete your contacts'],
  why: 'Without the first we cannot put your messages into Gmail, without the second we cannot add your contacts. We delete nothing.',
  todo: 'Press "Next", choose Gmail again, and tick both boxes.',
  next: 'Next',
} as const;
