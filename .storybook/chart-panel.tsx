import { useEffect, useMemo, useState } from 'react';
import { useChannel, useStorybookApi } from 'storybook/manager-api';
import { wizardMachine } from '../machines/wizard.machine.ts';
import { chartOf, type ChartState, pageIn, statesIn } from '../src/inspector/chart.ts';
import { ChartView } from '../src/inspector/chart-view.tsx';
import { type Drawing, layOutPage } from '../src/inspector/layout.ts';
import { leafOf, storyIdOf } from '../stories/leaf.ts';
import { ASK, type Offer, SEND, STAGE, type Stage } from '../stories/stage-protocol.ts';

const chart = chartOf(wizardMachine);
const states = new Map(statesIn(chart.root).map((state) => [state.path, state]));
const leaves = [...states.values()].filter(({ kind }) => kind === 'leaf').map(({ path }) => path);
const drawings = new Map<string, Promise<Drawing>>();

/** The chart of the shown page with its states lit, what they accept to be sent, and the way to the story of any other. */
export function ChartPanel({ active }: { readonly active: boolean }) {
  const [{ stage, entered }, setShown] = useState<Shown>({ stage: null, entered: undefined });
  const say = useChannel({ [STAGE]: (next: Stage | null) => setShown((before) => shownNext(before, next)) });
  const api = useStorybookApi();
  useEffect(() => {
    if (active) say(ASK);
  }, [active, say]);
  const lit = useMemo(() => new Set(stage?.active), [stage]);
  const shown = leaves.filter((leaf) => lit.has(leaf));
  const drawing = useDrawing(pageIn(shown[0] ?? ''));
  const goTo = (path: string) => api.selectStory(storyIdOf(beginningOf(path)));

  if (!active) return null;
  if (stage === null || drawing === null)
    return <p className="palette panel-note">This story shows a part of a page: there is no wizard in it.</p>;
  return (
    <div className="palette panel">
      <div className="panel-chart">
        <ChartView
          drawing={drawing}
          lit={lit}
          focus={entered ?? leafOf(api.getCurrentStoryData()?.id, shown)}
          onOpen={goTo}
          onFollow={goTo}
        />
      </div>
      <div className="panel-side">
        <label>
          Go to the story of{' '}
          <select value="" onChange={({ target }) => goTo(target.value)}>
            <option value="">…</option>
            {leaves.map((leaf) => (
              <option key={leaf} value={leaf}>
                {leaf}
              </option>
            ))}
          </select>
        </label>
        <h2>It is in</h2>
        <ul>
          {shown.map((leaf) => (
            <li key={leaf}>
              <a href={`?path=/story/${storyIdOf(leaf)}`}>{leaf}</a>
            </li>
          ))}
        </ul>
        <h2>It accepts</h2>
        <Offers offers={stage.offers} onSend={(event) => say(SEND, event)} />
      </div>
    </div>
  );
}

type Shown = { readonly stage: Stage | null; readonly entered: string | undefined };

/** With the leaf that was entered just now; a story that has only begun has entered none. */
function shownNext({ stage, entered }: Shown, next: Stage | null): Shown {
  if (stage === null || next === null) return { stage: next, entered: undefined };
  const fresh = next.active.findLast((path) => leaves.includes(path) && !stage.active.includes(path));
  return { stage: next, entered: fresh ?? entered };
}

const FROM = { visitor: 'From the visitor', clock: 'From the clock', server: 'From the server' } as const;

type OffersProps = { readonly offers: readonly Offer[]; readonly onSend: (event: Offer['event']) => void };

function Offers({ offers, onSend }: OffersProps) {
  return (
    <>
      {(['visitor', 'clock', 'server'] as const).map((by) => {
        const own = offers.filter((offer) => offer.by === by);
        if (own.length === 0) return null;
        return (
          <section key={by}>
            <h3>{FROM[by]}</h3>
            <ul className="panel-offers">
              {own.map(({ words, event }) => {
                const { type, ...payload } = event;
                const rest =
                  words === undefined && Object.keys(payload).length > 0 ? ` ${JSON.stringify(payload)}` : '';
                return (
                  <li key={`${type} ${words} ${rest}`}>
                    <button type="button" onClick={() => onSend(event)}>
                      <strong>{words ?? type}</strong>
                      {rest}
                    </button>
                  </li>
                );
              })}
            </ul>
          </section>
        );
      })}
    </>
  );
}

function useDrawing(page: string): Drawing | null {
  const [done, setDone] = useState<{ readonly page: string; readonly drawing: Drawing } | null>(null);
  useEffect(() => {
    if (page === '') return undefined;
    let wanted = true;
    const laying = drawings.get(page) ?? layOutPage(chart, page);
    drawings.set(page, laying);
    void laying.then((drawing) => wanted && setDone({ page, drawing }));
    return () => {
      wanted = false;
    };
  }, [page]);
  return done?.page === page ? done.drawing : null;
}

/** The leaf in which a state begins. */
function beginningOf(path: string): string {
  let state: ChartState | undefined = states.get(path);
  while (state !== undefined && state.states.length > 0)
    state = state.states.find(({ initial }) => initial) ?? state.states[0];
  return state?.path ?? path;
}
