import { PAT } from '../people.ts';
import { refuse, type Script } from '../script.ts';
import { flow, type Steps } from './flow.tsx';
import { askForMove, signIn, start } from './steps.ts';

export default { title: 'Flows/Move to Yahoo' };

const CONTACT = 'Notification email or phone number';
const consent: Steps = {
  'Sign in at Yahoo': async ({ press, arriveAt }) => {
    await press(`Sign in as ${PAT}`);
    await arriveAt('Move your email account to Yahoo Mail');
  },
};
const asked: Steps = { ...signIn, ...askForMove };
const creationFails = (code: Parameters<typeof refuse>[0]): Script => ({ 'create the account': refuse(code) });

export const Move = flow({
  ...asked,
  ...consent,
  ...start(CONTACT, 'pat.rivera@mail.example', 'Move'),
  'Copy the transfer ID': async ({ press }) => {
    await press('Copy transfer ID');
    await press('Copied');
  },
  'Check progress': async ({ follow, see }) => {
    await follow('Check progress');
    await see('We compared both sides: no other message is missing, and none is duplicated or changed.');
  },
});

export const MoveToldByPhone = flow({ ...asked, ...consent, ...start(CONTACT, '650 555 0123', 'Move') });

export const AccountIsThereAlready = flow(
  { ...asked, ...consent, ...start(CONTACT, 'pat.rivera@mail.example', 'Move') },
  creationFails('ACCOUNT_ALREADY_CREATED'),
);

export const MoveIsInProgress = flow(
  { ...asked, 'Read why': ({ see }) => see('Transfer is already in progress') },
  creationFails('ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS'),
);

export const MoveIsCompleted = flow(
  { ...asked, 'Read why': ({ see }) => see('Transfer is already completed') },
  creationFails('ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED'),
);

export const CreationFails = flow(
  { ...asked, 'Read why': ({ see }) => see('An error has happened while setting up your Yahoo account') },
  creationFails('GENERAL_ERROR'),
);

export const PortalIsUnavailable = flow(
  { ...asked, 'Read why': ({ arriveAt }) => arriveAt("We'll be back soon") },
  creationFails('UNAVAILABLE'),
);

export const AnotherMailboxSignsIn = flow({
  ...asked,
  'Sign in at Yahoo as somebody else': ({ press }) => press('Sign in as somebody else'),
  'Read why': ({ see }) => see('Invalid email'),
});

export const ConsentIsRefused = flow({
  ...asked,
  'Refuse at Yahoo': ({ press }) => press('Refuse'),
  'Read why': ({ see }) => see('Authentication error'),
});
