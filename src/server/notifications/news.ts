import type { ExportFile } from '../../contract/calls/status.ts';
import type { Provider } from '../../contract/provider.ts';

export type NotificationKind = 'started' | 'finished' | 'attention';

/** What a transfer has to tell. `outcomes` are sentences, one for each operation that did not complete. */
export type News = {
  /** Who is told: an address, or `+1` and ten digits. */
  readonly contact: string;
  /** Whether it is an address that the transfer's owner has proven; anything else may be a stranger's. */
  readonly isConfirmed: boolean;
  /** The address that is moved. */
  readonly source: string;
  readonly destination: { readonly provider: Provider; readonly email: string };
  readonly isExport: boolean;
  readonly messages: number;
  /** Those that were copied; those that were there, whole or now with what they lacked, come besides. */
  readonly contacts: number;
  readonly contactsPresent: number;
  readonly contactsCompleted: number;
  /** Whether the status page has something to say of single contacts. */
  readonly remarks: boolean;
  readonly skipped: number;
  readonly outcomes: readonly string[];
  /** New mail goes to `to`. */
  readonly forwarding?: { readonly to: string; readonly since: Date };
  /** What can be downloaded. */
  readonly files: readonly Pick<ExportFile, 'name' | 'url' | 'expires'>[];
};
