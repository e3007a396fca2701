import { request } from 'node:https';
import { isDomain } from '../../../contract/email-address.ts';
import { type CheckedHost, HostError, resolvePublicHost, towards } from '../../network/public-address.ts';
import type { Resolver } from '../../network/resolver.ts';

const HTTPS_PORT = 443;
const WITHIN_MS = 2500;
/** A host's name has 253 characters at most; around it there may be spaces. */
const TEXT_LENGTH = 500;
const SIZE_LIMIT_OCTETS = 64 * 1024;

export type ImapServer = { readonly host: string; readonly port: number };

type Options = { readonly resolver: Resolver; readonly trusted: readonly string[] };

/**
 * The IMAP server that a domain publishes in Mozilla's autoconfiguration format, over HTTPS only: what it says decides
 * where a password goes. The address is not sent. Redirects are not followed, and only public hosts are asked.
 * https://wiki.mozilla.org/Thunderbird:Autoconfiguration
 */
export async function fetchAutoconfig(domain: string, options: Options): Promise<ImapServer | null> {
  const answers = await Promise.all([
    fetchDocument(`autoconfig.${domain}`, '/mail/config-v1.1.xml', options),
    fetchDocument(domain, '/.well-known/autoconfig/mail/config-v1.1.xml', options),
  ]);
  return (
    answers.map((text) => (text === null ? null : readAutoconfig(text, domain))).find((server) => server !== null) ??
    null
  );
}

/**
 * The first IMAP server with TLS in an autoconfiguration document; `null` when it names none.
 * @param domain of the address
 */
export function readAutoconfig(document: string, domain: string): ImapServer | null {
  for (const { attributes, body } of elementsIn(withoutComments(document), 'incomingServer')) {
    if (!/\btype\s*=\s*["']imap["']/.test(attributes)) continue;
    const host = textOf(body, 'hostname').replace('%EMAILDOMAIN%', domain).toLowerCase();
    const port = Number(textOf(body, 'port'));
    const security = textOf(body, 'socketType').toUpperCase();
    if (
      isDomain(host) &&
      Number.isInteger(port) &&
      port > 0 &&
      port <= 65_535 &&
      ['SSL', 'STARTTLS'].includes(security)
    )
      return { host, port };
  }
  return null;
}

/** A server that is commented out is none; what follows a comment without an end is none of the document either. */
function withoutComments(text: string): string {
  const pieces: string[] = [];
  let at = 0;
  for (let from; (from = text.indexOf('<!--', at)) >= 0;) {
    pieces.push(text.slice(at, from));
    const end = text.indexOf('-->', from + 4);
    if (end < 0) return pieces.join('');
    at = end + 3;
  }
  return pieces.join('') + text.slice(at);
}

/**
 * The elements of that name, which hold none of their own name here; each sign is looked at a few times, whatever the
 * text.
 */
function* elementsIn(text: string, name: string): Iterable<{ attributes: string; body: string }> {
  const end = `</${name}>`;
  for (let at = text.indexOf(`<${name}`); at >= 0; at = text.indexOf(`<${name}`, at)) {
    const inside = text.indexOf('>', at) + 1;
    const after = inside === 0 ? -1 : text.indexOf(end, inside);
    if (after < 0) return;
    yield {
      attributes: text.slice(at + name.length + 1, inside - 1).slice(0, TEXT_LENGTH),
      body: text.slice(inside, after),
    };
    at = after + end.length;
  }
}

function textOf(body: string, name: string): string {
  const [element] = elementsIn(body, name);
  return element === undefined ? '' : element.body.slice(0, TEXT_LENGTH).trim();
}

async function fetchDocument(host: string, path: string, { resolver, trusted }: Options): Promise<string | null> {
  let checked: CheckedHost;
  try {
    checked = await resolvePublicHost(host, HTTPS_PORT, { resolver, trusted, ports: [HTTPS_PORT] });
  } catch (error) {
    if (error instanceof HostError) return null;
    throw error;
  }
  const { promise, resolve } = Promise.withResolvers<string | null>();
  const asking = request(
    {
      ...towards(checked),
      servername: host,
      port: HTTPS_PORT,
      path,
      headers: { host, accept: 'text/xml, application/xml' },
      signal: AbortSignal.timeout(WITHIN_MS),
      agent: false,
    },
    (answer) => {
      const parts: Buffer[] = [];
      let size = 0;
      answer.on('data', (part: Buffer) => {
        size += part.length;
        if (size > SIZE_LIMIT_OCTETS) asking.destroy();
        else parts.push(part);
      });
      answer.on('end', () => resolve(answer.statusCode === 200 ? Buffer.concat(parts).toString('utf8') : null));
      answer.on('close', () => resolve(null));
    },
  );
  asking.on('error', () => resolve(null));
  asking.end();
  return promise;
}
