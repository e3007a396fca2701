/** Nobody answers: after the `answer limit` the page goes on there without the call. Beside the state's `invoke`. */
export function givingUp<const Next>(next: Next) {
  return { after: { 'answer limit': next } } as const;
}

/** Inside a state that the visitor waits in: first prompt, then slow, and then given up. Beside the state's `invoke`. */
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
