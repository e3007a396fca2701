import elkBundle, { type ElkExtendedEdge, type ElkNode } from 'elkjs/lib/elk.bundled.js';
import { AT_ONCE, type Chart, type ChartState, pageIn, statesIn, type Way } from './chart.ts';

/** In px, from the drawing's upper left corner. */
type Place = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
type Point = { readonly x: number; readonly y: number };

export type Box = Place & { readonly state: ChartState; readonly rows: readonly string[] };
/** A box for a transition that leaves the page; it names the target state. */
export type Exit = Place & { readonly to: string };
export type Line = {
  readonly from: string;
  readonly to: string;
  readonly points: readonly Point[];
  readonly label: Place;
  readonly words: readonly Words[];
};
export type Words = { readonly event: string; readonly conditions: readonly string[] };
export type Drawing = {
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly Box[];
  readonly exits: readonly Exit[];
  readonly lines: readonly Line[];
};

export const TEXT = { line: 15, name: 30, padding: 12 } as const;
const LETTER = { event: 6.8, name: 8.6, guard: 5.9 } as const;
/** How much wider capital letters are than others. The codes of failures consist of them. */
const CAPITAL = 0.13;
const GUARD_LETTERS = 38;

const engine = new elkBundle.default();

const OPTIONS = {
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.edgeCoords': 'ROOT',
  'elk.json.shapeCoords': 'ROOT',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'BRANDES_KOEPF',
  'elk.layered.spacing.nodeNodeBetweenLayers': '26',
  'elk.layered.spacing.edgeNodeBetweenLayers': '14',
  'elk.spacing.nodeNode': '28',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.spacing.edgeLabel': '4',
  'elk.padding': '[top=12,left=12,bottom=12,right=12]',
};

/** One page: its nested states, the transitions between them, and an exit for each transition that leaves the page. */
export async function layOutPage(chart: Chart, page: string): Promise<Drawing> {
  const root = chart.root.states.find(({ path }) => path === page);
  if (root === undefined) throw new Error(`The machine has no page ${page}.`);
  const ways = chart.ways.filter(({ from, to }) => pageIn(from) === page && to.length > 0);
  const lines = joined(ways, (to) => (pageIn(to) === page ? to : null));
  const exits = [...new Set(lines.filter(({ exit }) => exit).map(({ from, to }) => exitId(from, to)))];
  const stays = Map.groupBy(
    chart.ways.filter(
      ({ to, actions, condition }) => to.length === 0 && (actions.length > 0 || condition !== undefined),
    ),
    ({ from }) => from,
  );
  return laidOut(
    statesIn(root),
    lines,
    { ...nodeOf(root, stays), layoutOptions: paddingOf(root, stays) },
    exits.map(exitNode),
    stays,
  );
}

/** All pages, and the transitions between them. */
export async function layOutOverview(chart: Chart): Promise<Drawing> {
  const flat = chart.root.states.map((page) => ({ ...page, states: [] }));
  const lines = linesBetweenPages(chart);
  const children = flat.map((page) => nodeOf(page, new Map()));
  return laidOut(flat, lines, { id: 'overview', children }, [], new Map());
}

/** Between pages, the event is label enough; an eventless transition is labeled with its condition. */
function linesBetweenPages(chart: Chart): Joined[] {
  const ways = chart.ways
    .filter(({ from, to }) => from !== '' && to.some((target) => pageIn(target) !== pageIn(from)))
    .map(({ from, to, event, condition }) => ({
      from: pageIn(from),
      to: to.map(pageIn),
      event: event === AT_ONCE ? (condition ?? event) : event,
      actions: [],
    }));
  return joined(ways, (to) => to).filter(({ from, to }) => from !== to);
}

type Joined = { readonly from: string; readonly to: string; readonly exit: boolean; readonly words: Words[] };

/** One line for all transitions from one state to another. `within` returns `null` for states outside the drawing. */
function joined(ways: readonly Way[], within: (to: string) => string | null): Joined[] {
  const lines = new Map<string, Joined>();
  for (const { from, to, event, condition } of ways)
    for (const target of to) {
      const id = `${from} > ${target}`;
      const line = lines.get(id) ?? { from, to: target, exit: within(target) === null, words: [] };
      lines.set(id, line);
      const known = line.words.find((words) => words.event === event);
      const conditions = condition === undefined ? [] : [condition];
      if (known === undefined) line.words.push({ event, conditions });
      else if (conditions.length > 0)
        line.words.splice(line.words.indexOf(known), 1, { event, conditions: [...known.conditions, ...conditions] });
    }
  return [...lines.values()];
}

type Stays = ReadonlyMap<string, readonly Way[]>;

async function laidOut(
  states: readonly ChartState[],
  lines: readonly Joined[],
  top: ElkNode,
  exits: readonly ElkNode[],
  stays: Stays,
): Promise<Drawing> {
  const inner = top.id === 'overview' ? top : { id: 'page', children: [top, ...exits] };
  const laid = await engine.layout({ ...inner, layoutOptions: OPTIONS, edges: lines.map(edgeOf) });
  const nodes = new Map(nodesIn(laid).map((node) => [node.id, node]));
  const place = (id: string) => placeOf(nodes.get(id));
  return {
    width: laid.width ?? 0,
    height: laid.height ?? 0,
    boxes: states.map((state) => ({ ...place(state.path), state, rows: rowsOf(state, stays) })),
    exits: exits.map(({ id }) => ({ ...place(id), to: id.split(' > ')[1] ?? '' })),
    lines: (laid.edges ?? []).map((edge, index) => lineOf(edge, lines[index])),
  };
}

function nodesIn(node: ElkNode): ElkNode[] {
  return [node, ...(node.children ?? []).flatMap(nodesIn)];
}

function placeOf({ x = 0, y = 0, width = 0, height = 0 }: Partial<Place> = {}): Place {
  return { x, y, width, height };
}

function lineOf(edge: ElkExtendedEdge, joined: Joined | undefined): Line {
  if (joined === undefined) throw new Error('The layout returned a line that it was not given.');
  const [section] = edge.sections ?? [];
  const points = section === undefined ? [] : [section.startPoint, ...(section.bendPoints ?? []), section.endPoint];
  return { from: joined.from, to: joined.to, words: joined.words, points, label: placeOf(edge.labels?.[0]) };
}

/** A row for each call that a state invokes, and for each event that it handles without being left. */
function rowsOf({ invokes, path }: ChartState, stays: Stays): string[] {
  return [...invokes.map((call) => `calls: ${call}`), ...(stays.get(path) ?? []).map(stayWords)].flatMap((row) =>
    wrapped(row, GUARD_LETTERS),
  );
}

function stayWords({ event, condition, actions }: Way): string {
  return `${condition === undefined ? event : `${event} ${condition}`}${actions.length === 0 ? ': stays' : ` / ${actions.join(', ')}`}`;
}

function nodeOf(state: ChartState, stays: Stays): ElkNode {
  const rows = rowsOf(state, stays);
  const width = Math.max(
    state.name.length * LETTER.name + 2 * TEXT.padding + (state.initial ? 14 : 0),
    ...rows.map((row) => row.length * LETTER.guard + 2 * TEXT.padding),
    70,
  );
  const height = TEXT.name + rows.length * TEXT.line + (rows.length > 0 ? 6 : 0);
  if (state.states.length === 0) return { id: state.path, width, height };
  return {
    id: state.path,
    children: state.states.map((inner) => nodeOf(inner, stays)),
    layoutOptions: paddingOf(state, stays),
  };
}

function paddingOf(state: ChartState, stays: Stays): Record<string, string> {
  const rows = rowsOf(state, stays);
  const top = TEXT.name + 8 + rows.length * TEXT.line;
  const width = Math.max(state.name.length * LETTER.name, ...rows.map((row) => row.length * LETTER.guard));
  return {
    'elk.padding': `[top=${top},left=14,bottom=14,right=14]`,
    'elk.nodeSize.constraints': 'MINIMUM_SIZE',
    'elk.nodeSize.minimum': `(${width + 2 * TEXT.padding}, ${top})`,
  };
}

const exitId = (from: string, to: string) => `${from} > ${to}`;

function exitNode(id: string): ElkNode {
  const to = id.split(' > ')[1] ?? '';
  return { id, width: (to.length + 2) * LETTER.event + 2 * TEXT.padding, height: 26 };
}

function edgeOf({ from, to, exit, words }: Joined, index: number): ElkExtendedEdge {
  const lines = labelLines(words);
  const width = Math.max(...lines.map(({ text, strong }) => lettersIn(text) * (strong ? LETTER.event : LETTER.guard)));
  return {
    id: `line ${index}`,
    sources: [from],
    targets: [exit ? exitId(from, to) : to],
    labels: [{ text: ' ', width: width + 8, height: lines.length * TEXT.line + 2 }],
  };
}

const lettersIn = (text: string) => text.length + CAPITAL * (text.match(/[A-Z_]/g)?.length ?? 0);

/** The lines of a label: each event, and below it its conditions. */
export function labelLines(words: readonly Words[]): { readonly text: string; readonly strong: boolean }[] {
  return words.flatMap(({ event, conditions }) => [
    ...wrapped(event, GUARD_LETTERS).map((text) => ({ text, strong: true })),
    ...conditions.flatMap((condition) => wrapped(condition, GUARD_LETTERS)).map((text) => ({ text, strong: false })),
  ]);
}

function wrapped(text: string, letters: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** The whole machine: every page as drawn by itself, placed as in the overview, and the transitions between them. */
export async function layOutWhole(chart: Chart): Promise<Drawing> {
  const pages = new Map<string, Drawing>();
  for (const { path } of chart.root.states) pages.set(path, await layOutPage(chart, path));
  const lines = linesBetweenPages(chart);
  const children = [...pages].map(([id, { width, height }]) => ({ id, width, height }));
  const whole = await laidOut(
    chart.root.states.map((page) => ({ ...page, states: [] })),
    lines,
    { id: 'overview', children },
    [],
    new Map(),
  );
  const shifted = whole.boxes.map(({ state, x, y }) => {
    const page = pages.get(state.path);
    if (page === undefined) throw new Error(`The page ${state.path} was not laid out.`);
    return shiftedBy(page, x, y);
  });
  return {
    ...whole,
    boxes: shifted.flatMap(({ boxes }) => boxes),
    exits: shifted.flatMap(({ exits }) => exits),
    lines: [...whole.lines, ...shifted.flatMap(({ lines }) => lines)],
  };
}

function shiftedBy(
  { boxes, exits, lines }: Drawing,
  right: number,
  down: number,
): Pick<Drawing, 'boxes' | 'exits' | 'lines'> {
  const shift = <P extends Point>(place: P): P => ({ ...place, x: place.x + right, y: place.y + down });
  return {
    boxes: boxes.map(shift),
    exits: exits.map(shift),
    lines: lines.map((line) => ({ ...line, points: line.points.map(shift), label: shift(line.label) })),
  };
}
