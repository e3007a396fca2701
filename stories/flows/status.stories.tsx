import { PAT, TRANSFER } from '../people.ts';
import { refuse } from '../script.ts';
import { flow, type Steps } from './flow.tsx';

export default { title: 'Flows/Status' };

const open: Steps = { 'Open the look-up': ({ press }) => press('check your transfer status') };
const lookUp: Steps = {
  ...open,
  'Type the transfer ID': ({ type }) => type('Transfer ID', TRANSFER),
  'Check the status': ({ press }) => press('Check status'),
};

export const ById = flow({
  ...lookUp,
  'See it running': ({ arriveAt }) => arriveAt('Your transfer'),
  'See it end': ({ see }) => see('Completed'),
});

export const ByUnknownId = flow(
  { ...lookUp, 'Read why': ({ see }) => see('Invalid migration ID') },
  { 'ask for the status': refuse('MIGRATION_ID_NOT_FOUND') },
);

export const ByEmail = flow({
  ...open,
  'Sign in at Yahoo instead': async ({ press }) => {
    await press('Yahoo');
    await press(`Sign in as ${PAT}`);
  },
  'See the transfers': ({ arriveAt }) => arriveAt('Your transfers'),
});

export const ByEmailWithoutTransfers = flow(
  {
    ...open,
    'Sign in at Yahoo instead': async ({ press }) => {
      await press('Yahoo');
      await press(`Sign in as ${PAT}`);
    },
    'Read why': ({ see }) => see('Your transfers have not been found'),
  },
  { 'list the transfers': {} },
);
