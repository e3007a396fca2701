import type { OauthProvider } from '../../../contract/provider.ts';

/** Domains whose mailboxes are one provider's own. */
const DOMAINS: Record<OauthProvider, readonly string[]> = {
  google: ['gmail.com', 'googlemail.com'],
  yahoo: ['ymail.com', 'rocketmail.com', 'myyahoo.com'],
  office365: ['outlook.com', 'hotmail.com', 'live.com', 'msn.com', 'passport.com', 'windowslive.com'],
  aol: ['aol.com', 'aim.com', 'netscape.net', 'love.com', 'games.com', 'wow.com', 'verizon.net'],
};

/** `yahoo.co.uk`, `outlook.fr`, `hotmail.co.jp`: the same provider in another country. */
const NATIONAL: Record<OauthProvider, RegExp | null> = {
  google: null,
  yahoo: /^yahoo\.(?:[a-z]{2,3}|com?\.[a-z]{2})$/,
  office365: /^(?:outlook|hotmail|live)\.(?:[a-z]{2}|com?\.[a-z]{2})$/,
  aol: /^aol\.(?:[a-z]{2}|com?\.[a-z]{2})$/,
};

/** Mail exchangers and mail servers by which a provider is known to host a domain. */
const SERVERS: Record<OauthProvider, RegExp> = {
  google: /(?:^|\.)(?:google|googlemail|gmail)\.com$/,
  aol: /^mx-aol\.|(?:^|\.)aol\.com$/,
  yahoo: /(?:^|\.)(?:yahoodns\.net|yahoo\.com)$/,
  office365: /(?:^|\.)(?:protection\.outlook\.com|mx\.microsoft|office365\.com|outlook\.com|hotmail\.com)$/,
};

const ORDER = ['google', 'aol', 'yahoo', 'office365'] as const satisfies readonly OauthProvider[];

/** @param domain of an email address, in lower case */
export function providerOfDomain(domain: string): OauthProvider | null {
  return (
    ORDER.find((provider) => DOMAINS[provider].includes(domain) || NATIONAL[provider]?.test(domain) === true) ?? null
  );
}

/** @param host a mail exchanger or an IMAP server. */
export function providerOfServer(host: string): OauthProvider | null {
  const name = host.toLowerCase().replace(/\.$/, '');
  return ORDER.find((provider) => SERVERS[provider].test(name)) ?? null;
}
