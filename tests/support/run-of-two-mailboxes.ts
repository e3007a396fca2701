import type { LedgerMailbox } from '../../src/server/mail/copy/ledger/ledger.ts';
import type { Run } from '../../src/server/mail/copy/run/run.ts';
import { openFaults } from '../../src/server/mail/copy/troubles/breaks.ts';

/**
 * What a look through the mailboxes `Lists` and `Other` of a destination needs of a run.
 * @param lists the former, as the ledger knows it
 */
export function runOfTwoMailboxes(lists: LedgerMailbox, copy: object): Run {
  return {
    ...openFaults(),
    looked: () => {},
    askAgain: () => {},
    opened: { source: new Set(), destination: new Set() },
    destinationPaths: () => ['Lists', 'Other'],
    sourcePaths: () => [],
    searches: new Map(),
    known: new Map([['Lists', [lists]]]),
    copy: { refusalWaits: 0, signal: new AbortController().signal, ...copy },
  } as unknown as Run;
}
