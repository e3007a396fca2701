import { and, not, stateIn, type StateValue } from 'xstate';
import { PAGE, readError, readTransferId, statusQuery } from '../../../src/contract/page-address.ts';
import { openGuide } from '../../mail-guide.ts';
import { wizard } from '../../wizard.setup.ts';
import { banner } from '../banner.ts';
import { tryingAgain, unavailable } from '../unavailable.ts';
import { acts } from './acts.ts';
import { askingByItself, firstAsking } from './first-asking.ts';
import { following } from './following.ts';
import { guide } from './guide.ts';
import { settled } from './settled.ts';
import { showMore } from './show-more.ts';

const message = banner('banner life');

/** Puts the guide that replaces the page into the address, so that Back leaves it and the address can be shared. */
const GUIDE = 'guide';
function guideInAddress(value: StateValue): Record<string, string> {
  const open = openGuide(value);
  return open === undefined ? {} : { [GUIDE]: open };
}

const openingDialog = {
  guard: and([stateIn('#status-more-closed'), stateIn('#status-acts-resting')]),
  target: '.hidden',
  actions: 'forget the message',
} as const;

/** The status of a transfer, by its ID. */
export const status = wizard.createStateConfig({
  id: 'status',
  meta: {
    step: 4,
    page: {
      path: PAGE.status,
      visit: (ask) => ({
        type: 'status.visit',
        migrationId: readTransferId(ask),
        error: readError(ask),
        guide: ask(GUIDE),
      }),
      query: ({ transferId }, value) =>
        transferId === null ? {} : { ...statusQuery(transferId), ...guideInAddress(value) },
    },
  },
  type: 'parallel',
  // Otherwise the pages of the next order would show this transfer's destination.
  exit: 'forget the status',
  states: {
    page: {
      initial: 'asking',
      states: {
        asking: firstAsking,
        following: { ...following, id: 'status-following' },
        settled: { ...settled, id: 'status-settled' },
        notFound: { id: 'status-not-found' },
        failed: { ...askingByItself, on: tryingAgain('asking') },
        unavailable: { ...askingByItself, ...unavailable('asking') },
      },
    },
    // Dialogs show their own messages.
    banner: {
      ...message,
      // A message about an ongoing act stays until it is done.
      always: {
        guard: and(['what is said to be taken back was taken back', not(stateIn('#status-asking'))]),
        target: '.hidden',
        actions: 'forget the message',
      },
      on: {
        ...message.on,
        'act.open': openingDialog,
        'more.show': openingDialog,
      },
    },
    guide,
    more: showMore,
    acts,
  },
});
