import { destinationOf } from '../../machines/owner-acts.ts';
import type { Context } from '../../machines/wizard.types.ts';
import { isExport } from '../contract/transfer-status.ts';

type Route = {
  readonly from?: string | undefined;
  /** Files have no address. */
  readonly to?: string | undefined;
  /** Whether it is known where the mail goes. */
  readonly isKnown: boolean;
};

/** Where a transfer goes, as the server tells its owner, or as this tab has ordered it. */
export function routeOf(context: Context): Route {
  const { status, source, destination } = context;
  const isKnown = status?.destination !== undefined || destination !== null;
  if (status?.route !== undefined) return { ...status.route, isKnown };
  const to = destination?.email ?? '';
  return { from: source?.email, to: to === '' || destinationOf(context) === 'file_export' ? undefined : to, isKnown };
}

/** Whether the status page says from where to where: to who may manage the transfer, once both ends are known. */
export function isRouteShown(context: Context): boolean {
  const { from, to } = routeOf(context);
  const status = context.status ?? {};
  return status.limited !== true && from !== undefined && (to !== undefined || isExport(status));
}
