import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { office365 } from '../../src/server/oauth/office365.ts';
import { isPage, OauthBrowser } from '../support/oauth-browser.ts';
import { openWebWorld, type WebWorld } from '../support/web-world.ts';

const PERSONAL = '9188040d-6c67-4c5b-b112-36a304b66dad';
const TENANT = 'c0ffee00-0000-4000-8000-000000000000';
const email = 'ann@sanbruno.example';

test.each([
  ['of a personal account', { email, tid: PERSONAL }, true],
  ['whose domain the tenant owns', { email, tid: TENANT, xms_edov: true }, true],
  ['whose domain the tenant owns, as some tokens say it', { email, tid: TENANT, xms_edov: '1' }, true],
  ['that an administrator has set', { email, tid: TENANT }, false],
  ['of a domain that the tenant does not own', { email, tid: TENANT, xms_edov: false }, false],
  ['that is a name at the tenant', { preferred_username: email, tid: TENANT }, false],
])('an address %s is believed to be somebody: %s', (_what, claims, believed) => {
  expect(office365.isVerified?.(claims)).toBe(believed);
  expect(office365.emailClaims).toEqual(['email']);
});

describe('a sign-in at Microsoft', () => {
  const ANNS = { tid: TENANT, oid: 'a11ce000-0000-4000-8000-000000000001' };
  let world: WebWorld;
  beforeAll(async () => {
    world = await openWebWorld({ providers: ['office365'] });
  });
  afterAll(() => world[Symbol.asyncDispose]());

  /** Signs in with these claims, and answers the page of the portal that it ends at. */
  async function comeBack(claims: object, address = email): Promise<URL> {
    const { office365: server } = world.providers;
    if (server === undefined) throw new Error('There is no Microsoft.');
    Object.assign(server.person, { email: address, microsoft: claims });
    return new OauthBrowser(world).until('/api/oauth/?provider=outlook', isPage);
  }
  const people = async () =>
    (await world.database.query<{ person: string }>('select person from oauth_tokens')).map(({ person }) => person);

  test.each([
    ['says nothing of it', {}],
    ['has not verified it', { xms_edov: false }],
    ['only calls it by that name', { preferred_username: email, xms_edov: '0' }],
  ])(
    'with an address of which Microsoft %s is refused in words of its own, and nothing is kept',
    async (_what, said) => {
      const page = await comeBack({ ...ANNS, ...said });
      expect(page.pathname + page.search).toBe('/oauth-callback?error=ADDRESS_NOT_VERIFIED&provider=office365');
      expect(await people()).toEqual([]);
      expect(world.providers.office365?.revocations).toHaveLength(1);
      world.providers.office365?.revocations.splice(0);
    },
  );

  test('is of the person that tenant and object name, whatever their address, and by a digest', async () => {
    for (const address of [email, 'ann.smith@sanbruno.example']) await comeBack({ ...ANNS, xms_edov: true }, address);
    await comeBack({ ...ANNS, tid: PERSONAL }, email);
    const [one, again, other] = await people();
    expect(one).toMatch(/^[0-9a-f]{64}$/);
    expect(again).toBe(one);
    expect(other).not.toBe(one);
    const ids = await world.database.query<{ id: string }>('select id from oauth_tokens where person = $1', [one]);
    // It would end the other consent of the same person, though its address is another.
    for (const { id } of ids) {
      expect(world.providers.office365?.revocations).toEqual([]);
      await world.services.tokens.forget(id);
    }
    expect(world.providers.office365?.revocations).toHaveLength(1);
  });
});
