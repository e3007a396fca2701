import { signIns } from '../../../contract/calls/sign-ins.ts';
import { sessionOver } from '../refusal.ts';
import type { Web } from '../services.ts';
import { route } from './route.ts';

const MINUTE_MS = 60_000;

export const answerSignIns = route(
  signIns,
  'calls by a client',
  async (_, { sessions }: Pick<Web, 'sessions'>, visit) => {
    const others = await sessions.others(visit);
    if (others === null) throw sessionOver();
    return { others: others.map(({ began, used }) => ({ began: minuteOf(began), used: minuteOf(used) })) };
  },
);

function minuteOf(time: number): string {
  return new Date(Math.floor(time / MINUTE_MS) * MINUTE_MS).toISOString();
}
