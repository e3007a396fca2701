import { PortalUnbuilt } from './build-portal.ts';
import { SettingsError } from './contract/settings.ts';
import { EXIT, exitWith } from './exit.ts';
import { DataFolderError } from './server/store/data-folder.ts';
import { DatabaseUnavailable, EmbeddedUnusable } from './server/store/database-faults.ts';
import { AddressInUseError } from './server/web/listening.ts';

/** Their messages tell the operator what to do. */
const OPERATORS = [
  SettingsError,
  DataFolderError,
  DatabaseUnavailable,
  EmbeddedUnusable,
  PortalUnbuilt,
  AddressInUseError,
];

/** Ends the process with a sentence for its operator. @throws any other error, as it is */
export function exitFor(error: unknown): never {
  if (!(error instanceof Error && OPERATORS.some((kind) => error instanceof kind))) throw error;
  const mayPass = error instanceof DatabaseUnavailable && error.mayPass;
  return exitWith(error.message, mayPass ? EXIT.unavailable : EXIT.configuration);
}
