import type { Entry, Moment } from './recording.ts';

type Props = {
  readonly moments: readonly Moment[];
  readonly entries: readonly Entry[];
  readonly at: number;
  readonly live: boolean;
  readonly onGo: (moment: number) => void;
  readonly onLive: () => void;
};

/** Goes to any recorded moment. The ← and → keys step by one. */
export function Timeline({ moments, entries, at, live, onGo, onLive }: Props) {
  const last = moments.length - 1;
  const entry = entries[moments[at]?.entry ?? -1];
  return (
    <footer className="timeline" aria-label="Time travel">
      <button type="button" aria-label="One moment back" disabled={at <= 0} onClick={() => onGo(at - 1)}>
        ←
      </button>
      <button type="button" aria-label="One moment on" disabled={live} onClick={() => onGo(at + 1)}>
        →
      </button>
      <input
        type="range"
        aria-label="Moment"
        aria-valuetext={`${at + 1} of ${moments.length}: ${entry?.words ?? 'the start'}`}
        min={0}
        max={Math.max(0, last)}
        value={Math.max(0, at)}
        disabled={moments.length < 2}
        onChange={({ target }) => onGo(Number(target.value))}
      />
      <p>
        {moments.length === 0 ? 'No moments yet' : `${at + 1} of ${moments.length}: `}
        {moments.length > 0 && <strong>{entry?.words ?? 'the start'}</strong>}
      </p>
      <button type="button" aria-pressed={live} onClick={onLive}>
        Live
      </button>
    </footer>
  );
}
