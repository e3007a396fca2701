import { MailError } from '../mail/imap/mail-error.ts';
import { markOf } from './mark.ts';
import type { SieveSession } from './sieve-session.ts';

/** Our script's name at the server, and the line by which it is known to be ours. */
export const FORWARDING_SCRIPT = 'email-data-transfer';
const MARK = '# Forwarding, set up by the email data transfer. Written anew by the next transfer.';
/** How often it is set up anew because the subscriber has made another script active meanwhile. */
const TRIES = 3;
const INCLUDED = /^include :personal (?::optional )?"((?:[^"\\]|\\.)*)";$/m;
const SENT_TO = /^redirect (?::copy )?"((?:[^"\\]|\\.)*)";$/m;

/**
 * `set without copies`: the server can't mark what it sends on, so none of it stays. `refused`: why forwarding was not set
 * up; every script is as it was then.
 * - `redirects` the server lets no script redirect;
 * - `rules` the subscriber has a script, and the server can't keep it working beside ours (RFC 6609, 3894, 5232), or it
 *   does what ours would break, or what takes our mark off;
 * - `name` the subscriber has a script of our script's name, or has changed ours.
 */
export type ForwardingOutcome = 'set' | 'set without copies' | { readonly refused: 'redirects' | 'rules' | 'name' };

/**
 * Forwards what will come to an address, by a script of our own (RFC 5228) that goes on with the one that was active.
 * Every message stays in the mailbox as well, so that none is lost that the destination refuses, and is marked, so that
 * none comes twice; where the server can't mark, none stays. Can be repeated.
 * @throws {MailError}
 */
export async function setUpForwarding(session: SieveSession, address: string): Promise<ForwardingOutcome> {
  if (session.maxRedirects === 0) return { refused: 'redirects' };
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    const outcome = await setUp(session, address);
    if (outcome !== 'changed meanwhile') return outcome;
  }
  throw new MailError('refused', 'Another script is made active all the time.');
}

async function setUp(session: SieveSession, address: string): Promise<ForwardingOutcome | 'changed meanwhile'> {
  const scripts = await session.scripts();
  const before = scripts.find((script) => script.active)?.name;
  let active = before;
  if (scripts.some((script) => script.name === FORWARDING_SCRIPT)) {
    const ours = await session.read(FORWARDING_SCRIPT);
    if (!isOurs(ours)) return { refused: 'name' };
    if (active === FORWARDING_SCRIPT) active = scripts.find(({ name }) => name === includedBy(ours))?.name;
  }
  const { extensions } = session;
  const marks = extensions.has('copy') && extensions.has('imap4flags');
  if (active !== undefined && !(marks && extensions.has('include') && (await isCompatible(session, active))))
    return { refused: 'rules' };
  await session.put(FORWARDING_SCRIPT, forwardingScript(address, active, marks));
  // What the subscriber has made active meanwhile would no longer be.
  const now = await activeOf(session);
  if (now !== before) {
    if (now !== FORWARDING_SCRIPT) await session.remove(FORWARDING_SCRIPT);
    return 'changed meanwhile';
  }
  await session.activate(FORWARDING_SCRIPT);
  if ((await activeOf(session)) !== FORWARDING_SCRIPT)
    throw new MailError('refused', 'The server did not make the script active.');
  return marks ? 'set' : 'set without copies';
}

async function activeOf(session: SieveSession): Promise<string | undefined> {
  return (await session.scripts()).find((script) => script.active)?.name;
}

/**
 * Whether a script works beside a redirect and a mark, and leaves both: with one redirect too many (by how many there
 * are in all its branches), or a refusal (RFC 5429 §2.4), a server drops all that a message was to have, and flags that
 * are set in place of others take the mark with them (RFC 5232), so that the message would come twice.
 */
async function isCompatible(session: SieveSession, name: string): Promise<boolean> {
  const { maxRedirects = Infinity } = session;
  const active = rulesOf(await session.read(name));
  let { redirects, breaksOurs } = active;
  const others = active.includesOthers ? await session.scripts() : [];
  // One after the other, and none is kept: anybody may have thousands.
  for (const other of others) {
    if (breaksOurs || redirects >= maxRedirects) break;
    if ([name, FORWARDING_SCRIPT].includes(other.name)) continue;
    const rules = rulesOf(await session.read(other.name));
    redirects += rules.redirects;
    breaksOurs = rules.breaksOurs;
  }
  return redirects < maxRedirects && !breaksOurs;
}

function rulesOf(script: string) {
  const statements = statementsOf(script);
  return {
    includesOthers: statements.some((statement) => /^include\b/.test(statement)),
    redirects: statements.filter((statement) => /^redirect\b/.test(statement)).length,
    breaksOurs: statements.some((statement) => /^(?:e?reject|setflag)\b|:flags\b/.test(statement)),
  };
}

/** In lower case; what looks like one within a text counts too. */
function statementsOf(script: string): string[] {
  const lines = script.toLowerCase().split(/[\n;{}]|\*\//);
  return lines.map((line) => line.trim()).filter((line) => !line.startsWith('#'));
}

/**
 * Takes our script away, so that the one that was active before it is active again, or none. A script that forwards to
 * another address, or that is not ours, stays as it is. Can be repeated.
 * @throws {MailError} also where the subscriber has changed our script, which forwards still
 */
export async function switchOffForwarding(session: SieveSession, address: string): Promise<void> {
  const scripts = await session.scripts();
  const own = scripts.find(({ name }) => name === FORWARDING_SCRIPT);
  if (own === undefined) return;
  const script = await session.read(FORWARDING_SCRIPT);
  if (!script.includes(quoted(address))) return;
  if (!isOurs(script)) {
    if (own.active) throw new MailError('refused', 'The subscriber has changed the script that forwards.');
    return;
  }
  const before = scripts.find(({ name }) => name === includedBy(script));
  // RFC 5804 §2.8: no name deactivates whatever is active.
  if (own.active) await session.activate(before?.name ?? '');
  await session.remove(FORWARDING_SCRIPT);
}

/**
 * The redirect and the mark come first: the included script may stop, discard, or put the message elsewhere. It is
 * `:optional`, because otherwise nothing is forwarded any more once the subscriber deletes it.
 */
function forwardingScript(address: string, included: string | undefined, marks: boolean): string {
  const needed = ['copy', 'imap4flags', ...(included === undefined ? [] : ['include'])];
  const lines = marks
    ? [
        `require [${needed.map(quoted).join(', ')}];`,
        `redirect :copy ${quoted(address)};`,
        `addflag ${quoted(markOf(address))};`,
        ...(included === undefined ? [] : [`include :personal :optional ${quoted(included)};`]),
      ]
    : [`redirect ${quoted(address)};`];
  return [MARK, ...lines, ''].join('\r\n');
}

/** Whether it is as this program has written it: what a subscriber has added to it must neither be replaced nor deleted. */
function isOurs(script: string): boolean {
  const to = stringIn(script, SENT_TO);
  if (to === undefined) return false;
  return [true, false].some((marks) => wordsOf(forwardingScript(to, includedBy(script), marks)) === wordsOf(script));
}

/** Earlier versions wrote no `:optional`, and servers may change how lines end. */
function wordsOf(script: string): string {
  return script.replace(' :optional', '').split(/\s+/).join(' ').trim();
}

function includedBy(script: string): string | undefined {
  return stringIn(script, INCLUDED);
}

function stringIn(script: string, statement: RegExp): string | undefined {
  return statement.exec(script.replaceAll('\r\n', '\n'))?.[1]?.replaceAll(/\\(.)/g, '$1');
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, '\\$&')}"`;
}
