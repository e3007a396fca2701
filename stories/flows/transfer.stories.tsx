import { destination } from '../../src/portal/wording/destination.ts';
import { flow, type Steps } from './flow.tsx';
import { openOptions, signIn, start } from './steps.ts';

export default { title: 'Flows/Transfer' };

const toStart = start('Notification email', 'pat.rivera@mail.example', 'Transfer');
const options: Steps = { ...signIn, ...openOptions };

function returning(mailbox: string): Steps {
  return {
    'Sign in at the provider': async ({ press, arriveAt }) => {
      await press(`Sign in as ${mailbox}`);
      await arriveAt('Transfer your data');
    },
  };
}

function otherForm(email: string): Steps {
  return {
    'Choose Other': ({ press }) => press('Other'),
    'Type the other email': ({ type }) => type('Email', email),
  };
}

const toTerms: Steps = {
  'Choose Gmail': ({ press }) => press('Gmail'),
  'Accept the terms of Google': ({ press }) => press('Accept'),
};

export const ToGmail = flow({ ...options, ...toTerms, ...returning('pat.rivera@gmail.com'), ...toStart });

export const ToGmailWithoutPermission = flow({
  ...options,
  ...toTerms,
  'Leave out a permission': ({ press }) => press('Leave out a permission'),
  'Read what is missing': ({ press }) => press('Next'),
  'Be back at the choice': ({ arriveAt }) => arriveAt('Move your mailbox to Yahoo Mail'),
});

export const ToGmailAtTheSecondTry = flow({
  ...options,
  ...toTerms,
  'Leave out a permission': ({ press }) => press('Leave out a permission'),
  'Try Gmail again': ({ press }) => press('Try Gmail again'),
  ...returning('pat.rivera@gmail.com'),
  ...toStart,
});

export const ToOutlook = flow({
  ...options,
  'Choose Outlook': ({ press }) => press('Outlook'),
  ...returning('pat.rivera@outlook.com'),
  ...toStart,
});

export const ToAol = flow({
  ...options,
  'Choose AOL': ({ press }) => press('AOL'),
  ...returning('pat.rivera@aol.com'),
  ...toStart,
});

export const ToOtherByPassword = flow({
  ...options,
  ...otherForm('pat@rivera.example'),
  'Type its password': ({ type }) => type('Password', 'another password'),
  'Use a host of its own': ({ tick }) => tick('Use a custom IMAP host'),
  'Type the host': async ({ type, leave, see }) => {
    await type('IMAP host', 'imap.rivera.example');
    await leave();
    await see(destination.other.hostGood);
  },
  'Sign in there': async ({ press, arriveAt }) => {
    await press('Sign in');
    await arriveAt('Transfer your data');
  },
  ...toStart,
});

export const ToOtherByOauth = flow({
  ...options,
  ...otherForm('pat.rivera@outlook.com'),
  'See that it signs in by itself': ({ see }) => see(destination.other.found('Outlook')),
  'Sign in there': ({ press }) => press('Sign in'),
  ...returning('pat.rivera@outlook.com'),
  ...toStart,
});
