/** Moves on without the call's answer after the `answer limit`. Use next to the state's `invoke`. */
export function givingUp<const Next>(next: Next) {
  return { after: { 'answer limit': next } } as const;
}

/** The substates of waiting for a call: prompt, then slow, then given up. Use next to the state's `invoke`. */
export function waiting<const Next>(next: Next) {
  return {
    ...givingUp(next),
    tags: 'busy',
    initial: 'prompt',
    states: {
      prompt: { after: { 'slow answer': 'slow' } },
      slow: { tags: 'slow' },
    },
  } as const;
}
