import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';

const Secrets = v.object({
  clientSecret: v.string(),
  provisioningToken: v.string(),
  smsToken: v.string(),
  cookieKey: v.string(),
  signingKey: v.record(v.string(), v.string()),
  ports: v.record(v.string(), v.number()),
});
/** `signingKey` is a private JSON Web Key; `ports` are the ports that the servers last listened on, by server name. */
export type Secrets = v.InferOutput<typeof Secrets>;

const FILE = 'sandbox.json';

/** What must be the same at the next start. If the file is missing or invalid, fresh secrets are generated. */
export function readSecrets(folder: string): Secrets {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    return v.parse(Secrets, JSON.parse(readFileSync(join(folder, FILE), 'utf8')));
  } catch (error) {
    const absent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    if (!absent && !(error instanceof SyntaxError) && !(error instanceof v.ValiError)) throw error;
    return freshSecrets();
  }
}

export function writeSecrets(folder: string, secrets: Secrets): void {
  const path = join(folder, FILE);
  writeFileSync(`${path}.new`, JSON.stringify(secrets, null, 2), { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

const token = () => randomBytes(24).toString('base64url');

function freshSecrets(): Secrets {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const key = v.parse(v.record(v.string(), v.string()), privateKey.export({ format: 'jwk' }));
  return {
    clientSecret: token(),
    provisioningToken: token(),
    smsToken: token(),
    cookieKey: token(),
    signingKey: { ...key, use: 'sig', alg: 'ES256', kid: 'sandbox' },
    ports: {},
  };
}
