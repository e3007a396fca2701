import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { lookAgain } from '../look-again.ts';
import type { Sql } from '../store/database.ts';
import { TAKE_BACKS, TRANSFERS } from './turns.ts';

/** A worker with a free place takes due jobs sooner, and one without has a job under way, or has just ended one. */
const TAKEN_WITHIN = '10 minutes';

type Watched = {
  readonly database: Sql;
  readonly clock: Pick<Clock, 'after'>;
  readonly log: Pick<Log, 'error' | 'info'>;
};

/**
 * Logs, once each time, that nobody takes the jobs that wait: if no worker runs, only a web process is left to say so.
 */
export function watchUntaken({ database, clock, log }: Watched): AsyncDisposable {
  let isTold = false;
  return lookAgain(clock, async () => {
    const waiting = await untaken(database);
    if (waiting > 0 && !isTold)
      log.error(
        { waiting },
        'transfers wait, and nobody has worked on any for ten minutes: does a process with ROLE=worker run, with this DATABASE_URL?',
      );
    if (waiting === 0 && isTold) log.info('transfers that waited have been taken');
    isTold = waiting > 0;
  });
}

async function untaken(database: Sql): Promise<number> {
  const [row] = await database.query<{ waiting: number }>(
    `select count(*)::integer as waiting from pgboss.job
     where name = any($1) and state in ('created', 'retry') and start_after < now() - interval '${TAKEN_WITHIN}'
       and not exists (select 1 from pgboss.job where name = any($1)
         and (state = 'active' or completed_on > now() - interval '${TAKEN_WITHIN}'))`,
    [[TRANSFERS, TAKE_BACKS]],
  );
  return row?.waiting ?? 0;
}
