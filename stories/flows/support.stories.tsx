import { PAT, TRANSFER } from '../people.ts';
import { refuse } from '../script.ts';
import { flow, type Steps } from './flow.tsx';

export default { title: 'Flows/Support' };

const write: Steps = {
  'Open the form': async ({ follow, arriveAt }) => {
    await follow('Contact support');
    await arriveAt('Contact support');
  },
  'Say who you are': async ({ type }) => {
    await type('San Bruno email', PAT);
    await type('Contact email', 'pat@rivera.example');
    await type('Transfer ID', TRANSFER);
  },
  'Say what is wrong': ({ type }) => type('Describe your issue', 'The folder Recipes did not arrive.'),
  Send: ({ press }) => press('Send'),
};

export const Support = flow({
  ...write,
  'See that it was sent': ({ see }) => see('Your message has been sent successfully.'),
});

export const SupportFails = flow(
  {
    ...write,
    'Read why': ({ see }) => see('There was an error submitting your message, please try again later.'),
  },
  { 'write to support': refuse('GENERAL_ERROR') },
);
