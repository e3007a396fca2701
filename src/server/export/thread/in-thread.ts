import { parentPort } from 'node:worker_threads';
import { SpoolError } from '../disk/spool.ts';
import { deflatedEach } from './compression.ts';
import { openMessageSums, type MessageSums } from './message-sums.ts';
import { openPageWriter, type PageWriter } from './page-writer.ts';
import type { Answer, Asked, Failure, Request } from './work.ts';

/** Messages for a page may arrive before it is open. */
const pages = new Map<number, Promise<PageWriter>>();
/** By the segment. */
const sums = new Map<string, MessageSums>();

parentPort?.on('message', ({ id, asked }: Request) => {
  perform(asked).then(
    ([result, ...handedOver]) => parentPort?.postMessage({ id, result } satisfies Answer, handedOver),
    (error: unknown) => parentPort?.postMessage({ id, failure: failureOf(error) } satisfies Answer, []),
  );
});

/** The answer, and the memory in it that is transferred. */
async function perform([name, given]: Asked): Promise<[unknown, ...ArrayBuffer[]]> {
  switch (name) {
    case 'beginPage': {
      const page = openPageWriter(given.folders);
      pages.set(given.page, page);
      await page;
      return [undefined];
    }
    case 'addToPage':
      await (await pageOf(given.page)).add(given.messages);
      return [undefined];
    case 'endPage':
      return [await (await pageOf(given.page)).end()];
    case 'closePage': {
      const page = pageOf(given.page);
      pages.delete(given.page);
      await (await page)[Symbol.asyncDispose]();
      return [undefined];
    }
    case 'sum':
      return [sumsOf(given.segment)(given.octets, given.spans)];
    case 'closeSums':
      sums.delete(given.segment);
      return [undefined];
    case 'deflate': {
      const memory = given.octets.buffer;
      return [{ packed: deflatedEach(given), memory }, memory];
    }
  }
}

function pageOf(number: number): Promise<PageWriter> {
  return pages.get(number) ?? Promise.reject(new Error('There is no such page.'));
}

function sumsOf(segment: string): MessageSums {
  const open = sums.get(segment) ?? openMessageSums();
  sums.set(segment, open);
  return open;
}

function failureOf(error: unknown): Failure {
  const { message, code, syscall } = error as NodeJS.ErrnoException;
  return {
    message,
    isDamage: error instanceof SpoolError,
    node: { ...(code !== undefined && { code }), ...(syscall !== undefined && { syscall }) },
  };
}
