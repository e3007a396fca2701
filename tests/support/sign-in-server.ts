import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Provider, type Configuration } from 'oidc-provider';
import type { OauthProvider } from '../../src/contract/provider.ts';

export const CLIENT = { id: 'portal', secret: 'client-secret-canary-4711' } as const;

/** Who the person at the browser is, and what they do at this provider. */
export type Person = {
  email: string;
  /** Distinguishes accounts that have had the same address. */
  account: string;
  emailVerified: boolean;
  /** Microsoft's claims about a person, for the scope `profile`, in place of `email_verified`. */
  microsoft: Readonly<Record<string, unknown>> | null;
  /** Scopes that the person unticks. */
  refusesScopes: string[];
  /** Whether the person cancels the sign-in. */
  cancels: boolean;
};

/** A real OpenID provider on loopback that signs the person in and consents without asking. */
export type SignInServer = AsyncDisposable & {
  readonly issuer: string;
  readonly person: Person;
  /** The bodies of requests to the token endpoint. */
  readonly tokenRequests: URLSearchParams[];
  /** All access tokens that it has issued, newest last. */
  readonly accessTokens: readonly string[];
  readonly revocations: URLSearchParams[];
  /** Whether the provider answers its token endpoint; `false` makes it hang up. */
  answersTokens: boolean;
  /** What its token endpoint refuses each request with: the code in the body alone, or a challenge as well (RFC 6749 §5.2). */
  refusesTokens: { readonly error: string; readonly challenges?: boolean } | null;
  /** The token endpoint waits for this before it answers. */
  heldUntil: Promise<unknown>;
};

type Options = {
  readonly provider: OauthProvider;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** The lifetime of access tokens, in seconds. */
  readonly tokenLife?: number;
};

export async function startSignInServer({ redirectUri, scopes, tokenLife = 3600 }: Options): Promise<SignInServer> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const person: Person = {
    email: 'ann@sanbruno.example',
    account: '',
    emailVerified: true,
    microsoft: null,
    refusesScopes: [],
    cancels: false,
  };
  const configuration: Configuration = {
    clients: [
      {
        client_id: CLIENT.id,
        client_secret: CLIENT.secret,
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
      },
    ],
    pkce: { required: () => true },
    scopes: ['openid', 'offline_access', 'email', ...scopes],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['tid', 'oid', 'xms_edov'] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false }, revocation: { enabled: true } },
    cookies: { keys: ['test'] },
    ttl: {
      AccessToken: tokenLife,
      AuthorizationCode: 60,
      IdToken: 3600,
      Interaction: 600,
      Session: 600,
      Grant: 86_400,
      RefreshToken: 86_400,
    },
    issueRefreshToken: () => Promise.resolve(true),
    expiresWithSession: () => Promise.resolve(false),
    rotateRefreshToken: true,
    interactions: { url: (_ctx, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_ctx, id) => ({
      accountId: id,
      claims: () =>
        Promise.resolve({
          sub: id,
          email: id.split(' ')[0],
          ...(person.microsoft ?? { email_verified: person.emailVerified }),
        }),
    }),
  };
  const provider = new Provider(issuer, configuration);
  const control: Pick<SignInServer, 'answersTokens' | 'refusesTokens' | 'heldUntil'> = {
    answersTokens: true,
    refusesTokens: null,
    heldUntil: Promise.resolve(),
  };
  const tokenRequests: URLSearchParams[] = [];
  const accessTokens: string[] = [];
  const revocations: URLSearchParams[] = [];
  provider.on('grant.success', (ctx) => {
    tokenRequests.push(new URLSearchParams(ctx.oidc.params as Record<string, string>));
    accessTokens.push((ctx.body as { access_token: string }).access_token);
  });
  provider.use(async (ctx, next) => {
    if (ctx.path === '/token') await control.heldUntil;
    if (ctx.path === '/token' && !control.answersTokens) {
      ctx.req.socket.destroy();
      return;
    }
    if (ctx.path === '/token' && control.refusesTokens !== null) {
      const { error, challenges = false } = control.refusesTokens;
      ctx.status = challenges ? 401 : 400;
      if (challenges) ctx.set('www-authenticate', 'Basic realm="provider"');
      ctx.body = { error };
      return;
    }
    await next();
    if (ctx.path === '/token/revocation')
      revocations.push(new URLSearchParams((ctx.oidc?.params ?? {}) as Record<string, string>));
  });

  const handle = provider.callback();
  server.on('request', (request, response) => {
    if (request.url?.startsWith('/interaction/') !== true) {
      void handle(request, response);
      return;
    }
    void interact();

    async function interact(): Promise<void> {
      const details = await provider.interactionDetails(request, response);
      if (person.cancels) {
        await provider.interactionFinished(request, response, {
          error: 'access_denied',
          error_description: '<b>no</b>',
        });
        return;
      }
      if (details.prompt.name === 'login') {
        await provider.interactionFinished(request, response, {
          login: { accountId: `${person.email} ${person.account}`.trim() },
        });
        return;
      }
      const asked = String(details.params['scope']).split(' ');
      const grant = new provider.Grant({ accountId: details.session?.accountId ?? '', clientId: CLIENT.id });
      grant.addOIDCScope(asked.filter((scope) => !person.refusesScopes.includes(scope)).join(' '));
      for (const scope of person.refusesScopes) grant.rejectOIDCScope(scope);
      grant.addOIDCClaims(['email', 'email_verified']);
      await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
    }
  });

  return {
    issuer,
    person,
    tokenRequests,
    accessTokens,
    revocations,
    get answersTokens() {
      return control.answersTokens;
    },
    set answersTokens(answers) {
      control.answersTokens = answers;
    },
    get refusesTokens() {
      return control.refusesTokens;
    },
    set refusesTokens(how) {
      control.refusesTokens = how;
    },
    get heldUntil() {
      return control.heldUntil;
    },
    set heldUntil(until) {
      control.heldUntil = until;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
