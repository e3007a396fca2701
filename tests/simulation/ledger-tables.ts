import {
  LeaseLost,
  type Group,
  type Ledger,
  type LedgerMailbox,
  type NewGroup,
  type NewRow,
  type Row,
} from '../../src/server/mail/copy/group-ledger.ts';

type StoredMailbox = LedgerMailbox & { readonly transfer: string; total?: number; reason?: string };
type StoredGroup = Group & { readonly transfer: string };
type StoredTransfer = { epoch: number; finished: boolean };

const PAGE = 1000;

/** The tables of the ledger, in memory. Each method is one transaction. */
export class LedgerTables {
  readonly transfers = new Map<string, StoredTransfer>();
  readonly #mailboxes = new Map<number, StoredMailbox>();
  readonly #rows = new Map<number, Map<number, Row>>();
  readonly #groups = new Map<number, StoredGroup>();
  readonly #disowned = new Set<string>();
  #next = 1;

  begin(transfer: string): void {
    this.transfers.set(transfer, { epoch: 0, finished: false });
  }

  mailboxes(transfer: string): LedgerMailbox[] {
    return [...this.#mailboxes.values()].filter((each) => each.transfer === transfer).map(mailboxOf);
  }
}

function mailboxOf({ id, sourcePath, sourceUidValidity, destinationPath, destination }: StoredMailbox): LedgerMailbox {
  return {
    id,
    sourcePath,
    sourceUidValidity,
    destinationPath,
    ...(destination === undefined ? {} : { destination }),
  };
}
