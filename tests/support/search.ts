import type { WizardSnapshot } from '../../machines/wizard.routes.ts';
import type { Session } from '../../machines/wizard.types.ts';
import { type Move, SESSIONS } from './moves.ts';
import type { Random } from './random.ts';
import { partsOf } from './transitions.ts';
import type { Visitor } from './visitor.ts';
import { anyMove, optionsAt, pickerOf, VISIT_OPTIONS } from './walk.ts';

/** A place: its active states, and the shortest known way there. */
type Place = {
  readonly session: Session;
  readonly nodes: ReadonlySet<string>;
  moves: readonly Move[];
  chosen: number;
};

const MOVES_FROM_A_PLACE = 10;
const LONGEST = 40;
const HALF = [true, false] as const;
/** How many places are drawn at random, of which the best is chosen. */
const DRAWN = 5;

/**
 * Searches for every transition in `all` until none `isOpen` (by default: is missing from `taken`), or `budget` moves
 * have been made. After trying every address with every session, it returns to known places where a missing transition
 * starts, or shortly before, and explores from there (Ecoffet et al., "First return, then explore", 2021).
 * @returns the number of moves made
 */
export async function search(
  random: Random,
  budget: number,
  all: ReadonlySet<string>,
  taken: ReadonlySet<string>,
  visit: (session: Session) => Visitor,
  isOpen: (transition: string) => boolean = (name) => !taken.has(name),
): Promise<number> {
  const pick = pickerOf(random);
  const map = mapOf(random);
  const transitions = [...all].map(partsOf);
  const tried = new Set<string>();
  let made = 0;
  for (const session of Object.values(SESSIONS))
    for (const { move } of VISIT_OPTIONS) {
      const visitor = visit(session);
      await visitor.make(move);
      made += 1;
      map.remember(session, [move], visitor.snapshot());
      visitor.leave();
    }
  for (;;) {
    const missing = transitions.filter(({ name }) => isOpen(name));
    if (missing.length === 0 || made >= budget) return made;
    // The goal is a missing transition. The way starts where it does, or a random number of transitions before.
    const goal = random(missing);
    const wanted = new Set(missing.map(({ choice }) => choice));
    let { node } = goal;
    for (;;) {
      const before = random(HALF) ? transitions.filter(({ targets }) => targets.includes(node)) : [];
      if (before.length === 0) break;
      const step = random(before);
      wanted.add(step.choice);
      ({ node } = step);
    }
    const place = map.near(node);
    const visitor = visit(place.session);
    for (const move of place.moves) await visitor.make(move);
    const moves = [...place.moves];
    for (let step = 0; step < MOVES_FROM_A_PLACE && moves.length < LONGEST; step += 1) {
      const here = keyOf(visitor.snapshot());
      const promising = [...optionsAt(visitor), ...VISIT_OPTIONS].filter(
        ({ choices, key }) => choices.some((choice) => wanted.has(choice)) && !tried.has(`${here} ${key}`),
      );
      const { move, key } = promising.length > 0 ? pick(promising) : anyMove(visitor, random, pick);
      tried.add(`${here} ${key}`);
      await visitor.make(move);
      moves.push(move);
      map.remember(place.session, moves, visitor.snapshot());
    }
    made += moves.length;
    visitor.leave();
  }
}

/** Every place reached so far, to be looked up by the states that are active there. */
function mapOf(random: Random) {
  const sessions = Object.values(SESSIONS);
  const places = new Map<string, Place>();
  const bySession = new Map<Session, Place[]>();
  const byNode = new Map<string, Place[]>();
  const together = new Map<string, Set<string>>();

  function add(key: string, place: Place): void {
    places.set(key, place);
    listIn(bySession, place.session).push(place);
    for (const node of place.nodes) {
      listIn(byNode, node).push(place);
      const others = together.get(node) ?? new Set();
      for (const other of place.nodes) others.add(other);
      together.set(node, others);
    }
  }
  function choose(candidates: readonly Place[]): Place {
    const drawn = Array.from({ length: DRAWN }, () => random(candidates));
    const place = drawn.reduce((one, other) => (costOf(other) < costOf(one) ? other : one));
    place.chosen += 1;
    return place;
  }

  return {
    anywhere: () => choose(bySession.get(random(sessions)) ?? []),
    /** A place where `node` is active, together with a random state that was ever active beside it. */
    near(node: string): Place {
      const beside = together.get(node);
      if (beside === undefined) return this.anywhere();
      const other = random([...beside]);
      const both = listIn(byNode, node).filter(({ nodes }) => nodes.has(other));
      return choose(random([...Map.groupBy(both, ({ session }) => session).values()]));
    },
    remember(session: Session, moves: readonly Move[], snapshot: WizardSnapshot): void {
      const key = keyOf(snapshot);
      const reached = places.get(key);
      if (reached === undefined)
        add(key, { session, nodes: new Set(snapshot._nodes.map(({ id }) => id)), moves: [...moves], chosen: 0 });
      else if (reached.session === session && reached.moves.length > moves.length) reached.moves = [...moves];
    },
  };
}

/** Prefers near places, without choosing the same ones again and again. */
function costOf({ chosen, moves }: Place): number {
  return chosen * MOVES_FROM_A_PLACE + moves.length;
}

function listIn<Key>(lists: Map<Key, Place[]>, key: Key): Place[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}

function keyOf({ _nodes, context }: WizardSnapshot): string {
  const { settings: _settings, now: _now, message: _message, returned: _returned, ...looked } = context;
  const leaves = _nodes.filter(({ type, id }) => type === 'atomic' && !id.includes('countdown')).map(({ id }) => id);
  return JSON.stringify([leaves, looked]);
}
