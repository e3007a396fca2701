import { once } from 'node:events';
import { readSettings, type Environment } from '../../src/contract/settings.ts';
import { openLog } from '../../src/server/log.ts';
import { startWeb } from '../../src/server/web/listen.ts';
import { openWeb } from '../../src/server/web/services.ts';
import { openWebServices } from './web-services.ts';

/** The argument, as JSON, of a web server in a process of its own, with its own pool. */
export type WebProcess = {
  readonly databaseUrl: string;
  readonly environment: Environment;
  /** Base64. */
  readonly key: string;
};
/** What the parent may ask for: an access token, several times at once; or to advance the clock. */
export type WebQuestion =
  | { readonly kind: 'token'; readonly tokenId: string; readonly times: number }
  | { readonly kind: 'advance'; readonly ms: number };
export type WebAnswer = { readonly port: number } | { readonly tokens: readonly string[] } | 'advanced';

const { databaseUrl, environment, key } = JSON.parse(process.argv[2] ?? '') as WebProcess;
let ahead = 0;
const settings = readSettings(environment);
await using opened = await openWebServices({
  settings,
  address: { url: databaseUrl },
  key: Buffer.from(key, 'base64'),
  log: openLog('silent'),
  now: () => Date.now() + ahead,
});
const { services } = opened;
await using web = await startWeb(openWeb(services), { host: '127.0.0.1', port: 0, portalFolder: null });
const answer = (message: WebAnswer) => process.send?.(message);

process.on('message', (question: WebQuestion) => {
  if (question.kind === 'advance') {
    ahead += question.ms;
    answer('advanced');
    return;
  }
  const { tokenId, times } = question;
  void Promise.all(Array.from({ length: times }, () => services.tokens.accessToken(tokenId))).then((tokens) =>
    answer({ tokens }),
  );
});
answer({ port: web.port });
await once(process, 'disconnect');
