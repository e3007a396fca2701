import { fromCallback, fromPromise } from 'xstate';
import type { ACTORS } from '../../machines/wizard.actors.ts';
import type { Event } from '../../machines/wizard.types.ts';
import { CallError } from './call-error.ts';

/** The calls are fetched with the first of them, so that Home is there sooner. */
const fetchCalls = () => import('./calls.ts');

/** The machine's actors, for real: each is one call of the contract. */
export function createServices(bearer: () => string | null): typeof ACTORS {
  const calls = async () => (await fetched(fetchCalls)).createCalls(bearer);
  return {
    'check the stored token': fromPromise(async ({ input, signal }) =>
      // Most visitors have none, and need no call for it.
      input.token === null ? null : (await calls())['check the stored token'](input, signal),
    ),
    'ask for capabilities': fromPromise(async ({ input, signal }) =>
      (await calls())['ask for capabilities'](input, signal),
    ),
    'validate the account': fromPromise(async ({ input, signal }) =>
      (await calls())['validate the account'](input, signal),
    ),
    'resolve the host': fromPromise(async ({ input, signal }) => (await calls())['resolve the host'](input, signal)),
    'create the account': fromPromise(async ({ input, signal }) =>
      (await calls())['create the account'](input, signal),
    ),
    'announce the migration': fromPromise(async ({ input, signal }) =>
      (await calls())['announce the migration'](input, signal),
    ),
    'start the transfer': fromPromise(async ({ input, signal }) =>
      (await calls())['start the transfer'](input, signal),
    ),
    'ask for the status': fromPromise(async ({ input, signal }) =>
      (await calls())['ask for the status'](input, signal),
    ),
    'list the transfers': fromPromise(async ({ input, signal }) =>
      (await calls())['list the transfers'](input, signal),
    ),
    'check the domain': fromPromise(async ({ input, signal }) => (await calls())['check the domain'](input, signal)),
    'check the phone number': fromPromise(async ({ input, signal }) =>
      (await calls())['check the phone number'](input, signal),
    ),
    'write to support': fromPromise(async ({ input, signal }) => (await calls())['write to support'](input, signal)),
    'delete the export': fromPromise(async ({ input, signal }) => (await calls())['delete the export'](input, signal)),
    'copy to the clipboard': fromPromise(({ input }) => navigator.clipboard.writeText(input.text)),
    'follow the transfer': fromCallback<Event, { id: string }>(({ input, sendBack }) => {
      const leaving = new AbortController();
      void follow(input.id, leaving.signal, sendBack);
      return () => leaving.abort();
    }),
  };
}

async function follow(id: string, signal: AbortSignal, send: (event: Event) => void): Promise<void> {
  try {
    const { readStatus, streamOf } = await fetched(fetchCalls);
    if (signal.aborted) return;
    const stream = streamOf(id);
    signal.addEventListener('abort', () => stream.close());
    stream.addEventListener('message', ({ data }) => {
      const status = readStatus(data);
      if (status !== null) send({ type: 'status.arrive', status });
    });
    stream.addEventListener('error', () => {
      stream.close();
      send({ type: 'status.lose' });
    });
  } catch {
    if (!signal.aborted) send({ type: 'status.lose' });
  }
}

/** @throws {CallError} when a script can't be fetched: the line is down, or a newer portal has taken its place. */
async function fetched<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    throw new CallError('UNAVAILABLE', 'A part of the portal could not be fetched.', { cause });
  }
}
