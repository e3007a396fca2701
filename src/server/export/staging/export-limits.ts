import { EXPORT_PART_OCTETS } from '../../../contract/export-part.ts';
import { DISK_RESERVE } from '../disk/disk-room.ts';

/** Limits of an export, which tests can lower. */
export type ExportLimits = {
  /** Mail in one part, in octets before compression. */
  readonly partOctets: number;
  /** Messages in one part; a format may take fewer. */
  readonly partMessages: number;
  /** Mail fetched between two points from which a run can continue after a crash. */
  readonly batchOctets: number;
  readonly batchMessages: number;
  /** Free octets below which an export pauses. */
  readonly diskReserve: number;
};

export const EXPORT_LIMITS: ExportLimits = {
  partOctets: EXPORT_PART_OCTETS,
  partMessages: 500_000,
  batchOctets: 16 * 1024 * 1024,
  batchMessages: 250,
  diskReserve: DISK_RESERVE,
};
