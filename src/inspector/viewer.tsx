import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { type Chart, type ChartState, pageIn, statesIn } from './chart.ts';
import { ChartView } from './chart-view.tsx';
import { ContextTree } from './context-tree.tsx';
import { EventLog } from './event-log.tsx';
import { type Drawing, layOutPage, layOutWhole } from './layout.ts';
import type { Recorder } from './recorder.ts';
import { isTick, type Moment, newestLeaf } from './recording.ts';
import { Search } from './search.tsx';
import { StateDetails } from './state-details.tsx';
import { Timeline } from './timeline.tsx';

type Props = { readonly chart: Chart; readonly recorder: Recorder };

/** Which part of the machine is drawn: the page that the visitor is on, one that was picked, or all of it. */
const FOLLOW = '';
const WHOLE = '*';
const NOWHERE: ReadonlySet<string> = new Set();

export function Viewer({ chart, recorder }: Props) {
  const recording = useSyncExternalStore(recorder.subscribe, recorder.now);
  const { entries } = recording;
  const [quiet, setQuiet] = useState(true);
  const moments = useMemo(
    () => (quiet ? recording.moments.filter(({ entry }) => !isTick(entries[entry])) : recording.moments),
    [recording.moments, entries, quiet],
  );
  // The displayed moment; `null` always follows the newest.
  const [past, setPast] = useState<number | null>(null);
  const [shown, setShown] = useState(FOLLOW);
  const [opened, setOpened] = useState<string | null>(null);
  const [search, setSearch] = useState('');

  const at = Math.min(past ?? moments.length - 1, moments.length - 1);
  const moment: Moment | undefined = moments[at];
  const active = moment?.active ?? NOWHERE;
  const here = [...active][0] ?? chart.root.states[0]?.path ?? '';
  const part = shown === FOLLOW ? here : shown;
  const drawing = useDrawing(chart, part);
  const states = useMemo(() => statesIn(chart.root).slice(1), [chart]);
  const found = useMemo(() => matching(states, chart, search), [states, chart, search]);
  const leaves = useMemo(() => new Set(states.filter(({ kind }) => kind === 'leaf').map(({ path }) => path)), [states]);
  const leaf = newestLeaf(moments, at, (path) => leaves.has(path));

  const goTo = (index: number) => setPast(index >= moments.length - 1 ? null : Math.max(0, index));
  useKeys({ ArrowLeft: () => goTo(at - 1), ArrowRight: () => goTo(at + 1), Escape: () => setSearch('') });

  const open = (path: string) => {
    setOpened(path);
    if (shown !== WHOLE) setShown(pageIn(path) === here && shown === FOLLOW ? FOLLOW : pageIn(path));
  };

  return (
    <div className="viewer">
      <header className="viewer-bar">
        <h1>Inspector</h1>
        <output className="viewer-line" data-on={moments.length > 0 || undefined}>
          {moments.length > 0 ? `Hearing the portal: ${moments.length} moments` : 'Waiting for the portal…'}
        </output>
        <label>
          Show{' '}
          <select value={shown} onChange={({ target }) => setShown(target.value)}>
            <option value={FOLLOW}>the current page</option>
            <option value={WHOLE}>the whole machine</option>
            {chart.root.states.map(({ path }) => (
              <option key={path} value={path}>
                {path}
              </option>
            ))}
          </select>
        </label>
        <Search text={search} found={found} onSearch={setSearch} onOpen={open} />
        <button type="button" onClick={() => recorder.forget()}>
          Clear
        </button>
      </header>
      <main className="viewer-chart" aria-label="Chart">
        {drawing === null ? (
          <p className="viewer-note">The chart is laid out…</p>
        ) : (
          <ChartView
            drawing={drawing}
            lit={active}
            found={new Set(found.map(({ path }) => path))}
            focus={opened ?? leaf}
            onOpen={open}
            onFollow={open}
          />
        )}
      </main>
      <aside className="viewer-side" aria-label="What happened">
        {opened !== null && <StateDetails chart={chart} path={opened} onOpen={open} onClose={() => setOpened(null)} />}
        <EventLog
          entries={entries}
          current={moment?.entry ?? -1}
          quiet={quiet}
          onQuiet={setQuiet}
          onPick={(entry) => goTo(moments.findLastIndex((one) => one.entry <= entry))}
        />
        <ContextTree context={moment?.context ?? {}} before={moments[at - 1]?.context ?? moment?.context ?? {}} />
      </aside>
      <Timeline
        moments={moments}
        entries={entries}
        at={at}
        live={past === null}
        onGo={goTo}
        onLive={() => setPast(null)}
      />
    </div>
  );
}

const drawings = new Map<string, Promise<Drawing>>();

/** The drawing of a part; `null` until it has been laid out, which happens once for each part. */
function useDrawing(chart: Chart, part: string): Drawing | null {
  const [done, setDone] = useState<{ readonly part: string; readonly drawing: Drawing } | null>(null);
  useEffect(() => {
    let wanted = true;
    const laying = drawings.get(part) ?? (part === WHOLE ? layOutWhole(chart) : layOutPage(chart, part));
    drawings.set(part, laying);
    void laying.then((drawing) => wanted && setDone({ part, drawing }));
    return () => {
      wanted = false;
    };
  }, [chart, part]);
  return done?.part === part ? done.drawing : null;
}

/** The states whose name, calls or outgoing transitions contain the words. */
function matching(states: readonly ChartState[], chart: Chart, search: string): ChartState[] {
  const words = search.trim().toLowerCase();
  if (words === '') return [];
  const said = (state: ChartState) =>
    [
      state.path,
      ...state.invokes,
      ...chart.ways
        .filter(({ from }) => from === state.path)
        .flatMap(({ event, condition = '', actions }) => [event, condition, ...actions]),
    ]
      .join('\n')
      .toLowerCase();
  return states.filter((state) => said(state).includes(words));
}

/** Keyboard shortcuts, except where keys type or move something. */
function useKeys(keys: Readonly<Record<string, () => void>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const typing = event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
      if (!typing) keys[event.key]?.();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
