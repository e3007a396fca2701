import type { Side } from '../../contract/calls/resume.ts';

/** From which mailbox to which a transfer goes. */
export const route = {
  from: 'From',
  to: 'To',
  files: 'Files for download',
  /** Which one is meant, where its owner is to sign in to it. */
  mailbox: (side: Side, legacyName: string) => `Your ${side === 'source' ? `${legacyName} mailbox` : 'new mailbox'}:`,
} as const;
