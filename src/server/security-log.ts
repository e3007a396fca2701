import type { Log } from './log.ts';
import type { Vault } from './store/vault.ts';

/**
 * The security log: who tried what. Addresses appear as keyed digests, so that one can be followed through the log without
 * being named; finding the lines of a given address takes `SECRET_KEY`.
 */
export type SecurityEvent =
  | 'sign-in accepted'
  | 'sign-in refused'
  | 'sign-in not tried: too many'
  | 'signed out'
  | 'signed out everywhere'
  | 'call refused: too many'
  | 'call refused: not the owner'
  | 'call refused: from another site'
  | 'call refused: malformed'
  | 'consent accepted'
  | 'consent refused'
  | 'transfer ordered'
  | 'transfer stopped'
  | 'transfer put right'
  | 'take-back ordered'
  | 'daily switched on'
  | 'daily switched off'
  | 'receipt handed out'
  | 'file handed out'
  | 'files deleted'
  | 'subscriber erased';

export type SecurityFacts = {
  readonly mailbox?: string;
  /** The network that asks. */
  readonly client?: string;
  readonly transferId?: string;
  readonly what?: string;
};

export type SecurityLog = (event: SecurityEvent, facts?: SecurityFacts) => void;

const DIGEST_LENGTH = 16;

/** Lines with `security` in them, on the same output and whatever `LOG_LEVEL` says; `silent` silences them too. */
export function openSecurityLog({ log, vault }: { readonly log: Log; readonly vault: Vault }): SecurityLog {
  const silent = log.level === 'silent';
  const lines = log.child({ log: 'security' }, { level: silent ? 'silent' : 'info' });
  return (security, { mailbox, client, transferId, what } = {}) => {
    lines.info({
      security,
      ...(mailbox === undefined ? {} : { mailbox: vault.digest('log mailbox', mailbox).slice(0, DIGEST_LENGTH) }),
      ...(client === undefined ? {} : { client: vault.digest('log client', client).slice(0, DIGEST_LENGTH) }),
      ...(transferId === undefined ? {} : { transferId }),
      ...(what === undefined ? {} : { what }),
    });
  };
}
