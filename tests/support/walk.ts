import { DELAYS } from '../../machines/wizard.delays.ts';
import type { WizardSnapshot } from '../../machines/wizard.routes.ts';
import type { Event, Session } from '../../machines/wizard.types.ts';
import { ANSWERS, type DelayName, EVENTS, type Move, REFUSALS, SESSIONS, VISITS } from './moves.ts';
import type { Random } from './random.ts';
import { choiceOf } from './transitions.ts';
import type { Visitor } from './visitor.ts';

const EVENTS_BY_TYPE = Map.groupBy(EVENTS, (event) => event.type);
const VISITS_BY_TYPE = Map.groupBy(VISITS, (event) => event.type);

/** A possible move, the machine's choices that it triggers, and a key to count it by. */
export type Option = {
  readonly move: Move;
  readonly type: string;
  readonly choices: readonly string[];
  readonly key: string;
};

/** All moves that the page, its clock and the server can make at the moment, without visits, which are always possible. */
export function optionsAt(visitor: Visitor): Option[] {
  const nodes = visitor.snapshot()._nodes;
  const options: Option[] = [];
  const add = (move: Move, type: string, holders: readonly string[], what: string) => {
    options.push({ move, type, choices: holders.map((id) => choiceOf(id, type)), key: `${holders.join(' ')} ${what}` });
  };
  const holders = new Map<string, string[]>();
  for (const node of nodes)
    for (const type of node.transitions.keys()) {
      const ids = holders.get(type);
      if (ids === undefined) holders.set(type, [node.id]);
      else ids.push(node.id);
    }
  for (const [type, ids] of holders)
    for (const event of EVENTS_BY_TYPE.get(type as Event['type']) ?? [])
      add({ kind: 'send', event }, type, ids, JSON.stringify(event));
  for (const { id, after, invoke } of nodes) {
    for (const { delay, eventType } of after)
      if (typeof delay === 'string' && delay in DELAYS)
        add({ kind: 'wait', delay: delay as DelayName }, eventType, [id], delay);
    for (const { src, id: invocation } of invoke)
      for (const call of visitor.pending.keys())
        if (call === src) {
          for (const [index, answer] of ANSWERS[call].entries())
            add({ kind: 'answer', call, answer }, `xstate.done.actor.${invocation}`, [id], `answer ${index}`);
          for (const refusal of REFUSALS)
            add(
              { kind: 'refuse', call, ...refusal },
              `xstate.error.actor.${invocation}`,
              [id],
              `refuse ${Object.values(refusal).join(' ')}`,
            );
        }
  }
  return options;
}

export const VISIT_OPTIONS: readonly Option[] = [...VISITS_BY_TYPE].flatMap(([type, visits]) =>
  visits.map((event) => ({
    move: { kind: 'send' as const, event },
    type,
    choices: [choiceOf('wizard', type)],
    key: JSON.stringify(event),
  })),
);

/** Picks the option that has been picked least often so far, out of a few random ones. */
export function pickerOf(random: Random): (options: readonly Option[]) => Option {
  const counts = new Map<string, number>();
  return (options) => {
    // Chooses the type first, because otherwise the calls, with their many failures, would drown out the rest.
    const type = random([...new Set(options.map(({ type }) => type))]);
    const alike = options.filter((option) => option.type === type);
    const few = [random(alike), random(alike), random(alike)];
    const rare = few.reduce((one, other) => ((counts.get(other.key) ?? 0) < (counts.get(one.key) ?? 0) ? other : one));
    counts.set(rare.key, (counts.get(rare.key) ?? 0) + 1);
    return rare;
  };
}

const RELOAD: Option = { move: { kind: 'reload' }, type: 'reload', choices: [], key: 'reload' };
/** Comes from another tab, as rarely as a visit: it leads Home from most pages, and walks would stay there. */
const FROM_ANOTHER_TAB = 'sign-out.hear' satisfies Event['type'];
const KINDS = [...Array<'page'>(40).fill('page'), 'another tab', 'visit', 'reload'] as const;

/** Mostly a move of the page; now and then a visit to another address, or a reload. */
export function anyMove(visitor: Visitor, random: Random, pick: (options: readonly Option[]) => Option): Option {
  const kind = random(KINDS);
  if (kind === 'reload') return RELOAD;
  const options =
    visitor.snapshot().matches('arriving') || kind === 'visit'
      ? []
      : optionsAt(visitor).filter(({ type }) => kind === 'another tab' || type !== FROM_ANOTHER_TAB);
  return pick(options.length === 0 ? VISIT_OPTIONS : options);
}

export type Step = { readonly move: Move; readonly before: WizardSnapshot; readonly after: WizardSnapshot };
export type Watch = (visitor: Visitor) => (step: Step) => void;

const MOVES_A_VISITOR = 200;

/**
 * A random walk of `moves` through the real machine: events, time, answers, failures, addresses, reloads. Now and then
 * another visitor comes, with what an earlier page may have left in the browser.
 */
export async function walk(
  random: Random,
  moves: number,
  visit: (session: Session) => Visitor,
  watch: Watch,
): Promise<void> {
  const pick = pickerOf(random);
  const sessions = Object.values(SESSIONS);
  for (let made = 0; made < moves;) {
    const visitor = visit(random(sessions));
    const hold = watch(visitor);
    for (const last = Math.min(moves, made + MOVES_A_VISITOR); made < last; made += 1) {
      const before = visitor.snapshot();
      const { move } = anyMove(visitor, random, pick);
      await visitor.make(move);
      hold({ move, before, after: visitor.snapshot() });
    }
    visitor.leave();
  }
}
