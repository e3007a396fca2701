import { wizard } from '../wizard.setup.ts';

/**
 * A page's message. It disappears after its `life`, which stands still while the visitor looks at it, and begins again
 * afterwards, as with a new message. Restarting by `reenter` would also restart the regions beside it.
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
