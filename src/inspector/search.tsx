import { useEffect, useRef } from 'react';
import type { ChartState } from './chart.ts';

type Props = {
  readonly text: string;
  readonly found: readonly ChartState[];
  readonly onSearch: (text: string) => void;
  readonly onOpen: (path: string) => void;
};

/** Finds states by their names, calls, events, guards and actions. The / key focuses it. */
export function Search({ text, found, onSearch, onOpen }: Props) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== '/' || event.target instanceof HTMLInputElement) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  const pick = (path: string) => {
    onOpen(path);
    onSearch('');
  };
  return (
    <search>
      <form
        className="search"
        onSubmit={(event) => {
          event.preventDefault();
          if (found[0] !== undefined) pick(found[0].path);
        }}
      >
        <input
          ref={field}
          type="search"
          aria-label="Find a state, an event, a guard or a call"
          placeholder="Find ( / )"
          value={text}
          onChange={({ target }) => onSearch(target.value)}
          onKeyDown={({ key }) => {
            if (key === 'Escape') onSearch('');
          }}
        />
        {text.trim() !== '' && (
          <ul className="search-found" aria-label="Found">
            {found.map(({ path }) => (
              <li key={path}>
                <button type="button" onClick={() => pick(path)}>
                  {path}
                </button>
              </li>
            ))}
            {found.length === 0 && <li>Nothing has these words.</li>}
          </ul>
        )}
      </form>
    </search>
  );
}
