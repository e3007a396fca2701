/** How long the text of a support issue is, in characters, blanks around it left out. */
export const SUPPORT_ISSUE_LENGTH = { longerThan: 5, atMost: 5000 } as const;
