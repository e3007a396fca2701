import type { Guide } from '../../mail-guide.ts';
import { wizard } from '../../wizard.setup.ts';

function opening<const Name extends Guide>(guide: Name) {
  return {
    guard: {
      type: 'this guide is asked for',
      params: ({ event }: { event: { readonly guide: Guide } }) => ({ asked: event.guide, guide }),
    },
    target: `.${guide}`,
  } as const;
}

/** Replaces the status page: how to set up a phone and a computer for the new mailbox, one page for each provider. */
export const guide = wizard.createStateConfig({
  initial: 'closed',
  on: {
    'guide.open': [opening('yahoo'), opening('google'), opening('office365'), opening('aol'), { target: '.other' }],
    'guide.close': '.closed',
  },
  states: { closed: {}, yahoo: {}, google: {}, office365: {}, aol: {}, other: {} },
});
