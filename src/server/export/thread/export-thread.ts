import { Worker } from 'node:worker_threads';
import { SpoolError } from '../disk/spool.ts';
import type { Answer, Asked, Failure, Request, Work } from './work.ts';

/**
 * A thread beside the one that answers visitors and keeps leases: it reads foreign text, and compresses. All exports of
 * this process share it, while there are any.
 */
export type ExportThread = AsyncDisposable & {
  /** @throws {SpoolError} and disk errors as if the work were done here; an error if the thread dies */
  ask<Name extends keyof Work>(
    name: Name,
    given: Parameters<Work[Name]>[0],
    handedOver?: readonly ArrayBuffer[],
  ): Promise<ReturnType<Work[Name]>>;
};

type Running = {
  readonly ask: (asked: Asked, handedOver: readonly ArrayBuffer[]) => Promise<unknown>;
  readonly stop: () => Promise<unknown>;
  users: number;
};

/**
 * If it needs more, the thread ends and the process continues; the young generation is as small as the main thread's.
 */
const LIMITS = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 6 };
const IN_THREAD = new URL('in-thread.ts', import.meta.url);
let running: Running | undefined;

export function openExportThread(): ExportThread {
  const thread = (running ??= startThread(IN_THREAD));
  thread.users += 1;
  let isOpen = true;
  return {
    ask: (name, given, handedOver = []) => thread.ask([name, given] as Asked, handedOver) as never,
    [Symbol.asyncDispose]: async () => {
      if (!isOpen) return;
      isOpen = false;
      thread.users -= 1;
      if (thread.users > 0) return;
      if (running === thread) running = undefined;
      await thread.stop();
    },
  };
}

/** @param entry the module that runs in it */
export function startThread(entry: URL): Running {
  const worker = new Worker(entry, { name: 'export', resourceLimits: LIMITS });
  const open = new Map<number, PromiseWithResolvers<unknown>>();
  let [asked, death]: [number, Error | undefined] = [0, undefined];
  const die = (cause?: unknown) => {
    death ??= new Error('The thread of exports has ended.', { cause });
    if (running === thread) running = undefined;
    for (const { reject } of open.values()) reject(death);
    open.clear();
  };
  worker.on('message', (answer: Answer) => {
    const waiting = open.get(answer.id);
    open.delete(answer.id);
    if ('failure' in answer) waiting?.reject(errorOf(answer.failure));
    else waiting?.resolve(answer.result);
  });
  worker.on('error', die);
  worker.on('exit', () => die());
  const thread: Running = {
    ask: (what, handedOver) => {
      if (death !== undefined) return Promise.reject(death);
      const id = (asked += 1);
      const waiting = Promise.withResolvers<unknown>();
      open.set(id, waiting);
      worker.postMessage({ id, asked: what } satisfies Request, handedOver);
      return waiting.promise;
    },
    stop: () => worker.terminate(),
    users: 0,
  };
  return thread;
}

function errorOf({ message, isDamage, node }: Failure): Error {
  return Object.assign(isDamage ? new SpoolError(message) : new Error(message), node);
}
