import { afterAll, beforeAll, expect, test } from 'vitest';
import { LEGACY_DOMAIN, openWebWorld, type WebWorld } from '../support/web-world.ts';
import { CLIENT } from '../support/sign-in-server.ts';

const ANN = `ann@${LEGACY_DOMAIN}`;
const SOURCE = 'canary-source-password-1';
const WRONG = 'canary-wrong-password-2';
const ELSEWHERE = 'canary-other-password-3';

let world: WebWorld;
beforeAll(async () => {
  world = await openWebWorld({ providers: ['yahoo'] });
  if (world.providers.yahoo !== undefined) world.providers.yahoo.person.email = ANN;
  world.passwords.set(ANN, SOURCE);
  world.passwords.set('ann@mail.example', ELSEWHERE);
});
afterAll(() => world[Symbol.asyncDispose]());

test('no password, code or token is in a log, an answer, an address or the database in clear', async () => {
  const seen: string[] = [];
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
  const post = async (path: string, body: unknown) => {
    const answer = await world.post(path, body, { cookie: cookie() });
    seen.push(answer.text, JSON.stringify([...answer.headers]));
    return answer;
  };
  const account = { email: ANN, provider: 'sanbruno' };
  const session = await post('/api/validate/', { ...account, password: SOURCE });
  await post('/api/validate/', { ...account, password: WRONG });
  await post('/api/validate/', { ...account, password: { canary: WRONG } });
  await post('/api/validate/', { email: WRONG, password: SOURCE });
  await post('/api/validate/', `{"password":"${SOURCE}"`);
  await post(`/api/${WRONG}/`, {});
  await post('/api/v2/san-bruno-create-account/', { email: ANN, password: SOURCE });
  world.provisioning.answer = { status: 500, body: { message: SOURCE } };
  await post('/api/v2/san-bruno-create-account/', { email: ANN, password: SOURCE });

  // A sign-in at the provider, hop by hop as a browser.
  let code = '';
  let page: URL | undefined;
  for (let url = new URL('/api/oauth/?provider=yahoo', world.settings.publicUrl); page === undefined;) {
    const own = url.origin === world.settings.publicUrl;
    const response = await fetch(own ? `${world.url}${url.pathname}${url.search}` : url, {
      redirect: 'manual',
      headers: { cookie: cookie() },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ''] = cookie.split(';');
      jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1));
    }
    url = new URL(response.headers.get('location') ?? '', url);
    if (own) seen.push(url.pathname.startsWith('/oauth-callback') ? url.href : '');
    code ||= url.searchParams.get('code') ?? '';
    if (url.pathname.startsWith('/oauth-callback')) page = url;
  }
  const tokenId = page.searchParams.get('token_id') ?? '';
  const accessToken = await world.services.tokens.accessToken(tokenId);
  const [token] = await world.database.query<{ sealed: Uint8Array }>('select sealed from oauth_tokens where id = $1', [
    tokenId,
  ]);
  const opened = world.services.vault.open(`oauth_tokens/${tokenId}`, token?.sealed ?? new Uint8Array());
  const { refresh } = JSON.parse(opened) as { refresh: string };

  const loaded = await post('/api/load/', {
    source_account: { ...account, password: SOURCE },
    destination_account: { email: ANN, provider: 'yahoo', token_id: tokenId },
    operations: ['emailmigration'],
    parameters: {},
  });
  expect(loaded.status).toBe(200);
  await post('/api/load/', {
    source_account: { ...account, password: SOURCE },
    destination_account: { email: 'ann@mail.example', provider: 'other', password: ELSEWHERE },
    operations: ['emailmigration'],
    parameters: { destination_imap: world.trustedImap },
  });

  const canaries = [SOURCE, WRONG, ELSEWHERE, CLIENT.secret, code, accessToken, refresh, 'provisioning-token-canary'];
  expect(canaries.every((canary) => canary.length > 10)).toBe(true);
  const dump = JSON.stringify(await everything());
  const { token: jwt } = session.body as { token: string };
  const log = world.logLines.join('');
  expect(log).toContain('sign-in refused');
  for (const canary of canaries)
    for (const [where, text] of Object.entries({ answers: seen.join('\n'), log, database: dump }))
      expect(text.includes(canary), `${canary} in the ${where}`).toBe(false);
  for (const canary of [jwt, tokenId]) expect(log.includes(canary)).toBe(false);
  expect(dump.includes(jwt)).toBe(false);
  expect(log).not.toContain(ANN);
});

/** Every row of every table, sealed bytes as text too. */
async function everything(): Promise<unknown[]> {
  const tables = await world.database.query<{ name: string }>(
    `select quote_ident(schemaname) || '.' || quote_ident(tablename) as name from pg_tables
     where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const rows: unknown[] = [];
  for (const { name } of tables) {
    rows.push(await world.database.query(`select t::text as row from ${name} t`));
    for (const row of await world.database.query(`select * from ${name}`))
      rows.push(
        Object.values(row).map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : '')),
      );
  }
  return rows;
}
