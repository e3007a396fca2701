import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export type ApiRequest = {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingMessage['headers'];
  readonly bytes: Buffer;
  readonly json: unknown;
};
export type ApiAnswer = {
  readonly status: number;
  readonly json?: unknown;
  /** Sent verbatim in place of `json`. */
  readonly text?: string;
  /** The same, for what is no text. */
  readonly octets?: Uint8Array;
  readonly headers?: Record<string, string>;
};

/** Returns `null` if it doesn't apply to the request. */
export type Fault = (request: ApiRequest) => ApiAnswer | 'drop' | 'cut' | 'hang' | null;

export type ScriptedApi = AsyncDisposable & {
  readonly url: string;
  /** All requests, in order. */
  readonly requests: ApiRequest[];
  /** Used for the next requests. `drop` closes the connection after carrying out the request, `cut` without, `hang` never answers. */
  readonly faults: Fault[];
};

/** A real HTTP server on a random port that answers as a provider's documentation says, and fails on demand. */
export async function startApi(answer: (request: ApiRequest) => ApiAnswer): Promise<ScriptedApi> {
  const requests: ApiRequest[] = [];
  const faults: ScriptedApi['faults'] = [];
  const server = createServer((incoming, response) => void serve(incoming, response));
  const serve = async (incoming: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const bytes = Buffer.concat(chunks);
    const isJson = incoming.headers['content-type']?.startsWith('application/json') === true;
    const request: ApiRequest = {
      method: incoming.method ?? '',
      url: new URL(incoming.url ?? '/', 'http://127.0.0.1'),
      headers: incoming.headers,
      bytes,
      json: isJson ? JSON.parse(bytes.toString('utf8')) : undefined,
    };
    requests.push(request);
    const fault = faults.find((script) => script(request) !== null);
    const scripted = fault?.(request) ?? null;
    if (fault !== undefined) faults.splice(faults.indexOf(fault), 1);
    if (scripted === 'drop' || scripted === 'cut') {
      if (scripted === 'drop') answer(request);
      response.destroy();
      return;
    }
    if (scripted === 'hang') return;
    const { status, json, text, octets, headers } = scripted ?? answer(request);
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(octets ?? text ?? (json === undefined ? undefined : JSON.stringify(json)));
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port was given');
  return {
    url: `http://127.0.0.1:${address.port}`,
    requests,
    faults,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** `times` faults for requests whose path ends with `end`. */
export function faultsAt(end: string, answer: ApiAnswer | 'drop' | 'hang', times = 1): Fault[] {
  return Array.from(
    { length: times },
    () =>
      ({ url }) =>
        url.pathname.endsWith(end) ? answer : null,
  );
}
