import * as v from 'valibot';

type Fault = { readonly fault: string; readonly example: string };
/** The error message for a value: what is wrong with it, and an example. */
export const fault = ({ fault: what, example }: Fault) => `${what} Example: ${example}`;

export function number(min: number, max: number, example: string) {
  const message = fault({ fault: `must be a whole number from ${min} to ${max}.`, example });
  return v.pipe(
    v.string(),
    v.regex(/^\d{1,9}$/, message),
    v.transform(Number),
    v.minValue(min, message),
    v.maxValue(max, message),
  );
}

export function url(protocols: readonly string[], example: string) {
  const start = fault({ fault: `must be an address that starts with ${protocols.join(' or ')}.`, example });
  const place = fault({ fault: 'must have a host, and a port of 65535 at most if any.', example });
  return v.pipe(
    v.string(),
    v.check((text) => startsWithOne(text, protocols), start),
    v.check((text) => isAddress(text, protocols), place),
  );
}

/** `URL.parse` also accepts `HTTP:host`, which nothing else that reads a setting does. */
function isAddress(text: string, protocols: readonly string[]): boolean {
  return startsWithOne(text, protocols) && (URL.parse(text)?.hostname ?? '') !== '';
}

function startsWithOne(text: string, protocols: readonly string[]): boolean {
  return protocols.some((protocol) => text.startsWith(protocol));
}

/** An address with a name and a password, in which delimiters must be percent-encoded. */
export function account(protocols: readonly string[], example: string) {
  const message = fault({
    fault: `must be an address that starts with ${protocols.join(' or ')}, with % as %25, @ as %40, # as %23 and / as %2F in its name and password.`,
    example,
  });
  return v.pipe(
    v.string(),
    v.check((text) => isAddress(text, protocols) && hasAccount(text), message),
  );
}

function hasAccount(text: string): boolean {
  const { username = '', password = '', hash = '' } = URL.parse(text) ?? {};
  try {
    return hash === '' && [username, password].every((part) => typeof decodeURIComponent(part) === 'string');
  } catch {
    return false;
  }
}

/** An address without a name and password, which would never be used, only displayed. */
export function place(protocols: readonly string[], example: string) {
  const message = fault({ fault: 'must have no name or password in it.', example });
  return v.pipe(
    url(protocols, example),
    v.check((text) => {
      const { username = '', password = '' } = URL.parse(text) ?? {};
      return username === '' && password === '';
    }, message),
  );
}

const WEB = ['https://', 'http://'];
export const web = (example: string) => place(WEB, example);
/** A base address, to which paths are appended. */
export const base = (example: string) =>
  v.pipe(web(example), v.regex(/^[^?#]*$/, fault({ fault: 'must have nothing behind its path.', example })));
export const imap = (example: string) => place(['imaps://', 'imap://'], example);

export function list(isEntry: (entry: string) => boolean, what: string, example: string) {
  const message = fault({ fault: `must be ${what}, separated by commas.`, example });
  return v.pipe(
    v.string(),
    v.transform((text) =>
      text
        .split(',')
        .map((entry) => entry.trim().toLowerCase())
        .filter((entry) => entry !== ''),
    ),
    v.minLength(1, message),
    v.check((entries) => entries.every(isEntry), message),
  );
}

export const flag = (example: string) =>
  v.pipe(
    v.picklist(['on', 'off'], fault({ fault: 'must be on or off.', example })),
    v.transform((text) => text === 'on'),
  );

export function moment(example: string) {
  const message = fault({ fault: 'must be a time with its offset (ISO 8601).', example });
  return v.pipe(
    v.string(),
    v.isoTimestamp(message),
    // JavaScript parses February 30 as March 2.
    v.check((text) => new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10)), message),
    // Normalizes to the one form of ISO 8601 that every browser parses.
    v.transform((text) =>
      text
        .replaceAll(' ', (_, at) => (at === 10 ? 'T' : ''))
        .replace(/([+-]\d\d)(?::?(\d\d))?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`),
    ),
  );
}

/** There is no minimum length, because an empty variable counts as unset. */
export const text = (max: number, example: string) =>
  v.pipe(v.string(), v.maxLength(max, fault({ fault: `must have ${max} characters at most.`, example })));

/** A folder's path, which no shell has read before. */
export const folder = (example: string) =>
  v.pipe(
    text(4096, example),
    v.regex(/^[^~]/, fault({ fault: 'must be the whole path of a folder: ~ is not replaced here.', example })),
    v.regex(/^(?![a-z][a-z0-9+.-]+:\/\/)/i, fault({ fault: "must be a folder's path, and no address.", example })),
  );

/** Text that is displayed, and goes into the headers of letters. */
export const line = (max: number, example: string) =>
  v.pipe(
    text(max, example),
    v.regex(/^\P{Cc}+$/u, fault({ fault: 'must be one line, without control characters.', example })),
  );

/** 32 bytes in base64. */
export const isKey = (text: string) => /^[A-Za-z0-9+/]{43}=$/.test(text);

export const key = (name: string) =>
  v.pipe(
    v.string(),
    v.check(isKey, fault({ fault: 'must be 32 bytes in base64.', example: `${name}=$(openssl rand -base64 32)` })),
  );

export const secret = (name: string) => text(4096, `${name}=…`);

/** An origin, to which redirect addresses and the portal's own paths are appended. */
export function origin(example: string) {
  const message = fault({ fault: 'must have nothing behind its host and port, and no name or password.', example });
  return v.pipe(url(WEB, example), v.regex(/^[^/]+\/\/[^/?#@]+\/*$/, message));
}
