import { contextOfPage, type WizardSnapshot } from '../../machines/wizard.routes.ts';
import { isExport } from '../contract/transfer-status.ts';

type Route = {
  readonly from?: string | undefined;
  /** Files have no address. */
  readonly to?: string | undefined;
  /** Whether it is known where the mail goes. */
  readonly isKnown: boolean;
};

/** Where a transfer goes, as the server tells its owner, or as this tab has ordered it. */
export function routeOf(snapshot: WizardSnapshot): Route {
  const { status, source, destination } = contextOfPage(snapshot);
  const isKnown = status?.destination !== undefined || destination !== null;
  if (status?.route !== undefined) return { ...status.route, isKnown };
  return { from: source?.email, to: destination?.email || undefined, isKnown };
}

/** Whether the status page says from where to where: to who may manage the transfer, once both ends are known. */
export function isRouteShown(snapshot: WizardSnapshot): boolean {
  const { from, to } = routeOf(snapshot);
  const status = snapshot.context.status ?? {};
  return status.limited !== true && from !== undefined && (to !== undefined || isExport(status));
}
