import { messages } from '@electric-sql/pglite';
import pg from 'pg';
import { Mendable } from '../log.ts';

/** The most connections in one pool. A process has two pools, its own and the job queue's. */
export const POOL_SIZE = 10;

/** What is wrong and what to do, by the prefix of the error code: PostgreSQL's (appendix A), the system's or OpenSSL's. */
const REMEDIES = [
  ['28', 'the database refused the name or the password', 'Mend them, or let its role in by pg_hba.conf'],
  ['3D000', 'there is no database of that name', 'Create it, or mend the name'],
  [
    '3F000',
    'the search_path of its role names no schema that it may use',
    'Create it and GRANT USAGE, CREATE on it, or mend the search_path',
  ],
  [
    '42501',
    'its role lacks a right',
    'Let it create a schema and tables: GRANT CREATE ON DATABASE and ON SCHEMA, or make it the owner',
  ],
  ['42', 'the database refused what is done with its tables at the start', 'Its own log says what and why'],
  ['25006', 'the database only reads', 'Name the primary, not a standby, and leave default_transaction_read_only off'],
  ['57014', 'a statement was canceled', 'Raise the statement_timeout of its role'],
  ['ENOENT', 'there is no file or socket where it points', 'Mend its path'],
  [
    'CERT_HAS_EXPIRED',
    'its certificate has expired, by the clock of this machine',
    'Renew it there, or put the clock right',
  ],
  [
    'CERT_NOT_YET_VALID',
    'its certificate is not valid yet, by the clock of this machine',
    'Put the clock right, or wait',
  ],
  ...['CERT_', 'DEPTH_ZERO_', 'ERR_TLS_CERT_', 'SELF_SIGNED_', 'UNABLE_TO_'].map(
    (begin) => [begin, 'its certificate is not one to believe', 'Name who vouches for it by sslrootcert'] as const,
  ),
  [
    '55P03',
    'somebody has tables that are to be changed, such as a backup or an open psql',
    'Wait for its end, or end it (pg_stat_activity)',
  ],
  [
    '08P01',
    'what stands before the database, such as PgBouncer, refused',
    'Its own log says why: its pool_mode must be session or transaction, and its max_client_conn allow all processes',
  ],
  [
    'no code',
    'the database did not let us in, hung up, gave no answer in time, or does not speak TLS',
    'Start it, mend the address, see what it waits for (pg_stat_activity), enlarge the pool of what stands before it (default_pool_size), or switch its ssl on, which sslmode asks for',
  ],
  ['53100', 'the disk of the database is full', 'Make room there'],
  [
    '53300',
    `the database has no connection left, and a process takes up to ${2 * POOL_SIZE}`,
    'Raise max_connections or the limit of its role, or put a pooler in front',
  ],
  ['53', 'the machine of the database ran out of something', 'Its own log says what'],
  ['58', 'the machine of the database had an error', 'Its own log says which'],
  ['40', 'two of its transactions conflicted', 'It passes by itself: where the process has ended, start it again'],
  ['57P01', 'an administrator ended the connection, or stopped the database', 'Where it was stopped, start it'],
  ['57P02', 'a process of the database crashed, and it starts anew', 'Its own log says why'],
  ['57P03', 'the database is starting, stopping or recovering', 'Wait for it'],
  ['57P04', 'the database was dropped', 'Create it, or mend the name'],
  ['57P05', 'it closed an idle connection', 'Keep the idle_session_timeout of its role at a minute or more'],
] as const;
const OTHERWISE = ['', 'the database did not let us in', 'Start it, or mend the address'] as const;

/** Connection exceptions, shutdown, crash and start-up, system errors, and a closed or silent connection. */
const AWAY = /^(?:08|57P|E[A-Z]|no code)/;

/**
 * Connection exceptions, too many connections, canceled statements, lock timeouts, shutdown and start-up, deadlocks,
 * system errors, and read-only standbys (PostgreSQL, appendix A), and certificates out of their time.
 */
const NOT_THERE = /^(?:08|25006|40|53|55P03|57|58|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)/;

/** It has been reached, and another address would not help. */
const REACHED = /^(?:08P01|3F000|40|42|53|55P03|57|58|CERT_HAS_EXPIRED|CERT_NOT_YET_VALID)/;
const EXAMPLE = ' Example: DATABASE_URL=postgres://portal:secret@db.example.com/portal';

/**
 * The database, by default the PostgreSQL of `DATABASE_URL`, can't be used, at the start or later. The message is for
 * the operator.
 */
export class DatabaseUnavailable extends Mendable {
  override name = 'DatabaseUnavailable';
  /** The database's error code (PostgreSQL, appendix A) or the system's, for the log. */
  readonly code: string;
  readonly remedy: string;
  /** It could not be reached, as after a crash, and did not refuse a statement. */
  readonly wasAway: boolean;
  /** It may be there soon without a change of the settings. */
  readonly mayPass: boolean;
  constructor(cause: unknown) {
    const { code = 'no code' } = cause as { code?: string };
    const [, fault, remedy] = REMEDIES.find(([begin]) => code.startsWith(begin)) ?? OTHERWISE;
    super(`DATABASE_URL can't be used: ${fault} (${code}). ${remedy}.${REACHED.test(code) ? '' : EXAMPLE}`, { cause });
    this.code = code;
    this.wasAway = AWAY.test(code);
    this.mayPass = this.wasAway || NOT_THERE.test(code);
    this.remedy = `${fault}. ${remedy}.`;
  }
}

/** The same of the embedded one. */
export class EmbeddedUnavailable extends DatabaseUnavailable {
  constructor(cause: unknown) {
    super(cause);
    this.message = `The database in DATA_DIR can't be used: ${this.remedy}`;
  }
}

/** The embedded database can't be opened. The message is for the operator; PGlite only reports an assertion or a number. */
export class EmbeddedUnusable extends Error {
  override name = 'EmbeddedUnusable';
  constructor(folder: string, cause: unknown) {
    super(
      `DATA_DIR holds a database that can't be opened. Its disk must have room, all files in ${folder} must be this user's (after a start or "npm run erase" as root some are not), and whole (a power cut may damage them: then restore a backup of DATA_DIR).`,
      { cause },
    );
  }
}

/** Turns errors that aren't the statement's fault into {@link DatabaseUnavailable}. */
export function faultOf(error: unknown): unknown {
  const isStatements = error instanceof pg.DatabaseError && !NOT_THERE.test(error.code ?? '');
  return isStatements || !(error instanceof Error) ? error : new DatabaseUnavailable(error);
}

/** The same for the embedded one. What else is thrown within its transactions stays as it is. */
export function embeddedFaultOf(error: unknown): unknown {
  const isIts = error instanceof messages.DatabaseError && NOT_THERE.test(error.code ?? '');
  return isIts || isPanic(error) ? new EmbeddedUnavailable(error) : error;
}

/** Whether the embedded database is of no more use to this process. */
export function isPanic(error: unknown): error is Error {
  return error instanceof messages.DatabaseError && (error.severity === 'PANIC' || error.severity === 'FATAL');
}
