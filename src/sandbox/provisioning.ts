import { Hono } from 'hono';
import * as v from 'valibot';
import { Email } from '../contract/email.ts';
import { bearer } from './bearer.ts';
import { Journal } from './journal.ts';

export type ProvisioningState = 'created' | 'in progress' | 'completed';

type Known = { readonly password: string; readonly state: ProvisioningState };

const Flag = v.optional(v.boolean());
const NewAccount = v.object({ email: Email, password: v.pipe(v.string(), v.minLength(1)), in_qa: Flag });
const NewMigration = v.object({ email: Email, in_qa: Flag });
const Stored = v.object({
  email: v.string(),
  password: v.string(),
  state: v.picklist(['created', 'in progress', 'completed']),
});

const CONFLICTS = {
  created: 'ACCOUNT_ALREADY_CREATED',
  'in progress': 'ACCOUNT_ALREADY_EXISTS_MIGRATION_IN_PROGRESS',
  completed: 'ACCOUNT_ALREADY_EXISTS_MIGRATION_COMPLETED',
} as const satisfies Record<ProvisioningState, string>;

export type Provisioning = Disposable & {
  readonly app: Hono;
  /** Whether an account was created for this address with this password. */
  readonly accepts: (email: string, password: string) => boolean;
};

/** The destination's account-creation service (`decisions.md`, `PROVISIONING_URL`). Its state is stored at `path`. */
export function openProvisioning(
  path: string,
  token: string,
  seeded: readonly { readonly email: string; readonly password: string; readonly provisioned?: ProvisioningState }[],
): Provisioning {
  const known = new Map<string, Known>();
  for (const { email, password, provisioned } of seeded)
    if (provisioned !== undefined) known.set(email, { password, state: provisioned });
  const journal = Journal.open(path, (record) => {
    const { email, ...rest } = v.parse(Stored, record);
    known.set(email, rest);
  });
  const keep = (email: string, account: Known) => {
    journal.append({ email, ...account });
    known.set(email, account);
  };

  const app = new Hono();
  app.use(bearer(token));
  app.post('/accounts', async (c) => {
    const request = v.safeParse(NewAccount, await body(c.req.raw));
    if (!request.success)
      return c.json({ error: 'INVALID_REQUEST', message: 'An email and a password are needed.' }, 400);
    const { email, password } = request.output;
    const account = known.get(email);
    if (account !== undefined)
      return c.json(
        { error: CONFLICTS[account.state], message: `The account exists; its state is: ${account.state}.` },
        409,
      );
    keep(email, { password, state: 'created' });
    return c.json({ ok: true }, 201);
  });
  app.post('/migrations', async (c) => {
    const request = v.safeParse(NewMigration, await body(c.req.raw));
    if (!request.success) return c.json({ error: 'INVALID_REQUEST', message: 'An email is needed.' }, 400);
    const account = known.get(request.output.email);
    if (account === undefined) return c.json({ error: 'ACCOUNT_NOT_FOUND', message: 'There is no such account.' }, 404);
    if (account.state === 'created') keep(request.output.email, { ...account, state: 'in progress' });
    return c.json({ ok: true });
  });

  return {
    app,
    accepts: (email, password) => known.get(email)?.password === password,
    [Symbol.dispose]: () => journal[Symbol.dispose](),
  };
}

async function body(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return null;
  }
}
