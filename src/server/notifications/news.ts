import type { ExportFile } from '../../contract/calls/status.ts';

export type NotificationKind = 'started' | 'finished' | 'attention';

/** What a transfer has to tell. `outcomes` are sentences, one for each operation that did not complete. */
export type News = {
  /** Who is told: an address, or `+1` and ten digits. */
  readonly contact: string;
  readonly isExport: boolean;
  readonly messages: number;
  readonly contacts: number;
  readonly skipped: number;
  readonly outcomes: readonly string[];
  /** What can be downloaded. */
  readonly files: readonly Pick<ExportFile, 'name' | 'url' | 'expires'>[];
};
