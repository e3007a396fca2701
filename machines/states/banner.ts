import { wizard } from '../wizard.setup.ts';

/**
 * A page's message: it clears by itself after its life, and the clock stands still while it is looked at, and then begins
 * anew. A new one begins its own life. Not by `reenter`: beside other regions that would begin all of them anew.
 */
export function banner(life: 'banner life' | 'destination banner life') {
  return wizard.createStateConfig({
    initial: 'hidden',
    exit: 'forget the message',
    on: {
      'message.show': {
        target: '.shown',
        actions: { type: 'remember the message', params: ({ event }) => event },
      },
    },
    states: {
      hidden: {},
      shown: {
        after: { [life]: { target: 'hidden', actions: 'forget the message' as const } },
        on: { 'message.hold': 'held' },
      },
      held: { on: { 'message.release': 'shown' } },
    },
  });
}
