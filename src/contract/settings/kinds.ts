import * as v from 'valibot';

type Fault = { readonly fault: string; readonly example: string };
/** What is said of a value: what is wrong with it, and how a right one looks. */
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
  const message = fault({ fault: `must be an address that starts with ${protocols.join(' or ')}.`, example });
  return v.pipe(
    v.string(),
    v.check((text) => isAddress(text, protocols), message),
  );
}

/** A parser takes `HTTP:host` as well, which no other reader of a setting does. */
function isAddress(text: string, protocols: readonly string[]): boolean {
  return protocols.some((protocol) => text.startsWith(protocol)) && (URL.parse(text)?.hostname ?? '') !== '';
}

/** One with a name and a password, which can hold no sign that ends them. */
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

/** An address where nothing would be done with a name or a password, but that it is shown. */
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
/** What is asked for is put right behind it. */
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
    // JavaScript takes February 30 for March 2.
    v.check((text) => new Date(text.slice(0, 10)).getUTCDate() === Number(text.slice(8, 10)), message),
    // The one form of ISO 8601 that every browser reads.
    v.transform((text) =>
      text
        .replaceAll(' ', (_, at) => (at === 10 ? 'T' : ''))
        .replace(/([+-]\d\d)(?::?(\d\d))?$/, (_, hours: string, minutes = '00') => `${hours}:${minutes}`),
    ),
  );
}

/** An empty variable counts as unset, so there is no shortest length. */
export const text = (max: number, example: string) =>
  v.pipe(v.string(), v.maxLength(max, fault({ fault: `must have ${max} characters at most.`, example })));

/** What is shown, and stands in the headers of letters. */
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

/** Redirect addresses and the portal's own paths are put right behind it. */
export function origin(example: string) {
  const message = fault({ fault: 'must have nothing behind its host and port, and no name or password.', example });
  return v.pipe(url(WEB, example), v.regex(/^[^/]+\/\/[^/?#@]+\/*$/, message));
}
