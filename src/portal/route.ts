import { contextOfPage, type WizardSnapshot } from '../../machines/wizard.routes.ts';
import { isExport } from '../contract/transfer-status.ts';

type Route = {
  readonly from?: string | undefined;
  /** Absent for a download, and while it is unknown. */
  readonly to?: string | undefined;
  /** Whether the destination is known, at least its provider. */
  readonly isKnown: boolean;
};

/** The two mailboxes of a transfer: as the server tells its owner, or else as this tab has ordered it. */
export function routeOf(snapshot: WizardSnapshot): Route {
  const { status, source, destination } = contextOfPage(snapshot);
  const isKnown = status?.destination !== undefined || destination !== null;
  if (status?.route !== undefined) return { ...status.route, isKnown };
  return { from: source?.email, to: destination?.email || undefined, isKnown };
}

/** Whether the status page shows the two mailboxes: to those who may manage the transfer, once both are known. */
export function isRouteShown(snapshot: WizardSnapshot): boolean {
  const { from, to } = routeOf(snapshot);
  const status = snapshot.context.status ?? {};
  return status.limited !== true && from !== undefined && (to !== undefined || isExport(status));
}
