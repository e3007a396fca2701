import { type Chart, statesIn, type Way } from './chart.ts';

type Props = {
  readonly chart: Chart;
  readonly path: string;
  readonly onOpen: (path: string) => void;
  readonly onClose: () => void;
};

/** One state in words: its calls, and the transitions out of it and into it. */
export function StateDetails({ chart, path, onOpen, onClose }: Props) {
  const state = statesIn(chart.root).find((one) => one.path === path);
  if (state === undefined) return null;
  return (
    <section className="details" aria-label="State">
      <div className="log-head">
        <h2>{path}</h2>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
      {state.tags.length > 0 && <p>Tagged {state.tags.join(', ')}</p>}
      {state.invokes.map((call) => (
        <p key={call}>Calls: {call}</p>
      ))}
      <Ways
        title="Out of it"
        ways={chart.ways.filter(({ from }) => from === path)}
        end={({ to }) => to[0]}
        onOpen={onOpen}
      />
      <Ways
        title="Into it"
        ways={chart.ways.filter(({ to }) => to.includes(path))}
        end={({ from }) => from}
        onOpen={onOpen}
      />
    </section>
  );
}

type WaysProps = {
  readonly title: string;
  readonly ways: readonly Way[];
  readonly end: (way: Way) => string | undefined;
  readonly onOpen: (path: string) => void;
};

function Ways({ title, ways, end, onOpen }: WaysProps) {
  if (ways.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul>
        {ways.map((way) => {
          const other = end(way);
          return (
            <li key={`${way.from} ${way.event} ${way.condition} ${way.to.join(' ')}`}>
              <strong>{way.event}</strong>
              {way.condition !== undefined && <em> {way.condition}</em>}
              {way.actions.length > 0 && <span> / {way.actions.join(', ')}</span>}
              {other === '' && <span> from everywhere</span>}
              {other !== undefined && other !== '' && (
                <button type="button" onClick={() => onOpen(other)}>
                  {other}
                </button>
              )}
            </li>
          );
        })}
      </ul>
    </>
  );
}
