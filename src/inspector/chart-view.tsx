import { type Dispatch, type RefObject, type SetStateAction, useEffect, useMemo, useRef, useState } from 'react';
import { drawn } from './draw.ts';
import type { Drawing } from './layout.ts';
import { around, FIT, fitted, moved, towards, type View, zoomed } from './view.ts';

type Props = {
  readonly drawing: Drawing;
  /** The paths of the active states. */
  readonly lit: ReadonlySet<string>;
  /** The paths of the states that the search has found. */
  readonly found?: ReadonlySet<string>;
  /** The state to bring into view whenever this changes. */
  readonly focus?: string | undefined;
  readonly onOpen: (path: string) => void;
  readonly onFollow: (path: string) => void;
};

const NOTHING: ReadonlySet<string> = new Set();
const STEP = 60;
/** In px; a hand that clicks moves a little, too. */
const DRAGGED_FROM = 4;
const ZOOM = 1.25;

/** The chart. It is zoomed with the wheel, panned by dragging, and both with the keys: arrows, +, - and 0. */
export function ChartView({ drawing, lit, found = NOTHING, focus, onOpen, onFollow }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const [view, setView] = useState<View>(FIT);
  const inside = useMemo(() => ({ __html: drawn(drawing) }), [drawing]);

  const dragged = useRef(0);
  const known = useRef<Drawing | null>(null);
  useEffect(() => {
    const box = drawing.boxes.find(({ state }) => state.path === focus);
    const size = sizeOf(frame.current);
    const isNew = known.current !== drawing;
    known.current = drawing;
    if (box === undefined) setView((before) => (isNew ? fitted(drawing, size) : before));
    else setView((before) => (isNew ? around(box, drawing, size) : towards(box, size, before)));
  }, [drawing, focus]);
  useMarks(frame, drawing, lit, found);
  useWheel(frame, setView);

  const middle = () => {
    const { width, height } = sizeOf(frame.current);
    return { x: width / 2, y: height / 2 };
  };
  const keys: Readonly<Record<string, (before: View) => View>> = {
    ArrowLeft: (before) => moved(before, STEP, 0),
    ArrowRight: (before) => moved(before, -STEP, 0),
    ArrowUp: (before) => moved(before, 0, STEP),
    ArrowDown: (before) => moved(before, 0, -STEP),
    '+': (before) => zoomed(before, ZOOM, middle()),
    '-': (before) => zoomed(before, 1 / ZOOM, middle()),
    '0': () => fitted(drawing, sizeOf(frame.current)),
  };

  return (
    <div className="chart">
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions */}
      <div
        ref={frame}
        className="chart-frame"
        role="application"
        aria-label="The chart. Arrows move it, plus and minus zoom, 0 shows all of it."
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
        tabIndex={0}
        onKeyDown={(event) => {
          const change = keys[event.key];
          if (change === undefined) return;
          event.preventDefault();
          event.stopPropagation();
          setView(change);
        }}
        onPointerDown={() => {
          dragged.current = 0;
        }}
        onPointerMove={(event) => {
          if (event.buttons !== 1) return;
          dragged.current += Math.abs(event.movementX) + Math.abs(event.movementY);
          setView((before) => moved(before, event.movementX, event.movementY));
        }}
        onClick={({ target }) => {
          if (!(target instanceof Element) || dragged.current > DRAGGED_FROM) return;
          const state = target.closest<SVGElement>('[data-state]')?.dataset['state'];
          const exit = target.closest<SVGElement>('[data-to]')?.dataset['to'];
          if (exit !== undefined) onFollow(exit);
          else if (state !== undefined) onOpen(state);
        }}
      >
        <svg className="chart-drawing" aria-hidden="true">
          <g
            transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}
            // `drawn` has escaped the text.
            dangerouslySetInnerHTML={inside}
          />
        </svg>
      </div>
      <Zoom onPress={(key) => setView(keys[key] ?? ((before) => before))} />
    </div>
  );
}

const ZOOMS = [
  ['-', 'Smaller'],
  ['+', 'Larger'],
  ['0', 'All'],
] as const;

function Zoom({ onPress }: { readonly onPress: (key: string) => void }) {
  return (
    <div className="chart-zoom">
      {ZOOMS.map(([key, name]) => (
        <button key={key} type="button" aria-label={name} title={`${name} (${key})`} onClick={() => onPress(key)}>
          {key === '0' ? name : key}
        </button>
      ))}
    </div>
  );
}

type Frame = RefObject<HTMLDivElement | null>;

/** Marks the states that are lit and found, and the lines that lead out of a lit one. */
function useMarks(frame: Frame, drawing: Drawing, lit: ReadonlySet<string>, found: ReadonlySet<string>): void {
  useEffect(() => {
    const all = (selector: string) => frame.current?.querySelectorAll(selector) ?? [];
    for (const { state } of drawing.boxes)
      for (const element of all(`[data-state="${state.path}"]`)) {
        element.classList.toggle('lit', lit.has(state.path));
        element.classList.toggle('found', found.has(state.path));
      }
    for (const from of new Set(drawing.lines.map((line) => line.from)))
      for (const element of all(`[data-from="${from}"]`)) element.classList.toggle('open', lit.has(from));
  }, [frame, drawing, lit, found]);
}

function useWheel(frame: Frame, setView: Dispatch<SetStateAction<View>>): void {
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    // React's wheel listeners are passive, so the page would scroll as well.
    const turn = (event: WheelEvent) => {
      event.preventDefault();
      const { left, top } = element.getBoundingClientRect();
      const at = { x: event.clientX - left, y: event.clientY - top };
      setView((before) => zoomed(before, Math.exp(-event.deltaY / 500), at));
    };
    element.addEventListener('wheel', turn, { passive: false });
    return () => element.removeEventListener('wheel', turn);
  }, [frame, setView]);
}

function sizeOf(element: Element | null): { width: number; height: number } {
  const { width = 0, height = 0 } = element?.getBoundingClientRect() ?? {};
  return { width, height };
}
