/** The permitted length of a support issue, in characters after trimming. */
export const SUPPORT_ISSUE_LENGTH = { longerThan: 5, atMost: 5000 } as const;
