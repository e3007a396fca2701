import { failedWith } from './failure.ts';
import { complete } from './states/complete.ts';
import {
  checkingTerms,
  leavingForAct,
  leavingForMove,
  leavingForStatus,
  leavingForTransfer,
  returned,
  returnedForAct,
  returnedForStatus,
  unavailableForAct,
  unavailableForStatus,
  unavailableForTransfer,
} from './states/consent.ts';
import { destination } from './states/destination.ts';
import { emailScopes } from './states/email-scopes.ts';
import { privacyPolicy, termsOfService } from './states/external-page.ts';
import { googleTerms } from './states/google-terms.ts';
import { home } from './states/home.ts';
import { sayingSignedOut, signingOut } from './states/signing-out.ts';
import { startMigration } from './states/start-migration.ts';
import { statusFromEmail } from './states/status-from-email.ts';
import { status } from './states/status/status.ts';
import { support } from './states/support.ts';
import { blankContext } from './wizard.context.ts';
import { wizard } from './wizard.setup.ts';
import { visits } from './wizard.visits.ts';

/** The pages, and the states between them. Each page states its address and step in its `meta`. */
const STATES = {
  arriving: wizard.createStateConfig({ on: { 'unknown.visit': 'home' }, exit: 'forget an earlier letter' }),
  home,
  destination,
  googleTerms,
  emailScopes,
  leavingForMove,
  leavingForTransfer,
  leavingForStatus,
  leavingForAct,
  returned,
  checkingTerms,
  returnedForStatus,
  returnedForAct,
  unavailableForTransfer,
  unavailableForStatus,
  unavailableForAct,
  signingOut,
  startMigration,
  complete,
  status,
  statusFromEmail,
  support,
  privacyPolicy,
  termsOfService,
};
export type States = typeof STATES;

/** The whole product, from Home to the status page. Pages are states; how each is entered stands in `wizard.visits.ts`. */
export const wizardMachine = wizard.createMachine({
  id: 'wizard',
  context: ({ input }) => blankContext(input),
  initial: 'arriving',
  invoke: {
    src: 'check the stored token',
    input: ({ context }) => ({ token: context.storedToken }),
    // Without the empty branch any other failure would stop the machine.
    onError: [{ guard: failedWith('INVALID_TOKEN'), actions: 'drop the stored token' }, {}],
  },
  on: {
    ...visits,
    'sign-out.press': { guard: 'somebody is signed in', target: '#signing-out' },
    // What was ordered in this tab stays in sight: its passwords are forgotten already.
    'sign-out.hear': {
      guard: 'the source can sign in',
      target: '#home',
      actions: sayingSignedOut,
    },
  },
  states: STATES,
});
