import { detailedStatus, status, type Progress, type TransferStatus } from '../../../contract/calls/status.ts';
import { mayManage } from '../permission.ts';
import { Refusal } from '../refusal.ts';
import type { Web } from '../services.ts';
import type { Visit } from '../visit.ts';
import { route } from './route.ts';

export const answerStatus = route(
  status,
  'calls by a client',
  async ({ query }, { transfers }: Pick<Web, 'transfers'>) => {
    const { emailmigration, contactsmigration } = await statusOf(query.job_id, transfers);
    return {
      ...(emailmigration === undefined ? {} : { emailmigration: { status: emailmigration.status } }),
      ...(contactsmigration === undefined ? {} : { contactsmigration: { status: contactsmigration.status } }),
    };
  },
);

export const answerDetailedStatus = route(
  detailedStatus,
  'calls by a client',
  async ({ query }, web: Pick<Web, 'transfers' | 'owners' | 'sessions'>, visit) => {
    const view = await viewOf(query.job_id, web, visit);
    return view(await statusOf(query.job_id, web.transfers));
  },
);

/** @throws {Refusal} 404 */
export async function statusOf(id: string, transfers: Web['transfers']): Promise<TransferStatus> {
  const found = await transfers.status(id);
  if (found === null) throw new Refusal(404, 'MIGRATION_ID_NOT_FOUND', 'Your transfer ID has not been found.');
  return found;
}

/** Returns a function that reduces a status to what the caller may see. */
export async function viewOf(
  id: string,
  guard: Pick<Web, 'owners' | 'sessions'>,
  asker: Pick<Visit, 'bearer' | 'browser'>,
): Promise<(status: TransferStatus) => TransferStatus> {
  return (await mayManage(guard, asker, id)) === true ? forManagers : forStrangers;
}

/** The whole status; a function, so that callers say for whom they answer. */
export function forManagers(whole: TransferStatus): TransferStatus {
  return whole;
}

/** The parts of a progress that anyone with the ID may see: numbers and times. Anything not listed is withheld. */
const FOR_STRANGERS: { readonly [Key in keyof Progress]-?: (value: Progress[Key]) => Progress[Key] } = {
  status: (status) => status,
  done: (done) => done,
  total: (total) => total,
  bytes: (bytes) => bytes,
  skipped: (skipped) => skipped?.map(({ reason }) => ({ reason })),
  failure: (failure) => failure,
  lost: (lost) => lost,
  duplicated: (duplicated) => duplicated,
  changed: (changed) => changed,
  copied: (copied) => copied,
  present: (present) => present,
  moved: (moved) => moved,
  kept: (kept) => kept,
  waiting: (waiting) => waiting,
  attention: (attention) => attention,
  ended: (ended) => ended,
  compared: (compared) => compared,
  left: (left) => left,
  folders: (folders) => folders?.map(({ done, total }) => ({ done, total })),
  taken_back: (takenBack) => takenBack,
  taking_back: (takingBack) => takingBack,
  started: (started) => started,
  finished: (finished) => finished,
};

function forStrangers({
  emailmigration,
  contactsmigration,
  emailforwarding,
  files,
  untold,
}: TransferStatus): TransferStatus {
  const contacts = contactsmigration?.contacts;
  return {
    limited: true,
    ...(emailmigration === undefined ? {} : { emailmigration: limited(emailmigration) }),
    ...(contactsmigration === undefined
      ? {}
      : { contactsmigration: { ...limited(contactsmigration), ...(contacts === undefined ? {} : { contacts }) } }),
    ...(emailforwarding === undefined ? {} : { emailforwarding: { status: emailforwarding.status } }),
    ...(files === undefined ? {} : { files }),
    ...(untold === undefined ? {} : { untold }),
  };
}

function limited(progress: Progress): Progress {
  const shown = Object.entries(FOR_STRANGERS).map(([key, show]) => [
    key,
    (show as (value: unknown) => unknown)(progress[key as keyof Progress]),
  ]);
  return Object.fromEntries(shown.filter(([, value]) => value !== undefined)) as Progress;
}
