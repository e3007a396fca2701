import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './run.ts';

type Certificate = { readonly key: Buffer; readonly cert: Buffer };

/** A certificate signed by another one, and its key, in PEM. */
export async function signedBy(authority: Certificate, name: string): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  try {
    const at = (file: string) => join(folder, file);
    await Promise.all([writeFile(at('ca.key'), authority.key), writeFile(at('ca.cert'), authority.cert)]);
    const request = ['req', '-newkey', 'rsa:2048', '-nodes', '-subj', `/CN=${name}`];
    await run('openssl', [...request, '-keyout', at('key'), '-out', at('request')]);
    const by = ['-CA', at('ca.cert'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', '1'];
    await run('openssl', ['x509', '-req', '-in', at('request'), ...by, '-out', at('cert')]);
    return { key: await readFile(at('key')), cert: await readFile(at('cert')) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A fresh self-signed certificate and its key, in PEM. */
export async function selfSigned(name: string): Promise<Certificate> {
  const folder = await mkdtemp(join(tmpdir(), 'certificate-'));
  try {
    const [key, cert] = [join(folder, 'key'), join(folder, 'cert')];
    const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', `/CN=${name}`];
    await run('openssl', [...request, '-keyout', key, '-out', cert]);
    return { key: await readFile(key), cert: await readFile(cert) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
