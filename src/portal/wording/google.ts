import type { Brings } from '../wording.ts';

export const googleTerms = {
  heading: 'Before you go to Google',
  lead: 'Google asks us to tell you what we do with the access that you give us.',
  title: "Our privacy statement for Google's services",
  statements: (legacyName: string, { bringsNoContacts }: Brings) =>
    [
      [
        'What we ask for:',
        'Google will ask you to allow full access to your Gmail messages and to your Google contacts. Google offers no smaller permission for the way we copy mail.',
      ],
      [
        'What we do with it:',
        `We add your ${legacyName} mail${bringsNoContacts ? '' : ' and contacts'} to your Google account. Then we check that everything arrived. To do this, our software looks at the mail${bringsNoContacts ? '' : ' and contacts'} that ${bringsNoContacts ? 'is there. No person reads it' : 'are there. No person reads them'}.`,
      ],
      [
        'What we never do:',
        'We never send email from your account. We never delete or change messages that you already have. We never sell what we see or use it for ads.',
      ],
      [
        'How long we keep it:',
        'We keep the access encrypted and erase it when your transfer ends. If you ask us later to bring new mail once a day, we keep it until that ends. You can remove it at any time in your Google account, under “Security”.',
      ],
    ] as const,
  policy:
    'Our use of information received from Google APIs adheres to the Google API Services User Data Policy, including the Limited Use requirements.',
  accept: 'Accept',
} as const;

export const emailScopes = {
  heading: 'We need both permissions',
  /** @param isBack whether the visitor comes from Google's page, and not by the address alone */
  lead: (isBack: boolean) =>
    `${isBack ? "You signed in, but at least one box on Google's page was not ticked." : "Google's page asks for two permissions, and we need both for Gmail."} We have not started, and your mail is safe.`,
  title: "Please tick both boxes on Google's page",
  scopes: [
    'Read, compose, send, and permanently delete all your email from Gmail',
    'See, edit, download, and permanently delete your contacts',
  ],
  why: ({ bringsNoContacts }: Brings) =>
    `This is how Google words it. We use the first to add your mail and check that it arrived. We ${bringsNoContacts ? 'do not use the second, but Google asks for both' : 'use the second to add your contacts'}. We never send email, and we never delete what you already have.`,
  retry: 'Try Gmail again',
  todo: 'If you would rather not allow this, press “Next” to choose another way.',
  next: 'Next',
} as const;
