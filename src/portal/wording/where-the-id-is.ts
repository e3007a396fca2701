import type { PortalSettings } from '../../contract/settings.ts';

export type Ways = Pick<PortalSettings, 'sendsNoTexts' | 'sendsNoLetters'>;

/** Whether there is a way to send anybody a message, with the transfer's ID. */
export const sendsMessages = ({ sendsNoTexts, sendsNoLetters }: Ways) =>
  sendsNoTexts !== true || sendsNoLetters !== true;

/** Where a visitor finds the ID. */
export const fromUs = (ways: Ways) =>
  sendsMessages(ways) ? 'from our messages to you' : 'that we gave you when the transfer started';
