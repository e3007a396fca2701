import { isDomain } from './email-address.ts';

export type Host = { readonly name: string; readonly port?: number };

/** Parses `host` or `host:port`; `null` for anything else, including IP addresses and single labels. */
export function readHost(text: string): Host | null {
  const match = /^([^:\s]+)(?::(\d{1,5}))?$/u.exec(text);
  const name = match?.[1]?.toLowerCase();
  if (name === undefined || !isDomain(name)) return null;
  if (match?.[2] === undefined) return { name };
  const port = Number(match[2]);
  return port >= 1 && port <= 65_535 ? { name, port } : null;
}
