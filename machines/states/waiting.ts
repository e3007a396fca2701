import { wizard } from '../wizard.setup.ts';

/** What a state that waits for an answer has inside: first prompt, then slow. The state itself names its `answer limit`. */
export const waiting = wizard.createStateConfig({
  tags: 'busy',
  initial: 'prompt',
  states: {
    prompt: { after: { 'slow answer': 'slow' } },
    slow: { tags: 'slow' },
  },
});
