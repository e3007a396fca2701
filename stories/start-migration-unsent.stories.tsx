import { at } from './at.tsx';
import { BLANK, MOVING, TO_GMAIL } from './people.ts';

/** The operator has no SMS gateway, and possibly no mail server either. */
export default { title: 'Life/Start migration' };

const good = 'startMigration.contact.good';
const noTexts = { ...BLANK.settings, sendsNoTexts: true } as const;
const nothing = { ...noTexts, sendsNoLetters: true } as const;

export const NoTexts = at(good, { ...MOVING, notificationContact: '+16505550123', settings: noTexts });
export const NoMessages = at('startMigration.contact.empty', { ...TO_GMAIL, settings: nothing });
export const NoMessagesToAnAddress = at(good, {
  ...MOVING,
  notificationContact: 'pat.rivera@mail.example',
  settings: nothing,
});
