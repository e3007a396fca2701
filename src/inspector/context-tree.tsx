import { useState } from 'react';
import { changesBetween } from './recording.ts';

type Props = {
  readonly context: Readonly<Record<string, unknown>>;
  /** The context at the previous moment. */
  readonly before: Readonly<Record<string, unknown>>;
};

/** The wizard's context; changes are highlighted, with the previous value. */
export function ContextTree({ context, before }: Props) {
  const [all, setAll] = useState(false);
  const changed = changesBetween(before, context);
  const keys = Object.keys(context).filter((key) => all || key !== 'settings');
  return (
    <section className="context" aria-label="Context">
      <div className="log-head">
        <h2>Context</h2>
        <label>
          <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> with the settings
        </label>
      </div>
      {changed.length > 0 && (
        <ul className="changes" aria-label="Changes">
          {changed.map((path) => (
            <li key={path}>
              <code>{path}</code> <del>{shown(at(before, path))}</del> <ins>{shown(at(context, path))}</ins>
            </li>
          ))}
        </ul>
      )}
      <dl>
        {keys.map((key) => (
          <div key={key} data-changed={changed.some((path) => path.split('.')[0] === key) || undefined}>
            <dt>{key}</dt>
            <dd>
              <pre>{JSON.stringify(context[key], null, 1)}</pre>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function at(value: unknown, path: string): unknown {
  let inner = value;
  for (const key of path.split('.')) inner = (inner as Readonly<Record<string, unknown>> | undefined)?.[key];
  return inner;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
