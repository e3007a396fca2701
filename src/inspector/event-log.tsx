import { useEffect, useRef } from 'react';
import { type Entry, isTick } from './recording.ts';

type Props = {
  readonly entries: readonly Entry[];
  /** The entry that led to the displayed moment. */
  readonly current: number;
  /** Whether the ticks of the countdown are hidden. */
  readonly quiet: boolean;
  readonly onQuiet: (quiet: boolean) => void;
  readonly onPick: (entry: number) => void;
};

const time = new Intl.DateTimeFormat('en-US', {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
  hour12: false,
});

export function EventLog({ entries, current, quiet, onQuiet, onPick }: Props) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    list.current?.querySelector(`[data-number="${current}"]`)?.scrollIntoView({ block: 'nearest' });
  }, [current]);
  const shown = quiet ? entries.filter((entry) => !isTick(entry)) : entries;
  return (
    <section className="log" aria-label="Events">
      <div className="log-head">
        <h2>Events</h2>
        <label>
          <input type="checkbox" checked={quiet} onChange={() => onQuiet(!quiet)} /> without the ticks of the clock
        </label>
      </div>
      {entries.length === 0 && <p className="viewer-note">Do something in the portal, and it is written here.</p>}
      <ol ref={list}>
        {shown.map((entry) => (
          <li
            key={entry.number}
            data-number={entry.number}
            data-kind={entry.kind}
            aria-current={entry.number === current || undefined}
          >
            <button type="button" onClick={() => onPick(entry.number)}>
              <span className="log-words">{entry.words}</span>
              <time>{time.format(entry.time)}</time>
            </button>
            {hasMore(entry.payload) && (
              <details>
                <summary>{short(entry.payload)}</summary>
                <pre>{JSON.stringify(entry.payload, null, 2)}</pre>
              </details>
            )}
          </li>
        ))}
      </ol>
    </section>
  );
}

function hasMore(payload: unknown): boolean {
  return typeof payload === 'object' && payload !== null && Object.keys(payload).length > 0;
}

const SHORT = 60;

function short(payload: unknown): string {
  const text = JSON.stringify(payload);
  return text.length <= SHORT ? text : `${text.slice(0, SHORT)}…`;
}
