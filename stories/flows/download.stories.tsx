import { flow } from './flow.tsx';
import { openOptions, signIn, start } from './steps.ts';

export default { title: 'Flows/Download' };

export const Download = flow({
  ...signIn,
  ...openOptions,
  'Choose Download': ({ press }) => press('Download'),
  'Choose the formats': async ({ choose }) => {
    await choose('Email format', 'mbox');
    await choose('Contacts format', 'vcf');
  },
  'Go on': async ({ press, arriveAt }) => {
    await press('Download');
    await arriveAt('Transfer your data');
  },
  ...start('Notification email', 'pat.rivera@mail.example', 'Download'),
});
