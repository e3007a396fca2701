import { fromCallback, fromPromise } from 'xstate';
import { type ACTORS, CALLS } from '../../machines/wizard.actors.ts';
import type { Event } from '../../machines/wizard.types.ts';
import { CallError } from './call-error.ts';
import type { CallInput, CallName } from './machine-calls.ts';
import { scriptOf } from './script.ts';

/**
 * Fetches the script of the calls when the first one is made, which keeps it out of Home's first load.
 * @throws {CallError} if it can't be fetched
 */
async function fetchCalls() {
  try {
    return await scriptOf('calls', () => import('./calls.ts'));
  } catch (cause) {
    throw new CallError('UNAVAILABLE', 'The calls could not be fetched.', { cause });
  }
}

/** The real implementations of the machine's actors. */
export function createServices(bearer: () => string | null): typeof ACTORS {
  const make = async <Name extends CallName>(name: Name, input: CallInput<Name>, signal: AbortSignal) =>
    (await fetchCalls()).createCalls(bearer)[name](input, signal);
  const calls = Object.fromEntries(
    (Object.keys(CALLS) as CallName[]).map((name) => [
      name,
      fromPromise(({ input, signal }) => make(name, input as never, signal)),
    ]),
  ) as unknown as typeof CALLS;
  return {
    ...calls,
    'check the stored token': fromPromise(async ({ input, signal }) =>
      // Most visitors have no token, and then the script of the calls need not be fetched.
      input.token === null ? null : make('check the stored token', input, signal),
    ),
    'copy to the clipboard': fromPromise(({ input }) => navigator.clipboard.writeText(input.text)),
    'follow the transfer': fromCallback<Event, { id: string }>(({ input, sendBack }) => {
      const leaving = new AbortController();
      void follow(input.id, bearer, leaving.signal, sendBack);
      return () => leaving.abort();
    }),
  };
}

async function follow(
  id: string,
  bearer: () => string | null,
  signal: AbortSignal,
  send: (event: Event) => void,
): Promise<void> {
  try {
    const { openStatusStream } = await fetchCalls();
    openStatusStream(id, bearer, signal, {
      status: (status) => send({ type: 'status.arrive', status }),
      alive: () => send({ type: 'status.beat' }),
      lost: () => send({ type: 'status.lose' }),
    });
  } catch {
    if (!signal.aborted) send({ type: 'status.lose' });
  }
}
