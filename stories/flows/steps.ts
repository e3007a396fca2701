import { PASSWORD, PAT } from '../people.ts';
import type { Steps } from './flow.tsx';

/** From Home to the destination page, as Pat. */
export const signIn: Steps = {
  'Open the sign-in': ({ press }) => press('Start'),
  'Type the email': ({ type }) => type('Email', PAT),
  'Type the password': ({ type }) => type('Password', PASSWORD),
  'Sign in': async ({ press, arriveAt }) => {
    await press('Sign in');
    await arriveAt('Move your mailbox to Yahoo Mail');
  },
};

export const openOptions: Steps = {
  'Open the other options': ({ press }) => press('Check other options to export your data'),
};

export const askForMove: Steps = {
  'Go to Yahoo': ({ press }) => press('Go to Yahoo Mail'),
  'Read the notice and continue': ({ press }) => press('Continue'),
};

/** From the last form to the transfer ID. */
export function start(label: string, contact: string, action: 'Move' | 'Transfer' | 'Download'): Steps {
  return {
    'Say whom to tell': ({ type }) => type(label, contact),
    [action]: async ({ press, arriveAt }) => {
      await press(action);
      await arriveAt("We're moving your email data!");
    },
  };
}
